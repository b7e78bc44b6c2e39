"""Features whose p-values pass a procedure: Benjamini and Hochberg's, Benjamini and Yekutieli's, Holm's, or none."""

from __future__ import annotations

from typing import Literal

import numpy as np

from fewer.contracts import IncompatibleError
from fewer.contracts.declaring import Fraction, parameters
from fewer.contracts.trace import Trace
from fewer.control._ranking import RankingControl, RankingRun, fit_size
from fewer.problem import BoolArray, FloatArray

Procedure = Literal["bh", "by", "fpr", "fwe"]
PROMISES = {
    "bh": "false-discovery rate of {:g} (Benjamini–Hochberg; for independent or positively related p-values)",
    "by": "false-discovery rate of {:g} (Benjamini–Yekutieli; however the p-values are related)",
    "fpr": "false-positive rate of {:g} (each feature by itself, not corrected for their number)",
    "fwe": "family-wise error of {:g} (Holm; the chance that any of them is false)",
}


@parameters
class FalseDiscovery(RankingControl):
    """Keep features by their p-values so that few of those kept are false: Benjamini and Hochberg's procedure.

    With m features, the k smallest p-values are kept for the largest k whose p-value is at most k / m times the rate.
    If the features that say nothing are independent of each other, or positively related, the expected share of
    them among those kept is at most the rate. Needs a ranker with p-values, such as `FTest`, `Chi2`, `Spearman` or
    `KruskalWallis`. Each feature is tested by itself: one that only repeats another is no false discovery here.

    Read more in the guide: :doc:`/methods/false-discoveries`.

    Parameters
    ----------
    rate : float, default=0.1
        What the procedure keeps to: the false-discovery rate, or one of the two below.
    procedure : {"bh", "by", "fpr", "fwe"}, default="bh"
        `"bh"`: Benjamini and Hochberg. `"by"`: Benjamini and Yekutieli, the same promise however the p-values are
        related; the rate is divided by 1 + 1/2 + … + 1/m. `"fpr"`: every p-value up to the rate, the share of features
        that say nothing and are kept all the same. `"fwe"`: Holm's procedure, the chance that any feature kept is
        false; it keeps all that Bonferroni's keeps.

    Notes
    -----
    A feature group counts with the smallest p-value of its columns times their number. Where a number of features is
    asked for, the smallest p-values fill up or the largest give way, and the promise no longer holds. The trace's
    `extra` holds `p_value`.

    References
    ----------
    Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B 57,
    1995. Y. Benjamini and D. Yekutieli, The control of the false discovery rate in multiple testing under dependency,
    Annals of Statistics 29, 2001. S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian
    Journal of Statistics 6, 1979.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = fewer.RankSelector(fewer.rankers.FTest(), control=FalseDiscovery(0.05)).fit(X, y)
    >>> int(selector.support_.sum())
    25
    """

    command_name = "fdr"
    over_searches = False

    rate: Fraction = 0.1
    procedure: Procedure = "bh"

    def choose(self, run: RankingRun) -> Trace:
        # Rank once and keep what passes.
        if not run.ranker.p_values:
            raise IncompatibleError(
                f"FalseDiscovery needs p-values, and {type(run.ranker).__name__} has none; use FTest, Chi2 or Spearman."
            )
        ranking = run.ranker.rank(run.problem, run.rng, run.resources)
        p_values = ranking.extra["p_value"]
        by_unit = np.array([min(p_values[unit].min() * len(unit), 1.0) for unit in run.space.units])
        kept = discoveries(by_unit, self.rate, self.procedure)
        run.trace.extra["p_value"] = p_values
        run.record(fit_size(kept, -by_unit, run.space))
        run.trace.state["promise"] = (
            f"{int(kept.sum())} of {len(kept)} features pass at a {PROMISES[self.procedure].format(self.rate)}."
        )
        if run.problem.groups is not None:
            run.trace.note("The p-values assume independent rows; with row groups they are too small.")
        run.trace.done = True
        return run.trace


def discoveries(p_values: FloatArray, rate: float, procedure: Procedure = "bh") -> BoolArray:
    """Say which p-values pass a procedure.

    Parameters
    ----------
    p_values : array of shape (m,)
        One for each test.
    rate : float
        The share of false ones that is allowed, or the chance of one.
    procedure : {"bh", "by", "fpr", "fwe"}, default="bh"
        As in `FalseDiscovery`.

    Returns
    -------
    bool array of shape (m,)

    Examples
    --------
    >>> discoveries(np.array([0.04, 0.001, 0.2, 0.01]), 0.05)
    array([False,  True, False,  True])
    """
    m = len(p_values)
    places = np.arange(1, m + 1)
    order = np.argsort(p_values, kind="stable")
    ordered = p_values[order]
    if procedure == "fpr":
        n_kept = int((ordered <= rate).sum())
    elif procedure == "fwe":
        failed = np.flatnonzero(ordered > rate / (m + 1 - places))
        n_kept = int(failed[0]) if len(failed) else m
    else:
        rate /= float((1.0 / places).sum()) if procedure == "by" and m else 1.0
        passed = np.flatnonzero(ordered <= rate * places / max(m, 1))
        n_kept = int(passed[-1]) + 1 if len(passed) else 0
    kept = np.zeros(m, dtype=bool)
    kept[order[:n_kept]] = True
    return kept
