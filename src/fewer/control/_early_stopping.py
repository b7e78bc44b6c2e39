"""Stop a stochastic search before it overfits (Loughrey, chapter 5; specification section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Control, Count, Objective, PredictiveScorer, Run, SearchSpace, Share, parameters
from fewer.contracts.trace import Step, Trace, best_first
from fewer.control._one_standard_error import JudgedFolds, Record, judged_fold, search_all
from fewer.control._ranking import frequent_units
from fewer.parallel import parallelism, run_tasks
from fewer.problem import FloatArray, InputError, Problem
from fewer.text import NoteKind, score_text
from fewer.validate import Split
from fewer.validate.splits import CV

# Standard errors of a fall that is called overfitting. The peak is chosen, so that chance alone makes flat curves
# fall by two of them in 15 to 30 % of ten runs on 20 rows each, and by 2.5 in 5 to 13 %.
SURE_FALL = 2.5


@parameters
class EarlyStopping(JudgedFolds):
    """Find the step after which the search overfits its training rows, and search all rows no further than that.

    The rows are split into folds. The unmodified search runs on all folds but one, and after each step the fold
    left out judges where the search stands. The validation curves are averaged over the folds and smoothed; the step
    at which they peak is where to stop.

    Read more in the guide: :doc:`/methods/loughrey`.

    Parameters
    ----------
    cv : int or splitter, default=10
        The validation folds: a number of stratified ones that never split a row group, or a scikit-learn splitter.
    how : {"shorten", "level", "peak", "aggregate"}, default="shorten"
        What to do with the stopping point x. `"shorten"` (the thesis): search all rows with x / length of the effort;
        annealing keeps its schedule and tries less at each level, a genetic search stops at generation x.
        `"level"`: search all rows unmodified and stop at step x. The other two search no more. `"peak"`: of the
        subsets at which the validation runs stood at step x, take the one that scores best on all rows.
        `"aggregate"`: keep what at least `threshold` of these subsets hold.
    window : int, default=5
        Points of the moving average that smooths the validation curve: centered, full windows only.
    threshold : float, default=0.5
        For `"aggregate"`.
    only_if_seen : bool, default=False
        Go on to the end where the validation runs show no overfitting. The thesis stops at the peak in any case.
    control : Control, optional
        Runs inside each run, such as a `Prefilter`.

    Notes
    -----
    The peak is the highest point of the smoothed curve, the earliest among equals. Overfitting counts as seen if the
    curve falls from there to its end by more than 2.5 standard errors of that fall over the folds. A run that ends
    early keeps its last score for the steps that others took.

    The trace holds, in `extra`, `training` and `validation` (the averaged curves, one score a step, the start
    first), `smoothed`, `stop` (x, and the number of steps of a whole search), `fall` (of the smoothed curve from x
    to its end, and its standard error), `validation_masks` (where each run stood at step x) and
    `frequency` (the share of them that holds each feature). Its steps are those of the last search.

    Does it help? `experiments/early_stopping.md` measures it on rows never seen: `"shorten"` and `"level"` are within
    about a point of the plain search either way on average; `"aggregate"` did best of the variants where overfitting
    was planted, for annealing and for genetic search. If the aim is to predict, `fewer.SubsetEnsemble` lets the subsets
    of such runs vote, and was ahead of both on average on all nine designs.

    Results do not depend on the number of threads or processes. An interrupted run keeps the validation runs that are
    finished, and ends as if it had never been interrupted.

    Examples
    --------
    >>> import fewer
    >>> X, y, _ = fewer.datasets.make_rdg1(60, 20, 15, random_state=0)
    >>> search = fewer.search.Annealing(levels=30, answer="final")
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), search, control=EarlyStopping(cv=5), random_state=0)
    >>> trace = selector.fit(X, y).trace_
    >>> x, length = trace.extra["stop"]
    >>> int(x) <= int(length) == 30
    True
    """

    search_needs: ClassVar[frozenset[str]] = frozenset({"stochastic"})
    command_name = "early-stopping"

    cv: CV = 10
    how: Literal["shorten", "level", "peak", "aggregate"] = "shorten"
    window: Count = 5
    threshold: Share = 0.5
    only_if_seen: bool = False
    control: Control | None = None

    def judged(self, run: Run, split: Split, held: Problem, rng: np.random.Generator) -> Record:
        # Where the search stands after each step; a score is computed once for each subset.
        grades: dict[bytes, float] = {}
        curves: dict[str, list[Any]] = {"training": [], "validation": [], "masks": []}

        def judge(trace: Trace) -> None:
            step = trace.steps[-1]
            key = step.mask.tobytes()
            if key not in grades:
                grades[key] = scorer.grade(scorer.predict(step.mask, held.X), held)
            for curve, value in zip(curves.values(), (step.score, grades[key], step.mask.copy()), strict=True):
                curve.append(value)
            if not run.trace.state.get("runs"):  # the first run is shown while it goes on
                self._summarise([curves], run.trace)
            run.tell()

        # Only the best subset is kept in memory: keeping many costs more than a move of the search.
        part = run.on(split.train, rng, trace=Trace(keep=1), follower=judge)
        scorer = cast(PredictiveScorer, part.scorer)
        n_evaluations = part.under(self.control).n_evaluations
        last = {"best": curves["masks"][-1], "score": float(curves["training"][-1]), "n_evaluations": n_evaluations}
        return {name: np.array(curve) for name, curve in curves.items()} | last

    def _ask(self, run: Run, tasks: list[Any], splits: list[Split]) -> Iterable[Record]:
        # Runs that have the search's threads for themselves would wait for each other: they go to processes.
        if len(tasks) > 1 and parallelism(run.resources) > 1:
            return run_tasks(judged_fold, tasks, run.resources, shared=(run.shipped(), self, splits))
        return super()._ask(run, tasks, splits)

    def _summarise(self, records: Sequence[Record], trace: Trace) -> None:
        trace.extra.update(_mean_curves(records))

    def _search_all(self, run: Run, records: list[Record], rng: np.random.Generator) -> None:
        trace = run.trace
        point = stopping_point([record["validation"] for record in records], self.window)
        self._explain(records, point, trace)
        if self.how in ("shorten", "level"):
            self._search_on(run, point, rng)
            return
        trace.restart()
        space = run.space.without(run.problem.constant)
        masks = [record["masks"] for record in records]
        self._choose_mask(Objective(replace(run, rng=rng).scorer, space), masks, point, trace)
        run.tell()

    def _search_on(self, run: Run, point: StoppingPoint, rng: np.random.Generator) -> None:
        """Search all rows up to the stopping point."""
        whole = self.only_if_seen and not point.overfitting

        def follow(trace: Trace) -> None:
            run.tell()
            if self.how == "level" and not whole and trace.n_steps > point.step:
                raise _EnoughError

        search = run.search.shortened(point.share) if self.how == "shorten" and not whole else run.search
        with suppress(_EnoughError):
            search_all(replace(run, search=search, follower=follow), self.control, rng)

    def _choose_mask(self, objective: Objective, masks: list[NDArray[Any]], point: StoppingPoint, trace: Trace) -> None:
        """Make the answer of the subsets at which the validation runs stood."""
        space = objective.space
        objective.follow(trace)
        states = np.array([space.shrink(mask) for mask in _at_step(masks, point.step)])
        if self.how == "aggregate":
            states = join_states(states, space, self.threshold)[None]
        scores = objective.score(states)
        best = best_first(states, scores)[0]
        mask = space.expand(states[best][None])[0]
        trace.record(Step(mask, float(scores[best]), mask, float(scores[best])))

    def _explain(self, records: list[Record], point: StoppingPoint, trace: Trace) -> None:
        masks = _at_step([record["masks"] for record in records], point.step)
        trace.extra.update(
            _mean_curves(records),
            smoothed=point.smoothed,
            stop=np.array([point.step, point.length]),
            fall=np.array([point.fall, point.fall_error]),
            validation_masks=masks,
            frequency=(masks != 0).mean(axis=0),
        )
        validation = trace.extra["validation"]
        runs = f"{len(records)} validation runs"
        ends = point.fall - point.fall_error, point.fall + point.fall_error
        fall = f"{score_text(point.fall, *ends)} ± {score_text(point.fall_error, *ends)}"
        if point.overfitting:
            note = (
                f"Overfitting seen in {runs}: the held-out score peaks near step {point.step} of {point.length}, and"
                f" is {fall} lower at the end."
            )
        else:
            note = (
                f"No overfitting seen in {runs}: the held-out score is {score_text(validation[-1])} at the end, and "
                f"{fall} higher near step {point.step} of {point.length}."
            )
        trace.note(note, NoteKind.OVERFITTING)


@dataclass(frozen=True, eq=False)
class StoppingPoint:
    """Where averaged validation curves peak.

    Attributes
    ----------
    step, length : int
        The step of the peak, counted from 0, and the last step of a whole search.
    smoothed : array
        The moving average; NaN where the window is not full.
    fall, fall_error : float
        How much the smoothed curve falls from the peak to its last point, and the standard error of that.
    """

    step: int
    length: int
    smoothed: FloatArray
    fall: float
    fall_error: float

    @property
    def share(self) -> float:
        """The share of the search's effort that leads to the peak."""
        return self.step / self.length if self.length and self.step else 1.0 / max(self.length, 1)

    @property
    def overfitting(self) -> bool:
        """The fall is more than the choice of the peak explains."""
        return self.fall > SURE_FALL * self.fall_error


