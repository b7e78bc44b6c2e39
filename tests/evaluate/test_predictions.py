"""Curves and counts of held-out predictions, against scikit-learn and plain loops."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, roc_auc_score

from fewer.evaluate.distributions import POINTS, predictions
from fewer.problem import Problem


def outputs_for(y, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    out = rng.dirichlet(np.ones(n_classes), size=len(y))
    out[np.arange(len(y)), y] += 0.6
    return out / out.sum(axis=1, keepdims=True)


def test_two_classes_have_a_curve_counts_and_calibration():
    y = np.random.default_rng(1).integers(2, size=500)
    outputs = outputs_for(y, 2)
    told = predictions(Problem.from_arrays(np.zeros((500, 1)), y), outputs)
    assert told["confusion"] == confusion_matrix(y, outputs.argmax(axis=1)).tolist()
    assert told["roc"]["area"] == pytest.approx(roc_auc_score(y, outputs[:, 1]))
    assert len(told["roc"]["fpr"]) <= POINTS
    assert (told["roc"]["fpr"][0], told["roc"]["tpr"][-1]) == (0.0, 1.0)
    drawn = np.trapezoid(told["roc"]["tpr"], told["roc"]["fpr"])
    assert drawn == pytest.approx(told["roc"]["area"], abs=0.01)
    calibration = told["calibration"]
    assert sum(calibration["n"]) == 500
    mean = np.average(calibration["is"], weights=calibration["n"])
    assert mean == pytest.approx(y.mean(), abs=1e-3)


def test_several_classes_are_counted_and_calibrated_by_the_predicted_one():
    y = np.arange(300) % 4
    outputs = outputs_for(y, 4)
    told = predictions(Problem.from_arrays(np.zeros((300, 1)), y), outputs)
    assert "roc" not in told
    assert np.trace(told["confusion"]) == (outputs.argmax(axis=1) == y).sum()
    share = np.average(told["calibration"]["is"], weights=told["calibration"]["n"])
    assert share == pytest.approx((outputs.argmax(axis=1) == y).mean(), abs=1e-3)


def test_a_quantity_is_a_sample_of_rows_counted_from_one():
    y = np.linspace(0, 1, 1000)
    told = predictions(Problem.from_arrays(np.zeros((1000, 1)), y, task="regression"), y + 0.5)
    points = told["points"]
    assert len(points["row"]) == POINTS
    assert (points["row"][0], points["row"][-1]) == (1, 1000)
    for row, truth, prediction in zip(*points.values(), strict=True):
        assert truth == pytest.approx(y[row - 1], rel=1e-4, abs=1e-9)
        assert prediction == pytest.approx(truth + 0.5, abs=1e-4)


def test_rows_that_nothing_predicted_are_left_out():
    y = np.array([0, 1, 0, 1, 1])
    outputs = outputs_for(y, 2)
    outputs[0] = np.nan
    told = predictions(Problem.from_arrays(np.zeros((5, 1)), y), outputs)
    assert told["n_rows"] == 4
    assert sum(map(sum, told["confusion"])) == 4
    assert predictions(Problem.from_arrays(np.zeros((5, 1)), y), np.full((5, 2), np.nan)) == {}


def test_calibration_compares_what_was_given_with_what_came_true_in_each_bin():
    y = np.repeat([0, 1, 0, 1], [30, 10, 5, 35])  # a quarter of the first 40 rows, seven eighths of the others
    given = np.repeat([0.2, 0.9], 40)
    told = predictions(Problem.from_arrays(np.zeros((80, 1)), y), np.column_stack([1 - given, given]))["calibration"]
    assert told == {"given": [0.2, 0.9], "is": [0.25, 0.875], "n": [40, 40]}
