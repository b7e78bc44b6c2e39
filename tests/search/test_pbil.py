import numpy as np
import pytest

from fewer.contracts import Scorer, SearchSpace
from fewer.objective import Objective
from fewer.problem import InputError
from fewer.search import PBIL
from fewer.trace import Trace


class Analytic(Scorer):
    """A scorer with a known optimum."""

    def __init__(self, function):
        self.function = function

    def score(self, masks):
        return self.function(np.asarray(masks))


GAINS = np.random.default_rng(3).normal(size=20)


def additive(masks):
    return masks @ GAINS


def deceptive(masks):
    """Three traps of four: fewer looks better, all four are best."""
    counts = (masks != 0).reshape(len(masks), 3, 4).sum(axis=2)
    return np.where(counts == 4, 1.0, 0.2 * (3 - counts)).sum(axis=1)


def xor_like(masks):
    """Three pairs that help only together; every unit costs a little."""
    used = masks != 0
    return sum(used[:, i] & used[:, i + 6] for i in range(3)) - 0.1 * used.sum(axis=1)


OPTIMA = [
    (additive, 20, GAINS[GAINS > 0].sum()),
    (deceptive, 12, 3.0),
    (xor_like, 12, 2.4),
]


def run(search, function, space, seed=0, **kwargs):
    return search.run(Objective(Analytic(function), space), space, np.random.default_rng(seed), **kwargs)


class _Stop(Exception):
    pass


def run_interrupted(search, function, space, seed, after, path):
    """Stop after some steps, save, load, go on."""

    def stop(trace):
        if trace.n_steps == after:
            trace.save(path)
            raise _Stop

    with pytest.raises(_Stop):
        run(search, function, space, seed, on_step=stop)
    return run(search, function, space, seed, trace=Trace.load(path))


def assert_same(one, other):
    assert one.n_steps == other.n_steps
    assert one.n_evaluations == other.n_evaluations
    for a, b in zip(one.steps, other.steps, strict=True):
        assert np.array_equal(a.mask, b.mask)
        assert np.array_equal(a.best, b.best)
        assert (a.score, a.best_score) == (b.score, b.best_score)
    assert np.array_equal(one.top_masks, other.top_masks)


@pytest.mark.parametrize(("function", "p", "optimum"), OPTIMA)
def test_it_reaches_known_optima_in_95_of_100_seeds(function, p, optimum):
    search = PBIL(runs=1 if function is additive else 5)
    hits = sum(run(search, function, SearchSpace.of(p), seed).best_score >= optimum - 1e-9 for seed in range(100))
    assert hits >= 95


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
