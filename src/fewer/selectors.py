"""scikit-learn estimators that put the components together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from fewer.callbacks import CallbackSupportMixin, follow_callbacks, with_callbacks
from fewer.contracts import Control, Criterion, OnStep, Ranker, Resources, Run, Search, SearchSpace, Stopped
from fewer.control import Prefilter, add_innermost
from fewer.criteria import KNN
from fewer.io import infer_task, is_frame, to_problem
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem, Task
from fewer.trace import Trace
from fewer.validate import assign_folds

Column = str | int
MOST_LEADING = 100
Size = int | float | tuple[int, int] | Literal["auto"]


class _Selector(CallbackSupportMixin, SelectorMixin, BaseEstimator):
    """What all selectors share: the input reader, metadata, tags, callbacks."""

    # Row groups and weights are asked for with `set_fit_request(groups=True, sample_weight=True)`.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": None, "sample_weight": None}

    support_: BoolArray
    ranking_: IntArray

    @with_callbacks
    def fit(self, X: Any, y: Any, **params: Any) -> Any:
        """Select features.

        Callbacks of scikit-learn 1.9 (`set_callbacks`) hear of every step of a search, with the selector as it would be
        if it ended there; one that asks to stop ends the search with its best subset so far.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Missing cells are allowed; string and categorical columns of a frame are nominal.
        y : array of shape (n_samples,)
            Strings, booleans and up to 20 distinct whole numbers are classes; other numbers are quantities.
        **params
            `sample_weight`: how much each row counts. `groups`: rows of one group stay on one side of every split.

        Returns
        -------
        self
        """
        self._validate_params()
        with follow_callbacks(self, X, y) as on_step:
            return self.fit_problem(self._open(X, y, **params), on_step)

    def fit_problem(self, problem: Problem, on_step: OnStep | None = None) -> Any:
        """Select features of a problem that came through the input reader already."""
        raise NotImplementedError

    def _tasks(self) -> tuple[Task, ...]:
        raise NotImplementedError

    def _open(self, X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None) -> Problem:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        shape: tuple[Any, ...] = y.shape if hasattr(y, "shape") else np.shape(y) if isinstance(y, list | tuple) else ()
        several = len(shape) == 2 and shape[1] > 1
        if several and not self._takes_several_targets():
            raise InputError(
                f"The target has {shape[1]} columns, but {type(self).__name__} works with one here: give one, "
                "or choose the criterion CrossValidated or LeastSquares."
            )
        if is_frame(X):
            _check_feature_names(self, X, reset=True)
            _check_n_features(self, X, reset=True)
            y = y if several else column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        else:
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse="csr",
                dtype=np.float64,
                ensure_all_finite="allow-nan",
                ensure_min_samples=2,
                multi_output=several,
            )
        task = infer_task(np.asarray(y))
        tasks = self._tasks()
        if task not in tasks:
            task = tasks[0]
            if task == "classification":
                check_classification_targets(np.asarray(y))
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        return to_problem(X, y, task=task, sample_weight=weights, groups=groups, multi_output=several)

    def _takes_several_targets(self) -> bool:
        return False

    def _generator(self) -> np.random.Generator:
        seed = self.random_state
        if isinstance(seed, np.random.Generator):
            return seed
        if isinstance(seed, int | np.integer):
            return np.random.default_rng(int(seed))
        return np.random.default_rng(check_random_state(seed).randint(2**31))

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class SubsetSelector(_Selector):
    """Select the subset that a search finds best by a criterion, under a control.

    Parameters
    ----------
    criterion : Criterion, default=KNN()
        How good is a subset?
    search : Search, default=Forward()
        Which subset next?
    control : Control, optional
        When to stop believing it?
    n_features_to_select : int, float, (int, int) or "auto", default="auto"
        How many: a number, a share of the features, a smallest and a largest number, or as many as score best.
        Groups count as one; features forced in count too. Of equal scores the smaller subset wins.
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
    memory : str or int, default="1GiB"
        How much memory scoring may use beside the data.
    n_jobs : int, optional
        Threads or processes; the result is the same for any number.
    random_state : int, Generator, RandomState or None
        Seed of folds and of stochastic searches.

    Attributes
    ----------
    support_ : bool array of shape (n_features_in_,)
    ranking_ : int array of shape (n_features_in_,)
        1 is best. Chosen features in the order in which a stepwise search took them, otherwise all 1; then
        the others, those that a backward search dropped last first.
    score_ : float
        What the search believed of the chosen subset. It is optimistic: it chose the subset.
    trace_ : Trace
        The history of the search.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "criterion": [HasMethods("bind"), None],
        "search": [HasMethods("steps"), None],
        "control": [HasMethods("run"), None],
        "n_features_to_select": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            tuple,
            list,
        ],
        "prefilter": [HasMethods("rank"), HasMethods("run"), None],
        "include": ["array-like", None],
        "exclude": ["array-like", None],
        "feature_groups": [list, tuple, None],
        "feature_costs": ["array-like", dict, None],
        "cost_weight": [Interval(Real, 0, None, closed="left")],
        "memory": [str, Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        criterion: Criterion | None = None,
        search: Search | None = None,
        *,
        control: Control | None = None,
        n_features_to_select: Size = "auto",
        prefilter: Ranker | Prefilter | None = None,
        include: Sequence[Column] | None = None,
        exclude: Sequence[Column] | None = None,
        feature_groups: Sequence[Sequence[Column]] | None = None,
        feature_costs: ArrayLike | dict[Column, float] | None = None,
        cost_weight: float = 0.0,
        memory: str | int = "1GiB",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.criterion = criterion
        self.search = search
        self.control = control
        self.n_features_to_select = n_features_to_select
        self.prefilter = prefilter
        self.include = include
        self.exclude = exclude
        self.feature_groups = feature_groups
        self.feature_costs = feature_costs
        self.cost_weight = cost_weight
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_problem(
        self, problem: Problem, on_step: OnStep | None = None, trace: Trace | None = None
    ) -> SubsetSelector:
        """Select features of a problem; report each step, or go on from an interrupted trace.

        If it is interrupted after its first step, the selector is fitted with the best subset so far. Whoever follows
        the steps can end the run by raising `Stopped`; the trace then says so.
        """
        trace = Trace() if trace is None else trace
        space = self._space(problem)
        try:
            Run(
                self._criterion(),
                problem,
                self._search(),
                space,
                self._generator(),
                resources=Resources(effective_n_jobs(self.n_jobs), parse_memory(self.memory)),
                trace=trace,
                follower=on_step,
            ).under(self._control())
        except KeyboardInterrupt:
            if trace.steps:
                self._keep(trace, problem)
            raise
        except Stopped as stop:
            trace.notes.append(str(stop))
        self._keep(trace, problem)
        return self

    def _keep(self, trace: Trace, problem: Problem) -> None:
        self.n_features_in_ = problem.n_features
        self.trace_ = trace
        self.score_ = trace.best_score
        self.support_ = trace.best != 0
        self.ranking_ = _ranking(trace, self._search().ordered)
        self.set_aside_ = np.flatnonzero(problem.constant & ~self.support_)

    def _criterion(self) -> Criterion:
        return KNN() if self.criterion is None else self.criterion

    def _search(self) -> Search:
        from fewer.search import Forward

        return Forward() if self.search is None else self.search

    def _control(self) -> Control | None:
        if self.prefilter is None:
            return self.control
        inner = self.prefilter if isinstance(self.prefilter, Prefilter) else Prefilter(self.prefilter)
        return add_innermost(self.control, inner)

    def _tasks(self) -> tuple[Task, ...]:
        return self._criterion().tasks

    def _takes_several_targets(self) -> bool:
        return self._criterion().multi_output

    def _space(self, problem: Problem) -> SearchSpace:
        names = problem.names
        include = _indices(self.include, names, "include")
        exclude = _indices(self.exclude, names, "exclude")
        groups = [_indices(group, names, "feature_groups") for group in self.feature_groups or ()]
        if both := sorted(set(include) & set(exclude)):
            raise InputError(f"{names[both[0]]!r} is both included and excluded; choose one.")
        members = [column for group in groups for column in group]
        for column in members:
            if members.count(column) > 1:
                raise InputError(f"{names[column]!r} is in two feature groups; a feature has one group at most.")
        most = problem.n_features - len(set(exclude) - set(members)) - sum(len(group) - 1 for group in groups)
        most -= sum(bool(set(group) & set(exclude)) for group in groups)
        return SearchSpace.of(
            problem.n_features,
            sizes=parse_size(self.n_features_to_select, most),
            include=include,
            exclude=exclude,
            groups=groups,
            prices=self.cost_weight * _costs(self.feature_costs, names),
        )


class RankSelector(_Selector):
    """Select the best features of a ranking.

    Parameters
    ----------
    ranker : Ranker, default=Fisher()
        How good is each feature?
    n_features_to_select : int, float or "auto", default="auto"
        How many: a number, a share, or by a cross-validated curve with the one-standard-error rule. For the curve
        the ranking is repeated in each of ten folds; nearest neighbors (k chosen from 1, 3, …, 11) on the
        leading 1, 2, 3, 4, 6, 8, 11, 16, … features, no more than rows (or 100), predict the rows left out; and the
        smallest number whose error is within one standard error of the best is taken.
    random_state : int, Generator, RandomState or None
        Seed of folds and of rankers that draw random numbers.

    Attributes
    ----------
    support_ : bool array of shape (n_features_in_,)
    ranking_ : int array of shape (n_features_in_,)
        1 is best.
    scores_ : float array of shape (n_features_in_,)
        The ranker's number for each feature, higher is better.
    curve_ : dict of arrays, only with "auto"
        `size`, `score` and `standard_error` of the cross-validated curve.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewer import RankSelector
    >>> from fewer.rankers import Fisher
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> RankSelector(Fisher(), n_features_to_select=2).fit(X, y).get_feature_names_out().tolist()
    ['worst perimeter', 'worst concave points']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "ranker": [HasMethods("rank"), None],
        "n_features_to_select": SubsetSelector._parameter_constraints["n_features_to_select"][:3],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        ranker: Ranker | None = None,
        *,
        n_features_to_select: int | float | Literal["auto"] = "auto",
        random_state: Any = None,
    ) -> None:
        self.ranker = ranker
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def fit_problem(self, problem: Problem, on_step: OnStep | None = None) -> RankSelector:
        """Rank and select the features of a problem; a ranking has no steps to follow."""
        ranker = self._ranker()
        if problem.task not in ranker.tasks:
            raise InputError(
                f"{type(ranker).__name__} ranks for {' and '.join(ranker.tasks)}, but the target is for {problem.task}."
            )
        rng = self._generator()
        ranking = ranker.rank(problem, rng, Resources())
        self.n_features_in_ = problem.n_features
        if self.n_features_to_select == "auto":
            self.curve_ = size_curve(ranker, problem, rng)
            size = one_standard_error(self.curve_)
        else:
            size = parse_size(self.n_features_to_select, problem.n_features)[0]
        self.scores_ = ranking.scores
        self.ranking_ = np.empty(problem.n_features, dtype=np.int64)
        self.ranking_[ranking.order] = np.arange(1, problem.n_features + 1)
        self.support_ = self.ranking_ <= size
        self.extra_ = ranking.extra
        return self

    def _ranker(self) -> Ranker:
        from fewer.rankers import Fisher

        return Fisher() if self.ranker is None else self.ranker

    def _tasks(self) -> tuple[Task, ...]:
        return self._ranker().tasks


def size_curve(ranker: Ranker, problem: Problem, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Return the cross-validated score of nearest neighbors against the number of leading features."""
    most = min(problem.n_features, max(problem.n_samples, MOST_LEADING))
    sizes = np.unique(np.round(2.0 ** np.arange(0, np.log2(most) + 0.5, 0.5)).astype(np.int64))
    sizes = np.unique(np.append(sizes[sizes < most], most))
    folds = assign_folds(problem, 10, rng)
    losses = np.empty((problem.n_samples, len(sizes)))
    weights = problem.row_weights
    for fold in np.unique(folds):
        train, test = problem.take(folds != fold), problem.take(folds == fold)
        order = ranker.rank(train, rng, Resources()).order
        scorer = KNN(n_neighbors="auto", cv="loo").bind(train, rng, Resources())
        for i, size in enumerate(sizes):
            mask = np.zeros(problem.n_features, dtype=bool)
            mask[order[:size]] = True
            outputs = scorer.predict(mask, test.X)
            right = outputs.argmax(axis=1) != test.y if problem.task == "classification" else (outputs - test.y) ** 2
            losses[folds == fold, i] = right
    mean = np.average(losses, axis=0, weights=weights)
    spread = np.sqrt(np.average((losses - mean) ** 2, axis=0, weights=weights) / problem.n_samples)
    return {"size": sizes, "score": -mean, "standard_error": spread}


def one_standard_error(curve: dict[str, NDArray[Any]]) -> int:
    """Return the smallest size whose score is within one standard error of the best."""
    best = int(np.argmax(curve["score"]))
    good = curve["score"] >= curve["score"][best] - curve["standard_error"][best]
    return int(curve["size"][int(np.argmax(good))])


def parse_size(asked: Any, n_features: int) -> tuple[int, int]:
    """Turn a number, a share, a range or "auto" into the smallest and largest number of features.

    Examples
    --------
    >>> parse_size(0.5, 9), parse_size((2, 5), 9), parse_size("auto", 9)
    ((5, 5), (2, 5), (1, 9))
    """
    if isinstance(asked, str):
        return 1, n_features
    if isinstance(asked, tuple | list):
        if len(asked) != 2 or not 1 <= asked[0] <= asked[1]:
            raise InputError(f"n_features_to_select={asked!r}: give a smallest and a largest number of features.")
        low, high = int(asked[0]), min(int(asked[1]), n_features)
    elif isinstance(asked, Integral):
        low = high = int(asked)
    else:
        low = high = max(1, int(asked * n_features + 0.5))
    if low > n_features:
        raise InputError(
            f"{low} features are asked for, but there are only {n_features} to choose from; "
            f"ask for at most {n_features}."
        )
    return low, high


def parse_memory(text: str | int) -> int:
    """Turn "512MiB", "2 GB" or a number into bytes.

    Examples
    --------
    >>> parse_memory("1GiB"), parse_memory("2 kB"), parse_memory(4096)
    (1073741824, 2000, 4096)
    """
    if isinstance(text, Integral):
        return int(text)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(text).lower())
    if match is None:
        raise InputError(f"memory={text!r} is not an amount of memory; write for example '512MiB' or '2GiB'.")
    number, prefix, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " "))


def _indices(columns: Any, names: tuple[str, ...], parameter: str) -> list[int]:
    """Turn names or numbers of columns into numbers."""
    result = []
    for column in () if columns is None else columns:
        if isinstance(column, str):
            if column not in names:
                raise InputError(f"{parameter} names {column!r}, which is no feature of the table.")
            result.append(names.index(column))
        else:
            if not 0 <= column < len(names):
                raise InputError(f"{parameter} names feature {column}, but features go from 0 to {len(names) - 1}.")
            result.append(int(column))
    return result


def _costs(costs: Any, names: tuple[str, ...]) -> FloatArray:
    if costs is None:
        return np.zeros(len(names))
    if isinstance(costs, dict):
        result = np.zeros(len(names))
        result[_indices(costs, names, "feature_costs")] = list(costs.values())
    else:
        result = np.asarray(costs, dtype=np.float64)
        if result.shape != (len(names),):
            raise InputError(f"feature_costs has shape {result.shape}, but there are {len(names)} features.")
    if not np.all(np.isfinite(result)) or (result < 0).any():
        raise InputError("feature_costs must be finite numbers of at least 0.")
    return result


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
