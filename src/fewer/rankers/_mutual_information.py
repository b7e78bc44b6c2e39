"""Bins of a sparse table: only stored cells are coded, the others share one bin a column.

Rankers that add features one after the other by mutual information (Nel, chapter 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csc_array
from sklearn.utils._param_validation import Interval

from fewer.contracts import ROWS, Ranker, Ranking, Resources
from fewer.contracts.declaring import Count, NonNegative, Positive, Repeats, Several, Share, parameters
from fewer.kernels.information import Other, Stored, impurity_with, information_with_sparse
from fewer.models.mdlp import class_bins
from fewer.problem import BoolArray, FloatArray, Problem
from fewer.rankers._information import Codes, ColumnCodes, FeatureBins, Kernels, bin_edges, to_codes
from fewer.statistics import Uncertainties


class SparseBins(ColumnCodes):
    """Columns and target as codes, and the information between them, as `FeatureBins` has it, without a dense table."""

    def __init__(self, problem: Problem, n_bins: int, n_jobs: int = 1) -> None:
        super().__init__(problem, n_bins, n_jobs)
        table = csc_array(problem.sparse)
        starts, rows = table.indptr.astype(np.int64), table.indices.astype(np.int64)
        codes, empty, levels = np.empty(table.nnz, dtype=np.uint16), *np.zeros((2, problem.n_features), dtype=np.int64)
        for f in range(problem.n_features):
            edges, _ = bin_edges(problem.column(f), n_bins, False)
            cells = table.data[starts[f] : starts[f + 1]]
            missing, bins = np.isnan(cells), np.searchsorted(edges, cells, side="right")
            codes[starts[f] : starts[f + 1]] = np.where(missing, len(edges) + 1, bins)
            empty[f] = np.searchsorted(edges, 0.0, side="right")
            levels[f] = len(edges) + 1 + bool(missing.any())
        self.levels, self._columns = levels, Stored(starts, rows, codes, empty, levels)

    def column(self, feature: int) -> Codes:
        """Return the codes of one column, all rows."""
        starts, rows, stored, empty, _ = self._columns
        codes = np.full(len(self.target), empty[feature], dtype=np.int32)
        own = slice(starts[feature], starts[feature + 1])
        codes[rows[own]] = stored[own]
        return codes

    @cached_property
    def entropies(self) -> FloatArray:
        """H(f) of every feature f."""
        return self._with(self.target, self.n_target)[1]

    def with_codes(self, codes: Codes, n_codes: int) -> FloatArray:
        """Return the information of every feature and one vector of codes."""
        return self._with(codes, n_codes)[0]

    def _with(self, codes: Codes, n_codes: int) -> tuple[FloatArray, FloatArray]:
        """Return the information of every feature and one vector of codes, and every feature's entropy."""
        out, own = np.zeros((2, len(self.levels)))
        told = Other(codes, np.bincount(codes, self.weights, minlength=n_codes), self.weights)

        def run(low: int, high: int) -> None:
            information_with_sparse(low, high, self._columns, told, out, own)

        self._in_blocks(run)
        return out, own


Stop = Literal["share", "permutation"]
EQUAL = 12  # Digits to which two values must agree to count as equal, in nats.


@dataclass(eq=False)
class _Addition:
    """What a value follows from: the information, the features' relevance, the one added last, and how many are added.

    told : array
        Sums over the features added, of whatever the ranker sums up.
    least : array
        The least of something over the features added.
    """

    information: Any
    relevance: FloatArray
    added: int = -1
    n_added: int = 0
    told: Any = 0.0
    least: Any = np.inf


