"""A criterion that looks at some columns only: a sparse table becomes dense there and nowhere else.

Cut the columns by a ranker before the search, on the rows that the search gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from fewer.contracts import Control, Criterion, Masks, PredictiveScorer, Ranker, Resources, Run, Scorer
from fewer.contracts.declaring import Count, parameters
from fewer.contracts.trace import Trace
from fewer.io import SparseProblem
from fewer.problem import FloatArray, InputError, IntArray, Problem
from fewer.text import NoteKind


class NarrowCriterion(Criterion):
    """Another criterion on some columns of a sparse table; masks still stand for all columns.

    Parameters
    ----------
    criterion : Criterion
        The criterion on all columns.
    columns : int array
        Ascending; a mask may hold these only.
    """

    def __init__(self, criterion: Criterion, columns: IntArray) -> None:
        self.criterion = criterion
        self.columns = columns
        for name in ("monotone", "supports_weights", "predictive", "multi_output", "tasks", "takes"):
            setattr(self, name, getattr(criterion, name))

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        assert isinstance(problem, SparseProblem)
        inner = self.criterion.bind(problem.narrowed(self.columns), rng, resources)
        return NarrowScorer(inner, self.columns)


class NarrowScorer(PredictiveScorer):
    """A scorer of some columns that is asked about all."""

    def __init__(self, scorer: Any, columns: IntArray) -> None:
        self._scorer, self._columns = scorer, columns

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks."""
        return np.asarray(self._scorer.score(np.asarray(masks)[:, self._columns]))

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score the masks that differ from one mask in one unit."""
        own = [np.searchsorted(self._columns, unit) for unit in units]
        return np.asarray(self._scorer.flips(np.asarray(mask)[self._columns], own, values))

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row without its own fold."""
        return np.asarray(self._scorer.outputs(np.asarray(mask)[self._columns]))

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from all bound rows."""
        return np.asarray(self._scorer.predict(np.asarray(mask)[self._columns], X[:, self._columns]))

    def grade(self, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs for rows in the criterion's own units."""
        return float(self._scorer.grade(outputs, rows))


@parameters
class Prefilter(Control):
    """Keep the best-ranked units only; with `start`, also begin the search from the very best.

    Read more in the guide: :doc:`/guide/wide`.

    Parameters
    ----------
    ranker : Ranker
        Ranks the columns, on the rows of the run.
    keep : int, default=200
        How many free units stay. A group of columns ranks with its best column.
    start : int, optional
        Number of best units from which the search starts, instead of its own start.
    control : Control, optional
        Runs inside, on what is left.

    See Also
    --------
    fewer.SubsetSelector : Its parameter `prefilter` puts one next to the search.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> control = fewer.control.Prefilter(fewer.rankers.Fisher(), keep=2)
    >>> selector = fewer.SubsetSelector(fewer.criteria.Separability(), fewer.search.Exhaustive(), control=control)
    >>> selector.fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    command_name = "prefilter"

    ranker: Ranker
    keep: Count = 200
    start: Annotated[int | None, Interval(Integral, 0, None, closed="left"), None] = None
    control: Control | None = None

    def run(self, run: Run) -> Trace:
        # Rank on these rows, shrink the space, go on.
        problem, space, trace = run.problem, run.space.without(run.problem.constant), run.trace
        if self.keep < max(space.min_units, 1):
            raise InputError(
                f"The prefilter keeps {self.keep} features, but {space.min_units} are asked for; raise keep."
            )
        order = self.ranker.rank(problem, run.rng, run.resources).order
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
        if dropped.any():
            ranker = type(self.ranker).__name__
            trace.note(f"{ranker} kept {self.keep} of {len(units)} features for the search.", NoteKind.PREFILTER)
        kept = space.without(dropped)
        if isinstance(problem, SparseProblem):
            columns = np.flatnonzero(space.base | np.isin(np.arange(problem.n_features), np.concatenate(kept.units)))
            run = replace(run, criterion=NarrowCriterion(run.criterion, columns))
        return replace(run, space=kept).under(self.control)


def add_innermost(control: Control | None, inner: Control) -> Control:
    """Return a copy of a control with another one inside it, next to the search.

    Parameters
    ----------
    control : Control or None
        The outer control, with those inside it.
    inner : Control
        What goes inside.

    Returns
    -------
    Control
        `inner` itself if there is no other.

    Examples
    --------
    >>> from fewer.control import Aggregate
    >>> from fewer.rankers import Fisher
    >>> add_innermost(Aggregate(), Prefilter(Fisher())).control
    Prefilter(ranker=Fisher())
    """
    if control is None:
        return inner
    copy = clone(control)
    copy.set_params(control=add_innermost(control.control, inner))
    return copy
