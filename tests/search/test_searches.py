"""Searches on scorers whose answers are known."""

from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest

from fewer.contracts import IncompatibleError, Objective, Scorer, SearchSpace
from fewer.search import Annealing, Backward, Exhaustive, Floating, Forward
from fewer.search._exhaustive import combination_block
from fewer.trace import Trace


class Table(Scorer):
    """A score for every subset, drawn once."""

    def __init__(self, p, seed=0, values=None):
        self.scores = np.random.default_rng(seed).random(2**p) if values is None else values
        self.powers = 2 ** np.arange(p)

    def score(self, masks):
        return self.scores[masks.astype(int) @ self.powers]


class Additive(Scorer):
    def __init__(self, gains):
        self.gains = np.asarray(gains)

    def score(self, masks):
        return masks @ self.gains


def search_on(scorer, search, p, trace=None, seed=0, **space):
    layout = SearchSpace.of(p, **space)
    return search.run(Objective(scorer, layout), layout, np.random.default_rng(seed), None, trace)


def columns(trace):
    return np.flatnonzero(trace.best).tolist()


@pytest.mark.parametrize("sizes", [None, (2, 3), (3, 3), (1, 7)])
@pytest.mark.parametrize("seed", range(3))
def test_exhaustive_finds_the_best_of_all_subsets(seed, sizes):
    scorer = Table(7, seed)
    low, high = sizes or (1, 7)
    subsets = [c for size in range(low, high + 1) for c in combinations(range(7), size)]
    truth = max(subsets, key=lambda c: scorer.scores[sum(2**i for i in c)])
    trace = search_on(scorer, Exhaustive(), 7, sizes=sizes)
    assert columns(trace) == list(truth)
    assert trace.n_evaluations == len(subsets)


def test_exhaustive_of_few_among_many_counts_combinations_only():
    gains = np.zeros(40)
    gains[[7, 23]] = 1.0
    trace = search_on(Additive(gains), Exhaustive(), 40, sizes=(1, 2))
    assert columns(trace) == [7, 23]
    assert trace.n_evaluations == 40 + comb(40, 2)


def test_exhaustive_refuses_the_hopeless():
    with pytest.raises(IncompatibleError, match="subsets of 60 features are too many"):
        search_on(Additive(np.ones(60)), Exhaustive(), 60)


def test_combination_blocks_are_the_combinations_in_order():
    truth = [c for size in (2, 3) for c in combinations(range(6), size)]
    for start in range(0, len(truth), 4):
        stop = min(start + 4, len(truth))
        block = combination_block(6, 2, start, stop)
        assert [tuple(np.flatnonzero(mask)) for mask in block] == truth[start:stop]


def test_forward_takes_gains_above_epsilon_in_order():
    gains = [0.3, 0.05, 0.2, -0.1, 0.3]
    assert columns(search_on(Additive(gains), Forward(), 5)) == [0, 1, 2, 4]
    assert columns(search_on(Additive(gains), Forward(min_gain=0.05), 5)) == [0, 2, 4]
    steps = search_on(Additive(gains), Forward(), 5).steps
    assert [np.flatnonzero(b.mask & ~a.mask)[0] for a, b in pairwise(steps)] == [0, 4, 2, 1]
    assert columns(search_on(Additive(gains), Forward(), 5, sizes=(5, 5))) == [0, 1, 2, 3, 4]
    assert columns(search_on(Additive(gains), Forward(None), 5)) == [0, 1, 2, 4]


def test_backward_drops_what_is_not_missed():
    gains = [0.3, 0.0, 0.2, -0.1, 0.01]
    assert columns(search_on(Additive(gains), Backward(), 5)) == [0, 2, 4]
    assert columns(search_on(Additive(gains), Backward(min_gain=1e-9), 5)) == [0, 1, 2, 4]
    assert columns(search_on(Additive(gains), Backward(min_gain=-0.05), 5)) == [0, 2]
    assert columns(search_on(Additive(gains), Backward(None), 5)) == [0, 2, 4]


def nested_trap():
    """The best single feature (0) is in no best pair: only floating search gets rid of it."""
    values = np.zeros(16)
    best = {(0,): 0.5, (1,): 0.4, (2,): 0.3, (0, 1): 0.55, (0, 2): 0.54, (1, 2): 0.8, (0, 1, 2): 0.7, (1, 2, 3): 0.9}
    for subset, score in best.items():
        values[sum(2**i for i in subset)] = score
    return Table(4, values=values)


def test_floating_escapes_the_trap_that_holds_forward():
    assert columns(search_on(nested_trap(), Forward(), 4)) == [0, 1, 2]
    assert columns(search_on(nested_trap(), Floating(), 4)) == [1, 2, 3]
    assert columns(search_on(nested_trap(), Floating(), 4, sizes=(2, 2))) == [1, 2]