class _Greedy(Ranker):
    """Add the feature of the highest value given those added before; subclasses say what its value is."""

    takes: ClassVar[frozenset[str]] = ROWS
    depends_on: ClassVar[frozenset[str]] = frozenset({"column order"})  # of equal values the first column is added
    symmetric: ClassVar[bool] = False
    unit: ClassVar[str] = "nats"
    statistics: ClassVar[tuple[str, ...]] = ("counts",)
    n_bins: int
    stop: Stop | None
    share: float
    n_permutations: int
    n_ranked: int | None

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        return self._rank_by(self._information(problem, resources), ~problem.constant, rng)

    def _rank_by(self, information: Any, free: BoolArray, rng: np.random.Generator) -> Ranking:
        """Rank by the information between columns and target, however it was found."""
        relevance = information.relevance()
        order, values = self._order(information, relevance, free)
        scores = np.full(len(free), -np.inf)
        scores[order] = values
        threshold = self._threshold(information, relevance, free, rng)
        below = np.flatnonzero(relevance[order] <= threshold)
        n_relevant = int(below[0]) if len(below) else len(order)
        order = [*order, *np.flatnonzero(~free).tolist()]
        return Ranking(
            scores,
            np.array(order, dtype=np.int64),
            {
                "relevance": np.where(free, relevance, 0.0),
                "n_relevant": np.array(n_relevant),
                "threshold": np.array(threshold),
            },
        )

    def _information(self, problem: Problem, resources: Resources) -> Any:
        if problem.sparse is not None:
            return SparseBins(problem, self.n_bins, resources.n_jobs)
        return FeatureBins(problem, self.n_bins, resources.n_jobs)

    def _order(self, information: Any, relevance: FloatArray, free: BoolArray) -> tuple[list[int], list[float]]:
        """Add features until none is left or enough are ranked; of equal values the first column is added."""
        left = free.copy()
        value = relevance.copy()
        order: list[int] = []
        values: list[float] = []
        addition = _Addition(information, relevance)
        while left.any() and (self.n_ranked is None or len(order) < self.n_ranked):
            # Values that are equal but for the order of their sums are equal: the layout of a table must not decide.
            chosen = int(np.argmax(np.where(left, np.round(value, EQUAL), -np.inf)))
            order.append(chosen)
            values.append(float(value[chosen]))
            left[chosen] = False
            if left.any():
                addition.added, addition.n_added = chosen, len(order)
                value = self._revalue(addition)
        rest = np.flatnonzero(left)
        rest = rest[np.argsort(-np.round(value[rest], EQUAL), kind="stable")]
        return [*order, *rest.tolist()], [*values, *value[rest].tolist()]

    def _revalue(self, addition: _Addition) -> FloatArray:
        """Return every feature's value now that one more has been added."""
        raise NotImplementedError

    def _threshold(self, information: Any, relevance: FloatArray, free: BoolArray, rng: np.random.Generator) -> float:
        if self.stop is None or not free.any():
            return -np.inf
        if self.stop == "share":
            return self.share * float(relevance[free].max())
        best = []
        for _ in range(self.n_permutations):
            shuffled = information.target[rng.permutation(len(information.target))]
            best.append(float(information.relevance(shuffled)[free].max()))
        return float(np.quantile(best, 0.95))


