import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewer.problem import Problem
from fewer.rankers._model_based import (
    ModelColumns,
    fit_model,
    inputs_of,
    lasso_classifier,
    last_step,
    owners_of,
    parts_of,
)


def test_levels_become_indicators_and_missing_numbers_the_median():
    X = np.array([[0.0, 1.0], [2.0, np.nan], [np.nan, 3.0], [2.0, 8.0]])
    columns = ModelColumns(np.array([True, False])).fit(X)
    assert columns.owner_.tolist() == [0, 0, 1]
    assert columns.transform(X).tolist() == [[1, 0, 1], [0, 1, 3], [0, 0, 3], [0, 1, 8]]
    assert columns.transform(np.array([[1.0, 2.0]])).tolist() == [[0, 0, 2]]  # a level that was not seen


def test_weights_reach_the_last_step_of_nested_pipelines():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(40, 2)), rng.integers(0, 2, 40), rng.random(40)
    X[0, 0] = np.nan
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    nested = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression()))
    model = fit_model(nested, problem, 0)
    inputs = inputs_of(model, X)
    assert last_step(model).coef_ == pytest.approx(LogisticRegression().fit(inputs, y, sample_weight=weights).coef_)
    assert owners_of(model, 2).tolist() == [0, 1]


def test_without_cross_validation_all_rows_are_both():
    problem = Problem.from_arrays(np.zeros((5, 1)), [0, 1, 0, 1, 0])
    (part,) = parts_of(problem, None, np.random.default_rng(0))
    assert part.train.tolist() == part.test.tolist() == [0, 1, 2, 3, 4]
    assert len(parts_of(problem, 2, np.random.default_rng(0))) == 2


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_lasso_of_classes_is_chosen_by_the_log_loss_of_scikit_learn(n_classes, weighted):
    rng = np.random.default_rng(n_classes)
    X, y = rng.normal(size=(60, 4)) * 30, rng.integers(0, n_classes, 60) + 7
    weights = rng.integers(1, 4, 60) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = lasso_classifier(5, 3).fit(X, y, sample_weight=weights)
        theirs = clone(ours).set_params(scoring="neg_log_loss").fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-12)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
