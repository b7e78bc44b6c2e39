import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, r2_score, roc_auc_score

from fewer import AutoSelector
from fewer.problem import Problem
from fewer.selectors.auto._curve import DEPENDENT, Curve, Loss, balanced_weights, chance_of, mean_and_error
from fewer.validate import split_rows

RNG = np.random.default_rng(0)


def test_a_mean_has_the_textbook_error_and_clusters_count_once():
    values = RNG.normal(size=(50, 3))
    mean, error = mean_and_error(values, np.ones(50), np.arange(50))
    assert np.allclose(mean, values.mean(axis=0))
    assert np.allclose(error, stats.sem(values, axis=0))
    repeated = mean_and_error(np.repeat(values, 4, axis=0), np.ones(200), np.repeat(np.arange(50), 4))
    assert np.allclose(repeated, (mean, error))


def test_classes_weigh_the_same_and_tiny_ones_less():
    problem = Problem.from_arrays(np.zeros((100, 1)), np.r_[np.zeros(60), np.ones(38), np.full(2, 2)])
    sums = np.bincount(problem.y, balanced_weights(problem))
    assert np.isclose(sums[0], sums[1])
    assert np.isclose(sums[2], sums[0] * 2 / 5)
    assert np.isclose(sums.sum(), 100)
    assert np.allclose(balanced_weights(problem, balanced=False), 1.0)


@pytest.mark.parametrize(
    ("scoring", "metric"), [("accuracy", accuracy_score), ("balanced_accuracy", balanced_accuracy_score)]
)
def test_scores_are_those_of_scikit_learn(scoring, metric):
    y = np.repeat([0, 1, 2], [10, 20, 30])
    problem = Problem.from_arrays(np.zeros((60, 1)), y)
    loss, rows = Loss.of(problem, split_rows(problem, 5, np.random.default_rng(0)), scoring)
    outputs = RNG.dirichlet(np.ones(3), size=(60, 1))
    assert np.isclose(loss.scores(outputs)[0][0], metric(y, outputs[:, 0].argmax(axis=1)))
    assert np.array_equal(rows, np.arange(60))


def test_a_metric_is_asked_once_about_the_same_outputs():
    y, asked = np.repeat([0, 1], 30), []

    def counted(model, X, y):
        asked.append(len(y))
        return f1_score(y, model.predict(X))

    rows = Problem.from_arrays(np.zeros((60, 1)), y)
    loss, _ = Loss.of(rows, split_rows(rows, 5, np.random.default_rng(0)), counted)
    outputs = RNG.dirichlet(np.ones(2), size=(60, 3))
    first = loss.losses(outputs)
    assert np.array_equal(loss.losses(outputs[:, [2, 0]]), first[:, [2, 0]])
    assert asked == [12] * 15
    folds = [loss.folds == fold for fold in range(5)]
    truth = [[-f1_score(y[part], outputs[part, size].argmax(axis=1)) for size in range(3)] for part in folds]
    assert np.allclose(first, truth)


def test_the_score_of_a_quantity_is_the_loss_in_another_unit():
    y = RNG.normal(size=60)
    problem = Problem.from_arrays(np.zeros((60, 1)), y, task="regression")
    loss, _ = Loss.of(problem, split_rows(problem, 5, np.random.default_rng(0)))
    guess = y[:, None, None] + RNG.normal(size=(60, 1, 1))
    assert np.isclose(loss.scores(guess)[0][0], r2_score(y, guess[:, 0, 0]))
    assert np.isclose(1.0 - loss.unit * loss.losses(guess).mean(), r2_score(y, guess[:, 0, 0]))
    assert loss.exact


def test_rows_on_the_wrong_side_are_one_less_the_area():
    y = np.repeat([0, 1], [80, 20])
    problem = Problem.from_arrays(np.zeros((100, 1)), y)
    splits = split_rows(problem, 4, np.random.default_rng(0))
    loss, _ = Loss.of(problem, splits, "roc_auc")
    second = np.round(RNG.uniform(size=(100, 2)), 1)  # with ties
    outputs = np.stack([1.0 - second, second], axis=2)
    areas = [[roc_auc_score(y[s.test], second[s.test, i]) for s in splits] for i in (0, 1)]
    assert np.allclose(loss.scores(outputs)[0], np.mean(areas, axis=1))
    assert np.isclose(loss.of_nothing(np.full((100, 2), 0.5)), 0.5)


