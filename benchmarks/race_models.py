"""Races of real forests and boosting, seed by seed: `python benchmarks/race_models.py forest 100 [FILE]`.

Forward selection to 4 of 15 columns of sonar in 10 folds. Every candidate is scored in every fold, and races are run
on those scores, so that it is known what they would have saved and lost. A line for each seed: fits of the exact race,
of the statistical one and of all folds, statistical races, those that lost the candidate which all folds would have
chosen, whether the subsets are the same, and by how many standard errors the statistical one's score falls behind
(less than 0: it is better). The last line sums up. Lines are kept in a file where one is named: seeds that stand there
are not run again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.criteria._racing import race
from fewer.datasets import load
from fewer.io import to_problem
from fewer.problem import FloatArray

SIZE, N_COLUMNS, N_FOLDS = 4, 15, 10


class Folds:
    """Scores of subsets in every fold, each computed once."""

    def __init__(self, kind: str, seed: int) -> None:
        table = load("sonar").problem
        columns = np.random.default_rng(seed).permutation(table.n_features)[:N_COLUMNS]
        X, y = table.X[:, columns], table.y
        model = (
            RandomForestClassifier(8, random_state=seed)
            if kind == "forest"
            else GradientBoostingClassifier(n_estimators=8, random_state=seed)
        )
        cv = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y))
        self._scorer = CrossValidated(model, cv=cv).bind(to_problem(X, y), np.random.default_rng(0), Resources())
        self._cv, self._known = cv, {}

    def __call__(self, subset: frozenset[int]) -> FloatArray:
        if subset not in self._known:
            mask = np.zeros(N_COLUMNS, dtype=bool)
            mask[list(subset)] = True
            self._known[subset] = np.array([self._scorer._score_split(mask, split) for split in self._cv])
        return self._known[subset]


def step(folds: Folds, chosen: frozenset[int], ceiling: float | None, raced: bool) -> tuple[frozenset[int], int, bool]:
    """Add a column; return the subset, the fits, and whether the best of all folds was lost."""
    children = [chosen | {j} for j in range(N_COLUMNS) if j not in chosen]
    scores = np.array([folds(child) for child in children])
    means, fits = scores.mean(axis=1), 0
    if not raced:
        return children[int(np.argmax(means.round(12)))], scores.size, False

    def score(i: int, fold: int) -> float:
        nonlocal fits
        fits += 1
        return float(scores[i, fold])

    places, left = race(score, len(children), N_FOLDS, ceiling)
    best = int(places[int(np.argmax(left.round(12)))])
    return children[best], fits, bool(means[best] < means.max() - 1e-12)


def search(folds: Folds, ceiling: float | None = None, raced: bool = True) -> tuple[frozenset[int], int, int]:
    """Return where a search ends, its fits, and the steps that lost the best candidate."""
    chosen: frozenset[int] = frozenset()
    fits = lost = 0
    for _ in range(SIZE):
        chosen, made, missed = step(folds, chosen, ceiling, raced)
        fits, lost = fits + made, lost + missed
    return chosen, fits, lost


def run(kind: str, seed: int) -> dict[str, Any]:
    """Search three times on one seed."""
    folds = Folds(kind, seed)
    (whole, n_all, _), (exact, n_exact, _), (quick, n_quick, lost) = (
        search(folds, raced=False), search(folds, 1.0), search(folds)
    )  # fmt: skip
    scores, others = folds(whole), folds(quick)
    error = scores.std(ddof=1) / np.sqrt(N_FOLDS)
    behind = (scores.mean() - others.mean()) / error if error else 0.0
    return {
        "seed": seed, "all": n_all, "exact": n_exact, "fits": n_quick, "races": SIZE, "lost": lost,
        "exact_same": exact == whole, "same": quick == whole, "behind": round(float(behind), 3),
    }  # fmt: skip


def sum_up(lines: list[dict[str, Any]]) -> str:
    """Say what the races saved and lost."""
    near = [line["same"] or line["behind"] <= 0.2 for line in lines]
    whole, n = sum(line["all"] for line in lines), len(lines)
    return (
        f"{n} seeds. exact race: {whole / sum(line['exact'] for line in lines):.2f} times fewer fits, same subset "
        f"{sum(line['exact_same'] for line in lines)}. statistical: {whole / sum(line['fits'] for line in lines):.2f} "
        f"times fewer fits, same subset {sum(line['same'] for line in lines)}, same or within 0.2 standard errors "
        f"{sum(near)} (of the first 20 {sum(near[:20])}), {sum(line['lost'] for line in lines)} of "
        f"{sum(line['races'] for line in lines)} races lost"
    )


def main(kind: str, n_seeds: str, kept: str = "") -> None:
    """Run the seeds that are not kept yet."""
    text = Path(kept).read_text() if kept and Path(kept).exists() else ""
    lines = {line["seed"]: line for line in map(json.loads, text.splitlines())}
    for seed in range(int(n_seeds)):
        if seed not in lines:
            lines[seed] = run(kind, seed)
            print(json.dumps(lines[seed]), flush=True)
            if kept:
                with Path(kept).open("a") as file:
                    file.write(json.dumps(lines[seed]) + "\n")
    print(sum_up([lines[seed] for seed in range(int(n_seeds))]))


if __name__ == "__main__":
    main(*sys.argv[1:])
