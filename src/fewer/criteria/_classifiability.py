"""How smooth the class labels lie over the features (Dong & Kothari, Pattern Recognition Letters 24, 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import ROWS, Criterion, Masks, NonNegative, Positive, Resources, Scorer, parameters
from fewer.criteria._exact_device import CAPACITIES, MOST_CLASSES, ExactDevice
from fewer.io import to_problem
from fewer.kernels import classifiability as kernels
from fewer.kernels.bundles import Units, changes_of
from fewer.kernels.device import deal, on_devices, tell
from fewer.kernels.differences import exact_rows
from fewer.parallel import in_threads
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem

ROW_BLOCK = 128
BYTES_A_ROW = 64  # of one candidate: counts, agreement, and their copies


@parameters
class Classifiability(Criterion):
    """Smoothness of the label surface: do rows that lie near each other carry the same label?

    The score of a subset is L = Σ nᵢ C(xᵢ) / Σ nᵢ with C(xᵢ) = 2 · (share of the own class within the radius) − 1, nᵢ
    the number of rows within the radius of row i: 1 where no neighborhood is mixed, about 0 for labels thrown at
    random over two equal classes. No classifier is trained. The empty subset scores 0.

    Read more in the guide: :doc:`/methods/dong-kothari`.

    Parameters
    ----------
    factor : float, default=3.0
        The radius in units of the typical distance to the nearest other row, measured anew for every subset.
    typical : {"rms", "mean"}, default="rms"
        Typical distance: the root of the mean square (as printed), or the mean.
    radius : float, optional
        One radius for all subsets, in ranges of a column, instead of `factor` typical distances.
    weighting : {"size", "uniform"}, default="size"
        Rows count by the number of their neighbors, or all alike.
    include_self : bool, default=True
        Whether a row belongs to its own neighborhood. If not, a row without neighbors counts 0.
    estimate : {"hard", "soft"}, default="hard"
        A row's own label is certain (hard), or is estimated by its neighborhood as well: C = 2 Σ q² − 1 with q the
        shares of the classes (soft).
    coding : {"kinds", "integer"}, default="kinds"
        Nominal columns count 0 if equal and 1 if not; or their level codes are taken as numbers.
    missing : {"keep", "drop"}, default="keep"
        A missing cell is as far from every other as two cells of its column are on average; or rows with
        missing cells take no part.

    Notes
    -----
    Numeric columns are divided by their range. A row at exactly the radius is inside. On columns with repeated
    values the nearest row is often at distance 0, and so then is the radius: only equal rows are neighbors.

    For a regression target the surface is that of the target itself: C(xᵢ) = 1 − (mean squared difference to the
    neighbors) / (2 s²), one minus Geary's contiguity ratio, and soft C(xᵢ) = 1 − (variance in the neighborhood) / s².
    For two equally frequent classes coded 0 and 1 both are the same as above.

    Row weights count in neighborhoods, in the typical distance and in the sum. Rows of one group are never each other's
    neighbors; where a row counts itself, its copies in the group (rows at distance 0) count as the row itself. With
    `device="cuda"` a GPU counts the neighborhoods, of up to 64 classes and without groups.

    References
    ----------
    M. Dong and R. Kothari, Feature subset selection using a new definition of classifiability, Pattern Recognition
    Letters 24 (2003) 1215–1225. P(y) is n/Σn here; the printed n/N does not sum to 1.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = fewer.SubsetSelector(Classifiability(), fewer.search.Forward(min_gain=0.01)).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['alcohol', 'flavanoids', 'color_intensity', 'proline']
    """

    command_name = "classifiability"
    takes: ClassVar[frozenset[str]] = ROWS
    supports_weights: ClassVar[bool] = True
    supports_device: ClassVar[bool] = True

    factor: Positive = 3.0
    typical: Literal["rms", "mean"] = "rms"
    radius: NonNegative | None = None
    weighting: Literal["size", "uniform"] = "size"
    include_self: bool = True
    estimate: Literal["hard", "soft"] = "hard"
    coding: Literal["kinds", "integer"] = "kinds"
    missing: Literal["keep", "drop"] = "keep"

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> ClassifiabilityScorer:
        if self.coding == "integer":
            problem = replace(problem, kinds=tuple("numeric" for _ in problem.kinds))
        if self.missing == "drop":
            complete = _complete(problem)
            if complete.sum() < 2:
                raise InputError(f"{int(complete.sum())} rows have no missing cell; use missing='keep'.")
            problem = problem.take(complete)
        problem.check_neighbors("Classifiability")
        return ClassifiabilityScorer(problem, self, resources)


class ClassifiabilityScorer(Scorer):
    """`Classifiability` bound to rows."""

    def __init__(self, problem: Problem, criterion: Classifiability, resources: Resources) -> None:
        self.problem = problem
        self._criterion = criterion
        self._resources = resources
        n = problem.n_samples
        self._exact = exact_rows(problem, np.zeros(n, dtype=np.int64), "global")
        self._row_weights = problem.row_weights.astype(np.float64)
        soft = criterion.estimate == "soft"
        if problem.task == "classification":
            self._mode = kernels.SOFT_CLASSES if soft else kernels.HARD_CLASSES
            self._codes, self._values = problem.y.astype(np.int64), np.zeros(n)
        else:
            self._mode = kernels.SOFT_VALUES if soft else kernels.HARD_VALUES
            self._codes, self._values = np.zeros(n, dtype=np.int64), _in_spreads(problem.y, self._row_weights) / 2.0
        self._reach = self._spread_of_columns()
        self._devices = self._on_devices()

    def _on_devices(self) -> list[ExactDevice]:
        """Bring the rows to the devices asked for."""
        if self._resources.device != "cpu" and self.problem.groups is not None:
            tell(self._resources.device, "Classifiability", "rows have groups")
            return []
        if self._resources.device != "cpu" and self.problem.n_classes > MOST_CLASSES:
            why = f"{self.problem.n_classes} classes are more than {MOST_CLASSES}"
            tell(self._resources.device, "Classifiability", why)
            return []
        exact, everyone = self._exact, np.arange(self.problem.n_samples)
        return on_devices(self._resources.device, lambda device: ExactDevice(device, exact, everyone))

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks or weights, several in threads, one with its rows in threads."""
        nothing = _Changes.none()
        if self._devices:
            return self._score_on_devices(np.ascontiguousarray(masks, dtype=np.float64))
        jobs = [mask.astype(np.float64) for mask in masks]
        if len(jobs) == 1:
            return np.array([self._judge(weights, nothing)[0] if weights.any() else 0.0 for weights in jobs])

        def judge(weights: FloatArray) -> float:
            return float(self._judge(weights, nothing, 1)[0]) if weights.any() else 0.0

        return np.array(in_threads(judge, jobs, self._resources.n_jobs))

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit: together where they keep the common pivot, else one by one."""
        weights = mask.astype(np.float64)
        if self._devices:
            return super().flips(weights, units, values)
        scores = np.empty(len(units))
        pivot = self._pivot(weights)
        # Changes that touch the pivot or leave nothing have no common ground with the others.
        rests = [np.count_nonzero(weights) - np.count_nonzero(weights[unit]) for unit in units]
        is_common = np.array([rest > 0 and pivot not in unit for rest, unit in zip(rests, units, strict=True)], bool)
        alone, together = np.flatnonzero(~is_common), np.flatnonzero(is_common)
        if len(alone):
            masks = np.repeat(weights[None], len(alone), axis=0)
            for row, c in zip(masks, alone.tolist(), strict=True):
                row[units[c]] = values[c]
            scores[alone] = self.score(masks)
        batch = max(self._resources.memory // (BYTES_A_ROW * self.problem.n_samples), 1)
        for low in range(0, len(together), batch):
            part = together[low : low + batch]
            changes = _Changes.of(weights, [units[c] for c in part], [float(values[c]) for c in part])
            scores[part] = self._judge(weights, changes)
        return scores

    def per_row(self, mask: Masks) -> tuple[FloatArray, FloatArray, float]:
        """Return C(x) of each row, the weight of its neighborhood, and the radius."""
        sizes, agreeing, squares = self._neighborhoods(mask.astype(np.float64), _Changes.none())
        return _local(sizes, agreeing)[0], sizes[0], float(np.sqrt(squares[0]))

    def _judge(self, weights: FloatArray, changes: _Changes, n_jobs: int | None = None) -> FloatArray:
        """Score the candidates."""
        return self._smoothness(*self._neighborhoods(weights, changes, n_jobs)[:2])

    def _smoothness(self, sizes: FloatArray, agreeing: FloatArray) -> FloatArray:
        """Turn neighborhood sizes and agreement (m, n) into scores."""
        if self._criterion.weighting == "uniform":
            return self._sum(_local(sizes, agreeing)) / self._row_weights.sum()
        total = self._sum(sizes)
        return np.divide(self._sum(2.0 * agreeing - sizes), total, out=np.zeros_like(total), where=total > 0)

    def _neighborhoods(
        self, weights: FloatArray, changes: _Changes, n_jobs: int | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return neighborhood sizes and agreement (m, n) and the squared radius (m,) of the candidates."""
        n, m = self.problem.n_samples, changes.n_candidates
        pivot = self._pivot(weights)
        order = np.arange(n) if pivot < 0 else np.argsort(self._exact.columns[pivot], kind="stable")
        back = np.argsort(order, kind="stable")
        used, place = np.unique(np.concatenate([np.flatnonzero(weights), changes.extra]), return_inverse=True)
        exact = self._exact
        exact = exact._replace(
            columns=np.ascontiguousarray(exact.columns[used][:, order]),
            missing=np.ascontiguousarray(exact.missing[used][:, order]),
            nominal=exact.nominal[used], holes=exact.holes[used], scale=exact.scale[:, used], gap=exact.gap[:, used],
        )  # fmt: skip
        candidates = kernels.Candidates(
            weights[used], int(np.searchsorted(used, pivot)) if pivot >= 0 else -1,
            place[len(place) - len(changes.extra) :].astype(np.int64), changes.offsets, changes.weights,
        )  # fmt: skip
        sizes, agreeing = np.empty((m, n)), np.empty((m, n))
        if self._criterion.radius is None:
            self._in_blocks(n_jobs, kernels.nearest, exact, candidates, self._groups_in(order), sizes)
            squares = self._typical_square(np.take(sizes, back, axis=1)) * self._criterion.factor**2
        else:
            squares = np.full(m, float(self._criterion.radius) ** 2)
        limits = self._limits(squares, np.count_nonzero(weights) + changes.growth)
        targets = self._targets(order)
        self._in_blocks(n_jobs, kernels.neighborhoods, exact, candidates, limits, targets, sizes, agreeing)
        return np.take(sizes, back, axis=1), np.take(agreeing, back, axis=1), squares

    def _limits(self, squares: FloatArray, n_columns: NDArray[Any]) -> FloatArray:
        """Return what squared distances may be at most, for squared radii of subsets with this number of columns.

        Terms are rounded to the quantum, and the radius multiplies that: a row that lies exactly at the radius may
        seem so many quanta a feature beyond it.
        """
        quanta = 1.0 if self._criterion.radius is not None else (1.0 + self._criterion.factor**2) / 2.0
        hair = self._exact.quantum * quanta * n_columns
        return np.asarray(squares + np.where(squares > 0, hair + 1e-12 * squares, 0.0))

    def _targets(self, order: IntArray) -> kernels.SurfaceTargets:
        """Return what rows agree on, in an order."""
        return kernels.SurfaceTargets(
            self._mode, self._criterion.include_self, self._codes[order], self._values[order],
            self._row_weights[order], self._groups_in(order), self.problem.n_classes,
        )  # fmt: skip

    def _groups_in(self, order: IntArray) -> IntArray:
        """Return the group of each row in an order, or nothing where rows have none."""
        return np.empty(0, dtype=np.int64) if self.problem.groups is None else self.problem.groups[order]

    def _score_on_devices(self, masks: FloatArray) -> FloatArray:
        """Score (m, p) masks or weights on devices, batch by batch."""
        batch = max(self._resources.memory // (4 * BYTES_A_ROW * self.problem.n_samples), 1)

        def run(on: ExactDevice, low: int, high: int) -> FloatArray:
            parts = [self._batch_on(on, masks[a : min(a + batch, high)]) for a in range(low, high, batch)]
            return np.concatenate(parts)

        scores = np.concatenate([np.empty(0), *deal(self._devices, run, len(masks))])
        return np.where(masks.any(axis=1), scores, 0.0)

    def _batch_on(self, on: ExactDevice, masks: FloatArray) -> FloatArray:
        if self._criterion.radius is None:
            near = np.ascontiguousarray(on.near(masks, CAPACITIES[0]).distance[:, 0])
            squares = self._typical_square(near) * self._criterion.factor**2
        else:
            squares = np.full(len(masks), float(self._criterion.radius) ** 2)
        limits = self._limits(squares, np.count_nonzero(masks, axis=1))
        soft, n_classes = self._mode == kernels.SOFT_CLASSES, self.problem.n_classes
        n_tallies = 1 + n_classes if soft else 3 if self._mode == kernels.SOFT_VALUES else 2
        tallies = on.within(masks, limits, self._targets(np.arange(self.problem.n_samples)), n_tallies)
        sizes, agreeing = np.ascontiguousarray(tallies[:, 0]), tallies[:, 1]
        if soft:
            agreeing = np.zeros_like(sizes)
            for votes in np.moveaxis(tallies[:, 1:], 1, 0):
                agreeing += votes**2
            np.divide(agreeing, sizes, out=agreeing, where=sizes > 0)
        elif self._mode == kernels.SOFT_VALUES:
            mean = np.divide(tallies[:, 1] ** 2, sizes, out=np.zeros_like(sizes), where=sizes > 0)
            agreeing = np.where(sizes > 0, sizes - 2.0 * (tallies[:, 2] - mean), 0.0)
        return self._smoothness(sizes, np.ascontiguousarray(agreeing))

    def _sum(self, values: FloatArray) -> FloatArray:
        """Sum over rows by their weights, in an order that does not depend on the number of candidates."""
        return np.asarray((values if self.problem.sample_weight is None else values * self._row_weights).sum(axis=1))

    def _typical_square(self, squares: FloatArray) -> FloatArray:
        """Return the square of the typical distance to the nearest row, for each candidate."""
        total = self._row_weights.sum()
        if self._criterion.typical == "rms":
            return self._sum(squares) / total
        return (self._sum(np.sqrt(squares)) / total) ** 2

    def _pivot(self, weights: FloatArray) -> int:
        """Choose the feature that spreads the rows most, among numbers without missing cells; −1 if there is none."""
        reach = weights * self._reach
        return int(np.argmax(reach)) if reach.max(initial=0.0) > 0 else -1

    def _spread_of_columns(self) -> FloatArray:
        exact = self._exact
        plain = (exact.nominal == 0) & (exact.holes == 0)
        return np.where(plain, exact.columns.var(axis=1) * exact.scale[0], 0.0)

    def _in_blocks(self, n_jobs: int | None, kernel: Any, *arguments: Any) -> None:
        """Run a kernel on blocks of rows in threads; each block writes its own rows."""
        n = self.problem.n_samples
        n_jobs = self._resources.n_jobs if n_jobs is None else n_jobs
        if n_jobs == 1 or n <= ROW_BLOCK:
            kernel(0, n, *arguments)
            return
        in_threads(lambda low: kernel(low, min(low + ROW_BLOCK, n), *arguments), range(0, n, ROW_BLOCK), n_jobs)


@dataclass(frozen=True)
class _Changes:
    """What each candidate adds to (or takes from) the features that all have in common."""

    extra: IntArray
    offsets: IntArray
    weights: FloatArray

    @classmethod
    def none(cls) -> _Changes:
        """One candidate that changes nothing."""
        return cls(np.empty(0, dtype=np.int64), np.zeros(2, dtype=np.int64), np.empty(0))

    @classmethod
    def of(cls, weights: FloatArray, units: Sequence[IntArray], values: Sequence[float]) -> _Changes:
        """One candidate for each unit: its columns leave with the weight that they have and enter with the new."""
        extra, change, bounds = changes_of(weights, Units.of(units), np.asarray(values, dtype=np.float64))
        return cls(extra[bounds[1] :], bounds[1:] - bounds[1], change[bounds[1] :])

    @property
    def growth(self) -> IntArray:
        """How many features each candidate has more than all have in common."""
        counts = np.concatenate([[0], np.cumsum(np.sign(self.weights).astype(np.int64))])
        return counts[self.offsets[1:]] - counts[self.offsets[:-1]]

    @property
    def n_candidates(self) -> int:
        """How many candidates there are."""
        return len(self.offsets) - 1


@dataclass(frozen=True)
class ClassifiabilityResult:
    """What `classifiability` found.

    Attributes
    ----------
    value : float
        L, from −1 to 1: how smooth the label surface is.
    per_row : array of shape (n_samples,)
        C(x): 1 for a row among its own kind, below 0 for one among others. NaN for a row that took no part.
    n_neighbors : array of shape (n_samples,)
        How many rows lie within the radius (their weights summed), the row itself included where it counts.
    radius : float
        In ranges of a column.
    """

    value: float
    per_row: FloatArray
    n_neighbors: FloatArray
    radius: float


def classifiability(X: Any, y: Any, **options: Any) -> ClassifiabilityResult:
    """Measure how easily the classes can be separated, and which rows are hard.

    Read more in the guide: :doc:`/methods/dong-kothari`.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Classes or quantities.
    **options
        As for `Classifiability`.

    Returns
    -------
    ClassifiabilityResult
        `value` for all rows, `per_row`, and the neighborhood that was used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = classifiability(X, y)
    >>> round(result.value, 3), int((result.per_row < 0).sum())
    (0.798, 4)
    """
    problem = to_problem(X, y)
    criterion = Classifiability(**options)
    scorer = criterion.bind(problem, np.random.default_rng(0), Resources())
    mask = np.ones(problem.n_features, dtype=bool)
    local, sizes, radius = scorer.per_row(mask)
    taking_part = _complete(problem) if criterion.missing == "drop" else np.ones(problem.n_samples, dtype=bool)
    per_row, n_neighbors = np.full(problem.n_samples, np.nan), np.zeros(problem.n_samples)
    per_row[taking_part], n_neighbors[taking_part] = local, sizes
    return ClassifiabilityResult(float(scorer.score(mask[None])[0]), per_row, n_neighbors, radius)


def _complete(problem: Problem) -> BoolArray:
    return np.asarray(~problem.missing.any(axis=1))


def _local(sizes: FloatArray, agreeing: FloatArray) -> FloatArray:
    """Return C(x) = 2 · agreement / size − 1, and 0 where nobody is near."""
    shares = np.divide(agreeing, sizes, out=np.full_like(sizes, 0.5), where=sizes > 0)
    return np.asarray(2.0 * shares - 1.0)


def _in_spreads(y: NDArray[Any], row_weights: FloatArray) -> FloatArray:
    """Return a target centered and divided by its standard deviation (that of a sample)."""
    total = row_weights.sum()
    centered = y - row_weights @ y / total
    freedom = total - row_weights @ row_weights / total
    variance = row_weights @ centered**2 / freedom if freedom > 0 else 0.0
    return np.asarray(centered / np.sqrt(variance)) if variance > 0 else np.zeros(len(y))
