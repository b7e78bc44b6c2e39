"""Columns that are too good to be true: names of rows, counters, copies of the target. They are told, never dropped."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.stats import rankdata

from fewer.problem import BoolArray, FloatArray, IntArray, Problem

MIN_ROWS = 10
SAMPLE = 2_000
"""Columns that are innocent on so many rows are not looked at further."""
CHANCE = 1e-6
"""How likely a warning may be where nothing but chance is at work, for all columns together."""
NEAR_COPY = 0.93
"""Cohen's kappa of a column's values and the classes from which the column is called a near copy of the target."""
MIN_NEAR_COPY_ROWS = 30
NEAR_LINE = 0.9995
"""Correlation from which a column is called a copy of a quantity."""
FEW = 24
"""Rows on which all columns are looked at together first, and columns from which that pays."""
NEAR_ENOUGH = 0.97
"""Correlation on those rows from which a column is looked at whole."""
IDENTIFIER_NAME = re.compile(
    r"(?i)(^|[^a-z])(id|uuid|guid|index|key|row|nr|no)([^a-z]|$)|identifier|^unnamed|^column 1$"
)
MAX_ALIKE = 0.1
"""Where a larger share of the columns holds a different whole number in each row, such numbers are measurements."""


def suspicions(problem: Problem) -> list[str]:
    """Warn of columns that name or count the rows, follow their order, or tell the target by themselves.

    A warning is a sentence for people; the columns stay as they are.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> table = np.column_stack([rng.normal(size=40), 7 * rng.permutation(40), 10 * y])
    >>> for line in suspicions(Problem.from_arrays(table, y, names=["a", "b", "c"])):
    ...     print(line)
    Column 'b' looks like an identifier, a value for each row; exclude it.
    Column 'c' tells the target by itself, value by value; exclude it if it is known only afterwards.
    """
    if problem.n_samples < MIN_ROWS or problem.y.ndim > 1:
        return []
    columns = _worth_a_look(problem)
    names, counters = _names_of_rows(problem, columns)
    told = [f"Column {problem.names[i]!r} looks like an identifier, a value for each row; exclude it." for i in names]
    told += [
        f"Column {problem.names[i]!r} follows the order of the rows; exclude it if it only says when a row was written."
        for i in counters
    ]
    known = {*names, *counters}
    target = _Classes(problem) if problem.task == "classification" else _Quantity(problem)
    part = _some_rows(problem)
    for i in columns:
        if i not in known and target.tells(problem.X[part, i], part) and target.tells(problem.X[:, i], slice(None)):
            told.append(
                f"Column {problem.names[i]!r} tells the target by itself, {target.how}; exclude it if it is known only "
                "afterwards."
            )
    return told


def _some_rows(problem: Problem) -> IntArray | slice:
    if problem.n_samples <= SAMPLE:
        return slice(None)
    return np.random.default_rng(0).choice(problem.n_samples, SAMPLE, replace=False)


# ------------------------------------------------------------------------------------------- names of the rows


def _worth_a_look(problem: Problem) -> list[int]:
    """Pass over columns that a few rows show to be innocent, all columns at once: most measurements are.

    A column is looked at whole if, in those rows, it holds whole numbers or a value twice, rises or falls, lies on a
    grid with a place for each row, orders the rows as the target does, or has a range of its own for each class.
    """
    n = problem.n_samples
    rows = np.unique(np.linspace(0, n - 1, min(n, FEW)).astype(np.int64))
    X, y = problem.X[rows], np.asarray(problem.y)[rows]
    if problem.n_features < FEW or (problem.has_missing and np.isnan(X).any()) or y.ndim > 1:
        return list(range(problem.n_features))
    # Most columns are passed over after very few rows, and only the others are looked at in all of these.
    odd = problem.nominal | _holds(X, _is_whole) | _holds(X, _rises) | _holds(-X, _rises)
    ordered = np.sort(X, axis=0)
    odd |= (ordered[1:] == ordered[:-1]).any(axis=0)
    low, high = problem.extremes
    step = np.where(high > low, high - low, 1.0) / (n - 1)
    odd |= _holds((X - low) / step, _is_nearly_whole)
    if problem.task == "regression":
        centered, target = X - X.mean(axis=0), y - y.mean()
        size = np.sqrt((centered**2).sum(axis=0) * (target @ target))
        odd |= np.abs(target @ centered) >= NEAR_ENOUGH * size
        by_target = X[np.argsort(y, kind="stable")]
        odd |= _holds(by_target, _rises) | _holds(-by_target, _rises)
    else:
        parts = [X[y == c] for c in np.unique(y)]
        lows = np.sort([part.min(axis=0) for part in parts], axis=0)
        highs = np.sort([part.max(axis=0) for part in parts], axis=0)
        odd |= (lows[1:] > highs[:-1]).all(axis=0)
    return np.flatnonzero(odd).tolist()


def _holds(X: FloatArray, test: Callable[[FloatArray], BoolArray]) -> BoolArray:
    """Say for which columns a test holds in all rows: after four of them few are left to be tested."""
    holds = test(X[:4])
    left = np.flatnonzero(holds)
    if len(left):
        holds[left] = test(X[:, left])
    return holds


def _is_whole(X: FloatArray) -> BoolArray:
    return np.asarray((np.rint(X) == X).all(axis=0))


def _is_nearly_whole(X: FloatArray) -> BoolArray:
    return np.asarray((np.abs(X - np.rint(X)) < 1e-3).all(axis=0))


def _rises(X: FloatArray) -> BoolArray:
    return np.asarray((X[1:] > X[:-1]).all(axis=0))


def _names_of_rows(problem: Problem, columns: list[int]) -> tuple[list[int], list[int]]:
    """Find columns that name the rows, and columns that rise or fall from row to row."""
    n = problem.n_samples
    names, counters, plain = [], [], []
    n_alike = 0
    for i in columns:
        kind, column = problem.kinds[i], problem.X[:, i]
        if kind == "boolean" or not _all_different(column[:SAMPLE]):
            continue
        if not _all_different(column):
            continue
        if kind == "nominal":
            names.append(i)
            continue
        gaps = np.diff(np.sort(column))
        whole = bool((column == np.round(column)).all())
        if whole and (IDENTIFIER_NAME.search(problem.names[i]) is not None or gaps.min() == gaps.max()):
            names.append(i)
        elif gaps.max() - gaps.min() <= 1e-6 * gaps.max() or _is_sorted(column):
            counters.append(i)
        elif whole:
            n_alike += 1
            if _same_length(column) and n >= MIN_NEAR_COPY_ROWS:
                plain.append(i)
    if n_alike <= max(1, MAX_ALIKE * problem.n_features):
        names = sorted([*names, *plain])
    return names, counters


def _all_different(column: FloatArray) -> bool:
    return not np.isnan(column).any() and len(np.unique(column)) == len(column)


def _is_sorted(column: FloatArray) -> bool:
    steps = np.diff(column)
    return bool((steps > 0).all() or (steps < 0).all())


def _same_length(column: FloatArray) -> bool:
    """Say whether whole numbers are all written with as many digits, at least so many that chance makes few equal."""
    low, high = float(column.min()), float(column.max())
    return low >= 1 and len(str(int(low))) == len(str(int(high))) and high - low >= len(column)


# --------------------------------------------------------------------------------------- copies of the target


class _Classes:
    """Columns that tell the class."""

    def __init__(self, problem: Problem) -> None:
        self.y = np.asarray(problem.y)
        self.n_classes, self.n_columns = problem.n_classes, problem.n_features
        self.shares = np.bincount(self.y, minlength=self.n_classes) / len(self.y)
        self.how = "value by value"

    def tells(self, column: FloatArray, rows: IntArray | slice) -> bool:
        """Say whether a column tells the class of these rows."""
        y = self.y[rows]
        column = np.where(np.isnan(column), np.inf, column)
        order = np.argsort(column, kind="stable")
        starts = _starts(column[order])
        counts = np.zeros((len(starts), self.n_classes))
        np.add.at(counts, (np.repeat(np.arange(len(starts)), np.diff([*starts, len(y)])), y[order]), 1)
        sizes, right = counts.sum(axis=1), counts.max(axis=1).sum()
        if right == len(y):
            chance = float(np.log(np.maximum((self.shares ** sizes[:, None]).sum(axis=1), 1e-300)).sum())
            if chance + np.log(self.n_columns) < np.log(CHANCE):
                self.how = "value by value"
                return True
        if self._apart(column, y):
            self.how = "each class in a range of its own"
            return True
        if len(starts) > max(self.n_classes, len(y) // MIN_NEAR_COPY_ROWS) or len(y) < MIN_NEAR_COPY_ROWS:
            return False
        expected = float(self.shares.max())
        self.how = "but for few rows"
        return bool((right / len(y) - expected) / (1.0 - expected) >= NEAR_COPY)

    def _apart(self, column: FloatArray, y: IntArray) -> bool:
        """Say whether each class has a range of its own."""
        present = [column[y == c] for c in range(self.n_classes) if (y == c).any()]
        if len(present) < 2 or len(y) < MIN_NEAR_COPY_ROWS or not np.isfinite(column).all():
            return False
        places = sorted((float(part.min()), float(part.max())) for part in present)
        gaps = [low - high for (_, high), (low, _) in pairwise(places)]
        return min(gaps) > 0


class _Quantity:
    """Columns that tell a quantity."""

    def __init__(self, problem: Problem) -> None:
        self.y = np.asarray(problem.y, dtype=np.float64)
        self.how = "but for a scale"

    def tells(self, column: FloatArray, rows: IntArray | slice) -> bool:
        """Say whether a column tells the quantity in these rows."""
        known = ~np.isnan(column)
        x, y = column[known], self.y[rows][known]
        if len(x) < MIN_ROWS or x.min() == x.max() or y.min() == y.max():
            return False
        if _correlation(x, y) >= NEAR_LINE or _correlation(rankdata(x), rankdata(y)) >= 1.0 - 1e-12:
            self.how = "but for a scale"
            return True
        order = np.argsort(x, kind="stable")
        starts = _starts(x[order])
        if len(starts) > len(x) // 2:
            return False
        self.how = "value by value"
        low, high = np.minimum.reduceat(y[order], starts), np.maximum.reduceat(y[order], starts)
        return bool((low == high).all()) and len(np.unique(y)) > 2


def _starts(values: FloatArray) -> IntArray:
    """Return where each run of equal values begins."""
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))


def _correlation(x: FloatArray, y: FloatArray) -> float:
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt((x @ x) * (y @ y))
    return float(abs(x @ y) / size) if size > 0 and np.isfinite(size) else 0.0
