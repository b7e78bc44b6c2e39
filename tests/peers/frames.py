"""feature-engine's and fastcan's selectors, spoken by ours: thin enough that what fails is ours, not theirs.

Each class has its peer's parameters and fitted attributes. What a parameter asks for and ours has not is refused
(`NotImplementedError`), so that a test of it fails and stands in the list of differences.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.linalg import orth
from sklearn.base import BaseEstimator, TransformerMixin, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from fewer import RankSelector, SubsetSelector
from fewer.contracts import ROWS, Ranker, Ranking, Resources
from fewer.control import Correlated, Probe
from fewer.criteria import CrossValidated, LeastSquares
from fewer.evaluate import drift_along_time
from fewer.problem import Problem
from fewer.rankers import Importance, Permutation
from fewer.search import Elimination, Floating, Forward


class Given(Ranker):
    """A ranking that is known: their order of columns, or a number for each."""

    takes = ROWS | {"nominal", "missing"}

    def __init__(self, scores=None):
        self.scores = scores

    def rank(self, problem, rng, resources):
        """Return it."""
        return Ranking.by_score(np.asarray(self.scores, dtype=np.float64))


class Alone(Ranker):
    """The score of each column alone, by a criterion of ours."""

    def __init__(self, criterion=None):
        self.criterion = criterion

    def rank(self, problem, rng, resources):
        """Score single columns."""
        return Ranking.by_score(self.criterion.bind(problem, rng, resources).score(np.eye(problem.n_features) > 0))


def half_and_half(X):
    """Return a target for selectors that need none: ours asks for one, and it is not looked at."""
    return np.arange(len(X)) % 2


def folds(estimator, cv, y, X=None, groups=None):
    """Return their folds, which are not shuffled, as a list of splits."""
    return list(
        check_cv(cv, y, classifier=is_classifier(estimator)).split(np.zeros(len(y)) if X is None else X, y, groups)
    )


def all_ranked(ranker, X, y, sample_weight=None, **options):
    """Rank all columns; how many to keep is theirs to say."""
    selector = RankSelector(ranker, n_features_to_select=X.shape[1], **options)
    return selector.fit(X.to_numpy(), y, sample_weight=sample_weight)


class Frame(TransformerMixin, BaseEstimator):
    """Drops columns of a frame: `features_to_drop_` says which."""

    def _columns(self, X, numbers=True):
        """Return the frame's columns that are looked at: those asked for, or all numbers."""
        asked = self.variables
        if asked is None and not numbers:
            return list(X.columns)
        if asked is None or (isinstance(asked, str) and asked == "all"):
            others = [] if asked is None else list(X.select_dtypes(exclude="number").columns)
            return [*X.select_dtypes("number").columns, *others]
        asked = [asked] if isinstance(asked, (str, int)) else list(asked)
        return [name for name in asked if name in X.columns] if getattr(self, "confirm_variables", False) else asked

    def _fit(self, X, columns, to_drop):
        self.variables_, self.features_to_drop_ = columns, to_drop
        self.feature_names_in_, self.n_features_in_ = list(X.columns), X.shape[1]
        return self

    def transform(self, X):
        """Drop the columns."""
        check_is_fitted(self, "features_to_drop_")
        if X.shape[1] != self.n_features_in_:
            raise ValueError("another number of columns")
        return X[self.feature_names_in_].drop(columns=list(self.features_to_drop_))


def clusters(X, y, columns, control, scores=None):
    """Return our clusters of columns: pairs of the one that stays and those it stands for; and what hardly varies."""
    ranker = Given(-np.arange(len(columns)) if scores is None else scores)
    target = half_and_half(X) if y is None else y
    selector = RankSelector(ranker, control=control, n_features_to_select="auto").fit(X[columns], target)
    cluster = selector.trace_.extra["cluster"]
    order = np.argsort(-np.asarray(ranker.scores), kind="stable")
    found = [(columns[i], [columns[j] for j in order if cluster[j] == i and j != i]) for i in order]
    return [pair for pair in found if pair[1]], [name for name, i in zip(columns, cluster, strict=True) if i < 0]


class DropConstantFeatures(Frame):
    """`feature_engine.selection.DropConstantFeatures`."""

    def __init__(self, tol=1, variables=None, missing_values="raise", confirm_variables=False):
        self.tol = tol
        self.variables = variables
        self.missing_values = missing_values
        self.confirm_variables = confirm_variables
        Correlated(constant=tol)._validate_params()

    def fit(self, X, y=None):
        """Ask which columns hardly vary."""
        columns = self._columns(X, numbers=False)
        return self._fit(X, columns, clusters(X, y, columns, Correlated(1.0, constant=self.tol))[1])


