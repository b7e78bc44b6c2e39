import numpy as np
import pytest

from fewer.models import DiscreteNaiveBayes
from fewer.problem import Problem
from fewer.roc._growth import GrowthPlan, HullGrowth, Member, _neighbors, _reaching, best_subset, few_of, grow
from fewer.roc._learners import NOBODY, Front, Learner, Lessons, deal_out, learner_of


def test_guessing_has_half_of_the_area():
    front = Front.diagonal(40.0, 10.0)
    assert front.area == 0.5
    assert front.member.tolist() == [NOBODY, NOBODY]
    assert front.threshold.tolist() == [np.inf, -np.inf]


def test_the_line_has_the_highest_point_of_each_place():
    fp, tp = np.array([0.0, 0.0, 4.0, 8.0, 8.0]), np.array([0.0, 3.0, 5.0, 5.5, 6.0])
    front = Front(fp, tp, tp - 0.5, np.zeros(5), np.arange(5))
    assert [side.tolist() for side in front.line] == [[0.0, 4.0, 8.0], [2.5, 4.5, 5.5]]


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

    def outside(self, parent, masks, prices, hull):
        subsets = [tuple(np.flatnonzero(mask).tolist()) for mask in masks]
        self.rounds.append(subsets)
        tp = np.array([10.0 * (3 in s) + 5.0 * ({2, 3} <= {*s}) for s in subsets])
        good = np.flatnonzero(tp > np.interp(1.0, *hull))
        return Front(np.ones(len(good)), tp[good], tp[good], np.zeros(len(good)), good)

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


def own_hull(positive, *all_scores):
    """Area under the highest lines between any two ROC points of some scores: a slow twin of the hull."""
    points = {(0.0, 0.0), (1.0, 1.0)}
    for scores in all_scores:
        points |= {((scores >= c)[~positive].mean(), (scores >= c)[positive].mean()) for c in np.unique(scores)}
    grid = sorted({x for x, _ in points})
    high = []
    for x in grid:
        lines = [
            b if u == v else b + (d - b) * (x - u) / (v - u)
            for u, b in points for v, d in points if u <= x <= v and (u < v or u == x)
        ]  # fmt: skip
        high.append(max(lines))
    return np.trapezoid(high, grid)


def test_few_subsets_are_those_whose_hull_earns_their_features():
    rng = np.random.default_rng(0)
    positive = np.arange(60) % 2 == 0
    scores = [np.round(rng.normal(size=60) + shift * positive, 1) for shift in (1.5, 0.0, 1.4)]
    members = [Member(0, (0, 1)), Member(0, (2,)), Member(0, (1, 3))]
    growth = HullGrowth(Front.diagonal(30.0, 30.0), members, [])
    rows = Problem.from_arrays(np.zeros((60, 1)), positive.astype(int))
    lessons = Lessons.of_parts(rows, rows)

    def chosen(price):
        found = few_of(growth, scores, lessons, np.full(4, price))
        return found.front, [members.index(member) for member in found.members]

    alone = [own_hull(positive, each) for each in scores]
    front, order = chosen(0.02)
    assert order[0] == np.argmax([a - 0.02 * len(m.features) for a, m in zip(alone, members, strict=True)])
    assert front.area == pytest.approx(own_hull(positive, *(scores[n] for n in order)))
    assert sorted(order) == [0, 2]
    assert chosen(0.1)[1] == order[:1]  # two more features would have to add 0.1 or 0.2 of area
    front, order = chosen(0.3)
    assert (order, front.area) == ([], 0.5)


def test_the_best_subset_is_found_step_by_step():
    rng = np.random.default_rng(1)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 4)) + y[:, None] * np.array([1.2, 0.0, 0.9, 0.1])
    lessons, _ = deal_out(Problem.from_arrays(X, y), 0.0, 5, 1 / 3, rng, repeats=2)
    assert (lessons.repeats, lessons.sizes, lessons.totals) == (2, (60, 60), (120.0, 120.0))
    learner = learner_of("bayes", DiscreteNaiveBayes(), lessons, 1)
    plan = GrowthPlan("flip", 0.5, True, 4, None, 1, np.zeros(4), np.ones(4, dtype=bool))
    positive = lessons.positive == 1

    def worth(subset, price):
        mask = np.isin(np.arange(4), subset)
        return own_hull(positive, learner.validation_scores(mask)) - price * len(subset) if subset else 0.5

    for price in (0.0, 0.03, 0.2):
        here, n_rounds = (), 0
        while True:
            n_rounds += 1
            steps = [tuple(sorted({*here} ^ {f})) for f in range(4)]
            best = max(steps, key=lambda s: worth(s, price))
            if worth(best, price) <= worth(here, price) + 1e-12:
                break
            here = best
        found, n_tried = best_subset(learner, plan, np.full(4, price), lessons.totals)
        assert tuple(np.flatnonzero(found)) == here
        assert 4 * n_rounds - 1 <= n_tried <= 4 * n_rounds  # from one column on, none at all is not tried again
