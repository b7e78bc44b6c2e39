from itertools import combinations
from math import comb

import numpy as np
import pytest

from analytic import run
from fewer.contracts import SearchSpace
from fewer.control._ranking import order_scores
from fewer.search import Floating, Forward
from scorers import Additive, Table, columns, search_on


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


def sizes_seen(trace):
    return {int(step.mask.sum()) for step in trace.steps}


@pytest.mark.parametrize("overshoot", [1, 2, 3])
def test_the_search_ends_exactly_so_many_sizes_past_the_best(overshoot):
    """Gains add up, so floating never steps back: two features forward, four features backward are the best."""
    forward = search_on(Additive([1.0, 0.5, -0.1, -0.2, -0.3, -0.4, -0.5]), Floating(overshoot=overshoot), 7)
    assert columns(forward) == [0, 1]
    assert sizes_seen(forward) == set(range(2 + overshoot + 1))
    backward = search_on(
        Additive([1.0, 0.9, 0.8, 0.7, -0.1, -0.2]), Floating("backward", overshoot=overshoot), 6, sizes=(0, 6)
    )
    assert columns(backward) == [0, 1, 2, 3]
    assert sizes_seen(backward) == set(range(4 - overshoot, 7))


@pytest.mark.parametrize("overshoot", [0, 2])
def test_the_size_asked_for_is_what_is_passed(overshoot):
    trace = search_on(Additive([0.6, 0.5, 0.4, 0.3, 0.2, 0.1]), Floating(overshoot=overshoot), 6, sizes=(2, 2))
    assert columns(trace) == [0, 1]
    assert max(sizes_seen(trace)) == 2 + overshoot


def test_features_that_it_takes_earlier_rank_higher():
    assert Floating.ordered  # a control that ranks by a search reads the order in which units came
    gains = np.array([1.0, 4.0, 2.0, 3.0])
    trace = run(Floating(), lambda masks: masks @ gains, SearchSpace.of(4))
    assert np.argsort(-order_scores(trace, Floating.ordered), kind="stable").tolist() == [1, 3, 2, 0]
