"""Why do Nel's columns of nearest neighbors lie above ours together? Readings of what the thesis leaves open.

`python experiments/nel_levels.py [SET ...]` prints, for each set and reading, our mean less the printed one over the
subsets that can be read, for the leave-one-out and for the test column, and how far two draws of ten splits move such a
mean (two standard errors of a difference). All subsets of a set share ten splits, so a shift is one number, not many.
"""

import sys

import numpy as np

from fewer_papers import Rerun
from fewer_papers._nel import records
from fewer_papers._nel_work import problem_of, to_mask

ODD = tuple(range(1, 12, 2))
READINGS = {
    "of record: 2/3, k = 1, 3, …, 11": (2 / 3, ODD, ""),
    "4/5 of the rows": (0.8, ODD, ""),
    "9/10 of the rows": (0.9, ODD, ""),
    "k to 5": (2 / 3, (1, 3, 5), ""),
    "k to 21": (2 / 3, tuple(range(1, 22, 2)), ""),
    "k to 31": (2 / 3, tuple(range(1, 32, 2)), ""),
    "k to 51": (2 / 3, tuple(range(1, 52, 2)), ""),
    "even k too": (2 / 3, tuple(range(1, 12)), ""),
    "scaled by training rows": (2 / 3, ODD, "range"),
    "z-scores": (2 / 3, ODD, "z"),
}
SETS = ("PIMA", "WDBC", "LIVER", "WDBC1", "WDBC2", "ION")
TABLES = ("7.6", "7.8", "7.10", "7.12", "7.14")


def accuracies(X, y, train, test, counts, scaling):
    """Leave-one-out accuracy at the best k, and test accuracy with it, by plain sorting."""
    if scaling == "range":
        low, high = X[train].min(axis=0), X[train].max(axis=0)
        X = (X - low) / np.where(high > low, high - low, 1)
    if scaling == "z":
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    norms = (X**2).sum(axis=1)
    squares = norms[:, None] + norms[train] - 2 * X @ X[train].T
    own = squares[train]
    np.fill_diagonal(own, np.inf)
    shares = []
    for rows, near in ((train, own), (test, squares[test])):
        nearest = np.argsort(near, axis=1, kind="stable")[:, : max(counts)]
        votes = np.cumsum(y[train][nearest], axis=1)
        shares.append([np.mean((2 * votes[:, k - 1] > k) == y[rows]) for k in counts])
    best = int(np.argmax(shares[0]))
    return 100 * shares[0][best], 100 * shares[1][best]


def printed(name):
    """Both printed accuracies of each subset that can be read."""
    found = {}
    for table in TABLES:
        for row in records(table, dataset=name):
            if row["mask"] and row["value"] is not None and row["metric"].endswith("_acc_pct"):
                found.setdefault(row["mask"], {}).setdefault(row["metric"], row["value"])
    return {mask: (c["loo_train_acc_pct"], c["test_acc_pct"]) for mask, c in found.items() if len(c) == 2}


def main():
    """Print a table of shifts."""
    run = Rerun()
    print(
        "| set | reading | subsets | leave-one-out | may move by | test | may move by |\n|---|---|---|---|---|---|---|"
    )
    for name in sys.argv[1:] or SETS:
        problem, cells = problem_of(run, name), printed(name)
        for label, (share, counts, scaling) in READINGS.items():
            rng = np.random.default_rng(1)
            orders = [rng.permutation(problem.n_samples) for _ in range(10)]
            n = round(share * problem.n_samples)
            found = np.array([
                [accuracies(problem.X[:, to_mask(mask)], problem.y, o[:n], o[n:], counts, scaling) for o in orders]
                for mask in cells
            ])  # fmt: skip
            shift = found.mean(axis=(0, 1)) - np.mean(list(cells.values()), axis=0)
            near = 2 * found.mean(axis=0).std(axis=0, ddof=1) * np.sqrt(0.2)
            row = f"{len(cells)} | {shift[0]:+.2f} | {near[0]:.2f} | {shift[1]:+.2f} | {near[1]:.2f}"
            print(f"| {name} | {label} | {row} |", flush=True)


main()
