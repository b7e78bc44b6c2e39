"""The models that `auto` compares: neighbors, a linear fit, a forest, boosting, on growing lists of inputs.

All predict a matrix of targets: class memberships, or one quantity. They are fitted as people fit them: rows count as
the user weighs them, not every class the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg.lapack import dposv, dpotrf, dpotri
from scipy.special import expit
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from fewer.contracts import Criterion, Resources
from fewer.criteria import CrossValidated
from fewer.criteria.engines._histogram_boosting import HistogramBoosting, why_not_boosted
from fewer.errors import InputError, telling
from fewer.estimators import hushed
from fewer.kernels.trees import nearest_sums, random_trees
from fewer.problem import FloatArray, IntArray, Problem, Task

NEIGHBORS, LINEAR, FOREST, BOOSTING = "5 nearest neighbors", "a linear model", "a random forest", "boosting"
N_ROUNDS = 50
N_NEWTON, N_BOUNDED, MOST_AXES = 10, 40, 60
N_NEIGHBORS = 5
JUDGE_TREES, JUDGE_LEAF = 60, 2
# Inputs from which a split of a tree for a quantity chooses, at most: half of all is slow where there are many.
MOST_TRIED = 100
ALPHAS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
PENALTIES = np.array([1e-4, 1e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0])


@dataclass(frozen=True, eq=False)
class NodeSplit:
    """Encoded training and test rows of one split.

    Attributes
    ----------
    train, test : arrays of shape (n_train, n_inputs), (n_test, n_inputs)
    target : array of shape (n_train, n_targets)
    weights : array of shape (n_train,)
        Every class counts the same: orders of the features see rare ones.
    own_weights : array of shape (n_train,) or None
        What the user gave.
    classes : bool
        Whether the targets are class memberships.
    seed : int
    grown : dict
        What trees said of sets of inputs that were asked about before: orders begin alike, and all end with all inputs.
    scale : float, default=1.0
        What one is of `target` in the user's unit, in which a given model gets a quantity.
    """

    train: FloatArray
    test: FloatArray
    target: FloatArray
    weights: FloatArray
    own_weights: FloatArray | None
    classes: bool
    seed: int
    grown: dict[Any, Any] = field(default_factory=dict)
    scale: float = 1.0

    @property
    def plain(self) -> FloatArray:
        """The weights with which models are fitted."""
        return np.ones(len(self.target)) if self.own_weights is None else self.own_weights

    def tidy(self, outputs: FloatArray) -> FloatArray:
        """Turn outputs into memberships that are not negative and sum to one."""
        if not self.classes:
            return outputs
        clipped = np.clip(outputs, 0.0, 1.0)
        total = clipped.sum(axis=1, keepdims=True)
        return np.where(total > 0, clipped / np.where(total > 0, total, 1.0), 1.0 / outputs.shape[1])


# Predicts the test rows from growing lists of inputs: each item says which inputs come on top of those before.
Judge = Callable[[NodeSplit, Sequence[IntArray]], Iterator[FloatArray]]


def neighbors(split: NodeSplit, steps: Sequence[IntArray]) -> Iterator[FloatArray]:
    """Predict by the weighted mean of the five nearest rows; distances add up from list to list."""
    distances = np.zeros((len(split.test), len(split.train)))
    seen = np.zeros(split.train.shape[1], dtype=bool)

    def predicted(known: IntArray) -> FloatArray:
        new = known[~seen[known]]
        seen[new] = True
        add_distances(distances, split.test[:, new], split.train[:, new])
        return neighbor_means(distances, split)

    return _asked_once(split, steps, NEIGHBORS, predicted)


def add_distances(distances: FloatArray, test: FloatArray, train: FloatArray) -> None:
    """Add squared distances over some inputs."""
    distances += (test**2).sum(axis=1)[:, None]
    distances += (train**2).sum(axis=1)
    distances += (-2.0 * test) @ train.T


def neighbor_means(distances: FloatArray, split: NodeSplit) -> FloatArray:
    """Return the weighted mean target of the nearest rows, classes a little drawn to the middle."""
    out = np.empty((len(distances), split.target.shape[1] + 1))
    nearest_sums(
        distances, split.target, split.plain, np.empty(N_NEIGHBORS), np.empty(N_NEIGHBORS, dtype=np.int64), out
    )
    sums, total = out[:, :-1], out[:, -1:]
    if split.classes:
        return (sums + 1.0 / split.target.shape[1]) / (total + 1.0)
    return sums / np.maximum(total, 1e-300)


def ridge(split: NodeSplit, steps: Sequence[IntArray]) -> Iterator[FloatArray]:
    """Predict by a ridge whose penalty is chosen by leaving single rows out."""
    known = np.empty(0, dtype=np.int64)
    for new in steps:
        known = np.concatenate([known, new])
        center, coefficients, constant = ridge_fit(split.train[:, known], split.target, split.plain)
        yield split.tidy((split.test[:, known] - center) @ coefficients + constant)


def ridge_fit(X: FloatArray, target: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fit a ridge: the middle of the inputs, coefficients (n_inputs, n_targets) and the constants."""
    total = weights.sum()
    root = np.sqrt(weights)[:, None]
    center, constant = weights @ X / total, weights @ target / total
    Z, T = root * (X - center), root * (target - constant)
    if Z.shape[1] <= Z.shape[0]:
        values, vectors = np.linalg.eigh(Z.T @ Z)
        values, vectors = values[keep := values > 1e-10 * max(values[-1], 1e-300)], vectors[:, keep]
        U = Z @ vectors / np.sqrt(values)
        alpha = best_penalty(values, U, T, weights / total)
        return center, vectors @ ((np.sqrt(values) / (values + alpha))[:, None] * (U.T @ T)), constant
    dual, _ = kernel_ridge(Z @ Z.T, T, weights / total)
    return center, Z.T @ dual, constant


