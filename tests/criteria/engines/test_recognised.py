"""Every recognised estimator: predictions of its engine beside scikit-learn's, row by row."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.validation import has_fit_parameter

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.criteria.engines import ENGINES
from fewer.problem import Problem

ESTIMATORS = [
    GaussianNB(),
    BernoulliNB(),
    BernoulliNB(alpha=0.3, binarize=0.5, fit_prior=False),
    RidgeClassifier(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(reg_param=0.2),
    LogisticRegression(tol=1e-10, max_iter=2000),
    LogisticRegression(tol=1e-10, max_iter=2000, class_weight="balanced"),
    NearestCentroid(),
    KNeighborsClassifier(3),
    LinearRegression(),
    Ridge(0.5),
    KNeighborsRegressor(3),
]
KINDS = ["plain", "weights", "ties", "constant"]
P = 6


def is_regressor(estimator):
    return isinstance(estimator, LinearRegression | Ridge | KNeighborsRegressor)


def a_table(estimator, kind, n_classes, seed):
    """Return a random table: five columns that tell something, one that does not; rows that tie; constant cells."""
    rng = np.random.default_rng(seed)
    n = 72
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, P)) * np.linspace(0.6, 1.6, P) + 0.7 * y[:, None] * (np.arange(P) % 3 == 0)
    if kind == "ties":
        X = X.round(0)
        X[::2] = X[1::2]
    if kind == "constant":
        X[:, 1] = 3.0
        X[:, 2] = np.where(np.arange(n) < 18, X[:, 2], 0.0)  # constant where the first fold is held out
    if is_regressor(estimator):
        y = X[:, 0] - X[:, 3] + rng.normal(size=n)
    weights = rng.uniform(0.3, 3.0, size=n) if kind == "weights" else None
    task = "regression" if is_regressor(estimator) else "classification"
    return Problem.from_arrays(X, y, task=task, sample_weight=weights)


def fitted_answers(estimator, problem, splits, columns):
    """Return scikit-learn's classes or numbers, probabilities where it has them, and where it could be fitted."""
    n = problem.n_samples
    told, chances, done = np.full(n, np.nan), np.full((n, max(problem.n_classes, 1)), np.nan), np.zeros(n, dtype=bool)
    for train, test in splits:
        model = clone(estimator)
        weights = (
            {"sample_weight": problem.sample_weight[train]}
            if problem.sample_weight is not None and has_fit_parameter(model, "sample_weight")
            else {}
        )
        if isinstance(model, KNeighborsClassifier | KNeighborsRegressor):
            weights = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(problem.X[train][:, columns], problem.y[train], **weights)
            except (ValueError, IndexError, np.linalg.LinAlgError):
                continue
            told[test] = model.predict(problem.X[test][:, columns])
            if hasattr(model, "predict_proba"):
                chances[test] = model.predict_proba(problem.X[test][:, columns])
        done[test] = True
    return told, chances, done


def engine_answers(scorer, splits, columns, n):
    """Return the decisions of an engine in the order of the rows, and which it is sure of."""
    engine = scorer._engine
    out = np.zeros((engine.folds.n_tests, engine._n_outputs))
    sure = engine.predict_added(columns[:-1], columns[-1:], out[None])[0]
    tests = np.concatenate([test for _, test in splits])
    decisions, known = np.empty_like(out), np.zeros(n, dtype=bool)
    decisions[tests] = out
    known[tests] = np.repeat(sure, np.diff(engine.folds.bounds))
    return decisions, known