def stopping_point(curves: list[FloatArray], window: int = 5) -> StoppingPoint:
    """Average validation curves, smooth them, and find the peak, the earliest among equals.

    Examples
    --------
    >>> curve = np.array([50, 52, 60, 61, 70, 69, 71, 66, 60, 58, 57.0])
    >>> point = stopping_point([curve, curve])
    >>> point.step, point.length, point.smoothed[5].tolist(), point.overfitting
    (5, 10, 67.4, True)
    """
    table = _same_length(curves)
    n = table.shape[1]
    width = min(window, n if n % 2 else n - 1)
    if width < 1 or width % 2 == 0:
        raise InputError(f"window={window}: the moving average needs an odd number of points.")
    half = width // 2
    smooth = np.array([np.convolve(curve, np.full(width, 1.0 / width), mode="valid") for curve in table])
    mean = np.round(smooth.mean(axis=0), 12)  # equal windows tie, whatever the order of their sums
    best = int(np.argmax(mean))
    falls = smooth[:, best] - smooth[:, -1]
    error = float(falls.std(ddof=1) / np.sqrt(len(falls))) if len(falls) > 1 else float("inf")
    smoothed = np.full(n, np.nan)
    smoothed[half : n - half] = mean
    return StoppingPoint(best + half, n - 1, smoothed, float(mean[best] - mean[-1]), error)


