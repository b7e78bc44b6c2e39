"""The selectors that people know, spoken by ours: thin enough that what fails is ours, not theirs.

Nothing here is part of the product. Each class has its peer's parameters and fitted attributes and hands everything to
`fewer.SubsetSelector` or `fewer.RankSelector`.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.feature_selection import SelectorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import check_X_y, get_tags
from sklearn.utils.validation import check_is_fitted

from fewer import RankSelector, SubsetSelector
from fewer.contracts import Ranker, Ranking, Resources
from fewer.control import FalseDiscovery, Shadow
from fewer.criteria import CrossValidated
from fewer.problem import Problem
from fewer.rankers import Chi2, FTest, Importance, MutualInformation
from fewer.search import Backward, Elimination, Floating, Forward


class ScikitLearnSFS(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """`sklearn.feature_selection.SequentialFeatureSelector`."""

    def __init__(
        self,
        estimator,
        *,
        n_features_to_select="auto",
        tol=None,
        direction="forward",
        scoring=None,
        cv=5,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.direction = direction
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X, y=None, **params):
        """Search with our selector; a size "auto" without a tolerance is half of the columns, as there."""
        size = self.n_features_to_select
        if size == "auto" and self.tol is None:
            size = X.shape[1] // 2
        search = {"forward": Forward, "backward": Backward}[self.direction](self.tol)
        # Their folds are not shuffled.
        cv = self.cv if y is None else check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        criterion = CrossValidated(self.estimator, scoring=self.scoring, cv=cv)
        self.selector_ = SubsetSelector(criterion, search, n_features_to_select=size, n_jobs=self.n_jobs)
        self.selector_.fit(X, y, **params)
        self.n_features_in_ = X.shape[1]
        self.support_ = self.selector_.support_
        self.n_features_to_select_ = int(self.support_.sum())
        return self

    def _get_support_mask(self):
        return self.support_

    def __sklearn_tags__(self):
        """Allow what ours allows."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _number(X, column):
    return list(X.columns).index(column) if isinstance(column, str) else column


class MlxtendSFS(BaseEstimator):
    """`mlxtend.feature_selection.SequentialFeatureSelector`."""

    def __init__(
        self,
        estimator,
        k_features=1,
        forward=True,
        floating=False,
        verbose=0,
        scoring=None,
        cv=5,
        n_jobs=1,
        pre_dispatch="2*n_jobs",
        clone_estimator=True,
        fixed_features=None,
        feature_groups=None,
    ):
        self.estimator = estimator
        self.k_features = k_features
        self.forward = forward
        self.floating = floating
        self.verbose = verbose
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.pre_dispatch = pre_dispatch
        self.clone_estimator = clone_estimator
        self.fixed_features = fixed_features
        self.feature_groups = feature_groups
        if isinstance(estimator, type):
            CrossValidated(estimator)._validate_params()

    def fit(self, X, y, groups=None, **fit_params):
        """Walk the whole way that the sizes ask for, then choose among the best subsets of each size."""
        y = np.asarray(y)
        low, high = self._sizes(X.shape[1])
        search = (
            Floating("forward" if self.forward else "backward")
            if self.floating
            else Forward(None)
            if self.forward
            else Backward(None)
        )
        everything = np.arange(len(y))
        # Their folds are not shuffled.
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator)) if self.cv else [(everything, everything)]
        self.scoring_ = self.scoring or ("accuracy" if is_classifier(self.estimator) else "r2")
        selector = SubsetSelector(
            CrossValidated(self.estimator, scoring=self.scoring_, cv=cv),
            search,
            n_features_to_select=(low, high),
            include=self.fixed_features,
            feature_groups=self.feature_groups,
            n_jobs=self.n_jobs,
        )
        selector.fit(X, y, groups=groups, **fit_params)
        self.selector_, self.fitted = selector, True
        self._keep(X, y, groups, cv)
        return self

    def _sizes(self, n):
        """Return the smallest and largest size; ours refuses what is none."""
        if self.k_features == "best":
            return 1, n
        if isinstance(self.k_features, tuple):
            return self.k_features
        return (self.k_features, self.k_features)

    def _keep(self, X, y, groups, cv):
        groups_there = [[_number(X, column) for column in group] for group in self.feature_groups or ()]
        group_of = {column: ("group", i) for i, group in enumerate(groups_there) for column in group}
        best = {}
        for mask, score in self.selector_.trace_.subsets_met():
            size = len({group_of.get(column, column) for column in np.flatnonzero(mask)})
            if size and (size not in best or score > best[size][1]):
                best[size] = (np.flatnonzero(mask), score)
        names = list(X.columns) if hasattr(X, "columns") else [str(i) for i in range(X.shape[1])]
        data = X.to_numpy() if hasattr(X, "to_numpy") else X
        splits = list(check_cv(cv, y, classifier=is_classifier(self.estimator)).split(data, y, groups))
        self.subsets_ = {
            size: {
                "feature_idx": tuple(int(i) for i in columns),
                "feature_names": tuple(names[i] for i in columns),
                "avg_score": score,
                "cv_scores": np.array([self._score(data[:, columns], y, split) for split in splits]),
            }
            for size, (columns, score) in sorted(best.items())
        }
        chosen = np.flatnonzero(self.selector_.support_)
        self.k_feature_idx_ = tuple(int(i) for i in chosen)
        self.k_feature_names_ = tuple(names[i] for i in chosen)
        self.k_score_ = float(self.selector_.score_)

    def _score(self, X, y, split):
        scorer = get_scorer(self.scoring_) if isinstance(self.scoring_, str) else self.scoring_
        train, test = split
        return scorer(clone(self.estimator).fit(X[train], y[train]), X[test], y[test])

    def transform(self, X):
        """Keep the chosen columns."""
        check_is_fitted(self, "selector_")
        return self.selector_.transform(X)

    def get_metric_dict(self):
        """Tell the subsets."""
        check_is_fitted(self, "selector_")
        return self.subsets_


