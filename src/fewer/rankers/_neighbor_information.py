"""Mutual information with the target by nearest neighbors (Kraskov, Stögbauer and Grassberger 2004; Ross 2014)."""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma
from sklearn.neighbors import NearestNeighbors
from sklearn.utils._param_validation import Interval

from fewer.contracts import CHANGES, ROWS, Count, Ranker, Ranking, Resources, parameters
from fewer.kernels.nearest import line_counts, nearest_on_line, plane_counts, split_by_class
from fewer.parallel import in_threads
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem
from fewer.rankers._bins import count_information

NOISE = 1e-10
# Distances that differ by less than this share of the largest value are equal: rounding must not part them.
SLACK = 1e-12


@parameters
class MutualInformation(Ranker):
    """Mutual information of each feature with the target, estimated by nearest neighbors, in nats.

    No bins: a quantity and a class by the distance to the k-th nearest row of the same class (Ross), two quantities by
    the distance to the k-th nearest point of the plane (Kraskov), a nominal feature and a class by counting. The values
    are those of scikit-learn's `mutual_info_classif` and `mutual_info_regression`, the little noise that parts equal
    numbers included; a feature can only score 0 or more.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    n_neighbors : int, default=3
        k. More neighbors, less chance in the estimate and more blur.
    random_state : int or None, default=None
        Seed of the noise; the same number gives scikit-learn's values. From the run's own generator if left out.
    noise : bool, default=True
        Part equal numbers by a little noise, as scikit-learn does. With False nothing is drawn: equal numbers stay
        equal, and the order of rows and columns, signs and units do not matter. A row then counts as many neighbors of
        its class as lie within the distance to the k-th, and at distance 0 all that are equal to it (Gao).

    Notes
    -----
    A row whose cell is missing is left out for that feature. The estimate has no weighted form: row weights are not
    used (rows of weight 0 are left out), and row groups play no part.

    See Also
    --------
    InformationGain : By bins that the classes call for.

    References
    ----------
    Kraskov, Stögbauer and Grassberger, Estimating mutual information, Physical Review E 69, 2004.
    Ross, Mutual information between discrete and continuous data sets, PLoS ONE 9, 2014.
    Gao and others, Estimating mutual information for discrete-continuous mixtures, NeurIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = fewer.RankSelector(MutualInformation(random_state=0), n_features_to_select=2).fit(X, y)
    >>> selector.scores_.round(2)
    array([0.47, 0.29, 0.99, 0.97])
    """

    command_name = "mutual-information"
    takes: ClassVar[frozenset[str]] = ROWS - {"weights", "groups"}
    unit: ClassVar[str] = "nats"

    n_neighbors: Count = 3
    random_state: Annotated[int | None, Interval(Integral, 0, 2**32 - 1, closed="both"), None] = None
    noise: bool = True

    @property
    def depends_on(self) -> frozenset[str]:  # type: ignore[override]
        """The noise is drawn row by row and column by column; without it nothing is."""
        return CHANGES - {"labels"} if self.noise else frozenset()

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        seed = int(rng.integers(2**31)) if self.random_state is None else int(self.random_state)
        columns, target = _with_noise(problem, np.random.RandomState(seed) if self.noise else None)
        classes, nominal = problem.task == "classification", problem.nominal
        has_missing: BoolArray = np.asarray(problem.missing.any(axis=0))
        digammas = digammas_to(problem.n_samples)

        def one(feature: int) -> float:
            column, y = columns[feature], target
            if has_missing[feature]:
                present = ~np.isnan(column)
                column, y = column[present], target[present]
            return self._pair(column, y, bool(nominal[feature]), classes, digammas)

        return Ranking.by_score(np.array(in_threads(one, range(problem.n_features), resources.n_jobs)))

    def _pair(
        self, column: FloatArray, target: NDArray[Any], nominal: bool, classes: bool, digammas: FloatArray
    ) -> float:
        k = self.n_neighbors
        if len(column) < 2 or np.ptp(column) == 0 or np.ptp(target) == 0:
            return 0.0
        if nominal and classes:
            return count_information(column, target, np.ones(len(column)))
        if nominal:
            return class_information(target, column.astype(np.int64), k, digammas, ties=not self.noise)
        if classes:
            return class_information(column, target, k, digammas, ties=not self.noise)
        if len(column) <= k:
            raise InputError(f"n_neighbors={k}, but a feature has only {len(column)} known cells; take fewer.")
        return (plane_information if self.noise else tied_plane_information)(column, target, k, digammas)


def class_information(
    values: FloatArray, codes: IntArray, n_neighbors: int, digammas: FloatArray, ties: bool = False
) -> float:
    """Return the information of a quantity and a class, given as codes; classes of one row take no part.

    With `ties`, neighbors at equal distances count alike: all that are no farther than the k-th.

    Examples
    --------
    >>> values, codes = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2]), np.repeat([0, 1], 3)
    >>> class_information(values, codes, 1, digammas_to(6)) > 0.5
    True
    """
    sizes = np.bincount(codes)
    if (sizes == 1).any():
        kept = sizes[codes] > 1
        values, codes = values[kept], codes[kept]
        sizes[sizes == 1] = 0
    if not len(values):
        return 0.0
    order = np.argsort(values)
    values, codes = values[order], codes[order]
    bounds = np.append(0, np.cumsum(sizes))
    places = np.empty(len(values), dtype=np.int64)
    split_by_class(places, codes, bounds)
    within, radii = np.empty(len(values)), np.empty(len(values))
    by_class = values[places]
    used = np.minimum(n_neighbors, sizes - 1)
    for start, stop, k in zip(bounds[:-1].tolist(), bounds[1:].tolist(), used.tolist(), strict=True):
        if stop > start:
            _class_radii(within[start:stop], by_class[start:stop], k)
    radii[places] = within
    if ties:
        radii += SLACK * np.abs(values).max()
        parts = [places[start:stop] for start, stop in pairwise(bounds) if stop > start]
        near = sum(float(digammas[_around(values[part], radii[part])].sum()) for part in parts)
        chance = digammas[_around(values, radii)].sum() + sizes @ digammas[sizes]
        return max(0.0, float(digammas[len(values)] + (near - chance) / len(values)))
    counts = np.empty(len(values), dtype=np.int64)
    line_counts(counts, values, np.nextafter(radii, 0.0))
    met = sizes > 0
    inside = sizes[met] @ (digammas[used[met]] - digammas[sizes[met]])
    return max(0.0, float(digammas[len(values)] + (inside - digammas[counts].sum()) / len(values)))


