"""The Gamma Test: the noise variance that no smooth model can explain, from near neighbors (Nel, chapter 5).

`reachable_error` and `intrinsic_dimension` say what follows from it (Nel, chapter 8). For classes, half of the squared
difference of two outputs is ½ where they differ: as rows become many, γ tends to half of the chance R that two rows at
one place have different classes. That is the error of the nearest neighbor, and T. Cover and P. Hart (IEEE Transactions
on Information Theory 13, 1967) enclose the error of the best classifier by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from fewer.contracts import ROWS, Criterion, Masks, Resources, Scorer, SearchSpace, Sweep, best_of, gray_states
from fewer.contracts.declaring import Count, NonNegative, parameters
from fewer.criteria._exact_device import ExactDevice, capacity_for
from fewer.io import to_problem
from fewer.kernels import gamma as kernels
from fewer.kernels.bundles import Units, changes_from_none, changes_of
from fewer.kernels.device import deal, on_devices, tell
from fewer.kernels.differences import exact_rows
from fewer.parallel import in_threads
from fewer.problem import FloatArray, InputError, IntArray, Problem, Task

GRAY_BLOCK = 1024
# Of the kernels' keys, for distance and row number together.
KEY_BITS = 61
Z_95 = 1.959963984540054


@parameters
class GammaTest(Criterion):
    """Minus γ, the noise variance of the target given a subset, estimated from near neighbors.

    Near neighbors have near targets, up to noise. The mean squared distance Δ(p) to the first p neighbors and half
    the mean squared target difference Γ(p), for p = 1 … `n_neighbors`, lie near a line Γ = A Δ + γ; its intercept γ
    is what is left at distance 0. With two classes γ tends to E[η(1 − η)], η being a row's chance of its class: half
    the error of one nearest neighbor.

    Read more in the guide: :doc:`/methods/nel`.

    Parameters
    ----------
    n_neighbors : int, default=30
        How many neighbors, and so points, make the line; all there are if there are fewer. With 1 there is no line,
        and γ is Γ(1).
    negative : {"keep", "zero"}, default="keep"
        A line can cut the axis below 0. The thesis ranks such subsets as better still; `"zero"` takes γ as 0.
    slope_weight : float, default=0.0
        Rank by γ + slope_weight · A · Δ(last): 0 is the intercept, 1 the line's height at the farthest neighbors. A
        little of it prefers smooth relations among equally noisy ones.
    fit : {"line", "local"}, default="line"
        `"local"` weighs the points by nearness (tricube in Δ), for curves that bend, as with classes in several lumps.
    ties : {"share", "index"}, default="share"
        Equally near rows share their places, so that the order of the rows does not matter; or earlier rows come first.
    scaling : {"global", "none"}, default="global"
        Numeric columns are divided by their range, or not.

    Notes
    -----
    Classes compare as equal (0) or not (1), also when there are more than two; regression targets by their squared
    difference. The empty subset has γ = half the mean squared difference of two rows, the target's variance. Nominal
    columns and missing cells count as in `KNN`. Row weights weigh what each row's neighborhood says; rows of one row
    group are never each other's neighbors. With `device="cuda"` a GPU lists the neighbors, up to 62, to the same sums.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = fewer.SubsetSelector(GammaTest(), fewer.search.Forward()).fit(X, y)
    >>> bool(selector.score_ > -0.03)
    True
    """

    command_name = "gamma-test"
    takes: ClassVar[frozenset[str]] = ROWS
    supports_weights: ClassVar[bool] = True
    supports_device: ClassVar[bool] = True

    n_neighbors: Count = 30
    negative: Literal["keep", "zero"] = "keep"
    slope_weight: NonNegative = 0.0
    fit: Literal["line", "local"] = "line"
    ties: Literal["share", "index"] = "share"
    scaling: Literal["global", "none"] = "global"

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> GammaTestScorer:
        return GammaTestScorer(self, problem, resources)


@dataclass(frozen=True)
class Lines:
    """Fitted lines Γ = slope · Δ + gamma, and the last Δ of each."""

    gamma: FloatArray
    slope: FloatArray
    reach: FloatArray


class GammaTestScorer(Scorer):
    """`GammaTest` bound to rows."""

    def __init__(self, criterion: GammaTest, problem: Problem, resources: Resources) -> None:
        n = problem.n_samples
        self.problem = problem
        self._clip = criterion.negative == "zero"
        self._slope_weight = criterion.slope_weight
        self._local = criterion.fit == "local"
        self._resources = resources
        problem.check_neighbors("GammaTest")
        group = problem.row_groups
        self.n_neighbors = int(min(criterion.n_neighbors, n - np.bincount(group).max(initial=0)))
        if self.n_neighbors < 1:
            raise InputError("The Gamma Test needs at least two rows that may be each other's neighbors.")
        self._row_weights = problem.row_weights
        self._total = float(self._row_weights.sum())
        self._discrete = problem.task == "classification"
        layout = exact_rows(problem, np.zeros(n, dtype=np.int64), criterion.scaling)
        shift = 1 + (n - 1).bit_length()
        # No squared difference of two of these rows exceeds 1.
        self._quantum = max(layout.quantum, 2.0 ** (problem.n_features.bit_length() + shift - KEY_BITS))
        self._cells = layout._replace(quantum=self._quantum)
        self._typical = layout.gap[0]
        self._group = group.astype(np.int64)
        self._values = problem.y.astype(np.float64)
        self._targets = kernels.Targets(
            shift, self._group, self._values, self._discrete, criterion.ties == "share", self._row_weights
        )  # fmt: skip
        self.spread = half_mean_square(self._values, self._row_weights, self._discrete)
        self._devices = self._on_devices()

    def _on_devices(self) -> list[ExactDevice]:
        """Bring the rows to the devices asked for, if their lists can hold enough neighbors."""
        if self._resources.device != "cpu" and capacity_for(self.n_neighbors) is None:
            tell(self._resources.device, "GammaTest", f"n_neighbors={self.n_neighbors} is more than its lists hold")
            return []
        return on_devices(self._resources.device, lambda device: ExactDevice(device, self._cells, self._group))

    def _device_sums(self, weights: FloatArray) -> FloatArray:
        """Sum over near rows that devices list, for (m, p) masks or weights: (m, 2, k)."""
        capacity = capacity_for(self.n_neighbors)
        assert capacity is not None
        at_once = max(self._resources.memory // (12 * capacity * self.problem.n_samples), 1)

        def run(on: ExactDevice, low: int, high: int) -> FloatArray:
            parts = []
            for a in range(low, high, at_once):
                batch = weights[a : min(a + at_once, high)]
                parts.append(self._sums(kernels.sum_listed, len(batch), *on.near(batch, capacity), batch))
            return np.concatenate(parts)

        return np.concatenate([np.zeros((0, 2, self.n_neighbors)), *deal(self._devices, run, len(weights))])

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks or weights."""
        return self._scores(self.lines(masks))

    def lines(self, masks: Masks) -> Lines:
        """Fit the line of each mask."""
        return self._mask_lines(masks, [self.n_neighbors])[0]

    def gammas(self, masks: Masks, counts: Sequence[int]) -> FloatArray:
        """Return γ of masks for several numbers of neighbors, at most `n_neighbors`: (n_counts, m)."""
        return np.array([lines.gamma for lines in self._mask_lines(masks, counts)])

    def _mask_lines(self, masks: Masks, counts: Sequence[int]) -> list[Lines]:
        table = np.ascontiguousarray(masks, dtype=np.float64)
        empty = np.asarray(~table.any(axis=1))
        if self._devices:
            sums = self._device_sums(table)
            return [self._with_empty(self.fit(sums, count), empty) for count in counts]
        parts = np.array_split(np.arange(len(table)), max(min(self._resources.n_jobs, len(table)), 1))

        def run(part: IntArray) -> FloatArray:
            return self._sums(kernels.sum_changes, len(part), changes_from_none(table[part]))

        sums = np.concatenate(in_threads(run, parts, self._resources.n_jobs))
        return [self._with_empty(self.fit(sums, count), empty) for count in counts]

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit from one set of running distances."""
        if self._devices:
            return super().flips(mask.astype(np.float64), units, values)
        base, new = mask.astype(np.float64), values.astype(np.float64)
        parts = np.array_split(np.arange(len(units)), max(min(self._resources.n_jobs, len(units)), 1))

        def run(part: IntArray) -> FloatArray:
            changes = changes_of(base, Units.of([units[u] for u in part]), new[part])
            return self._sums(kernels.sum_changes, len(part), changes)

        sums = np.concatenate(in_threads(run, parts, self._resources.n_jobs))
        left = np.array([np.count_nonzero(base) - np.count_nonzero(base[unit]) for unit in units])
        return self._scores(self._with_empty(self.fit(sums), (left == 0) & (new == 0)))

    def sweep(self, space: SearchSpace, start: int, stop: int, top: int, floor: float = -np.inf) -> Sweep:
        """Score a range of subsets in Gray-code order."""
        if self._devices:
            return super().sweep(space, start, stop, top, floor)
        blocks = [(low, min(low + GRAY_BLOCK, stop)) for low in range(start, stop, GRAY_BLOCK)]

        def run(block: tuple[int, int]) -> FloatArray:
            return self._scores(self._gray_lines(space, *block, [self.n_neighbors])[0])

        best = Sweep(np.zeros((0, space.n_units), dtype=bool), np.empty(0), 0)
        for block, scores in zip(blocks, in_threads(run, blocks, self._resources.n_jobs), strict=True):
            states = gray_states(np.arange(*block), space.n_units)
            allowed = space.allows(states)
            states = states[allowed]
            best = best_of(best, Sweep(states, space.objective(scores[allowed], states), len(states)), top)
        return best

    def all_gammas(self, space: SearchSpace, counts: Sequence[int]) -> FloatArray:
        """Return γ for every subset of a space in Gray-code order and for several numbers of neighbors, in one sweep.

        The result is (n_counts, 2^n_units); counts go up to the `n_neighbors` of the criterion.
        """
        last = 1 << space.n_units
        blocks = [(low, min(low + GRAY_BLOCK, last)) for low in range(0, last, GRAY_BLOCK)]

        def run(block: tuple[int, int]) -> FloatArray:
            return np.array([lines.gamma for lines in self._gray_lines(space, *block, counts)])

        return np.concatenate(in_threads(run, blocks, self._resources.n_jobs), axis=1)

    def points(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Turn (…, 2, k) sums into the points Δ(p) and Γ(p)."""
        order = np.arange(1, sums.shape[-1] + 1)
        means = np.cumsum(sums, axis=-1) / (order * self._total)
        return means[..., 0, :], means[..., 1, :] / 2.0

    def fit(self, sums: FloatArray, n_points: int | None = None) -> Lines:
        """Fit lines through the points of (m, 2, k) sums, or the first of them."""
        delta, gamma = self.points(sums[..., :n_points])
        return fit_lines(delta, gamma, nearness(delta) if self._local else np.ones_like(delta))

    def near(self, mask: Masks) -> tuple[IntArray, FloatArray]:
        """Return each row's neighbors under a mask and their squared distances."""
        shape = (self.problem.n_samples, self.n_neighbors)
        rows, squares = np.empty(shape, dtype=np.int64), np.empty(shape)
        kernels.list_near(mask.astype(np.float64), self._cells, self._targets, self.n_neighbors, rows, squares)
        return rows, squares * self._quantum

    def sums(self, mask: Masks) -> FloatArray:
        """Return the (2, k) sums of one mask."""
        return self._sums(kernels.sum_changes, 1, changes_from_none(mask[None].astype(np.float64)))[0]

    def _gray_lines(self, space: SearchSpace, first: int, last: int, counts: Sequence[int]) -> list[Lines]:
        units = Units.of(space.units)
        base = space.base.astype(np.float64)
        order = np.argsort([self._typical[unit].sum() for unit in space.units], kind="stable")
        sums = self._sums(kernels.sum_gray, last - first, first, last, base, units, order)
        empty = np.zeros(last - first, dtype=bool)
        empty[0] = first == 0 and not base.any()
        return [self._with_empty(self.fit(sums, count), empty) for count in counts]

    def _sums(self, kernel: Callable[..., None], n: int, *arguments: Any) -> FloatArray:
        sums = np.zeros((n, 2, self.n_neighbors))
        if n:
            kernel(*arguments, self._cells, self._targets, self.n_neighbors, sums)
        sums[:, 0] *= self._quantum
        return sums

    def _with_empty(self, lines: Lines, empty: NDArray[np.bool_]) -> Lines:
        """Without a feature all rows are equally near: the target's variance is left."""
        lines.gamma[empty], lines.slope[empty], lines.reach[empty] = self.spread, 0.0, 0.0
        return lines

    def _scores(self, lines: Lines) -> FloatArray:
        gamma = np.maximum(lines.gamma, 0.0) if self._clip else lines.gamma
        return -(gamma + self._slope_weight * lines.slope * lines.reach)