class DropDuplicateFeatures(Frame):
    """`feature_engine.selection.DropDuplicateFeatures`."""

    def __init__(self, variables=None, missing_values="ignore", confirm_variables=False):
        self.variables = variables
        self.missing_values = missing_values
        self.confirm_variables = confirm_variables

    def fit(self, X, y=None):
        """Ask which columns are the same."""
        columns = self._columns(X, numbers=False)
        pairs, _ = clusters(X, y, columns, Correlated(1.0, constant=1.0))
        self.duplicated_feature_sets_ = [{stays, *others} for stays, others in pairs]
        return self._fit(X, columns, {name for _, others in pairs for name in others})


class DropCorrelatedFeatures(Frame):
    """`feature_engine.selection.DropCorrelatedFeatures`: of alike columns the first by name stays."""

    def __init__(
        self, variables=None, method="pearson", threshold=0.8, missing_values="ignore", confirm_variables=False
    ):
        self.variables = variables
        self.method = method
        self.threshold = threshold
        self.missing_values = missing_values
        self.confirm_variables = confirm_variables
        self._control()._validate_params()

    def _control(self, keep="relevant"):
        measure = self.method if self.method == "spearman" else "pearson"
        return Correlated(self.threshold, measure, keep, constant=1.0)

    def _order(self, X, y, columns):
        """Return which columns come first, and how ours shall choose."""
        return -np.arange(len(columns)), "relevant"

    def fit(self, X, y=None):
        """Ask which columns are alike."""
        if self.method not in ("pearson", "spearman"):
            raise NotImplementedError(self.method)
        columns = sorted(self._columns(X))
        scores, keep = self._order(X, y, columns)
        pairs, _ = clusters(X, y, columns, self._control(keep), scores)
        self.correlated_feature_sets_ = [{stays, *others} for stays, others in pairs]
        self.correlated_feature_dict_ = {stays: set(others) for stays, others in pairs}
        return self._fit(X, columns, [name for _, others in pairs for name in others])


class SmartCorrelatedSelection(DropCorrelatedFeatures):
    """`feature_engine.selection.SmartCorrelatedSelection`: a number for each column says which of a cluster stays."""

    def __init__(
        self, variables=None, method="pearson", threshold=0.8, missing_values="ignore",
        selection_method="missing_values", estimator=None, scoring="roc_auc", cv=3, groups=None,
        confirm_variables=False,
    ):  # fmt: skip
        super().__init__(variables, method, threshold, missing_values, confirm_variables)
        self.selection_method = selection_method
        self.estimator = estimator
        self.scoring = scoring
        self.cv = cv
        self.groups = groups

    def _order(self, X, y, columns):
        if self.selection_method == "missing_values":
            return -np.arange(len(columns)), "complete"
        if self.selection_method == "variance":
            return X[columns].std().to_numpy(), "relevant"
        if self.selection_method == "cardinality":
            return X[columns].nunique().to_numpy(), "relevant"
        if y is None:
            raise ValueError("a target is needed")
        if self.selection_method == "corr_with_target":
            return np.abs([np.corrcoef(X[name], y)[0, 1] for name in columns]), "relevant"
        return self._alone(X[columns], np.asarray(y)), "relevant"

    def _alone(self, X, y):
        criterion = CrossValidated(
            self.estimator, scoring=self.scoring, cv=folds(self.estimator, self.cv, y, X, self.groups)
        )
        return RankSelector(Alone(criterion), n_features_to_select=X.shape[1]).fit(X, y).scores_


class DropHighPSIFeatures(Frame):
    """`feature_engine.selection.DropHighPSIFeatures`: our drift along time, the split column being the time."""

    def __init__(
        self, split_col=None, split_frac=0.5, split_distinct=False, cut_off=None, switch=False, threshold=0.25,
        bins=10, strategy="equal_frequency", min_pct_empty_bins=0.0001, missing_values="raise", variables=None,
        confirm_variables=False, p_value=0.001,
    ):  # fmt: skip
        self.split_col = split_col
        self.split_frac = split_frac
        self.split_distinct = split_distinct
        self.cut_off = cut_off
        self.switch = switch
        self.threshold = threshold
        self.bins = bins
        self.strategy = strategy
        self.min_pct_empty_bins = min_pct_empty_bins
        self.missing_values = missing_values
        self.variables = variables
        self.confirm_variables = confirm_variables
        self.p_value = p_value

    def fit(self, X, y=None):
        """Compare the earlier half of the rows with the later one."""
        asked = (self.split_frac, self.split_distinct, self.cut_off, self.switch, self.bins, self.strategy)
        if asked != (0.5, False, None, False, 10, "equal_frequency") or self.threshold == "auto":
            raise NotImplementedError("halves, ten bins of equal frequency, a threshold")
        if self.split_col is not None and self.split_col not in X.columns:
            raise ValueError(f"{self.split_col} is not in the dataframe.")
        columns = [name for name in self._columns(X) if name != self.split_col]
        cells = X[columns].apply(lambda column: column if column.dtype.kind in "if" else pd.factorize(column)[0])
        kinds = ["numeric" if X[name].dtype.kind in "if" else "nominal" for name in columns]
        time = np.arange(len(X)) if self.split_col is None else pd.factorize(X[self.split_col], sort=True)[0]
        names = [str(name) for name in columns]
        problem = Problem.from_arrays(cells.to_numpy(float), half_and_half(X), names=names, kinds=kinds, time=time)
        found = {one.name: one.psi for one in drift_along_time(problem, np.arange(len(columns)))}
        self.psi_values_ = {name: found[str(name)] for name in columns}
        return self._fit(X, columns, [name for name in columns if self.psi_values_[name] >= self.threshold])


