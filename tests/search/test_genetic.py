import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytic import OPTIMA, Analytic, assert_same, run, run_interrupted, xor_like
from fewer.contracts import Objective, SearchSpace
from fewer.problem import InputError
from fewer.search import Genetic
from fewer.search._evolution import crossed, roulette


@pytest.mark.parametrize(("function", "p", "optimum"), OPTIMA)
def test_it_reaches_known_optima_in_38_of_40_seeds(function, p, optimum):
    search = Genetic(patience=25)
    hits = sum(run(search, function, SearchSpace.of(p), seed).best_score >= optimum - 1e-9 for seed in range(40))
    assert hits >= 38


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


@pytest.mark.parametrize(("mutation", "expected"), [("auto", 1.0), (0.25, 2.5), (0.0, 0.0), (1.0, 10.0)])
def test_units_change_at_the_rate_of_mutation(mutation, expected):
    """Parents are alike, so that crossing them changes nothing; by itself, one unit in a child changes."""
    search, space = Genetic(population=2000, mutation=mutation), SearchSpace.of(10, sizes=(0, 10))
    parents = np.tile(np.arange(10) % 2 == 0, (5, 1))
    children = search._breed(parents, np.ones(5), space, np.random.default_rng(0))
    assert children.shape == (2000, 10)
    assert (children != parents[0]).sum(axis=1).mean() == pytest.approx(expected, abs=0.12)


def test_changed_weights_are_any_other_level():
    search, space = Genetic(population=600, mutation=1.0), SearchSpace.of(3, sizes=(0, 3), weight_levels=3)
    parents = np.tile([0.0, 1 / 3, 1.0], (4, 1))
    children = search._breed(parents, np.ones(4), space, np.random.default_rng(0))
    for column, own in enumerate(parents[0]):
        others = [level for level in (0.0, 1 / 3, 2 / 3, 1.0) if level != own]
        assert np.unique(children[:, column]) == pytest.approx(others)


@pytest.mark.parametrize(("elitism", "n"), [(0.0, 0), (0.01, 1), (0.5, 10), (0.99, 19)])
def test_so_many_of_the_best_live_on(elitism, n):
    assert Genetic(population=20, elitism=elitism, selection="roulette")._n_elite() == n
    assert Genetic(population=20, elitism=elitism)._n_elite() == 0


def test_the_best_distinct_members_and_children_survive():
    members = np.array([[1, 0, 0], [0, 1, 0]], dtype=bool)
    children = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1]], dtype=bool)
    space = SearchSpace.of(3)
    objective = Objective(Analytic(lambda m: m @ np.array([1.0, 2.0, 4.0])), space)
    kept, scores = Genetic(population=2)._survive(members, np.array([1.0, 2.0]), children, objective)
    assert kept.tolist() == [[False, False, True], [True, True, False]]
    assert scores.tolist() == [4.0, 3.0]
    search = Genetic(population=4, elitism=0.25, selection="roulette")
    kept, scores = search._survive(members, np.array([1.0, 2.0]), children, objective)
    assert kept[0].tolist() == [False, True, False]
    assert scores.tolist() == [2.0, 3.0, 1.0, 4.0]
