import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytic import OPTIMA, Analytic, assert_same, run, run_interrupted, xor_like
from fewer.contracts import Objective, SearchSpace
from fewer.problem import InputError
from fewer.search import Genetic
from fewer.search._genetic import crossed, roulette


@pytest.mark.parametrize(("function", "p", "optimum"), OPTIMA)
def test_it_reaches_known_optima_in_95_of_100_seeds(function, p, optimum):
    search = Genetic(patience=25)
    hits = sum(run(search, function, SearchSpace.of(p), seed).best_score >= optimum - 1e-9 for seed in range(100))
    assert hits >= 95


def test_the_roulette_variant_climbs_too():
    search = Genetic(25, 120, mutation=0.05, selection="roulette")
    hits = sum(run(search, xor_like, SearchSpace.of(12), seed).best_score >= 2.4 - 1e-9 for seed in range(20))
    assert hits >= 18


@pytest.mark.parametrize("selection", ["best", "roulette"])
@pytest.mark.parametrize("levels", [1, 4])
def test_one_seed_one_run_also_across_an_interruption(tmp_path, selection, levels):
    space = SearchSpace.of(12, sizes=(3, 8), weight_levels=levels)
    search = Genetic(population=12, generations=10, selection=selection)
    whole = run(search, xor_like, space, 5)
    assert_same(whole, run(search, xor_like, space, 5))
    assert_same(whole, run_interrupted(search, xor_like, space, 5, 4, tmp_path / "trace"))


@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_every_subset_it_asks_about_is_allowed(data):
    p = data.draw(st.integers(2, 9))
    low = data.draw(st.integers(1, p))
    high = data.draw(st.integers(low, p))
    levels = data.draw(st.sampled_from([1, 3]))
    groups = [[0, 1]] if p > 3 and high < p else []
    space = SearchSpace.of(p, sizes=(low, high), groups=groups, weight_levels=levels)
    space_low = space.min_units
    seen = []

    def remember(masks):
        seen.append(masks)
        return np.count_nonzero(masks, axis=1) * -1.0

    search = Genetic(8, 4, selection=data.draw(st.sampled_from(["best", "roulette"])))
    search.run(Objective(Analytic(remember), space), space, np.random.default_rng(0))
    masks = np.concatenate(seen)
    sizes = np.array([[mask[unit[0]] != 0 for unit in space.units] for mask in masks]).sum(axis=1)
    assert sizes.min() >= space_low
    assert sizes.max() <= space.max_units
    assert np.isin(masks, np.arange(levels + 1) / levels).all()
    if groups:
        assert np.array_equal(masks[:, 0], masks[:, 1])


def test_crossover_keeps_one_stretch_of_the_second_parent():
    for points in (1, 2):
        taken = crossed(500, 10, points, np.random.default_rng(0))
        changes = np.abs(np.diff(taken.astype(int), axis=1)).sum(axis=1)
        assert changes.max() <= points
        assert (changes > 0).any()
    one = crossed(500, 10, 1, np.random.default_rng(0))
    assert one[:, -1].all()
    assert not one[:, 0].any()


def test_roulette_is_log_of_percent_and_takes_negative_scores():
    chances = roulette(np.array([0.90, 0.70]))
    assert chances[0] / chances[1] == pytest.approx(np.log(91) / np.log(71))
    assert roulette(np.array([-0.2, -0.1])).tolist() == [0.0, 1.0]
    assert roulette(np.array([0.0, 0.0])).tolist() == [0.5, 0.5]


def test_shortened_runs_fewer_generations_along_the_same_path():
    space = SearchSpace.of(12)
    whole = run(Genetic(10, 20), xor_like, space, 1)
    part = run(Genetic(10, 20).shortened(0.5), xor_like, space, 1)
    assert part.n_steps == 11
    for a, b in zip(part.steps, whole.steps, strict=False):
        assert np.array_equal(a.mask, b.mask)


def test_a_space_with_one_unit_or_a_start():
    assert run(Genetic(4, 3), lambda m: m.sum(axis=1) * 1.0, SearchSpace.of(1)).best.tolist() == [True]


@pytest.mark.parametrize("wrong", [{"crossover": "x"}, {"selection": "x"}, {"answer": "x"}, {"population": 1}])
def test_unknown_words_are_refused(wrong):
    with pytest.raises(InputError):
        run(Genetic(**wrong), xor_like, SearchSpace.of(12))
