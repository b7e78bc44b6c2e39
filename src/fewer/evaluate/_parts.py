"""Which rows train and which test: each fold left out, and each pair of folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fewer.problem import FloatArray, IntArray, Problem
from fewer.validate import MAX_PAIRED_FOLDS, Interval, Split, fold_interval, folds_of, mean_of_repeats

Key = tuple[int, ...]
"""Number of the repeat, then of the one or two folds that are left out."""


@dataclass(frozen=True, eq=False)
class Part:
    """Rows to train on, and the test rows of each fold that is left out."""

    key: Key
    train: IntArray
    tests: tuple[IntArray, ...]

    @property
    def is_single(self) -> bool:
        """One fold is left out, not two."""
        return len(self.tests) == 1


def parts_of(splits: Sequence[Split], n_rows: int, *, pairs: bool = True) -> list[Part]:
    """List the parts of each repeat: its splits, then, if they are few plain folds, each pair of them."""
    parts = []
    for repeat in sorted({split.repeat for split in splits}):
        own = [split for split in splits if split.repeat == repeat]
        parts += [Part((repeat, split.fold), split.train, (split.test,)) for split in own]
        folds = folds_of(own, n_rows)
        if folds is not None and n_parts(len(own), pairs) > len(own):
            parts += [
                Part((repeat, i, j), np.flatnonzero((folds != i) & (folds != j)), (own[i].test, own[j].test))
                for i, j in combinations(range(len(own)), 2)
            ]
    return parts


def n_parts(n_folds: int, pairs: bool) -> int:
    """Count the parts of one repeat. Two of three folds are not left out: too little would remain."""
    return n_folds + (n_folds * (n_folds - 1) // 2 if pairs and 4 <= n_folds <= MAX_PAIRED_FOLDS else 0)


def interval_over_parts(
    parts: Sequence[Part],
    scores: Mapping[Key, Sequence[float]],
    problem: Problem,
    *,
    resolution: float = 0.0,
    estimand: str = "",
) -> Interval:
    """Give the interval of the mean score over folds and repeats.

    `scores` holds, for each part, the score on each of its left-out folds.
    """
    weights = np.ones(problem.n_rows) if problem.weights is None else problem.weights
    intervals = []
    for repeat in sorted({part.key[0] for part in parts}):
        singles = [part for part in parts if part.key[0] == repeat and part.is_single]
        intervals.append(
            fold_interval(
                [scores[part.key][0] for part in singles],
                _pair_table(len(singles), {part.key: scores[part.key] for part in parts if part.key[0] == repeat}),
                sizes=[weights[part.tests[0]].sum() for part in singles],
                test_share=float(np.mean([len(part.tests[0]) / len(part.train) for part in singles])),
                resolution=resolution,
                estimand=estimand,
            )
        )
    return mean_of_repeats(intervals)


def estimand_of(parts: Sequence[Part], problem: Problem, name: str) -> str:
    """Say what the mean over the parts estimates."""
    singles = [part for part in parts if part.is_single]
    n_train = round(float(np.mean([len(part.train) for part in singles])))
    return (
        f"mean {name}, on new rows from the same source, of the {len(singles)} rules that the whole procedure gives "
        f"on about {n_train} of these {problem.n_rows} rows"
    )


def _pair_table(n_folds: int, scores: Mapping[Key, Sequence[float]]) -> FloatArray | None:
    pairs = {key[1:]: values for key, values in scores.items() if len(key) == 3}
    if not pairs:
        return None
    table = np.full((n_folds, n_folds), np.nan)
    for (i, j), (score_i, score_j) in pairs.items():
        table[i, j], table[j, i] = score_i, score_j
    return table
