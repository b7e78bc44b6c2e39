"""Benchmark rows of classifiability: one forward step against scikit-learn's neighbors, subset by subset.

`python benchmarks/rows_dong_kothari.py` prints them as JSON lines. Both sides use one thread and processor time.
"""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
from numba import njit
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from fewer.contracts import Resources
from fewer.criteria import Classifiability
from fewer.problem import Problem

Row = dict[str, Any]
CHOSEN, FEATURES = 4, 60


def table(n: int) -> Problem:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, FEATURES))
    X[:, :3] += y[:, None]
    return Problem.from_arrays(X, y)


def ours(problem: Problem) -> tuple[np.ndarray, float]:
    """Score all subsets of one forward step; seconds a subset."""
    scorer = Classifiability().bind(problem, np.random.default_rng(0), Resources())
    mask = np.arange(FEATURES) < CHOSEN
    units = [np.array([i]) for i in range(CHOSEN, FEATURES)]
    scorer.flips(mask, units[:1], np.ones(1))
    began = time.process_time()
    scores = scorer.flips(mask, units, np.ones(len(units)))
    return scores, (time.process_time() - began) / len(units)


def theirs(problem: Problem, n_subsets: int) -> tuple[np.ndarray, float]:
    """The same question to scikit-learn: nearest distances for the radius, then all rows within it."""
    X, scores = problem.X / np.ptp(problem.X, axis=0), []
    with threadpool_limits(1):
        began = time.process_time()
        for feature in range(CHOSEN, CHOSEN + n_subsets):
            Z = X[:, [*range(CHOSEN), feature]]
            near = NearestNeighbors(n_neighbors=2, n_jobs=1).fit(Z)
            radius = 3 * np.sqrt((near.kneighbors(Z)[0][:, 1] ** 2).mean())
            balls = near.radius_neighbors(Z, radius, return_distance=False)
            size = np.array([len(ball) for ball in balls])
            same = np.array([(problem.y[ball] == c).sum() for ball, c in zip(balls, problem.y, strict=True)])
            scores.append((2 * same - size).sum() / size.sum())
        seconds = (time.process_time() - began) / n_subsets
    return np.array(scores), seconds


@njit  # type: ignore[untyped-decorator]
def plain_pass(d: np.ndarray, t: np.ndarray, limit: float) -> int:
    count = 0
    for j in range(d.shape[0]):
        count += d[j] + t[j] <= limit
    return count


def rate() -> float:
    """Return distances a second that one plain pass (add, compare, count) takes in cache."""
    d, t = np.random.default_rng(0).random((2, 2000))
    plain_pass(d, t, 1.0)
    began = time.process_time()
    for _ in range(20_000):
        plain_pass(d, t, 1.0)
    return 20_000 * 2000 / (time.process_time() - began)


def main() -> None:
    plain, seconds = rate(), []
    sizes = (200, 1000, 5000)
    for n in sizes:
        problem = table(n)
        scores, fast = ours(problem)
        truth, slow = theirs(problem, 10 if n < 5000 else 3)
        seconds.append(fast)
        row: Row = {
            "name": f"classifiability, one forward step from {CHOSEN} of {FEATURES} features, {n:,} rows",
            "unit": "s a subset",
            "ours_s": fast,
            "peers_s": {"scikit-learn": slow},
            "times_faster": {"scikit-learn": round(slow / fast, 1)},
            "alike": bool(np.abs(scores[: len(truth)] - truth).max() < 1e-9),
            "share_of_limit": 2 * n * n / plain / fast,
            "notes": [f"{1 / fast:,.0f} subsets a second; limit: two plain passes over n² distances, in cache"],
        }
        print(json.dumps(row, ensure_ascii=False), flush=True)
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    print(json.dumps({"name": "classifiability, growth", "notes": [f"time against n: exponent {slope:.2f}"]}))


if __name__ == "__main__":
    main()
