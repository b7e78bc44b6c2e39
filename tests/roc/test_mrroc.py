import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewer.problem import InputError
from fewer.roc import MRROC, RealisableClassifier, mrroc, roc_hull


@parametrize_with_checks([RealisableClassifier(LogisticRegression(), GaussianNB(), 0.3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def rows(n, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, "ill", "well")
    X = rng.normal(size=(n, 3)) + np.outer(y == "ill", [1.0, 0.6, 0.0])
    X[:, 2] = np.where(y == "ill", rng.choice([-2, 2], n), 0) + rng.normal(size=n)
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = rows(600, 0)
    return [
        LogisticRegression().fit(X, y),
        ("forest", RandomForestClassifier(50, min_samples_leaf=5, random_state=0).fit(X, y)),
        SVC().fit(X, y),
    ]


def test_it_is_the_hull_of_all_curves(fitted):
    X, y = rows(800, 1)
    found = mrroc(fitted, X, y, pos_label="ill")
    assert isinstance(found, MRROC)
    points = []
    for item in fitted:
        model = item[1] if isinstance(item, tuple) else item
        by_odds = hasattr(model, "decision_function")  # "ill" is the first class
        scores = -model.decision_function(X) if by_odds else model.predict_proba(X)[:, 0]
        fpr, tpr, _ = roc_curve(y == "ill", scores, drop_intermediate=False)
        points += list(zip(fpr, tpr, strict=True))
    truth = roc_hull(*np.array(points).T)
    assert found.area == pytest.approx(truth.area, abs=1e-12)
    np.testing.assert_allclose(found.hull.fpr, truth.fpr, atol=1e-12)
    assert {v.algorithm for v in found.vertices} <= {"constant", "LogisticRegression", "forest", "SVC"}
    # Each vertex is a classifier with these rates.
    line = found.held_out(X, y)
    np.testing.assert_allclose([line.fpr, line.tpr], [found.hull.fpr, found.hull.tpr], atol=1e-12)


@pytest.mark.parametrize("limit", [0.03, 0.1, 0.4])
def test_a_point_between_vertices_is_attained(fitted, limit):
    X, y = rows(4000, 1)
    point = mrroc(fitted, X, y, pos_label="ill").operating_point(max_fpr=limit)
    called = point.predict(X) == "ill"
    assert called[y != "ill"].mean() == pytest.approx(limit, abs=0.015)
    assert called[y == "ill"].mean() == pytest.approx(point.promised_.tpr, abs=0.02)


def test_frames_weights_and_calibration(fitted):
    X, y = rows(2000, 1)
    train, labels = rows(600, 0)
    model = LogisticRegression().fit(pd.DataFrame(train).add_prefix("f"), labels)
    frame = pd.DataFrame(X).add_prefix("f")
    found = mrroc(model, frame, y, pos_label="ill", calibration=0.5, random_state=0)
    sure = found.operating_point(max_fpr=0.2, guarantee=0.95)
    assert sure.guaranteed_.bound <= 0.2
    assert sure.expected_.rows == "calibration"
    assert set(sure.predict(frame).tolist()) == {"ill", "well"}
    twice = mrroc(model, frame, y, sample_weight=np.full(2000, 3.0))
    once = mrroc(model, frame, y)
    np.testing.assert_allclose(twice.hull.tpr, once.hull.tpr)
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, 2000).astype(float)
    repeated = np.repeat(np.arange(2000), weight.astype(int))
    weighted = mrroc(model, frame, y, sample_weight=weight)
    copied = mrroc(model, frame.iloc[repeated], y[repeated])
    assert weighted.area == pytest.approx(copied.area)
    np.testing.assert_allclose(weighted.hull.fpr, copied.hull.fpr)


def test_what_cannot_be_used_is_said(fitted):
    X, y = rows(100, 1)
    with pytest.raises(InputError, match="classifiers is empty; give at least one classifier"):
        mrroc([], X, y)
    with pytest.raises(NotFittedError):
        mrroc([LogisticRegression()], X, y)
    with pytest.raises(InputError, match="fitted to the classes"):
        mrroc(fitted, X, y == "ill")
    with pytest.raises(InputError, match="two classes"):
        mrroc(fitted, X, np.arange(100) % 3)
    with pytest.raises(InputError, match="No rows were kept"):
        mrroc(fitted, X, y).operating_point(max_fpr=0.2, guarantee=0.9)
    with pytest.raises(InputError, match="calibration=1.0"):
        mrroc(fitted, X, y, calibration=1.0)
