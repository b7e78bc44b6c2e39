"""Distances between class distributions: monotone criteria for branch and bound (Nel, section 2.4).

How far two classes are from being separable by a plane (Dong & Kothari 2003, section 3; Ho & Basu 2002).

The classical measures that classifiability stands beside: Fisher's discriminant ratio and the spanning tree.

Dong & Kothari 2003, section 3, equation 1; Friedman & Rafsky, Annals of Statistics 7 (1979); Ho & Basu, IEEE
Transactions on Pattern Analysis and Machine Intelligence 24 (2002).

Rows that agree in the chosen features should agree in the class: the measure behind FOCUS.

H. Almuallim and T. Dietterich, Learning with many irrelevant features, AAAI 1991; the rate is that of H. Liu and
R. Setiono, A probabilistic approach to feature selection, ICML 1996.

What γ says about the error that a classifier can reach, and how many features rows need (Nel, chapter 8).

For classes, half of the squared difference of two outputs is ½ where they differ: as rows become many, γ tends to half
of the chance R that two rows at one place have different classes. That is the error of the nearest neighbor, and T.
Cover and P. Hart (IEEE Transactions on Information Theory 13, 1967) enclose the error of the best classifier by it.
"""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from sklearn.neighbors import NearestNeighbors
from sklearn.utils._param_validation import HasMethods

from fewer.contracts import ROWS, Criterion, Masks, Resources, Scorer, Share, parameters
from fewer.io import to_problem
from fewer.kernels.classifiability import spanning_tree
from fewer.kernels.differences import exact_rows
from fewer.models import MDLPDiscretizer
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem, Task
from fewer.statistics.encoding import scaled_inputs

MEASURES = ("mahalanobis", "bhattacharyya", "scatter")


@parameters
class Separability(Criterion):
    """How far apart the classes are, taken as normal distributions. It never falls when a feature is added.

    Read more in the guide: :doc:`/guide/big`.

    Parameters
    ----------
    measure : {"mahalanobis", "bhattacharyya", "scatter"}, default="mahalanobis"
        Squared Mahalanobis distance of the class means under the pooled covariance; Bhattacharyya distance, which
        sees different covariances too; or the trace of S_w⁻¹ S_b, the scatter between classes in units of the
        scatter within. With more than two classes the first two are means over all pairs of classes.
    shrinkage : float, default=1e-3
        Share of each covariance that is replaced by the identity (columns have unit variance), so that collinear
        columns and classes with few rows do no harm.

    Notes
    -----
    Columns are standardized. A nominal column counts as its 0/1 level indicators, a missing cell as the column's
    mean. Row weights are used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> search = fewer.search.BranchAndBound()
    >>> selector = fewer.SubsetSelector(Separability("scatter"), search, n_features_to_select=2).fit(X, y)
    >>> selector.get_support()
    array([ True, False,  True, False])
    """

    command_name = "separability"
    takes: ClassVar[frozenset[str]] = ROWS
    weights_repeat_rows: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    measure: Literal["mahalanobis", "bhattacharyya", "scatter"] = "mahalanobis"
    shrinkage: Share = 1e-3

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> SeparabilityScorer:
        return SeparabilityScorer(problem, self.measure, self.shrinkage)