@parameters
class MIFS(_Greedy):
    """Mutual information with the target, minus redundancy with the features already ranked (Battiti).

    The next feature is the one with the highest I(C; f) − α Σ I(f; s) over the features s added before.

    Read more in the guide: :doc:`/methods/nel`.

    Parameters
    ----------
    alpha : float, default=0.5
        Weight of the penalty; Battiti advises 0.5 to 1.
    penalty : {"sum", "mean"}, default="sum"
        The sum over the features added before (the thesis), or their mean, which does not grow with their number.
    density : {"bins", "kernel"}, default="bins"
        How densities are estimated: counts in bins, which is fast; or Gaussian kernels (the thesis), for up to some
        thousand rows. Kernels meet the integral of the true densities within the chance of the sample if these are
        normal, alone or class by class, or independent; curved and skewed relations they blur, and find up to 0.1
        nats less with some hundred rows.
    n_bins : int, default=10
        Columns with more values than this are cut into this many bins of about equal numbers of rows; so is the
        target of a regression.
    width : float, default=1.0
        Factor on the normal-reference width of the kernels.
    direction : {"forward", "backward"}, default="forward"
        Add the best, or start with all features and take away the one of the lowest value.
    stop : {"share", "permutation"} or None
        Where the ranking stops to be worth following: at the first feature whose information with the target is not
        above a share of the best feature's; or not above the 95 % point of the best that any feature has with a
        shuffled target. The number of features before it is `extra["n_relevant"]`.
    share : float, default=0.05
        With `stop="share"`: the share of the best feature's information.
    n_permutations : int, default=100
        With `stop="permutation"`: how often the target is shuffled.
    n_ranked : int, optional
        Number of features to rank one after the other (forward); the others follow by the value that they have then.

    Notes
    -----
    Scores are the values at which features were added, in nats; they need not fall along the ranking. Constant
    columns are never added: they come last, with −inf. With bins missing cells are a level of their own, with kernels
    they count as the mean. Row weights count.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(MIFS(), n_features_to_select=2).fit(X, y).ranking_
    array([4, 3, 2, 1])
    """

    command_name = "mifs"

    alpha: NonNegative = 0.5
    penalty: Literal["sum", "mean"] = "sum"
    density: Literal["bins", "kernel"] = "bins"
    n_bins: Several = 10
    width: Positive = 1.0
    direction: Literal["forward", "backward"] = "forward"
    stop: Stop | None = None
    share: Share = 0.05
    n_permutations: Repeats = 100
    n_ranked: Count | None = None

    def _information(self, problem: Problem, resources: Resources) -> Any:
        if self.density == "kernel":
            return Kernels(problem, self.width, resources.n_jobs)
        return super()._information(problem, resources)

    def _revalue(self, addition: _Addition) -> FloatArray:
        addition.told = addition.told + addition.information.redundancy(addition.added)
        n = addition.n_added if self.penalty == "mean" else 1
        return np.asarray(addition.relevance - self.alpha * addition.told / n)

    def _order(self, information: Any, relevance: FloatArray, free: BoolArray) -> tuple[list[int], list[float]]:
        if self.direction == "forward":
            return super()._order(information, relevance, free)
        left = free.copy()
        columns = np.flatnonzero(left)
        told = np.zeros(len(relevance))
        for s in columns:
            told += np.where(np.arange(len(told)) == s, 0.0, information.redundancy(int(s)))
        order: list[int] = []
        values: list[float] = []
        while left.any():
            n_others = int(left.sum()) - 1
            value = relevance - self.alpha * told / (max(n_others, 1) if self.penalty == "mean" else 1)
            # Of equal values the last column goes first, so that the first column ranks higher.
            dropped = len(value) - 1 - int(np.argmin(np.where(left, value, np.inf)[::-1]))
            order.append(dropped)
            values.append(float(value[dropped]))
            left[dropped] = False
            told -= np.where(np.arange(len(told)) == dropped, 0.0, information.redundancy(dropped))
        return order[::-1], values[::-1]


@parameters
class MRMR(_Greedy):
    """Maximal relevance, minimal redundancy (Peng, Long and Ding 2005).

    The next feature is the one with the highest I(C; f) less the mean of I(f; s) over the features s added before, or
    divided by it.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    scheme : {"difference", "quotient"}, default="difference"
        Relevance less redundancy, or divided by it.
    n_bins, stop, share, n_permutations, n_ranked
        As in `MIFS`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(MRMR(), n_features_to_select=2).fit(X, y).ranking_
    array([4, 3, 2, 1])
    """

    command_name = "mrmr"

    scheme: Literal["difference", "quotient"] = "difference"
    n_bins: Several = 10
    stop: Stop | None = None
    share: Share = 0.05
    n_permutations: Repeats = 100
    n_ranked: Count | None = None

    def _revalue(self, addition: _Addition) -> FloatArray:
        addition.told = addition.told + addition.information.redundancy(addition.added)
        mean, relevance = addition.told / addition.n_added, addition.relevance
        return np.asarray(relevance - mean if self.scheme == "difference" else relevance / np.maximum(mean, 1e-12))