@dataclass(frozen=True)
class GammaTestResult:
    """What `gamma_test` found.

    Attributes
    ----------
    gamma : float
        Noise variance of the target that no smooth model of these features explains.
    slope : float
        Slope A of the line: how fast targets part with squared distance (columns scaled by their range).
    v_ratio : float
        γ over the target's variance: 0 means that the features determine the target, 1 that they carry no information.
    delta, Gamma : arrays of shape (n_neighbors,)
        The points of the line.
    standard_error : float
    interval : (float, float)
        95 % interval of γ. It knows the chance in rows and targets, not a bend of the curve.
    """

    gamma: float
    slope: float
    v_ratio: float
    delta: FloatArray
    Gamma: FloatArray
    standard_error: float
    interval: tuple[float, float]
    _criterion: GammaTest = field(repr=False)
    _problem: Problem = field(repr=False)

    def m_test(self, sizes: int | Sequence[int] = 20, *, random_state: int = 0) -> NDArray[np.float64]:
        """Return γ for growing samples of the rows: columns M, γ, standard error.

        A curve that has become level says that the rows are enough to trust γ.

        Parameters
        ----------
        sizes : int or sequence of int, default=20
            How many sizes, evenly spaced up to all rows; or the sizes.
        random_state : int, default=0
            The rows are shuffled once, and each sample holds the one before it.
        """
        n = self._problem.n_samples
        smallest = min(max(2 * self._criterion.n_neighbors, 10), n)
        chosen = np.linspace(smallest, n, sizes).round() if isinstance(sizes, int) else np.asarray(sizes)
        order = np.random.default_rng(random_state).permutation(n)
        rows = []
        for size in np.unique(chosen.astype(np.int64)):
            part = _test(self._criterion, self._problem.take(np.sort(order[:size])))
            rows.append((size, part.gamma, part.standard_error))
        return np.array(rows)


