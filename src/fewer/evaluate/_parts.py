"""Some rows and columns of a problem, dense, whatever its size."""

from __future__ import annotations

import narwhals as nw
import numpy as np

from fewer.control._aggregate import draw_rows
from fewer.io._frames import FrameSchema
from fewer.problem import IntArray, Problem


def part_of(problem: Problem, columns: IntArray, rows: IntArray) -> Problem:
    """Return some rows and columns; of a sparse table only these become dense.

    Parameters
    ----------
    problem : Problem
    columns, rows : int arrays

    Returns
    -------
    Problem

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [0, 1, 0])
    >>> part = part_of(problem, np.array([1]), np.array([0, 2]))
    >>> part.X.tolist(), part.names
    ([[1.0], [5.0]], ('x1',))
    """
    place = {int(column): i for i, column in enumerate(columns)}
    whole = len(rows) == problem.n_samples
    if problem.sparse is None:
        table = problem.X[:, columns] if whole else problem.X[np.ix_(rows, columns)]
    else:
        table = problem.sparse[:, columns].toarray()[rows]
    return Problem(
        X=np.ascontiguousarray(table, dtype=np.float64),
        y=problem.y[rows],
        task=problem.task,
        names=tuple(problem.names[i] for i in columns),
        kinds=tuple(problem.kinds[i] for i in columns),
        classes=problem.classes,
        levels={place[i]: levels for i, levels in problem.levels.items() if i in place},
        sample_weight=None if problem.sample_weight is None else problem.sample_weight[rows],
        groups=None if problem.groups is None else problem.groups[rows],
        time=None if problem.time is None else problem.time[rows],
        schema=_schema(problem, columns),
    )


def _schema(problem: Problem, columns: IntArray) -> FrameSchema | None:
    if problem.schema is None or not problem.schema.fits(problem):
        return None
    head = nw.from_native(problem.schema.head, eager_only=True)
    return FrameSchema(head[:, [int(i) for i in columns]].to_native())


def sample_of(problem: Problem, most: int, rng: np.random.Generator) -> IntArray:
    """Draw about so many rows, classes alike and row groups whole; all if there are no more.

    Parameters
    ----------
    problem : Problem
    most : int
    rng : Generator

    Returns
    -------
    int array
        In the order of the table.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((100, 1)), [0] * 90 + [1] * 10)
    >>> rows = sample_of(problem, 20, np.random.default_rng(0))
    >>> len(rows), (rows >= 90).sum()
    (20, np.int64(2))
    """
    n = problem.n_samples
    if n <= most:
        return np.arange(n)
    if problem.groups is not None:
        names, counts = np.unique(problem.groups, return_counts=True)
        order = rng.permutation(len(names))
        kept = order[: max(int(np.searchsorted(np.cumsum(counts[order]), most, side="right")), 1)]
        return np.flatnonzero(np.isin(problem.groups, names[kept]))
    if problem.task == "classification" and problem.y.ndim == 1:
        return draw_rows(problem, "subsample", rng, most / n)
    return np.sort(rng.choice(n, most, replace=False))


__all__ = ["part_of", "sample_of"]
