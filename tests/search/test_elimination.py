from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import RFE, RFECV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import fewer
from fewer.contracts import IncompatibleError, Objective, Resources, Scorer, SearchSpace
from fewer.contracts.trace import Trace
from fewer.criteria import KNN, CrossValidated
from fewer.problem import Problem
from fewer.search import Elimination
from fewer.search._elimination import _last_best
from fewer.validate import split_rows


def scaled(load, n_columns=12):
    X, y = load(return_X_y=True)
    X = X[:, :n_columns]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def select(X, y, criterion, search, **options):
    return fewer.SubsetSelector(criterion, search, random_state=0, **options).fit(X, y)


@pytest.mark.parametrize("step", [1, 3, 0.3])
@pytest.mark.parametrize("size", [1, 4])
def test_a_given_size_has_the_support_of_rfe(step, size):
    X, y = scaled(load_wine)
    ours = select(X, y, CrossValidated(LogisticRegression(), cv=3), Elimination(step), n_features_to_select=size)
    truth = RFE(LogisticRegression(), n_features_to_select=size, step=step).fit(X, y)
    assert (ours.support_ == truth.support_).all()


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize(
    ("load", "estimator", "cv"),
    [
        (load_breast_cancer, LogisticRegression(C=0.05), StratifiedKFold(4)),
        (load_diabetes, Ridge(0.1), KFold(5, shuffle=True, random_state=0)),
        (load_wine, RandomForestClassifier(5, random_state=0), StratifiedKFold(3)),
    ],
)
def test_a_free_size_has_the_support_of_rfecv(load, estimator, cv, step):
    X, y = scaled(load, 8)
    ours = select(X, y, CrossValidated(estimator, cv=cv), Elimination(step))
    truth = RFECV(estimator, cv=cv, step=step).fit(X, y)
    assert (ours.support_ == truth.support_).all()
    assert ours.trace_.state["curve"][::-1] == pytest.approx(truth.cv_results_["mean_test_score"])
    if step == 1:
        assert (np.argsort(ours.ranking_, kind="stable") == np.argsort(truth.ranking_, kind="stable")).all()


def test_the_smallest_number_is_that_of_rfecv():
    X, y = scaled(load_diabetes, 8)
    cv = KFold(3)
    ours = select(X, y, CrossValidated(Ridge(), cv=cv), Elimination(), n_features_to_select=(4, 8))
    truth = RFECV(Ridge(), cv=cv, min_features_to_select=4).fit(X, y)
    assert (ours.support_ == truth.support_).all()


def test_groups_go_together_and_forced_features_stay():
    X, y = scaled(load_wine)
    options = {"feature_groups": [[0, 1, 2], [6, 7]], "include": [4], "n_features_to_select": 3}
    support = select(X, y, CrossValidated(LogisticRegression(), cv=3), Elimination(), **options).support_
    assert support[4]
    assert len({support[i] for i in (0, 1, 2)}) == len({support[i] for i in (6, 7)}) == 1


def test_nominal_columns_count_with_the_sum_of_their_indicators():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = np.c_[rng.normal(size=120), 2 * y + rng.integers(0, 2, 120), rng.normal(size=120)]
    X[5, 0] = np.nan
    problem = Problem.from_arrays(X, y, kinds=["numeric", "nominal", "numeric"])
    scorer = CrossValidated(LogisticRegression(), cv=3).bind(problem, np.random.default_rng(0), Resources())
    importances, score = scorer.examine(np.ones(3, dtype=bool), 1)
    assert importances.argmax() == 1
    assert score > 0.9
    assert (scorer.examine(np.array([True, False, True]))[0] > 0).tolist() == [True, False, True]


def test_a_stopped_run_goes_on_as_if_nothing_had_happened():
    X, y = scaled(load_diabetes, 6)
    problem = Problem.from_arrays(X, y, task="regression")
    space = SearchSpace.of(6)

    def run(trace, stop_after):
        scorer = CrossValidated(Ridge(), cv=KFold(3)).bind(problem, np.random.default_rng(0), Resources())

        def follow(seen):
            if seen.n_steps == stop_after:
                raise KeyboardInterrupt

        return Elimination().run(Objective(scorer, space), space, np.random.default_rng(1), follow, trace)

    whole = run(Trace(), -1)
    for stop_after in (1, 5, 20):
        trace = Trace()
        with pytest.raises(KeyboardInterrupt):
            run(trace, stop_after)
        again = run(trace, -1)
        assert (again.best == whole.best).all()
        assert [step.score for step in again.steps] == [step.score for step in whole.steps]


