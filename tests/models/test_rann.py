import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewer.errors import InputError
from fewer.models import GMLVQClassifier, LeastSquaresClassifier, RANNClassifier, RANNRegressor
from fewer.models.rann import class_targets, classes_of, draw_weights, hidden_size_scores, solve, with_bias


@parametrize_with_checks([RANNClassifier(random_state=0), RANNRegressor(random_state=0), RANNClassifier(20)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_the_output_layer_is_least_squares():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (80, 3)), rng.integers(0, 2, 80)
    model = RANNClassifier(12, alpha=0.0, random_state=0).fit(X, y)
    scaled = 2 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1
    hidden = np.tanh(np.column_stack([scaled, np.ones(80)]) @ model.hidden_weights_)
    truth = np.linalg.lstsq(hidden, np.where(y == 1, 1.0, -1.0), rcond=None)[0]
    assert model.decision_function(X) == pytest.approx(hidden @ truth, abs=1e-6)
    near = RANNClassifier(12, alpha=1e-12, random_state=0).fit(X, y)
    assert near.decision_function(X) == pytest.approx(hidden @ truth, abs=1e-2)


def test_hidden_size_scores_equal_their_slow_twin():
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, (60, 3)), rng.integers(0, 3, 60)
    inputs, targets, sizes = with_bias(X), class_targets(y, 3), [2, 5, 9]
    fast = hidden_size_scores(inputs, targets, sizes, 4, np.random.default_rng(7), RANNClassifier._is_right, alpha=1e-6)
    twin_rng = np.random.default_rng(7)
    orders = [twin_rng.permutation(60) for _ in range(4)]
    layers = [draw_weights(4, 9, 0.5, "random", twin_rng) for _ in range(4)]
    slow = np.zeros(3)
    for order, layer in zip(orders, layers, strict=True):
        for place, size in enumerate(sizes):
            hidden = np.tanh(inputs[order] @ layer[:, :size])
            output = solve(hidden[:40], targets[order[:40]], 1e-6)
            slow[place] += (classes_of(hidden[40:] @ output) == y[order[40:]]).mean() / 4
    assert fast == pytest.approx(slow)


def test_it_learns_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(RANNClassifier(random_state=0), X, y, cv=3).mean() > 0.94
    X, y = load_diabetes(return_X_y=True)
    assert cross_val_score(RANNRegressor(random_state=0), X, y, cv=3).mean() > 0.4


def test_auto_picks_the_best_of_the_sizes():
    X, y = load_breast_cancer(return_X_y=True)
    model = RANNClassifier(random_state=0).fit(X[:, :5], y)
    assert model.n_hidden_ == list(range(5, 51, 5))[int(np.argmax(model.size_scores_))]


def test_weights_stay_in_range_and_quasi_random_ones_spread_evenly():
    for sampling in ("random", "quasi"):
        weights = draw_weights(3, 200, 0.3, sampling, np.random.default_rng(0))
        assert weights.shape == (3, 200)
        assert np.abs(weights).max() <= 0.3
    gaps = np.diff(np.sort(weights, axis=1), axis=1)
    plain = np.diff(np.sort(draw_weights(3, 200, 0.3, "random", np.random.default_rng(0)), axis=1), axis=1)
    assert gaps.max() < plain.max()


def test_three_classes_with_names():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    X[:30] += 4
    X[30:60] -= 4
    y = np.repeat(["low", "mid", "high"], 30)
    model = RANNClassifier(10, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.decision_function(X).shape == (90, 3)


@pytest.mark.parametrize("model", [RANNClassifier(), GMLVQClassifier(), LeastSquaresClassifier()], ids=str)
def test_a_target_of_one_class_is_refused_by_its_name(model):
    with pytest.raises(InputError, match=r"^The target has only one class, 'a'; at least two are needed\.$"):
        model.fit(np.arange(8.0).reshape(4, 2), ["a"] * 4)
