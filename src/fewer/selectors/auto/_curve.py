"""Loss against size: what rows held out say, how sure they are, and how many features follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

import numpy as np
from scipy.stats import norm, rankdata

from fewer.criteria.cross_validated import refuse_scoring, score_outputs
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.validate import Split as Rows

Prefer = Literal["fewest", "balanced", "accuracy"]
# How much of the score a smaller size may lose, by what the user prefers: 3 points, 1, none.
MARGIN: dict[str, float] = {"fewest": 0.03, "balanced": 0.01, "accuracy": 0.0}
# Standard errors that are taken off what rows show to be lost: the best size is the best partly by luck, so that
# others lose less than they seem to. No more than 1 point is taken off, so that few rows do not excuse everything.
OPTIMISM = 0.35
# How likely the size of `"balanced"` may lose more than its margin.
RISK = 0.25
# Standard errors that are taken off before a loss is compared with the margin. For `"balanced"` a third is added in
# the end, so that the risk is kept; with `"fewest"` rows must show a larger loss.
LUCK: dict[str, float] = {"fewest": 1.25, "balanced": OPTIMISM - float(norm.isf(RISK)), "accuracy": OPTIMISM}
# A class with less than this share of what an equal class would have makes classes uneven, or is rare.
UNEVEN, RARE_SHARE = 0.6, 0.2
# Between these lies the accuracy that a unit of squared loss costs.
EXCHANGE = (0.3, 1.5)
# Scorings in which every row counts the same, not every class.
ROW_METRICS = {"accuracy", "neg_brier_score", "neg_log_loss", "top_k_accuracy"}
ABSOLUTE = {"neg_mean_absolute_error", "neg_median_absolute_error"}
AREA = "roc_auc"
SQUARED_METRICS = {"accuracy", "balanced_accuracy", "r2", "neg_mean_squared_error", "neg_root_mean_squared_error",
           "roc_auc_ovr", "roc_auc_ovo", "average_precision", "neg_brier_score", "top_k_accuracy"}  # fmt: skip
BY_ROWS = {*SQUARED_METRICS, "neg_log_loss", AREA, *ABSOLUTE}
# Rows that choose features for each other are not independent: one that leads by luck in all rows is chosen in every
# split, and its luck counts in each of them. So much larger than rows show are the standard errors taken.
DEPENDENT = np.sqrt(2.0)
# Rows that are held out together, at least, for their places among each other to count.
FEWEST_RANKED = 10
# Median deviations from the median beyond which a value of a quantity is far from the others.
OUTLYING = 20.0
# A quantity that varies by less than this is measured in another unit; one that varies by less than the second is
# the same everywhere to the trees of scikit-learn, which stop at a variance of 2e-16.
SMALL, FAINT = 1e-3, 2e-8
# Rows of a class with fewer rows than this weigh no more than those of a class with this many.
FEW_OF_A_CLASS = 5


@dataclass(frozen=True)
class Metric:
    """What `auto` measures by.

    Parameters
    ----------
    scoring : str or callable
        As in scikit-learn.
    why : str
        Why it is not the usual one; empty where it is, or where the user chose it.

    Examples
    --------
    >>> Metric("r2").name
    'R²'
    """

    scoring: Any
    why: str = ""

    @classmethod
    def of(cls, problem: Problem, scoring: Any = None) -> Metric:
        """Take the user's, or one that sees every class: accuracy where classes are about as large as each other.

        Of two classes a rare one is seen by how rows are ranked (few models ever answer with it); classes that are
        uneven, or several of which one is rare, by the mean over the classes of the share that is right.

        Parameters
        ----------
        problem : Problem
            The rows.
        scoring : str or callable, optional
            The user's own.

        Returns
        -------
        Metric

        Examples
        --------
        >>> Metric.of(Problem.from_arrays(np.zeros((100, 1)), np.arange(100) < 4)).scoring
        'roc_auc'
        """
        if scoring is not None:
            refuse_scoring(scoring, problem)
            return cls(scoring)
        if problem.task == "regression":
            return cls("r2")
        counts = np.bincount(problem.y, minlength=problem.n_classes)
        code, least = int(counts.argmin()), counts.min() / counts.sum()
        if least * len(counts) >= UNEVEN:
            return cls("accuracy")
        note = f"class {problem.classes[code]!s} has {least:.1%} of the rows"
        if len(counts) == 2 and least * len(counts) < RARE_SHARE:
            why = f"Scores are areas under the ROC curve, since {note}: never to predict it is almost always right."
            return cls(AREA, why)
        return cls("balanced_accuracy", f"Scores are balanced accuracy, in which every class counts the same: {note}.")

    @property
    def name(self) -> str:
        """How scores are called."""
        if self.scoring == "r2":
            return "R²"
        return str(self.scoring if isinstance(self.scoring, str) else getattr(self.scoring, "__name__", "score"))


def odd_values(problem: Problem, scoring: Any) -> str:
    """Say that a quantity is too small for trees, or that a few values decide squared errors alone; else nothing.

    Those few are more than 20 median deviations from the median (of normal values not one in 10^40 is), and
    make up more than half of the variance.

    Examples
    --------
    >>> y = np.append(np.arange(30.0), 5000.0)
    >>> odd_values(Problem.from_arrays(np.zeros((31, 1)), y, task="regression"), "r2").split(";")[0]
    'Values of the target far from the others (1 of 31, such as 5000) make up 97% of its variance and decide R² alone'
    """
    if problem.task == "regression" and (spread := float(np.std(problem.y))) < FAINT:
        return (
            f"The target varies by {spread:.2g} only, which scikit-learn's trees and forests take for no difference; "
            "measure it in a smaller unit."
        )
    if problem.task != "regression" or scoring not in SQUARED_METRICS:
        return ""
    off, squares = np.abs(problem.y - np.median(problem.y)), (problem.y - problem.y.mean()) ** 2
    far = np.flatnonzero(off > OUTLYING * np.median(off))
    share = squares[far].sum() / squares.sum()
    if share <= 0.5 or not np.median(off) > 0.0:
        return ""
    return (
        f"Values of the target far from the others ({len(far)} of {len(off)}, such as {problem.y[off.argmax()]:.6g}) "
        f"make up {share:.0%} of its variance and decide {Metric(scoring).name} alone; correct errors among them, or "
        "choose the score neg_median_absolute_error."
    )


def rare_classes(problem: Problem) -> BoolArray:
    """Say which classes have less than a fifth of what an equal class would have."""
    counts = np.bincount(problem.y, minlength=problem.n_classes)
    return np.asarray(counts * problem.n_classes < RARE_SHARE * counts.sum())


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


def scale_of(problem: Problem) -> float:
    """Return a power of two that brings a quantity of small numbers near one; one for other targets.

    Smaller differences of squares would be taken for rounding, here and by the trees of scikit-learn.

    Examples
    --------
    >>> scale_of(Problem.from_arrays(np.zeros((3, 1)), [0.0, 3e-9, 4e-9], task="regression")) == 2.0**-28
    True
    """
    spread = float(np.ptp(problem.y)) if problem.task == "regression" else 1.0
    return 1.0 if spread >= SMALL else float(2.0 ** np.floor(np.log2(spread)))


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
    scale : float, default=1.0
        What one is of `target`, and of outputs, in the unit of the problem.
    """

    problem: Problem
    target: FloatArray
    weights: FloatArray
    scoring: Any
    folds: IntArray
    scale: float = 1.0

    @classmethod
    def of(cls, problem: Problem, splits: list[Rows], scoring: Any = None, scale: float = 1.0) -> tuple[Loss, IntArray]:
        """Build for the rows that some split holds out; return these, too."""
        folds = np.full(problem.n_samples, -1, dtype=np.int64)
        for number, split in enumerate(splits):
            folds[split.test] = number
        rows = np.flatnonzero(folds >= 0)
        held = problem.take(rows)
        scoring = Metric.of(problem, scoring).scoring
        plain = isinstance(scoring, str) and scoring in ROW_METRICS
        return cls(held, targets(held) / scale, balanced_weights(held, not plain), scoring, folds[rows], scale), rows

    @property
    def by_rows(self) -> bool:
        """Whether every row has a loss of its own under the scoring."""
        if self.scoring == AREA:
            return self.target.shape[1] == 2
        return isinstance(self.scoring, str) and self.scoring in BY_ROWS

    @property
    def exact(self) -> bool:
        """Whether the score that people read is the loss in another unit."""
        return not self.by_rows or self.scoring not in SQUARED_METRICS or self.problem.task == "regression"

    def squared(self, outputs: FloatArray) -> FloatArray:
        """Return squared losses (n_rows, n_sizes) of outputs (n_rows, n_sizes, n_targets)."""
        return ((outputs - self.target[:, None, :]) ** 2).sum(axis=2)

    def losses(self, outputs: FloatArray) -> FloatArray:
        """Return the losses that choose: of rows, or of folds where the scoring is no sum over rows."""
        if not self.by_rows:
            return -self._by_fold(outputs)
        if self.scoring == AREA:
            return self._misplaced(outputs[:, :, 1])
        if self.scoring == "neg_log_loss":
            probability = (outputs * self.target[:, None, :]).sum(axis=2)
            return -np.log(np.clip(probability, 1e-3, 1.0))
        if self.scoring in ABSOLUTE:
            return np.abs(outputs - self.target[:, None, :])[:, :, 0]
        return self.squared(outputs)

    def _misplaced(self, outputs: FloatArray) -> FloatArray:
        """Return for each row the share of the other class, in its fold, on the wrong side of it; ties count half.

        The mean over a fold, classes weighing the same, is one less the area under the ROC curve (Mann and Whitney).
        """
        shares = np.full(outputs.shape, 0.5)
        for fold in np.unique(self.folds):
            rows = np.flatnonzero(self.folds == fold)
            cells, second = np.round(outputs[rows], 9), self.problem.y[rows] == 1
            if second.all() or not second.any():
                continue
            ranks = rankdata(cells, axis=0)
            for members, sign in ((second, -1.0), (~second, 1.0)):
                below = (ranks[members] - rankdata(cells[members], axis=0)) / (~members).sum()
                shares[rows[members]] = below if sign > 0 else 1.0 - below
        return shares

    def sides(self) -> tuple[FloatArray, IntArray]:
        """Return the weights of the rows (or folds) of `losses`, and what belongs together in them."""
        if not self.by_rows:
            numbers = np.unique(self.folds)
            return np.ones(len(numbers)), numbers
        return self.weights, self._clusters()

    def of_nothing(self, means: FloatArray) -> float:
        """Return the loss of knowing nothing but the mean targets of the training rows."""
        if self.problem.task == "classification" and self.scoring not in ROW_METRICS:
            means = np.full_like(means, 1.0 / means.shape[1])
        weights, _ = self.sides()
        return float(weights @ self.losses(means[:, None, :])[:, 0] / weights.sum())

    def told(self, outputs: FloatArray, means: FloatArray) -> FloatArray:
        """Return what outputs tell about each row, on average nothing where they know nothing, (n_rows, n_sizes).

        Of a quantity the product of what is predicted and what is, both from the mean of the training rows; where
        absolute errors count, of their places, since a few values far from all others would decide that product. Of
        classes the place of the row among those held out with it, by what it is given for each class, as far above the
        middle as it is in the class: neither how sure of itself a model is nor how large a class is matters, as for
        losses.
        """
        if self.problem.task == "regression":
            if self.scoring in ABSOLUTE:
                unit = np.sqrt(self._spread)
                return np.einsum("isc,ic->is", self._places(outputs / unit), self._places(self.target / unit))
            return np.einsum("isc,ic->is", outputs - means[:, None, :], self.target - means)
        contrasts = self.target - 1.0 / self.target.shape[1]
        if contrasts.shape[1] == 2:  # what is given for one class is what the other lacks
            outputs, contrasts = outputs[:, :, 1:], 2.0 * contrasts[:, 1:]
        return np.einsum("isc,ic->is", self._places(outputs), contrasts)

    def _places(self, values: FloatArray) -> FloatArray:
        """Return how far above the middle each row ranks among those held out with it, as a share of these."""
        places = np.empty(values.shape)
        small = len(self.folds) < FEWEST_RANKED * len(np.unique(self.folds))
        for rows in [np.arange(len(values))] if small else [self.folds == fold for fold in np.unique(self.folds)]:
            ranks = rankdata(np.round(values[rows], 9), axis=0)
            places[rows] = (ranks - ranks.mean(axis=0)) / len(ranks)
        return places

    def scores(self, outputs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the score that people read at each size, and its standard error."""
        if self.scoring in ("accuracy", "balanced_accuracy"):
            right = (outputs.argmax(axis=2) == self.problem.y[:, None]).astype(np.float64)
            return mean_and_error(right, self.weights, self._clusters())
        if self.scoring == AREA and self.by_rows:
            mean, error = mean_and_error(self.losses(outputs), self.weights, self._clusters())
            return 1.0 - mean, error
        if self.scoring == "r2":
            mean, error = mean_and_error(self.squared(outputs), self.weights, self._clusters())
            return 1.0 - mean / self._spread, error / self._spread
        scores = np.array([self._scored(outputs[:, i], self.problem) for i in range(outputs.shape[1])])
        by_fold = self._by_fold(outputs)
        return scores, by_fold.std(axis=0, ddof=1) / np.sqrt(len(by_fold))

    @property
    def unit(self) -> float:
        """What a unit of loss is in the score that people read, where the two are the same but for that."""
        return 1.0 / self._spread if self.scoring == "r2" else self.in_users_unit

    @property
    def in_users_unit(self) -> float:
        """What a unit of loss is in the unit of the problem."""
        if not self.by_rows:
            return 1.0
        return self.scale if self.scoring in ABSOLUTE else self.scale**2

    @property
    def _spread(self) -> float:
        center = self.target[:, 0] - np.average(self.target[:, 0], weights=self.weights)
        return max(float(self.weights @ center**2) / float(self.weights.sum()), 1e-300)

    @property
    def score_name(self) -> str:
        """What `scores` are."""
        return Metric(self.scoring).name

    def _by_fold(self, outputs: FloatArray) -> FloatArray:
        return np.column_stack([self._scored_by_fold(outputs[:, i]) for i in range(outputs.shape[1])])

    def _scored_by_fold(self, outputs: FloatArray) -> list[float]:
        """Score each fold, the same outputs once: a race looks at them many times, and a metric takes a millisecond."""
        key = blake2b(outputs.tobytes()).digest()
        if key not in self._known:
            self._known[key] = [self._scored(outputs[part], rows) for part, rows in self._parts]
        return self._known[key]

    @cached_property
    def _known(self) -> dict[bytes, list[float]]:
        return {}

    @cached_property
    def _parts(self) -> list[tuple[BoolArray, Problem]]:
        parts = [self.folds == fold for fold in np.unique(self.folds)]
        return [(part, self.problem.take(part)) for part in parts]

    def _clusters(self) -> IntArray:
        return np.arange(len(self.weights)) if self.problem.groups is None else self.problem.groups

    def _scored(self, outputs: FloatArray, rows: Problem) -> float:
        return score_outputs(
            self.scoring, outputs if rows.task == "classification" else outputs[:, 0] * self.scale, rows
        )


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

    def smallest(self, spared: float, free: Any, luck: float = 0.0, most: float = np.inf) -> int:
        """Return the place of the smallest size behind the best by so much at most, luck (at most `most`) apart."""
        return int(np.argmax((self.behind - np.minimum(luck * self.error, most) <= spared + 1e-12) & free))


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
        How much each row counts, and the group that it belongs to.
    seed : int
        Of all that is random.
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
    if (mean[~alive] > 1e-12).any():  # the same gain in every row: luck must give all of them its sign
        return float(max(1 / (1 + n_draws), 0.5 ** len(np.unique(clusters))))
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
