"""Repeat the search on resamples and keep what keeps coming back (Loughrey; Nel, section 7.3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from fewer.contracts import Control, Criterion, Objective, Run, SearchSpace
from fewer.contracts.declaring import Count, Fraction, Positive, Repeats, Share, parameters
from fewer.contracts.trace import Step, Trace, best_first
from fewer.control._ranking import frequent_units, unit_scores
from fewer.parallel import run_parts
from fewer.problem import InputError, IntArray, Problem


@parameters
class Aggregate(Control):
    """Run the search on resamples of the rows and keep the features chosen in enough of them, or the best subset.

    Read more in the guide: :doc:`/methods/controls`.

    Parameters
    ----------
    n_runs : int, default=20
        How many resamples are searched.
    threshold : float, default=0.5
        A unit stays if the share of runs that chose it is at least this.
    resample : {"subsample", "bootstrap", "reshuffle"}, default="subsample"
        Draw a share of the rows without replacement, or as many rows as there are with replacement; or keep all rows
        and only reshuffle the folds and the search. Row groups are drawn whole.
    control : Control, optional
        Runs inside each run.
    share : float, default=0.8
        Share of the rows (of each class) in a subsample.
    vote : {"features", "subsets"}, default="features"
        What the runs vote on. `"subsets"` is Nel's protocol: every run names its `top` best subsets, each of which
        gains 1 / (offset + loss), and the subset that gains most is kept.
    vary : dict of str to sequence, optional
        Parameters of the criterion and the values to try: every resample is searched with each combination, such as
        `{"n_neighbors": [20, 30, 40, 50]}` for `GammaTest`.
    top : int, default=10
        How many subsets a run names.
    perfect : float, default=0.0
        The score of a perfect subset; the loss of another is what it lacks. 0 for `GammaTest`, 1 for accuracies.
    offset : float, default=0.1
        Losses count as −offset / 2 at least, so that a subset better than perfect does not outvote all others.

    Notes
    -----
    If the sizes asked for say otherwise, the most frequent units fill up, or the least frequent give way; equal
    frequencies are decided by column order. The trace holds `extra["frequency"]`, one share a feature, and its
    score is that of the kept features on all rows. With votes on subsets it also holds `extra["subsets"]`, best first,
    `extra["subset_rank"]`, what each gained, `extra["subset_count"]`, how many runs named it, and
    `extra["subset_loss"]`, its mean loss in them.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> control = fewer.control.Aggregate(n_runs=4)
    >>> selector = fewer.SubsetSelector(
    ...     fewer.criteria.Separability(), control=control, n_features_to_select=2, random_state=0
    ... ).fit(X, y)
    >>> selector.trace_.extra["frequency"].shape
    (4,)
    """

    command_name = "aggregate"

    n_runs: Repeats = 20
    threshold: Share = 0.5
    resample: Literal["subsample", "bootstrap", "reshuffle"] = "subsample"
    control: Control | None = None
    share: Fraction = 0.8
    vote: Literal["features", "subsets"] = "features"
    vary: Annotated[Mapping[str, Sequence[Any]] | None, Mapping, None] = None
    top: Count = 10
    perfect: Annotated[float, Real] = 0.0
    offset: Positive = 0.1

    def n_searches(self, n_samples: int) -> int:
        # One for each resample and setting.
        return super().n_searches(n_samples) * self.n_runs * len(ParameterGrid(dict(self.vary or {})))

    def run(self, run: Run) -> Trace:
        # Run, count, keep. An interrupted run goes on with the first resample that was not finished.
        space, trace = run.space, run.trace
        if space.weight_levels > 1:
            raise InputError("Aggregate counts how often features are chosen; it does not work on weights.")
        objective = Objective(run.scorer, space)
        criteria = [clone(run.criterion).set_params(**values) for values in ParameterGrid(dict(self.vary or {}))]
        seeds = run.rng.spawn(self.n_runs)
        masks: list[Any] = trace.state.setdefault("masks", [])
        left = [divmod(number, len(criteria)) for number in range(len(masks), self.n_runs * len(criteria))]
        with run.trace.finishing():
            tasks = [(setting, seeds[resample]) for resample, setting in left]
            for inner in run_parts(_search_resample, tasks, run, self, criteria):
                masks.append(inner.best != 0)
                trace.n_evaluations += inner.n_evaluations
                trace.extra["frequency"] = np.mean(masks, axis=0)
                if self.vote == "subsets":
                    self._count_subsets(inner, trace)
                    kept = space.shrink(trace.extra["subsets"][0])
                else:
                    kept = self._keep(trace.extra["frequency"], space)
                objective.follow(trace)
                score = float(objective.score(kept[None])[0])
                trace.record(Step(masks[-1], inner.best_score, space.expand(kept[None])[0], score))
                run.tell()
        return trace

    def _count_subsets(self, inner: Trace, trace: Trace) -> None:
        """Add what one run's best subsets gain to the poll, kept best first."""
        extra = trace.extra
        names = inner.top_masks if inner.top_masks is not None and len(inner.top_masks) else inner.best[None]
        scores = inner.top_scores if len(inner.top_scores) else np.array([inner.best_score])
        named = names[: self.top] != 0
        loss = self.perfect - scores[: self.top]
        gain = 1.0 / (self.offset + np.maximum(loss, -self.offset / 2.0))
        everyone = np.concatenate([extra["subsets"], named]) if "subsets" in extra else named
        subsets, which = np.unique(everyone, axis=0, return_inverse=True)
        which = which.reshape(-1)
        n_old = len(everyone) - len(named)
        poll = np.zeros((3, len(subsets)))
        if n_old:
            count = extra["subset_count"]
            earlier = np.stack([extra["subset_rank"], count, count * extra["subset_loss"]], axis=1)
            np.add.at(poll.T, which[:n_old], earlier)
        np.add.at(poll.T, which[n_old:], np.stack([gain, np.ones(len(named)), loss], axis=1))
        order = best_first(subsets, poll[0])
        extra["subsets"] = subsets[order]
        extra["subset_rank"], extra["subset_count"] = poll[0, order], poll[1, order]
        extra["subset_loss"] = poll[2, order] / poll[1, order]

    def _keep(self, frequency: Any, space: SearchSpace) -> Any:
        state = space.empty()
        state[frequent_units(unit_scores(frequency, space), self.threshold, space)] = True
        return state


