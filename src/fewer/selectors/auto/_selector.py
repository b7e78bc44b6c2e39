"""Select features without choosing a method."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, cast

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils._param_validation import HasMethods

from fewer.contracts import (
    Answer,
    Component,
    OnStep,
    Positive,
    RandomState,
    Scoring,
    best_so_far,
    generator_of,
    parameters,
)
from fewer.contracts.trace import Ending, Step, Trace
from fewer.criteria import KNN, CrossValidated
from fewer.errors import FewerWarning
from fewer.estimators import Jobs
from fewer.parallel import one_blas_thread
from fewer.problem import Problem, Task
from fewer.search import Floating
from fewer.selectors._base import ONE_SIZE, ColumnGroups, Columns, Memory, Selector, Size, lay_out_space
from fewer.selectors._subset import SubsetSelector
from fewer.selectors.auto._answer import LEVEL, RaceAnswer, answer_of, answer_without_validation, sizes_that_matter
from fewer.selectors.auto._curve import Metric, Prefer, odd_values, rare_classes
from fewer.selectors.auto._encoding import constant_columns
from fewer.selectors.auto._judges import BOOSTING, N_NEIGHBORS, criterion_of, estimator_named
from fewer.selectors.auto._race import MODELS, QUICK, NothingVaries, PathRace, Rounds, judges_of
from fewer.selectors.auto._standins import stand_ins
from fewer.validate import Split, split_rows, stratified_sample
from fewer.validate.splits import CV, TooFewTimes

# Rows that the race sees at most, with a budget of three seconds; more for many classes, fewer for many columns.
ROWS, ROWS_OF_A_CLASS, FEWEST = 1000, 30, 400
# Seconds of budget from which on a given model is asked about every size.
EXACT = 30.0
# Inputs from which on boosting is not compared, and a forest looks at the best order alone: they would take most of
# the time.
WIDE = 300


@parameters
class AutoSelector(Selector):
    """Select features, and a model for them, without choosing a method: held-out rows decide.

    Orders of the features (forest importance, elimination by a ridge, ReliefF, the mean of these, a forward linear fit,
    the path of an L1 penalty) are found on all rows and again without each fold; nearest neighbors, a linear model, a
    forest and boosting predict the rows left out with the first features of each. The best model, with those that
    cannot be told from it, chooses order and size; `prefer` says how many are taken.

    Read more in the guide: :doc:`/guide/which-method`.

    Parameters
    ----------
    prefer : {"fewest", "balanced", "accuracy"}, default="balanced"
        How many: `"accuracy"` as many as give the least held-out loss; `"balanced"` the smallest number that loses more
        than 1 point of the score with a chance of at most 25 %; `"fewest"` the smallest that rows do not show to lose
        more than 3 points (1.25 standard errors), 6 at most. A third of a standard error is the luck of the best
        number. The three nest.
    estimator : estimator or str, optional
        The model that the features are for. It alone decides, and where it has coefficients or importances it also
        orders. It is asked about the few sizes that quick models name; with a `budget` of 30 about every size. By name:
        "knn", "linear", "forest", "boosting", "tree", "svm".
    scoring : str or callable, optional
        As in scikit-learn: what counts. If left out, accuracy, or a score that sees every class where classes are not
        about equally large (`metric_`); for quantities R².
    cv : int, "loo", splitter or list of (train, test), default=5
        How rows are held out.
    standins : bool, default=True
        Whether to look for features that can stand in for chosen ones.
    budget : float, default=3.0
        Seconds that one fit should take on one core of a nominal machine. Costs that are written down, and not a clock,
        turn them into numbers of rows, columns and subsets, so that the result does not depend on the machine.
    n_features_to_select : int, float, (int, int) or "auto", default="auto"
        How many; a number, a share, or a smallest and largest number, within which `prefer` decides.
    include, exclude, feature_groups, task, memory, n_jobs, verbose, random_state
        As in `SubsetSelector`.

    Attributes
    ----------
    support_ : bool array of shape (n_features_in_,)
        The chosen features. Where nothing was found, the best guess, with a warning.
    ranking_ : int array of shape (n_features_in_,)
        1 is best.
    nothing_found_ : bool
        Whether all that was seen may well be luck.
    p_value_ : float
        How likely luck alone gives the best candidate so much, all candidates taken into account.
    choices_ : dict
        By preference, the mask that it gets.
    curve_ : dict
        By size: `size`, held-out `score` and its `standard_error`, the `loss` that decides and the standard error of
        its difference to the best, `loss_error`; `chosen` (the size of each preference), `all` (the place of all
        features, or None), `score_name` and `loss_name`.
    cost_ : dict
        What selecting costs: `behind` (loss of the choice less that of all features), `error` of that, `costs` (whether
        rows can see it), `smallest` (the smallest size that costs nothing that they can see).
    standins_ : dict
        For chosen features, others that can stand in for them, up to five.
    metric_ : Metric
        What scores are measured in: `scoring`, and `why` where it is not the usual one.
    model_ : estimator
        The model that the features are for, not fitted.
    models_ : dict
        The held-out score of each model with the chosen number of features.
    margin_ : dict
        The `margin` of the preference, what the choice is `expected` to lose against the `best` number of features, and
        the `chance` that it loses more than the margin.
    judge_, judge_all_ : Criterion
        Who predicts best with the chosen features, and with all; `judge_name_`, `judge_all_name_` say it in words.
    score_, trace_, candidates_, n_evaluations_, reason_, set_aside_
        The held-out score at the chosen size; the history; each candidate's name, size and held-out score; how many
        subsets were looked at; what was chosen, and why; columns that do not vary.
    n_samples_seen_ : int
        Rows that the race saw: a sample, where there are very many or the budget is small.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from fewer import AutoSelector
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 10))
    >>> AutoSelector(random_state=0).fit(X, X[:, 3] * X[:, 7] > 0).get_support(indices=True)
    array([3, 7])
    """

    _: KW_ONLY
    prefer: Prefer = "balanced"
    estimator: Annotated[Any, HasMethods(["fit", "predict"]), str, None] = None
    scoring: Scoring = None
    cv: CV = 5
    standins: bool = True
    budget: Positive = 3.0
    n_features_to_select: Annotated[Size, *ONE_SIZE, tuple, list] = "auto"
    include: Columns = None
    exclude: Columns = None
    feature_groups: ColumnGroups = None
    task: Task | None = None
    memory: Memory = "1GiB"
    n_jobs: Jobs = None
    verbose: Annotated[int, "verbose"] = 0
    random_state: RandomState = None

    def fit(self, X: Any, y: Any, **params: Any) -> AutoSelector:
        """Select features, as every selector does; warn where nothing was found and the best guess is kept.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Missing cells are allowed; string and categorical columns of a frame are nominal.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Classes or quantities.
        **params
            As for every selector: `sample_weight`, `groups`, `time`.

        Returns
        -------
        self
        """
        super().fit(X, y, **params)
        if self.nothing_found_:
            kept = "The requested size" if self.wants_features else "The best guess"
            finding = f"no subset predicts held-out rows better than chance (p = {self.p_value_:.2g})"
            warnings.warn(f"No signal found: {finding}. {kept} is kept.", FewerWarning, stacklevel=2)
        return self

    @one_blas_thread()  # the same bits with any number of threads
    def answer(
        self, problem: Problem, on_step: OnStep | None = None, trace: Trace | None = None, *, share: bool = False
    ) -> Answer:
        """Run the race. If the user stops it, the best candidate so far answers.

        Parameters
        ----------
        problem : Problem
            The rows.
        on_step : callable, optional
            Called with the trace after each step.
        trace : Trace, optional
            Not looked at: a race that was interrupted begins again.
        share : bool, default=False
            Keep the parts of the rows, so that `without` can share them.

        Returns
        -------
        Answer
            With one subset for each preference.
        """
        rng = generator_of(self.random_state)
        self.metric_, self.n_samples_seen_ = Metric.of(problem, self.scoring), problem.n_samples
        self._shared: tuple[Rounds, Problem, list[Split]] | None = None
        try:
            folds = split_rows(problem, self.cv, rng)
        except TooFewTimes:
            return self._answer_plainly(problem, int(rng.integers(2**31)), on_step)
        rows, splits = self._seen(problem, folds, rng)
        self.n_samples_seen_ = rows.n_samples
        seed = int(rng.integers(2**31 - 10_000))
        estimator = estimator_named(self.estimator, problem.task)
        rounds = Rounds(rows, splits, lay_out_space(self, problem), estimator, seed, effective_n_jobs(self.n_jobs))
        if share and self._can_share(problem, folds):
            self._shared = rounds, problem, folds
        answer = self._race(rounds, problem, on_step)
        if self._shared is None:
            return answer
        return replace(answer, folds=folds, without=lambda fold: self.without(fold).answer_)

    @property
    def folds_(self) -> list[Split] | None:
        """The folds whose selections can share parts with this one, if it was fitted to share."""
        return None if self._shared is None else self._shared[2]

    @one_blas_thread()
    def without(self, fold: int) -> AutoSelector:
        """Return a copy fitted to the rows without one of `folds_`, which shares its parts with this one.

        Parameters
        ----------
        fold : int
            Its number.

        Returns
        -------
        AutoSelector
            What fitting to those rows gives, with the other folds held out in turn.
        """
        assert self._shared is not None
        rounds, problem, folds = self._shared
        other = AutoSelector(**{**self.get_params(deep=False), "standins": False})
        other._shared, other.metric_, other.n_samples_seen_ = None, self.metric_, len(rounds.splits[fold].train)
        other._race(rounds, problem.take(folds[fold].train), None, fold)
        return other

    def _can_share(self, problem: Problem, folds: list[Split]) -> bool:
        """Four folds or more that hold every row out once, in no order of time."""
        tested = np.concatenate([fold.test for fold in folds])
        covers_all = len(tested) == problem.n_samples and len(np.unique(tested)) == len(tested)
        apart = all(len(fold.train) + len(fold.test) == problem.n_samples for fold in folds)
        return problem.time is None and 4 <= len(folds) <= 20 and covers_all and apart

    def _seen(self, problem: Problem, folds: list[Split], rng: np.random.Generator) -> tuple[Problem, list[Split]]:
        """Draw the rows that the race sees, all of a rare class, which count for those left out."""
        n_rows = self._n_rows(problem)
        if problem.n_samples <= n_rows:
            return problem, folds
        drawn = stratified_sample(problem, n_rows, rng)
        weights = problem.sample_weight
        if problem.task == "classification" and problem.groups is None and (rare := rare_classes(problem)).any():
            few = np.flatnonzero(rare[problem.y])[: n_rows // 2]
            many = np.setdiff1d(drawn, np.flatnonzero(rare[problem.y]))
            drawn = np.sort(np.concatenate([few, many]))
            counts, kept = (
                np.maximum(np.bincount(y, minlength=problem.n_classes), 1) for y in (problem.y, problem.y[drawn])
            )
            weights = problem.row_weights * (counts / kept)[problem.y]
            weights = weights * (len(drawn) / weights[drawn].sum())
        place = np.full(problem.n_samples, -1)
        place[drawn] = np.arange(len(drawn))
        splits = []
        for fold in folds:
            train, test = (rows[rows >= 0] for rows in (place[fold.train], place[fold.test]))
            splits.append(Split(np.sort(train), np.sort(test), fold.fold, fold.repeat))
        return replace(problem, sample_weight=weights).take(drawn), [split for split in splits if len(split.test)]

    def _race(self, rounds: Rounds, problem: Problem, on_step: OnStep | None, without: int | None = None) -> Answer:
        try:
            if problem.n_samples <= N_NEIGHBORS:
                raise NothingVaries("The nearest neighbors of a row are all rows.")
            race = rounds.race(self.metric_.scoring, without)
        except NothingVaries:  # some part of few rows leaves nothing to choose from
            return self._answer_plainly(problem, rounds.seed, on_step)
        trace = Trace()
        judges = judges_of(rounds.estimator, "the given model")
        with best_so_far(trace):
            self._judge_paths(race, trace, judges, on_step)
        trace.done = trace.ending is not Ending.INTERRUPTED
        raced = answer_of(race, rounds.problem, judges, rounds.seed, self.prefer, self.wants_features)
        answer = self._keep(raced, problem, trace)
        if self.standins and trace.done and not self.nothing_found_:
            self.standins_ = stand_ins(
                rounds.scaled, self.support_, rounds.splits, seed=rounds.seed, model=self.judge_name_
            )
        return self._keep_answer(replace(answer, stand_ins=self.standins_))

    def components(self) -> tuple[Component, None, None]:
        """Return the selector itself: a race has several criteria and searches.

        Returns
        -------
        selector : AutoSelector
            This one.
        search : None
            There are several.
        control : None
            There is none.
        """
        return cast(Component, self), None, None

    def for_part(self, rng: np.random.Generator) -> AutoSelector:
        """Return a copy to be fitted to some of the rows; stand-ins are looked for on all rows only.

        Parameters
        ----------
        rng : Generator
            For whatever is drawn.

        Returns
        -------
        AutoSelector
            Not fitted.
        """
        return super().for_part(rng).set_params(standins=False)

    def _answer_plainly(self, problem: Problem, seed: int, on_step: OnStep | None) -> Answer:
        """Answer without validation, by nearest neighbors; so their order in time plays no part."""
        plain = SubsetSelector(
            KNN("auto"), Floating(exhaust=2), n_features_to_select=self.n_features_to_select, include=self.include,
            exclude=self.exclude, feature_groups=self.feature_groups, random_state=seed,
        )  # fmt: skip
        first = plain.answer(replace(problem, time=None), on_step)
        self.selector_ = plain
        answer = self._keep(answer_without_validation(plain, self.metric_), problem, plain.trace_)
        return self._keep_answer(
            replace(answer, scored_by=first.scored_by, search=first.search, believed=first.believed, run=first.run)
        )

    def _judge_paths(self, race: PathRace, trace: Trace, judges: Any, on_step: OnStep | None) -> None:
        """Let the quick judges look at all paths and the others at the best of them; report each path."""
        best, best_loss = None, np.inf
        for path in race.whole.orders:
            for name, who in QUICK.items():
                race.run(path, name, who)
            curve = race.curve(path, QUICK)
            place = int(np.argmin(np.where(race.free, curve.loss, np.inf)))
            mask = race.prefix(path, int(race.sizes[place]))
            if curve.loss[place] < best_loss:
                best, best_loss = mask, float(curve.loss[place])
            trace.n_evaluations += len(race.sizes)
            trace.offer(mask[None], np.array([-curve.loss[place]]))
            trace.record(Step(mask, -float(curve.loss[place]), mask if best is None else best, -best_loss))
            if on_step is not None:
                on_step(trace)
        finalists = race.finalists()
        if judges is not MODELS and self.budget < EXACT:
            race.narrow(sizes_that_matter(race))
        for name, who in judges.items():
            slow = judges is MODELS and name not in QUICK
            wide = slow and len(race.whole.columns) > WIDE
            if wide and name == BOOSTING:
                continue
            if slow and not race.hopeful(finalists[0], name, who, race.leader()):
                continue
            for path in finalists[:1] if wide else finalists:
                race.run(path, name, who)

    def _keep(self, race: RaceAnswer, problem: Problem, trace: Trace) -> Answer:
        self.trace_ = trace
        self.n_evaluations_ = trace.n_evaluations
        self.p_value_ = race.p_value
        self.nothing_found_ = bool(race.p_value > LEVEL)
        is_empty = self.nothing_found_ and not self.wants_features
        self.choices_ = race.choices
        if self.metric_.why:
            trace.note(self.metric_.why)
        if odd := odd_values(problem, self.metric_.scoring):
            trace.note(odd)
        self.notes_ = [*problem.notes, *trace.notes]
        self.curve_ = race.curve
        size = race.curve["size"]
        place = int(np.argmax(size == race.curve["chosen"][self.prefer])) if len(size) else -1
        self.score_ = float(race.curve["score"][place]) if len(size) else float("nan")
        self.cost_ = race.cost or {"behind": 0.0, "error": 0.0, "costs": False, "smallest": None}
        self.judge_name_, self.judge_all_name_ = race.judge, race.judge_all
        estimator = estimator_named(self.estimator, problem.task)
        scoring = self.scoring if self.metric_.scoring in ("accuracy", "r2") else self.metric_.scoring
        self.judge_ = race.criterion or criterion_of(self.judge_name_, problem.task, estimator, scoring)
        self.judge_all_ = race.criterion or criterion_of(self.judge_all_name_, problem.task, estimator, scoring)
        self.candidates_ = race.candidates
        self.reason_ = race.reason(self.prefer, self.nothing_found_)
        self.model_ = self.judge_.estimator if isinstance(self.judge_, CrossValidated) else None
        self.models_, self.margin_ = race.models, race.margin
        self.standins_ = {}
        support = self.choices_[self.prefer]
        self.set_aside_ = np.flatnonzero(constant_columns(problem.X) & ~support)
        # Predictions speak of the table's rows where every one of them was held out.
        tried = race.tried if race.tried is not None and len(race.tried[0]) == problem.n_samples else None
        answer = Answer(
            support, race.ranking, self.judge_, trace=trace, judge=self.judge_, judge_all=self.judge_all_,
            judge_names={"chosen": self.judge_name_, "all": self.judge_all_name_}, curve=self.curve_,
            choices=self.choices_, reason=self.reason_, nothing_found=self.nothing_found_, is_empty=is_empty,
            smallest_without_loss=self.cost_["smallest"] if self.cost_["costs"] else None, n_seen=self.n_samples_seen_,
            tried=tried,
        )  # fmt: skip
        return self._keep_answer(answer)

    @property
    def wants_features(self) -> bool:
        """A number of features, or some by name, is asked for: they are given even where nothing was found."""
        return self.n_features_to_select != "auto" or bool(self.include is not None and len(self.include))

    def budget_for(self, n_rows: int, problem: Problem) -> float:
        """Return the budget with which the race sees so many rows of a table like this.

        Parameters
        ----------
        n_rows : int
            At least 60 are seen.
        problem : Problem
            The rows.

        Returns
        -------
        float
            For the parameter `budget`.
        """
        usual, least = self._usual_rows(problem)
        n_rows = max(n_rows, 60)
        return float(3.0 * (n_rows / (max(usual, least) if n_rows <= least else usual)) ** 2)

    def _n_rows(self, problem: Problem) -> int:
        usual, least = self._usual_rows(problem)
        share = np.sqrt(self.budget / 3.0)
        return int(max(usual * share, least * min(share, 1.0)) + 1e-3)

    def _usual_rows(self, problem: Problem) -> tuple[float, float]:
        """Return the rows that the race sees with the default budget, and those it sees at least."""
        usual = ROWS * min((50.0 / problem.n_features) ** 0.25, 1.0)
        return usual, float(max(FEWEST, ROWS_OF_A_CLASS * problem.n_classes))

    def _tasks(self) -> Any:
        return KNN.tasks
