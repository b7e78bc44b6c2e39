"""Candidates race fold by fold: one that has lost is not fitted again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fewer.problem import FloatArray, IntArray

FAR_BEHIND = 3.0
"""Standard errors behind the leader at which a candidate is given up. The leader is the best of many and is looked at
after each fold: the candidate that all folds would have chosen was given up in 44 of 800 races of forests and boosting
(5.5 %, `benchmarks/race_models.py`), and in 2 to 3 % of simulated ones."""
FIRST_FOLDS = 2
BOUNDED_BY_ONE = (
    "accuracy", "average_precision", "balanced_accuracy", "d2_absolute_error_score", "explained_variance", "f1",
    "jaccard", "precision", "r2", "recall", "roc_auc", "top_k_accuracy", "matthews_corrcoef",
)  # fmt: skip
"""Metrics whose best score is 1; also with an ending such as `_macro`."""


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
    score: Callable[[int, int], float], n: int, n_folds: int, ceiling: float | None
) -> tuple[IntArray, FloatArray]:
    """Score n candidates fold by fold; return those that ran to the end, in order, and their means.

    Parameters
    ----------
    score : callable
        Gives the score of a candidate in a fold.
    n, n_folds : int
    ceiling : float or None
        The best score that a fold can have: a candidate is given up once it cannot reach the best complete mean even so
        (one that can still tie is not). None: once it lies behind the leader by more than folds differ by chance.
    """
    scores = np.full((n, n_folds), np.nan)
    running = np.ones(n, dtype=bool)
    for i in range(n):
        scores[i, 0] = score(i, 0)
    if ceiling is not None:
        # The leader of the first fold runs to the end at once, so that there is something to beat.
        leader = int(np.argmax(np.where(np.isnan(scores[:, 0]), -np.inf, scores[:, 0])))
        for fold in range(1, n_folds):
            scores[leader, fold] = score(leader, fold)
    for fold in range(1, n_folds):
        for i in np.flatnonzero(running).tolist():
            if np.isnan(scores[i, fold]):
                scores[i, fold] = score(i, fold)
        if ceiling is not None:
            running &= _can_still_win(scores, fold + 1, ceiling)
        elif fold + 1 >= FIRST_FOLDS and fold + 1 < n_folds:
            running &= ~_far_behind(scores[:, : fold + 1], running, n_folds)
    places = np.flatnonzero(running)
    return places, scores[places].mean(axis=1)


def _can_still_win(scores: FloatArray, n_done: int, ceiling: float) -> Any:
    whole = ~np.isnan(scores).any(axis=1)
    best = scores[whole].mean(axis=1).max(initial=-np.inf)
    n_folds = scores.shape[1]
    at_best = (scores[:, :n_done].sum(axis=1) + ceiling * (n_folds - n_done)) / n_folds
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
