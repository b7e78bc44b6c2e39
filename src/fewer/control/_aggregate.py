"""Repeat the search on resamples and keep what keeps coming back (Loughrey: wrapping the wrapper)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fewer.contracts import Control, Criterion, OnStep, Resources, Search, SearchSpace
from fewer.objective import Objective, run_sentence
from fewer.problem import InputError, IntArray, Problem
from fewer.trace import Step, Trace


class Aggregate(Control):
    """Run the search on resamples of the rows and keep the features chosen in enough of them.

    Parameters
    ----------
    n_runs : int, default=20
    threshold : float, default=0.5
        A unit stays if the share of runs that chose it is at least this.
    resample : {"subsample", "bootstrap", "reshuffle"}, default="subsample"
        Draw 4/5 of the rows without replacement, or as many rows as there are with replacement; or keep all rows
        and only reshuffle the folds and the search. Row groups are drawn whole.
    control : Control, optional
        Runs inside each run.

    Notes
    -----
    If the sizes asked for say otherwise, the most frequent units fill up, or the least frequent give way; equal
    frequencies are settled by column order. The trace holds `extra["frequency"]`, one share a feature, and its
    score is that of the kept features on all rows.
    """

    def __init__(
        self,
        n_runs: int = 20,
        threshold: float = 0.5,
        resample: Literal["subsample", "bootstrap", "reshuffle"] = "subsample",
        control: Control | None = None,
    ) -> None:
        self.n_runs = n_runs
        self.threshold = threshold
        self.resample = resample
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
        """Run, count, keep. An interrupted run goes on with the first resample that was not finished."""
        if space.levels > 1:
            raise InputError("Aggregate counts how often features are chosen; it does not work on weights.")
        objective = Objective(criterion.bind(problem, rng, resources), space)
        seeds = rng.spawn(self.n_runs)
        masks: list[Any] = trace.state.setdefault("masks", [])
        try:
            while len(masks) < self.n_runs:
                run_rng = seeds[len(masks)]
                rows = problem.take(draw_rows(problem, self.resample, run_rng))
                inner = run_sentence(self.control, criterion, rows, search, space, run_rng, resources=resources)
                masks.append(inner.best != 0)
                trace.n_evaluations += inner.n_evaluations
                frequency = np.mean(masks, axis=0)
                kept = self._keep(frequency, space)
                objective.follow(trace)
                score = float(objective.score(kept[None])[0])
                trace.extra["frequency"] = frequency
                mask = space.expand(kept[None])[0]
                trace.record(Step(masks[-1], inner.best_score, mask, score))
                if on_step is not None:
                    on_step(trace)
        except KeyboardInterrupt:
            trace.interrupted = True
            raise
        trace.done, trace.interrupted = True, False
        return trace

    def _keep(self, frequency: Any, space: SearchSpace) -> Any:
        shares = np.array([frequency[unit].max() for unit in space.units])
        order = np.argsort(-shares, kind="stable")
        size = int(np.clip((shares >= self.threshold).sum(), space.min_units, space.max_units))
        state = space.empty()
        state[order[:size]] = True
        return state


def draw_rows(problem: Problem, resample: str, rng: np.random.Generator) -> IntArray:
    """Draw a resample in which every class of the problem is met at least twice, if it can be.

    A resample keeps row order, so that it depends on which rows were drawn and not on when.
    """
    if resample == "reshuffle":
        return np.arange(problem.n_rows)
    if resample not in ("subsample", "bootstrap"):
        raise InputError(f"resample={resample!r} is not known; choose 'subsample', 'bootstrap' or 'reshuffle'.")
    if problem.groups is not None:
        names = np.unique(problem.groups)
        drawn = (
            rng.choice(names, len(names))
            if resample == "bootstrap"
            else rng.permutation(names)[: max(len(names) * 4 // 5, 1)]
        )
        return np.sort(np.concatenate([np.flatnonzero(problem.groups == name) for name in drawn]))
    codes = problem.y if problem.task == "classification" else np.zeros(problem.n_rows, dtype=np.int64)
    parts = []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        if resample == "bootstrap":
            parts.append(rng.choice(rows, len(rows)))
        else:
            parts.append(rng.permutation(rows)[: max(-(-len(rows) * 4 // 5), min(len(rows), 2))])
    return np.sort(np.concatenate(parts))
