import numpy as np
import pytest

from fewer.contracts import Criterion, IncompatibleError, Resources, Run, SearchSpace
from fewer.contracts._run import refuse_unmet_needs
from fewer.problem import Problem
from fewer.search import Exhaustive, Forward
from making import make_problem
from scorers import Additive


class Gains(Criterion):
    """Counts how often it is bound."""

    bound = 0

    def bind(self, problem, rng, resources):
        self.bound += 1
        return Additive(np.arange(1.0, problem.n_features + 1.0))


def a_run(problem=None, **changes):
    problem = make_problem() if problem is None else problem
    given = {"criterion": Gains(), "search": Forward(), "space": SearchSpace.of(6), **changes}
    return Run(
        given.pop("criterion"), problem, given.pop("search"), given.pop("space"), np.random.default_rng(0), **given
    )


def test_the_criterion_is_bound_once():
    run = a_run()
    assert not run.is_bound
    assert run.scorer is run.scorer
    assert run.is_bound
    assert run.criterion.bound == 1


def test_part_of_the_rows_has_a_trace_and_a_scorer_of_its_own():
    told = []
    run = a_run(follower=told.append)
    _ = run.scorer
    part = run.on(np.arange(10), np.random.default_rng(1))
    assert part.problem.n_samples == 10
    assert part.trace is not run.trace
    assert part.follower is None
    assert not part.is_bound
    run.tell()
    part.tell()
    assert told == [run.trace]


def test_constant_columns_are_set_aside_before_the_search():
    X = np.random.default_rng(0).normal(size=(20, 6))
    X[:, 5] = 1.0
    trace = a_run(Problem.from_arrays(X, np.arange(20) % 2)).under(None)
    assert np.flatnonzero(trace.best).tolist() == [0, 1, 2, 3, 4]


def test_a_shipped_run_takes_its_share_of_the_memory():
    run = a_run(resources=Resources(n_jobs=4, memory=400))
    assert run.shipped().resources == Resources(1, 100)


def test_an_interrupted_run_is_marked():
    run = a_run()
    with pytest.raises(KeyboardInterrupt), run.trace.finishing():
        raise KeyboardInterrupt
    assert run.trace.interrupted
    assert not run.trace.done
    with run.trace.finishing():
        pass
    assert run.trace.done
    assert not run.trace.interrupted


def test_a_start_is_refused_by_a_search_with_an_order_of_its_own():
    from dataclasses import replace

    space = replace(SearchSpace.of(6), start=np.ones(6, dtype=bool))
    with pytest.raises(IncompatibleError, match="Exhaustive visits subsets in its own order"):
        refuse_unmet_needs(Gains(), Exhaustive(), None, space, make_problem())
    refuse_unmet_needs(Gains(), Forward(), None, space, make_problem())


def test_several_targets_are_refused_in_one_sentence():
    y = np.column_stack([np.arange(20.0), np.arange(20.0) ** 2])
    problem = Problem.from_arrays(np.random.default_rng(0).normal(size=(20, 6)), y, task="regression")
    with pytest.raises(IncompatibleError, match="Gains works with one target, but there are 2"):
        refuse_unmet_needs(Gains(), Forward(), None, SearchSpace.of(6), problem)