class SeparabilityScorer(Scorer):
    """`Separability` bound to rows."""

    def __init__(self, problem: Problem, measure: str, shrinkage: float) -> None:
        weights = problem.row_weights
        table, self._owner = scaled_inputs(problem, weights / weights.sum())
        present = [code for code in np.unique(problem.y) if weights[problem.y == code].sum() > 0]
        moments = [_moments(table[problem.y == code], weights[problem.y == code]) for code in present]
        mass = np.array([weights[problem.y == code].sum() for code in present])
        share = mass / mass.sum()
        self._means = np.array([mean for mean, _ in moments]).reshape(len(present), table.shape[1])
        spreads = np.array([spread for _, spread in moments]).reshape(len(present), *2 * table.shape[1:])
        identity = max(shrinkage, 1e-12) * np.eye(table.shape[1])
        self._spreads = (1.0 - shrinkage) * spreads + identity
        self._pooled = np.tensordot(share, self._spreads, axes=1)
        self._measure = measure
        self._share = share

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks, those of one size together."""
        used = np.asarray(masks, dtype=bool)[:, self._owner]
        sizes = used.sum(axis=1)
        scores = np.zeros(len(masks))
        for size in np.unique(sizes[sizes > 0]):
            group = np.flatnonzero(sizes == size)
            for part in np.array_split(group, -(-len(group) * size * size // 1_000_000) or 1):
                scores[part] = self._distances(np.nonzero(used[part])[1].reshape(len(part), size))
        return scores

    def _distances(self, columns: IntArray) -> FloatArray:
        """Measure (m, s) lists of columns."""
        if self._measure == "scatter":
            middle = self._share @ self._means
            pooled = _blocks(self._pooled, columns)
            return np.asarray(
                sum(
                    w * _square(pooled, (mean - middle)[columns])
                    for w, mean in zip(self._share, self._means, strict=True)
                )
            )
        pairs = list(combinations(range(len(self._means)), 2))
        total = np.zeros(len(columns))
        for one, other in pairs:
            gap = (self._means[one] - self._means[other])[columns]
            if self._measure == "mahalanobis":
                total += _square(_blocks(self._pooled, columns), gap)
            else:
                first, second = _blocks(self._spreads[one], columns), _blocks(self._spreads[other], columns)
                middle = (first + second) / 2.0
                volumes = [np.linalg.slogdet(blocks)[1] for blocks in (middle, first, second)]
                total += _square(middle, gap) / 8.0 + (volumes[0] - (volumes[1] + volumes[2]) / 2.0) / 2.0
        return total / max(len(pairs), 1)


def _moments(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = np.average(rows, axis=0, weights=weights)
    centered = rows - mean
    return mean, (centered * weights[:, None]).T @ centered / weights.sum()


def _blocks(matrix: FloatArray, columns: IntArray) -> FloatArray:
    return matrix[columns[:, :, None], columns[:, None, :]]


def _square(blocks: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return vᵀ A⁻¹ v for each block and vector."""
    return np.asarray((vectors * np.linalg.solve(blocks, vectors[:, :, None])[:, :, 0]).sum(axis=1))


class LinearSeparability(Criterion):
    """One minus the mean distance by which rows lie on the wrong side of the best plane.

    The plane has the least sum of such distances, by linear programming (F. Smith, IEEE Transactions on Computers 17,
    1968); columns are standardized, so that the margin of 1 means something. 1 if a plane separates the classes, 0 for
    classes that lie on top of each other. With several classes the worst pair counts. Missing cells count as the mean,
    nominal columns by their level codes, rows by their weights within their class.

    Read more in the guide: :doc:`/methods/parts`.

    See Also
    --------
    FisherRatio, BoundaryShare : The other classical measures.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.SubsetSelector(LinearSeparability(), fewer.search.Forward()).fit(X[50:], y[50:]).get_support(indices=True)
    array([0, 1, 2, 3])
    """

    command_name = "linear-separability"
    takes: ClassVar[frozenset[str]] = ROWS
    weights_repeat_rows: ClassVar[bool] = True

    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        return _PlaneScorer(problem)


class _PlaneScorer(Scorer):
    def __init__(self, problem: Problem) -> None:
        self._weights = problem.row_weights
        present, table = ~problem.missing, np.nan_to_num(problem.X)
        mass = np.maximum(self._weights @ present, 1e-300)
        centered = np.where(present, table - self._weights @ table / mass, 0.0)
        spread = np.sqrt(self._weights @ centered**2 / self._weights.sum())
        self._X, self._y = centered / np.where(spread > 0, spread, 1.0), problem.y
        self._pairs = list(combinations(range(problem.n_classes), 2))

    def score(self, masks: Masks) -> FloatArray:
        return np.array([self._one(mask) if mask.any() else 0.0 for mask in masks.astype(bool)])

    def _one(self, mask: BoolArray) -> float:
        worst = 0.0
        for a, b in self._pairs:
            rows = (self._y == a) | (self._y == b)
            worst = max(worst, _mean_distance(self._X[rows][:, mask], self._y[rows] == b, self._weights[rows]))
        return 1.0 - min(worst, 1.0)