class ByScore(Frame):
    """Selectors with a model, folds, a score and a threshold."""

    def __init__(
        self, estimator, scoring="roc_auc", cv=3, groups=None, threshold=None, variables=None, random_state=None,
        confirm_variables=False,
    ):  # fmt: skip
        self.estimator = estimator
        self.scoring = scoring
        self.cv = cv
        self.groups = groups
        self.threshold = threshold
        self.variables = variables
        self.random_state = random_state
        self.confirm_variables = confirm_variables
        Importance(threshold=threshold)._validate_params()

    def _begin(self, X, y, **weights):
        """Return columns, target and folds; score all columns together."""
        columns, y = self._columns(X), np.asarray(y).ravel()
        splits = folds(self.estimator, self.cv, y, X, self.groups)
        task = "classification" if is_classifier(self.estimator) else "regression"
        problem = Problem.from_arrays(X[columns].to_numpy(float), y, task=task, **weights)
        self.criterion_ = CrossValidated(self.estimator, scoring=self.scoring, cv=splits, preprocess="none")
        scorer = self.criterion_.bind(problem, np.random.default_rng(0), Resources())
        self.initial_model_performance_ = float(scorer.score(np.ones((1, len(columns)), dtype=bool))[0])
        return columns, y, splits, task

    def _below(self, X, columns, scores):
        limit = np.mean(scores) if self.threshold is None else self.threshold
        return self._fit(X, columns, [name for name, score in zip(columns, scores, strict=True) if score < limit])


class SelectBySingleFeaturePerformance(ByScore):
    """`feature_engine.selection.SelectBySingleFeaturePerformance`: our criterion on single columns."""

    def fit(self, X, y):
        """Score each column alone."""
        columns, y, _, task = self._begin(X, y)
        scores = all_ranked(Alone(self.criterion_), X[columns], y, task=task).scores_
        self.feature_performance_ = dict(zip(columns, scores.tolist(), strict=True))
        return self._below(X, columns, scores)


class SelectByShuffling(ByScore):
    """`feature_engine.selection.SelectByShuffling`: our `Permutation`."""

    def fit(self, X, y, sample_weight=None):
        """Shuffle each column."""
        columns, y, splits, task = self._begin(X, y, sample_weight=sample_weight)
        ranker = Permutation(self.estimator, scoring=self.scoring, cv=splits, n_repeats=1)
        seed = self.random_state
        selector = all_ranked(ranker, X[columns], y, sample_weight, task=task, random_state=seed)
        self.performance_drifts_ = dict(zip(columns, selector.scores_.tolist(), strict=True))
        return self._below(X, columns, selector.scores_)


class RecursiveFeatureElimination(ByScore):
    """`feature_engine.selection.RecursiveFeatureElimination`: our `Elimination`, with importances over their folds."""

    search = staticmethod(lambda importance: Elimination(importance=importance))
    ascending = True

    def __init__(
        self, estimator, scoring="roc_auc", cv=3, groups=None, threshold=0.01, variables=None, confirm_variables=False
    ):
        super().__init__(estimator, scoring, cv, groups, threshold, variables, None, confirm_variables)

    def fit(self, X, y):
        """Eliminate; keep the best size."""
        columns, y, splits, task = self._begin(X, y)
        known = hasattr(type(self.estimator), "feature_importances_") or hasattr(self.estimator, "alpha")
        known = known or type(self.estimator).__name__ in ("LinearRegression", "LogisticRegression")
        cells = X[columns].to_numpy()
        if known:
            by_model = Importance(self.estimator, cv=splits, importance=_size_of_coefficients)
        else:
            by_model = Permutation(self.estimator, cv=splits, n_repeats=1)
        ranked = all_ranked(by_model, X[columns], y, task=task, random_state=10)
        series = pd.Series(ranked.scores_, index=columns)
        self.feature_importances_ = series.sort_values(ascending=self.ascending)
        self.feature_importances_std_ = pd.Series(ranked.extra_["spread"], index=columns)
        search = self.search("auto" if known else "permutation")
        selector = SubsetSelector(self.criterion_, search, task=task, random_state=0).fit(cells, y)
        return self._fit(X, columns, [name for name, kept in zip(columns, selector.support_, strict=True) if not kept])


