import numpy as np
import pytest

from fewer.contracts import SearchSpace, gray_states
from fewer.contracts._scorer import PredictiveScorer, Sweep, best_of
from fewer.problem import Problem
from scorers import Additive, Table


class Constant(PredictiveScorer):
    def score(self, masks):
        return np.zeros(len(masks))

    def outputs(self, mask):
        raise NotImplementedError

    def predict(self, mask, X):
        raise NotImplementedError


def test_gray_codes_visit_every_subset_once_one_change_at_a_time():
    states = gray_states(np.arange(32), 5)
    assert len(np.unique(states, axis=0)) == 32
    assert (np.abs(np.diff(states.astype(int), axis=0)).sum(axis=1) == 1).all()


def test_flips_set_one_unit_each():
    scorer = Additive([1.0, 2.0, 4.0, 8.0])
    units = [np.array([0, 1]), np.array([3])]
    mask = np.array([False, True, True, False])
    assert scorer.flips(mask, units, np.array([True, True])).tolist() == [7.0, 14.0]
    assert scorer.flips(mask, units, np.array([False, False])).tolist() == [4.0, 6.0]
    assert mask.tolist() == [False, True, True, False]


@pytest.mark.parametrize("top", [1, 5, 40])
def test_a_sweep_in_parts_is_a_sweep(top):
    scorer, space = Table(6, 3), SearchSpace.of(6, sizes=(2, 4))
    whole = scorer.sweep(space, 0, 64, top)
    parts = best_of(scorer.sweep(space, 0, 23, top), scorer.sweep(space, 23, 64, top), top)
    assert np.array_equal(whole.states, parts.states)
    assert np.array_equal(whole.scores, parts.scores)
    assert whole.n_evaluated == parts.n_evaluated == 15 + 20 + 15
    every = gray_states(np.arange(64), 6)
    truth = np.sort(space.objective(scorer.score(every), every)[space.allows(every)])[::-1]
    assert np.array_equal(whole.scores, truth[:top])


def test_merged_sweeps_add_their_counts():
    one = Sweep(np.array([[True]]), np.array([1.0]), 3, 1)
    other = Sweep(np.array([[False]]), np.array([2.0]), 4, 2)
    both = best_of(one, other, 1)
    assert (both.n_evaluated, both.n_undefined) == (7, 3)
    assert both.states.tolist() == [[False]]


def test_subsets_without_a_score_are_counted_and_come_last():
    values = np.arange(8.0)
    values[5] = np.nan
    found = Table(3, values=values).sweep(SearchSpace.of(3), 0, 8, 10)
    assert (found.n_undefined, found.n_evaluated) == (1, 7)
    assert found.scores[-1] == -np.inf


def test_grades_are_accuracy_or_r2_with_weights():
    X = np.zeros((4, 1))
    rows = Problem.from_arrays(X, [0, 1, 1, 0], sample_weight=[1.0, 1.0, 2.0, 4.0])
    votes = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    assert Constant().grade(votes, rows) == pytest.approx(0.5)
    quantities = Problem.from_arrays(X, [1.0, 2.0, 3.0, 4.0], task="regression")
    assert Constant().grade(np.array([1.0, 2.0, 3.0, 3.0]), quantities) == pytest.approx(1 - 1 / 5)
    flat = Problem.from_arrays(X, [2.0, 2.0, 2.0, 2.0], task="regression")
    assert Constant().grade(np.array([2.0, 2.0, 2.0, 5.0]), flat) == -9.0