# --------------------------------------------------------------------------- scikit-learn's filters and model selectors


def _ranking(ranker, X, y, task, **options):
    """Return what a ranker says of arrays, constants included."""
    problem = Problem.from_arrays(X, y, task=task, **options)
    return ranker.rank(problem, np.random.default_rng(0), Resources())


def _cells(X, y):
    X = X.toarray() if hasattr(X, "toarray") else X
    return check_X_y(X, y, dtype=np.float64)


def _tested(ranker, task):
    def score(X, y, **options):
        X, y = _cells(X, y)
        told = _ranking(ranker, X, y, task)
        return told.extra.get("statistic", told.scores), told.extra["p_value"]

    return score


f_classif, chi2 = _tested(FTest(), "classification"), _tested(Chi2(), "classification")
_f_regression = _tested(FTest(), "regression")


def f_oneway(*groups):
    """One-way analysis of variance of samples."""
    groups = [np.asarray(group, dtype=np.float64).reshape(len(group), -1) for group in groups]
    X, y = np.concatenate(groups), np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return f_classif(X, y)


def f_regression(X, y, *, center=True, force_finite=True):
    """F statistic of the correlation."""
    if not center:
        raise NotImplementedError("columns are centered")
    return _f_regression(X, y)


def _information(task):
    def score(X, y, *, discrete_features="auto", n_neighbors=3, copy=True, random_state=None, n_jobs=None):
        X, y = _cells(X, y)
        kinds = np.full(X.shape[1], "numeric", dtype=object)
        if not isinstance(discrete_features, str):
            kinds[slice(None) if discrete_features is True else discrete_features] = "nominal"
        if discrete_features is False:
            kinds[:] = "numeric"
        return _ranking(MutualInformation(n_neighbors=n_neighbors), X, y, task, kinds=kinds.tolist()).scores

    return score


mutual_info_classif, mutual_info_regression = _information("classification"), _information("regression")


class ScoreFunction(Ranker):
    """A score function of scikit-learn as one of our rankers."""

    p_values = True

    def __init__(self, function=None):
        self.function = function

    def rank(self, problem, rng, resources):
        """Ask the function."""
        told = self.function(problem.X, problem.y)
        scores, p_values = told if isinstance(told, tuple) else (told, np.full(problem.n_features, np.nan))
        return Ranking.by_score(np.asarray(scores, dtype=np.float64), p_value=np.asarray(p_values))


