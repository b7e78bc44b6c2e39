"""Features whose p-values pass the procedure of Benjamini and Hochberg (1995)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from fewer.contracts import IncompatibleError
from fewer.control._ranking import RankingControl, RankingRun, fit_size
from fewer.problem import BoolArray, FloatArray
from fewer.trace import Trace


class FalseDiscovery(RankingControl):
    """Keep features by their p-values so that few of those kept are false: Benjamini and Hochberg's procedure.

    With m features, the k smallest p-values are kept for the largest k whose p-value is at most k / m times the rate.
    If the features that say nothing are independent of each other, or positively related, the expected share of
    them among those kept is at most the rate. Needs a ranker with p-values: `FTest` or `Chi2`. Each feature is tested
    by itself: one that only repeats another is no false discovery here.

    Read more in the guide: :doc:`/methods/false-discoveries`.

    Parameters
    ----------
    rate : float, default=0.1
        False-discovery rate.

    Notes
    -----
    A feature group counts with the smallest p-value of its columns times their number. Where a number of features is
    asked for, the smallest p-values fill up or the largest give way, and the promise no longer holds. The trace's
    `extra` holds `p_value`.

    References
    ----------
    Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B 57,
    1995.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"rate": [Interval(Real, 0, 1, closed="neither")]}

    def __init__(self, rate: float = 0.1) -> None:
        self.rate = rate

    def choose(self, run: RankingRun) -> Trace:
        # Rank once and keep what passes.
        if not run.ranker.p_values:
            raise IncompatibleError(
                f"FalseDiscovery needs p-values, and {type(run.ranker).__name__} has none; use FTest or Chi2."
            )
        ranking = run.ranker.rank(run.problem, run.rng, run.resources)
        p_values = ranking.extra["p_value"]
        by_unit = np.array([min(p_values[unit].min() * len(unit), 1.0) for unit in run.space.units])
        kept = discoveries(by_unit, self.rate)
        run.trace.extra["p_value"] = p_values
        run.record(fit_size(kept, -by_unit, run.space))
        run.trace.state["promise"] = (
            f"{int(kept.sum())} of {len(kept)} features pass at a false-discovery rate of {self.rate:g} "
            "(Benjamini–Hochberg; for independent or positively related p-values)."
        )
        if run.problem.groups is not None:
            run.trace.notes.append("The p-values take rows as independent; with row groups they are too small.")
        run.trace.done = True
        return run.trace


def discoveries(p_values: FloatArray, rate: float) -> BoolArray:
    """Say which p-values pass the procedure of Benjamini and Hochberg.

    Parameters
    ----------
    p_values : array of shape (m,)
    rate : float

    Returns
    -------
    bool array of shape (m,)

    Examples
    --------
    >>> discoveries(np.array([0.04, 0.001, 0.2, 0.01]), 0.05)
    array([False,  True, False,  True])
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    passed = np.flatnonzero(p_values[order] <= rate * np.arange(1, m + 1) / max(m, 1))
    kept = np.zeros(m, dtype=bool)
    kept[order[: passed[-1] + 1 if len(passed) else 0]] = True
    return kept
