"""Rankings by fitted models: what they say of their columns, what shuffling a column loses, SHAP values.

Any estimator works on the columns of a problem: nominal columns as indicators, missing cells filled, numbers scaled.
Shuffling: Breiman 2001. SHAP: Lundberg and Lee 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import signature
from numbers import Real
from operator import attrgetter
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.spatial.distance import squareform
from scipy.special import logsumexp
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import ElasticNet, Lasso, LassoCV, LogisticRegression, LogisticRegressionCV, Ridge
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from fewer.contracts import CHANGES, ROWS, IncompatibleError, Ranker, Ranking, Resources
from fewer.contracts.declaring import Fraction, Repeats, Scoring, parameters
from fewer.errors import naming_one_class, one_line, quietly
from fewer.estimators import hushed
from fewer.kernels.path import TOLERANCE, fit_rows
from fewer.parallel import run_tasks
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem, Task
from fewer.statistics.encoding import coded_inputs
from fewer.validate import CV, Split, split_rows

Way = Callable[[Any, Problem, int], FloatArray | None]
SHUFFLED_CELLS = 4_000_000  # Cells of shuffled tables that are predicted at once: 32 MB.
Model = Annotated[Any, HasMethods(["fit", "predict"]), None]


@parameters
class ModelRanker(Ranker):
    """Rank by what models say that are fitted to the training rows of each fold, averaged over folds.

    Parameters
    ----------
    estimator : estimator, optional
        What is fitted; a forest if left out.
    cv : int, splitter or None
        Folds; None fits one model to all rows.
    """

    takes: ClassVar[frozenset[str]] = ROWS
    depends_on: ClassVar[frozenset[str]] = CHANGES - {"labels"}  # what its estimator depends on

    estimator: Model = None
    cv: CV = 5

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        parts = parts_of(problem, self.cv, rng)
        return Ranking.averaged(self._measure(problem, parts, int(rng.integers(2**31)), resources))

    def _measure(self, problem: Problem, parts: list[Split], seed: int, resources: Resources) -> FloatArray:
        """Return what each fold's model says of each feature, (n_folds, n_features)."""
        raise NotImplementedError


class ModelColumns(TransformerMixin, BaseEstimator):
    """Turn the columns of a problem into inputs of an estimator, as the training rows say.

    Nominal columns become one indicator a level (none for a level that was not seen), missing numbers the median.

    Parameters
    ----------
    nominal : bool array of shape (n_features,)
        Columns of levels.
    """

    def __init__(self, nominal: BoolArray) -> None:
        self.nominal = nominal

    def fit(self, X: FloatArray, y: Any = None) -> ModelColumns:
        """Learn levels and medians."""
        self.owner_, self.level_ = coded_inputs(X, self.nominal)
        known = ~np.isnan(X).all(axis=0)
        self.middle_ = np.zeros(X.shape[1])
        self.middle_[known] = np.nanmedian(X[:, known], axis=0)
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the inputs of rows."""
        cells = X[:, self.owner_]
        numbers = np.where(np.isnan(cells), self.middle_[self.owner_], cells)
        return np.where(np.isnan(self.level_), numbers, cells == self.level_)


def default_estimator(task: Task) -> Any:
    """Return logistic or ridge regression on scaled columns."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000) if task == "classification" else Ridge())


def lasso_classifier(n_penalties: int = 10, cv: int = 5) -> Any:
    """Return logistic regression with an l1 penalty, its strength by cross-validation."""
    options: dict[str, Any] = {"Cs": n_penalties, "cv": cv, "solver": "saga", "tol": 1e-2, "max_iter": 1000}
    if "use_legacy_attributes" in signature(LogisticRegressionCV).parameters:
        options.update(l1_ratios=(1.0,), use_legacy_attributes=False)
    else:
        options.update(penalty="l1")
    return LogisticRegressionCV(scoring=LogLikelihood(), random_state=0, **options)