def _search_resample(shared: tuple[Run, Aggregate, list[Criterion]], setting: int, rng: np.random.Generator) -> Trace:
    run, control, criteria = shared
    # Every setting starts from the same state, so that it sees the same rows.
    rng = deepcopy(rng)
    rows = draw_rows(run.problem, control.resample, rng, control.share)
    return run.on(rows, rng, criterion=criteria[setting]).under(control.control)


def draw_rows(problem: Problem, resample: str, rng: np.random.Generator, share: float = 0.8) -> IntArray:
    """Draw a resample in which every class of the problem is met at least twice, if it can be.

    A resample keeps row order, so that it depends on which rows were drawn and not on when.
    """
    if resample == "reshuffle":
        return np.arange(problem.n_samples)

    def draw(units: IntArray, n_kept: int) -> IntArray:
        return rng.choice(units, len(units)) if resample == "bootstrap" else rng.permutation(units)[:n_kept]

    if problem.groups is not None:
        names = np.unique(problem.groups)
        drawn = draw(names, max(int(len(names) * share + 1e-9), 1))
        return np.sort(np.concatenate([np.flatnonzero(problem.groups == name) for name in drawn]))
    codes = problem.y if problem.task == "classification" else np.zeros(problem.n_samples, dtype=np.int64)
    classes = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    kept = [draw(rows, max(int(np.ceil(len(rows) * share - 1e-9)), min(len(rows), 2))) for rows in classes]
    return np.sort(np.concatenate(kept))
