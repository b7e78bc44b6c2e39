import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fewer.problem import Problem
from fewer.statistics.encoding import ScaledInputs, coded_inputs, scaled_inputs, values_of


@pytest.fixture
def cells():
    rng = np.random.default_rng(0)
    return np.column_stack(
        [rng.normal(size=40), rng.integers(4, size=40), rng.normal(size=40), rng.integers(2, size=40)]
    )


NOMINAL = np.array([False, True, False, True])


def test_levels_are_scikit_learns_one_hot_columns(cells):
    owner, level = coded_inputs(cells, NOMINAL)
    expected = OneHotEncoder(sparse_output=False).fit_transform(cells[:, NOMINAL])
    np.testing.assert_array_equal(values_of(cells, owner, level)[:, NOMINAL[owner]], expected)
    np.testing.assert_array_equal(values_of(cells, owner, level)[:, ~NOMINAL[owner]], cells[:, ~NOMINAL])
    np.testing.assert_array_equal(owner, [0, 1, 1, 1, 1, 2, 3, 3])
    some, _ = coded_inputs(cells, NOMINAL, np.array([3, 0]))
    np.testing.assert_array_equal(some, [3, 3, 0])


def test_a_column_without_any_cell_has_no_levels(cells):
    cells[:, 3] = np.nan
    owner, level = coded_inputs(cells, NOMINAL)
    assert 3 not in owner
    assert len(owner) == len(level) == 6


def test_scaled_as_by_scikit_learn_and_missing_cells_at_the_mean(cells):
    kinds = ["nominal" if is_nominal else "numeric" for is_nominal in NOMINAL]
    weights = np.random.default_rng(1).dirichlet(np.ones(40))
    rows = Problem.from_arrays(cells, np.arange(40) % 2, kinds=kinds)
    inputs, _ = scaled_inputs(rows, weights)
    plain = values_of(cells, *coded_inputs(cells, NOMINAL))
    np.testing.assert_allclose(inputs, StandardScaler().fit(plain, sample_weight=weights).transform(plain), atol=1e-12)
    cells[:5, 0] = np.nan
    gaps, _ = scaled_inputs(Problem.from_arrays(cells, np.arange(40) % 2, kinds=kinds), weights)
    np.testing.assert_array_equal(gaps[:5, 0], 0.0)
    np.testing.assert_allclose(weights @ gaps[:, 0] ** 2, 1.0)
    np.testing.assert_allclose(gaps[:, 1:], inputs[:, 1:], atol=1e-12)


def test_numbers_have_mean_zero_and_spread_one_and_missing_cells_lie_at_the_mean():
    X = np.random.default_rng(0).normal(3.0, 5.0, size=(50, 2))
    X[:10, 1] = np.nan
    found = ScaledInputs.of(X, np.zeros(2, dtype=bool), np.ones(50)).encode(X)
    assert np.allclose(found[:, 0], (X[:, 0] - X[:, 0].mean()) / X[:, 0].std())
    assert np.all(found[:10, 1] == 0)
    assert np.isclose(found[10:, 1].std(), 1.0)


def test_levels_become_indicators_of_spread_one_together():
    X = np.array([[0.0], [1.0], [2.0], [1.0], [np.nan]])
    inputs = ScaledInputs.of(X, np.ones(1, dtype=bool), np.ones(5))
    found = inputs.encode(X)
    assert inputs.owner.tolist() == [0, 0, 0]
    assert np.allclose(inputs.variance, found[:4].var(axis=0))
    assert np.isclose(found[:4].var(axis=0).sum(), 1.0)
    assert np.all(found[4] == 0)
    assert np.isnan(inputs.encode(X, np.nan)[4]).all()
    assert np.allclose(inputs.encode(np.array([[7.0]])), -inputs.mean / inputs.scale)


@pytest.mark.parametrize("unit", [1e-14, 1.0, 1e14])
def test_what_varies_does_not_depend_on_the_unit(unit):
    X = unit * np.array([[1.0, 0.1], [2.0, 0.1], [4.0, 0.1]])
    inputs = ScaledInputs.of(X, np.zeros(2, dtype=bool), np.ones(3))
    assert np.allclose(inputs.encode(X).std(axis=0), [1.0, 0.0])
    assert inputs.variance.tolist() == [1.0, 0.0]
