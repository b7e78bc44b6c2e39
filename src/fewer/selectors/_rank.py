"""Select the best features of a ranking."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from numbers import Integral
from typing import Annotated, Any, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone

from fewer.contracts import (
    Answer,
    Control,
    IncompatibleError,
    OnStep,
    RandomState,
    Ranker,
    Resources,
    SearchSpace,
    best_so_far,
    generator_of,
    parameters,
)
from fewer.contracts.trace import Trace
from fewer.control._ranking import RankingControl, RankingRun
from fewer.criteria import KNN
from fewer.estimators import Jobs
from fewer.kernels.device import tell
from fewer.problem import BoolArray, InputError, IntArray, Problem, Task
from fewer.rankers import Fisher
from fewer.selectors._base import ONE_SIZE, ColumnGroups, Columns, Device, Selector, lay_out_space
from fewer.validate import split_rows, stratified_sample

MOST_LEADING = 100
# Rows on which the number of features is judged: neighbors take the square of the rows, ten times.
MOST_JUDGED = 2_000
# Neighbors of a sample: to choose their number takes nine times as long as to predict, for each size and fold.
FIXED_NEIGHBORS = 5


@parameters
class RankSelector(Selector):
    """Select the best features of a ranking.

    Read more in the guide: :doc:`/guide/which-method`.

    Parameters
    ----------
    ranker : Ranker, default=Fisher()
        How good is each feature?
    control : Control, optional
        Which of them to believe: `Shadow`, `StabilitySelection`, `Knockoffs`, `FalseDiscovery`, `Probe` or
        `Correlated`. It says how many features are kept, which may be none.
    n_features_to_select : int, float or "auto", default="auto"
        How many: a number, a share, or by a cross-validated curve with the one-standard-error rule. For the curve
        the ranking is repeated in each of ten folds; nearest neighbors (k chosen from 1, 3, …, 11) on the
        leading 1, 2, 3, 4, 6, 8, 11, 16, … features, no more than rows (or 100), predict the rows left out; and the
        smallest number whose error is within one standard error of the best is taken. Of more than 2,000 rows, a
        stratified sample of 2,000 is judged so, by 5 neighbors, which `notes_` says; the ranking itself has all rows.
        Groups count as one; features forced in count too. A ranker that says by itself how many features are worth
        keeping (`FCBF`) is followed.
    include, exclude : sequence of str or int, optional
        Features forced in or out.
    feature_groups : sequence of sequences of str or int, optional
        Features that enter together; a group ranks with its best column.
    task : {"classification", "regression"}, optional
        What the target is for, if not what it looks like.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where to compute; `ReliefF`, `RReliefF`, `Relief`, `SURF` and `MultiSURF` have kernels for a GPU. `"auto"` is
        the CPU where there is none.
    n_jobs : int, optional
        Threads; the result is the same for any number.
    random_state : int, Generator, RandomState or None
        Seed of folds and of rankers that draw random numbers.

    Attributes
    ----------
    support_ : bool array of shape (n_features_in_,)
    ranking_ : int array of shape (n_features_in_,)
        1 is best.
    scores_ : float array of shape (n_features_in_,)
        The ranker's number for each feature, higher is better.
    curve_ : dict of arrays, only with "auto" and without a control
        `size`, `score` and `standard_error` of the cross-validated curve.
    extra_ : dict of arrays
        What else the ranker says, such as `p_value`.
    trace_ : Trace, only with a control
        Its history; `trace_.extra` holds what it counted.
    notes_ : list of str
        What to know, such as columns that look like identifiers or tell the target by themselves.
    promise_ : str
        What the control promises, if there is one: a rate, a number or a level, and under which assumptions.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewer import RankSelector
    >>> from fewer.rankers import Fisher, Importance
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> RankSelector(Fisher(), n_features_to_select=2).fit(X, y).get_feature_names_out().tolist()
    ['worst perimeter', 'worst concave points']
    """

    ranker: Ranker | None = None
    _: KW_ONLY
    control: Control | None = None
    n_features_to_select: Annotated[int | float | Literal["auto"], *ONE_SIZE] = "auto"
    include: Columns = None
    exclude: Columns = None
    feature_groups: ColumnGroups = None
    task: Task | None = None
    device: Device = "cpu"
    n_jobs: Jobs = None
    random_state: RandomState = None

    def answer(
        self, problem: Problem, on_step: OnStep | None = None, trace: Trace | None = None, *, share: bool = False
    ) -> Answer:
        """Rank and select the features of a problem; under a control, report its steps or go on from its trace.

        Parameters
        ----------
        problem : Problem
            The rows.
        on_step : callable, optional
            Called with the trace after each step of a control.
        trace : Trace, optional
            Of a control that was interrupted, to go on from.
        share : bool, default=False
            Not looked at: its repetitions share nothing.

        Returns
        -------
        Answer
            Without a run: a ranking scores no subsets.
        """
        ranker, space = self._ranker(), lay_out_space(self, problem)
        self._refuse(ranker, problem)
        if not ranker.supports_device:
            tell(self.device, type(ranker).__name__, "it has no kernels for one")
        rng, resources = generator_of(self.random_state), Resources(effective_n_jobs(self.n_jobs), device=self.device)
        ranking = self._of_as_many(ranker).rank(problem, rng, resources)
        self.scores_, self.extra_ = ranking.scores, ranking.extra
        places = np.empty(problem.n_features, dtype=np.int64)
        places[ranking.order] = np.arange(1, problem.n_features + 1)
        self.notes_ = list(problem.notes)
        if problem.groups is not None and ranker.p_values:
            name = type(ranker).__name__
            self.notes_.append(f"{name} takes rows as independent; with row groups its p-values are too small.")
        if self.control is None:
            chooses = ranker.chooses and bool(ranking.extra) and self.n_features_to_select == "auto"
            curve = {} if chooses else self._curve(problem, rng)
            most = one_standard_error(curve) if curve else space.max_units
            if chooses:
                most = max(int(ranking.extra["n_relevant"]), space.min_units)
            support = self._best(places, space, most)
            return self._keep_answer(Answer(support, places, ranker, curve=curve))
        self.trace_ = trace = Trace() if trace is None else trace
        run = RankingRun(ranker, problem, space.without(problem.constant), rng, resources, trace, on_step)
        with best_so_far(trace):
            if not trace.done:
                self.control.choose(run)
        self.notes_ += trace.notes
        return self._keep_answer(Answer(trace.best != 0, places, ranker, control=self.control, trace=trace))

    def components(self) -> tuple[Ranker, None, Control | None]:
        """Return the ranker and the control.

        Returns
        -------
        ranker : Ranker
            The default if none is given.
        search : None
            A ranking has none.
        control : Control or None
            As it is given.
        """
        return self._ranker(), None, self.control

    def _refuse(self, ranker: Ranker, problem: Problem) -> None:
        ranker.check_task(problem.task)
        if self.control is not None and not isinstance(self.control, RankingControl):
            raise IncompatibleError(
                f"{type(self.control).__name__} works over a search, not over a ranker; choose Shadow, "
                "StabilitySelection, Knockoffs, FalseDiscovery, Probe or Correlated."
            )
        if self.control is not None:
            self.control.check_parameters()

    def _curve(self, problem: Problem, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Measure how many features are enough, if their number is not given."""
        if self.n_features_to_select != "auto":
            return {}
        judged = self._judged(problem, rng)
        try:
            self.curve_ = size_curve(self._ranker(), judged, rng, "auto" if judged is problem else FIXED_NEIGHBORS)
        except InputError as error:
            cure = "Or give the number (n_features_to_select=…, --features)."
            raise type(error)(f"Cannot choose the number of features. {error} {cure}") from error
        return self.curve_

    def _best(self, ranking: IntArray, space: SearchSpace, most: int) -> BoolArray:
        """Return the best units of the ranking."""
        alone = space.single_columns
        place = ranking[alone] if alone is not None else np.array([ranking[unit].min() for unit in space.units])
        state = space.empty()
        n_kept = min(most, space.max_units)
        if n_kept:
            state[place <= np.partition(place, n_kept - 1)[n_kept - 1]] = True  # no two units have one place
        return np.asarray(space.expand(state[None])[0], dtype=bool)

    def _judged(self, problem: Problem, rng: np.random.Generator) -> Problem:
        """Return the rows on which the number of features is judged, and note where they are not all."""
        if problem.n_samples <= MOST_JUDGED:
            return problem
        rows = problem.take(stratified_sample(problem, MOST_JUDGED, rng))
        self.notes_.append(
            f"The number of features was chosen with {FIXED_NEIGHBORS} neighbors on a stratified sample of "
            f"{rows.n_samples:,} of the {problem.n_samples:,} rows; the ranking uses all."
        )
        return rows

    def _ranker(self) -> Ranker:
        return Fisher() if self.ranker is None else self.ranker

    def _of_as_many(self, ranker: Ranker) -> Ranker:
        """Let a ranker whose time grows with the features that it ranks rank those that are asked for alone."""
        size, given = self.n_features_to_select, ranker.get_params(deep=False)
        if "n_ranked" not in given or not isinstance(size, Integral) or self.control or self.feature_groups is not None:
            return ranker
        ranker.check_parameters()
        size = int(size) + (0 if self.exclude is None else len(self.exclude))
        return clone(ranker).set_params(n_ranked=min(given["n_ranked"] or size, max(size, 1)))

    def _tasks(self) -> tuple[Task, ...]:
        return self._ranker().tasks


