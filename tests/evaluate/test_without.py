"""What is lost without a feature: against predictions made by hand, and how often the interval holds the truth."""

import numpy as np
import pytest

from fewer.contracts import Resources
from fewer.criteria import KNN, LeastSquares
from fewer.evaluate._evidence import losses_without, score_of
from fewer.problem import Problem
from making import make_problem


def test_the_loss_is_the_difference_of_out_of_fold_accuracies(problem):
    scorer = KNN(3).bind(problem, np.random.default_rng(0), Resources())
    mask = np.array([True, True, True, False, False, False])
    outputs, losses = losses_without(scorer, problem, mask)
    right = outputs.argmax(axis=1) == problem.y
    for column in range(3):
        rest = mask.copy()
        rest[column] = False
        without = scorer.outputs(rest).argmax(axis=1) == problem.y
        each = right.astype(float) - without
        error = each.std(ddof=1) / np.sqrt(len(each))
        assert losses[column]["loss"] == pytest.approx(each.mean())
        assert losses[column]["high"] - losses[column]["loss"] == pytest.approx(1.96 * error)


def test_groups_widen_the_interval():
    problem = make_problem(n_rows=40)
    twice = Problem.from_arrays(
        np.repeat(problem.X, 4, axis=0), np.repeat(problem.y, 4), groups=np.repeat(range(40), 4)
    )
    alone = Problem.from_arrays(twice.X, twice.y)
    mask = np.ones(6, dtype=bool)
    widths = []
    for rows in (twice, alone):
        scorer = KNN(9).bind(rows, np.random.default_rng(0), Resources())
        outputs = scorer.outputs(mask)  # the same for both, where groups do not change the rule
        losses = losses_without(_Fixed(outputs, scorer), rows, mask)[1]
        widths.append(losses[0]["high"] - losses[0]["low"])
    assert widths[0] > 1.5 * widths[1]


class _Fixed:
    """Predicts what it was given with all features, and something else without the first."""

    def __init__(self, outputs, scorer):
        self._outputs, self._scorer = outputs, scorer

    def outputs(self, mask):
        if mask.all():
            return self._outputs
        other = self._outputs.copy()
        other[: len(other) // 2] = other[: len(other) // 2, ::-1]
        return other

    def grade(self, outputs, rows):
        return self._scorer.grade(outputs, rows)


def test_a_quantity_is_measured_by_r2_and_one_feature_alone_has_no_loss():
    problem = make_problem(n_rows=80, task="regression")
    scorer = LeastSquares().bind(problem, np.random.default_rng(0), Resources())
    _, losses = losses_without(scorer, problem, np.array([True, True, False, False, False, False]))
    assert score_of(problem) == "R²"
    assert all(loss["low"] > 0.1 for loss in losses.values())
    assert losses_without(scorer, problem, np.array([True] + [False] * 5))[1] == {}


def test_the_area_is_measured_by_the_area(problem):
    assert score_of(problem, "roc_auc") == "roc_auc"
    assert score_of(problem, "f1") == "accuracy"
    scorer = KNN(5).bind(problem, np.random.default_rng(0), Resources())
    _, losses = losses_without(scorer, problem, np.array([True, True, False, False, False, False]), "roc_auc")
    assert set(losses) == {0, 1}
