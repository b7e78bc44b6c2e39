"""Which reading of Scott's Parcel gives subsets most like the printed ones?

The report prints the subsets on its hulls (appendix B) and not the split of its rows. Readings of what it leaves open
stand side by side: whether the corners (0, 0) and (1, 1), which every curve reaches, belong to the first subset that
a round tried and get children, and whether that subset is listed too (the print has {0, 1, 2}); whether the last
round's insignificant hull is kept; whether only the last round's subsets are listed; whether three rounds are run
whatever their significance. Likeness of two sets of subsets: for each subset the largest Jaccard index to one of the
other set, averaged over both sets. Since readings were made with the print in view, the choice is judged where it had
no say: chosen on three tasks, looked at on the fourth, in turn. Run

    FEWER_DATA=folder python experiments/scott_readings.py --splits 8 > experiments/scott_readings.md
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from typing import Any

import numpy as np

from fewer.problem import Problem
from fewer.roc import Parcel
from fewer_papers import Rerun
from fewer_papers._scott import CornerParcel, _appendix, _parts, _printed, corner_of

TASKS = ("BrodSat", "Cotton", "Grey", "Thyroid")
Subset = tuple[int, ...]


READINGS = {
    f"{corners}, {stop}{', last round alone' if alone else ''}": (corners, stop, alone)
    for corners, stop, alone in product(
        ("no corners", "corners", "corners listed"), ("kept", "significant", "three rounds"), (False, True)
    )
}


def subsets_of(train: Problem, validation: Problem, corners: str, stop: str, alone: bool) -> set[Subset]:
    """Return the subsets on the hull of one split."""
    options: dict[str, Any] = {"keep_last": stop != "significant"}
    if stop == "three rounds":
        options |= {"critical_ratio": -1e9, "max_passes": 3}
    kind = Parcel if corners == "no corners" else CornerParcel
    parcel = kind(method="scott", edge_points=0, **options).fit_parts(train, validation)
    found = {vertex.features for vertex in parcel.vertices_ if vertex.features}
    if corners == "corners listed":
        rounds = sum(step.significant for step in parcel.passes_) if stop == "significant" else len(parcel.passes_)
        found.add(corner_of(train, rounds))
    most = max(map(len, found))
    return {subset for subset in found if len(subset) == most} if alone else found


def jaccard(a: Subset, b: Subset) -> float:
    """Return the share of common features."""
    return len({*a} & {*b}) / len({*a} | {*b})


def likeness(ours: set[Subset], printed: set[Subset]) -> float:
    """Return the mean over both sets of the largest Jaccard index to the other."""
    sides = ((ours, printed), (printed, ours))
    return float(np.mean([np.mean([max(jaccard(a, b) for b in other) for a in one]) for one, other in sides]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=8)
    n_splits = parser.parse_args().splits
    warnings.filterwarnings("ignore")
    run = Rerun()
    table = np.zeros((len(READINGS), len(TASKS)))
    exact = np.zeros_like(table)
    unions = np.zeros_like(table)
    for column, task in enumerate(TASKS):
        printed = {tuple(sorted(row["value"])) for row in _appendix(task, "Parcel")}
        seen: dict[str, set[Subset]] = {name: set() for name in READINGS}
        for split in range(n_splits):
            parts = _parts(run, task, split)
            for row, (name, reading) in enumerate(READINGS.items()):
                ours = subsets_of(parts.train, parts.validation, *reading)
                seen[name] |= ours
                table[row, column] += likeness(ours, printed) / n_splits
                unions[row, column] += len({f for subset in ours for f in subset}) / n_splits
        exact[:, column] = [len(found & printed) / len(printed) for found in seen.values()]
    print("# Readings of Scott's Parcel\n")
    about = " ".join((__doc__ or "").split("Run")[0].split())
    print(f"`python experiments/scott_readings.py --splits {n_splits}`: {about}\n")
    print("Likeness to the printed subsets; in brackets the share of the printed subsets that some split has on its")
    print("hull, and the mean number of features in all subsets together.\n")
    sizes = [len(_printed("6.3", task, "feature_subset", "combined_union")) for task in TASKS]
    heads = [f"{task} (printed {size})" for task, size in zip(TASKS, sizes, strict=True)]
    print(f"| reading | {' | '.join(heads)} | mean |\n|---|{'---|' * (len(TASKS) + 1)}")
    for row, name in enumerate(READINGS):
        cells = [f"{table[row, k]:.3f} ({exact[row, k]:.0%}, {unions[row, k]:.1f})" for k in range(len(TASKS))]
        print(f"| {name} | {' | '.join(cells)} | {table[row].mean():.3f} |")
    print("\nChosen on three tasks, looked at on the fourth, beside the reading of record (no corners, kept):\n")
    print("| task | chosen on the others | its likeness there | reading of record | gain |\n|---|---|---|---|---|")
    names = list(READINGS)
    for column, task in enumerate(TASKS):
        best = int(np.argmax(np.delete(table, column, axis=1).mean(axis=1)))
        gain = table[best, column] - table[0, column]
        print(f"| {task} | {names[best]} | {table[best, column]:.3f} | {table[0, column]:.3f} | {gain:+.3f} |")


if __name__ == "__main__":
    main()
