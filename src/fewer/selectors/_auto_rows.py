"""Which rows `auto` looks at, and what looking at them costs on the nominal machine."""

from __future__ import annotations

import numpy as np

from fewer.control._aggregate import draw_rows
from fewer.problem import Problem

SECONDS_A_PAIR, SECONDS_A_ROW = 1.9e-9, 1.0e-6
"""What nearest neighbors take for a subset on the nominal machine: for each pair of rows, and for each row."""
FEWEST_ROWS = 300
"""Rows on which a machine is measured against the nominal one."""


def seconds_a_subset(n_rows: int) -> float:
    """Return the nominal time in which nearest neighbors score one subset."""
    return SECONDS_A_PAIR * n_rows**2 + SECONDS_A_ROW * n_rows


def sample_rows(problem: Problem, n_rows: int, rng: np.random.Generator) -> Problem:
    """Draw about so many rows, classes alike and row groups whole; all if there are no more."""
    if problem.n_samples <= n_rows:
        return problem
    return problem.take(draw_rows(problem, "subsample", rng, n_rows / problem.n_samples))


__all__ = ["FEWEST_ROWS", "sample_rows", "seconds_a_subset"]