class Filter(SelectorMixin, BaseEstimator):
    """Our `RankSelector` in the words of their univariate filters."""

    def __init__(self, score_func=f_classif):
        self.score_func = score_func

    def fit(self, X, y=None):
        """Rank with a function, keep as many as asked for."""
        if y is None:
            raise ValueError("a target is needed")
        control, size = self._asked(X)
        regression = self.score_func in (f_regression, mutual_info_regression)
        selector = RankSelector(
            ScoreFunction(self.score_func), control=control, n_features_to_select=size,
            task="regression" if regression else "classification",
        )  # fmt: skip
        self.selector_ = selector.fit(X, y)
        self.scores_, self.pvalues_ = selector.scores_, selector.extra_["p_value"]
        self.n_features_in_ = selector.n_features_in_
        if hasattr(selector, "feature_names_in_"):
            self.feature_names_in_ = selector.feature_names_in_
        return self

    def _get_support_mask(self):
        check_is_fitted(self, "selector_")
        return self.selector_.support_

    def __sklearn_tags__(self):
        """Allow what ours allows."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class SelectKBest(Filter):
    """`sklearn.feature_selection.SelectKBest`."""

    def __init__(self, score_func=f_classif, *, k=10):
        self.score_func = score_func
        self.k = k

    def _asked(self, X):
        return None, np.shape(X)[1] if self.k == "all" else self.k


class SelectPercentile(Filter):
    """`sklearn.feature_selection.SelectPercentile`."""

    def __init__(self, score_func=f_classif, *, percentile=10):
        self.score_func = score_func
        self.percentile = percentile

    def _asked(self, X):
        n = np.shape(X)[1]
        return None, n if self.percentile == 100 else max(int(n * self.percentile / 100), 1)


class _Tested(Filter):
    procedure = ""

    def __init__(self, score_func=f_classif, *, alpha=5e-2):
        self.score_func = score_func
        self.alpha = alpha

    def _asked(self, X):
        return FalseDiscovery(self.alpha, self.procedure), "auto"


class SelectFdr(_Tested):
    """`sklearn.feature_selection.SelectFdr`."""

    procedure = "bh"


class SelectFpr(_Tested):
    """`sklearn.feature_selection.SelectFpr`."""

    procedure = "fpr"


class SelectFwe(_Tested):
    """`sklearn.feature_selection.SelectFwe`."""

    procedure = "fwe"


class GenericUnivariateSelect(Filter):
    """`sklearn.feature_selection.GenericUnivariateSelect`."""

    def __init__(self, score_func=f_classif, *, mode="percentile", param=1e-5):
        self.score_func = score_func
        self.mode = mode
        self.param = param

    def _asked(self, X):
        modes = {"k_best": SelectKBest, "percentile": SelectPercentile, "fpr": SelectFpr, "fdr": SelectFdr}
        made = modes.get(self.mode, SelectFwe)(self.score_func)
        made.set_params(**{next(name for name in made.get_params() if name != "score_func"): self.param})
        return made._asked(X)


class SelectFromModel(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """`sklearn.feature_selection.SelectFromModel`: our `Importance` of a model that is fitted already."""

    def __init__(
        self, estimator, *, threshold=None, prefit=False, norm_order=1, max_features=None, importance_getter="auto"
    ):
        self.estimator = estimator
        self.threshold = threshold
        self.prefit = prefit
        self.norm_order = norm_order
        self.max_features = max_features
        self.importance_getter = importance_getter

    def fit(self, X, y=None, **params):
        """Fit the model, freeze it, and let the importances choose."""
        if self.prefit:
            check_is_fitted(self.estimator)
            self.estimator_ = deepcopy(self.estimator)
        else:
            self.estimator_ = clone(self.estimator)
            self.estimator_.fit(X, y, **params)
        cells = np.asarray(X)
        most = self.max_features(X) if callable(self.max_features) else self.max_features
        threshold = self.threshold
        if threshold is None:
            sparse = "Lasso" in type(self.estimator).__name__ or getattr(self.estimator, "penalty", "") == "l1"
            sparse = sparse or np.isin(1, getattr(self.estimator, "l1_ratio", 0)).any()
            threshold = 1e-5 if sparse else "mean"
        ranker = Importance(FrozenEstimator(self.estimator_), None, threshold, self.importance_getter)
        self.selector_ = RankSelector(ranker, n_features_to_select="auto" if most is None else most).fit(cells, y)
        if most is not None:
            self.max_features_ = most
        self.n_features_in_ = cells.shape[1]
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        return self

    def _get_support_mask(self):
        check_is_fitted(self, "selector_")
        return self.selector_.support_

    def __sklearn_tags__(self):
        """Allow what the estimator allows."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags


