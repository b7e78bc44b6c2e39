import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

import fewer
from fewer.contracts.trace import Trace
from fewer.control import StabilitySelection
from fewer.control._stability_selection import complementary_halves, false_bound, largest_choice, r_concave_tail
from fewer.criteria import KNN
from fewer.problem import InputError, Problem
from fewer.rankers import Fisher
from fewer.search import Forward
from making import make_problem


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
    assert largest_choice(4, 0.6, 0.01, "none", 50) == 0


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


def test_the_promise_says_its_numbers():
    control = StabilitySelection(0.9, 1.0, n_pairs=50, assumption="none")
    told = control._promise(28, 1000)
    assert "the 28 best in at least 0.9 of 100 half-samples" in told
    assert "at most 0.98 features of low selection probability (up to 0.028)" in told
    assert "(nothing assumed; Shah and Samworth)" in told


@pytest.mark.parametrize(("n_chosen", "theta"), [(10, 0.1), (30, 0.3)])
def test_the_unimodal_bound_is_that_of_theorem_two(n_chosen, theta):
    """C(τ, B) θ² p: 1 / (2 (2τ − 1 − 1/2B)) up to τ = 3/4, then 4 (1 − τ + 1/2B) / (1 + 1/B)."""
    plain = theta**2 * 100
    for threshold in (0.7, 0.75):
        wanted = plain / (2 * (2 * threshold - 1 - 1 / 100))
        assert false_bound(n_chosen, 100, threshold, "unimodal", 50) == pytest.approx(wanted)
    for threshold in (0.76, 0.9):
        wanted = plain * 4 * (1 - threshold + 1 / 100) / (1 + 1 / 50)
        assert false_bound(n_chosen, 100, threshold, "unimodal", 50) == pytest.approx(wanted)


def test_the_unimodal_bound_needs_a_threshold_above_its_least():
    """Below min(1/2 + θ², 1/2 + 1/2B + 3θ²/4), and for θ above 1/√3, the theorem says nothing."""
    plain = false_bound(30, 100, 0.58, "none", 50)
    assert false_bound(30, 100, 0.575, "unimodal", 50) == pytest.approx(false_bound(30, 100, 0.575, "none", 50))
    assert false_bound(30, 100, 0.6, "unimodal", 50) < false_bound(30, 100, 0.6, "none", 50)
    assert plain == pytest.approx(0.09 / 0.16 * 100)
    assert false_bound(60, 100, 0.95, "unimodal", 50) == pytest.approx(false_bound(60, 100, 0.95, "none", 50))


def test_a_bound_is_never_more_than_all_features():
    assert false_bound(90, 100, 0.51, "none", 50) == 100.0


def test_the_largest_choice_is_the_largest():
    for assumption in ("none", "unimodal", "r-concave"):
        best = largest_choice(200, 0.8, 2.0, assumption, 25)
        assert false_bound(best, 200, 0.8, assumption, 25) <= 2.0 < false_bound(best + 1, 200, 0.8, assumption, 25)
    assert largest_choice(10, 1.0, 10.0, "none", 25) == 10
    assert largest_choice(10, 0.6, 0.0001, "none", 25) == 0


def test_few_columns_are_explained_with_cures_that_work():
    iris, wine = load_iris(return_X_y=True), load_wine(return_X_y=True)
    ask = {"ranker": "fisher", "cv": 0, "random_state": 0}
    with pytest.raises(
        InputError, match="no more than 1 false feature, half-samples may choose none of 4; "
    ) as refused:
        fewer.select(*iris, **ask, control="stability")
    kept_none = fewer.select(*wine, **ask, control="stability")
    assert kept_none.features == []
    assert kept_none.notes[0] == "No feature is among the 1 best in 0.6 of the half-samples."
    for said, data in ((str(refused.value), iris), (kept_none.notes[1], wine)):
        cures = dict(re.findall(r"control='(.+?)' lets them choose (\d)", said))
        assert len(cures) == 2
        for control, n_chosen in cures.items():
            told = fewer.select(*data, **ask, control=control)
            assert told.trace.extra["n_chosen"] == int(n_chosen)
    alone = fewer.select(*iris, **ask, control="stability:threshold=0.9")
    limit = "half-samples may choose only 1 of 4; control='stability:expected_false=1.25' lets them choose 2."
    assert alone.notes[-1] == f"To expect no more than 1 false feature, {limit}"


def test_a_tail_that_begins_at_the_mean_is_not_bounded():
    assert r_concave_tail(0.2, 20, -0.5, 8) == 1.0
    assert r_concave_tail(0.2, 20, -0.5, 9) < 1.0
    assert r_concave_tail(0.5, 20, -0.5, 20) == 1.0
    tails = [r_concave_tail(0.1, 20, -0.5, place) for place in range(5, 21)]
    assert all(a >= b for a, b in pairwise(tails))


def test_halves_of_an_odd_number_of_rows_leave_one_out():
    one, other = complementary_halves(
        Problem.from_arrays(np.zeros((11, 1)), [0] * 6 + [1] * 5), np.random.default_rng(0)
    )
    assert len(one) == len(other) == 5
    quantity = Problem.from_arrays(np.zeros((10, 1)), np.arange(10.0), task="regression")
    drawn = [complementary_halves(quantity, np.random.default_rng(seed))[0] for seed in range(300)]
    often = np.bincount(np.concatenate(drawn), minlength=10)
    assert often == pytest.approx(np.full(10, 150), abs=35)
    together = sum(0 in half and 1 in half for half in drawn)
    assert together == pytest.approx(300 * 2 / 9, abs=35)  # not neighbors by order of the rows


def test_exactly_the_threshold_is_kept_and_frequencies_are_shares_of_all_halves():
    problem = Problem.from_arrays(np.random.default_rng(0).normal(size=(40, 6)), np.arange(40) % 2)
    control = StabilitySelection(0.6, 5.0, n_pairs=5, assumption="none")
    selector = fewer.RankSelector(Fisher(), control=control, random_state=0).fit_problem(problem)
    frequency = selector.trace_.extra["frequency"]
    assert (frequency * 10 == np.round(frequency * 10)).all()
    assert frequency.sum() == pytest.approx(int(selector.trace_.extra["n_chosen"]))
    assert np.array_equal(selector.support_, frequency >= 0.6 - 1e-9)
    assert selector.trace_.done
    assert not selector.trace_.interrupted


def test_over_a_search_each_half_chooses_what_the_search_finds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = (X[:, 1] + X[:, 4] > 0).astype(int)
    control = StabilitySelection(0.7, 2.0, n_pairs=3, assumption="none")
    selector = fewer.SubsetSelector(KNN(5), Forward(), control=control, random_state=0).fit(X, y)
    frequency = selector.trace_.extra["frequency"]
    n_chosen = int(selector.trace_.extra["n_chosen"])
    assert 0 < frequency.sum() <= n_chosen + 1e-9
    assert frequency[[1, 4]].min() > frequency[[0, 2, 3, 5]].max()
    assert selector.trace_.n_evaluations > 6 * 6


def test_a_run_that_is_stopped_says_so():
    trace = Trace()
    selector = fewer.RankSelector(Fisher(), control=StabilitySelection(0.8, 3.0, n_pairs=4), random_state=0)

    def stop(trace):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        selector.fit_problem(make_problem(n_rows=80), stop, trace)
    assert trace.interrupted
    assert not trace.done
    assert trace.n_steps == 1


def test_features_that_are_all_forced_in_need_no_half_samples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    selection = fewer.select(X, y, "stability", include=[0, 1], cv=0, random_state=0)
    assert selection.features == ["x0", "x1"]
