"""What a GPU does for nearest neighbors: all subsets, and forward selection on many rows.

    python benchmarks/gpu.py            # a card and CuPy; writes benchmarks/GPU.md
    python benchmarks/gpu.py --cpu      # the rows that two cores can do, without a card

Each row is the median of three runs after one that compiles, except rows that take longer than ten seconds.
"""

import argparse
import json
import platform
import time
import warnings
from datetime import date
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

from fewer.contracts import Objective, Resources, SearchSpace
from fewer.criteria import KNN
from fewer.problem import Problem
from fewer.search import Exhaustive

HERE = Path(__file__).parent
CARD_RATE = 132 * 64 * 1.98e9
"""Fused add-minima a second that the counted limit allows: 64 a clock and multiprocessor on 132 of them."""


def timed(function, repeat=3):
    function()
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - began)
        if times[-1] > 10:
            break
    return float(np.median(times)), result


def wdbc(n_noise=0):
    X, y = load_breast_cancer(return_X_y=True)
    return np.column_stack([X, np.random.default_rng(6).normal(size=(len(X), n_noise))]), y


def sweep(X, y, cv, device, n_jobs, repeat=3, top=100):
    problem, space = Problem.from_arrays(X, y), SearchSpace.of(X.shape[1])

    def run():
        scorer = KNN(cv=cv).bind(problem, np.random.default_rng(0), Resources(n_jobs=n_jobs, device=device))
        return Exhaustive(top=top).run(Objective(scorer, space), space, np.random.default_rng(0))

    if repeat:
        return timed(run, repeat)
    began = time.perf_counter()
    trace = run()
    return time.perf_counter() - began, trace


def rows_of(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, p), dtype=np.float32).astype(np.float64)
    return X, (X[:, 0] + X[:, 1] > 1).astype(np.int64)


def step(n, device, n_jobs, cv=10):
    X, y = rows_of(n, 23)
    scorer = KNN(cv=cv).bind(
        Problem.from_arrays(X, y), np.random.default_rng(0), Resources(n_jobs=n_jobs, device=device)
    )
    mask = np.arange(23) < 3
    units = [np.array([f]) for f in range(3, 23)]
    return timed(lambda: scorer.flips(mask, units, np.ones(20, dtype=bool)))


def forward(n, device, n_jobs):
    X, y = rows_of(n, 50)
    scorer = KNN().bind(Problem.from_arrays(X, y), np.random.default_rng(0), Resources(n_jobs=n_jobs, device=device))
    began, chosen = time.perf_counter(), []
    while len(chosen) < 10:
        left = [f for f in range(50) if f not in chosen]
        mask = np.isin(np.arange(50), chosen)
        scores = scorer.flips(mask, [np.array([f]) for f in left], np.ones(len(left), dtype=bool))
        chosen.append(left[int(np.argmax(scores))])
    return time.perf_counter() - began, chosen


def measure(device, n_jobs, quick):
    found = {}
    (X, y), tell = wdbc(), lambda name, value: (found.__setitem__(name, value), print(name, value, flush=True))
    for cv in ("loo", 10):
        seconds, trace = sweep(X, y, cv, device, n_jobs)
        tell(
            f"best 100 of 2^30, WDBC, {cv}",
            {
                "s": seconds,
                "scores": trace.top_scores[[0, -1]].tolist(),
                "best": np.flatnonzero(trace.top_masks[0]).tolist(),
                "subsets_per_s": 2**30 / seconds,
            },
        )
        np.savez(Path(quick["out"]) / f"best_{cv}.npz", masks=trace.top_masks, scores=trace.top_scores)
    for n in (50_000, 200_000, 1_000_000):
        seconds, scores = step(n, device, n_jobs)
        tell(
            f"forward step, 20 candidates, {n} rows",
            {
                "s": seconds,
                "distances_per_s": 20 * n * n / seconds,
                "share_of_limit": 20 * n * n / seconds / CARD_RATE,
                "best": float(scores.max()),
            },
        )
    seconds, chosen = forward(200_000, device, n_jobs)
    tell("forward to 10 of 50, 200000 rows", {"s": seconds, "chosen": chosen})
    if quick["large"]:
        seconds, trace = sweep(*wdbc(6), "loo", device, n_jobs, repeat=0)
        tell(
            "best 100 of 2^36, WDBC and six noise columns (seed 6), loo",
            {
                "s": seconds,
                "scores": trace.top_scores[[0, -1]].tolist(),
                "best": np.flatnonzero(trace.top_masks[0]).tolist(),
            },
        )
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=str(HERE))
    parser.add_argument("--small", action="store_true", help="without 2^36")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    import cupy

    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    found = measure("cuda", 8, {"out": options.out, "large": not options.small})
    about = {"card": card, "cupy": cupy.__version__, "cuda": cupy.cuda.runtime.runtimeGetVersion(),
             "driver": cupy.cuda.runtime.driverGetVersion(), "python": platform.python_version(),
             "numpy": np.__version__, "date": date.today().isoformat()}  # fmt: skip
    Path(options.out, "gpu.json").write_text(json.dumps({"about": about, "rows": found}, indent=1))


if __name__ == "__main__":
    main()
