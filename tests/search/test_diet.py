import numpy as np
import pytest

from fewer.contracts import Objective, Resources, Run, SearchSpace
from fewer.contracts.trace import Trace
from fewer.criteria import KNN
from fewer.search import DIET
from fewer.search._sequential import middle
from making import make_problem
from scorers import Additive, search_on


def run(problem, space, trace=None, on_step=None):
    return Run(
        KNN(),
        problem,
        DIET(),
        space,
        np.random.default_rng(0),
        resources=Resources(),
        trace=Trace() if trace is None else trace,
        follower=on_step,
    ).under(None)


def slow_diet(problem, levels):
    """Try every neighbor one after the other, smaller weights and earlier features first."""
    space = SearchSpace.of(problem.n_features, weight_levels=levels)
    score = lambda w: Objective(  # noqa: E731
        KNN().bind(problem, np.random.default_rng(0), Resources()), space
    ).score(np.asarray(w, dtype=space.dtype)[None])[0]
    weights = [((levels + 1) // 2) / levels] * problem.n_features
    now = score(weights)
    path = [tuple(weights)]
    while True:
        best, where = now, None
        for step in (-1, 1):
            for i in range(problem.n_features):
                value = (round(weights[i] * levels) + step) / levels
                if 0 <= value <= 1:
                    neighbor = [*weights[:i], value, *weights[i + 1 :]]
                    if any(neighbor) and score(neighbor) > best:
                        best, where = score(neighbor), neighbor
        if where is None:
            return path, now
        weights, now = where, best
        path.append(tuple(weights))


@pytest.mark.parametrize("levels", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_path_is_that_of_the_slow_twin(levels, seed):
    problem = make_problem(n_rows=40, n_features=5, seed=seed)
    trace = run(problem, SearchSpace.of(5, weight_levels=levels))
    path, score = slow_diet(problem, levels)
    assert [tuple(step.mask.astype(float)) for step in trace.steps] == path
    assert trace.best_score == score
    assert trace.done


def test_middle_and_sizes():
    assert middle(SearchSpace.of(3, weight_levels=4)).tolist() == [0.5] * 3
    assert middle(SearchSpace.of(2, weight_levels=3)).tolist() == [2 / 3] * 2
    assert middle(SearchSpace.of(2, weight_levels=2)).tolist() == [0.5] * 2
    assert middle(SearchSpace.of(3)).tolist() == [True] * 3
    problem = make_problem(n_features=6)
    best = run(problem, SearchSpace.of(6, sizes=(2, 3), weight_levels=4)).best
    assert 2 <= np.count_nonzero(best) <= 3


def test_interrupted_and_resumed_ends_the_same(tmp_path):
    problem, space = make_problem(n_rows=50, n_features=7, seed=3), SearchSpace.of(7, weight_levels=4)
    whole = run(problem, space)
    assert whole.n_steps > 2

    def stop(trace):
        if trace.n_steps == 2:
            trace.save(tmp_path / "t.npz")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(problem, space, on_step=stop)
    again = run(problem, space, Trace.load(tmp_path / "t.npz"))
    assert np.array_equal(again.best, whole.best)
    assert again.n_evaluations == whole.n_evaluations


def test_weights_may_grow_where_no_further_unit_may_enter():
    trace = search_on(Additive([1.0, 2.0, 4.0, -1.0]), DIET(), 4, sizes=(2, 2), weight_levels=2)
    assert trace.steps[0].mask.tolist() == [0.5, 0.5, 0.0, 0.0]
    assert trace.best.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_a_unit_leaves_only_where_enough_stay():
    gains = [-1.0, -2.0, -4.0, -8.0]
    assert search_on(Additive(gains), DIET(), 4, sizes=(0, 4), weight_levels=2).best.tolist() == [0.0] * 4
    assert search_on(Additive(gains), DIET(), 4, sizes=(2, 4), weight_levels=2).best.tolist() == [0.5, 0.5, 0.0, 0.0]
    assert search_on(Additive([1.0, 1.0, 1.0]), DIET(), 3, weight_levels=4).best.tolist() == [1.0] * 3


def test_every_gain_must_be_larger_than_the_least():
    trace = search_on(Additive([0.5, 0.25]), DIET(min_gain=0.125), 2, weight_levels=2)
    assert trace.best.tolist() == [1.0, 0.5]  # half of 0.25 is no more than that