@parameters
class _OfBins(_Greedy):
    """Those that have no parameters of their own."""

    n_bins: Several = 10
    stop: Stop | None = None
    share: Share = 0.05
    n_permutations: Repeats = 100
    n_ranked: Count | None = None


class JMI(_OfBins):
    """Joint mutual information (Yang and Moody 1999).

    The next feature is the one that, together with each feature s added before, tells most about the target: the
    highest sum of I(f, s; C). Its value is the mean of I(f; C | s), what it adds to each.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    n_bins, stop, share, n_permutations, n_ranked
        As in `MIFS`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(JMI(), n_features_to_select=2).fit(X, y).ranking_
    array([4, 2, 3, 1])
    """

    command_name = "jmi"

    def _revalue(self, addition: _Addition) -> FloatArray:
        addition.told = addition.told + addition.information.conditional(addition.added)
        return np.asarray(addition.told / addition.n_added)


class CMIM(_OfBins):
    """Conditional mutual information maximization (Fleuret 2004).

    The next feature is the one that tells most about the target whichever single feature added before is known: the
    highest min(I(f; C), min over s of I(f; C | s)).

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    n_bins, stop, share, n_permutations, n_ranked
        As in `MIFS`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(CMIM(), n_features_to_select=2).fit(X, y).ranking_
    array([4, 2, 3, 1])
    """

    command_name = "cmim"

    def _revalue(self, addition: _Addition) -> FloatArray:
        given = addition.information.conditional(addition.added)
        addition.least = np.minimum(addition.relevance if addition.n_added == 1 else addition.least, given)
        return np.asarray(addition.least)


class JMIM(_OfBins):
    """Joint mutual information maximization (Bennasar, Hicks and Setchi 2015).

    The next feature is the one that, together with whichever single feature s added before, tells most about the
    target: the highest min over s of I(f, s; C). The first is the feature with the most information about the target.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    n_bins, stop, share, n_permutations, n_ranked
        As in `MIFS`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(JMIM(), n_features_to_select=2).fit(X, y).ranking_
    array([4, 2, 3, 1])
    """

    command_name = "jmim"

    def _revalue(self, addition: _Addition) -> FloatArray:
        joint = addition.relevance[addition.added] + addition.information.conditional(addition.added)
        addition.least = np.minimum(addition.least, joint)
        return np.asarray(addition.least)


@parameters
class FCBF(Ranker):
    """Fast correlation-based filter (Yu and Liu 2003): leave out what is closer to a better feature than to the target.

    Features are taken by their symmetrical uncertainty with the target, the highest first. Each one that is taken rules
    out all later ones whose symmetrical uncertainty with it is at least as high as with the target. Those never ruled
    out come first in the ranking, the others follow; `RankSelector(FCBF())` keeps the first alone.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    threshold : float, default=0.0
        Symmetrical uncertainty with the target up to which a feature says nothing.

    Notes
    -----
    Numbers are cut as in `InformationGain` (MDLP), for a quantity as target into ten equally full bins, and so is the
    target; levels stay. Missing cells are a level of their own. Row weights count (but not where bins are cut). The
    ranking's `extra` holds `n_relevant`, how many were not ruled out.

    References
    ----------
    L. Yu and H. Liu, Feature selection for high-dimensional data: a fast correlation-based filter solution, ICML 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(FCBF()).fit(X, y).support_
    array([False, False,  True,  True])
    """

    command_name = "fcbf"
    takes: ClassVar[frozenset[str]] = ROWS
    depends_on: ClassVar[frozenset[str]] = frozenset({"sign"})
    symmetric: ClassVar[bool] = False
    chooses = True

    threshold: Annotated[float, Interval(Real, 0, 1, closed="left")] = 0.0

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        problem = problem.as_dense()
        pairs = Uncertainties(class_bins(problem), problem.row_weights)
        target = problem.y if problem.task == "classification" else to_codes(problem.y, 10, False)[0]
        scores = pairs.with_codes(target)
        order = np.argsort(-scores, kind="stable")
        left = (scores > self.threshold) & ~problem.constant
        for place, feature in enumerate(order.tolist()):
            if left[feature]:
                later = order[place + 1 :]
                later = later[left[later]]
                left[later[pairs.with_feature(feature)[later] >= scores[later]]] = False
        order = order[np.argsort(~left[order], kind="stable")]
        return Ranking(scores, order.astype(np.int64), {"n_relevant": np.array(int(left.sum()))})


