"""Compiled engines give what scikit-learn gives, fold by fold, or leave the fold to it."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

import fewer
from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.criteria.engines._engine import CLASSES, QUANTITIES
from fewer.problem import Problem

CLASSIFIERS = [
    GaussianNB(),
    GaussianNB(var_smoothing=1e-3),
    RidgeClassifier(alpha=0.3),
    LinearDiscriminantAnalysis(),
    KNeighborsClassifier(),
    KNeighborsClassifier(1),
    KNeighborsClassifier(4),
]
CLASSIFIERS.append(make_pipeline(StandardScaler(), LogisticRegression()))
REGRESSORS = [LinearRegression(), Ridge(2.0), KNeighborsRegressor(3)]
SMALL = Resources()


def table(task="classification", n_classes=2, n=90, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 7)) * [1, 30, 0.01, 1, 5, 1, 1] + [0, 100, 0, 0, 0, 0, 3]
    y = np.arange(n) % n_classes
    X[:, :2] += 0.8 * y[:, None] * [1, 30]
    X[:, 5] = X[:, 0]  # a copy
    if decimals is not None:
        X = X.round(decimals)
    if task == "regression":
        y = X[:, 0] - X[:, 4] + rng.normal(size=n)
    return X, y


def both(estimator, problem, cv, scoring=None):
    """Return the scorer with its engine, and one without."""
    fast, slow = (
        CrossValidated(estimator, scoring, cv).bind(problem, np.random.default_rng(0), SMALL) for _ in range(2)
    )
    slow._engine = None
    assert fast._engine is not None, fast.way
    return fast, slow


def agree(fast, slow, masks, tolerance=1e-9):
    expected = slow.score(masks)
    assert fast.score(masks) == pytest.approx(expected, abs=tolerance, nan_ok=True)
    for mask in masks[:3]:
        columns = np.flatnonzero(~mask)
        units = [np.array([c]) for c in columns]
        values = np.ones(len(units), dtype=bool)
        whole = slow.flips(mask, units, values)
        assert fast.flips(mask, units, values) == pytest.approx(whole, abs=tolerance, nan_ok=True)
        found = fast.best_flip(mask, columns)
        if found is not None:
            assert found[1] == pytest.approx(whole[found[0]], abs=tolerance, nan_ok=True)
            assert np.nanmax(found[1]) >= np.nanmax(whole) - tolerance


def some_masks(seed=1, m=5):
    masks = np.random.default_rng(seed).random((m, 7)) < 0.45
    masks[0] = False
    masks[1:, 1] = True
    return masks


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize(("n_classes", "decimals"), [(2, None), (3, 0)])
@pytest.mark.filterwarnings("ignore")
def test_classes_are_those_of_scikit_learn(estimator, n_classes, decimals):
    """Also where rows tie: with rounded columns most do."""
    problem = Problem.from_arrays(*table(n_classes=n_classes, decimals=decimals))
    if n_classes > 2 and isinstance(estimator, Pipeline):
        estimator, problem = estimator.set_params(logisticregression__C=0.5), Problem.from_arrays(*table(decimals=0))
    fast, slow = both(estimator, problem, StratifiedKFold(4, shuffle=True, random_state=0))
    agree(fast, slow, some_masks())


@pytest.mark.parametrize("estimator", REGRESSORS, ids=repr)
@pytest.mark.parametrize(("scoring", "weighted"), [(None, False), *((name, True) for name in QUANTITIES)])
def test_quantities_are_those_of_scikit_learn(estimator, scoring, weighted):
    X, y = table("regression")
    weights = np.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else None
    problem = Problem.from_arrays(X, y, task="regression", sample_weight=weights)
    fast, slow = both(estimator, problem, KFold(4, shuffle=True, random_state=0), scoring)
    agree(fast, slow, some_masks(m=3), 1e-8)


@pytest.mark.parametrize("estimator", [CLASSIFIERS[0], *CLASSIFIERS[2:5]], ids=repr)
@pytest.mark.parametrize(
    ("scoring", "weighted"), [(name, name != "f1_macro") for name in (*CLASSES, "roc_auc", "neg_log_loss")]
)
@pytest.mark.filterwarnings("ignore")
def test_metrics_and_weights_are_those_of_scikit_learn(estimator, scoring, weighted):
    if scoring == "neg_log_loss" and isinstance(estimator, RidgeClassifier):
        return
    X, y = table()
    weights = np.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else None
    problem = Problem.from_arrays(X, np.array([1, 5])[y], sample_weight=weights)
    fast, slow = both(estimator, problem, StratifiedKFold(3), scoring)
    agree(fast, slow, some_masks(m=3), 1e-8)


@pytest.mark.parametrize("estimator", [GaussianNB(), RidgeClassifier(), KNeighborsClassifier(3)], ids=repr)
@pytest.mark.parametrize(
    "steps", [(StandardScaler(),), (MinMaxScaler(),), (SimpleImputer(), StandardScaler()), ()], ids=repr
)
@pytest.mark.filterwarnings("ignore")
def test_pipelines_and_missing_cells(estimator, steps):
    X, y = table()
    X[::7, 1] = np.nan
    fast, slow = both(make_pipeline(*steps, estimator), Problem.from_arrays(X, y), StratifiedKFold(3))
    agree(fast, slow, some_masks(m=3))


@pytest.mark.parametrize("estimator", CLASSIFIERS[:5], ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_columns_that_are_constant_in_a_fold(estimator):
    X, y = table(n=60)
    X[:, 3] = np.arange(60) >= 45  # constant in the training rows of the last fold
    X[:, 6] = y  # constant within classes
    fast, slow = both(estimator, Problem.from_arrays(X, y), KFold(4))
    agree(fast, slow, some_masks())
    assert fast.score(np.array([[0, 0, 0, 1, 0, 0, 0]], dtype=bool)) == pytest.approx(
        slow.score(np.array([[0, 0, 0, 1, 0, 0, 0]], dtype=bool)), nan_ok=True
    )


@pytest.mark.parametrize(
    ("estimator", "scoring", "why"),
    [
        (RandomForestClassifier(warm_start=True), None, "RandomForestClassifierwarm_start=True is not covered"),
        (MLPClassifier(), None, "MLPClassifier is not among the recognised estimators"),
        (KNeighborsClassifier(algorithm="brute"), None, "KNeighborsClassifier.algorithm='brute'. is not covered"),
        (make_pipeline(PolynomialFeatures(), GaussianNB()), None, "PolynomialFeatures is not covered"),
        (RidgeClassifier(), "roc_auc_ovr", "the metric 'roc_auc_ovr' is not covered"),
        (RidgeClassifier(), "neg_log_loss", "the metric 'neg_log_loss' is not covered"),
        (KNeighborsClassifier(30), None, "30 neighbors of 60 training rows"),
    ],
)
def test_what_is_not_covered_goes_the_ordinary_way_and_says_so(estimator, scoring, why, caplog):
    problem = Problem.from_arrays(*table())
    with caplog.at_level("INFO", logger="fewer"):
        scorer = CrossValidated(estimator, scoring, 3).bind(problem, np.random.default_rng(0), SMALL)
        assert scorer._engine is None
    assert why.replace(".", "") in scorer.way.replace("(", "").replace(")", "")
    assert "scikit-learn fits each subset" in caplog.text


@pytest.mark.parametrize("scoring", ["f1", "balanced_accuracy", "roc_auc", "neg_log_loss"])
@pytest.mark.parametrize("weighted", [False, True])
def test_logistic_regression_to_the_tolerance_of_its_solver(scoring, weighted):
    X, y = table()
    weights = np.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else None
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    estimator = make_pipeline(StandardScaler(), LogisticRegression())
    fast, slow = both(estimator, problem, StratifiedKFold(3), scoring)
    agree(fast, slow, some_masks(m=3), 1e-9 if scoring in CLASSES else 2e-4 if scoring == "neg_log_loss" else 6e-3)
    exact = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-9, max_iter=1000))
    agree(*both(exact, problem, StratifiedKFold(3), scoring), some_masks(m=3), 1e-7)


def test_columns_of_different_scales_are_left_to_the_solver_that_may_not_converge():
    scorer = CrossValidated(LogisticRegression(), cv=3).bind(
        Problem.from_arrays(*table()), np.random.default_rng(0), SMALL
    )
    assert "scale them" in scorer.way


def test_folds_without_a_class_go_the_ordinary_way():
    X, y = table(n=60)
    scorer = CrossValidated(GaussianNB(), cv=KFold(2)).bind(
        Problem.from_arrays(X, np.sort(y)), np.random.default_rng(0), SMALL
    )
    assert "a class is missing" in scorer.way


@pytest.mark.parametrize("estimator", [GaussianNB(), LinearDiscriminantAnalysis(), KNeighborsClassifier()], ids=repr)
def test_a_forward_search_takes_the_path_of_scikit_learn(estimator):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8]
    cv = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    ours = fewer.SubsetSelector(CrossValidated(estimator, cv=cv), fewer.search.Forward(), n_features_to_select=3)
    theirs = SequentialFeatureSelector(estimator, n_features_to_select=3, cv=cv).fit(X, y)
    assert np.array_equal(ours.fit(X, y).support_, theirs.get_support())
    assert ours.trace_.n_evaluations > 0
