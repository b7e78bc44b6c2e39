"""Information gain: how much about the class a feature's bin tells (Chen, section 3.1)."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from fewer.contracts import Ranker, Ranking, Resources
from fewer.models._mdlp import bin_numbers, mdlp_cuts
from fewer.problem import FloatArray, IntArray, Problem, Task

Binning = Literal["equal-width", "equal-frequency", "mdlp"]


class InformationGain(Ranker):
    """Mutual information of each feature with the class, H(X) − H(X|Y), in nats.

    Numeric features are put into bins first; a nominal feature's levels are its bins. Missing cells are left out, row
    weights count (but not where bins are cut). A feature that does not vary scores 0.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    binning : {"mdlp", "equal-width", "equal-frequency"}, default="mdlp"
        How numeric features are cut: where the classes call for it (`fewer.models.MDLPDiscretizer`; a feature without
        a cut scores 0), into equal stretches of their range, or into equally full bins (equal values stay together).
    n_bins : int, default=10
        How many bins the last two make.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = fewer.RankSelector(InformationGain(), n_features_to_select=2).fit(X, y)
    >>> selector.scores_.round(3)
    array([0.452, 0.267, 0.94 , 0.955])
    """

    command_name = "information-gain"
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    unit: ClassVar[str] = "nats"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "binning": [StrOptions({"mdlp", "equal-width", "equal-frequency"})],
        "n_bins": [Interval(Integral, 1, None, closed="left")],
    }
    statistics: ClassVar[tuple[str, ...]] = ("counts",)

    def __init__(self, binning: Binning = "mdlp", n_bins: int = 10) -> None:
        self.binning = binning
        self.n_bins = n_bins

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        scores, bins = np.zeros(problem.n_features), np.zeros(problem.n_features, dtype=np.int64)
        for feature, nominal in enumerate(problem.nominal):
            cells = problem.column(feature)
            present = ~np.isnan(cells)
            column, classes = cells[present], problem.y[present]
            codes = column.astype(np.int64) if nominal else bin_numbers(column, self._cuts(column, classes))
            weights = None if problem.sample_weight is None else problem.sample_weight[present]
            scores[feature] = mutual_information(codes, classes, weights)
            bins[feature] = len(np.unique(codes))
        return Ranking.by_score(scores, n_bins=bins)

    def _cuts(self, column: FloatArray, classes: IntArray) -> FloatArray:
        if len(column) == 0:
            return np.empty(0)
        if self.binning == "mdlp":
            return mdlp_cuts(column, classes)
        if self.binning == "equal-width":
            return np.unique(np.linspace(column.min(), column.max(), self.n_bins + 1)[1:-1])
        return np.unique(np.quantile(column, np.arange(1, self.n_bins) / self.n_bins))


def mutual_information(one: IntArray, other: IntArray, weights: FloatArray | None = None) -> float:
    """Return the mutual information of two arrays of codes 0, 1, … in nats.

    Parameters
    ----------
    one, other : int arrays
    weights : array, optional
        How much each row counts.

    Returns
    -------
    float

    Examples
    --------
    >>> mutual_information(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    0.6931471805599453
    """
    if len(one) == 0:
        return 0.0
    width = int(other.max()) + 1
    counts = np.bincount(one * width + other, weights, minlength=(int(one.max()) + 1) * width).reshape(-1, width)
    shares = counts / counts.sum()
    independent = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    seen = shares > 0
    return max(float((shares[seen] * np.log(shares[seen] / independent[seen])).sum()), 0.0)
