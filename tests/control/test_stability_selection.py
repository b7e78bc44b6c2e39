import numpy as np
import pytest

import fewer
from fewer.control import StabilitySelection
from fewer.control._stability_selection import complementary_halves, false_bound, largest_choice, r_concave_tail
from fewer.problem import InputError, Problem
from fewer.rankers import Fisher


def test_halves_are_complementary_within_classes_and_groups():
    y = np.repeat([0, 1], [21, 9])
    one, other = complementary_halves(Problem.from_arrays(np.zeros((30, 1)), y), np.random.default_rng(0))
    assert len(np.intersect1d(one, other)) == 0
    assert len(one) == len(other) == 15
    assert abs(int(y[one].sum()) - int(y[other].sum())) <= 1
    groups = np.arange(30) // 5
    problem = Problem.from_arrays(np.zeros((30, 1)), y, groups=groups)
    one, other = complementary_halves(problem, np.random.default_rng(0))
    assert not set(groups[one]) & set(groups[other])
    assert len(one) + len(other) == 30


def test_without_an_assumption_the_bound_is_that_of_meinshausen_and_buhlmann():
    assert false_bound(10, 200, 0.75, "none", 50) == pytest.approx(10**2 / (0.5 * 200))


def test_more_assumed_is_never_more_expected():
    for threshold in (0.55, 0.6, 0.75, 0.9):
        for q in (5, 20, 60):
            bounds = [false_bound(q, 300, threshold, a, 25) for a in ("none", "unimodal", "r-concave")]
            assert bounds[0] >= bounds[1]
            assert bounds[0] >= bounds[2]


@pytest.mark.parametrize(("size", "r", "mean", "place"), [(20, -0.5, 0.05, 8), (20, -0.25, 0.1, 10)])
def test_no_r_concave_distribution_has_a_heavier_tail(size, r, mean, place):
    """Random ones (g convex, f = g^(1/r)), and the family (a + i)^(1/r), which comes near."""
    rng = np.random.default_rng(0)
    bound, heaviest = r_concave_tail(mean, size, r, place), 0.0
    for _ in range(3000):
        k = int(rng.integers(place, size + 1))
        steps = np.sort(rng.exponential(size=k) ** rng.uniform(0.2, 4)) if rng.random() < 0.5 else np.ones(k)
        chances = (10 ** rng.uniform(-3, 2) + np.r_[0, np.cumsum(steps)]) ** (1 / r)
        chances /= chances.sum()
        if chances @ np.arange(k + 1) <= mean * size:
            heaviest = max(heaviest, chances[place:].sum())
    assert 0.9 * bound < heaviest <= bound + 1e-9


def test_halves_choose_as_many_as_the_bound_allows():
    q = largest_choice(100, 0.6, 1.0, "none", 50)
    assert false_bound(q, 100, 0.6, "none", 50) <= 1 < false_bound(q + 1, 100, 0.6, "none", 50)
    assert largest_choice(100, 0.6, 1.0, "unimodal", 50) > q
    with pytest.raises(InputError, match="raise expected_false or threshold"):
        largest_choice(4, 0.6, 0.01, "none", 50)


def test_frequencies_are_counted_and_the_promise_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 20)), rng.integers(0, 2, 100)
    X[:, 4] += 2 * y
    control = StabilitySelection(0.7, 1.0, "unimodal", n_pairs=20)
    selector = fewer.RankSelector(Fisher(), control=control, random_state=0).fit(X, y)
    frequency = selector.trace_.extra["frequency"]
    assert frequency[4] == 1
    assert frequency.sum() == pytest.approx(selector.trace_.extra["n_chosen"])
    assert (selector.support_ == (frequency >= 0.7)).all()
    note = selector.promise_
    assert "unimodal" in note
    assert "features of low selection probability" in note
