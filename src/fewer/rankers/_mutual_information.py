"""Rankers that add features one after the other by mutual information (Nel, chapter 4).

Information is counted in bins, or estimated from densities by Gaussian kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from fewer.contracts import ROWS, IncompatibleError, Ranker, Ranking, Resources
from fewer.contracts.declaring import Count, NonNegative, Positive, Repeats, Several, Share, parameters
from fewer.io import Stream, refuse_constant
from fewer.kernels.information import sum_kernels
from fewer.models.mdlp import class_bins
from fewer.parallel import in_threads
from fewer.problem import BoolArray, FloatArray, Problem
from fewer.rankers._bins import (
    CountedImpurity,
    CountedInformation,
    FeatureBins,
    ImpurityBins,
    SparseBins,
    count_information,
    quantile_bins,
    to_codes,
)
from fewer.statistics import Uncertainties

Stop = Literal["share", "permutation"]
EQUAL = 12  # Digits to which two values must agree to count as equal, in nats.


@dataclass(eq=False)
class _Addition:
    """What a value follows from: the information, the features' relevance, the one added last, and how many are added.

    total : array
        Sums over the features added, of whatever the ranker sums up.
    least : array
        The least of something over the features added.
    """

    information: Any
    relevance: FloatArray
    added: int = -1
    n_added: int = 0
    total: Any = 0.0
    least: Any = np.inf


class _Greedy(Ranker):
    """Add the feature of the highest value given those added before; subclasses say what its value is."""

    takes: ClassVar[frozenset[str]] = ROWS
    depends_on: ClassVar[frozenset[str]] = frozenset({"column order"})  # of equal values the first column is added
    symmetric: ClassVar[bool] = False
    unit: ClassVar[str] = "nats"
    statistics: ClassVar[tuple[str, ...]] = ("counts",)
    counted: ClassVar[type[CountedInformation]] = CountedInformation
    n_bins: int
    stop: Stop | None
    share: float
    n_permutations: int
    n_ranked: int | None

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        return self._rank_by(self._information(problem, resources), ~problem.constant, rng)

    def rank_stream(self, stream: Stream, rng: np.random.Generator, resources: Resources) -> Ranking:
        if self.stop == "permutation":
            raise IncompatibleError("stop='permutation' shuffles the target of all rows; in chunks use stop='share'.")
        bins, constant, error = quantile_bins(stream, self.n_bins, rng, resources)
        refuse_constant(constant)
        counts = self.counted(stream, bins, resources, self.n_ranked)
        ranking = self._rank_by(counts, ~constant, rng)
        ranking.extra.update(cuts=bins.table, rank_error=np.array(error))
        return ranking.bare_last(counts.missing, constant)

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

    def rank_stream(self, stream: Stream, rng: np.random.Generator, resources: Resources) -> Ranking:
        if self.density == "kernel":
            raise IncompatibleError("density='kernel' needs all rows in memory; in chunks use density='bins'.")
        return super().rank_stream(stream, rng, resources)

    def _information(self, problem: Problem, resources: Resources) -> Any:
        if self.density == "kernel":
            return Kernels(problem, self.width, resources.n_jobs)
        return super()._information(problem, resources)

    def _revalue(self, addition: _Addition) -> FloatArray:
        addition.total = addition.total + addition.information.redundancy(addition.added)
        n = addition.n_added if self.penalty == "mean" else 1
        return np.asarray(addition.relevance - self.alpha * addition.total / n)

    def _order(self, information: Any, relevance: FloatArray, free: BoolArray) -> tuple[list[int], list[float]]:
        if self.direction == "forward":
            return super()._order(information, relevance, free)
        left = free.copy()
        columns = np.flatnonzero(left)
        redundancy = np.zeros(len(relevance))
        for s in columns:
            redundancy += np.where(np.arange(len(redundancy)) == s, 0.0, information.redundancy(int(s)))
        order: list[int] = []
        values: list[float] = []
        while left.any():
            n_others = int(left.sum()) - 1
            value = relevance - self.alpha * redundancy / (max(n_others, 1) if self.penalty == "mean" else 1)
            # Of equal values the last column goes first, so that the first column ranks higher.
            dropped = len(value) - 1 - int(np.argmin(np.where(left, value, np.inf)[::-1]))
            order.append(dropped)
            values.append(float(value[dropped]))
            left[dropped] = False
            redundancy -= np.where(np.arange(len(redundancy)) == dropped, 0.0, information.redundancy(dropped))
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
        addition.total = addition.total + addition.information.redundancy(addition.added)
        mean, relevance = addition.total / addition.n_added, addition.relevance
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
        addition.total = addition.total + addition.information.conditional(addition.added)
        return np.asarray(addition.total / addition.n_added)


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
        addition.total = addition.total + joint / whole
        return np.asarray(addition.total / addition.n_added)


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
    counted: ClassVar[type[CountedInformation]] = CountedImpurity

    def _information(self, problem: Problem, resources: Resources) -> Any:
        return ImpurityBins(problem, self.n_bins, resources.n_jobs)

    def _revalue(self, addition: _Addition) -> FloatArray:
        addition.total = addition.total + addition.information.impurity(addition.added)
        return np.asarray(addition.total / addition.n_added)


class Kernels:
    """The information between columns and target from kernel estimates of their densities, at most two at a time.

    I(C; f) is the mean over rows of log p(f | c) / p(f), from one density of f in each class. I(f; g) is the mean of
    log p(f, g) / p(f) p(g). Levels of nominal columns act as classes. Missing cells count as the column's mean.

    Notes
    -----
    Three choices make the estimate agree with the integral of eq. 4.13 where the densities are known:

    - Kernels of two quantities have the covariance of the data (Silverman's normal reference after whitening: width
      σ n^(−1/6)). Axis-parallel ones would blur a narrow ridge, and hide most of what strongly related columns share.
    - The densities of f and g alone are those of their joint density: what kernels blur then cancels for normal data.
    - A row's own kernel counts 2^(−d/2) / 2 in d dimensions. Counted in full it raises the mean log density by
      K(0) / (n h^d p); left out, chance in the density lowers it by ½ ∫K² / (n h^d p). For Gaussian kernels ∫K² is
      2^(−d/2) K(0), so with this weight the two cancel to first order.
    """

    def __init__(self, problem: Problem, width: float = 1.0, n_jobs: int = 1) -> None:
        self._share, counted = _shares(problem)
        self._width = width
        self._n_jobs = n_jobs
        nominal = problem.nominal
        self._columns = [self._described(cells, bool(nominal[f])) for f, cells in enumerate(problem.X[counted].T)]
        self.target = problem.y[counted].astype(np.float64)
        self._classes = problem.task == "classification"
        self._matrix = np.full((len(self._columns),) * 2, np.nan)

    def relevance(self, target: NDArray[np.float64] | None = None) -> FloatArray:
        """Return I(C; f) of every feature."""
        y = self._described(self.target if target is None else target, self._classes)
        return self._with(y, range(len(self._columns)))

    def redundancy(self, feature: int) -> FloatArray:
        """Return I(f; s) of every feature f with one feature s."""
        unknown = np.flatnonzero(np.isnan(self._matrix[feature])).tolist()
        shared = self._with(self._columns[feature], unknown)
        self._matrix[feature, unknown] = self._matrix[unknown, feature] = shared
        return self._matrix[feature]

    def _described(self, cells: FloatArray, nominal: bool) -> Levels | Quantity:
        if nominal:
            return Levels(to_codes(cells, 2, True)[0].astype(np.float64))
        missing = np.isnan(cells)
        values = np.where(missing, 0.0 if missing.all() else cells[~missing].mean(), cells)
        return Quantity.of(values, self._share, self._width)

    def _with(self, other: Levels | Quantity, features: Sequence[int]) -> FloatArray:
        """Return the information of some features and one column, features in threads."""

        def one(f: int) -> float:
            return self._pair(self._columns[f], other)

        return np.array(in_threads(one, features, self._n_jobs))

    def _pair(self, one: Levels | Quantity, other: Levels | Quantity) -> float:
        match one, other:
            case Levels(), Levels():
                return count_information(one.codes, other.codes, self._share)
            case Quantity(), Levels():
                return class_information(one.values, other.codes, self._share, self._width)
            case Levels(), Quantity():
                return class_information(other.values, one.codes, self._share, self._width)
            case Quantity(), Quantity():
                return pair_information(one, other, self._share)
        raise AssertionError


@dataclass(frozen=True)
class Levels:
    """A column of classes, as codes."""

    codes: FloatArray


@dataclass(frozen=True)
class Quantity:
    """A column of numbers; in units of its kernels' width, around its mean; and the log of its density there."""

    values: FloatArray
    scaled: FloatArray
    log_density: FloatArray

    @classmethod
    def of(cls, values: FloatArray, share: FloatArray, width: float) -> Quantity:
        """Describe a column; a constant is all zeros."""
        h = width * (share @ share) ** (1.0 / 6.0) * _spread(values, share)
        scaled = (values - share @ values) / (h or np.inf)
        return cls(values, scaled, _log_density(scaled, np.zeros_like(scaled), share, 1))


