"""`LogisticRegression`: Newton's steps from the fit without the new column."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from functools import cache
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_class_weight

from fewer.criteria.engines._engine import Engine, EngineMetric, Folds
from fewer.kernels import newton, softmax
from fewer.kernels.bundles import HeldOut, Training
from fewer.problem import BoolArray, FloatArray, IntArray, Problem

# scikit-learn's solver may stop at a gradient of `tol`; rows as near to the boundary as this times that are its.
SAFETY = 1.5
# Standard deviations between which scikit-learn's solver converges in the steps that it is allowed.
SMALLEST, LARGEST = 0.05, 20.0


@cache
def steps_alike() -> bool:
    """Whether this version of scikit-learn takes the steps of `_lbfgs`, tried on a small table."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[:, 0] += y
    rows = np.arange(60)
    engine = LogisticEngine(
        LogisticRegression(), Folds(Problem.from_arrays(X, y), [(rows, rows)], [], False), EngineMetric("accuracy")
    )
    engine._checks_itself = True
    fitted, truth = engine._lbfgs(np.arange(3), 0), engine._fit_by_it(np.arange(3), 0)
    return fitted is not None and all(np.allclose(a, b, rtol=0, atol=1e-9) for a, b in zip(fitted, truth, strict=True))


class LogisticEngine(Engine):
    """Logistic regression with a squared penalty, fitted to the end.

    scikit-learn's solver stops earlier. Folds in which that could change a class are left to it; scores of
    ranks and probabilities are those of the exact fit and differ by what the solver's tolerance leaves.
    """

    tolerance = 0.0
    hinge = False  # Squared hinge instead of the logistic loss.
    lengths = False  # A price on absolute coefficients instead of squared ones.
    _checks_itself = False

    def __init__(self, estimator: Any, folds: Folds, metric: EngineMetric) -> None:
        rows = folds.problem
        super().__init__(folds, metric, rows.n_classes)
        estimator._validate_params()
        usual = type(estimator)()
        if estimator.tol > usual.tol or estimator.max_iter < usual.max_iter:
            raise ValueError("a larger tol or a smaller max_iter than usual, with which its solver may stop early")
        self._unfitted = clone(estimator).set_params(class_weight=None)  # they are in the weights
        self._weighted = rows.sample_weight is not None or estimator.class_weight is not None
        if metric.name == "top_k_accuracy":  # also classes that lose must not be near to each other
            self.tolerance = 100.0 * float(estimator.tol)
        self._ridge = 1.0 / float(estimator.C)
        self._slack = SAFETY * float(estimator.tol) if metric.needs_classes else 0.0
        self._sizes = np.array([len(train) for train, _ in folds.splits], dtype=np.int64)
        shape = (folds.n_folds, int(self._sizes.max()))
        self._trains = np.zeros((folds.n_folds, rows.n_features, shape[1]))
        self._y, self._weights = np.zeros(shape), np.zeros(shape)
        for fold, (X, y, weights) in enumerate(folds.training()):
            spread = X.std(axis=0)
            if ((spread > 0) & ((spread < SMALLEST) | (spread > LARGEST))).any() or np.abs(X).max() > 1e3:
                raise ValueError("columns of very different scales, on which its solver may not converge; scale them")
            self._trains[fold, :, : len(X)] = X.T
            self._y[fold, : len(X)] = y
            self._weights[fold, : len(X)] = 1.0 if weights is None else weights
            if estimator.class_weight is not None:
                labels = np.asarray(rows.classes)
                each = compute_class_weight(
                    estimator.class_weight, classes=labels, y=labels[y], sample_weight=self._weights[fold, : len(X)]
                )
                self._weights[fold, : len(X)] *= each[y]
        self._totals = self._weights.sum(axis=1)
        prices = (0.0, self.hinge, self._ridge) if self.lengths else (self._ridge, self.hinge, 0.0)
        self._fit = Training(self._trains, self._sizes, self._y, self._weights, self._totals, *prices)
        self._rows = HeldOut(folds.columns, folds.bounds)

    def predict_added(self, members: IntArray, added: IntArray, out: FloatArray) -> BoolArray:
        """Go on from the members' fit with each column."""
        open_rows, sure = self._predict(members, added, out)
        return sure & ~np.logical_or.reduceat(open_rows, self.folds.bounds[:-1], axis=1)

    def score_optimistically(self, members: IntArray, added: IntArray) -> tuple[FloatArray, FloatArray]:
        """Count rows that are scikit-learn's to decide as right, at best, where the kernels grade."""
        if self.metric.scorer is not None:
            return super().score_optimistically(members, added)
        out = np.empty((len(added), self.folds.n_tests, self._n_outputs))
        open_rows, sure = self._predict(members, added, out)
        decided = sure & ~np.logical_or.reduceat(open_rows, self.folds.bounds[:-1], axis=1)
        scores = self._grade(out.copy(), decided)
        right = np.where(self.folds.y[:, None] == np.arange(self._n_outputs), 1.0, 0.0)
        out = np.where(open_rows[..., None], right, out)
        return scores, np.where(sure, self._grade(out, sure), self.metric.ceiling)

    def decide(self, members: IntArray, fold: int) -> float:
        """Fit scikit-learn's own model on the prepared columns: the pipeline around it need not run again."""
        return self._fit_there(members, fold)[1]

    def _fit_there(self, members: IntArray, fold: int) -> tuple[FloatArray, float]:
        """Fit as scikit-learn does, as far as it does; return the coefficients of each class and the score."""
        rows = self.folds.rows(fold)
        coefficients, constant = self._lbfgs(members, fold) or self._fit_by_it(members, fold)
        decisions = np.zeros((1, self.folds.n_tests, self._n_outputs))
        raw = np.ascontiguousarray(self.folds.columns[members, rows].T) @ coefficients.T + constant
        decisions[0, rows, 1 if raw.shape[1] == 1 else slice(None)] = raw[:, 0] if raw.shape[1] == 1 else raw
        return coefficients, float(self.metric.grade(decisions, self.folds, 0.0, by_share=False)[0, fold])

    def _fit_by_it(self, members: IntArray, fold: int) -> tuple[FloatArray, FloatArray]:
        """Let scikit-learn fit; its parameters and the cells are not checked again, which would take a third longer."""
        size = self._sizes[fold]
        weights = self._weights[fold, :size] if self._weighted else None
        X = np.ascontiguousarray(self._trains[fold, members, :size].T)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            fitted = copy(self._unfitted).fit(X, self._y[fold, :size], sample_weight=weights)
        return fitted.coef_, fitted.intercept_

    def _lbfgs(self, members: IntArray, fold: int) -> tuple[FloatArray, FloatArray] | None:
        """Take the steps that scikit-learn takes for two classes: the same coefficients up to rounding.

        None for other losses and several classes, and after 40 steps: too much rounding has added up by then.
        """
        plain = self._n_outputs == 2 and not self.hinge and not self.lengths
        if not plain or not (self._checks_itself or steps_alike()):
            return None
        k, options = len(members) + 1, self._unfitted
        theta, room = np.zeros(k), np.empty((2 * newton.SLOTS + 5, max(k, newton.SLOTS)))
        given = self._fit, fold, members, theta, np.empty((3, self._trains.shape[2])), room
        converged = newton.descend(*given, float(options.tol), min(options.max_iter, newton.MOST_STEPS))
        return (theta[None, 1:], theta[:1]) if converged else None

    def examine(self, members: IntArray, fold: int) -> tuple[FloatArray, float]:
        """Fit as scikit-learn does, as far as it does: its tolerance could make another member the least important."""
        fitted, score = self._fit_there(members, fold)
        return np.square(fitted).sum(axis=0), score

    def _predict(self, members: IntArray, added: IntArray, out: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Predict; return rows that are scikit-learn's to decide, and folds in which the fit converged."""
        sure = np.ones((len(added), self.folds.n_folds), dtype=bool)
        if self._n_outputs > 2 and not self.hinge:
            start = np.zeros((self.folds.n_folds, self._n_outputs, len(members) + 1))
            softmax.fit_members(members, self._fit, start)
            open_rows = np.zeros((len(added), self.folds.n_tests), dtype=bool)
            softmax.predict_one_more(members, added, self._rows, self._fit, self._slack, start, out, open_rows, sure)
            return open_rows, sure
        both = np.zeros((*out.shape[:2], self._n_outputs, 2))
        for c, (fit, slack) in self._stops(members, added).items():
            each = np.empty((*out.shape[:2], 2))
            newton.predict_one_more(members, added, self._rows, fit, slack, each, sure)
            both[:, :, c] = each
        out[:], reach = both[..., 1], both[..., 0]
        winner = out.argmax(axis=2)[..., None]
        least, most = np.take_along_axis(out - reach, winner, axis=2), out + reach
        np.put_along_axis(most, winner, -np.inf, axis=2)
        return np.asarray((most > least).any(axis=2)), sure

    def _stops(self, members: IntArray, added: IntArray) -> dict[int, tuple[Training, FloatArray]]:
        """Return the fit for each class, and the largest gradient in each fold at which scikit-learn's solver stops."""
        return {1: (self._fit, self._slack * self._totals)}


class LiblinearEngine(LogisticEngine):
    """Fitted to the end, where LIBLINEAR stops when the gradient has fallen to a share of that at zero.

    Folds in which that could change a class are left to it. Of several classes each is fitted against the others, and
    the largest decision wins.
    """

    def __init__(self, estimator: Any, folds: Folds, metric: EngineMetric) -> None:
        several = folds.problem.n_classes > 2
        if several and (not self.hinge or estimator.class_weight is not None):
            raise ValueError("several classes, with class_weight or absolute coefficients")
        super().__init__(estimator, folds, metric)
        self._fits = {}
        for c in range(self._n_outputs) if several else [1]:
            fit = self._fit._replace(y=(self._y == c).astype(np.float64))
            sides, share = fit.weights * (2.0 * fit.y - 1.0), fit.y.sum(axis=1) / fit.sizes
            pulls = np.abs(np.column_stack([np.einsum("fpt,ft->fp", self._trains, sides), sides.sum(axis=1)]))
            self._fits[c] = fit, pulls, self._slack * np.minimum(share, 1.0 - share)

    def _stops(self, members: IntArray, added: IntArray) -> dict[int, tuple[Training, FloatArray]]:
        return {
            c: (fit, share * self._size_of(pulls[:, -1:], pulls[:, members], pulls[:, added].max(axis=1)[:, None]))
            for c, (fit, pulls, share) in self._fits.items()
        }

    @abstractmethod
    def _size_of(self, *pulls: FloatArray) -> FloatArray:
        """Return the size of the gradient without any coefficient, of the largest subset, in each fold."""


class LinearSVCEngine(LiblinearEngine):
    """`LinearSVC`: the squared hinge."""

    hinge = True

    def _size_of(self, *pulls: FloatArray) -> FloatArray:
        return np.asarray(2.0 * np.linalg.norm(np.hstack(pulls), axis=1))


def linear_svc_engine(estimator: Any, folds: Folds, metric: EngineMetric) -> Engine:
    """Return the engine for a `LinearSVC` of two or of several classes."""
    if min(len(train) for train, _ in folds.splits) <= folds.problem.n_features:
        raise ValueError("fewer rows than columns, for which it takes another solver")
    return LinearSVCEngine(estimator, folds, metric)


class AbsoluteEngine(LiblinearEngine):
    """`LogisticRegression(l1_ratio=1, solver="liblinear")` of two classes: a price on absolute coefficients.

    LIBLINEAR stops where the sum of what is left of the gradient has fallen to a share of that at zero, and draws the
    order of its steps.
    """

    lengths = True

    def _size_of(self, *pulls: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(0.5 * np.hstack(pulls) - self._ridge, 0.0).sum(axis=1))


def logistic_engine(estimator: Any, folds: Folds, metric: EngineMetric) -> Engine:
    """Return the engine for the penalty and the solver of a `LogisticRegression`."""
    given = estimator.get_params(deep=False)
    penalty = given.get("penalty", "deprecated")
    kinds = {"l1": 1.0, "l2": 0.0, "deprecated": given["l1_ratio"] or 0.0}
    kind = kinds.get(penalty, -1.0)
    if (kind, given["solver"]) == (0.0, "lbfgs"):
        return LogisticEngine(estimator, folds, metric)
    if (kind, given["solver"], given["intercept_scaling"]) == (1.0, "liblinear", 1):
        return AbsoluteEngine(estimator, folds, metric)
    raise ValueError(f"solver={given['solver']!r} with this penalty is not covered")