def test_the_smallest_size_that_loses_so_much():
    losses = np.array([[1.0, 0.0, 0.1], [1.0, 0.2, 0.1], [0.9, 0.1, 0.0], [1.1, 0.1, 0.2]])
    free = np.ones(3, dtype=bool)
    curve = Curve.of(np.array([1, 2, 3]), losses, np.ones(4), np.arange(4), free)
    assert [curve.smallest(spared, free) for spared in (0.0, 0.5, 1.0)] == [1, 1, 0]
    two = np.array([[0.3, 0.0], [0.1, 0.0], [0.2, 0.0]])  # 0.2 behind, with a standard error of 0.1 / √3
    noisy = Curve.of(np.array([1, 2]), two, np.ones(3), np.arange(3), np.ones(2, dtype=bool))
    assert [noisy.smallest(0.1, np.ones(2, dtype=bool), luck) for luck in (1.7, 1.8)] == [1, 0]
    assert noisy.smallest(0.1, np.ones(2, dtype=bool), 1.8, 0.05) == 1
    only = np.array([True, False, True])
    assert Curve.of(np.array([1, 2, 3]), losses, np.ones(4), np.arange(4), only).smallest(0.0, only) == 2


def test_what_predictions_of_classes_tell_is_their_rank():
    y = np.arange(60) % 6 == 0  # a sixth of the rows
    problem = Problem.from_arrays(np.zeros((60, 1)), y)
    splits = split_rows(problem, 4, np.random.default_rng(0))
    loss, _ = Loss.of(problem, splits)
    second = RNG.uniform(size=(60, 1))
    outputs, means = np.stack([1.0 - second, second], axis=2), np.tile([5 / 6, 1 / 6], (60, 1))
    told = loss.told(outputs, means)
    assert np.allclose(told, loss.told(outputs**3, means)[:, [0]], atol=1e-12)  # only the order counts
    area = np.mean([roc_auc_score(y[s.test], second[s.test, 0]) for s in splits])
    weights = balanced_weights(problem)
    # Mean ranks of the two classes are half an area apart, in rows of a fold.
    assert weights @ told[:, 0] / weights.sum() == pytest.approx((area - 0.5) / 2, abs=0.02)
    assert np.allclose(loss.told(np.full((60, 1, 2), 0.5), means), 0.0)


def test_luck_is_told_with_its_probability():
    draws = [np.random.default_rng(seed).normal(size=(40, 30)) for seed in range(200)]
    seen = [chance_of(draw, np.ones(40), np.arange(40), 0, n_draws=299) for draw in draws]
    assert 0.04 <= np.mean(np.array(seen) <= 0.1) <= 0.16
    one = np.random.default_rng(1).normal(size=(200, 1)) + 0.1
    t = stats.ttest_1samp(one[:, 0], 0.0, alternative="greater").pvalue
    assert chance_of(one, np.ones(200), np.arange(200), 0, n_draws=4999) == pytest.approx(t, abs=0.02)


def test_the_same_gain_in_every_row_is_no_luck():
    rows = np.arange(40)
    assert chance_of(np.full((40, 2), 0.3), np.ones(40), rows, 0) == 0.001
    assert chance_of(np.full((40, 1), 0.3), np.ones(40), rows % 3, 0) == 0.125  # three signs, as three coins
    assert chance_of(np.zeros((40, 1)), np.ones(40), rows, 0) == chance_of(np.full((40, 1), -0.3), np.ones(40), rows, 0)
    y = np.repeat([0, 1], 40)
    assert not AutoSelector(random_state=0).fit(y[:, None] * 1.0, y).nothing_found_


def test_luck_of_a_feature_that_every_split_chooses():
    called, fold = {1.0: 0, DEPENDENT: 0}, np.arange(40) % 5
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y, gains = rng.normal(size=(40, 200)), rng.normal(size=40), np.empty(40)
        for number in range(5):
            train, test = fold != number, fold == number
            slopes = X[train].T @ y[train]
            best = int(np.argmax(np.abs(slopes)))
            gains[test] = slopes[best] * X[test, best] * y[test]
        for wider in called:
            called[wider] += chance_of(gains[:, None], np.ones(40), np.arange(40), 0, 199, wider) <= 0.05
    assert called[1.0] > 0.08 * 200
    assert called[DEPENDENT] < 0.07 * 200
