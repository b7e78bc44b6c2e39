import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewer import SubsetEnsemble
from fewer.criteria import KNN, CrossValidated, Separability
from fewer.errors import InputError
from fewer.search import Annealing, Forward
from fewer.validate import nogueira
from making import make_problem

SMALL = {"n_runs": 3, "random_state": 0}


@parametrize_with_checks(
    [
        SubsetEnsemble(search=Forward(), **SMALL),
        SubsetEnsemble(search=Annealing(levels=3, effort=0.2), estimator=LogisticRegression(), **SMALL),
        SubsetEnsemble(search=Forward(), estimator=KNeighborsRegressor(2), **SMALL),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_vote_is_that_of_members_made_by_hand():
    problem = make_problem(n_rows=60, n_features=6, seed=3)
    new = make_problem(n_rows=40, n_features=6, seed=4)
    model = SubsetEnsemble(KNN(), Annealing(levels=5), n_runs=5, random_state=1).fit(problem.X, problem.y)
    scaler = MinMaxScaler().fit(problem.X)
    votes = [
        KNeighborsClassifier(1)
        .fit(scaler.transform(problem.X)[:, mask], problem.y)
        .predict_proba(scaler.transform(new.X)[:, mask])
        for mask in model.subsets_
    ]
    assert np.allclose(model.predict_proba(new.X), np.mean(votes, axis=0), atol=1e-6)
    assert np.array_equal(model.frequency_, model.subsets_.mean(axis=0))
    assert model.stability_ == nogueira(model.subsets_)
    assert np.array_equal(model.support_, model.frequency_ >= 0.5)


def test_out_of_fold_outputs_never_saw_their_row():
    """The target of a row that is copied everywhere else cannot be guessed from noise: out of fold it is chance."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 15)), rng.integers(2, size=120)
    model = SubsetEnsemble(KNN(), Annealing(levels=20), random_state=0).fit(X, y)
    assert abs(model.oof_score_ - 0.5) < 0.15
    assert model.score(X, y) == 1.0
    assert model.oof_outputs_.shape == (120, 2)


@pytest.mark.parametrize("criterion", [KNN(cv=3), Separability(), CrossValidated(LogisticRegression(), cv=2)])
@pytest.mark.parametrize("estimator", [None, LogisticRegression()])
def test_any_criterion_and_estimator(criterion, estimator):
    problem = make_problem(n_rows=40, n_features=5, seed=5)
    labels = np.where(problem.y == 1, "yes", "no")
    search = Forward() if criterion.predictive else Annealing(levels=3)
    model = SubsetEnsemble(criterion, search, estimator=estimator, n_runs=3, random_state=0).fit(problem.X, labels)
    assert set(model.predict(problem.X)) <= {"yes", "no"}
    assert model.score(problem.X, labels) > 0.7


def test_classifier_or_regressor():
    X, y = load_diabetes(return_X_y=True)
    model = SubsetEnsemble(KNN(n_neighbors=9), Forward(), estimator=Ridge(0.1), n_runs=4, random_state=0)
    assert is_regressor(model)
    assert not hasattr(model, "predict_proba")
    assert cross_val_score(model, X, y, cv=3).mean() > 0.35
    assert is_classifier(SubsetEnsemble())
    assert is_regressor(SubsetEnsemble(CrossValidated(Ridge())))
    with pytest.raises(InputError, match="CrossValidated works for regression, but the estimator is for classif"):
        SubsetEnsemble(CrossValidated(Ridge()), estimator=LogisticRegression()).fit(X, y > 100)


def test_frames_with_levels_and_holes_pickling_and_processes():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 90)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=90),
            "color": np.where(y == "a", rng.choice(["red", "blue"], 90), "green"),
            "number": (y == "a") + rng.normal(size=90),
        }
    )
    frame.loc[3, "number"] = np.nan
    new = frame.copy()
    new.loc[0, "color"] = "unheard of"
    for estimator in (None, LogisticRegression()):
        model = SubsetEnsemble(KNN(), Forward(), estimator=estimator, n_runs=3, random_state=0).fit(frame, y)
        assert model.support_[1]
        assert model.score(new, y) > 0.95
        assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(new), model.predict(new))
        again = clone(model).set_params(n_jobs=2).fit(frame, y)
        assert np.array_equal(again.predict_proba(new), model.predict_proba(new))


def test_row_groups_and_weights():
    X, y = load_wine(return_X_y=True)
    groups = np.arange(len(y)) // 4
    model = SubsetEnsemble(KNN(), Forward(), n_runs=3, random_state=0)
    weighted = clone(model).fit(X, y, groups=groups, sample_weight=np.where(y == 0, 3.0, 1.0))
    assert weighted.oof_score_ > 0.8
    assert weighted.consensus(2.0).sum() == 1


def test_a_feature_in_exactly_half_of_the_subsets_is_in_the_consensus():
    model = SubsetEnsemble()
    model.subsets_ = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=bool)
    model._keep_statistics()
    assert model.frequency_.tolist() == [1.0, 0.5, 0.25, 0.0]
    assert model.support_.tolist() == [True, True, False, False]
    assert model.consensus(0.25).tolist() == [True, True, True, False]
    assert model.consensus(0.26).tolist() == [True, True, False, False]
    model.frequency_ = np.array([0.2, 0.3, 0.1, 0.3])
    assert model.consensus().tolist() == [False, True, False, False]  # nothing often enough: the most frequent