def gamma_test(
    X: Any,
    y: ArrayLike,
    *,
    n_neighbors: int = 10,
    task: Task | None = None,
    fit: Literal["line", "local"] = "line",
    scaling: Literal["global", "none"] = "global",
) -> GammaTestResult:
    """Estimate the noise variance of a target given all columns of a table.

    Read more in the guide: :doc:`/methods/nel`.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Classes or quantities.
    n_neighbors : int, default=10
        How many nearest neighbors the line is fitted to.
    task : {"classification", "regression"}, optional
        Inferred from the target if left out.
    fit : {"line", "local"}, default="line"
        As in `GammaTest`.
    scaling : {"global", "none"}, default="global"
        As in `GammaTest`.

    Returns
    -------
    GammaTestResult
        `gamma`, the noise variance, with its `interval`, the slope and what it was fitted to.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(1000, 2))
    >>> y = np.sin(3 * X[:, 0]) * X[:, 1] + rng.normal(scale=0.1, size=1000)
    >>> result = gamma_test(X, y)
    >>> result.interval[0] < 0.01 < result.interval[1]
    True
    """
    problem = to_problem(X, y, task=task)
    return _test(GammaTest(n_neighbors, fit=fit, scaling=scaling), problem)


@dataclass(frozen=True, eq=False)
class TrainingStop:
    """Where the training error of a model has come down to the noise.

    Parameters
    ----------
    step : int
        The first step of training whose error is at most γ; the last one if none is.
    gamma : float
        What `gamma_test` finds, at least 0.
    errors : array of shape (n_steps,)
        The training error after each step.

    See Also
    --------
    training_stop : Finds it.

    Examples
    --------
    >>> TrainingStop(2, 0.1, np.array([0.3, 0.1, 0.05])).reached
    True
    """

    step: int
    gamma: float
    errors: FloatArray

    @property
    def reached(self) -> bool:
        """Whether the training error came down to the noise at all."""
        return bool(self.errors[self.step - 1] <= self.gamma)