def _mean_distance(X: FloatArray, positive: BoolArray, weights: FloatArray) -> float:
    """Return the least mean of max(0, 1 − s (w·x + b)) over rows, s = ±1, each class counting half."""
    sign = np.where(positive, 1.0, -1.0)
    n, p = X.shape
    masses = weights @ positive, weights @ ~positive
    share = 0.5 * weights / np.maximum(np.where(positive, *masses), 1e-300)
    table = np.hstack([-sign[:, None] * np.column_stack([X, np.ones(n)]), -np.eye(n)])
    bounds = [(None, None)] * (p + 1) + [(0, None)] * n
    found = linprog(np.append(np.zeros(p + 1), share), A_ub=table, b_ub=-np.ones(n), bounds=bounds, method="highs")
    return float(round(found.fun, 12)) if found.status == 0 else 1.0


def linear_separability(X: Any, y: Any) -> float:
    """Return how nearly a plane separates the classes: 1 if one does, 0 if none helps.

    Read more in the guide: :doc:`/methods/parts`.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Their target.

    Returns
    -------
    float

    Examples
    --------
    >>> linear_separability([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    1.0
    >>> linear_separability([[0.0], [1.0], [0.0], [1.0]], ["a", "a", "b", "b"])
    0.0
    """
    problem = to_problem(X, y, task="classification")
    return float(_PlaneScorer(problem).score(np.ones((1, problem.n_features), dtype=bool))[0])


class FisherRatio(Criterion):
    """The largest discriminant ratio of any feature in the subset: max (μ₁ − μ₂)² / (σ₁² + σ₂²).

    It sees one feature at a time, so it never falls when a feature is added and cannot tell a good pair from its
    better half. With more than two classes the largest ratio of any pair of classes counts. Missing cells are left
    out; nominal columns are taken by their level codes; row weights count in means and variances.

    Read more in the guide: :doc:`/methods/parts`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.SubsetSelector(FisherRatio(), fewer.search.Forward()).fit(X, y).get_support(indices=True)
    array([2])
    """

    command_name = "fisher-ratio"
    takes: ClassVar[frozenset[str]] = ROWS
    weights_repeat_rows: ClassVar[bool] = True

    monotone: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        return _LargestOf(_fisher_ratios(problem))