def size_curve(
    ranker: Ranker, problem: Problem, rng: np.random.Generator, n_neighbors: int | Literal["auto"] = "auto"
) -> dict[str, NDArray[Any]]:
    """Return the cross-validated score of nearest neighbors against the number of leading features."""
    most = min(problem.n_features, max(problem.n_samples, MOST_LEADING))
    sizes = np.unique(np.round(2.0 ** np.arange(0, np.log2(most) + 0.5, 0.5)).astype(np.int64))
    sizes = np.unique(np.append(sizes[sizes < most], most))
    splits = _learnable(problem, rng)
    losses = np.full((problem.n_samples, len(sizes)), np.nan)
    for before, after in splits:
        train, test = problem.take(before), problem.take(after)
        order = ranker.rank(train, rng, Resources()).order
        leading = _leading(problem, order[:most])
        near, new = replace(_narrowed(train, leading), time=None), _narrowed(test, leading)
        if near.groups is not None and len(np.unique(near.groups)) == 1:  # no row has another group's row near it
            near, n_neighbors = replace(near, groups=None), FIXED_NEIGHBORS
        scorer = KNN(n_neighbors=n_neighbors, cv="loo").bind(near, rng, Resources())
        for i, size in enumerate(sizes):
            mask = np.zeros(len(leading), dtype=bool)
            mask[np.searchsorted(leading, order[:size])] = True
            outputs = scorer.predict(mask, new.X)
            right = outputs.argmax(axis=1) != test.y if problem.task == "classification" else (outputs - test.y) ** 2
            losses[after, i] = right
    tested = ~np.isnan(losses[:, 0])
    losses, weights = losses[tested], problem.row_weights[tested]
    mean = np.average(losses, axis=0, weights=weights)
    spread = np.sqrt(np.average((losses - mean) ** 2, axis=0, weights=weights) / len(losses))
    return {"size": sizes, "score": -mean, "standard_error": spread}