class DISR(_OfBins):
    """Double input symmetrical relevance (Meyer and Bontempi 2006).

    The next feature is the one with the highest sum, over the features s added before, of the information that both
    give about the target as a share of all that there is to know: Σ I(f, s; C) / H(f, s, C). The first is the feature
    with the most information about the target.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    n_bins, stop, share, n_permutations, n_ranked
        As in `MIFS`.

    Notes
    -----
    The first score is in nats, the later ones are mean shares, without a unit. Missing cells, constant columns and row
    weights are treated as in `MIFS`; row groups play no part.

    References
    ----------
    P. Meyer and G. Bontempi, On the use of variable complementarity for feature selection in cancer classification,
    EvoWorkshops 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(DISR(), n_features_to_select=2).fit(X, y).ranking_
    array([3, 4, 2, 1])
    """

    command_name = "disr"

    def _revalue(self, addition: _Addition) -> FloatArray:
        joint = addition.relevance[addition.added] + addition.information.conditional(addition.added)
        whole = np.maximum(addition.information.entropy(addition.added), 1e-300)
        addition.told = addition.told + joint / whole
        return np.asarray(addition.told / addition.n_added)


class JIM(_OfBins):
    """Joint impurity (Kursa 2021): as `JMI`, with the Gini impurity of the target in the place of its entropy.

    The next feature is the one that, together with each feature s added before, takes most impurity from the target:
    the highest sum of Σ p(f, s, c)² / p(f, s) − Σ p(c)². The first is the feature that takes most by itself.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    n_bins, stop, share, n_permutations, n_ranked
        As in `MIFS`; `stop` goes by the impurity that a feature takes by itself.

    Notes
    -----
    Scores are impurities, between 0 and 1, without a unit; later ones are means over the features added before. Missing
    cells, constant columns and row weights are treated as in `MIFS`; row groups play no part.

    References
    ----------
    M. Kursa, Praznik: high performance information-based feature selection, SoftwareX 16, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(JIM(), n_features_to_select=2).fit(X, y).ranking_
    array([4, 2, 3, 1])
    """

    command_name = "jim"
    unit: ClassVar[str] = ""

    def _information(self, problem: Problem, resources: Resources) -> Any:
        return _Impurity(problem, self.n_bins, resources.n_jobs)

    def _revalue(self, addition: _Addition) -> FloatArray:
        addition.told = addition.told + addition.information.impurity(addition.added)
        return np.asarray(addition.told / addition.n_added)


class _Impurity(FeatureBins):
    """Bins whose relevance is the Gini impurity that a feature takes from the target."""

    def relevance(self, target: Any = None) -> FloatArray:
        """Return the impurity that every feature takes from the target, or from a shuffled one."""
        return self._taken(np.zeros_like(self.target), 1, self.target if target is None else target)

    def impurity(self, feature: int) -> FloatArray:
        """Return the impurity that every feature takes from the target together with one feature."""
        return self._taken(self.codes[feature], int(self.levels[feature]), self.target)

    def _taken(self, other: Codes, n_other: int, target: Codes) -> FloatArray:
        columns, beside, aim = (self.codes, self.levels), (other, n_other), (target, self.n_target)
        out = np.zeros(len(self.levels))

        def run(low: int, high: int) -> None:
            impurity_with((low, high), columns, beside, aim, self.weights, out)

        self._in_blocks(run)
        return out
