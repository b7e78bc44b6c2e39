import re
import warnings
from pickle import dumps

import numpy as np
import pytest
import sklearn.metrics
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fewer
from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.criteria.cross_validated import score_outputs
from fewer.io import to_problem
from fewer.problem import InputError, Problem
from fewer.rankers import Importance
from fewer.search import Elimination, Forward
from making import make_problem


def bind(criterion, problem, n_jobs=1):
    return criterion.bind(problem, np.random.default_rng(0), Resources(n_jobs=n_jobs))


@pytest.mark.parametrize(
    ("task", "estimator", "scoring"),
    [
        ("classification", KNeighborsClassifier(3), None),
        ("classification", make_pipeline(StandardScaler(), LogisticRegression()), "roc_auc"),
        ("regression", LinearRegression(), "neg_mean_absolute_error"),
    ],
)
def test_scores_are_those_of_scikit_learn(task, estimator, scoring):
    problem = make_problem(task=task)
    cv = KFold(4, shuffle=True, random_state=0)
    scorer = bind(CrossValidated(estimator, scoring=scoring, cv=cv), problem)
    masks = np.random.default_rng(1).random((6, 6)) < 0.5
    masks[:, 0] = True
    truth = [cross_val_score(estimator, problem.X[:, m], problem.y, cv=cv, scoring=scoring).mean() for m in masks]
    np.testing.assert_allclose(scorer.score(masks), truth, rtol=1e-12)


def test_the_empty_subset_scores_what_the_frequencies_give():
    problem = Problem.from_arrays(np.random.default_rng(0).random((30, 2)), [0] * 20 + [1] * 10)
    scorer = bind(CrossValidated(KNeighborsClassifier(), cv=5), problem)
    assert scorer.score(np.zeros((1, 2), dtype=bool))[0] == pytest.approx(2 / 3)
    assert len(scorer.score(np.zeros((0, 2), dtype=bool))) == 0


def test_the_table_is_placed_once_and_batches_carry_a_handle(monkeypatch):
    """Workers read the table once; what travels with a batch is its masks and the name of a file."""
    sizes = []
    monkeypatch.setattr(
        "fewer.parallel.delayed", lambda call: lambda *job: sizes.append(len(dumps(job))) or (call, job, {})
    )
    problem = make_problem(n_rows=3000, n_features=50)
    scorer = bind(CrossValidated(KNeighborsClassifier(algorithm="brute")), problem, n_jobs=2)
    masks = np.eye(50, dtype=bool)[:3]
    np.testing.assert_array_equal(
        scorer.score(masks), bind(CrossValidated(KNeighborsClassifier(algorithm="brute")), problem).score(masks)
    )
    assert len(sizes) == 3
    assert max(sizes) < 2000
    handle = scorer._shared._placed["LokyBackend"]
    scorer.score(masks)
    assert scorer._shared._placed["LokyBackend"] is handle


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_any_backend_gives_the_same_scores(backend, problem):
    criterion = CrossValidated(KNeighborsClassifier(1, algorithm="brute"), cv=3)
    masks = np.random.default_rng(0).random((9, 6)) < 0.6
    alone = bind(criterion, problem).score(masks)
    with parallel_config(backend=backend):
        np.testing.assert_array_equal(bind(criterion, problem, n_jobs=2).score(masks), alone)


def test_holes_and_levels_are_filled_inside_the_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.arange(60) % 2
    X[:, 0] += 2.0 * y
    X[rng.random(60) < 0.2, 0] = np.nan
    cv = KFold(3, shuffle=True, random_state=1)
    scorer = bind(CrossValidated(LogisticRegression(), cv=cv), Problem.from_arrays(X, y))
    truth = cross_val_score(make_pipeline(SimpleImputer(strategy="median"), LogisticRegression()), X, y, cv=cv).mean()
    assert scorer.score(np.array([[True, True]]))[0] == pytest.approx(truth)
    codes = Problem.from_arrays(rng.integers(0, 4, (60, 1)).astype(float), y, kinds=["nominal"])
    one_hot = np.eye(4)[codes.X[:, 0].astype(int)]
    scorer = bind(CrossValidated(LogisticRegression(), cv=cv), codes)
    assert scorer.score(np.array([[True]]))[0] == pytest.approx(
        cross_val_score(LogisticRegression(), one_hot, y, cv=cv).mean()
    )


