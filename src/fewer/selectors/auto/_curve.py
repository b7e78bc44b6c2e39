"""Loss against size: what rows held out say, how sure they are, and how many features follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.metrics import get_scorer

from fewer.criteria._cross_validated import _RecordedClassifier, _RecordedRegressor
from fewer.problem import FloatArray, IntArray, Problem
from fewer.validate import Split as Rows

Prefer = Literal["fewest", "balanced", "accuracy"]
N_ERRORS: dict[str, float] = {"fewest": 1.0, "balanced": 0.25, "accuracy": 0.0}
"""How many standard errors of its difference to the best a smaller size may be behind, by what the user prefers."""
SPARED: dict[str, dict[str, float]] = {
    "classification": {"fewest": 0.09, "balanced": 0.03, "accuracy": 0.0},
    "regression": {"fewest": 0.03, "balanced": 0.005, "accuracy": 0.0},
}
"""A smaller size may also be behind by this share of what the best one gains over knowing nothing. For a quantity that
share is one of R², which people read."""
PLAIN = {"accuracy", "neg_brier_score", "neg_log_loss", "top_k_accuracy"}
"""Scorings in which every row counts the same, not every class."""
ABSOLUTE = {"neg_mean_absolute_error", "neg_median_absolute_error"}
BY_ROWS = {None, "balanced_accuracy", "roc_auc", "roc_auc_ovr", "roc_auc_ovo", "r2", "neg_mean_squared_error",
           "neg_root_mean_squared_error", "average_precision", *PLAIN, *ABSOLUTE}  # fmt: skip
DEPENDENT = np.sqrt(2.0)
"""Rows that choose features for each other are not independent: one that leads by luck in all rows is chosen in every
split, and its luck counts in each of them. So much larger than rows show are the standard errors taken."""
FEW_OF_A_CLASS = 5
"""Rows of classes smaller than that do not weigh more than if the class had so many."""


def balanced_weights(problem: Problem, balanced: bool = True) -> FloatArray:
    """Return the weight of each row: its own, scaled so that every class counts the same, one on average."""
    weights = problem.row_weights.copy()
    if problem.task == "classification" and balanced:
        mass = np.bincount(problem.y, weights, minlength=problem.n_classes)
        count = np.maximum(np.bincount(problem.y, minlength=problem.n_classes), 1)
        weights = weights / np.maximum(mass * np.maximum(FEW_OF_A_CLASS / count, 1.0), 1e-300)[problem.y]
    return weights * (len(weights) / weights.sum())


def targets(problem: Problem) -> FloatArray:
    """Return class memberships, or the quantity as one column."""
    if problem.task == "regression":
        return problem.y[:, None].astype(np.float64)
    return problem.class_indicators


@dataclass(frozen=True, eq=False)
class Loss:
    """How held-out outputs are turned into losses, one for each row and size.

    Attributes
    ----------
    problem : Problem
        The rows that were held out, in order.
    target : array of shape (n_rows, n_targets)
    weights : array of shape (n_rows,)
    scoring : str, callable or None
        What the user measures by. Where it is a sum over rows, so is the loss; otherwise each fold is one number.
    folds : int array of shape (n_rows,)
    """

    problem: Problem
    target: FloatArray
    weights: FloatArray
    scoring: Any
    folds: IntArray

    @classmethod
    def of(cls, problem: Problem, splits: list[Rows], scoring: Any = None) -> tuple[Loss, IntArray]:
        """Build for the rows that some split holds out; return these, too."""
        folds = np.full(problem.n_samples, -1, dtype=np.int64)
        for number, split in enumerate(splits):
            folds[split.test] = number
        rows = np.flatnonzero(folds >= 0)
        held = problem.take(rows)
        plain = isinstance(scoring, str) and scoring in PLAIN
        return cls(held, targets(held), balanced_weights(held, not plain), scoring, folds[rows]), rows

    @property
    def by_rows(self) -> bool:
        """Whether every row has a loss of its own under the user's scoring."""
        return self.scoring is None or (isinstance(self.scoring, str) and self.scoring in BY_ROWS)

    def squared(self, outputs: FloatArray) -> FloatArray:
        """Return squared losses (n_rows, n_sizes) of outputs (n_rows, n_sizes, n_targets)."""
        return ((outputs - self.target[:, None, :]) ** 2).sum(axis=2)

    def losses(self, outputs: FloatArray) -> FloatArray:
        """Return the losses that choose: of rows, or of folds where the scoring is no sum over rows."""
        if not self.by_rows:
            parts = [self.folds == fold for fold in np.unique(self.folds)]
            return -np.array([[self._scored(outputs[part, i], self.problem.take(part)) for i in range(outputs.shape[1])]
                              for part in parts])  # fmt: skip
        if self.scoring == "neg_log_loss":
            own = (outputs * self.target[:, None, :]).sum(axis=2)
            return -np.log(np.clip(own, 1e-3, 1.0))
        if self.scoring in ABSOLUTE:
            return np.abs(outputs - self.target[:, None, :])[:, :, 0]
        return self.squared(outputs)

    def sides(self) -> tuple[FloatArray, IntArray]:
        """Return the weights of the rows (or folds) of `losses`, and what belongs together in them."""
        if not self.by_rows:
            numbers = np.unique(self.folds)
            return np.ones(len(numbers)), numbers
        groups = self.problem.groups
        return self.weights, np.arange(len(self.weights)) if groups is None else groups

    def base(self, means: FloatArray) -> FloatArray:
        """Return the squared loss of knowing nothing but the classes (or the mean of the training rows)."""
        if self.problem.task == "classification":
            return ((1.0 / self.target.shape[1] - self.target) ** 2).sum(axis=1)
        return (means - self.target[:, 0]) ** 2

    def told(self, outputs: FloatArray, means: FloatArray) -> FloatArray:
        """Return what outputs tell about each row, on average nothing where they know nothing, (n_rows, n_sizes).

        For classes, how much of the membership beyond an equal share goes to the right one; for a quantity, the product
        of what is predicted and what is, both from the mean of the training rows. How sure of itself a judge is does
        not matter, as it does for losses.
        """
        if self.problem.task == "classification":
            return (outputs * self.target[:, None, :]).sum(axis=2) - 1.0 / self.target.shape[1]
        return (outputs[:, :, 0] - means[:, None]) * (self.target[:, 0] - means)[:, None]

    def scores(self, outputs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the score that people read at each size, and its standard error."""
        if self.scoring in (None, "accuracy", "balanced_accuracy") and self.problem.task == "classification":
            right = (outputs.argmax(axis=2) == self.problem.y[:, None]).astype(np.float64)
            mean, error = mean_and_error(right, self.weights, self._clusters())
            return mean, error
        if self.scoring in (None, "r2"):
            spread = float(self.weights @ (self.problem.y - np.average(self.problem.y, weights=self.weights)) ** 2)
            mean, error = mean_and_error(self.squared(outputs), self.weights, self._clusters())
            scale = self.weights.sum() / max(spread, 1e-300)
            return 1.0 - mean * scale, error * scale
        whole = np.array([self._scored(outputs[:, i], self.problem) for i in range(outputs.shape[1])])
        parts = [self.folds == fold for fold in np.unique(self.folds)]
        each = np.array([[self._scored(outputs[part, i], self.problem.take(part)) for i in range(outputs.shape[1])]
                         for part in parts])  # fmt: skip
        return whole, each.std(axis=0, ddof=1) / np.sqrt(len(parts))

    @property
    def score_name(self) -> str:
        """What `scores` are."""
        if self.scoring is None:
            return "balanced accuracy" if self.problem.task == "classification" else "R²"
        return self.scoring if isinstance(self.scoring, str) else getattr(self.scoring, "__name__", "score")

    def _clusters(self) -> IntArray:
        return np.arange(len(self.weights)) if self.problem.groups is None else self.problem.groups

    def _scored(self, outputs: FloatArray, rows: Problem) -> float:
        classes = rows.task == "classification"
        model: Any = (
            _RecordedClassifier(outputs, np.asarray(rows.classes)) if classes else _RecordedRegressor(outputs[:, 0])
        )
        weights = {} if rows.sample_weight is None else {"sample_weight": rows.sample_weight}
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        return float(scorer(model, rows.X, rows.labels, **weights))


def mean_and_error(values: FloatArray, weights: FloatArray, clusters: IntArray) -> tuple[FloatArray, FloatArray]:
    """Average columns; the standard error counts rows of one cluster as one observation.

    Examples
    --------
    >>> mean_and_error(np.array([[0.0], [2.0]]), np.ones(2), np.array([0, 1]))
    (array([1.]), array([1.]))
    """
    share = weights / weights.sum()
    mean = share @ values
    parts = share[:, None] * (values - mean)
    _, place = np.unique(clusters, return_inverse=True)
    n = int(place.max()) + 1
    if n < len(parts):
        sums = np.zeros((n, parts.shape[1]))
        np.add.at(sums, place, parts)
        parts = sums
    return mean, np.sqrt((parts**2).sum(axis=0) * n / max(n - 1, 1))


@dataclass(frozen=True, eq=False)
class Curve:
    """Loss by size of one path: the mean, how far behind the best size it is, and the standard error of that."""

    sizes: IntArray
    loss: FloatArray
    behind: FloatArray
    error: FloatArray

    @classmethod
    def of(cls, sizes: IntArray, losses: FloatArray, weights: FloatArray, clusters: IntArray, free: Any) -> Curve:
        """Average losses (n, n_sizes); only `free` sizes can be the best."""
        mean = weights @ losses / weights.sum()
        best = int(np.argmin(np.where(free, np.round(mean, 12), np.inf)))
        behind, error = mean_and_error(losses - losses[:, [best]], weights, clusters)
        return cls(sizes, mean, behind, error)

    def smallest(self, n_errors: float, free: Any, spared: float = 0.0) -> int:
        """Return the place of the smallest size that is behind by so many standard errors, or that much, at most."""
        good = (self.behind <= np.maximum(n_errors * self.error, spared) + 1e-12) & free
        return int(np.argmax(good))

    def largest(self, n_errors: float, free: Any) -> int:
        """Return the place of the largest size that is behind by so many standard errors at most."""
        good = (self.behind <= n_errors * self.error + 1e-12) & free
        return int(len(good) - 1 - np.argmax(good[::-1]))


def chance_of(
    gains: FloatArray, weights: FloatArray, clusters: IntArray, seed: int, n_draws: int = 999, wider: float = 1.0
) -> float:
    """Return how likely it is that the best of many candidates does so much better than nothing by luck.

    The largest of the candidates' gains, each in its standard errors, is compared with what it is when the signs of the
    rows' (or clusters') deviations from the mean are drawn anew: candidates that agree do not count twice.

    Parameters
    ----------
    gains : array of shape (n_rows, n_candidates)
        By how much the loss of each held-out row is below that of knowing nothing.
    weights, clusters : arrays of shape (n_rows,)
    seed : int
    wider : float
        By how much standard errors are larger than rows show: `DEPENDENT` for rows that choose features for each other.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(50, 20))
    >>> chance_of(noise, np.ones(50), np.arange(50), 0) > 0.05, chance_of(noise + 1, np.ones(50), np.arange(50), 0)
    (True, 0.001)
    """
    mean, error = mean_and_error(gains, weights, clusters)
    alive = error > 1e-12
    if not alive.any():
        return 1.0
    share = weights / weights.sum()
    parts = share[:, None] * (gains[:, alive] - mean[alive])
    _, place = np.unique(clusters, return_inverse=True)
    sums = np.zeros((int(place.max()) + 1, parts.shape[1]))
    np.add.at(sums, place, parts)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(n_draws, len(sums)))
    # Each draw has a standard error of its own: that of the flipped deviations around their mean.
    n, moved = len(sums), signs @ sums
    spread = np.maximum((sums**2).sum(axis=0) - moved**2 / n, 1e-300)
    drawn = (moved / np.sqrt(spread * n / max(n - 1, 1))).max(axis=1)
    seen = float((mean[alive] / error[alive]).max()) / wider
    return float((1 + (drawn >= seen - 1e-12).sum()) / (1 + n_draws))
