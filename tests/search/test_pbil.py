from dataclasses import replace

import numpy as np
import pytest

from analytic import OPTIMA, additive, assert_same, run, run_interrupted, xor_like
from fewer.contracts import SearchSpace
from fewer.problem import InputError
from fewer.search import PBIL
from fewer.search._evolution import _start


@pytest.mark.parametrize(("function", "p", "optimum"), OPTIMA)
def test_it_reaches_known_optima_in_38_of_40_seeds(function, p, optimum):
    search = PBIL(runs=1 if function is additive else 5)
    hits = sum(run(search, function, SearchSpace.of(p), seed).best_score >= optimum - 1e-9 for seed in range(40))
    assert hits >= 38


def test_one_seed_one_run_also_across_an_interruption(tmp_path):
    space = SearchSpace.of(12, sizes=(3, 8))
    search = PBIL(population=10, generations=5, runs=2, mutation=0.1)
    whole = run(search, xor_like, space, 5)
    assert_same(whole, run(search, xor_like, space, 5))
    for after in (3, 5, 7):
        again = run_interrupted(search, xor_like, space, 5, after, tmp_path / "trace")
        assert_same(whole, again)
        assert np.array_equal(whole.state["history"], again.state["history"])


def test_the_chances_move_as_the_thesis_says():
    """P(i) <- P(i)(1 - rate) + best(i) rate, from 0.5: the thesis's example gives 0.55 and 0.45."""
    space = SearchSpace.of(4, sizes=(2, 2))
    trace = run(PBIL(population=200, generations=2, runs=1), lambda m: m @ np.array([1.0, 1.0, 0.0, 0.0]), space)
    assert trace.state["history"][0] == pytest.approx([0.55, 0.55, 0.45, 0.45])
    assert trace.state["history"][1] == pytest.approx([0.595, 0.595, 0.405, 0.405])


def test_a_settled_vector_ends_a_run():
    space = SearchSpace.of(5)
    trace = run(PBIL(population=50, generations=1000, runs=1, rate=0.5), lambda m: m @ np.ones(5), space)
    assert trace.n_steps < 20
    last = trace.state["history"][-1]
    assert np.all((last < 0.05) | (last > 0.95))


def test_the_penalty_takes_out_features_that_earn_little():
    gains = np.array([1.0, 0.5, 0.05, 0.01])
    space = SearchSpace.of(4)
    assert run(PBIL(), lambda m: m @ gains, space).best.tolist() == [True] * 4
    trace = run(PBIL(penalty=0.1), lambda m: m @ gains, space)
    assert trace.best.tolist() == [True, True, False, False]
    assert trace.best_score == pytest.approx(1.5)


def test_sizes_and_groups_are_kept():
    seen = []

    def remember(masks):
        seen.append(masks)
        return masks.sum(axis=1) * -1.0

    space = SearchSpace.of(8, sizes=(3, 4), groups=[[0, 1]], include=[7])
    run(PBIL(10, 5, runs=1), remember, space)
    masks = np.concatenate(seen)
    assert masks[:, 7].all()
    assert np.array_equal(masks[:, 0], masks[:, 1])
    assert set(masks[:, 1:].sum(axis=1)) <= {3, 4}


def test_shortened_runs_fewer_generations():
    assert PBIL(generations=100).shortened(0.3).generations == 30


def test_wrong_numbers_are_refused():
    for wrong in ({"rate": 0.0}, {"population": 0}, {"runs": 0}):
        with pytest.raises(InputError):
            run(PBIL(**wrong), xor_like, SearchSpace.of(12))


def test_chances_move_toward_the_winner_and_mutate_toward_either_side():
    space = SearchSpace.of(4, sizes=(0, 4))
    moved = run(
        PBIL(population=30, generations=1, runs=1, rate=0.2, mutation=0.0), lambda m: m @ [1, 1, -1, -1.0], space
    )
    winner = moved.steps[0].mask.astype(float)
    assert moved.state["history"][0] == pytest.approx(0.5 * 0.8 + 0.2 * winner)
    pushed = run(
        PBIL(population=30, generations=1, runs=1, rate=0.2, mutation=1.0), lambda m: m @ [1, 1, -1, -1.0], space
    )
    plain = 0.5 * 0.8 + 0.2 * pushed.steps[0].mask
    shares = (pushed.state["history"][0] - 0.95 * plain) / 0.05
    assert np.isin(np.round(shares, 9), [0.0, 1.0]).all()


def test_a_start_leans_and_every_run_begins_anew():
    space = replace(SearchSpace.of(3), start=np.array([True, False, True]))
    assert _start(space).tolist() == [0.7, 0.3, 0.7]
    assert _start(SearchSpace.of(3)).tolist() == [0.5, 0.5, 0.5]
    found = run(
        PBIL(population=5, generations=3, runs=2, rate=0.01, mutation=0.0), lambda m: m.sum(axis=1) * 1.0, space
    )
    assert found.n_steps == 6
    history = found.state["history"]
    assert np.abs(history[3] - [0.7, 0.3, 0.7]).max() <= 0.01
