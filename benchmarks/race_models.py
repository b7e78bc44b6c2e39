"""A statistical race with real forests and boosting, seed by seed: `python benchmarks/race_models.py forest 100`.

Forward selection to 4 of 15 columns of sonar in 10 folds. Every candidate is scored in every fold, and the race is run
on those scores, so that it is known what it would have saved and lost. A line for each seed: fits of the race and of
all folds, races, races that lost the candidate which all folds would have chosen, whether the subset is the same, and
by how many standard errors its score falls behind (less than 0: it is better). The last line sums up.
"""

from __future__ import annotations

import json
import sys

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


def step(folds: Folds, chosen: frozenset[int], raced: bool) -> tuple[frozenset[int], int, bool]:
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

    places, left = race(score, len(children), N_FOLDS, None)
    best = int(places[int(np.argmax(left.round(12)))])
    return children[best], fits, bool(means[best] < means.max() - 1e-12)


def run(kind: str, seed: int) -> dict[str, float]:
    """Search twice on one seed."""
    folds, ends, fits, lost = Folds(kind, seed), [], [0, 0], 0
    for raced in (False, True):
        chosen: frozenset[int] = frozenset()
        for _ in range(SIZE):
            chosen, made, missed = step(folds, chosen, raced)
            fits[raced] += made
            lost += missed
        ends.append(chosen)
    whole, other = folds(ends[0]), folds(ends[1])
    error = whole.std(ddof=1) / np.sqrt(N_FOLDS)
    behind = (whole.mean() - other.mean()) / error if error else 0.0
    return {
        "seed": seed, "fits": fits[1], "all": fits[0], "races": SIZE, "lost": lost, "same": ends[0] == ends[1],
        "behind": round(float(behind), 3),
    }  # fmt: skip


if __name__ == "__main__":
    lines = []
    for seed in range(int(sys.argv[2])):
        lines.append(run(sys.argv[1], seed))
        print(json.dumps(lines[-1]), flush=True)
    near = [line["same"] or line["behind"] <= 0.2 for line in lines]
    print(
        f"{sum(line['all'] for line in lines) / sum(line['fits'] for line in lines):.2f} times fewer fits; same subset "
        f"{sum(bool(line['same']) for line in lines)}, same or within 0.2 standard errors {sum(near)} (of the first 20 "
        f"{sum(near[:20])}), {sum(line['lost'] for line in lines)} of {sum(line['races'] for line in lines)} races lost"
    )
