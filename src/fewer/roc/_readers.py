"""How the classifiers on a hull get their rows: as numbers that were read once, or as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fewer.estimators import TableReader
from fewer.roc._choice import Digests, row_digests


class Reader(Protocol):
    """What a hull needs to know about tables."""

    def read_needed(self, estimator: Any, X: Any, needed: Sequence[int], *, alone: bool = False) -> Any:
        """Return rows as the rules take them."""

    def digests(self, rows: Any, features: Sequence[int]) -> Digests:
        """Return a number a row, made of the cells in some columns."""


@dataclass(frozen=True, eq=False)
class CellReader:
    """Reads tables of known columns and levels as numbers."""

    table: TableReader

    def read_needed(self, estimator: Any, X: Any, needed: Sequence[int], *, alone: bool = False) -> Any:
        """Return the numbers in the needed columns; the others are NaN."""
        return self.table.read_needed(estimator, X, needed, alone=alone)

    def digests(self, rows: Any, features: Sequence[int]) -> Digests:
        """Return a number a row, made of its cells in some columns."""
        return row_digests(rows[:, list(features)]) if len(features) else np.zeros(len(rows), dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class WholeRows:
    """Hands tables on as they are: the classifiers were fitted by somebody else and read for themselves."""

    def read_needed(self, estimator: Any, X: Any, needed: Sequence[int], *, alone: bool = False) -> Any:
        """Return the table."""
        return X

    def digests(self, rows: Any, features: Sequence[int]) -> Digests:
        """Return a number a row, made of all its cells."""
        return row_digests(rows)
