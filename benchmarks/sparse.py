"""Univariate tests of a sparse table beside scikit-learn's: time, and memory beside the table.

python benchmarks/sparse.py
"""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
from scipy import sparse
from sklearn.feature_selection import chi2, f_classif

from fewer import RankSelector
from fewer.contracts import Resources
from fewer.io import to_problem
from fewer.rankers import MRMR, Chi2, Fisher, FTest


def measured(work) -> tuple[float, float]:
    work()
    times = []
    for _ in range(5):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return float(np.median(times)), peak


def main() -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((2000, 20_000), density=0.01, rng=rng, format="csr")
    y = rng.integers(0, 2, 2000)
    problem = to_problem(X, y)
    rows = {
        "scikit-learn f_classif": lambda: f_classif(X, y),
        "scikit-learn chi2": lambda: chi2(X, y),
        "Fisher": lambda: Fisher().rank(problem, rng, Resources()),
        "FTest": lambda: FTest().rank(problem, rng, Resources()),
        "Chi2": lambda: Chi2().rank(problem, rng, Resources()),
        "MRMR(n_ranked=10)": lambda: MRMR(n_ranked=10).rank(problem, rng, Resources()),
        "RankSelector(Fisher()).fit": lambda: RankSelector(Fisher(), n_features_to_select=9).fit(X, y),
    }
    for name, work in rows.items():
        seconds, peak = measured(work)
        print(f"{name:28} {1000 * seconds:9.1f} ms of processor time {peak:8.1f} MB")


if __name__ == "__main__":
    main()
