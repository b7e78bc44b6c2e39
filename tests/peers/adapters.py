"""The two sequential selectors that people know, spoken by ours: thin enough that what fails is ours, not theirs.

Nothing here is part of the product. Each class has its peer's parameters and fitted attributes and hands everything to
`fewer.SubsetSelector(CrossValidated(estimator), search)`.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from fewer import SubsetSelector
from fewer.criteria import CrossValidated
from fewer.search import Backward, Floating, Forward


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
