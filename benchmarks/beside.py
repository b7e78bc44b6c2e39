"""Our part of the rows of `make bench` by this code and by another, in turns: `python benchmarks/beside.py OTHER/src`.

Each code works in a process of its own, in one thread, through public names alone. Times are seconds of the processor,
of the shortest of several turns. Lines are JSON: what was done, both times, and what part of the other's time this
code takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TURNS = 5
LEAST = 0.2  # seconds of a turn at least: short jobs are repeated in it
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def jobs() -> dict[str, Callable[[], Any]]:
    """Return what is timed, by name."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler, minmax_scale

    import fewer
    from fewer.criteria import KNN, CrossValidated, GammaTest, LeastSquares
    from fewer.search import PBIL, Annealing, Exhaustive, Forward

    def fit(criterion: Any, X: Any, y: Any, search: Any, size: Any = "auto") -> Callable[[], Any]:
        selector = fewer.SubsetSelector(criterion, search, n_features_to_select=size, random_state=0, n_jobs=1)
        return lambda: selector.fit(X, y)

    def folds(y: Any) -> Any:
        return list(StratifiedKFold(10, shuffle=True, random_state=0).split(y, y))

    def neighbors(y: Any, k: int = 1) -> Any:
        return KNN(k, cv=folds(y), voting="neighbors", scaling="none")

    rng = np.random.default_rng(0)
    X, y = load_breast_cancer(return_X_y=True)
    Z = minmax_scale(X)
    narrow = rng.random((208, 60))
    of_narrow = (narrow[:, :5].sum(axis=1) + 0.3 * rng.normal(size=208) > 2.5).astype(int)
    many = rng.random((1000, 60))
    of_many = (many[:, :8].sum(axis=1) + 0.5 * rng.normal(size=1000) > 4).astype(int)
    wide, of_wide, long = rng.normal(size=(60, 5000)), np.arange(60) % 2, rng.normal(size=(50_000, 20))
    found = {
        "all subsets, 569 × 15, 1-NN": fit(neighbors(y), Z[:, :15], y, Exhaustive()),
        "all subsets, 569 × 15, 5-NN": fit(neighbors(y, 5), Z[:, :15], y, Exhaustive()),
        "forward, 569 × 30, 1-NN": fit(neighbors(y), Z, y, Forward()),
        "forward, 208 × 60, 1-NN": fit(neighbors(of_narrow), narrow, of_narrow, Forward()),
        "annealing, 208 × 60, 1-NN": fit(neighbors(of_narrow), narrow, of_narrow, Annealing(levels=81)),
        "many masks (PBIL), 1,000 × 60, 1-NN": fit(neighbors(of_many), many, of_many, PBIL()),
        "forward, 20 steps, 60 × 5,000, 1-NN": fit(neighbors(of_wide), wide, of_wide, Forward(), 20),
        "one step, 50,000 × 20, 1-NN": fit(neighbors(long[:, 0] > 0), long, (long[:, 0] > 0).astype(int), Forward(), 1),
        "Gamma Test, all subsets, 569 × 12": fit(GammaTest(50), Z[:, :12], y, Exhaustive()),
    }
    for n, p, common in ((500, 1000, 0.0), (500, 1000, 2.0), (300, 3000, 0.0), (300, 3000, 2.0)):
        A = rng.normal(size=(n, p)) + common * rng.normal(size=(n, 1))
        b = A[:, :5].sum(axis=1) + 2 * rng.normal(size=n)
        found[f"least squares, {n} × {p}{', correlated' * bool(common)}"] = fit(LeastSquares(), A, b, Forward(), 10)
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    models = (GaussianNB(), Ridge(), RidgeClassifier(), LinearDiscriminantAnalysis(), logistic, KNeighborsClassifier())
    for model in models:
        for A, b, size in ((X, y, "569 × 30"), (narrow, of_narrow, "208 × 60")):
            goal = b + 0.01 * A[:, 0] if isinstance(model, Ridge) else b
            name = type(getattr(model, "steps", [("", model)])[-1][1]).__name__
            found[f"{name}, {size}"] = fit(CrossValidated(model, cv=folds(b)), A, goal, Forward(), 10)
    for kind in (RandomForestClassifier, GradientBoostingClassifier):
        for race in (None, "exact", "statistical"):
            raced = CrossValidated(kind(n_estimators=10, random_state=0), cv=folds(y), race=race)
            found[f"{kind.__name__} of 10 trees, 569 × 30, race={race}"] = fit(raced, X, y, Forward(), 4)
    return found


def work() -> None:
    """Time jobs, by names on standard input; the first line says which there are."""
    known = jobs()
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        job, runs, began = known[line.rstrip("\n")], 0, time.process_time()
        while time.process_time() - began < LEAST:
            job()
            runs += 1
        print((time.process_time() - began) / runs, flush=True)


def main() -> None:
    ours = Path(__file__).parents[1] / "src"
    wanted = sys.argv[2:]
    workers = []
    for source in (ours, Path(sys.argv[1]).resolve()):
        environment = os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": str(source)}
        command = [sys.executable, "-W", "ignore", __file__, "--work"]
        workers.append(subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environment))
    names, _ = (json.loads(worker.stdout.readline()) for worker in workers)  # type: ignore[union-attr]
    for name in [name for name in names if not wanted or any(word in name for word in wanted)]:
        times: list[list[float]] = [[], []]
        for _ in range(TURNS + 1):
            for worker, seconds in zip(workers, times, strict=True):
                print(name, file=worker.stdin, flush=True)
                seconds.append(float(worker.stdout.readline()))  # type: ignore[union-attr]
        this, other = (min(seconds[1:]) for seconds in times)
        print(
            json.dumps(
                {"job": name, "this": this, "other": other, "ratio": round(this / other, 3)}, ensure_ascii=False
            ),
            flush=True,
        )
    for worker in workers:
        worker.communicate()


if __name__ == "__main__":
    work() if sys.argv[1] == "--work" else main()