def training_stop(
    X: Any, y: ArrayLike, estimator: Any = None, *, n_steps: int = 200, n_neighbors: int = 10
) -> TrainingStop:
    """Find after which step of training a model would begin to fit the noise, without rows held out (Nel, chapter 8).

    γ estimates the error that no smooth model gets below on fresh rows. A model whose error on its training rows is
    smaller has learned their noise. For quantities the error is the mean squared one; for classes half the squared
    difference of predicted probabilities and 0/1 labels, summed over the classes: the Brier score with two of them.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Numbers.
    y : array of shape (n_samples,)
        Classes or quantities.
    estimator : estimator, optional
        A scikit-learn ensemble that gives its predictions in stages, such as gradient boosting, or a model with
        `partial_fit`, such as `MLPRegressor`. By default gradient boosting with histograms.
    n_steps : int, default=200
        Passes over the rows with `partial_fit`, and trees of the default; other ensembles have a number of their own.
    n_neighbors : int, default=10
        As in `gamma_test`.

    Returns
    -------
    TrainingStop
        The step, γ, and the training errors.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(400, 2))
    >>> stop = training_stop(X, np.sin(6 * X[:, 0]) + rng.normal(scale=0.5, size=400), n_steps=100)
    >>> 5 < stop.step < 60
    True
    """
    problem = to_problem(X, y)
    is_class = problem.task == "classification"
    gamma = max(_test(GammaTest(n_neighbors), problem).gamma, 0.0)
    if estimator is None:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor
        estimator = kind(max_iter=n_steps, early_stopping=False, random_state=0)
    wanted = np.eye(problem.n_classes)[problem.y] if is_class else np.asarray(problem.y, dtype=np.float64)
    errors = []
    for predicted in _stages(clone(estimator), problem, n_steps):
        squares = (predicted - wanted) ** 2
        errors.append(float(squares.sum(axis=1).mean() / 2.0 if is_class else squares.mean()))
    low = np.flatnonzero(np.array(errors) <= gamma)
    return TrainingStop(int(low[0]) + 1 if len(low) else len(errors), gamma, np.array(errors))