def kernel_ridge(kernel: FloatArray, T: FloatArray, shares: FloatArray) -> tuple[FloatArray, float]:
    """Fit a ridge by the products of its weighted, centered rows: dual coefficients and the penalty."""
    values, U = np.linalg.eigh(kernel)
    values, U = values[keep := values > 1e-10 * max(values[-1], 1e-300)], U[:, keep]
    alpha = best_penalty(values, U, T, shares)
    return U @ ((1.0 / (values + alpha))[:, None] * (U.T @ T)), alpha


def best_penalty(values: FloatArray, U: FloatArray, T: FloatArray, shares: FloatArray) -> float:
    """Choose the penalty with the least error of leaving single rows out."""
    if not len(values):
        return 1.0
    alphas = PENALTIES * float(values.sum()) / min(len(values), 20)
    moments, squares = U.T @ T, U**2
    shrink = values[:, None] / (values[:, None] + alphas)
    leverage = np.minimum(squares @ shrink + shares[:, None], 0.999)
    errors = [float((((T - U @ (s[:, None] * moments)) / (1.0 - h)[:, None]) ** 2).sum())
              for s, h in zip(shrink.T, leverage.T, strict=True)]  # fmt: skip
    return float(alphas[int(np.argmin(np.round(errors, 9)))])


def linear(split: NodeSplit, steps: Sequence[IntArray]) -> Iterator[FloatArray]:
    """Predict classes by logistic regression with scikit-learn's penalty, quantities by a ridge."""
    if not split.classes:
        return ridge(split, steps)
    products = RowProducts(split)
    most = len(split.train) // 2
    return _asked_once(
        split, steps, LINEAR, lambda known: logistic(split, known) if len(known) <= most else products.logistic(known)
    )


def logistic(split: NodeSplit, inputs: IntArray) -> FloatArray:
    """Fit a logistic regression to some inputs: the chances of the test rows, (n_test, n_targets).

    The loss is that of scikit-learn with C = 1. Inputs are turned to their principal axes. Two classes are fitted by
    Newton's method; several, or many axes, by steps with a bound of the Hessian that does not change, ½ XᵀX (Böhning
    1992), and Nesterov's momentum, begun anew where it points uphill; 40 of them leave chances within 0.05 of the end,
    0.01 on average.
    """
    X, weights = split.train[:, inputs], split.plain
    center = weights @ X / weights.sum()
    Z = X - center
    root = np.sqrt(weights)[:, None]
    values, axes = np.linalg.eigh((root * Z).T @ (root * Z))
    values, axes = values[keep := values > 1e-10 * max(values[-1], 1e-300)], axes[:, keep]
    return _on_axes(split, values, Z @ axes, (split.test[:, inputs] - center) @ axes)


