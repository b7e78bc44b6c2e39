"""Do Ray and Spark give the serial answer, and what if a worker is killed?

make clusters

A comparison and early stopping on each of joblib's backends must equal serial ones. Then a worker kills itself in the
middle of a selection: the run must end within a minute, with one line, and go on from its folder to the serial answer.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer import evaluate
from fewer.control import EarlyStopping
from fewer.criteria import KNN, CrossValidated
from fewer.errors import InputError
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


class Mortal(DecisionTreeClassifier):
    """A tree that kills the process in which it is fitted for the twentieth time, unless that is its home."""

    def __init__(self, max_depth=2, home=0, counter=""):
        super().__init__(max_depth=max_depth)
        self.home = home
        self.counter = counter

    def fit(self, X, y):
        if os.getpid() != self.home:
            file = os.open(self.counter, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
            os.write(file, b".")
            n_fits = os.lseek(file, 0, os.SEEK_CUR)
            os.close(file)
            if n_fits == 20:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


def mortal_run(X, y, counter: Path, **where):
    criterion = CrossValidated(Mortal(home=os.getpid(), counter=str(counter)), cv=3)
    found = fewer.select(X, y, criterion=criterion, search="forward", cv=3, random_state=0, **where)
    return found.features, found.score_search, found.score_heldout


class HangsError(Exception):
    """A run did not end."""


def _give_up(*_):
    raise HangsError


def killed(backend: str, X, y) -> tuple[bool, str]:
    """Lose a worker in the middle of a selection, and go on."""
    with tempfile.TemporaryDirectory() as name:
        counter, run = Path(name) / "counter", Path(name) / "run"
        serial = mortal_run(X, y, counter)
        signal.signal(signal.SIGALRM, _give_up)
        signal.alarm(600)
        try:
            with joblib.parallel_config(backend=backend):
                mortal_run(X, y, counter, n_jobs=2, resume_dir=run)
            return False, "was not told of the killed worker"
        except InputError as error:
            seconds, line = time.time() - counter.stat().st_mtime, str(error)
        except HangsError:
            return False, "HANGS after the killed worker"
        finally:
            signal.alarm(0)
        same = mortal_run(X, y, counter, resume_dir=run) == serial
        told = f"ends {seconds:.1f} s later with {line.count(chr(10)) + 1} line; --resume"
        return same and seconds < 60 and chr(10) not in line, f"{told} {'equals serial' if same else 'DIFFERS'}"


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
    parser.add_argument("--killed", action="store_true", help="only the run whose worker is killed")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=90) > 0).astype(int)
    works = () if asked.killed else (compare, early_stopping)
    serial = {work.__name__: work(X, y) for work in works}
    failures = 0
    for backend in asked.backends:
        register(backend)
        for work in works:
            began = time.perf_counter()
            with joblib.parallel_config(backend=backend):
                same = work(X, y) == serial[work.__name__]
            told = "equals serial" if same else "DIFFERS"
            print(f"{backend:6} {work.__name__:15} {told} {time.perf_counter() - began:6.1f} s", flush=True)
            failures += not same
        good, told = killed(backend, X, y)
        print(f"{backend:6} {'killed worker':15} {told}", flush=True)
        failures += not good
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