def join_states(states: NDArray[Any], space: SearchSpace, threshold: float) -> NDArray[Any]:
    """Keep the units that enough of the states hold, with their mean weight on the grid.

    If the sizes asked for say otherwise, the most frequent units fill up or the least frequent give way.
    """
    joined, kept = space.empty(), frequent_units((states != 0).mean(axis=0), threshold, space)
    means = states[:, kept].sum(axis=0) / np.maximum((states[:, kept] != 0).sum(axis=0), 1)
    joined[kept] = np.maximum(np.rint(means * space.weight_levels), 1) / space.weight_levels
    return joined


class _EnoughError(Exception):
    """The search has come as far as it should."""


def _same_length(curves: list[FloatArray]) -> FloatArray:
    """Put curves into one table, each going on with its last value."""
    longest = max(len(curve) for curve in curves)
    return np.array([np.append(curve, np.full(longest - len(curve), curve[-1])) for curve in curves])


def _mean_curves(records: Sequence[Record]) -> dict[str, FloatArray]:
    return {name: _same_length([r[name] for r in records]).mean(axis=0) for name in ("training", "validation")}


def _at_step(masks: list[NDArray[Any]], step: int) -> NDArray[Any]:
    return np.array([path[min(step, len(path) - 1)] for path in masks])