def _on_axes(split: NodeSplit, values: FloatArray, B: FloatArray, others: FloatArray) -> FloatArray:
    """Fit a logistic regression to principal axes with these eigenvalues."""
    weights, target = split.plain, split.target
    constant = np.log(np.maximum(weights @ target / weights.sum(), 1e-9))
    if target.shape[1] == 2 and B.shape[1] <= MOST_AXES:
        theta = _two_classes(B, target[:, 1], weights, constant[1] - constant[0])
        second = expit(others @ theta[1:] + theta[0])
        return np.column_stack([1.0 - second, second])
    coefficients, constant = _several_classes(B, values, target, weights, constant)
    return softmax(others @ coefficients + constant)


def _two_classes(B: FloatArray, y: FloatArray, weights: FloatArray, constant: float) -> FloatArray:
    """Fit by Newton's steps, halved where the loss would rise; the constant comes first."""
    rows = np.column_stack([np.ones(len(B)), B])
    penalty = np.concatenate([[0.0], np.ones(B.shape[1])])
    theta = np.zeros(rows.shape[1])
    theta[0] = constant

    def loss_at(theta: FloatArray) -> tuple[float, FloatArray]:
        z = rows @ theta
        return float(weights @ (np.logaddexp(0.0, z) - y * z) + 0.5 * penalty @ theta**2), z

    loss, z = loss_at(theta)
    for _ in range(N_NEWTON):
        share = expit(z)
        bend = weights * share * (1.0 - share)
        slope = rows.T @ (weights * (share - y)) + penalty * theta
        hessian = (rows.T * bend) @ rows
        hessian.flat[:: len(theta) + 1] += penalty + 1e-9
        step = dposv(hessian, slope)[1]
        size = 1.0
        new, z = loss_at(theta - step)
        while new > loss + 1e-9 * abs(loss) and size > 1e-3:
            size /= 2.0
            new, z = loss_at(theta - size * step)
        theta, loss, before = theta - size * step, new, loss
        if before - new <= 1e-6 * abs(before):
            break
    return theta