class RFE(SelectorMixin, MetaEstimatorMixin, BaseEstimator):
    """`sklearn.feature_selection.RFE`: our `Elimination` of a given size."""

    def __init__(self, estimator, *, n_features_to_select=None, step=1, verbose=0, importance_getter="auto"):
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.verbose = verbose
        self.importance_getter = importance_getter

    @property
    def _estimator_type(self):
        return self.estimator._estimator_type

    @property
    def classes_(self):
        """Those of the model."""
        return self.estimator_.classes_

    def _search(self, X, y, size, cv, groups=None, **params):
        search = Elimination(self.step, self.importance_getter)
        task = "regression" if is_regressor(self.estimator) else None
        criterion = CrossValidated(self.estimator, scoring=getattr(self, "scoring", None), cv=cv, preprocess="none")
        selector = SubsetSelector(criterion, search, n_features_to_select=size, task=task)
        self.selector_ = selector.fit(X, y, groups=groups, **params)
        self.support_, self.n_features_ = selector.support_, int(selector.support_.sum())
        self.n_features_in_ = selector.n_features_in_
        self.estimator_ = clone(self.estimator).fit(self.transform(X), y, **params)
        self.ranking_ = np.ones(len(self.support_), dtype=int)
        masks = [step.mask != 0 for step in selector.trace_.steps if (step.mask != 0).sum() >= self.n_features_]
        for mask in {np.packbits(mask).tobytes(): mask for mask in masks}.values():
            self.ranking_ += ~mask
        return self

    def fit(self, X, y, **params):
        """Eliminate."""
        size = self.n_features_to_select
        n = np.shape(X)[1]
        size = n // 2 if size is None else int(n * size) if isinstance(size, float) else size
        return self._search(X, y, min(size, n), 2, **params)

    def _get_support_mask(self):
        check_is_fitted(self, "selector_")
        return self.support_

    def predict(self, X):
        """Ask the model."""
        return self.estimator_.predict(self.transform(X))

    def score(self, X, y, **params):
        """Ask the model."""
        return self.estimator_.score(self.transform(X), y, **params)

    def __sklearn_tags__(self):
        """Allow what the estimator allows."""
        tags, theirs = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.classifier_tags, tags.regressor_tags = (
            theirs.estimator_type, theirs.classifier_tags, theirs.regressor_tags,
        )  # fmt: skip
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


class RFECV(RFE):
    """`sklearn.feature_selection.RFECV`: our `Elimination` of a free size."""

    def __init__(
        self, estimator, *, step=1, min_features_to_select=1, cv=None, scoring=None, verbose=0, n_jobs=None,
        importance_getter="auto",
    ):  # fmt: skip
        self.estimator = estimator
        self.step = step
        self.min_features_to_select = min_features_to_select
        self.cv = cv
        self.scoring = scoring
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.importance_getter = importance_getter

    def fit(self, X, y, *, groups=None, **params):
        """Eliminate on each split, then on all rows."""
        n = np.shape(X)[1]
        cv = check_cv(5 if self.cv is None else self.cv, y, classifier=is_classifier(self.estimator))
        self._search(X, y, (min(self.min_features_to_select, n), n), cv, groups, **params)
        state = self.selector_.trace_.state
        scores = state["scores"][:, ::-1]
        self.cv_results_ = {"mean_test_score": scores.mean(axis=0), "std_test_score": scores.std(axis=0)}
        self.cv_results_ |= {f"split{i}_test_score": row for i, row in enumerate(scores)}
        self.cv_results_ |= {"n_features": np.asarray(state["sizes"])[::-1]}
        return self


class BorutaPy(SelectorMixin, BaseEstimator):
    """`boruta.BorutaPy`: our `Shadow` over the importances of the estimator."""

    def __init__(self, estimator, n_estimators=1000, perc=100, alpha=0.05, two_step=True, max_iter=100,
                 random_state=None, verbose=0, early_stopping=False, n_iter_no_change=20):  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.perc = perc
        self.alpha = alpha
        self.two_step = two_step
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change

    def fit(self, X, y):
        """Confirm what beats the best shuffled copy."""
        control = Shadow(self.max_iter, self.alpha)
        ranker = Importance(self.estimator, cv=None)
        # Their tests set no seed; one that is fixed makes what they ask repeatable.
        self.selector_ = RankSelector(ranker, control=control, random_state=self.random_state or 0).fit(X, y)
        self.support_, self.n_features_in_ = self.selector_.support_, self.selector_.n_features_in_
        if hasattr(self.selector_, "feature_names_in_"):
            self.feature_names_in_ = self.selector_.feature_names_in_
        return self

    def transform(self, X, return_df=False):
        """Keep the chosen columns, of a frame as a frame."""
        return X.loc[:, self.support_] if return_df else super().transform(X)

    def _get_support_mask(self):
        check_is_fitted(self, "selector_")
        return self.support_