class LogLikelihood:
    """The mean log probability of the true classes: `neg_log_loss` without its checks, which take longer than fits."""

    def __call__(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score a fitted logistic regression; as scikit-learn does, no probability counts as less than 2⁻⁵²."""
        z = X @ np.atleast_2d(model.coef_).T + model.intercept_
        z = np.column_stack([np.zeros(len(z)), z]) if z.shape[1] == 1 else z
        log_shares = z[np.arange(len(z)), np.searchsorted(model.classes_, y)] - logsumexp(z, axis=1)
        return float(np.average(np.maximum(log_shares, -52.0 * np.log(2.0)), weights=sample_weight))

    def __repr__(self) -> str:
        return "LogLikelihood()"


def lasso_regressor(cv: int = 5) -> Any:
    """Return the lasso, its strength by cross-validation."""
    return LassoCV(cv=cv)


def last_step(model: Any) -> Any:
    """Return the estimator at the end of pipelines."""
    while isinstance(model, Pipeline) or is_frozen(model):
        model = model.estimator if is_frozen(model) else model.steps[-1][1]
    return model


def is_frozen(model: Any) -> bool:
    """Say whether a model is fitted already, and stays as it is (`sklearn.frozen.FrozenEstimator`)."""
    return type(model).__name__ == "FrozenEstimator"


def fit_model(estimator: Any, problem: Problem, seed: int, *, scale: bool = False, fill: bool = False) -> Any:
    """Fit a copy of an estimator to the rows of a problem; rows given to it later have the problem's columns.

    Parameters
    ----------
    estimator : estimator or None
        Logistic or ridge regression by default.
    problem : Problem
        Row weights go to the estimator where its `fit` takes them.
    seed : int
        Of estimators that draw and have no seed of their own.
    scale : bool, default=False
        Give it columns of unit variance.
    fill : bool, default=False
        Later rows may have missing cells, also where these have none.
    """
    model = hushed(clone(default_estimator(problem.task) if estimator is None else estimator))
    final = last_step(model)
    if "random_state" in final.get_params(deep=False) and final.get_params(deep=False)["random_state"] is None:
        final.set_params(random_state=seed)
    steps: list[Any] = []
    if fill or problem.nominal.any() or problem.missing.any():
        steps.append(ModelColumns(problem.nominal))
    if scale:
        steps.append(StandardScaler())
    if steps:
        model = make_pipeline(*steps, model)
    weights: dict[str, Any] = {}
    if problem.sample_weight is not None and has_fit_parameter(final, "sample_weight"):
        weights = {_weight_name(model): problem.sample_weight}
    with one_line(), naming_one_class(problem.labels):
        return model.fit(problem.X, problem.y, **weights)


def _weight_name(model: Any) -> str:
    """Name the weights of the last step as nested pipelines pass them on."""
    last = model.steps[-1] if isinstance(model, Pipeline) else None
    return "sample_weight" if last is None else f"{last[0]}__{_weight_name(last[1])}"


def inputs_of(model: Any, X: FloatArray) -> FloatArray:
    """Return what the last step of a fitted model sees of rows."""
    while isinstance(model, Pipeline):
        X = model[:-1].transform(X) if len(model.steps) > 1 else X
        model = model.steps[-1][1]
    return X


def owners_of(model: Any, n_features: int) -> IntArray:
    """Return the column of the problem that each input of the last step comes from."""
    return model.steps[0][1].owner_ if _is_prepared(model) else np.arange(n_features)


def gather(values: FloatArray, model: Any, n_features: int) -> FloatArray:
    """Sum what inputs have over the column that they come from."""
    owner = owners_of(model, n_features)
    if len(values) != len(owner):
        raise IncompatibleError(
            f"{type(last_step(model)).__name__} works on {len(values)} inputs that its pipeline makes of {len(owner)} "
            "columns, so columns have no importance of their own; leave out the step that makes them."
        )
    return np.asarray(np.bincount(owner, values, minlength=n_features), dtype=np.float64)


def parts_of(problem: Problem, cv: Any, rng: np.random.Generator) -> list[Split]:
    """Return training and test rows; without cross-validation all rows as both."""
    if cv is None:
        rows = np.arange(problem.n_samples)
        return [Split(rows, rows)]
    return split_rows(problem, cv, rng)


@parameters
class Importance(ModelRanker):
    """Importance of each feature in a fitted model, averaged over folds.

    The model is fitted to the training rows of each fold. A linear model gets columns of unit variance, and a feature's
    importance is the size of its coefficient, summed over classes; a model of trees says its `feature_importances_`.
    Averaging over folds tempers what one draw of the rows, or of a forest, brings about.

    Read more in the guide: :doc:`/guide/own-models`.

    Parameters
    ----------
    estimator : estimator, optional
        Any classifier or regressor with `coef_` or `feature_importances_`, also at the end of a pipeline. Logistic or
        ridge regression by default.
    cv : int, splitter or None, default=5
        Folds; None fits one model to all rows.
    threshold : float or str, optional
        Keep features whose importance is at least this: a number, `"mean"`, `"median"`, or a multiple of these such as
        `"1.25*mean"`, as in scikit-learn's `SelectFromModel`. Then `RankSelector(Importance(…))` keeps just these.
    importance : str or callable, default="auto"
        `"auto"`: coefficients or `feature_importances_`. The name of an attribute of the model, such as
        `"named_steps.svc.coef_"`; or a function that takes the fitted model and returns a number for each column, as
        `importance_getter` of scikit-learn. Then columns are not scaled.

    Notes
    -----
    A nominal feature stands as its level indicators, whose importances are summed; missing numbers count as the median
    of the training rows. Row weights go to the model where its `fit` takes them, row groups stay together. The
    ranking's `extra` holds the standard deviation over folds as `spread`. A model that is fitted already
    (`sklearn.frozen.FrozenEstimator`) is asked as it is.

    Impurity importances favor columns with many values, also where these are noise: see `Permutation`.

    See Also
    --------
    Permutation : What held-out rows lose without a column.
    fewer.search.Elimination : Fit again and again without the least important.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> forest = Importance(RandomForestClassifier(20, random_state=0), cv=3)
    >>> selector = fewer.RankSelector(forest, n_features_to_select=3, random_state=0).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['mean concave points', 'worst radius', 'worst concave points']
    """

    command_name = "importance"
    # Compiled ways to importances, None where one does not apply: selectors add that of the engine of forests.
    ways: ClassVar[list[Way]] = []

    estimator: Annotated[Any, HasMethods("fit"), None] = None
    threshold: Annotated[float | str | None, Real, str, None] = None
    importance: Annotated[Any, str, callable] = "auto"

    @property
    def chooses(self) -> bool:  # type: ignore[override]
        """Whether a threshold says how many features are worth keeping."""
        return self.threshold is not None

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        ranking = super().rank(problem, rng, resources)
        if self.threshold is not None:
            enough = ranking.scores >= threshold_of(self.threshold, ranking.scores)
            ranking.extra["n_relevant"] = np.array(int(enough.sum()))
        return ranking

    def _measure(self, problem: Problem, parts: list[Split], seed: int, resources: Resources) -> FloatArray:
        if self.cv is None:
            return importances(self.estimator, problem, seed, self.importance, self.ways)[None]
        shared = (self.estimator, problem, seed, self.importance, self.ways)  # other processes know no ways yet
        return np.array(list(run_tasks(_importances, [(part.train,) for part in parts], resources, shared=shared)))


def threshold_of(threshold: float | str, scores: FloatArray) -> float:
    """Return a threshold as a number: as it is, or a multiple of the mean or the median of the scores.

    Examples
    --------
    >>> threshold_of("1.25*mean", np.array([1.0, 3.0])), threshold_of("median", np.array([1.0, 2.0, 9.0]))
    (2.5, 2.0)
    """
    if not isinstance(threshold, str):
        return float(threshold)
    factor, _, name = threshold.rpartition("*")
    try:
        middle = {"mean": float(np.mean(scores)), "median": float(np.median(scores))}[name.strip()]
        return float(factor or 1.0) * middle
    except (KeyError, ValueError):
        raise InputError(
            f"threshold={threshold!r} is not a number, 'mean', 'median' or a multiple such as '1.25*mean'."
        ) from None


def _importances(shared: tuple[Any, Problem, int, Any, list[Way]], rows: IntArray) -> FloatArray:
    estimator, problem, seed, importance, ways = shared
    return importances(estimator, problem.take(rows), seed, importance, ways)


def importances(
    estimator: Any, problem: Problem, seed: int, importance: Any = "auto", ways: Iterable[Way] = ()
) -> FloatArray:
    """Fit an estimator to rows and return the importance of each column.

    Parameters
    ----------
    estimator : estimator or None
        A forest if None.
    problem : Problem
        The rows.
    seed : int
        Of all that is random.
    importance : str or callable, default="auto"
        As in `Importance`.
    ways : iterable of callable
        Compiled ways that are tried first.

    Returns
    -------
    array of shape (n_features,)
    """
    if importance == "auto":
        for compiled in (_lasso_sizes, *ways):
            if (sizes := compiled(estimator, problem, seed)) is not None:
                return sizes
    as_it_is = hasattr(type(last_step(estimator)), "feature_importances_") or is_frozen(estimator)
    model = fit_model(estimator, problem, seed, scale=not as_it_is and importance == "auto")
    if importance == "auto":
        return gather(own_importances(last_step(model)), model, problem.n_features)
    asked = model.steps[-1][1] if _is_prepared(model) else model
    asked = asked.estimator if is_frozen(asked) else asked
    try:
        return gather(_sizes_of(importance(asked) if callable(importance) else attrgetter(importance)(asked)), model,
                      problem.n_features)  # fmt: skip
    except AttributeError as error:
        raise IncompatibleError(f"Importance(importance={importance!r}): {error}.") from None


def _is_prepared(model: Any) -> bool:
    """Say whether nominal or missing cells were prepared for the model, before its own steps."""
    return isinstance(model, Pipeline) and isinstance(model.steps[0][1], ModelColumns)


def _sizes_of(coefficients: Any) -> FloatArray:
    """Return the sizes of coefficients, summed over classes."""
    dense = coefficients.toarray() if hasattr(coefficients, "toarray") else np.asarray(coefficients, dtype=np.float64)
    return np.asarray(np.abs(np.atleast_2d(dense)).sum(axis=0))


LASSO = {"fit_intercept": True, "positive": False, "precompute": False, "warm_start": False, "selection": "cyclic"}
LASSO_ROUNDS = 10_000


def _lasso_sizes(estimator: Any, problem: Problem, seed: int) -> FloatArray | None:
    """Fit a lasso or an elastic net to scaled columns, to changes of 1e-7 of the target's spread; None if not covered.

    scikit-learn stops at a duality gap of `tol`, so that its coefficients are off by more.
    """
    if type(estimator) not in (Lasso, ElasticNet) or problem.n_outputs > 1 or problem.sample_weight is not None:
        return None
    odd = any(getattr(estimator, name) != value for name, value in LASSO.items())
    if odd or problem.has_missing or problem.nominal.any():
        return None
    alpha: Any = estimator.alpha
    ratio: Any = estimator.l1_ratio if type(estimator) is ElasticNet else 1.0
    if not (isinstance(alpha, int | float) and alpha >= 0 and isinstance(ratio, int | float) and 0 <= ratio <= 1):
        return None  # scikit-learn says what is wrong
    columns, target = problem.X.T.copy(order="C"), problem.y - problem.y.mean()
    coefficients, penalty = np.zeros(len(columns)), (float(alpha * ratio), float(alpha * (1 - ratio)))
    done = fit_rows(columns, target, coefficients, penalty, TOLERANCE * float(target.std()), LASSO_ROUNDS)
    return np.abs(coefficients) if done else None


def own_importances(fitted: Any) -> FloatArray:
    """Return the sizes of a fitted model's coefficients, summed over classes, or its importances.

    Parameters
    ----------
    fitted : estimator
        A fitted model.

    Returns
    -------
    array of shape (number of inputs,)
    """
    if hasattr(fitted, "coef_"):
        return _sizes_of(fitted.coef_)
    if hasattr(fitted, "feature_importances_"):
        return np.asarray(fitted.feature_importances_, dtype=np.float64)
    raise IncompatibleError(
        f"{type(fitted).__name__} has neither coef_ nor feature_importances_; use Permutation, which needs neither."
    )


@parameters
class Permutation(Ranker):
    """Loss of score on held-out rows when a feature is shuffled, averaged over folds and repeats.

    A model is fitted to the training rows of each fold; on the fold's other rows each column is shuffled in turn. Per
    fold these are the values of scikit-learn's `permutation_importance`. The model may be anything that predicts.

    Read more in the guide: :doc:`/methods/models`.

    Parameters
    ----------
    estimator : estimator, optional
        Logistic or ridge regression by default.
    scoring : str or callable, optional
        As in scikit-learn; the estimator's own score if left out.
    n_repeats : int, default=5
        How often each column is shuffled in each fold.
    cv : int, splitter or None, default=5
        Folds; None fits and shuffles all rows, which flatters columns that the model overfits.
    group_above : float or None, default=None
        Columns whose rank correlation exceeds this, in size, are shuffled as one group, and each gets what the group
        loses: of two copies a model needs only one, so that alone each seems worthless.

    Notes
    -----
    A score below 0 means that the rows are told better without the column, by chance. Nominal columns and missing cells
    are shuffled as they are, before the model's preparation sees them. Row weights go to `fit`, where it takes them,
    and to the scoring; row groups stay together. The ranking's `extra` holds the standard deviation over folds as
    `spread`, and with groups the number of each column's as `group`.

    See Also
    --------
    Importance : What the model says of itself.

    References
    ----------
    L. Breiman, Random forests, Machine Learning 45, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(Permutation(), n_features_to_select=2, random_state=0).fit(X, y).support_
    array([False, False,  True,  True])
    """

    command_name = "permutation"
    takes: ClassVar[frozenset[str]] = ROWS
    depends_on: ClassVar[frozenset[str]] = CHANGES - {"labels"}  # what its estimator depends on

    estimator: Model = None
    scoring: Scoring = None
    n_repeats: Repeats = 5
    cv: CV = 5
    group_above: Fraction | None = None

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        parts = parts_of(problem, self.cv, rng)
        model_seed = int(rng.integers(2**31))
        seeds = rng.integers(2**31, size=len(parts)).tolist()
        groups = np.arange(problem.n_features)
        if self.group_above is not None:
            groups = correlated_groups(problem, self.group_above)
        tasks = [(part.train, part.test, seed) for part, seed in zip(parts, seeds, strict=True)]
        shared = (self, problem, groups, model_seed)
        with quietly(UndefinedMetricWarning):
            losses = np.array(list(run_tasks(_losses, tasks, resources, shared=shared)))
        losses = losses[~np.isnan(losses).all(axis=1)]  # one row has no R²
        if not len(losses):
            raise InputError("No fold has rows enough for Permutation to score; give more rows or a smaller cv.")
        return Ranking.averaged(losses, **({} if self.group_above is None else {"group": groups}))


def _losses(
    shared: tuple[Permutation, Problem, IntArray, int], train: IntArray, test: IntArray, seed: int
) -> FloatArray:
    ranker, problem, groups, model_seed = shared
    model = fit_model(ranker.estimator, problem.take(train), model_seed, fill=problem.has_missing)
    return shuffle_losses(model, problem.take(test), groups, ranker.scoring, ranker.n_repeats, seed)


def shuffle_losses(model: Any, test: Problem, groups: IntArray, scoring: Any, n_repeats: int, seed: int) -> FloatArray:
    """Return the mean loss of score of a fitted model when columns of one group are shuffled together.

    Parameters
    ----------
    model : fitted estimator
        Fitted to the training rows.
    test : Problem
        Rows to shuffle.
    groups : int array of shape (n_features,)
        Number of the group of each column.
    scoring : str, callable or None
        The metric; None is the model's own score.
    n_repeats : int
        How often each column is shuffled.
    seed : int
        Shuffles are those of scikit-learn's `permutation_importance` with this `random_state`.

    Returns
    -------
    array of shape (n_features,)
    """
    rows, random, orders = np.arange(test.n_samples), np.random.RandomState(seed), []
    random = np.random.RandomState(random.randint(np.iinfo(np.int32).max + 1))
    order = rows.copy()
    for _ in range(n_repeats):  # each shuffle of a column starts from the one before
        random.shuffle(rows)
        order = order[rows]
        orders.append(order)
    units = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    whole = _scores_of(model, test.X[None], test, scoring)[0]
    losses, at_once = np.zeros(test.n_features), max(1, SHUFFLED_CELLS // max(1, n_repeats * test.X.size))
    for first in range(0, len(units), at_once):
        shuffled = units[first : first + at_once]
        tables = np.repeat(test.X[None], len(shuffled) * n_repeats, axis=0)
        for i, columns in enumerate(shuffled):
            for r, order in enumerate(orders):
                tables[i * n_repeats + r][:, columns] = test.X[np.ix_(order, columns)]
        scores = _scores_of(model, tables, test, scoring).reshape(len(shuffled), n_repeats)
        for columns, each in zip(shuffled, scores, strict=True):
            losses[columns] = np.mean(whole - each)
    return losses


def _scores_of(model: Any, tables: FloatArray, test: Problem, scoring: Any) -> FloatArray:
    """Score a fitted model on tables of the same rows: (q,). Named metrics predict all tables at once."""
    weights = {} if test.sample_weight is None else {"sample_weight": test.sample_weight}
    default_score = getattr(type(last_step(model)), "score", None)
    if scoring is None and default_score in (ClassifierMixin.score, RegressorMixin.score):
        scoring = "accuracy" if default_score is ClassifierMixin.score else "r2"
    scorer = check_scoring(model, scoring=scoring)
    if not isinstance(scoring, str):
        return np.array([scorer(model, table, test.y, **weights) for table in tables])
    answers = _Answers(model, tables.reshape(-1, tables.shape[2]))
    if scoring == "accuracy" and not weights:
        return np.asarray(np.mean(answers.predict(None).reshape(len(tables), -1) == test.y, axis=1))
    scores = []
    for i, table in enumerate(tables):
        answers.rows = slice(i * len(table), (i + 1) * len(table))
        scores.append(scorer(answers, table, test.y, **weights))
    return np.array(scores)


class _Answers(BaseEstimator):
    """What a fitted model says of many rows, asked once, in the shape of the model."""

    def __init__(self, model: Any, table: FloatArray) -> None:
        self.model, self.table = model, table
        self.rows, self._known = slice(None), dict[str, Any]()

    @property
    def classes_(self) -> Any:
        return self.model.classes_

    def predict(self, X: Any) -> Any:
        return self._answer("predict")

    @available_if(lambda self: hasattr(self.model, "predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        return self._answer("predict_proba")

    @available_if(lambda self: hasattr(self.model, "decision_function"))
    def decision_function(self, X: Any) -> Any:
        return self._answer("decision_function")

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.model)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _answer(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = getattr(self.model, name)(self.table)
        return self._known[name][self.rows]


def correlated_groups(problem: Problem, above: float) -> IntArray:
    """Number the groups of columns whose rank correlations exceed a bound, mean linkage; nominal columns stand alone.

    Parameters
    ----------
    problem : Problem
        The rows.
    above : float
        Columns correlated more than this form a group.

    Returns
    -------
    int array of shape (n_features,)
    """
    filled = np.where(problem.missing, np.nanmedian(np.where(problem.constant, 0.0, problem.X), axis=0), problem.X)
    ranks = np.array([rankdata(column) for column in filled.T])
    alone = problem.nominal | problem.constant
    ranks = ranks - ranks.mean(axis=1, keepdims=True)
    length = np.sqrt((ranks**2).sum(axis=1))
    length[length == 0] = 1.0
    near = np.abs((ranks / length[:, None]) @ (ranks / length[:, None]).T)
    near[alone] = near[:, alone] = 0.0
    if problem.n_features < 2:
        return np.zeros(problem.n_features, dtype=np.int64)
    apart = np.clip(1.0 - near, 0.0, 1.0)
    np.fill_diagonal(apart, 0.0)
    from scipy.cluster.hierarchy import fcluster, linkage  # loads for longer than most tables are ranked

    tree = linkage(squareform(apart, checks=False), "average")
    return np.asarray(fcluster(tree, 1.0 - above, "distance"), dtype=np.int64) - 1


SHAP_ROWS = 200  # Rows that stand for the table where a model of no known kind is explained, and rows explained then.


class Shap(ModelRanker):
    """Mean size of a feature's SHAP values on held-out rows, averaged over folds.

    A SHAP value is what a cell adds to the prediction of its row, shared out fairly among the columns. Needs the
    package shap: `pip install 'fewer[shap]'`. Trees and linear models are explained exactly and fast; others by
    sampling, on at most 200 rows of each fold.

    Read more in the guide: :doc:`/guide/own-models`.

    Parameters
    ----------
    estimator : estimator, optional
        Logistic or ridge regression by default.
    cv : int, splitter or None, default=5
        Folds; None fits and explains all rows.

    Notes
    -----
    For classes, sizes are summed over the classes that the model explains. A nominal feature stands as its level
    indicators, whose sizes are summed. Row weights go to `fit`, where it takes them, and to the mean over rows; row
    groups stay together.

    See Also
    --------
    Permutation : In units of the score, without another package.

    References
    ----------
    S. Lundberg and S.-I. Lee, A unified approach to interpreting model predictions, NeurIPS 2017.

    Examples
    --------
    >>> from fewer.rankers import Shap
    >>> Shap(cv=3)
    Shap(cv=3)
    """

    command_name = "shap"

    def _measure(self, problem: Problem, parts: list[Split], seed: int, resources: Resources) -> FloatArray:
        by_fold = []
        for part in parts:
            train, test = problem.take(part.train), problem.take(part.test)
            model = fit_model(self.estimator, train, seed, fill=problem.has_missing)
            sizes = shap_sizes(model, train.X, test, seed)
            by_fold.append(gather(sizes, model, problem.n_features))
        return np.array(by_fold)


def shap_sizes(model: Any, background: FloatArray, rows: Problem, seed: int) -> FloatArray:
    """Return the mean size of the SHAP values of each input of a fitted model's last step.

    Parameters
    ----------
    model : fitted estimator
        Fitted to the training rows.
    background : array
        Training rows, against which a cell is told to add something.
    rows : Problem
        Rows to explain.
    seed : int
        Of all that is random.

    Returns
    -------
    array of shape (number of inputs,)
    """
    try:
        import shap
    except ImportError:
        raise InputError("Shap needs the package shap; install it with pip install 'fewer[shap]'.") from None
    final, base, cells = last_step(model), inputs_of(model, background), inputs_of(model, rows.X)
    weights = rows.row_weights
    if hasattr(type(final), "feature_importances_"):
        values = shap.TreeExplainer(final).shap_values(cells, check_additivity=False)
    elif hasattr(final, "coef_"):
        values = shap.LinearExplainer(final, base).shap_values(cells)
    else:
        draw = np.random.default_rng(seed)
        base = base[draw.permutation(len(base))[:SHAP_ROWS]]
        chosen = draw.permutation(len(cells))[:SHAP_ROWS]
        cells, weights = cells[chosen], weights[chosen]
        predict = final.predict_proba if hasattr(final, "predict_proba") else final.predict
        values = shap.Explainer(predict, base, seed=seed)(cells, silent=True).values
    sizes = np.abs(np.stack(values, axis=-1) if isinstance(values, list) else np.asarray(values))
    sizes = sizes.reshape(*sizes.shape[:2], -1).sum(axis=2)
    return np.average(sizes, axis=0, weights=weights if weights.any() else None)