def test_groups_reach_the_splitter():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), 5)
    problem = Problem.from_arrays(rng.random((30, 3)), groups % 2, groups=groups)
    cv = GroupKFold(3)
    scorer = bind(CrossValidated(KNeighborsClassifier(1), cv=cv), problem)
    truth = cross_val_score(KNeighborsClassifier(1), problem.X, problem.y, cv=cv, groups=groups).mean()
    assert scorer.score(np.ones((1, 3), dtype=bool))[0] == pytest.approx(truth)


def test_outputs_and_predictions(problem):
    mask = np.array([True, True, False, False, False, False])
    scorer = bind(CrossValidated(LogisticRegression(), cv=4), problem)
    outputs = scorer.outputs(mask)
    np.testing.assert_allclose(outputs.sum(axis=1), 1.0)
    assert scorer.grade(outputs, problem) == pytest.approx(np.mean(outputs.argmax(axis=1) == problem.y))
    model = LogisticRegression().fit(problem.X[:, mask], problem.y)
    np.testing.assert_allclose(scorer.predict(mask, problem.X), model.predict_proba(problem.X[:, mask]))
    assert "_engine" not in vars(scorer)  # copies of the training rows, of which predictions make no use
    assert scorer.way == "compiled"


def test_unknown_preprocessing_is_refused(problem):
    with pytest.raises(InputError, match="'preprocess' parameter"):
        bind(CrossValidated(LogisticRegression(), preprocess="some"), problem)


def test_lightgbm_with_its_default_threads():
    """Its threads wait for each other on small tables: each fit takes one, and scores are those of scikit-learn."""
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] + X[:, 2] + rng.normal(size=120) > 0).astype(int)
    model = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=5, random_state=0, verbose=-1)
    cv = list(StratifiedKFold(4).split(X, y))
    scorer = CrossValidated(model, cv=cv).bind(to_problem(X, y), np.random.default_rng(0), Resources())
    masks = np.array([[1, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]], dtype=bool)
    assert model.n_jobs is None
    assert scorer._preparation.model(np.array([0, 2])).n_jobs == 1
    assert scorer._preparation.in_one_thread().model(np.array([0, 2])).n_jobs == 1
    alone = clone(model).set_params(n_jobs=1)
    truth = [cross_val_score(alone, X[:, mask], y, cv=cv).mean() for mask in masks]
    assert scorer.score(masks) == pytest.approx(truth, abs=1e-12)
    found = fewer.SubsetSelector(CrossValidated(model, cv=cv), fewer.search.Forward(), n_features_to_select=2)
    peer = SequentialFeatureSelector(alone, n_features_to_select=2, cv=cv).fit(X, y)
    assert np.array_equal(found.fit(X, y).get_support(), peer.get_support())


def test_shares_a_hair_above_one_are_probabilities():
    """Nearest neighbors add 1e-9 to the class of the nearest one, which decides ties."""
    rows = Problem.from_arrays(np.zeros((2, 1)), ["no", "yes"])
    shares = np.array([[1.0 + 1e-9, 0.0], [0.0, 1.0 + 1e-9]])
    assert score_outputs("neg_log_loss", shares, rows) == pytest.approx(0.0, abs=1e-9)


def test_a_model_of_quantities_is_refused_for_classes():
    problem = make_problem()
    with pytest.raises(InputError, match="LinearRegression.. predicts a quantity, but the target has classes"):
        bind(CrossValidated(LinearRegression()), problem).predict(np.ones(problem.n_features, dtype=bool), problem.X)


YES_OR_NO = np.where(np.random.default_rng(0).random(60) > 0.5, "yes", "no")


@pytest.mark.parametrize("scoring", ["f1", "average_precision", make_scorer(f1_score), f1_score])
@pytest.mark.parametrize(
    "select",
    [
        lambda X, scoring: fewer.select(X, YES_OR_NO, scoring=scoring, cv=2, random_state=0),
        lambda X, scoring: fewer.compare(X, YES_OR_NO, ["fisher"], scoring=scoring, cv=2),
        lambda X, scoring: fewer.AutoSelector(scoring=scoring, random_state=0).fit(X, YES_OR_NO),
        lambda X, scoring: fewer.SubsetSelector(CrossValidated(GaussianNB(), scoring), random_state=0).fit(
            X, YES_OR_NO
        ),
    ],
)
def test_what_a_scorer_lacks_is_refused_with_a_cure_that_works(scoring, select):
    X = np.random.default_rng(1).normal(size=(60, 3))
    with pytest.raises(InputError) as refused:
        select(X, scoring)
    (line,) = str(refused.value).splitlines()
    cure = re.search(r"(?:sklearn\.metrics\.)(make_scorer\(.*\))", line)[1]
    scorer = eval(cure, vars(sklearn.metrics))
    if scoring is f1_score:
        assert cure == "make_scorer(f1_score)"
    else:
        assert line.startswith(
            f"{scorer._score_func.__name__} needs to know which class is positive, 'no' or 'yes'; use "
        )
        select(X, scorer)


