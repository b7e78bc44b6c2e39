"""Which rows of a problem train, which judge what was learnt, and which are kept aside for calibration."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from fewer.problem import BoolArray, InputError, IntArray, Problem
from fewer.roc._learners import Lessons
from fewer.validate import assign_folds, split_rows


def deal_out(
    problem: Problem, calibration: float, cv: Any, validation: float, rng: np.random.Generator, *, in_folds: bool = True
) -> tuple[Lessons, Problem | None]:
    """Keep rows aside for calibration and make lessons of the others.

    Where rows have a time, the latest calibrate, and judges are always later than what they judge was learnt from.

    Parameters
    ----------
    problem : Problem
        Of two classes.
    calibration : float
        The share kept aside.
    cv : int, "loo", splitter or list of (train, test)
        Folds; the row numbers of a list are those of the problem, and rows kept aside are left out of it.
    validation : float
        The share of the others that judges where there are no folds.
    rng : Generator
    in_folds : bool, default=True
        Whether every row trains and judges in turn; a class too small for it, or in too few groups, gets one split.

    Returns
    -------
    (Lessons, Problem or None)
        The second holds the calibration rows, if there are any.
    """
    kept = _latest(problem, calibration) if problem.time is not None else kept_aside(problem, calibration, rng)
    rest, aside = _without_groups_of(problem, ~kept, kept), problem.take(kept) if kept.any() else None
    if aside is not None and problem.time is not None and len(np.unique(aside.y)) < 2:
        raise InputError(
            f"The latest {aside.n_samples} rows, kept for calibration, hold one class; give another calibration share."
        )
    if len(np.unique(problem.y[rest])) < 2:
        raise InputError("The rows kept for calibration, and their groups, leave no row of one class to train with.")
    pairs = _folds(problem, np.flatnonzero(rest), cv, rng) if in_folds else ()
    if pairs:
        return Lessons(pairs, problem.take(rest)), aside
    return _one_split(problem.take(rest), validation, rng), aside


def _folds(problem: Problem, rest: IntArray, cv: Any, rng: np.random.Generator) -> tuple[tuple[Problem, Problem], ...]:
    """Return training rows and judges of each fold; none if some training rows would be of one class."""
    rows = problem.take(rest)
    if not (isinstance(cv, Integral | str) or cv is None or hasattr(cv, "split")):
        # A list is for the rows of the whole table.
        splits = [
            tuple(part[np.isin(part, rest)] for part in (split.train, split.test))
            for split in split_rows(problem, cv, rng)
        ]
        pairs = [(problem.take(train), problem.take(test)) for train, test in splits if len(train) and len(test)]
        return _of_both_classes(pairs)
    if rows.time is not None:
        found = split_rows(rows, cv, rng)
        return _of_both_classes([(rows.take(split.train), rows.take(split.test)) for split in found])
    folds = assign_folds(rows, _fewest(cv, rows), rng)
    pairs = [(rows.take(folds != fold), rows.take(folds == fold)) for fold in np.unique(folds)]
    return tuple(pairs) if all(len(np.unique(train.y)) == 2 for train, _ in pairs) else ()


def _of_both_classes(pairs: list[tuple[Problem, Problem]]) -> tuple[tuple[Problem, Problem], ...]:
    """Leave out splits whose training rows are of one class, such as the earliest; judges must be of both together."""
    able = [pair for pair in pairs if len(np.unique(pair[0].y)) == 2]
    if not able or len(np.unique(np.concatenate([held.y for _, held in able]))) < 2:
        raise InputError("The splits leave no row of one class to train or to judge; give other splits, or more rows.")
    return tuple(able)


def _one_split(rows: Problem, share: float, rng: np.random.Generator) -> Lessons:
    if rows.time is not None:
        judges = _latest(rows, share)
        train, validation = rows.take(_without_groups_of(rows, ~judges, judges)), rows.take(judges)
    else:
        judges = kept_aside(rows, share, rng, least=1)
        train, validation = rows.take(~judges), rows.take(judges)
    for part, name in ((train, "training"), (validation, "validation")):
        if len(np.unique(part.y)) < 2:
            what = "groups leave" if rows.time is None else "times leave"
            raise InputError(f"The {what} no row of one class for {name}; give more of them, or none.")
    return Lessons(((train, validation),), train)


def _latest(problem: Problem, share: float) -> BoolArray:
    """Mark about this share of the rows, the latest; rows of one time stay together, and the earliest stay."""
    time = np.asarray(problem.time)
    if share == 0.0:
        return np.zeros(len(time), dtype=bool)
    moments, counts = np.unique(time, return_counts=True)
    later = np.append(np.cumsum(counts[::-1])[::-1][1:], 0)  # rows after each moment
    nearest = int(np.argmin(np.abs(later - share * len(time))))
    return np.asarray(time > moments[nearest])


def _without_groups_of(problem: Problem, wanted: BoolArray, others: BoolArray) -> BoolArray:
    """Leave out rows whose group is among other rows."""
    if problem.groups is None or problem.time is None:
        return wanted
    return np.asarray(wanted & ~np.isin(problem.groups, problem.groups[others]))


def _fewest(cv: Any, problem: Problem) -> Any:
    """Return the folds, no more than the rows of the smaller class."""
    if isinstance(cv, Integral) and problem.groups is None:
        return max(2, min(int(cv), int(np.bincount(problem.y).min())))
    return cv


def kept_aside(problem: Problem, share: float, rng: np.random.Generator, least: int = 0) -> BoolArray:
    """Draw rows to keep aside, class by class, groups together; at least two rows of a class stay."""
    kept = np.zeros(problem.n_samples, dtype=bool)
    if problem.groups is None:
        stay = 1 if least else 2
        for code in range(problem.n_classes):
            rows = rng.permutation(np.flatnonzero(problem.y == code))
            if len(rows) < 2:
                raise InputError(
                    f"Class {problem.classes[code]!r} has {len(rows)} row(s); training and validation need one each."
                )
            kept[rows[: min(max(round(share * len(rows)), least), len(rows) - stay)]] = True
        return kept
    if share == 0.0:
        return kept
    n_folds = min(30, len(np.unique(problem.groups)))
    folds = assign_folds(problem, n_folds, rng)
    return np.asarray(folds < max(round(share * n_folds), least))
