import numpy as np
import pytest

from fewer.roc._growth import NOBODY, Front, GrowthPlan, _neighbors, _reaching, grow
from fewer.roc._learners import Learner, Points


def test_guessing_has_half_of_the_area():
    front = Front.diagonal(40.0, 10.0)
    assert front.area == 0.5
    assert front.member.tolist() == [NOBODY, NOBODY]
    assert front.threshold.tolist() == [np.inf, -np.inf]


def test_the_frontier_has_the_highest_point_of_each_place():
    fp, tp = np.array([0.0, 0.0, 4.0, 8.0, 8.0]), np.array([0.0, 3.0, 5.0, 5.5, 6.0])
    front = Front(fp, tp, tp - 0.5, np.zeros(5), np.arange(5))
    assert front.frontier.fp.tolist() == [0.0, 4.0, 8.0]
    assert front.frontier.tp.tolist() == [2.5, 4.5, 5.5]


def test_children_have_one_feature_more_or_less():
    mask, usable = np.array([True, False, False, True]), np.array([True, True, False, True])
    added = _neighbors(mask, usable, 4, drops=False)
    assert [np.flatnonzero(child).tolist() for child in added] == [[0, 1, 3]]
    both = {tuple(np.flatnonzero(child)) for child in _neighbors(mask, usable, 4, drops=True)}
    assert both == {(0, 1, 3), (0,), (3,)}
    assert {tuple(np.flatnonzero(child)) for child in _neighbors(mask, usable, 2, drops=True)} == {(0,), (3,)}


def test_rows_that_reach_a_cut_are_counted_with_their_weights():
    scores, weight = np.array([3.0, 1.0, 2.0, 2.0]), np.array([1.0, 10.0, 100.0, 1000.0])
    cuts = np.array([0.0, 1.0, 2.0, 2.5, 9.0])
    assert _reaching(scores, weight, cuts) == pytest.approx([1111.0, 1111.0, 1101.0, 1.0, 0.0])


class Recorder(Learner):
    """Remembers the subsets that it was asked for; only column 3 is worth anything, and more of it with column 2."""

    name = "recorder"

    def __init__(self):
        self.rounds = []

    def outside(self, parent, masks, prices, frontier):
        subsets = [tuple(np.flatnonzero(mask).tolist()) for mask in masks]
        self.rounds.append(subsets)
        tp = np.array([10.0 * (3 in s) + 5.0 * ({2, 3} <= {*s}) for s in subsets])
        good = np.flatnonzero(tp > np.interp(1.0, frontier.fp, frontier.tp))
        return Points(good, np.ones(len(good)), tp[good], np.zeros(len(good)))

    def rule(self, mask, rows=None):
        raise NotImplementedError

    def validation_scores(self, mask):
        raise NotImplementedError


def subsets_tried(corners):
    recorder, every = Recorder(), np.ones(4, dtype=bool)
    plan = GrowthPlan("forward", -1e9, True, 4, 3, 0, np.zeros(4), every, corners=corners)
    grow([recorder], plan, (20.0, 20.0), (20, 20), np.random.default_rng(0))
    return {subset for batch in recorder.rounds for subset in batch}


def test_corners_that_own_the_first_subset_of_a_round_give_it_children():
    plain, owned = subsets_tried(False), subsets_tried(True)
    assert plain == {(0,), (1,), (2,), (3,), (0, 3), (1, 3), (2, 3), (0, 2, 3), (1, 2, 3)}
    assert owned - plain == {(0, 1), (0, 2), (0, 1, 2), (0, 1, 3)}
