"""Which rows train and which test: each fold left out, and each pair of folds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fewer.problem import FloatArray, IntArray
from fewer.validate import MAX_PAIRED_FOLDS


@dataclass(frozen=True, eq=False)
class Part:
    """Rows to train on, and the test rows of each fold that was left out."""

    left_out: tuple[int, ...]
    train: IntArray
    tests: tuple[IntArray, ...]


def leave_out(folds: IntArray, pairs: bool) -> Iterator[Part]:
    """Leave out each fold, then, if there are few, each pair of folds."""
    n_folds = int(folds.max()) + 1
    left_out: list[tuple[int, ...]] = [(k,) for k in range(n_folds)]
    if n_parts(n_folds, pairs) > n_folds:
        left_out += combinations(range(n_folds), 2)
    for part in left_out:
        yield Part(part, np.flatnonzero(~np.isin(folds, part)), tuple(np.flatnonzero(folds == k) for k in part))


def n_parts(n_folds: int, pairs: bool) -> int:
    """Count them. Of three folds, two left out leave too little."""
    return n_folds + (n_folds * (n_folds - 1) // 2 if pairs and 4 <= n_folds <= MAX_PAIRED_FOLDS else 0)


def pair_table(scores: Mapping[tuple[int, ...], Sequence[float]]) -> FloatArray | None:
    """Lay out the scores of pairs as `fold_interval` wants them; None if there are none."""
    pairs = {part: values for part, values in scores.items() if len(part) == 2}
    if not pairs:
        return None
    n_folds = sum(len(part) == 1 for part in scores)
    table = np.full((n_folds, n_folds), np.nan)
    for (i, j), (score_i, score_j) in pairs.items():
        table[i, j], table[j, i] = score_i, score_j
    return table
