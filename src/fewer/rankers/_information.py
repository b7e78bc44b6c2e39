"""Mutual information of columns: by bins, or by Gaussian kernels (Nel, chapter 4).

Information gain: how much about the class a feature's bin tells (Chen, section 3.1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import ROWS, Ranker, Ranking, Resources
from fewer.contracts.declaring import Count, Repeats, parameters
from fewer.kernels.information import information_with, sum_kernels
from fewer.models.mdlp import bin_numbers, mdlp_cuts
from fewer.parallel import in_threads
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, Task
from fewer.statistics import information

Codes = NDArray[np.int32]
BLOCK = 4096
FEW_ROWS = 2000  # Up to so many, columns are ordered together: one by one, calls take longer than the sorting.
CELLS = 1 << 18  # Of columns that are ordered together.


class ColumnCodes(ABC):
    """Columns and target as codes, and the information between them in nats; subclasses say how columns are kept."""

    levels: IntArray

    def __init__(self, problem: Problem, n_bins: int, n_jobs: int = 1) -> None:
        self.target, self.n_target = problem.y.astype(np.int32), max(problem.n_classes, 1)
        if problem.task == "regression":
            self.target, self.n_target = to_codes(problem.y, n_bins, False)
        self.weights, self._n_jobs = problem.row_weights, n_jobs

    @abstractmethod
    def column(self, feature: int) -> Codes:
        """Return the codes of one column, all rows."""

    @abstractmethod
    def with_codes(self, codes: Codes, n_codes: int) -> FloatArray:
        """Return the information of every feature and one vector of codes."""

    @property
    @abstractmethod
    def entropies(self) -> FloatArray:
        """H(f) of every feature f."""

    def relevance(self, target: Codes | None = None) -> FloatArray:
        """Return I(C; f) of every feature."""
        return self.with_codes(self.target if target is None else target, self.n_target)

    def redundancy(self, feature: int) -> FloatArray:
        """Return I(f; s) of every feature f with one feature s."""
        return self.with_codes(self.column(feature), int(self.levels[feature]))

    def conditional(self, feature: int) -> FloatArray:
        """Return I(f; C | s) = I(f; (s, C)) − I(f; s) of every feature f, given one feature s."""
        return np.maximum(self.with_codes(*self._pair(feature)) - self.redundancy(feature), 0.0)

    def entropy(self, feature: int) -> FloatArray:
        """Return H(f, s, C) of every feature f, with one feature s and the target."""
        pair, n_pair = self._pair(feature)
        return self.entropies + entropy(np.bincount(pair, self.weights)) - self.with_codes(pair, n_pair)

    def _pair(self, feature: int) -> tuple[Codes, int]:
        pair = self.column(feature) * np.int32(self.n_target) + self.target
        return pair, int(self.levels[feature]) * self.n_target

    def _in_blocks(self, run: Callable[[int, int], None]) -> None:
        """Let blocks of features run in threads."""
        p = len(self.levels)
        edges = np.linspace(0, p, max(min(self._n_jobs, p), 1) + 1).astype(np.int64)
        in_threads(lambda block: run(*block), list(pairwise(edges.tolist())), self._n_jobs)


class FeatureBins(ColumnCodes):
    """Columns and target as integer codes, and the information between them.

    A column with at most `n_bins` values, or a nominal one, keeps them; others are cut into bins that hold about as
    many rows each. Missing cells are a level of their own.
    """

    def __init__(self, problem: Problem, n_bins: int, n_jobs: int = 1) -> None:
        super().__init__(problem, n_bins, n_jobs)
        nominal = problem.nominal
        self.codes: Codes = np.empty((problem.n_features, problem.n_samples), dtype=np.int32)
        self.levels = np.empty(problem.n_features, dtype=np.int64)
        for low in range(0, problem.n_features, BLOCK):
            # Block by block: a whole table turned round is one table more.
            block = np.ascontiguousarray(problem.X[:, low : low + BLOCK].T)
            told = self._rank_block(block, low, n_bins, nominal[low : low + BLOCK])
            for f in np.flatnonzero(~told).tolist():
                self.codes[low + f], self.levels[low + f] = to_codes(block[f], n_bins, bool(nominal[low + f]))

    def _rank_block(self, block: FloatArray, low: int, n_bins: int, nominal: BoolArray) -> BoolArray:
        """Code columns of many different values together, by their ranks; return which columns that did."""
        n, told = block.shape[1], np.zeros(len(block), dtype=bool)
        if not n_bins < n <= FEW_ROWS or len(block) < 2:
            return told
        middle = (2 * np.arange(n) + 1) * n_bins // (2 * n)
        ranked = np.append(0, np.cumsum(np.diff(middle) > 0)).astype(np.int32)
        step = max(CELLS // n, 1)
        for first in range(0, len(block), step):
            some = block[first : first + step]
            order = np.argsort(some, axis=1)
            values = np.take_along_axis(some, order, axis=1)
            clear = (values[:, 1:] > values[:, :-1]).all(axis=1) & np.isfinite(values[:, [0, -1]]).all(axis=1)
            clear &= ~nominal[first : first + step]
            codes = np.empty(order.shape, dtype=np.int32)
            np.put_along_axis(codes, order, ranked[None], axis=1)
            places = low + first + np.flatnonzero(clear)
            self.codes[places], self.levels[places] = codes[clear], ranked[-1] + 1
            told[first : first + step] = clear
        return told

    def column(self, feature: int) -> Codes:
        """Return the codes of one column."""
        return self.codes[feature]

    @property
    def entropies(self) -> FloatArray:
        """H(f) of every feature f."""
        return np.array([entropy(np.bincount(codes, self.weights)) for codes in self.codes])

    def with_codes(self, codes: Codes, n_codes: int) -> FloatArray:
        """Return the information of every feature and one vector of codes."""
        out = np.zeros(len(self.codes))

        def run(low: int, high: int) -> None:
            information_with(low, high, self.codes, self.levels, codes, n_codes, self.weights, out)

        self._in_blocks(run)
        return out


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
        found = self._with(self._columns[feature], unknown)
        self._matrix[feature, unknown] = self._matrix[unknown, feature] = found
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


def to_codes(values: NDArray[np.float64], n_bins: int, nominal: bool) -> tuple[Codes, int]:
    """Return a column as codes 0, 1, …, and how many codes there may be.

    Examples
    --------
    >>> to_codes(np.array([5.0, 7.0, np.nan, 5.0]), 10, False)
    (array([0, 1, 2, 0], dtype=int32), 3)
    """
    edges, n_present = bin_edges(values, n_bins, nominal)
    codes = _count_below(edges, values)
    if n_present < len(values):
        codes[np.isnan(values)] = len(edges) + 1
        return codes, len(edges) + 2
    return codes, len(edges) + 1


def bin_edges(values: NDArray[np.float64], n_bins: int, nominal: bool) -> tuple[FloatArray, int]:
    """Return where a column is cut, a value being in the bin of the edges that it reaches, and its present cells.

    Examples
    --------
    >>> bin_edges(np.array([5.0, 7.0, np.nan, 5.0]), 10, False)
    (array([7.]), 3)
    """
    ordered = np.sort(values)  # NaN comes last
    n_present = len(values) - int(np.isnan(values).sum())
    present = ordered[:n_present]
    first = np.flatnonzero(np.diff(present, prepend=-np.inf) > 0) if n_present else np.empty(0, dtype=np.int64)
    if nominal or len(first) <= n_bins:
        return present[first][1:], n_present
    # A value goes to the bin of the middle of the ranks that its rows take up.
    middle = (first + np.append(first[1:], n_present)) * n_bins // (2 * n_present)
    return present[first[np.flatnonzero(np.diff(middle)) + 1]], n_present


def _count_below(edges: FloatArray, values: FloatArray) -> Codes:
    """Count, for each value, the edges that it reaches; a few edges are compared faster than searched."""
    if len(edges) > 32:
        return np.searchsorted(edges, values, side="right").astype(np.int32)
    codes = np.zeros(len(values), dtype=np.int8)
    for edge in edges:
        codes += values >= edge
    return codes.astype(np.int32)


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
    own, mixture, still = np.empty_like(values), np.zeros_like(values), np.zeros_like(values)
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
        own[rows] = density[rows]
        mixture += prior * density
    return max(float(share @ np.log(own / mixture)), 0.0)


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


def count_information(one: FloatArray, other: FloatArray, weights: FloatArray) -> float:
    """Return the mutual information of two columns of codes."""
    out = np.zeros(1)
    codes = one.astype(np.int32)[None]
    levels = np.array([int(one.max()) + 1])
    information_with(0, 1, codes, levels, other.astype(np.int32), int(other.max()) + 1, weights, out)
    return float(out[0])


Binning = Literal["equal-width", "equal-frequency", "mdlp"]


@parameters
class InformationGain(Ranker):
    """Mutual information of each feature with the class, H(X) − H(X|Y), in bits.

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
    array([0.652, 0.386, 1.357, 1.378])
    """

    command_name = "information-gain"
    takes: ClassVar[frozenset[str]] = ROWS
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    unit: ClassVar[str] = "bits"
    statistics: ClassVar[tuple[str, ...]] = ("counts",)

    binning: Binning = "mdlp"
    n_bins: Repeats = 10

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        scores, bins = np.zeros(problem.n_features), np.zeros(problem.n_features, dtype=np.int64)
        n_rows, total = np.bincount(problem.y), np.bincount(problem.y, problem.row_weights).astype(np.float64)
        for feature, nominal in enumerate(problem.nominal):
            column, classes, copies, weights = self._present(problem, feature, n_rows, total)
            codes = column.astype(np.int64) if nominal else bin_numbers(column, self.cuts(column, classes, copies))
            scores[feature] = self.of_counts(joint_counts(codes, classes, weights))
            bins[feature] = len(np.unique(codes))
        return Ranking.by_score(scores, n_bins=bins)

    def of_counts(self, counts: FloatArray) -> float:
        """Return the score of a feature from its table of counts.

        Parameters
        ----------
        counts : array of shape (n_bins, n_classes)
            Rows of each class in each bin.

        Returns
        -------
        float
            The score.
        """
        return information(counts) / np.log(2.0)

    def _present(
        self, problem: Problem, feature: int, n_rows: IntArray, total: FloatArray
    ) -> tuple[FloatArray, IntArray, IntArray | None, FloatArray | None]:
        """Return the cells of a column that are not missing, their classes, for how many rows each stands, weights.

        Zeros that a sparse table does not store are one cell for each class, of which there are `n_rows` rows.
        """
        if problem.sparse is None or self.binning == "equal-frequency":
            cells = problem.column(feature)
            present = ~np.isnan(cells)
            weights = None if problem.sample_weight is None else problem.sample_weight[present]
            return cells[present], problem.y[present], None, weights
        table, mass = cast(Any, problem).by_column, problem.row_weights
        stored = slice(*table.indptr[feature : feature + 2])
        rows, cells = table.indices[stored], table.data[stored]
        counts = n_rows - np.bincount(problem.y[rows], minlength=len(n_rows))
        zeros = np.flatnonzero(counts)
        rest = (total - np.bincount(problem.y[rows], mass[rows], minlength=len(n_rows)))[zeros]
        present = ~np.isnan(cells)
        rows = rows[present]
        column = np.concatenate([cells[present], np.zeros(len(zeros))])
        classes = np.concatenate([problem.y[rows], zeros])
        copies = np.concatenate([np.ones(len(rows), dtype=np.int64), counts[zeros]])
        return column, classes, copies, np.concatenate([mass[rows], rest])

    def cuts(self, column: FloatArray, classes: IntArray, copies: IntArray | None = None) -> FloatArray:
        """Return where numbers are cut.

        Parameters
        ----------
        column : array of shape (n,)
            Numbers, none of them missing.
        classes : int array of shape (n,)
            The classes of their rows.
        copies : int array of shape (n,), optional
            For how many rows each stands.

        Returns
        -------
        array
        """
        if len(column) == 0:
            return np.empty(0)
        if self.binning == "mdlp":
            return mdlp_cuts(column, classes, copies)
        if self.binning == "equal-width":
            return np.unique(np.linspace(column.min(), column.max(), self.n_bins + 1)[1:-1])
        return np.unique(np.quantile(column, np.arange(1, self.n_bins) / self.n_bins))


def joint_counts(one: IntArray, other: IntArray, weights: FloatArray | None = None) -> FloatArray:
    """Count how often each code 0, 1, … of one array meets each code of another.

    Parameters
    ----------
    one, other : int arrays
        Codes from 0, one for each row.
    weights : array, optional
        How much each row counts.

    Returns
    -------
    array of shape (n_codes, n_other)

    Examples
    --------
    >>> joint_counts(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1])).tolist()
    [[0.0, 2.0], [1.0, 1.0]]
    """
    if len(one) == 0:
        return np.zeros((1, 1))
    width = int(other.max()) + 1
    counts = np.bincount(one * width + other, weights, minlength=(int(one.max()) + 1) * width)
    return counts.reshape(-1, width).astype(np.float64)


def entropy(counts: NDArray[Any]) -> float:
    """Return the entropy of counts, in nats.

    Examples
    --------
    >>> entropy(np.array([2.0, 2.0, 0.0]))
    0.6931471805599453
    """
    shares = counts[counts > 0] / max(float(counts.sum()), 1e-300)
    return max(float(-(shares * np.log(shares)).sum()), 0.0)


class GainRatio(InformationGain):
    """Information gain as a share of the feature's own entropy: I(X; Y) / H(X).

    Quinlan's correction of `InformationGain`, which prefers features of many levels. A feature that does not vary, or
    that has one bin, scores 0.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    binning, n_bins
        As in `InformationGain`.

    References
    ----------
    J. R. Quinlan, C4.5: programs for machine learning, Morgan Kaufmann 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(GainRatio(), n_features_to_select=2).fit(X, y).scores_.round(3)
    array([0.42 , 0.247, 0.858, 0.871])
    """

    command_name = "gain-ratio"
    unit: ClassVar[str] = ""

    def of_counts(self, counts: FloatArray) -> float:
        own = entropy(counts.sum(axis=1))
        return information(counts) / own if own > 0 else 0.0


class SymmetricalUncertainty(InformationGain):
    """Information gain as a share of the mean entropy of feature and class: 2 I(X; Y) / (H(X) + H(Y)).

    Between 0, independent, and 1, each known from the other. A feature that does not vary, or has one bin, scores 0.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    binning, n_bins
        As in `InformationGain`.

    See Also
    --------
    FCBF : Leaves out features that are closer to a better feature than to the class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(SymmetricalUncertainty(), n_features_to_select=2).fit(X, y).scores_.round(3)
    array([0.416, 0.245, 0.857, 0.871])
    """

    command_name = "symmetrical-uncertainty"
    unit: ClassVar[str] = ""

    def of_counts(self, counts: FloatArray) -> float:
        both = entropy(counts.sum(axis=1)) + entropy(counts.sum(axis=0))
        return 2.0 * information(counts) / both if both > 0 else 0.0


@parameters
class OneR(Ranker):
    """Share of rows that a rule on this feature alone gets right: the most frequent class in each of its bins.

    Holte's 1R. Numbers are cut from the lowest on: a bin is closed once one class has `min_bucket` rows in it, at the
    next value where that class ends; neighboring bins of the same class are joined. Missing cells are a bin of their
    own, a nominal feature's levels are its bins.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    min_bucket : int, default=6
        Rows of its most frequent class that a bin has at least; Holte found 6 to be enough on most tables.

    Notes
    -----
    The rows that make the rule also score it, so that the share is optimistic, most for nominal features of many levels
    and for a small `min_bucket`. Row weights count in the shares and in the buckets.

    References
    ----------
    R. C. Holte, Very simple classification rules perform well on most commonly used datasets, Machine Learning 11,
    1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(OneR(), n_features_to_select=2).fit(X, y).scores_.round(3)
    array([0.747, 0.6  , 0.953, 0.96 ])
    """

    command_name = "one-r"
    takes: ClassVar[frozenset[str]] = ROWS
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    min_bucket: Count = 6

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        scores, weights = np.zeros(problem.n_features), problem.row_weights
        for feature, nominal in enumerate(problem.nominal):
            cells = problem.column(feature)
            present = ~np.isnan(cells)
            codes = np.zeros(problem.n_samples, dtype=np.int64)
            if nominal:
                codes[present] = cells[present].astype(np.int64)
            else:
                values, place = np.unique(cells[present], return_inverse=True)
                counts = joint_counts(place, problem.y[present], weights[present]) if len(values) else np.zeros((1, 1))
                codes[present] = one_r_bins(counts, self.min_bucket)[place]
            codes[~present] = codes.max(initial=0) + 1
            scores[feature] = joint_counts(codes, problem.y, weights).max(axis=1).sum() / weights.sum()
        scores[problem.constant & ~problem.missing.any(axis=0)] = 0.0
        return Ranking.by_score(scores)


def one_r_bins(counts: FloatArray, min_bucket: float) -> IntArray:
    """Return the bin of each value in Holte's 1R, from the class counts of the values in ascending order.

    Parameters
    ----------
    counts : array of shape (n_values, n_classes)
        How often each value meets each class.
    min_bucket : float
        Weight of the most frequent class at which a bin may end.

    Returns
    -------
    int array of shape (n_values,)

    Examples
    --------
    >>> one_r_bins(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), 2)
    array([0, 0, 1, 1])
    """
    bins = np.zeros(len(counts), dtype=np.int64)
    inside, most = counts[0].copy(), []
    for value in range(1, len(counts)):
        best = int(np.argmax(inside))
        bins[value] = bins[value - 1]
        # A run of the bin's own class goes on; another class ends it once enough rows of its own are inside.
        if inside[best] >= min_bucket and int(np.argmax(counts[value])) != best:
            most.append(best)
            bins[value] += 1
            inside[:] = 0.0
        inside += counts[value]
    most.append(int(np.argmax(inside)))
    joined = np.cumsum(np.append(0, np.diff(most) != 0))
    return np.asarray(joined[bins], dtype=np.int64)
