import numpy as np
import pytest
from sklearn import metrics

from fewer.kernels.grades import (
    ABSOLUTE,
    ACCURACY,
    BALANCED,
    F1,
    F1_MACRO,
    R2,
    ROOT_SQUARED,
    SQUARED,
    grade_classes,
    grade_quantities,
    grade_ranks,
)

BOUNDS = np.array([0, 14, 30])
RNG = np.random.default_rng(0)
WEIGHTS = RNG.random(30) + 0.5
CODES = np.arange(30) % 3


def by_fold(score):
    return [score(slice(low, high)) for low, high in ((0, 14), (14, 30))]


@pytest.mark.parametrize(
    ("metric", "truth"),
    [
        (ACCURACY, metrics.accuracy_score),
        (BALANCED, metrics.balanced_accuracy_score),
        (F1, lambda y, p, sample_weight: metrics.f1_score(y == 1, p == 1, sample_weight=sample_weight)),
        (F1_MACRO, lambda y, p, sample_weight: metrics.f1_score(y, p, sample_weight=sample_weight, average="macro")),
    ],
)
def test_classes_are_graded_as_scikit_learn_does(metric, truth):
    decisions = RNG.random((2, 30, 3))
    decisions[:, np.arange(30), CODES] += 0.4
    out = np.empty((2, 2))
    grade_classes(decisions, CODES, WEIGHTS, BOUNDS, metric, 1, 0.0, np.empty((3, 3)), out)
    for i in range(2):
        winners = decisions[i].argmax(axis=1)
        assert out[i] == pytest.approx(by_fold(lambda s: truth(CODES[s], winners[s], sample_weight=WEIGHTS[s])))  # noqa: B023


def test_what_hangs_on_a_hair_is_not_graded():
    decisions = np.zeros((1, 30, 3))
    decisions[0, :, 0] = 1.0
    decisions[0, 20, 1] = 1.0 - 1e-12
    out = np.empty((1, 2))
    grade_classes(decisions, CODES, WEIGHTS, BOUNDS, ACCURACY, 1, 1e-9, np.empty((3, 3)), out)
    assert np.isnan(out).tolist() == [[False, True]]


@pytest.mark.parametrize(
    ("metric", "truth"),
    [
        (R2, metrics.r2_score),
        (SQUARED, lambda *a, **k: -metrics.mean_squared_error(*a, **k)),
        (ROOT_SQUARED, lambda *a, **k: -metrics.root_mean_squared_error(*a, **k)),
        (ABSOLUTE, lambda *a, **k: -metrics.mean_absolute_error(*a, **k)),
    ],
)
def test_quantities_are_graded_as_scikit_learn_does(metric, truth):
    y = RNG.normal(size=30)
    predicted = y + RNG.normal(size=30)
    out = np.empty((1, 2))
    grade_quantities(predicted[None, :, None].copy(), y, WEIGHTS, BOUNDS, metric, out)
    assert out[0] == pytest.approx(by_fold(lambda s: truth(y[s], predicted[s], sample_weight=WEIGHTS[s])))


def test_ranks_are_graded_as_scikit_learn_does_with_ties():
    y = np.arange(30) % 2
    values = np.round(y + RNG.normal(size=30), 1)[None]
    orders = np.concatenate([np.argsort(values[:, :14], axis=1), np.argsort(values[:, 14:], axis=1)], axis=1)
    out = np.empty((1, 2))
    grade_ranks(values, orders, y, WEIGHTS, BOUNDS, 1, 0.0, False, out)
    assert out[0] == pytest.approx(
        by_fold(lambda s: metrics.roc_auc_score(y[s], values[0, s], sample_weight=WEIGHTS[s]))
    )
    grade_ranks(values, orders, np.zeros(30, dtype=np.int64), WEIGHTS, BOUNDS, 1, 0.0, False, out)
    assert np.isnan(out).all()  # one class alone has no pairs