def plane_information(one: FloatArray, other: FloatArray, n_neighbors: int, digammas: FloatArray) -> float:
    """Return the information of two quantities.

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=200)
    >>> plane_information(values, values + 0.01 * (np.arange(200) % 7), 3, digammas_to(200)) > 0.5
    True
    """
    n = len(one)
    order, order_y = np.argsort(one), np.argsort(other)
    places = np.empty(n, dtype=np.int64)
    places[order] = np.arange(n)
    near_x, near_y = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    size = max(int(1.5 * np.sqrt(n * n_neighbors)), 8)
    plane_counts(near_x, near_y, one[order], other[order_y], places[order_y], n_neighbors, size)
    chance = (digammas[near_x].sum() + digammas[near_y].sum()) / n
    return max(0.0, float(digammas[n] + digammas[n_neighbors] - chance))


def tied_plane_information(one: FloatArray, other: FloatArray, n_neighbors: int, digammas: FloatArray) -> float:
    """Return the information of two quantities with equal numbers, which count as one place of the plane.

    Examples
    --------
    >>> values = np.arange(200) % 4
    >>> round(tied_plane_information(values, values, 3, digammas_to(200)), 2)
    1.41
    """
    pairs = np.column_stack([one, other]).astype(np.float64)
    _, place, sizes = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    tree = NearestNeighbors(n_neighbors=n_neighbors, metric="chebyshev").fit(pairs)
    radii, same = tree.kneighbors()[0][:, -1], sizes[place.ravel()] - 1
    at_once = same >= n_neighbors
    near = digammas[np.where(at_once, same, n_neighbors)].sum()
    for values in pairs.T:
        order = np.argsort(values)
        slack = SLACK * np.abs(values).max()
        # Nearer than the k-th and the row itself; at one place, all others of the same number.
        reach = np.where(at_once, slack, radii - slack)[order]
        near -= digammas[_around(values[order], reach) + ~at_once[order]].sum()
    return max(0.0, float(digammas[len(one)] + near / len(one)))


def _around(values: FloatArray, radii: FloatArray) -> IntArray:
    """Count the other values within a distance of each of some ascending values."""
    high = np.searchsorted(values, values + radii, side="right")
    return np.maximum(high - np.searchsorted(values, values - radii, side="left") - 1, 0)


def _class_radii(out: FloatArray, values: FloatArray, k: int) -> None:
    """Write the distance of each ascending value to its k-th nearest other one."""
    if k < len(values) // 2:
        nearest_on_line(out, values, k)
    else:  # scikit-learn has no tree here and rounds otherwise; classes this small cost nothing
        out[:] = NearestNeighbors(n_neighbors=k).fit(values[:, None]).kneighbors()[0][:, -1]


def digammas_to(n: int) -> FloatArray:
    """Return digamma of 0 … n; that of 0, which is infinite, as that of 1.

    Examples
    --------
    >>> digammas_to(2).round(4)
    array([-0.5772, -0.5772,  0.4228])
    """
    return np.asarray(digamma(np.maximum(np.arange(n + 1), 1).astype(np.float64)))


def _with_noise(problem: Problem, random: np.random.RandomState | None) -> tuple[list[FloatArray], NDArray[Any]]:
    """Return columns and target, quantities scaled and with the noise of scikit-learn's estimate, if any."""
    quantities = np.flatnonzero(~problem.nominal)
    columns = [np.ascontiguousarray(column) for column in problem.X.T]
    shape = (problem.n_samples, len(quantities))
    noise = np.zeros(shape) if random is None else random.standard_normal(size=shape)
    for feature, drawn in zip(quantities.tolist(), noise.T, strict=True):
        columns[feature] = _noisy(columns[feature], drawn, ~np.isnan(columns[feature]))
    if problem.task == "classification":
        return columns, problem.y
    everywhere = np.ones(problem.n_samples, dtype=bool)
    drawn = np.zeros(problem.n_samples) if random is None else random.standard_normal(size=problem.n_samples)
    return columns, _noisy(problem.y, drawn, everywhere)


def _noisy(values: FloatArray, noise: FloatArray, present: BoolArray) -> FloatArray:
    if not present.any():
        return values
    spread = _scale_of(values[present])
    values = values / spread if spread else values.copy()
    return values + NOISE * max(1.0, float(np.mean(np.abs(values[present])))) * noise


def _scale_of(values: FloatArray) -> float:
    """Return the standard deviation, 0 for a column that rounding alone lets vary."""
    spread = float(np.sqrt(np.var(values)))
    return 0.0 if spread < 10 * np.finfo(np.float64).eps * abs(float(values.mean())) else spread
