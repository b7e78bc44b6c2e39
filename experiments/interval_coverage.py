"""Does the interval of the held-out score hold what it says it estimates? Draws from larger tables tell.

The estimand is printed with every answer: the score, on new rows from the same source, of the rule that the whole
procedure gives on the rows at hand. The rows of the table that were not drawn stand for the new ones. The rules of the
folds, which stand for that rule, are told beside it.

    FEWER_DATA=folder python experiments/interval_coverage.py
    FEWER_DATA=folder python experiments/interval_coverage.py --classes     # many small classes
    FEWER_DATA=folder python experiments/interval_coverage.py --auto SEED [--share 1/2] [--minutes 35] [--out FOLDER]
    FEWER_DATA=folder python experiments/interval_coverage.py --auto report [--out FOLDER]

`--auto` asks what `select` promises of the difference from all features: 30 draws of 400 rows from each of ten tables,
SEED being the first eight hexadecimal digits of the commit that freezes the rule. Draws are kept in FOLDER, so that a
stopped run goes on.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

from fewer.contracts import Resources
from fewer.criteria import KNN
from fewer.datasets import load
from fewer.evaluate import Choice, heldout
from fewer.problem import Problem
from fewer.rankers import Fisher
from fewer.validate import wilson_interval

TABLES = ("satimage", "higgs_7500")
NARROWER = np.sqrt((0.8 / 5 + 0.2) / (0.75 / 5 + 0.25))
"""How wide intervals of five folds are with a correlation of 1/5, as a share of the present ones, with 1/4."""
SMALL_CLASSES = (("asu_Isolet", 80), ("asu_Isolet", 150), ("asu_Isolet", 300), ("asu_COIL20", 60))

JUDGED = (
    "satimage", "higgs_7500", "adult", "ann_thyroid", "segment", "fresh/waveform5000", "fresh/har", "fresh/bank_churn",
    "fresh/jm1", "fresh/ailerons",
)  # fmt: skip
"""Tables from which rows are drawn to judge what `select` promises; usps and mfeat_digits were for design."""
N_ROWS, N_OTHERS, N_DRAWS = 400, 5000, 30


def one_draw(X, y, seed, n_rows, n_features, n_neighbors=5):
    """Return held-out scores of a draw and which new rows its rules get right, those of the folds and that of all."""
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(len(y))
    rows, rest = drawn[:n_rows], drawn[n_rows : n_rows + 3000]
    labels, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], labels[counts > 1])]
    problem = Problem.from_arrays(X[rows], y[rows])
    rules = []

    def choose(part, own):
        mask = np.zeros(part.n_features, dtype=bool)
        mask[Fisher().rank(part, own, Resources()).order[:n_features]] = True
        rules.append((KNN(n_neighbors).bind(part, own, Resources()), mask))
        return Choice(mask, scorer=rules[-1][0])

    found = heldout(choose, problem, KNN(n_neighbors), cv=5, rng=rng, resources=Resources())
    choose(problem, np.random.default_rng(0))
    codes = np.searchsorted(problem.classes, y[rest]).clip(0, problem.n_classes - 1)
    codes[~np.isin(y[rest], problem.classes)] = -1
    right = np.array([scorer.predict(mask, X[rest]).argmax(axis=1) == codes for scorer, mask in rules])
    return found, right, codes, problem


def coverage(name, asked):
    """Tell how many intervals hold the score of the rule on all rows, and of those of the folds."""
    X, y = _table(name)
    began, told = time.process_time(), []
    for seed in range(asked.draws):
        found, right, _, _ = one_draw(X, y, seed, asked.rows, asked.features)
        whole, folds = right[-1].mean(), right[:-1].mean()
        told.append(
            [
                found.low <= whole <= found.high,
                found.low <= folds <= found.high,
                found.score - whole,
                found.score - folds,
                found.high - found.low,
                abs(found.score - whole) <= NARROWER * (found.high - found.low) / 2,
            ]
        )
    held, held_folds, off, off_folds, width, narrow = np.array(told, dtype=float).T
    share, share_folds, share_narrow = (wilson_interval(of.sum(), len(of)) for of in (held, held_folds, narrow))
    print(
        f"{name}: {100 * share.estimate:.1f} % of {len(held)} intervals hold the rule on all rows "
        f"({100 * share.low:.1f} to {100 * share.high:.1f}), {100 * share_folds.estimate:.1f} % those of the folds; "
        f"off by {100 * off.mean():+.2f} and {100 * off_folds.mean():+.2f} points on average, "
        f"{100 * width.mean():.1f} points wide; {100 * share_narrow.estimate:.1f} % with folds correlated by 1/5; "
        f"{time.process_time() - began:.0f} s of processor",
        flush=True,
    )


def on_noise(asked):
    """Tell how many intervals hold one half where there is nothing to learn, with both correlations."""
    told = []
    for seed in range(asked.draws):
        rng = np.random.default_rng([7, seed])
        problem = Problem.from_arrays(rng.normal(size=(60, 300)), np.arange(60) % 2)

        def choose(part, own):
            mask = np.zeros(part.n_features, dtype=bool)
            mask[Fisher().rank(part, own, Resources()).order[:10]] = True
            return Choice(mask)

        found = heldout(choose, problem, KNN(5), cv=5, rng=rng, resources=Resources(), scoring="roc_auc")
        half = (found.high - found.low) / 2
        told.append([abs(found.score - 0.5) <= half, abs(found.score - 0.5) <= NARROWER * half])
    present, narrow = (wilson_interval(of.sum(), len(of)) for of in np.array(told, dtype=float).T)
    print(
        f"noise: {100 * present.estimate:.1f} % ({100 * present.low:.1f} to {100 * present.high:.1f}) hold one half, "
        f"{100 * narrow.estimate:.1f} % with folds correlated by 1/5",
        flush=True,
    )


def small_classes(name, n_rows, asked):
    """Tell how far the estimate is off with many small classes, also where new rows have their frequencies."""
    X, y = _table(name)
    off = []
    for seed in range(asked.draws):
        found, right, codes, problem = one_draw(X, y, seed, n_rows, 40, n_neighbors=1)
        right = right[:-1].mean(axis=0)
        by_class = np.array([right[codes == code].mean() for code in range(problem.n_classes)])
        frequency = np.bincount(problem.y) / problem.n_samples
        off.append(
            [found.score - right.mean(), found.score - right[codes >= 0].mean(), found.score - by_class @ frequency]
        )
    mean, error = 100 * np.mean(off, axis=0), 100 * np.std(off, axis=0) / np.sqrt(len(off))
    parts = (
        f"{what} {m:+.1f} ± {e:.1f}"
        for what, m, e in zip(
            ("all new rows", "those of known classes", "frequencies as here"), mean, error, strict=True
        )
    )
    print(
        f"{name}, {n_rows} rows, {len(np.unique(y))} classes: estimate less truth, points: " + ", ".join(parts),
        flush=True,
    )


def promises(asked):
    """Draw rows from every judged table in turn, and ask `select` what it promises of the difference."""
    from peers_study_drawn import verdict

    warnings.simplefilter("ignore")
    first, step = (int(part) for part in asked.share.split("/"))
    asked.out.mkdir(parents=True, exist_ok=True)
    path, began = asked.out / f"promises_{asked.auto}_{first}.jsonl", time.process_time()
    done = {tuple(json.loads(line)["draw"]) for line in path.read_text().splitlines()} if path.exists() else set()
    tables = {name: load(name).problem for name in JUDGED}
    draws = [(number, name) for number in range(N_DRAWS) for name in JUDGED]
    for number, name in draws[first - 1 :: step]:
        if (number, name) in done or time.process_time() - began > 60 * asked.minutes:
            continue
        problem, clock = tables[name], time.process_time()
        rows = np.random.default_rng([int(asked.auto, 16), number, *name.encode()]).permutation(problem.n_samples)
        train, others = (problem.take(np.sort(part)) for part in (rows[:N_ROWS], rows[N_ROWS : N_ROWS + N_OTHERS]))
        record = {"draw": (number, name), "task": problem.task, **verdict(train, others)}
        record["seconds"] = round(time.process_time() - clock, 2)
        with path.open("a") as file:
            file.write(json.dumps(record) + "\n")


def told(asked):
    """Print how often what `select` promised was right, by table and in all."""
    from peers_study_drawn import promised

    lines = [line for path in sorted(asked.out.glob("promises_*.jsonl")) for line in path.read_text().splitlines()]
    records = [json.loads(line) for line in lines]
    for name in (*JUDGED, None):
        own = [record for record in records if name in (None, record["draw"][1])]
        if own:
            print(f"{name or 'all'}: {len(own)} draws, {sum(record['seconds'] for record in own) / 60:.1f} minutes")
            promised(own)


def _table(name):
    data = load(name)
    X = np.asarray(data.X, dtype=np.float64)
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X), np.asarray(data.y)


def main():
    """Draw, measure, tell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--features", type=int, default=5)
    parser.add_argument("--classes", action="store_true", help="the bias with many small classes")
    parser.add_argument("--auto", metavar="SEED", help="what `select` promises of the difference, or `report`")
    parser.add_argument("--share", default="1/1")
    parser.add_argument("--minutes", type=float, default=35)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "interval_coverage_results")
    asked = parser.parse_args()
    if asked.auto:
        told(asked) if asked.auto == "report" else promises(asked)
    elif asked.classes:
        for name, n_rows in SMALL_CLASSES:
            small_classes(name, n_rows, asked)
    else:
        for name in TABLES:
            coverage(name, asked)
        on_noise(asked)


if __name__ == "__main__":
    main()
