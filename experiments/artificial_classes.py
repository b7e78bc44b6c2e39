"""How many classes has Loughrey's artificial set? The thesis says two; its accuracies are low for that.

`python experiments/artificial_classes.py [DRAWS]` draws sets of WEKA's kind of generator (200 rows, 100 binary columns,
50 of them irrelevant) with two, three and four classes, and runs four of the thesis's methods on each as it did. The
number of classes is chosen by plain annealing; the other methods judge the choice.
"""

import sys

import numpy as np

from fewer.datasets import make_rdg1
from fewer.io import to_problem
from fewer.validate import assign_folds
from fewer_papers import Rerun, read_printed
from fewer_papers._loughrey_work import Effort, all_folds, filter_fold, search_for

METHODS = ("SA", "FS", "BE", "IG_top_half")


def accuracies(n_classes, seed):
    """Training and test accuracy of each method on one drawn set, in percent."""
    run = Rerun(seed=seed)
    X, y, _ = make_rdg1(n_classes=n_classes, random_state=seed)
    problem = to_problem(X, y, task="classification")
    folds = assign_folds(problem, 10, np.random.default_rng(seed))
    found = {}
    for method in METHODS:
        if method == "IG_top_half":
            records = [filter_fold(problem, folds, fold) for fold in range(10)]
        else:
            records = all_folds(run, problem, folds, search_for(method, Effort()), seed=seed, curves=False)
        right = np.concatenate([record["right"] for record in records])
        found[method] = 100 * np.mean([record["train"] for record in records]), 100 * right.mean()
    return found


def printed(method, metric):
    """The first printed accuracy of a method on the set."""
    rows = [r for r in read_printed("loughrey")["rows"] if r.get("dataset") == "artificial" and r.get("w") in (None, 1)]
    return next((r["value"] for r in rows if r["method"] == method and r["metric"] == metric), np.nan)


def main():
    """Print a table: rows are methods, columns numbers of classes."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    found = {n: [accuracies(n, seed) for seed in range(draws)] for n in (2, 3, 4)}
    print("| method | printed | two classes | three | four |\n|---|---|---|---|---|")
    for method in METHODS:
        cells = []
        for n in found:
            pairs = np.array([draw[method] for draw in found[n]])
            cells.append(
                " / ".join(f"{m:.1f} ± {s:.1f}" for m, s in zip(pairs.mean(0), pairs.std(0, ddof=1), strict=True))
            )
        told = " / ".join(
            f"{printed(method, metric):g}".replace("nan", "–") for metric in ("train_accuracy_pct", "test_accuracy_pct")
        )
        print(f"| {method} | {told} | {' | '.join(cells)} |", flush=True)


main()
