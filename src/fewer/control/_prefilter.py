"""Cut the columns by a ranker before the search, on the rows that the search gets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import clone

from fewer.contracts import Control, Criterion, OnStep, Ranker, Resources, Search, SearchSpace
from fewer.objective import run_method
from fewer.problem import InputError, Problem
from fewer.trace import Trace


class Prefilter(Control):
    """Keep the best-ranked units only; with `start`, also begin the search from the very best.

    Parameters
    ----------
    ranker : Ranker
    keep : int, default=200
        How many free units stay. A group of columns ranks with its best column.
    start : int, optional
        Begin the search from the best so many units instead of where it would begin by itself.
    control : Control, optional
        Runs inside, on what is left.
    """

    def __init__(
        self, ranker: Ranker, keep: int = 200, start: int | None = None, control: Control | None = None
    ) -> None:
        self.ranker = ranker
        self.keep = keep
        self.start = start
        self.control = control

    def run(
        self,
        criterion: Criterion,
        problem: Problem,
        search: Search,
        space: SearchSpace,
        rng: np.random.Generator,
        on_step: OnStep | None = None,
        *,
        resources: Resources,
        trace: Trace,
    ) -> Trace:
        """Rank on these rows, shrink the space, go on."""
        if self.keep < max(space.min_units, 1):
            raise InputError(
                f"The prefilter keeps {self.keep} features, but {space.min_units} are asked for; raise keep."
            )
        space = space.without(problem.constant)
        order = self.ranker.rank(problem, rng, resources).order
        place = np.empty(problem.n_features, dtype=np.int64)
        place[order] = np.arange(problem.n_features)
        units = np.argsort([place[unit].min() for unit in space.units], kind="stable")
        dropped = np.zeros(problem.n_features, dtype=bool)
        for unit in units[self.keep :]:
            dropped[space.units[unit]] = True
        if self.start is not None:
            start = space.empty()
            start[units[: self.start]] = 1
            space = replace(space, start=start)
        if dropped.any() and not trace.notes:
            ranker = type(self.ranker).__name__
            trace.notes.append(f"{ranker} kept {self.keep} of {len(units)} features for the search.")
        return run_method(
            self.control,
            criterion,
            problem,
            search,
            space.without(dropped),
            rng,
            on_step,
            resources=resources,
            trace=trace,
        )


def add_innermost(control: Control | None, inner: Control) -> Control:
    """Return a copy of a control with another one inside it, next to the search."""
    if control is None:
        return inner
    copy = clone(control)
    copy.set_params(control=add_innermost(control.control, inner))
    return copy