def _size_of_coefficients(model):
    """Return importances, or the sizes of coefficients as they are."""
    return (
        getattr(model, "feature_importances_", None)
        if hasattr(model, "feature_importances_")
        else np.abs(np.atleast_2d(model.coef_)).mean(axis=0)
    )


class RecursiveFeatureAddition(RecursiveFeatureElimination):
    """`feature_engine.selection.RecursiveFeatureAddition`: our `Forward`."""

    search = staticmethod(lambda importance: Forward())
    ascending = False


class ProbeFeatureSelection(Frame):
    """`feature_engine.selection.ProbeFeatureSelection`: our `Probe` over the importances of the model."""

    def __init__(
        self, estimator, variables=None, collective=True, scoring="roc_auc", n_probes=1, distribution="normal",
        n_categories=10, threshold="mean", cv=5, groups=None, random_state=0, confirm_variables=False,
    ):  # fmt: skip
        self.estimator = estimator
        self.variables = variables
        self.collective = collective
        self.scoring = scoring
        self.n_probes = n_probes
        self.distribution = distribution
        self.n_categories = n_categories
        self.threshold = threshold
        self.cv = cv
        self.groups = groups
        self.random_state = random_state
        self.confirm_variables = confirm_variables
        Probe(n_probes)._validate_params()

    def fit(self, X, y):
        """Keep what beats the probes."""
        columns, y = self._columns(X), np.asarray(y)
        ranker = Importance(self.estimator, cv=folds(self.estimator, self.cv, y, X, self.groups))
        task = "classification" if is_classifier(self.estimator) else "regression"
        selector = RankSelector(ranker, control=Probe(self.n_probes), task=task, random_state=self.random_state)
        selector.fit(X[columns].to_numpy(), y)
        return self._fit(X, columns, [name for name, kept in zip(columns, selector.support_, strict=True) if not kept])


# --------------------------------------------------------------------------------------------------------- fastcan


class FastCan(SelectorMixin, BaseEstimator):
    """`fastcan.FastCan`: our `LeastSquares`; the R² of orthonormal targets adds up to the canonical correlations.

    A beam wider than one is our floating search: there is no beam.
    """

    def __init__(
        self, n_features_to_select=1, *, indices_include=None, indices_exclude=None, eta=False, tol=0.01,
        beam_width=1, verbose=1,
    ):  # fmt: skip
        self.n_features_to_select = n_features_to_select
        self.indices_include = indices_include
        self.indices_exclude = indices_exclude
        self.eta = eta
        self.tol = tol
        self.beam_width = beam_width
        self.verbose = verbose

    def fit(self, X, y):
        """Add the column with the largest gain, as often as asked for."""
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True)
        y = y.reshape(len(X), -1)
        targets = orth(y - y.mean(axis=0)) if np.ptp(y, axis=0).any() else y
        criterion = LeastSquares(alpha=1e-12, score="adjusted_r2")
        selector = SubsetSelector(
            criterion, Floating() if self.beam_width > 1 else Forward(None), task="regression",
            n_features_to_select=self.n_features_to_select, include=self.indices_include,
            exclude=self.indices_exclude,
        ).fit(X, targets if targets.shape[1] > 1 else targets[:, 0])  # fmt: skip
        self.support_ = selector.support_
        problem = Problem.from_arrays(X, targets if targets.shape[1] > 1 else targets[:, 0], task="regression")
        self.indices_, self.scores_ = _entered(selector, criterion, problem, self.indices_include)
        return self

    def _get_support_mask(self):
        check_is_fitted(self, "support_")
        return self.support_


def _entered(selector, criterion, problem, included):
    """Return the chosen columns, those forced in first, and what each adds to the canonical correlations."""
    n, chosen = problem.n_samples, np.flatnonzero(selector.support_).tolist()
    first = [] if included is None else [i for i in included if i in chosen]
    order = first + [i for i in chosen if i not in first]
    masks = np.tril(np.ones((len(order), len(order)), dtype=bool))
    subsets = np.zeros((len(order), problem.n_features), dtype=bool)
    subsets[:, order] = masks
    adjusted = criterion.bind(problem, np.random.default_rng(0), Resources()).score(subsets)
    sizes = np.arange(1, len(order) + 1)
    shares = 1.0 - (1.0 - adjusted) * (n - sizes - 1) / (n - 1)
    return np.array(order), np.diff(shares * problem.n_outputs, prepend=0.0)