def test_a_score_of_two_classes_names_that_of_several():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match=r'for two classes, but the target has 3; use scoring="f1_macro"\.$'):
        fewer.select(X, y, scoring="f1")
    assert fewer.select(X, y > 0, scoring="f1", cv=2, random_state=0).score_name == "f1"
    assert fewer.select(X, np.minimum(y, 1), "fisher", scoring="f1", cv=2).score_name == "f1"


@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: GridSearchCV(model, {"max_depth": [2, 3]}, cv=2)])
def test_lightgbm_prints_nothing_unless_asked_and_predicts_the_same(wrap, capfd):
    lightgbm = pytest.importorskip("lightgbm")
    problem = make_problem(n_rows=60)
    scores, printed = [], []
    for chosen in ({}, {"verbosity": 0}, {"verbose": 1}):
        model = wrap(lightgbm.LGBMClassifier(n_estimators=3, random_state=0, n_jobs=1, **chosen))
        given = repr(model)
        scores.append(bind(CrossValidated(model, cv=3), problem).score_one(np.ones(problem.n_features, dtype=bool)))
        out, err = capfd.readouterr()
        printed.append("LightGBM" in out + err)
        assert repr(model) == given
    assert scores[0] == scores[1] == scores[2]
    assert printed == [False, True, True]


def test_lightgbm_prints_nothing_in_auto_and_in_rankings(capfd):
    lightgbm = pytest.importorskip("lightgbm")
    X, y = load_iris(return_X_y=True)
    model = lightgbm.LGBMClassifier(n_estimators=3, n_jobs=1)
    fewer.AutoSelector(estimator=model, cv=2, budget=0.2, random_state=0).fit(X[:100], y[:100])
    fewer.RankSelector(Importance(model), n_features_to_select=1).fit(X[:100], y[:100])
    fewer.SubsetSelector(CrossValidated(model, cv=2), Elimination()).fit(X[:100], y[:100])
    assert "LightGBM" not in "".join(capfd.readouterr())


class Grumbler(GaussianNB):
    """Warns in every fit, of its number of columns."""

    def fit(self, X, y, sample_weight=None):
        warnings.warn(f"slow with {X.shape[1]} columns", ConvergenceWarning, stacklevel=2)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    "run",
    [
        lambda X, y: fewer.SubsetSelector(CrossValidated(Grumbler()), Forward(), n_features_to_select=2).fit(X, y),
        lambda X, y: fewer.select(X, y, criterion=CrossValidated(Grumbler()), search="forward", cv=2, random_state=0),
        lambda X, y: fewer.compare(X, y, ["f-test"], [Grumbler()], cv=2, random_state=0),
    ],
)
def test_a_run_shows_each_warning_of_a_model_once(run):
    X, y = load_iris(return_X_y=True)
    before = warnings.showwarning
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        run(X[50:], y[50:])
        first = [str(each.message) for each in shown if each.category is ConvergenceWarning]
        assert first
        assert len(first) == len(set(first))
        warnings.warn(first[0], ConvergenceWarning, stacklevel=1)
        warnings.warn(first[0], ConvergenceWarning, stacklevel=1)
        assert len([each for each in shown if each.category is ConvergenceWarning]) == len(first) + 2
    assert warnings.showwarning is before


@pytest.mark.parametrize("n_known", [0, 1])
def test_boosting_is_fitted_where_a_column_has_no_value_among_the_training_rows(n_known):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[n_known:, 1] = np.nan
    problem = Problem.from_arrays(X, (X[:, 0] > 0).astype(int))
    train = problem.take(np.arange(1, 60))  # the one known value is held out
    scorer = CrossValidated(HistGradientBoostingClassifier(max_iter=5)).bind(train, rng, Resources())
    without = scorer.fit_rule(np.array([True, False, True]))(X)
    np.testing.assert_array_equal(scorer.fit_rule(np.ones(3, dtype=bool))(X), without)