def _learnable(problem: Problem, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    """Return ten splits of the rows; where they go forward in time, those that begin after a second class was seen."""
    problem.check_groups()
    try:
        splits = [(split.train, split.test) for split in split_rows(problem, 10, rng)]
    except InputError:
        splits = []
    if problem.time is not None and problem.task == "classification":
        splits = [(train, test) for train, test in splits if len(np.unique(problem.y[train])) > 1]
    if not splits:
        how = "" if problem.time is None else " into earlier and later ones by their time"
        raise InputError(f"The {problem.n_samples} rows cannot be split{how}; give more rows.")
    return splits


def _leading(problem: Problem, best: IntArray) -> IntArray:
    """Return the columns that the judge is given, ascending."""
    return np.sort(best) if problem.sparse is None else np.arange(problem.n_features)


def _narrowed(rows: Problem, columns: IntArray) -> Problem:
    """Return some columns, ascending: of a wide table the judge would keep several tables of what it never looks at."""
    return rows if len(columns) == rows.n_features else rows.narrowed(columns)


def one_standard_error(curve: dict[str, NDArray[Any]]) -> int:
    """Return the smallest size whose score is within one standard error of the best."""
    best = int(np.argmax(curve["score"]))
    good = curve["score"] >= curve["score"][best] - curve["standard_error"][best]
    return int(curve["size"][int(np.argmax(good))])