def _stages(model: Any, problem: Problem, n_steps: int) -> Iterator[FloatArray]:
    """Train step by step: predicted probabilities, or numbers, for the training rows after each."""
    X, y, is_class = problem.as_dense().X, problem.y, problem.task == "classification"
    word = "predict_proba" if is_class else "predict"
    if hasattr(model, f"staged_{word}"):
        yield from getattr(model.fit(X, y), f"staged_{word}")(X)
        return
    if not hasattr(model, "partial_fit"):
        raise InputError(f"{type(model).__name__} trains in one step; give boosting, or a model with partial_fit.")
    classes = {"classes": np.arange(problem.n_classes)} if is_class else {}
    for _ in range(n_steps):
        yield getattr(model.partial_fit(X, y, **classes), word)(X)


def _test(criterion: GammaTest, problem: Problem) -> GammaTestResult:
    scorer = criterion.bind(problem, np.random.default_rng(0), Resources())
    everything = np.ones(problem.n_features, dtype=bool)
    sums = scorer.sums(everything)
    delta, gamma = scorer.points(sums)
    lines = scorer.fit(sums[None])
    intercept, slope = float(lines.gamma[0]), float(lines.slope[0])
    error = standard_error(scorer, everything, intercept, slope)
    return GammaTestResult(
        gamma=intercept,
        slope=slope,
        v_ratio=intercept / scorer.spread if scorer.spread > 0 else 0.0,
        delta=delta,
        Gamma=gamma,
        standard_error=error,
        interval=(intercept - Z_95 * error, intercept + Z_95 * error),
        _criterion=criterion,
        _problem=problem,
    )