def test_criteria_without_importances_are_refused():
    X, y = scaled(load_wine)
    with pytest.raises(IncompatibleError, match="whose model has feature importances, and KNN is not one"):
        select(X, y, KNN(), Elimination())
    with pytest.raises(IncompatibleError, match="KNeighborsClassifier has neither coef_ nor feature_importances_"):
        select(X, y, CrossValidated(KNeighborsClassifier()), Elimination())


@pytest.mark.parametrize(
    ("step", "sizes"),
    [
        (1, [10, 9, 8, 7, 6, 5, 4, 3, 2]),
        (3, [10, 7, 4, 2]),
        (20, [10, 2]),
        (0.25, [10, 8, 6, 4, 2]),
        (0.01, [10, 9, 8, 7, 6, 5, 4, 3, 2]),
        (0.99, [10, 2]),
    ],
)
def test_sizes_on_the_way_down(step, sizes):
    space = SearchSpace.of(10, sizes=(2, 6))
    assert Elimination(step)._sizes(10, space).tolist() == sizes


def test_the_last_of_equally_good_places_has_the_fewest_features():
    assert _last_best(np.array([0.5, 0.9, 0.9, 0.7])) == 2
    assert _last_best(np.array([0.9])) == 0


class Told(Scorer):
    """Scores by size and importances by column; no splits."""

    n_parts = 0

    def __init__(self, by_size):
        self.by_size, self.examined = np.asarray(by_size), 0

    def score(self, masks):
        return self.by_size[np.asarray(masks).sum(axis=1)]

    def examine(self, mask, part=None):
        self.examined += 1
        return np.arange(len(mask)) * 1.0, float(self.score(mask[None])[0])


def test_without_splits_the_best_score_on_the_way_down_is_the_answer():
    space = SearchSpace.of(5, sizes=(1, 5))
    scorer = Told([0.0, 0.2, 0.5, 0.9, 0.4, 0.3])
    trace = Elimination().run(Objective(scorer, space), space, np.random.default_rng(0))
    assert np.flatnonzero(trace.best).tolist() == [2, 3, 4]
    assert trace.best_score == pytest.approx(0.9)


def test_where_there_is_one_size_only_no_split_is_looked_at():
    start = np.isin(np.arange(5), [1, 3])
    space = replace(SearchSpace.of(5, sizes=(2, 4)), start=start)
    scorer = Told([0.0, 0.2, 0.5, 0.9, 0.4, 0.3])
    scorer.n_parts = 3
    trace = Elimination().run(Objective(scorer, space), space, np.random.default_rng(0))
    assert (trace.best == start).all()
    assert scorer.examined == 0


@pytest.mark.parametrize(
    ("importance", "model"),
    [("permutation", HistGradientBoostingClassifier(max_iter=10)), ("drop", SVC()), ("shap", GaussianNB())],
)
def test_models_without_importances_are_eliminated_by_measured_ones(importance, model, monkeypatch):
    if importance == "shap":
        pytest.importorskip("shap")
        monkeypatch.setattr("fewer.criteria.cross_validated.EXPLAINED", 12)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    X[:, [1, 3]] += 2.0 * y[:, None]
    selector = select(X, y, CrossValidated(model, cv=3), Elimination(importance=importance), n_features_to_select=2)
    assert np.flatnonzero(selector.support_).tolist() == [1, 3]


def test_an_attribute_or_a_function_says_what_importance_is():
    X, y = scaled(load_wine)
    truth = RFE(LogisticRegression(), n_features_to_select=4, importance_getter=lambda m: np.abs(m.coef_[0])).fit(X, y)
    criterion = CrossValidated(LogisticRegression(), cv=3)
    found = select(X, y, criterion, Elimination(importance=lambda m: m.coef_[0]), n_features_to_select=4)
    assert (found.support_ == truth.support_).all()
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    named = Elimination(importance="named_steps.logisticregression.coef_")
    for search in (named, Elimination()):
        found = select(X, y, CrossValidated(pipe, cv=3), search, n_features_to_select=4).support_
        assert (found == select(X, y, CrossValidated(pipe, cv=3), named, n_features_to_select=4).support_).all()
    with pytest.raises(IncompatibleError, match="has no attribute 'weights'"):
        select(X, y, criterion, Elimination(importance="weights"), n_features_to_select=4)


