"""Candidates race fold by fold: one that has lost is not fitted again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fewer.problem import FloatArray, IntArray

# Standard errors behind the leader at which a candidate is given up. The leader is the best of many and is looked at
# after each fold: the candidate that all folds would have chosen was given up in 44 of 800 races of forests and
# boosting (5.5 %, `benchmarks/race_models.py`), and in 2 to 3 % of simulated ones.
FAR_BEHIND = 3.0
FIRST_FOLDS = 2
# Metrics whose best score is 1; also with an ending such as `_macro`.
BOUNDED_BY_ONE = (
    "accuracy", "average_precision", "balanced_accuracy", "d2_absolute_error_score", "explained_variance", "f1",
    "jaccard", "precision", "r2", "recall", "roc_auc", "top_k_accuracy", "matthews_corrcoef",
)  # fmt: skip


def ceiling_of(scoring: Any) -> float | None:
    """Return the best score that a metric can give, if it is known.

    Examples
    --------
    >>> ceiling_of("f1_macro"), ceiling_of("neg_log_loss"), ceiling_of(None), ceiling_of(max)
    (1.0, 0.0, 1.0, None)
    """
    if scoring is None:
        return 1.0
    if not isinstance(scoring, str):
        return None
    if scoring.startswith("neg_"):
        return 0.0
    return 1.0 if scoring.startswith(BOUNDED_BY_ONE) else None


def race(
    score: Callable[[int, int], float], n: int, n_folds: int, ceiling: float | None, order: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Score n candidates fold by fold; return the ones that ran to the end, in order, and their scores.

    Parameters
    ----------
    score : callable
        Gives the score of a candidate in a fold.
    n, n_folds : int
        Rows and folds.
    ceiling : float or None
        The best score that a fold can have: a candidate is given up once it cannot reach the best complete mean even so
        (one that can still tie is not). None: once it lies behind the leader by more than folds differ by chance.
    order : int array of shape (n_folds,), optional
        The folds, the hardest first: in these a candidate loses most of what it can reach.

    Returns
    -------
    places : int array of shape (m,)
    scores : array of shape (m, n_folds)
    """
    scores = np.full((n, n_folds), np.nan)
    running = np.ones(n, dtype=bool)
    folds = np.arange(n_folds) if order is None else order
    for i in range(n):
        scores[i, folds[0]] = score(i, int(folds[0]))
    if ceiling is not None:
        # The leader of the first fold runs to the end at once, so that there is something to beat.
        first = scores[:, folds[0]]
        leader = int(np.argmax(np.where(np.isnan(first), -np.inf, first)))
        for fold in folds[1:].tolist():
            scores[leader, fold] = score(leader, fold)
        if order is None:
            folds = np.concatenate([folds[:1], folds[1:][np.argsort(scores[leader, folds[1:]], kind="stable")]])
    for n_done, fold in enumerate(folds[1:].tolist(), start=2):
        for i in np.flatnonzero(running).tolist():
            if np.isnan(scores[i, fold]):
                scores[i, fold] = score(i, fold)
        if ceiling is not None:
            running &= _can_still_win(scores, folds[:n_done], ceiling)
        elif n_done >= FIRST_FOLDS and n_done < n_folds:
            running &= ~_far_behind(scores[:, folds[:n_done]], running, n_folds)
    places = np.flatnonzero(running)
    return places, scores[places]


def _can_still_win(scores: FloatArray, done: IntArray, ceiling: float) -> Any:
    whole = ~np.isnan(scores).any(axis=1)
    best = scores[whole].mean(axis=1).max(initial=-np.inf)
    n_folds = scores.shape[1]
    at_best = (scores[:, done].sum(axis=1) + ceiling * (n_folds - len(done))) / n_folds
    return ~(at_best < best - 1e-12)


def _far_behind(scores: FloatArray, running: Any, n_folds: int) -> Any:
    """Say which candidates lie behind the leader by more than the pooled spread of the folds' differences explains."""
    n_done = scores.shape[1]
    means = np.where(running, scores.mean(axis=1), -np.inf)
    leader = int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
    differences = scores[leader] - scores
    others = running.copy()
    others[leader] = False
    if not others.any():
        return np.zeros(len(scores), dtype=bool)
    spread = float(np.sqrt(np.nanmean(differences[others].var(axis=1, ddof=1))))
    # The folds to come are a part of the mean that counts: what is known already is known for good.
    error = spread * np.sqrt(1.0 / n_done - 1.0 / n_folds)
    return others & (differences.mean(axis=1) > FAR_BEHIND * error)
