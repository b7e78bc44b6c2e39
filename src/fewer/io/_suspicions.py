"""Columns that are too good to be true: identifiers, row numbers, leaks. They are reported, never dropped."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from typing import get_args

import numpy as np

from fewer.problem import BoolArray, FloatArray, IntArray, Problem, Suspicion, SuspicionKind

# In the order in which they are shown.
SHOWN_ORDER = get_args(SuspicionKind)

MIN_ROWS = 10
# Rows on which each column is checked first; columns that pass are not checked further.
FIRST_CHECKED = 2_000
# How likely a warning may be where nothing but chance is at work, for all columns together.
CHANCE = 1e-6
# Cohen's kappa of a column's values and the classes from which the column is called a near copy of the target.
NEAR_COPY = 0.93
MIN_NEAR_COPY_ROWS = 30
# Correlation from which a column is called a copy of a quantity.
NEAR_LINE = 0.9995
# Rows on which all columns are looked at together first, and columns from which that pays.
GLANCED = 24
# Correlation on those rows from which a column is looked at whole.
NEAR_ENOUGH = 0.97
IDENTIFIER_NAME = re.compile(
    r"(?i)(^|[^a-z])(id|uuid|guid|index|key|row|nr|no)([^a-z]|$)|identifier|^unnamed|^column 1$"
)
# Names of identifiers that several rows may share: customer_id, CustomerID.
SHARED_NAME = re.compile(r"(?i:(^|[^a-z])(id|uuid|guid)$)|[a-z]I[dD]$")
# Text that is a measurement, not a name.
FRACTION = re.compile(r"[-+]?\d*\.\d+")
# A column named like an identifier has at least this many values, each shared by at most this many rows on average.
MIN_IDENTIFIERS, MAX_ROWS_OF_ONE = 20, 20
# The share of rows that are copies of others from which that is reported.
TWICE = 0.01
# Whole numbers below 64 are counted for many columns at once, on 256 rows, where that takes at most 2^26 counts.
MOST_CODES, QUICK, MOST_COUNTS = 64, 256, 1 << 26
# Where a larger share of the columns holds a different whole number in each row, such numbers are measurements.
MAX_ALIKE = 0.1


def suspicions(problem: Problem, dated: Sequence[str] = (), when: FloatArray | None = None) -> list[Suspicion]:
    """Find columns that name or count the rows or give the target away, and repeated rows.

    The columns and rows stay as they are.

    Parameters
    ----------
    problem : Problem
        The rows.
    dated : sequence of str, default=()
        Its columns of dates, which hold days.
    when : array of shape (n_samples,), optional
        The time of each row, in days: what is later was not known then.

    Returns
    -------
    list of Suspicion

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> table = np.column_stack([rng.normal(size=40), 7 * rng.permutation(40), 10 * y])
    >>> for suspicion in suspicions(Problem.from_arrays(table, y, names=["a", "b", "c"])):
    ...     print(suspicion.kind, "-", suspicion.evidence)
    copy of the target - 'c' is a copy of the target. Exclude it.
    identifier - 'b' looks like an identifier: it has a different value in every row. Exclude it.
    """
    if problem.n_samples < MIN_ROWS or problem.y.ndim > 1:
        return []
    columns = _worth_a_look(problem)
    noted = _names_of_rows(problem, columns) if columns else {}
    part = np.arange(problem.n_samples)
    if problem.n_samples > FIRST_CHECKED:
        part = np.random.default_rng(0).choice(problem.n_samples, FIRST_CHECKED, replace=False)
    if columns:
        target = _Classes(problem) if problem.task == "classification" else _Quantity(problem)
        for i in target.worth_a_look(problem, columns, part):
            if i not in noted and target.tells(problem.X[part, i], part) and target.tells(problem.X[:, i], slice(None)):
                noted[i] = _leak(problem.names[i], target)
    for name in dated:
        i = problem.names.index(name)
        if i not in noted and when is not None and (later := int((problem.X[:, i] > when).sum())):
            evidence = (
                f"{name!r} lies after the time of the row in {later:,} of {problem.n_samples:,} rows, so it was not "
                "known then. Exclude it."
            )
            noted[i] = Suspicion("known afterwards", name, evidence)
    return [*(noted[i] for i in sorted(noted, key=lambda i: (SHOWN_ORDER.index(noted[i].kind), i))), *_twice(problem)]


def _leak(name: str, target: _Classes | _Quantity) -> Suspicion:
    if target.is_copy:
        return Suspicion("copy of the target", name, f"{name!r} is a copy of the target. Exclude it.")
    cure = "Exclude it unless its value is known before the prediction is made."
    return Suspicion("leak", name, f"Possible leak: {name!r} alone predicts the target ({target.how}). {cure}")


def _twice(problem: Problem) -> list[Suspicion]:
    """Find repeated rows where that cannot be chance: a measured column differs in most rows."""
    n = problem.n_samples
    if problem.groups is not None or problem.sparse is not None:
        return []
    few = max(2, TWICE * n)
    low, high = problem.extremes
    wide = np.flatnonzero((high - low >= n / 2) | (np.rint(problem.X[:GLANCED]) != problem.X[:GLANCED]).any(axis=0))
    columns = (problem.X[:, i] for i in wide[wide < 2 * GLANCED])  # narrow whole numbers are repeated by many rows
    measured = ((column, known) for column in columns if (known := len(np.unique(column))) > n / 2)
    first, known = next(measured, (None, n))
    if first is None or n - known < few:  # copies of rows are copies in each column
        return []
    others = [column for column, _ in islice(measured, 3)]
    if _n_copies(np.column_stack([first, *others, problem.y])) < few:
        return []
    copies = _n_copies(np.column_stack([problem.X, problem.y]))
    if copies < few:
        return []
    evidence = (
        f"{copies:,} of {n:,} rows are exact copies of other rows. A row that is both in the training and in the test "
        "rows makes the score too good: remove the copies, or give groups."
    )
    return [Suspicion("duplicated rows", None, evidence)]


def _n_copies(table: FloatArray) -> int:
    known = np.where(np.isnan(table), np.inf, table)
    return len(known) - len(np.unique(known, axis=0))


# ------------------------------------------------------------------------------------------- names of the rows


def _worth_a_look(problem: Problem) -> list[int]:
    """Pass over columns that a few rows show to be innocent, all columns at once: most measurements are.

    A column is looked at whole if, in those rows, it holds whole numbers or a value twice, rises or falls, lies on a
    grid with a place for each row, orders the rows as the target does, or has a range of its own for each class.
    """
    n = problem.n_samples
    rows = np.arange(min(n, GLANCED)) * (n - 1) // (min(n, GLANCED) - 1)  # there are at least MIN_ROWS
    X, y = problem.X[rows], np.asarray(problem.y)[rows]
    if problem.n_features < GLANCED or (problem.has_missing and np.isnan(X).any()) or y.ndim > 1:
        return list(range(problem.n_features))
    # Most columns are passed over after very few rows, and only the others are looked at in all of these.
    odd = problem.nominal | _holds(X, _is_whole) | _holds(X, _rises) | _holds(-X, _rises)
    ordered = np.sort(X, axis=0)
    odd |= (ordered[1:] == ordered[:-1]).any(axis=0)
    low, high = problem.extremes
    step = np.where(high > low, high - low, 1.0) / (n - 1)
    odd |= _holds((X - low) / step, lambda part: _is_whole(part, 1e-3))
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


def _is_whole(X: FloatArray, tolerance: float = 0.0) -> BoolArray:
    return np.asarray((np.abs(X - np.rint(X)) <= tolerance).all(axis=0))


def _rises(X: FloatArray) -> BoolArray:
    return np.asarray((X[1:] > X[:-1]).all(axis=0))


def _names_of_rows(problem: Problem, columns: list[int]) -> dict[int, Suspicion]:
    """Find columns that name the rows, and columns that rise or fall from row to row."""
    noted: dict[int, Suspicion] = {}
    plain = []
    n_alike = 0
    ordered = np.sort(problem.X[: 2 * GLANCED], axis=0)
    repeated = (ordered[1:] == ordered[:-1]).any(axis=0)
    for i in columns:
        name, kind, column = problem.names[i], problem.kinds[i], problem.X[:, i]
        if kind == "boolean":
            continue
        if repeated[i] or not (_all_different(column[:FIRST_CHECKED]) and _all_different(column)):
            if SHARED_NAME.search(name) is not None and (n_distinct := _repeated_identifier(column, kind)):
                noted[i] = _identifier(name, f"its name says so, and it has {n_distinct:,} different values")
            continue
        if kind == "nominal":
            fractions = all(FRACTION.fullmatch(level) for level in problem.levels.get(i, ("",))[:GLANCED])
            noted |= {} if fractions else {i: _identifier(name)}
            continue
        gaps = np.diff(np.sort(column))
        is_whole, even = _is_whole(column), gaps.max() - gaps.min() <= 1e-6 * gaps.max()
        if is_whole and (IDENTIFIER_NAME.search(name) is not None or (even and not _is_sorted(column))):
            noted[i] = _identifier(name)
        elif even or _is_sorted(column):
            noted[i] = _row_number(name, column)
        elif is_whole:
            n_alike += 1
            if _same_length(column) and problem.n_samples >= MIN_NEAR_COPY_ROWS:
                plain.append(i)
    if n_alike <= max(1, MAX_ALIKE * problem.n_features):
        noted |= {i: _identifier(problem.names[i]) for i in plain}
    return noted


def _identifier(name: str, why: str = "it has a different value in every row") -> Suspicion:
    return Suspicion("identifier", name, f"{name!r} looks like an identifier: {why}. Exclude it.")


def _row_number(name: str, column: FloatArray) -> Suspicion:
    how = "increases" if column[-1] > column[0] else "decreases"
    evidence = f"{name!r} {how} with the row number. Exclude it if it only records when a row was added."
    if not _is_sorted(column):
        evidence = f"{name!r} numbers the rows: its values are evenly spaced. Exclude it."
    return Suspicion("row number", name, evidence)


def _repeated_identifier(column: FloatArray, kind: str) -> int:
    """Count the values of whole numbers or levels that few rows share: of a customer with several rows. 0 if not so."""
    known = column[~np.isnan(column)]
    n_distinct = len(np.unique(known))
    few_share = n_distinct >= max(MIN_IDENTIFIERS, len(known) / MAX_ROWS_OF_ONE)
    return n_distinct if few_share and (kind == "nominal" or _is_whole(known)) else 0


def _all_different(column: FloatArray) -> bool:
    return not np.isnan(column).any() and len(np.unique(column)) == len(column)


def _is_sorted(column: FloatArray) -> bool:
    return bool(_rises(column) or _rises(-column))


def _same_length(column: FloatArray) -> bool:
    """Return whether all whole numbers have equally many digits, and enough that few are equal by chance."""
    low, high = float(column.min()), float(column.max())
    return low >= 1 and len(str(int(low))) == len(str(int(high))) and high - low >= len(column)


# --------------------------------------------------------------------------------------- copies of the target


class _Classes:
    """Finds columns that give the class away."""

    def __init__(self, problem: Problem) -> None:
        self.y = np.asarray(problem.y)
        self.n_classes, self.n_columns = problem.n_classes, problem.n_features
        self.shares = np.bincount(self.y, minlength=self.n_classes) / len(self.y)
        self.how, self.is_copy = "", False

    def worth_a_look(self, problem: Problem, columns: list[int], part: IntArray) -> list[int]:
        """Pass over columns of small whole numbers whose values are too rarely of one class, all columns at once.

        A row whose class is not the usual one of its value stays so when rows are added: errors in a few rows of a
        part are errors in the part.
        """
        low, high = problem.extremes
        small = np.array([i for i in columns if low[i] >= 0 and high[i] < MOST_CODES], dtype=np.int64)
        few, k, width = part[:QUICK], self.n_classes, int(high[small].max(initial=0)) + 1
        size = len(small) * width
        if size * k > MOST_COUNTS:
            return columns
        cells = problem.X[few][:, small] if len(small) < problem.n_features else problem.X[few]
        codes = (np.nan_to_num(cells) if problem.has_missing else cells).astype(np.int64)
        places = (codes + width * np.arange(len(small))) + size * self.y[few][:, None]
        counts = np.bincount(places.ravel(), minlength=k * size).reshape(k, len(small), width)
        errors = len(few) - counts.max(axis=0).sum(axis=1)
        allowed = (1.0 - NEAR_COPY) * (1.0 - float(self.shares.max())) * len(part)
        innocent = set(small[(errors > allowed) & (codes == cells).all(axis=0)].tolist())
        return [i for i in columns if i not in innocent]

    def tells(self, column: FloatArray, rows: IntArray | slice) -> bool:
        """Say whether a column gives the class of these rows away; `how` says how."""
        y = self.y[rows]
        column = np.where(np.isnan(column), np.inf, column)
        values, codes = np.unique(column, return_inverse=True)
        places = codes * self.n_classes + y
        counts = np.bincount(places, minlength=len(values) * self.n_classes).reshape(-1, self.n_classes).astype(float)
        sizes, right = counts.sum(axis=1), counts.max(axis=1).sum()
        if right == len(y):
            chance = float(np.log(np.maximum((self.shares ** sizes[:, None]).sum(axis=1), 1e-300)).sum())
            if chance + np.log(self.n_columns) < np.log(CHANCE):
                self.how, self.is_copy = "each of its values belongs to one class", len(values) == self.n_classes
                return True
        self.is_copy = False
        if self._apart(column, y):
            self.how = "each class has a range of its own"
            return True
        if len(values) > max(self.n_classes, len(y) // MIN_NEAR_COPY_ROWS) or len(y) < MIN_NEAR_COPY_ROWS:
            return False
        expected = float(self.shares.max())
        self.how = "except in a few rows"
        return bool((right / len(y) - expected) / (1.0 - expected) >= NEAR_COPY)

    def _apart(self, column: FloatArray, y: IntArray) -> bool:
        """Return whether the ranges of the classes do not overlap."""
        present = [column[y == c] for c in range(self.n_classes) if (y == c).any()]
        if len(present) < 2 or len(y) < MIN_NEAR_COPY_ROWS or not np.isfinite(column).all():
            return False
        places = sorted((float(part.min()), float(part.max())) for part in present)
        gaps = [low - high for (_, high), (low, _) in pairwise(places)]
        return min(gaps) > 0


class _Quantity:
    """Finds columns that give a quantity away."""

    def worth_a_look(self, problem: Problem, columns: list[int], part: IntArray) -> list[int]:
        """Look at all columns."""
        return columns

    def __init__(self, problem: Problem) -> None:
        self.y = np.asarray(problem.y, dtype=np.float64)
        self.how, self.is_copy = "", False

    def tells(self, column: FloatArray, rows: IntArray | slice) -> bool:
        """Say whether a column gives the quantity in these rows away; `how` says how."""
        from scipy.stats import rankdata  # slow to import

        known = ~np.isnan(column)
        x, y = column[known], self.y[rows][known]
        if len(x) < MIN_ROWS or x.min() == x.max() or y.min() == y.max():
            return False
        if _correlation(x, y) >= NEAR_LINE or _correlation(rankdata(x), rankdata(y)) >= 1.0 - 1e-12:
            self.how, self.is_copy = "the two rise and fall together in every row", bool((x == y).all())
            return True
        self.is_copy = False
        order = np.argsort(x, kind="stable")
        starts = np.unique(x[order], return_index=True)[1]
        if len(starts) > len(x) // 2:
            return False
        self.how = "each of its values belongs to one value of the target"
        low, high = np.minimum.reduceat(y[order], starts), np.maximum.reduceat(y[order], starts)
        return bool((low == high).all()) and len(np.unique(y)) > 2


def _correlation(x: FloatArray, y: FloatArray) -> float:
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt((x @ x) * (y @ y))
    return float(abs(x @ y) / size) if size > 0 and np.isfinite(size) else 0.0
