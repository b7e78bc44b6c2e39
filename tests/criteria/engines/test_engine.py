import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score

from fewer.criteria.engines import _engine
from fewer.criteria.engines._engine import Engine, EngineMetric, Folds
from fewer.problem import Problem

Y = np.array([0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0])
SPLITS = [(np.arange(6, 12), np.arange(6)), (np.arange(6), np.arange(6, 12))]


class ByColumn(Engine):
    """The decision for class 1 is the last column that entered; the first fold is not sure of column 2."""

    def predict_added(self, members, added, out):
        for q, column in enumerate(added):
            out[q] = np.column_stack([np.zeros(12), self.folds.columns[column]])
        return np.array([[column != 2, True] for column in added])


def engine():
    X = np.random.default_rng(0).normal(size=(12, 4))
    folds = Folds(Problem.from_arrays(X, Y), SPLITS, (), False)
    list(folds.training())
    return X, ByColumn(folds, EngineMetric("accuracy"), 2)


def test_scores_come_fold_by_fold_and_open_ones_are_nan(monkeypatch):
    X, made = engine()
    nothing = np.array([], dtype=int)
    truth = [[np.mean((X[test, c] > 0) == Y[test]) for _, test in SPLITS] for c in range(4)]
    truth[2][0] = np.nan
    assert made.score_added(nothing, np.arange(4)) == pytest.approx(np.array(truth), nan_ok=True)
    assert made.score_masks(np.eye(4, dtype=bool)) == pytest.approx(np.array(truth), nan_ok=True)
    monkeypatch.setattr(_engine, "DECISIONS_AT_ONCE", 1)  # one candidate at a time
    assert made.score_added(nothing, np.arange(4)) == pytest.approx(np.array(truth), nan_ok=True)
    assert made.score_added(nothing, nothing).shape == (0, 2)
    scores, best = made.score_optimistically(nothing, np.array([2]))
    assert np.isnan(scores[0, 0])
    assert best[0, 0] == 1.0
    assert made.score_best(nothing, np.arange(4)) is None


def test_nothing_is_scored_as_the_most_frequent_class():
    _, made = engine()
    truth = cross_val_score(DummyClassifier(), np.zeros((12, 1)), Y, cv=SPLITS)
    assert made.score_nothing() == pytest.approx(truth)
