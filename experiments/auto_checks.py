"""What `auto` says of tables without signal, and of tables with a rare class.

    python experiments/auto_checks.py noise [--tables 25]
    python experiments/auto_checks.py imbalance [--splits 2]

Prints one line for each kind of table. The shared tables are looked for in the folder that FEWER_DATA names.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from peers_study_methods import models, prepared
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from fewer import AutoSelector
from fewer.datasets import load
from fewer.problem import Problem

SHAPES = ((60, 300), (300, 40))
RARE = {"segment": "sky", "satimage": 2, "wdbc": 1}
SHARE = 0.05


def noise(n_tables: int) -> None:
    """Count the tables of pure noise that are called so."""
    for task in ("classification", "regression"):
        for n, p in SHAPES:
            said, clock = 0, time.process_time()
            for seed in range(n_tables):
                rng = np.random.default_rng([7, seed, n])
                X = rng.normal(size=(n, p))
                y = np.arange(n) % 2 if task == "classification" else rng.normal(size=n)
                problem = Problem.from_arrays(X, y, task=task)
                said += AutoSelector(random_state=0, standins=False).fit_problem(problem).nothing_found_
            seconds = (time.process_time() - clock) / n_tables
            print(
                f"{task} {n} × {p}: nothing found in {said} of {n_tables}, {seconds:.1f} processor s each", flush=True
            )


def imbalance(n_splits: int) -> None:
    """Compare chosen with all features where one class has 5 % of the rows."""
    for name, label in RARE.items():
        data = load(name).problem
        rare = data.y == data.classes.index(label)
        for split in range(n_splits):
            rng = np.random.default_rng([11, split])
            others = rng.permutation(np.flatnonzero(~rare))[:570]
            few = rng.permutation(np.flatnonzero(rare))[: round(len(others) * SHARE / (1 - SHARE))]
            rows = rng.permutation(np.concatenate([others, few]))
            problem = Problem.from_arrays(data.X[rows], rare[rows].astype(int))
            half = np.zeros(len(rows), dtype=bool)
            for code in (0, 1):
                own = np.flatnonzero(problem.y == code)
                half[own[: round(0.6 * len(own))]] = True
            train, test = problem.take(half), problem.take(~half)
            selector = AutoSelector(random_state=0, standins=False).fit_problem(train)
            told = [f"{name}, split {split}: {int(selector.support_.sum())} of {problem.n_features}"]
            for what, mask in (("chosen", selector.support_), ("all", np.ones(problem.n_features, dtype=bool))):
                scores = []
                for model in models("classification").values():
                    fitted = prepared(train, np.flatnonzero(mask), model).fit(train.X[:, mask], train.y)
                    outputs = fitted.predict_proba(test.X[:, mask])
                    scores.append([
                        balanced_accuracy_score(test.y, outputs.argmax(axis=1)),
                        roc_auc_score(test.y, outputs[:, 1]),
                    ])  # fmt: skip
                mean = 100 * np.mean(scores, axis=0)
                told.append(f"{what}: balanced accuracy {mean[0]:.1f}, AUC {mean[1]:.1f}")
            print("; ".join(told), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["noise", "imbalance"])
    parser.add_argument("--tables", type=int, default=25)
    parser.add_argument("--splits", type=int, default=2)
    asked = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noise(asked.tables) if asked.what == "noise" else imbalance(asked.splits)
