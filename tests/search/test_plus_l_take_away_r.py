from dataclasses import replace

import numpy as np
import pytest

from analytic import assert_same, run, run_interrupted
from fewer.contracts import SearchSpace
from fewer.problem import InputError
from fewer.search import Backward, Forward, PlusLTakeAwayR


def twin(function, p, plus, minus, size):
    """Ten obvious lines: the same walk with plain loops, climbing to a size."""
    mask, visited = np.zeros(p, dtype=bool), []

    def move(value):
        candidates = [f for f in range(p) if mask[f] != value]
        masks = np.array([np.where(np.arange(p) == f, value, mask) for f in candidates])
        mask[candidates[int(np.argmax(np.round(function(masks), 9)))]] = value
        visited.append(mask.copy())

    while mask.sum() < size:
        for _ in range(plus):
            if not mask.all():
                move(True)
        full = mask.all()
        for _ in range(minus):
            move(False)
        if full:
            break
    allowed = [m for m in visited if m.sum() == size]
    return max(float(function(m[None])[0]) for m in allowed)


def rugged(masks):
    rng = np.random.default_rng(8)
    quadratic = rng.normal(size=(10, 10))
    used = (np.asarray(masks) != 0).astype(float)
    return np.einsum("mi,ij,mj->m", used, quadratic, used)


@pytest.mark.parametrize(("plus", "minus", "size"), [(2, 1, 5), (3, 1, 4), (3, 2, 6), (5, 3, 3), (1000, 3, 8)])
def test_it_walks_as_its_slow_twin(plus, minus, size):
    trace = run(PlusLTakeAwayR(plus, minus), rugged, SearchSpace.of(10, sizes=(size, size)))
    assert trace.best.sum() == size
    assert trace.best_score == pytest.approx(twin(rugged, 10, plus, minus, size))


def test_with_nothing_taken_away_it_is_forward_and_backward():
    space = SearchSpace.of(10, sizes=(4, 4))
    forward = run(Forward(), rugged, space)
    assert np.array_equal(run(PlusLTakeAwayR(1, 0), rugged, space).best, forward.best)
    backward = run(Backward(), rugged, space)
    assert np.array_equal(run(PlusLTakeAwayR(0, 1), rugged, space).best, backward.best)


@pytest.mark.parametrize(("many", "all_units"), [((10**9, 2), (10, 2)), ((2, 10**9), (2, 10))])
def test_more_moves_than_units_are_as_many_as_units(many, all_units):
    space = SearchSpace.of(10)
    assert_same(run(PlusLTakeAwayR(*many), rugged, space), run(PlusLTakeAwayR(*all_units), rugged, space))


def test_it_escapes_a_nested_trap():
    """The best single unit is not in the best pair: taking away repairs it."""
    value = {(0,): 0.5, (1,): 0.4, (2,): 0.4, (0, 1): 0.6, (0, 2): 0.6, (1, 2): 1.0, (0, 1, 2): 0.9, (): 0.0}

    def function(masks):
        return np.array([value[tuple(np.flatnonzero(mask).tolist())] for mask in masks])

    space = SearchSpace.of(3, sizes=(2, 2))
    assert run(Forward(), function, space).best_score == pytest.approx(0.6)
    assert run(PlusLTakeAwayR(3, 1), function, space).best_score == pytest.approx(1.0)


@pytest.mark.parametrize("numbers", [(2, 1), (1, 2)])
def test_it_goes_on_after_an_interruption(tmp_path, numbers):
    space = SearchSpace.of(10)
    whole = run(PlusLTakeAwayR(*numbers), rugged, space)
    for after in (2, 5):
        again = run_interrupted(PlusLTakeAwayR(*numbers), rugged, space, 0, after, tmp_path / "trace")
        assert_same(whole, again)


def test_equal_numbers_are_refused():
    with pytest.raises(InputError, match="different"):
        run(PlusLTakeAwayR(2, 2), rugged, SearchSpace.of(10))


@pytest.mark.parametrize(("plus", "minus", "sizes"), [(2, 1, [3, 4, 5, 4]), (1, 2, [3, 2, 1, 2])])
def test_from_a_start_the_first_move_is_in_the_direction_of_the_walk(plus, minus, sizes):
    start = np.isin(np.arange(10), [0, 1, 2])
    trace = run(PlusLTakeAwayR(plus, minus), rugged, replace(SearchSpace.of(10, sizes=(1, 9)), start=start))
    assert [int(step.mask.sum()) for step in trace.steps][:4] == sizes