def standard_error(scorer: GammaTestScorer, mask: Masks, gamma: float, slope: float) -> float:
    """Estimate the standard error of γ.

    γ is a weighted sum of what pairs of neighbors say. Leaving a row out takes all its pairs away, whether it is the
    row or the neighbor; so the variance is the sum over rows of the squared residuals of their pairs.
    """
    rows, squares = scorer.near(mask)
    delta, _ = scorer.points(scorer.sums(mask))
    weights = pair_weights(delta, nearness(delta) if scorer._local else np.ones_like(delta))
    y = scorer._values
    gaps = (y[rows] != y[:, None]).astype(np.float64) if scorer._discrete else (y[rows] - y[:, None]) ** 2
    shares = scorer._row_weights / scorer._total
    residuals = shares[:, None] * weights * (gaps / 2.0 - gamma - slope * squares)
    influence = residuals.sum(axis=1)
    np.add.at(influence, rows, residuals)
    return float(np.sqrt((influence**2).sum()))


def fit_lines(delta: FloatArray, gamma: FloatArray, weights: FloatArray) -> Lines:
    """Fit weighted least-squares lines through rows of points; a row without spread in Δ gets a level line."""
    total = weights.sum(axis=-1)
    x = (weights * delta).sum(axis=-1) / total
    y = (weights * gamma).sum(axis=-1) / total
    dx, dy = delta - x[..., None], gamma - y[..., None]
    square = (weights * dx * dx).sum(axis=-1)
    slope = np.divide(
        (weights * dx * dy).sum(axis=-1), square, out=np.zeros_like(x), where=square > 1e-20 * total * x * x
    )
    return Lines(y - slope * x, slope, delta[..., -1].copy())


def pair_weights(delta: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weight of the j-th neighbor's Γ in the intercept of the line through the points."""
    count = len(delta)
    response = np.array([fit_lines(delta, row, weights).gamma for row in np.eye(count)])
    order = np.arange(1, count + 1)
    return np.cumsum((response / order)[::-1])[::-1]


def nearness(delta: FloatArray) -> FloatArray:
    """Weigh points by how near they are: tricube of Δ between the first point and a little beyond the last."""
    first, last = delta[..., :1], delta[..., -1:]
    width = 1.05 * (last - first)
    u = np.divide(delta - first, width, out=np.zeros_like(delta), where=width > 0)
    return (1.0 - u**3) ** 3


def half_mean_square(values: FloatArray, weights: FloatArray, discrete: bool) -> float:
    """Return half the mean squared difference of two different rows: the variance of the target."""
    total = float(weights.sum())
    pairs = total**2 - float(weights @ weights)
    if pairs <= 0:
        return 0.0
    if discrete:
        mass = np.bincount(values.astype(np.int64), weights=weights)
        return float((total**2 - mass @ mass) / (2.0 * pairs))
    centered = values - np.average(values, weights=weights)
    return float(total * (weights @ centered**2) / pairs)


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
    distances: Any = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(cells).kneighbors(cells)[0][:, 1:]
    logs = np.log(distances[:, -1:] / distances[:, :-1])
    return float((n_neighbors - 1) / logs.sum(axis=1).mean())
