"""Select the subset that a search finds best."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils._param_validation import HasMethods

from fewer.contracts import (
    Answer,
    Control,
    Criterion,
    NonNegative,
    OnStep,
    RandomState,
    Ranker,
    Resources,
    Run,
    Search,
    best_so_far,
    generator_of,
    parameters,
)
from fewer.contracts.trace import Trace
from fewer.control import Prefilter, add_innermost
from fewer.estimators import Jobs, Prices
from fewer.kernels.device import tell
from fewer.problem import IntArray, Problem, Task
from fewer.search import Forward
from fewer.selectors._base import (
    ONE_SIZE,
    ColumnGroups,
    Columns,
    CriterionMixin,
    Device,
    Memory,
    Selector,
    Size,
    lay_out_space,
    parse_memory,
)


@parameters
class SubsetSelector(CriterionMixin, Selector):
    """Select the subset that a search finds best by a criterion, under a control.

    Read more in the guide: :doc:`/guide/which-method`.

    Parameters
    ----------
    criterion : Criterion, default=KNN()
        How good is a subset?
    search : Search, default=Forward()
        Which subset next?
    control : Control, optional
        Guards against overfitting.
    n_features_to_select : int, float, (int, int) or "auto", default="auto"
        How many: a number, a share of the features, a smallest and a largest number, or as many as score best.
        Groups count as one; features forced in count too. Of equal scores the smaller subset wins. From 0 on, such as
        (0, 8), the empty subset may win: it predicts the most frequent class, or the mean.
    prefilter : Ranker or Prefilter, optional
        Cuts the columns before the search, on the rows that the search gets: a ranker keeps its best 200, a
        `fewer.control.Prefilter` as many as it says, and can start the search from its best.
    include, exclude : sequence of str or int, optional
        Features forced in or out.
    feature_groups : sequence of sequences of str or int, optional
        Features that enter together, such as the columns of one one-hot block.
    feature_costs : array of shape (n_features,) or dict, optional
        What each feature costs; in a dict, features not named cost nothing.
    cost_weight : float, default=0.0
        Points of score that one unit of cost must earn: the search maximises score − cost_weight · cost.
    start : sequence of str or int, optional
        The subset from which the search begins; refused by searches that cannot begin from one.
    task : {"classification", "regression"}, optional
        What the target is for, if not what it looks like.
    memory : str or int, default="1GiB"
        How much memory scoring may use beside the data.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where to compute: on all GPUs there are, with the same result. `"auto"` is the CPU, with a warning that says
        why, where there is none; so is either where the criterion has no kernels for one.
    n_jobs : int, optional
        Threads or processes; the result is the same for any number.
    verbose : int, default=0
        1 prints each better subset, 2 every step. `logging.getLogger("fewer")` hears of every step too.
    random_state : int, Generator, RandomState or None
        Seed of folds and of stochastic searches.

    Attributes
    ----------
    support_ : bool array of shape (n_features_in_,)
    ranking_ : int array of shape (n_features_in_,)
        1 is best. Chosen features in the order in which a stepwise search took them, otherwise all 1; then
        the others, those that a backward search dropped last first.
    score_ : float
        The search's own score of the chosen subset. It is optimistic, because it chose the subset.
    trace_ : Trace
        The history of the search.
    criterion_, search_, control_ : Criterion, Search, Control or None
        What was run, defaults filled in and the prefilter among the controls.
    notes_ : list of str
        What was noticed about the table and the run.
    set_aside_ : int array
        Columns that do not vary and took no part.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fewer import SubsetSelector
    >>> from fewer.criteria import KNN
    >>> from fewer.search import Floating
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = SubsetSelector(KNN(), Floating(), n_features_to_select=3, random_state=0).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['flavanoids', 'color_intensity', 'proline']
    """

    criterion: Criterion | None = None
    search: Search | None = None
    _: KW_ONLY
    control: Control | None = None
    n_features_to_select: Annotated[Size, *ONE_SIZE, tuple, list] = "auto"
    prefilter: Annotated[Ranker | Prefilter | None, HasMethods("rank"), HasMethods("run"), None] = None
    include: Columns = None
    exclude: Columns = None
    feature_groups: ColumnGroups = None
    feature_costs: Prices = None
    cost_weight: NonNegative = 0.0
    start: Columns = None
    task: Task | None = None
    memory: Memory = "1GiB"
    device: Device = "cpu"
    n_jobs: Jobs = None
    verbose: Annotated[int, "verbose"] = 0
    random_state: RandomState = None

    def prepare(self, problem: Problem, on_step: OnStep | None = None, trace: Trace | None = None) -> Run:
        """Lay out the run that selects features of a problem.

        Parameters
        ----------
        problem : Problem
            The rows.
        on_step : callable, optional
            Called with the trace after each step.
        trace : Trace, optional
            One that was interrupted, to go on from.

        Returns
        -------
        Run
        """
        criterion = self._criterion()
        if not criterion.supports_device:
            tell(self.device, type(criterion).__name__, "it has no kernels for one")
        return Run(
            criterion,
            problem,
            self.search or Forward(),
            lay_out_space(self, problem),
            generator_of(self.random_state),
            resources=Resources(effective_n_jobs(self.n_jobs), parse_memory(self.memory), self.device),
            trace=Trace() if trace is None else trace,
            follower=on_step,
        )

    def answer(
        self, problem: Problem, on_step: OnStep | None = None, trace: Trace | None = None, *, share: bool = False
    ) -> Answer:
        """Search on the rows of a problem, under the control.

        Parameters
        ----------
        problem : Problem
            The rows.
        on_step : callable, optional
            Called with the trace after each step.
        trace : Trace, optional
            Of an interrupted run, to go on with.
        share : bool, default=False
            Not looked at: its repetitions share nothing.

        Returns
        -------
        Answer
            With the run that found it.
        """
        run, control = self.prepare(problem, on_step, trace), self.control
        if self.prefilter is not None:
            inner = self.prefilter if isinstance(self.prefilter, Prefilter) else Prefilter(self.prefilter)
            control = add_innermost(control, inner)
        with best_so_far(run.trace):
            run.under(control)
        trace = run.trace
        self.criterion_, self.search_, self.control_ = run.criterion, run.search, control
        self.trace_, self.score_ = trace, trace.best_score
        support = trace.best != 0
        self.set_aside_ = np.flatnonzero(problem.constant & ~support)
        self.notes_ = [*problem.notes, *trace.notes]
        return self._keep_answer(Answer(
            support, _ranking(trace, run.search.ordered), run.criterion, run.search, control, trace,
            believed=trace.best_score, judge=run.criterion if run.criterion.predictive else None, run=run,
        ))  # fmt: skip

    def components(self) -> tuple[Criterion, Search, Control | None]:
        """Return the criterion, the search and the control, without the prefilter.

        Returns
        -------
        criterion : Criterion
            The default if none is given.
        search : Search
            The default if none is given.
        control : Control or None
            As it is given.
        """
        return self._criterion(), self.search or Forward(), self.control

    def _takes_several_targets(self) -> bool:
        return self._criterion().multi_output


def _ranking(trace: Trace, ordered: bool) -> IntArray:
    """Rank features by when they entered the answer for good, the others by when they were last in it."""
    support = trace.best != 0
    if not ordered:
        return np.where(support, 1, int(support.sum()) + 1).astype(np.int64)
    used = np.array([step.best != 0 for step in trace.steps])
    age = np.arange(1, len(used) + 1)[:, None]
    last_absent = np.where(used, 0, age).max(axis=0)
    last_present = np.where(used, age, 0).max(axis=0)
    key = np.where(support, last_absent, 2 * len(used) + 1 - last_present)
    return (1 + np.searchsorted(np.sort(key), key)).astype(np.int64)