def _several_classes(
    B: FloatArray, values: FloatArray, target: FloatArray, weights: FloatArray, constant: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Fit by steps with a bound of the Hessian: coefficients (n_axes, n_classes) and constants."""
    cost = 2.0 if target.shape[1] == 2 else 1.0  # of two classes scikit-learn penalises the difference
    size = 1.0 / np.concatenate([[0.5 * weights.sum()], 0.5 * values + cost])[:, None]
    penalty = np.concatenate([[0.0], np.full(len(values), cost)])[:, None]
    rows = np.column_stack([np.ones(len(B)), B])

    def step(theta: FloatArray) -> FloatArray:
        gap = weights[:, None] * (target - softmax(rows @ theta))
        return theta + size * (rows.T @ gap - penalty * theta)

    start = np.vstack([constant, np.zeros((B.shape[1], target.shape[1]))])
    theta = _with_momentum(start, step, lambda one, other: float((one * other).sum()))
    return theta[1:], theta[0]


def _with_momentum(
    theta: FloatArray, step: Callable[[FloatArray], FloatArray], product: Callable[[FloatArray, FloatArray], float]
) -> FloatArray:
    """Take steps with Nesterov's momentum, which begins anew where it points uphill by an inner product."""
    ahead, momentum = theta, 1.0
    for _ in range(N_BOUNDED):
        new = step(ahead)
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        if product(ahead - new, new - theta) > 0.0:
            following = momentum = 1.0
        ahead = new + (momentum - 1.0) / following * (new - theta)
        theta, momentum = new, following
    return theta


def softmax(z: FloatArray) -> FloatArray:
    """Turn logits of rows into chances; SciPy's checks take longer than small tables."""
    shares = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


class RowProducts:
    """Logistic regression on growing sets of many inputs, by the products of rows, which add up from set to set.

    With R the weighted, centered rows and coefficients Rᵀa, a step of `_several_classes` is one product with
    M = (b RRᵀ + 1)⁻¹: a moves by M r, where r is the gap less a, and what rows are given by RRᵀ M r = (r − M r) / b.
    Of two classes the difference is fitted, for which b is a quarter, else a half. Few rows are turned to their axes.
    """

    def __init__(self, split: NodeSplit) -> None:
        self.split = split
        n, total = len(split.train), split.plain.sum()
        self.root = np.sqrt(split.plain)[:, None]
        self.center = split.plain @ split.train / total
        self.seen = np.zeros(split.train.shape[1], dtype=bool)
        self.inner, self.cross = np.zeros((n, n)), np.zeros((len(split.test), n))

    def logistic(self, inputs: IntArray) -> FloatArray:
        """Fit to some inputs, all that were asked about before among them: (n_test, n_targets)."""
        new = inputs[~self.seen[inputs]]
        self.seen[new] = True
        rows = self.root * (self.split.train[:, new] - self.center[new])
        self.inner += rows @ rows.T
        self.cross += (self.split.test[:, new] - self.center[new]) @ rows.T
        if len(rows) <= MOST_AXES:
            values, axes = np.linalg.eigh(self.inner)
            values, axes = values[keep := values > 1e-10 * max(values[-1], 1e-300)], axes[:, keep]
            spread = np.sqrt(values)
            return _on_axes(self.split, values, axes * spread / self.root, self.cross @ (axes / spread))
        return self._in_steps()

    def _in_steps(self) -> FloatArray:
        target, weights, n = self.split.target, self.split.plain, len(self.split.target)
        two = target.shape[1] == 2
        bound, wanted = (0.25, target[:, 1:]) if two else (0.5, target)
        inverse = _inverse(bound * self.inner + np.eye(n))
        shares = np.log(np.maximum(weights @ target / weights.sum(), 1e-9))

        def step(theta: FloatArray) -> FloatArray:
            constant, dual, given = theta[0], theta[1 : n + 1], theta[n + 1 :]  # given is what rows get, RRᵀ dual
            z = given / self.root + constant
            gap = wanted - (expit(z) if two else softmax(z))
            rest = self.root * gap - dual
            moved = inverse @ rest
            ahead = constant + weights @ gap / (bound * weights.sum())
            return np.vstack([ahead, dual + moved, given + (rest - moved) / bound])

        def product(one: FloatArray, other: FloatArray) -> float:
            return float((one[1 : n + 1] * other[n + 1 :]).sum() + one[0] @ other[0])

        start = np.vstack([shares[1:] - shares[:1] if two else shares, np.zeros((2 * n, wanted.shape[1]))])
        theta = _with_momentum(start, step, product)
        z = self.cross @ theta[1 : n + 1] + theta[0]
        return np.column_stack([expit(-z), expit(z)]) if two else softmax(z)


def _inverse(matrix: FloatArray) -> FloatArray:
    """Invert a symmetric matrix without eigenvalues near zero, by its Cholesky factor."""
    lower, _ = dpotrf(matrix, lower=1)
    half, _ = dpotri(lower, lower=1)
    return np.tril(half) + np.tril(half, -1).T


def forest(split: NodeSplit, steps: Sequence[IntArray]) -> Iterator[FloatArray]:
    """Predict by extremely randomised trees."""
    return _asked_once(split, steps, FOREST, lambda known: trees(split, known, JUDGE_TREES, split.plain)[0])


def boosting(split: NodeSplit, steps: Sequence[IntArray]) -> Iterator[FloatArray]:
    """Predict by scikit-learn's histogram boosting, compiled: columns are binned once."""
    codes = split.target.argmax(axis=1) if split.classes else split.target[:, 0]
    seen = np.unique(codes) if split.classes else codes[:1]
    key = (BOOSTING, "binned")
    if key not in split.grown:
        model = estimator_named("boosting", "classification" if split.classes else "regression")
        if (split.classes and len(seen) < 2) or why_not_boosted(model, *split.train.shape):
            return fitted(model, split, steps)
        try:
            split.grown[key] = HistogramBoosting(model, split.train, codes, split.test, split.own_weights)
        except ValueError:  # another version of scikit-learn
            return fitted(model, split, steps)
    engine = split.grown[key]

    def predicted(known: IntArray) -> FloatArray:
        if not split.classes:
            return np.asarray(engine.predict(known))[:, None]
        out = np.zeros((len(split.test), split.target.shape[1]))
        out[:, seen] = engine.predict_proba(known)
        return out

    return _asked_once(split, steps, BOOSTING, predicted)


def _asked_once(
    split: NodeSplit, steps: Sequence[IntArray], name: str, predicted: Callable[[IntArray], FloatArray]
) -> Iterator[FloatArray]:
    """Ask a model about each set of inputs once, in whatever order they came."""
    known = np.empty(0, dtype=np.int64)
    for new in steps:
        known = np.sort(np.concatenate([known, new]))
        key = (name, known.tobytes())
        if key not in split.grown:
            split.grown[key] = predicted(known)
        yield split.grown[key]


def trees(
    split: NodeSplit, inputs: IntArray, n_trees: int, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Grow trees on some inputs: predictions of the test rows, and what each input gained."""
    n_tried = int(np.sqrt(len(inputs)) + 0.999) if split.classes else min(-(-len(inputs) // 2), MOST_TRIED)
    train, test = split.train[:, inputs], split.test[:, inputs]
    weights = split.weights if weights is None else weights
    return random_trees(
        train, test, split.target, weights, n_trees=n_trees, n_tried=n_tried, leaf=JUDGE_LEAF, seed=split.seed
    )


def given(estimator: Any) -> Judge:
    """Make a judge of any estimator."""
    return lambda split, steps: fitted(estimator, split, steps)


def fitted(model: Any, split: NodeSplit, steps: Sequence[IntArray]) -> Iterator[FloatArray]:
    """Fit a model to each list of inputs as its user would; forests and the like by their compiled twins."""
    codes = split.target.argmax(axis=1) if split.classes else split.target[:, 0] * split.scale
    task: Task = "classification" if split.classes else "regression"
    seen = np.unique(codes) if split.classes else np.zeros(1, dtype=np.int64)
    if split.classes and len(seen) < 2:
        return iter([np.tile(split.target.mean(axis=0), (len(split.test), 1))] * len(steps))
    rows = Problem.from_arrays(split.train, codes, task=task, sample_weight=split.own_weights)
    scorer = CrossValidated(seeded(model, split.seed)).bind(rows, np.random.default_rng(split.seed), Resources())

    def predicted(known: IntArray) -> FloatArray:
        with telling("The given estimator"):
            outputs = scorer.predict(np.isin(np.arange(split.train.shape[1]), known), split.test)
        if not split.classes:
            return np.asarray(outputs, dtype=np.float64).reshape(-1, 1) / split.scale
        out = np.zeros((len(split.test), split.target.shape[1]))
        out[:, seen] = outputs
        return split.tidy(out)

    return _asked_once(split, steps, "the given model", predicted)


def seeded(model: Any, seed: int) -> Any:
    """Copy a model; whatever has no seed gets one."""
    copy = hushed(clone(model))
    return copy.set_params(**{
        name: seed for name, value in copy.get_params(deep=True).items()
        if name.split("__")[-1] == "random_state" and value is None
    })  # fmt: skip


def estimator_named(estimator: Any, task: Task) -> Any:
    """Return an estimator for a name; an estimator, or none, as it is."""
    if not isinstance(estimator, str):
        parts = [] if estimator is None else [estimator, *estimator.get_params().values()]
        if any(isinstance(part, ColumnTransformer) for part in parts):
            raise InputError(
                "The estimator has a ColumnTransformer, but auto gives it numbers of some columns without their names: "
                "omit it (auto fills missing cells and encodes levels), or let make_column_selector choose its "
                "columns and search: criterion=fewer.criteria.CrossValidated(estimator)."
            )
        return estimator
    classes = task == "classification"
    makers: dict[str, Any] = {
        "knn": lambda: KNeighborsClassifier() if classes else KNeighborsRegressor(),
        "linear": lambda: LogisticRegression(max_iter=1000) if classes else RidgeCV(ALPHAS),
        "forest": lambda: (RandomForestClassifier if classes else RandomForestRegressor)(random_state=0),
        "boosting": lambda: (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(
            max_iter=N_ROUNDS, early_stopping=False, random_state=0
        ),
        "tree": lambda: (DecisionTreeClassifier if classes else DecisionTreeRegressor)(random_state=0),
        "svm": lambda: SVC() if classes else SVR(),
    }
    aliases = {"logistic": "linear", "ridge": "linear", "neighbors": "knn"}
    name = aliases.get(estimator, estimator)
    if name not in makers:
        raise InputError(f"Unknown estimator={estimator!r}; give an estimator or one of {', '.join(makers)}.")
    model = makers[name]()
    return model if name in ("forest", "boosting", "tree") else make_pipeline(StandardScaler(), model)


def model_named(judge: str, task: Task) -> Any:
    """Return the model that people would fit for one of `auto`; None for another name."""
    names = {NEIGHBORS: "knn", LINEAR: "linear", FOREST: "forest", BOOSTING: "boosting"}
    return estimator_named(names[judge], task) if judge in names else None


def criterion_of(judge: str, task: Task, estimator: Any, scoring: Any) -> Criterion:
    """Return a model as a criterion that predicts rows: the one that people would fit."""
    if estimator is None:
        named = model_named(judge, task)  # a forest that is not fitted has no truth value
        estimator = model_named(NEIGHBORS, task) if named is None else named
    return CrossValidated(estimator, scoring)
