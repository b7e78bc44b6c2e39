"""What a GPU does for nearest neighbors: all subsets, and forward selection on many rows.

    python benchmarks/gpu.py                          # a card and CuPy; writes benchmarks/gpu.json and GPU.md
    python benchmarks/gpu.py subsets --device cpu     # all subsets on two cores, beside it

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


def subsets(device, n_jobs, n_noise=0, repeat=3):
    for cv in ("loo",) if n_noise else ("loo", 10):
        X, y = wdbc(n_noise)
        seconds, trace = sweep(X, y, cv, device, n_jobs, repeat)
        yield (
            f"best 100 of 2^{X.shape[1]} subsets, cv={cv}",
            {
                "s": seconds,
                "per_s": 2 ** X.shape[1] / seconds,
                "scores": trace.top_scores[[0, -1]].tolist(),
                "best": np.flatnonzero(trace.top_masks[0]).tolist(),
            },
        )


def steps(device, n_jobs):
    for n in (50_000, 200_000, 1_000_000):
        seconds, scores = step(n, device, n_jobs)
        rate = 20 * n * n / seconds
        found = {"s": seconds, "per_s": rate, "share_of_limit": rate / CARD_RATE, "best": float(scores.max())}
        yield f"forward step, 20 candidates, {n:,} rows", found


def selection(device, n_jobs):
    seconds, chosen = forward(200_000, device, n_jobs)
    yield "forward selection, 10 of 50 columns, 200,000 rows", {"s": seconds, "chosen": chosen}


def large(device, n_jobs):
    yield from subsets(device, n_jobs, n_noise=6, repeat=0)


GROUPS = {"subsets": subsets, "steps": steps, "selection": selection, "large": large}


def about(device):
    machine = {"python": platform.python_version(), "numpy": np.__version__, "date": date.today().isoformat()}
    if device == "cpu":
        return {"card": "two cores", **machine}
    import cupy

    runtime = cupy.cuda.runtime
    card = runtime.getDeviceProperties(0)["name"].decode()
    return {"card": card, "cupy": cupy.__version__, "cuda": runtime.runtimeGetVersion(), **machine}


HEAD = """# Nearest neighbors on a GPU

Written by `python benchmarks/gpu.py` (one neighbor, classes; WDBC is the Wisconsin data, 569 rows, 30 columns;
2^36: with six noise columns, seed 6). Each row is the median of three runs after one that compiles, except those
over ten seconds; times are wall-clock and include everything but reading the table.
On tables of up to 1,500 rows, and for the 100 best of 2^30 subsets, answers equal the CPU's to the bit
(`make test-cuda`); the larger rows below were compared with nothing.
The limit counts one fused add-minimum a distance and subset, 64 a clock on each of 132 multiprocessors.

| what | where | seconds | distances or subsets a second | share of the limit |
| --- | --- | ---: | ---: | ---: |"""


def page(kept):
    lines = [HEAD]
    for where, part in kept.items():
        for name, row in part["rows"].items():
            rate = f"{row['per_s']:.3g}" if "per_s" in row else ""
            share = f"{row['share_of_limit']:.0%}" if "share_of_limit" in row and where == "cuda" else ""
            lines.append(f"| {name} | {part['about']['card']} | {row['s']:.3g} | {rate} | {share} |")
    lines += ["", *(f"{where}: {part['about']}" for where, part in kept.items())]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", default=list(GROUPS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = options.out / "gpu.json"
    kept = json.loads(store.read_text()) if store.exists() else {}
    part = kept.setdefault(options.device, {"rows": {}})
    part["about"] = about(options.device)
    for group in options.groups:
        for name, row in GROUPS[group](options.device, options.n_jobs):
            print(name, row, flush=True)
            part["rows"][name] = row
            store.write_text(json.dumps(kept, indent=1) + "\n")
            (options.out / "GPU.md").write_text(page(kept))


if __name__ == "__main__":
    main()
