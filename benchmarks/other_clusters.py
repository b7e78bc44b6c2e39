"""Do Ray and Spark give the serial answer? A comparison and early stopping on each of joblib's backends.

make clusters
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings

import joblib
import numpy as np

import fewer
from fewer import evaluate
from fewer.control import EarlyStopping
from fewer.criteria import KNN
from fewer.problem import Problem
from fewer.search import Annealing, Forward


def compare(X, y):
    comparison = evaluate.compare(
        Problem.from_arrays(X, y), {"knn": fewer.SubsetSelector(KNN(), Forward())}, cv=3, n_jobs=2
    )
    return [(row.name, row.estimator, row.score) for row in comparison.methods]


def early_stopping(X, y):
    search = Annealing(levels=8, answer="final")
    selector = fewer.SubsetSelector(KNN(), search, control=EarlyStopping(cv=3), n_jobs=2, random_state=0).fit(X, y)
    return selector.trace_.best.tolist(), selector.trace_.best_score


def register(backend: str) -> None:
    if backend == "ray":
        import ray
        from ray.util.joblib import register_ray

        ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
        register_ray()
    else:
        from joblibspark import register_spark

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        register_spark()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backends", nargs="+", choices=["ray", "spark"])
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=90) > 0).astype(int)
    serial = {work.__name__: work(X, y) for work in (compare, early_stopping)}
    for backend in parser.parse_args().backends:
        register(backend)
        for work in (compare, early_stopping):
            began = time.perf_counter()
            with joblib.parallel_config(backend=backend):
                same = work(X, y) == serial[work.__name__]
            told = "equals serial" if same else "DIFFERS"
            print(f"{backend:6} {work.__name__:15} {told} {time.perf_counter() - began:6.1f} s")


if __name__ == "__main__":
    main()