def _shares(problem: Problem) -> tuple[FloatArray, BoolArray]:
    """Return the shares of the rows that count, and which they are."""
    weights = problem.row_weights
    counted = weights > 0
    return weights[counted] / weights.sum(), counted


def pair_information(one: Quantity, other: Quantity, share: FloatArray) -> float:
    """Return I(f; g) of two quantities by kernel densities, averaged over the rows.

    The joint density is that of `scipy.stats.gaussian_kde` (Scott's factor), but for the weight of a row's own kernel.
    """
    u, v = one.scaled, other.scaled
    if not (u.any() and v.any()):
        return 0.0
    slope = float((share * u) @ v / ((share * u) @ u))
    # Columns that say the same share infinitely much, but n rows cannot tell a ridge narrower than 1 / n.
    rest = max(1.0 - slope**2, float(share @ share) ** 2)
    joint = _log_density(u, (v - slope * u) / np.sqrt(rest), share, 2) - 0.5 * np.log(rest)
    return max(float(share @ (joint - one.log_density - other.log_density)), 0.0)


def class_information(values: FloatArray, classes: FloatArray, share: FloatArray, width: float = 1.0) -> float:
    """Return I(C; f) by kernel densities of f in each class, averaged over the rows.

    The density in a class is that of `scipy.stats.gaussian_kde` (Silverman's factor: σ (4 / 3n)^(1/5)), but for the
    weight of a row's own kernel.
    """
    spread = _spread(values, share)
    if spread == 0:
        return 0.0
    own_density, mixture, still = np.empty_like(values), np.zeros_like(values), np.zeros_like(values)
    for code in np.unique(classes):
        rows = classes == code
        prior = float(share[rows].sum())
        mass = share[rows] / prior
        n = 1.0 / float(mass @ mass)
        h = width * max(_spread(values[rows], mass), 1e-3 * spread) * (4.0 / (3.0 * n)) ** 0.2
        density = np.empty_like(values)
        points, centers = values / h, values[rows] / h
        sum_kernels(points, still, centers, still[rows], mass, density)
        density[rows] = _less_own(density[rows], mass, 1)
        density /= h
        own_density[rows] = density[rows]
        mixture += prior * density
    return max(float(share @ np.log(own_density / mixture)), 0.0)


def _log_density(u: FloatArray, v: FloatArray, share: FloatArray, n_dimensions: int) -> FloatArray:
    """Return the log of the kernel density at every row, up to a constant for each dimension."""
    sums = np.empty_like(u)
    sum_kernels(u, v, u, v, share, sums)
    return np.asarray(np.log(_less_own(sums, share, n_dimensions)))


def _less_own(sums: FloatArray, share: FloatArray, n_dimensions: int) -> FloatArray:
    """Let a row's own kernel, 1 at its center, count in part (see `Kernels`)."""
    excess = (1.0 - 0.5 * 2.0 ** (-0.5 * n_dimensions)) * share
    return (sums - excess) / (1.0 - excess)


def _spread(values: FloatArray, share: FloatArray) -> float:
    """Return the sample standard deviation of weighted rows; 0 where there is none."""
    if np.ptp(values) == 0:
        return 0.0
    return float(np.sqrt(share @ (values - share @ values) ** 2 / (1.0 - share @ share)))
