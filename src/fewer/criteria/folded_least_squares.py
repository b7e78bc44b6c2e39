"""A linear fit scored by k folds, from the folds' sums alone: no row is looked at twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Masks, PredictiveScorer
from fewer.criteria._rann import readable
from fewer.problem import FloatArray, InputError, IntArray, Problem
from fewer.statistics import GramSums

CHUNK_CELLS = 2_000_000
# A share of its own length below which what a fit leaves of an input is rounding; such changes are fitted anew.
SMALL_PIVOT = 1e-9


class FoldedLeastSquaresScorer(PredictiveScorer):
    """`LeastSquares` with k folds: R² of each fold's targets by the fit on the other folds.

    Everything comes from one Gram matrix for each fold: the fit on the other folds from the sum of theirs, the squared
    error on the fold from its own.

    Parameters
    ----------
    sums : GramSums
        Sums of products, kept for each fold.
    folds : list of int arrays
        Which folds of the sums make up each fold of the score.
    alpha : float
        Ridge for each row of the fit.
    problem : Problem, optional
        The rows with their folds, if they are in memory.
    forward : bool, default=False
        Folds are one after the other in time: each but the first is judged by the fit on those before it.
    """

    def __init__(
        self, sums: GramSums, folds: list[IntArray], alpha: float, problem: Problem | None = None,
        row_folds: IntArray | None = None, forward: bool = False,
    ) -> None:  # fmt: skip
        self._sums, self._problem, self._row_folds, self._alpha = sums, problem, row_folds, alpha
        self.system = sums.system(folds)
        self._h = 1 + sums.n_inputs
        parts = self.system.parts
        self._held = parts[1:] if forward else parts
        self._fit = parts[:-1].cumsum(axis=0) if forward else parts.sum(axis=0) - parts
        self._ridge = alpha * self._fit[:, 0, 0]
        whole = self._held.sum(axis=0)
        targets = slice(self._h, None)
        middle = whole[0, targets] / whole[0, 0]
        self._spread = float((np.diag(whole)[targets] - whole[0, 0] * middle**2).sum())

    @property
    def owner(self) -> IntArray:
        """The column of each input."""
        return self.system.owner

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks, those with equally many inputs together."""
        used = np.asarray(masks, dtype=bool)[:, self.owner]
        sizes = used.sum(axis=1)
        scores = np.empty(len(used))
        for size in np.unique(sizes):
            alike = np.flatnonzero(sizes == size)
            step = max(CHUNK_CELLS // (len(self._held) * (int(size) + 1) ** 2), 1)
            for batch in (alike[low : low + step] for low in range(0, len(alike), step)):
                columns = np.nonzero(used[batch])[1].reshape(len(batch), -1)
                scores[batch] = self._r2(self._lost(with_constant(columns)))
        return scores

    def _r2(self, lost: FloatArray) -> FloatArray:
        return np.asarray(1.0 - lost / self._spread if self._spread > 0 else -lost)

    def _lost(self, columns: IntArray) -> FloatArray:
        """Return the squared error of all folds for m lists of h places each."""
        beta = self._solve(columns)
        pairs = columns[:, None, :, None], columns[:, None, None, :]
        folds = np.arange(len(self._held))[None, :, None, None]
        held = self._held[folds, pairs[0], pairs[1]]
        targets = np.arange(self._h, self._held.shape[1])
        cross = self._held[folds, columns[:, None, :, None], targets[None, None, None, :]]
        whole = np.diagonal(self._held, axis1=1, axis2=2)[:, self._h :].sum()
        fitted = np.einsum("mkht,mkht->m", beta, held @ beta) - 2.0 * np.einsum("mkht,mkht->m", beta, cross)
        return np.asarray(whole + fitted)

    def _solve(self, columns: IntArray) -> FloatArray:
        """Return the coefficients (m, k, h, t) of the fit on the other folds."""
        folds = np.arange(len(self._fit))[None, :, None, None]
        gram = self._fit[folds, columns[:, None, :, None], columns[:, None, None, :]]
        gram = gram + self._ridge[None, :, None, None] * ridge_shape(columns.shape[1])
        targets = np.arange(self._h, self._fit.shape[1])
        moment = self._fit[folds, columns[:, None, :, None], targets[None, None, None, :]]
        return np.linalg.solve(gram, moment)

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit; those that add one input, from the fit before the change."""
        alone = np.bincount(self.owner, minlength=len(mask)) == 1
        inside = np.asarray(mask, dtype=bool)
        added = np.array([unit[0] if len(unit) == 1 and alone[unit[0]] else -1 for unit in units], dtype=np.int64)
        added[inside[added] | ~np.asarray(values, dtype=bool)] = -1
        scores = np.full(len(units), np.nan)
        one = np.flatnonzero(added >= 0)
        if len(one):
            scores[one] = self._score_added(inside, 1 + np.searchsorted(self.owner, added[one]))
        several = np.flatnonzero(np.isnan(scores))
        if len(several):
            scores[several] = super().flips(mask, [units[i] for i in several.tolist()], values[several])
        return scores

    def _score_added(self, inside: NDArray[np.bool_], new: IntArray) -> FloatArray:
        """Score the fit on some inputs with each of others added, by bordering; NaN where rounding would matter.

        With u what the fit makes of the new input, the coefficients move along (−u, 1), by what the fit leaves of
        the target along it over its squared length.
        """
        columns = with_constant(np.flatnonzero(inside[self.owner])[None])[0]
        beta = self._solve(columns[None])[0]
        lost = float(self._lost(columns[None])[0])
        change = np.zeros(len(new))
        unsure = np.zeros(len(new), dtype=bool)
        for k, (fit, held) in enumerate(zip(self._fit, self._held, strict=True)):
            gram = fit[np.ix_(columns, columns)] + self._ridge[k] * ridge_shape(len(columns))
            u = np.linalg.solve(gram, fit[np.ix_(columns, new)])
            length_alone = np.diag(fit)[new] + self._ridge[k]
            length = length_alone - np.einsum("hq,hq->q", fit[np.ix_(columns, new)], u)
            unsure |= length < SMALL_PIVOT * length_alone
            length = np.where(length > 0, length, 1.0)
            left = fit[new, self._h :] - fit[np.ix_(new, columns)] @ beta[k]
            gain = left / length[:, None]
            across = held[np.ix_(columns, new)]
            inner = held[np.ix_(columns, columns)]
            square = np.diag(held)[new] - 2.0 * np.einsum("hq,hq->q", u, across) + np.einsum("hq,hq->q", u, inner @ u)
            missed = held[columns, self._h :] - inner @ beta[k]
            slope = held[new, self._h :] - across.T @ beta[k] - u.T @ missed
            change += (gain**2).sum(axis=1) * square - 2.0 * (gain * slope).sum(axis=1)
        return np.where(unsure, np.nan, self._r2(lost + change))

    def coefficients(self, mask: Masks) -> FloatArray:
        """Return what `GramSums.base` is multiplied with to predict, from the fit on all folds: (n_base, n_targets)."""
        columns = with_constant(np.flatnonzero(np.asarray(mask, dtype=bool)[self.owner])[None])[0]
        return self._prediction(self.system.parts.sum(axis=0), columns)

    def _prediction(self, fit: FloatArray, columns: IntArray) -> FloatArray:
        gram = fit[np.ix_(columns, columns)] + self._alpha * fit[0, 0] * ridge_shape(len(columns))
        beta = np.linalg.solve(gram, fit[columns, self._h :])
        return np.asarray(self.system.change[columns].T @ beta)

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row from the other folds."""
        if self._problem is None or self._row_folds is None:
            raise InputError("Streamed rows cannot be predicted again; read the table into memory.")
        columns = with_constant(np.flatnonzero(np.asarray(mask, dtype=bool)[self.owner])[None])[0]
        base = self._sums.base(self._problem)
        answers = np.empty((self._problem.n_samples, self._sums.n_targets))
        for fold in range(len(self._held)):
            rows = self._row_folds == fold
            answers[rows] = base[rows] @ self._prediction(self._fit[fold], columns)
        return readable(answers, self._problem, self.system.y_mean)

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from a fit on all bound rows."""
        assert self._problem is not None
        like, y = self._problem, np.zeros(len(X), dtype=self._problem.y.dtype)
        rows = Problem(X, y, like.task, like.names, like.kinds, like.classes, like.levels)
        return readable(self._sums.base(rows) @ self.coefficients(mask), like, self.system.y_mean)


def with_constant(columns: IntArray) -> IntArray:
    """Turn (m, h) numbers of inputs into (m, 1 + h) places, the constant first."""
    return np.concatenate([np.zeros((len(columns), 1), dtype=np.int64), 1 + columns], axis=1)


def ridge_shape(n: int) -> FloatArray:
    """Return the identity with a 0 for the constant, which is not shrunk."""
    shape = np.eye(n)
    shape[0, 0] = 0.0
    return shape