def test_gain_is_what_the_splits_of_lightgbm_gained():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = scaled(load_wine)
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    gains = model.fit(X, y).booster_.feature_importance("gain")
    problem = Problem.from_arrays(X, y)
    scorer = CrossValidated(model, cv=3).bind(problem, np.random.default_rng(0), Resources())
    assert scorer.examine(np.ones(X.shape[1], dtype=bool), None, "gain")[0] == pytest.approx(gains**2)


class Stopping(ClassifierMixin, BaseEstimator):
    """Fits as XGBoost and CatBoost do: the rounds are a parameter, the rows come with `fit`."""

    seen: ClassVar[list] = []

    def __init__(self, early_stopping_rounds=5):
        self.early_stopping_rounds = early_stopping_rounds

    def fit(self, X, y, sample_weight=None, eval_set=None):
        [(held, labels)] = eval_set
        self.seen.append((X, held))
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_, self.coef_ = self.model_.classes_, self.model_.coef_
        assert set(labels) <= set(self.classes_)
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_early_stopping_gets_training_rows_and_no_test_rows():
    X, y = scaled(load_wine, 5)
    X[:, 0] = np.arange(len(X)) / len(X)  # tells which rows were there, as long as it is kept
    Stopping.seen.clear()
    problem = Problem.from_arrays(X, y)
    scorer = CrossValidated(Stopping(), cv=3, preprocess="none").bind(problem, np.random.default_rng(0), Resources())
    scorer.examine(np.ones(5, dtype=bool), 0)
    [(fitted, held)] = Stopping.seen[:1]
    train, test = scorer._splits[0]
    rows = [{round(cell * len(X)) for cell in part[:, 0]} for part in (fitted, held)]
    assert rows[0] | rows[1] == set(train.tolist())
    assert not rows[0] & rows[1]
    assert not rows[1] & set(test.tolist())
    assert len(rows[1]) == pytest.approx(len(train) / 4, abs=2)


def test_lightgbm_stops_early_in_each_fold():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = scaled(load_wine, 6)
    model = lightgbm.LGBMClassifier(
        n_estimators=300, early_stopping_rounds=5, min_child_samples=5, n_jobs=1, verbose=-1
    )
    criterion = CrossValidated(model, cv=3)
    problem = Problem.from_arrays(X, y)
    scorer = criterion.bind(problem, np.random.default_rng(0), Resources())
    mask = np.ones(6, dtype=bool)
    train = scorer._splits[0][0]
    fitted = scorer._fit(mask, train)
    inner = split_rows(problem.take(train), 4, np.random.default_rng(0))[-1]
    rows, kept = train[inner.train], train[inner.test]
    truth = clone(model).fit(X[rows], y[rows], eval_X=X[kept], eval_y=y[kept])
    assert fitted.best_iteration_ == truth.best_iteration_ < 300
    ours = select(X, y, criterion, Elimination(importance="gain"), n_features_to_select=3)
    assert ours.support_.sum() == 3


def test_xgboost_stops_early_in_each_fold_and_prints_nothing(capfd):
    xgboost = pytest.importorskip("xgboost")
    X, y = scaled(load_wine, 6)
    model = xgboost.XGBClassifier(n_estimators=300, early_stopping_rounds=5, max_depth=3, n_jobs=1)
    problem = Problem.from_arrays(X, y)
    scorer = CrossValidated(model, cv=3).bind(problem, np.random.default_rng(0), Resources())
    train = scorer._splits[0][0]
    fitted = scorer._fit(np.ones(6, dtype=bool), train)
    inner = split_rows(problem.take(train), 4, np.random.default_rng(0))[-1]
    rows, kept = train[inner.train], train[inner.test]
    truth = clone(model).fit(X[rows], y[rows], eval_set=[(X[kept], y[kept])], verbose=False)
    assert fitted.best_iteration == truth.best_iteration < 295
    assert select(X, y, CrossValidated(model, cv=3), Elimination(), n_features_to_select=3).support_.sum() == 3
    assert capfd.readouterr().out == ""
