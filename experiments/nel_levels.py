"""Why do Nel's columns of nearest neighbors lie above ours together? Readings of what the thesis leaves open.

`python experiments/nel_levels.py [SET ...]` prints, for each set and reading, our mean less the printed one over the
subsets that can be read, for the leave-one-out and for the test column, and how far two draws of ten splits move such a
mean (two standard errors of a difference). All subsets of a set share ten splits, so a shift is one number, not many.
`python experiments/nel_levels.py --rann [SET ...]` does the same for the network, training and test column.
"""

import sys

import numpy as np

from fewer.models import RANNClassifier
from fewer.models.rann import HIDDEN_SIZES as HIDDEN
from fewer.models.rann import class_targets, classes_of, draw_weights, hidden_size_scores, solve, with_bias
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
NETWORK_TABLES = ("7.5", "7.7", "7.9", "7.11", "7.13")
NETWORKS = {
    "of record: 2/3, 5 to 50 hidden units": {},
    "2 to 10 hidden units": {"sizes": (2, 4, 6, 8, 10)},
    "10 hidden units": {"sizes": (10,)},
    "20 hidden units": {"sizes": (20,)},
    "4/5 of the rows": {"share": 0.8},
    "9/10 of the rows": {"share": 0.9},
    "weights in ±0.1": {"reach": 0.1},
    "z-scores": {"scaling": "z"},
    "columns from the right": {"reverse": True},
    "each distinct row once": {"distinct": True},
    "hidden units by the test rows": {"by_test": True},
    "and the best of 5 draws by them": {"by_test": True, "draws": 5},
}


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


def printed(name, tables=TABLES):
    """Both printed accuracies of each subset that can be read."""
    found = {}
    for table in tables:
        for row in records(table, dataset=name):
            if row["mask"] and row["value"] is not None and row["metric"].endswith("_acc_pct"):
                found.setdefault(row["mask"], {}).setdefault(row["metric"], row["value"])
    first = "loo_train_acc_pct" if tables is TABLES else "train_acc_pct"
    return {mask: (c[first], c["test_acc_pct"]) for mask, c in found.items() if len(c) == 2}


def network(X, y, train, test, rng, sizes=HIDDEN, reach=0.5, by_test=False, draws=1):
    """Training and test accuracy of one network; its size by six inner partitions, or (a leak) by the test rows."""
    inputs, targets = with_bias(X), class_targets(y, 2)
    if not by_test and len(sizes) > 1:
        scores = hidden_size_scores(inputs[train], targets[train], list(sizes), 6, rng, RANNClassifier._is_right)
        sizes = (sizes[int(np.argmax(scores))],)
    found = []
    for size in np.repeat(sizes, draws):
        hidden = np.tanh(inputs @ draw_weights(inputs.shape[1], int(size), reach, "random", rng))
        right = classes_of(hidden @ solve(hidden[train], targets[train], 1e-9)) == y
        found.append((100 * right[test].mean(), 100 * right[train].mean()))
    return max(found)[::-1] if by_test else found[0][::-1]


def networks(name, n_splits=10):
    """Print the shifts of the network's columns under each reading."""
    problem, cells = problem_of(Rerun(), name), printed(name, NETWORK_TABLES)
    for label, reading in NETWORKS.items():
        options = dict(reading)
        X, y = problem.X, problem.y
        if options.pop("distinct", False):
            rows = np.sort(np.unique(np.column_stack([X, y]), axis=0, return_index=True)[1])
            X, y = X[rows], y[rows]
        if options.pop("scaling", ""):
            X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
        X = X[:, ::-1] if options.pop("reverse", False) else X
        rng = np.random.default_rng(1)
        n = round(options.pop("share", 2 / 3) * len(y))
        orders = [rng.permutation(len(y)) for _ in range(n_splits)]
        found = np.array([
            [network(X[:, to_mask(mask)], y, o[:n], o[n:], rng, **options) for o in orders] for mask in cells
        ])  # fmt: skip
        shift = found.mean(axis=(0, 1)) - np.mean(list(cells.values()), axis=0)
        near = 2 * found.mean(axis=0).std(axis=0, ddof=1) * np.sqrt(0.2)
        row = f"{len(cells)} | {shift[0]:+.2f} | {near[0]:.2f} | {shift[1]:+.2f} | {near[1]:.2f}"
        print(f"| {name} | {label} | {row} |", flush=True)


def main():
    """Print a table of shifts."""
    if "--rann" in sys.argv:
        print(
            "| set | reading | subsets | training | may move by | test | may move by |\n|---|---|---|---|---|---|---|"
        )
        for name in [word for word in sys.argv[1:] if word != "--rann"] or ["LIVER", "PIMA", "WDBC1"]:
            networks(name)
        return
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