def as_chances(scorer, decisions):
    if scorer._engine.by_share:
        return decisions
    raised = np.exp(decisions - decisions.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def check(estimator, kind, n_classes, seed):
    """Compare on several subsets; return how many rows an engine left to scikit-learn, and all."""
    problem = a_table(estimator, kind, n_classes, seed)
    split = KFold(4) if is_regressor(estimator) or kind == "constant" else StratifiedKFold(4)
    splits = list(split.split(problem.X, problem.y))
    chances_count = not is_regressor(estimator) and hasattr(estimator, "predict_proba")
    scorers = [
        CrossValidated(estimator, scoring, splits).bind(problem, np.random.default_rng(0), Resources())
        for scoring in ([None, "neg_log_loss"] if chances_count else [None])
    ]
    assert all(scorer.way == "compiled" for scorer in scorers), scorers[0].way
    left = total = 0
    for columns in ([0], [2], [1, 3], [0, 2, 5], [0, 1, 2, 3, 4, 5]):
        told, chances, done = fitted_answers(estimator, problem, splits, columns)
        for scorer in scorers:
            decisions, known = engine_answers(scorer, splits, np.array(columns), problem.n_samples)
            assert done[known].all()
            if is_regressor(estimator):
                assert decisions[known, 0] == pytest.approx(told[known], abs=1e-8)
            elif scorer is scorers[0]:
                top = np.sort(decisions, axis=1)
                known &= top[:, -1] - top[:, -2] > scorer._engine.tolerance * (1.0 + np.abs(top[:, -1]))
                assert np.array_equal(decisions.argmax(axis=1)[known], told[known])
            else:
                assert as_chances(scorer, decisions)[known] == pytest.approx(chances[known], abs=1e-6)
            left, total = left + np.sum(~known & done), total + np.sum(done)
    return left, total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_predictions_are_those_of_scikit_learn(estimator, kind):
    left = total = 0
    for seed, n_classes in ((0, 2), (1, 3)):
        found = check(estimator, kind, n_classes, seed)
        left, total = left + found[0], total + found[1]
    assert total > 0
    # A few rows may be left to scikit-learn, where its own answer hangs on rounding or on a tie.
    assert left <= (0.5 if kind in ("ties", "constant") else 0.05) * total


def test_every_recognised_estimator_is_among_them():
    # LinearSVC has drawn tables of its own in test_logistic.py.
    assert {type(estimator) for estimator in ESTIMATORS} == set(ENGINES) - {LinearSVC}


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if not is_regressor(e)], ids=repr)
def test_folds_of_one_class_go_the_ordinary_way(estimator):
    problem = a_table(estimator, "plain", 2, 0)
    problem = Problem.from_arrays(problem.X, np.sort(problem.y))
    scorer = CrossValidated(estimator, cv=KFold(2)).bind(problem, np.random.default_rng(0), Resources())
    assert "a class is missing among the training rows" in scorer.way
    mask = np.ones((1, P), dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_hand = [
            _score_or_nan(clone(estimator), problem, train, test)
            for train, test in KFold(2).split(problem.X, problem.y)
        ]
        assert scorer.score(mask)[0] == pytest.approx(np.mean(by_hand), nan_ok=True)


def _score_or_nan(model, problem, train, test):
    try:
        return model.fit(problem.X[train], problem.y[train]).score(problem.X[test], problem.y[test])
    except ValueError:
        return np.nan


@pytest.mark.parametrize("options", [{"tol": 0.5}, {"max_iter": 3}], ids=str)
@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC()], ids=str)
def test_a_solver_that_is_stopped_early_goes_the_ordinary_way(model, options):
    """Its decisions are far from those at the minimum."""
    problem, folds = a_table(model, "plain", 2, 0), StratifiedKFold(3)
    stopped = clone(model).set_params(**options)
    scorer = CrossValidated(stopped, "roc_auc", cv=folds).bind(problem, np.random.default_rng(0), Resources())
    assert "may stop early" in scorer.way
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        truth = cross_val_score(stopped, problem.X, problem.y, cv=folds, scoring="roc_auc").mean()
        assert scorer.score(np.ones((1, P), dtype=bool))[0] == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("estimator", [KNeighborsClassifier(3), GaussianNB(), RidgeClassifier()], ids=repr)
def test_a_class_whose_rows_do_not_count_is_missing(estimator):
    """scikit-learn's balanced accuracy is a mean over the classes that have a weight."""
    problem = a_table(estimator, "plain", 3, 0)
    weights = np.where((problem.y == 2) & (np.arange(problem.n_samples) < 36), 0.0, 1.0)
    weighted = Problem.from_arrays(problem.X, problem.y, sample_weight=weights)
    scorer = CrossValidated(estimator, "balanced_accuracy", KFold(2)).bind(
        weighted, np.random.default_rng(0), Resources()
    )
    assert "a class is missing among the t" in scorer.way


def test_places_of_classes_that_lose_are_as_scikit_learn_has_them():
    """A constant column: which of two equal classes is second hangs on where the solver stops."""
    X, y = np.full((60, 1), 7.0), np.arange(60) % 3
    scorer = CrossValidated(LogisticRegression(), "top_k_accuracy", KFold(4)).bind(
        Problem.from_arrays(X, y), np.random.default_rng(0), Resources()
    )
    truth = cross_val_score(LogisticRegression(), X, y, cv=KFold(4), scoring="top_k_accuracy").mean()
    assert scorer.score(np.ones((1, 1), dtype=bool))[0] == truth


def test_discriminants_that_leave_directions_out_go_the_ordinary_way():
    problem = a_table(LinearDiscriminantAnalysis(), "plain", 2, 0)
    scorer = CrossValidated(LinearDiscriminantAnalysis(tol=0.1)).bind(problem, np.random.default_rng(0), Resources())
    assert "leaves directions out" in scorer.way


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_as_its_solver_stops(n_classes):
    """At scikit-learn's own tolerance: classes as it says, folds that hang on it are left to it."""
    problem = a_table(LogisticRegression(), "plain", n_classes, 3)
    estimator = make_pipeline(StandardScaler(), LogisticRegression())
    fast, slow = (CrossValidated(estimator, cv=3).bind(problem, np.random.default_rng(0), Resources()) for _ in "ab")
    slow._engine = None
    assert fast.way == "compiled"
    masks = np.random.default_rng(0).random((6, P)) < 0.5
    assert fast.score(masks) == pytest.approx(slow.score(masks), abs=1e-12)
    found = fast.best_flip(np.zeros(P, dtype=bool), np.arange(P))
    expected = slow.score(np.eye(P, dtype=bool))
    assert found[1] == pytest.approx(expected[found[0]], abs=1e-12)
    assert found[1].max() == pytest.approx(expected.max(), abs=1e-12)
