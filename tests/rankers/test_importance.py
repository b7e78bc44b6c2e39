import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer.contracts import IncompatibleError, Resources
from fewer.problem import InputError, Problem
from fewer.rankers import Importance


def ranked(ranker, X, y, n_jobs=1, **options):
    return ranker.rank(Problem.from_arrays(X, y, **options), np.random.default_rng(0), Resources(n_jobs))


def test_a_forest_says_its_importances_averaged_over_folds():
    X, y = load_breast_cancer(return_X_y=True)
    forest, cv = RandomForestClassifier(10, random_state=0), StratifiedKFold(3)
    truth = [forest.fit(X[train], y[train]).feature_importances_ for train, _ in cv.split(X, y)]
    ranking = ranked(Importance(forest, cv), X, y)
    assert ranking.scores == pytest.approx(np.mean(truth, axis=0), rel=1e-12)
    assert ranking.extra["spread"] == pytest.approx(np.std(truth, axis=0, ddof=1), rel=1e-9)


def test_coefficients_are_those_of_scaled_columns():
    X, y = load_diabetes(return_X_y=True)
    X = X * 10.0 ** np.arange(-5, 5)
    scaled = StandardScaler().fit_transform(X)
    ranking = ranked(Importance(Ridge(), cv=None), X, y, task="regression")
    assert ranking.scores == pytest.approx(np.abs(Ridge().fit(scaled, y).coef_), rel=1e-9)


def test_classes_are_summed_and_weights_and_groups_reach_the_model():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(90, 3)), rng.integers(0, 3, 90), rng.integers(1, 4, 90).astype(float)
    X[:, 0] += y
    scaled = StandardScaler().fit(X, sample_weight=None).transform(X)
    truth = np.abs(LogisticRegression().fit(scaled, y, sample_weight=weights).coef_).sum(axis=0)
    assert ranked(Importance(LogisticRegression(), None), X, y, sample_weight=weights).scores == pytest.approx(truth)
    groups = np.arange(90) // 10
    by_splitter = ranked(Importance(LogisticRegression(), GroupKFold(3)), X, y, groups=groups)
    assert np.argmax(by_splitter.scores) == np.argmax(ranked(Importance(), X, y, groups=groups).scores) == 0


def test_indicators_of_a_nominal_column_are_summed_and_missing_cells_filled():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = np.c_[rng.integers(0, 3, 120) + 3 * y, rng.normal(size=(120, 2))].astype(float)
    X[::7] = np.nan
    ranking = ranked(Importance(), X, y, kinds=["nominal", "numeric", "numeric"])
    assert ranking.scores.shape == (3,)
    assert ranking.order[0] == 0


def test_processes_change_nothing_and_seeds_come_from_the_run():
    X, y = load_breast_cancer(return_X_y=True)
    ranker = Importance(RandomForestClassifier(5), 2)
    assert (ranked(ranker, X, y).scores == ranked(ranker, X, y, n_jobs=2).scores).all()


def test_models_without_importances_are_refused():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(IncompatibleError, match="KNeighborsClassifier has neither coef_ nor feature_importances_"):
        ranked(Importance(KNeighborsClassifier(), None), X, y)
    with pytest.raises(IncompatibleError, match="works on 3 inputs that its pipeline makes of 30 columns"):
        ranked(Importance(make_pipeline(PCA(3), LogisticRegression()), None), X, y)


@pytest.mark.parametrize("threshold", ["mean", "median", "1.25*median", "0.5*mean", 0.05])
def test_thresholds_keep_what_select_from_model_keeps(threshold):
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0)
    truth = SelectFromModel(forest, threshold=threshold).fit(X, y)
    ranker = Importance(FrozenEstimator(forest.fit(X, y)), cv=None, threshold=threshold)
    selector = fewer.RankSelector(ranker).fit(X, y)
    assert selector.scores_ == pytest.approx(truth.estimator_.feature_importances_)
    assert selector.support_.tolist() == truth.get_support().tolist()


def test_a_threshold_that_is_none_is_refused():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(InputError, match="'1.25\\*mean'"):
        fewer.RankSelector(Importance(cv=None, threshold="most")).fit(X, y)


@pytest.mark.parametrize("seed", range(12))
def test_sizes_of_a_lassos_coefficients_are_those_of_scikit_learns(seed):
    """Once scikit-learn's own tolerance is small; with a constant column, odd scales and correlated columns."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(12, 90)), int(rng.integers(3, 40))
    X = rng.normal(rng.normal(scale=5, size=p), 10.0 ** rng.integers(-3, 4, p), size=(n, p))
    X[:, 0], X[:, -1] = 3.3, X[:, 1] + 0.3 * X[:, 1].std() * rng.normal(size=n)
    y = 10.0 ** rng.integers(-2, 3) * (X[:, 1] / X[:, 1].std() + rng.normal(size=n))
    alpha = float(rng.choice([0.05, 0.2, 0.7]) * y.std())
    model = Lasso(alpha) if seed % 2 else ElasticNet(alpha, l1_ratio=float(rng.choice([0.1, 0.9, 1.0])))
    found = ranked(Importance(model, cv=None), X, y, task="regression").scores
    truth = model.set_params(tol=1e-13, max_iter=10**6).fit(StandardScaler().fit_transform(X), y).coef_
    assert found == pytest.approx(np.abs(truth), abs=1e-5 * y.std())


@pytest.mark.parametrize("make", [RandomForestClassifier, ExtraTreesClassifier, DecisionTreeClassifier])
@pytest.mark.parametrize("weighted", [False, True])
def test_importances_of_compiled_forests_are_scikit_learns(make, weighted):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(30, 120)), int(rng.integers(2, 12))
        X, y = rng.normal(size=(n, p)).round(int(rng.integers(0, 3))), rng.integers(0, 2 + seed % 3, n)
        X[:, 0] += y
        weights = rng.integers(1, 4, n) / 2.0 if weighted else None
        options = {} if make is DecisionTreeClassifier else {"n_estimators": 7}
        model = make(
            random_state=seed, min_samples_leaf=1 + seed % 2, class_weight=[None, "balanced"][seed % 2], **options
        )
        found = ranked(Importance(model, cv=None), X, y, sample_weight=weights).scores
        assert found == pytest.approx(model.fit(X, y, sample_weight=weights).feature_importances_, abs=1e-12)