class BoundaryShare(Criterion):
    """One minus the share of edges of the minimum spanning tree that join different classes.

    The tree joins all rows by the shortest edges; where classes lie apart, few edges cross between them (Friedman &
    Rafsky). Near 1 is easy; for two equal classes thrown at random it is about 0.5. Distances are those of
    `Classifiability`: columns divided by their ranges, nominal values equal or not. Of equally short edges the one
    from the row that joined earlier is taken. No edge joins two rows of one group. The empty subset scores 0.
    An edge of the tree has no weight, so row weights are refused.

    Read more in the guide: :doc:`/methods/neighbors`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.SubsetSelector(BoundaryShare(), fewer.search.Forward()).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    command_name = "boundary-share"
    takes: ClassVar[frozenset[str]] = ROWS - {"weights"}

    supports_weights: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        problem.check_neighbors("BoundaryShare")
        return _BoundaryScorer(problem)


class _LargestOf(Scorer):
    """Scores a subset by its best feature; 0 for none."""

    def __init__(self, values: FloatArray) -> None:
        self._values = values

    def score(self, masks: Masks) -> FloatArray:
        return np.asarray(np.where(masks, self._values, 0.0).max(axis=1, initial=0.0))


class _BoundaryScorer(Scorer):
    def __init__(self, problem: Problem) -> None:
        self._y, self._groups = problem.y, problem.row_groups
        self._exact = exact_rows(problem, np.zeros(problem.n_samples, dtype=np.int64), "global")

    def score(self, masks: Masks) -> FloatArray:
        return np.array([1.0 - self.share(mask) if mask.any() else 0.0 for mask in masks])

    def share(self, mask: Masks) -> float:
        parent = spanning_tree(self._exact, mask.astype(np.float64), self._groups)
        children = np.flatnonzero(parent >= 0)
        return float(np.mean(self._y[children] != self._y[parent[children]]))


def fisher_ratio(X: Any, y: Any) -> FloatArray:
    """Return the discriminant ratio of each feature; the largest describes the problem.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Their classes.

    Returns
    -------
    array of shape (n_features,)
        Larger where a feature alone tells the classes apart.

    Examples
    --------
    >>> fisher_ratio([[0.0, 5.0], [2.0, 1.0], [10.0, 4.0], [12.0, 2.0]], ["a", "a", "b", "b"])
    array([50.,  0.])
    """
    return _fisher_ratios(to_problem(X, y, task="classification"))


def boundary_share(X: Any, y: Any) -> float:
    """Return the share of the minimum spanning tree's edges that join different classes.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Their classes.

    Returns
    -------
    float
        Between 0 and 1; small where the classes keep apart.

    Examples
    --------
    >>> boundary_share([[0.0], [1.0], [2.0], [8.0], [9.0]], ["a", "a", "a", "b", "b"])
    0.25
    """
    problem = to_problem(X, y, task="classification")
    return _BoundaryScorer(problem).share(np.ones(problem.n_features, dtype=bool))


def _fisher_ratios(problem: Problem) -> FloatArray:
    """Return the largest ratio over pairs of classes, feature by feature."""
    present = ~problem.missing
    table, weights = np.where(present, problem.X, 0.0), problem.row_weights
    means, variances = [], []
    for code in range(problem.n_classes):
        rows = problem.y == code
        mass = weights[rows] @ present[rows]
        mass = np.where(mass > 0, mass, 1.0)
        mean = weights[rows] @ table[rows] / mass
        means.append(mean)
        variances.append(weights[rows] @ np.where(present[rows], table[rows] - mean, 0.0) ** 2 / mass)
    ratios = np.zeros(problem.n_features)
    for a, b in combinations(range(problem.n_classes), 2):
        apart, spread = (means[a] - means[b]) ** 2, variances[a] + variances[b]
        # Two classes that are constant and different are told apart perfectly: more than any finite ratio.
        ratio = np.divide(apart, spread, out=np.where(apart > 0, np.finfo(float).max, 0.0), where=spread > 0)
        ratios = np.maximum(ratios, ratio)
    return ratios


# Numbers of so few distinct values are levels already.
FEW = 10


@parameters
class Consistency(Criterion):
    """The share of rows that a table of the chosen features gets right: the largest class among equal rows.

    With `Exhaustive` this is FOCUS: of all subsets that contradict nothing, the smallest. Adding a feature never lowers
    it, so that branch and bound is exact, too. It overfits; numbers of more than ten values are therefore
    cut into bins first.

    Read more in the guide: :doc:`/methods/parts`.

    Parameters
    ----------
    discretizer : transformer, default=MDLPDiscretizer()
        Cuts numeric columns of more than ten values into bins.

    See Also
    --------
    Classifiability : Rows that lie near each other should agree in the class.

    Examples
    --------
    >>> import fewer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(2, size=(200, 5)).astype(bool)
    >>> y = X[:, 1] ^ X[:, 3]
    >>> fewer.SubsetSelector(Consistency(), fewer.search.Exhaustive()).fit(X, y).get_support(indices=True)
    array([1, 3])
    """

    command_name = "consistency"
    takes: ClassVar[frozenset[str]] = ROWS

    monotone: ClassVar[bool] = True
    supports_weights: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    discretizer: Annotated[Any, HasMethods(["fit", "transform"]), None] = None

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        return _ConsistencyScorer(_levels(problem, self.discretizer), problem)


class _ConsistencyScorer(Scorer):
    def __init__(self, codes: IntArray, problem: Problem) -> None:
        self._codes, self._y, self._n_classes = codes, problem.y, problem.n_classes
        self._weight = problem.row_weights

    def score(self, masks: Masks) -> FloatArray:
        return np.array([self._one(mask) for mask in masks.astype(bool)])

    def _one(self, mask: Masks) -> float:
        cell = np.zeros(len(self._y), dtype=np.int64)
        for feature in np.flatnonzero(mask):
            # Numbered anew after each feature, so that numbers stay small.
            cell = np.unique(cell * (self._codes[feature].max() + 1) + self._codes[feature], return_inverse=True)[1]
        counts = np.bincount(cell * self._n_classes + self._y, self._weight, (cell.max() + 1) * self._n_classes)
        return float(counts.reshape(-1, self._n_classes).max(axis=1).sum() / self._weight.sum())


def _levels(problem: Problem, discretizer: Any) -> IntArray:
    """Return the level of each cell, (n_features, n_samples); missing cells are a level of their own."""
    few = np.array([len(np.unique(column)) <= FEW for column in problem.X.T], dtype=bool)
    numeric = np.array([kind == "numeric" for kind in problem.kinds], dtype=bool) & ~few
    X = problem.X.copy()
    if numeric.any():
        bins = MDLPDiscretizer() if discretizer is None else discretizer
        X[:, numeric] = bins.fit(problem.X[:, numeric], problem.y).transform(problem.X[:, numeric])
    return np.array([np.unique(column, return_inverse=True)[1] for column in X.T], dtype=np.int64)


def reachable_error(gamma: float, n_classes: int = 2) -> tuple[float, float]:
    """Return the range in which the least reachable error rate lies, given γ.

    Read more in the guide: :doc:`/methods/parts`.

    Parameters
    ----------
    gamma : float
        As `gamma_test` estimates it for classes; below 0 counts as 0.
    n_classes : int, default=2
        How many classes there are.

    Returns
    -------
    (float, float)
        With R = 2 γ and c = (K − 1) / K: c (1 − √(1 − R / c)), and R, at most c.

    Examples
    --------
    >>> [round(edge, 3) for edge in reachable_error(0.08)]
    [0.088, 0.16]
    """
    if n_classes < 2:
        raise InputError(f"n_classes={n_classes}: an error rate needs at least two classes.")
    most = (n_classes - 1) / n_classes
    rate = min(max(2.0 * float(gamma), 0.0), most)
    return most * (1.0 - float(np.sqrt(1.0 - rate / most))), rate


def intrinsic_dimension(X: ArrayLike, n_neighbors: int = 10) -> float:
    """Estimate how many numbers it takes to say where a row lies: no more features than that are needed.

    Read more in the guide: :doc:`/methods/parts`.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Numbers, on scales that can be compared; rows that repeat are taken once.
    n_neighbors : int, default=10
        How many neighbors' distances are compared.

    Returns
    -------
    float
        E. Levina and P. Bickel's maximum likelihood (NIPS 2004), the inverses averaged (D. MacKay and Z. Ghahramani).
        Use its ceiling as `n_features_to_select=(1, ceiling)`: the stopping size that the thesis asks for.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plane = rng.normal(size=(2000, 2)) @ rng.normal(size=(2, 10))
    >>> round(intrinsic_dimension(plane), 1)
    2.0
    """
    cells: FloatArray = np.unique(np.asarray(X, dtype=np.float64), axis=0)
    if np.isnan(cells).any():
        raise InputError("X has missing cells; fill them first.")
    if len(cells) <= n_neighbors or n_neighbors < 2:
        raise InputError(
            f"{len(cells)} distinct rows are too few for {n_neighbors} neighbors; at least one more is needed."
        )
    found: Any = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(cells).kneighbors(cells)[0][:, 1:]
    logs = np.log(found[:, -1:] / found[:, :-1])
    return float((n_neighbors - 1) / logs.sum(axis=1).mean())