def plain_sffs(scores, p):
    """Pudil's algorithm as ten obvious lines: the best subset of each size after a run to the full set."""
    value = lambda subset: scores[sum(2**i for i in subset)]  # noqa: E731
    current, best = frozenset(), {}
    while len(current) < p:
        added = max(sorted(set(range(p)) - current), key=lambda f: value(current | {f}))
        current = current | {added}
        best[len(current)] = max(best.get(len(current), -1.0), value(current))
        while len(current) > 2 and len(current) < p:
            dropped = max(sorted(current), key=lambda f: value(current - {f}))
            if dropped == added or value(current - {dropped}) <= best.get(len(current) - 1, -1.0):
                break
            current, added = current - {dropped}, -1
            best[len(current)] = value(current)
    return best


@pytest.mark.parametrize("seed", range(10))
def test_floating_equals_the_obvious_algorithm(seed):
    scorer = Table(6, seed)
    trace = search_on(scorer, Floating(overshoot=6), 6)
    assert trace.best_score == pytest.approx(max(plain_sffs(scorer.scores, 6).values()))
    assert {i: r for i, r in enumerate(trace.state["records"]) if i} == pytest.approx(plain_sffs(scorer.scores, 6))


@pytest.mark.parametrize("seed", range(5))
def test_backward_floating_mirrors_forward_floating(seed):
    scorer = Table(6, seed)
    mirrored = Table(6, values=scorer.scores[::-1].copy())
    forward = search_on(scorer, Floating(overshoot=6), 6, sizes=(0, 6))
    backward = search_on(mirrored, Floating("backward", overshoot=6), 6, sizes=(0, 6))
    assert np.allclose(forward.state["records"], backward.state["records"][::-1])


@pytest.mark.parametrize("exhaust", [2, 3, 7])
def test_floating_scores_all_small_subsets_first(exhaust):
    for seed in range(5):
        scorer = Table(7, seed)
        trace = search_on(scorer, Floating(exhaust=exhaust), 7)
        for size in range(1, exhaust + 1):
            masks = np.array([np.isin(np.arange(7), c) for c in combinations(range(7), size)])
            step = trace.steps[size]
            assert step.mask.sum() == size
            assert step.score == pytest.approx(scorer.score(masks).max(), abs=1e-9)
        assert trace.n_evaluations >= sum(comb(7, size) for size in range(exhaust + 1))
    together = Table(7, values=np.array([1.0 if mask & 5 == 5 else 0.0 for mask in range(128)]))
    assert columns(search_on(together, Floating(exhaust=2), 7)) == [0, 2]


@pytest.mark.parametrize("levels", [1, 4])
def test_annealing_finds_an_additive_optimum(levels):
    gains = np.array([0.3, -0.2, 0.1, -0.1, 0.25, 0.05, -0.3, 0.2])
    found = [search_on(Additive(gains), Annealing(levels=40), 8, seed=s, weight_levels=levels) for s in range(20)]
    assert sum(bool(np.array_equal(trace.best > 0, gains > 0)) for trace in found) >= 19


def test_annealing_acceptance_follows_the_temperature():
    worse = Additive(np.array([-0.02]))
    space = SearchSpace.of(1, sizes=(0, 1))
    search = Annealing(t0=15.0, levels=1, effort=3000, max_tries=None)
    trace = search.run(Objective(worse, space), space, np.random.default_rng(0))
    assert trace.n_evaluations > 3000
    walk = [step.mask.sum() for step in trace.steps]
    assert len(walk) == 2
    shortened = search.shortened(0.1)
    assert shortened.effort == pytest.approx(300)
    assert search.effort == 3000


def test_annealing_with_one_size_exchanges_units():
    gains = np.array([0.1, 0.9, 0.2, 0.8, 0.3])
    trace = search_on(Additive(gains), Annealing(levels=20), 5, sizes=(2, 2))
    assert columns(trace) == [1, 3]
    assert all(step.mask.sum() == 2 for step in trace.steps)
    assert columns(search_on(Additive(gains), Annealing(levels=2), 5, sizes=(5, 5))) == [0, 1, 2, 3, 4]


def test_final_answer_is_where_the_search_ends():
    trace = search_on(Table(5, 1), Annealing(levels=3, answer="final"), 5)
    assert np.array_equal(trace.best, trace.steps[-1].mask)


@pytest.mark.parametrize(
    "search",
    [
        Exhaustive(),
        Forward(None),
        Backward(None),
        Floating(),
        Floating(exhaust=3),
        Floating("backward"),
        Annealing(levels=12),
    ],
)
def test_a_run_resumed_after_any_step_ends_as_if_never_stopped(search, tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.search._exhaustive.PATIENCE", 0.0)
    scorer = Table(8, 2)
    whole = search_on(scorer, search, 8)
    for after in range(1, whole.n_steps, max(1, whole.n_steps // 5)):
        trace = Trace()
        layout = SearchSpace.of(8)

        def stop(trace, after=after):
            if trace.n_steps == after:
                trace.save(tmp_path / "trace.npz")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            search.run(Objective(scorer, layout), layout, np.random.default_rng(0), stop, trace)
        again = search_on(scorer, search, 8, trace=Trace.load(tmp_path / "trace.npz"), seed=77)
        assert np.array_equal(again.best, whole.best)
        assert again.best_score == whole.best_score
        assert again.n_evaluations == whole.n_evaluations
        assert np.array_equal(again.top_masks, whole.top_masks)
        assert again.done
        assert search_on(scorer, search, 8, trace=again) is again
