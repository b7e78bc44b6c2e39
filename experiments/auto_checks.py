"""What `auto` says of tables without signal, of a rare class, of seven named tables, of the demo; how long it takes.

    python experiments/auto_checks.py noise [--tables 25]
    python experiments/auto_checks.py imbalance [--splits 2]
    python experiments/auto_checks.py named [--splits 2]
    python experiments/auto_checks.py returns
    python experiments/auto_checks.py speed [--shape 569 30]

Prints one line for each table; `auto_checks.md` keeps what was printed. The shared tables are looked for in the folder
that FEWER_DATA names.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np
from peers_study import judged
from peers_study_methods import models, prepared
from peers_study_problems import DESIGN, split, table
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import fewer
from fewer import AutoSelector
from fewer.api import select_problem
from fewer.datasets import load
from fewer.problem import Problem

SHAPES = ((60, 300), (300, 40))
RARE = {"segment": "sky", "satimage": 2, "wdbc": 1}
SHARE = 0.05
NAMED = ("wdbc", "sonar", "glass", "spectf", "satimage", "madelon", "colon")
SIZES = ((569, 30), (60, 5_000), (100_000, 20), (300, 200_000))


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
        data, gains = load(name).problem, []
        rare = data.y == data.classes.index(label)
        for number in range(n_splits):
            rng = np.random.default_rng([11, number])
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
            told, means = [f"{name}, split {number}: {int(selector.support_.sum())} of {problem.n_features}"], []
            for what, mask in (("chosen", selector.support_), ("all", np.ones(problem.n_features, dtype=bool))):
                scores = []
                for model in models("classification").values():
                    fitted = prepared(train, np.flatnonzero(mask), model).fit(train.X[:, mask], train.y)
                    outputs = fitted.predict_proba(test.X[:, mask])
                    scores.append([
                        balanced_accuracy_score(test.y, outputs.argmax(axis=1)),
                        roc_auc_score(test.y, outputs[:, 1]),
                    ])  # fmt: skip
                means.append(100 * np.mean(scores, axis=0))
                told.append(f"{what}: balanced accuracy {means[-1][0]:.1f}, AUC {means[-1][1]:.1f}")
            gains.append(means[0] - means[1])
            print("; ".join(told), flush=True)
        mean = np.mean(gains, axis=0)
        print(f"{name}: balanced accuracy {mean[0]:+.1f}, AUC {mean[1]:+.1f} against all features", flush=True)


def named(n_splits: int) -> None:
    """Judge what is chosen on seven tables as the study does, for each preference."""
    limits = {key: DESIGN[key] for key in ("train_rows", "test_rows")}
    for name in NAMED:
        problem, told = table(name, "classification", DESIGN["most_columns"]), {}
        for number in range(n_splits):
            train, test = split(problem, number, limits)
            selector = AutoSelector(random_state=0, standins=False).fit_problem(problem.take(train))
            masks = {"all": np.ones(problem.n_features, dtype=bool), **selector.choices_}
            for what, mask in masks.items():
                scores = judged(problem, train, test, mask)
                told.setdefault(what, []).append((np.mean(list(scores.values())), mask.sum()))
        means = {what: np.mean(pairs, axis=0) for what, pairs in told.items()}
        print(name, *(f"{what} {mean[0]:.1f} ({mean[1]:.0f})" for what, mean in means.items()), sep="; ", flush=True)


def returns() -> None:
    """Tell how often what is chosen on the demo's table comes back in repetitions: alone (or a stand-in)."""
    problem = load("wdbc").problem
    for seed in range(3):
        selection = select_problem(problem, random_state=seed)
        told = []
        for name in selection.features:
            alone = selection.frequency.get(name, 0.0)
            told.append(f"{name} {alone:.0%} ({selection.stability.get('returns', {}).get(name, alone):.0%})")
        index, merged = (selection.stability.get(key) for key in ("index", "with_stand_ins"))
        print(f"seed {seed}, stability {index} ({merged}): {', '.join(told)}", flush=True)


def speed(shapes: tuple[tuple[int, int], ...]) -> None:
    """Measure the processor seconds and the peak memory of one answer with its five folds, one shape a process."""
    for n, p in shapes:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, p))
        y = (X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=n) > 0).astype(int)
        fewer.select(X[:60, :10], y[:60], random_state=0)  # compiles
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        clock = time.process_time()
        selection = fewer.select(X, y, random_state=0)
        seconds = time.process_time() - clock
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / X.nbytes
        print(
            f"{n:,} × {p:,}: {seconds:.1f} processor s, peak memory grew by {grown:.2f} times the table, "
            f"{len(selection.features)} features", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["noise", "imbalance", "named", "returns", "speed"])
    parser.add_argument("--tables", type=int, default=25)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--shape", type=int, nargs=2, metavar=("ROWS", "COLUMNS"))
    asked = parser.parse_args()
    checks = {
        "noise": lambda: noise(asked.tables),
        "imbalance": lambda: imbalance(asked.splits),
        "named": lambda: named(asked.splits),
        "returns": returns,
        "speed": lambda: speed((tuple(asked.shape),) if asked.shape else SIZES),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks[asked.what]()
