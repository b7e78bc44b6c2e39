import numpy as np
import pytest

from fewer.contracts import Criterion, Ranker, Ranking, Run, SearchSpace
from fewer.control import Aggregate, EarlyStopping, Prefilter
from fewer.control._prefilter import add_innermost
from fewer.errors import InputError
from fewer.search import Forward
from making import make_problem
from scorers import Additive


class InThisOrder(Ranker):
    def __init__(self, order):
        self.order = order

    def rank(self, problem, rng, resources):
        order = np.array(self.order)
        return Ranking(-np.argsort(order).astype(float), order)


class Gains(Criterion):
    """Every column helps, the later ones more."""

    def bind(self, problem, rng, resources):
        return Additive(np.arange(1.0, problem.n_features + 1.0))


def run_under(control, **space):
    problem = make_problem(n_features=6)
    layout = SearchSpace.of(6, **space)
    return Run(Gains(), problem, Forward(), layout, np.random.default_rng(0)).under(control)


@pytest.mark.parametrize("keep", [1, 2, 4])
def test_exactly_the_best_ranked_stay(keep):
    trace = run_under(Prefilter(InThisOrder([3, 0, 5, 1, 2, 4]), keep=keep))
    assert np.flatnonzero(trace.best).tolist() == sorted([3, 0, 5, 1][:keep])
    assert trace.notes == [f"InThisOrder kept {keep} of 6 features for the search."]


def test_nothing_is_noted_where_all_stay():
    trace = run_under(Prefilter(InThisOrder(range(6)), keep=6))
    assert trace.best.all()
    assert trace.notes == []


def test_a_group_of_columns_ranks_with_its_best():
    """The group holds the first and the last of the ranking, and so stands before the columns in between."""
    groups = [[2, 4]]
    order = [2, 0, 1, 3, 5, 4]
    trace = run_under(Prefilter(InThisOrder(order), keep=1), groups=groups)
    assert np.flatnonzero(trace.best).tolist() == [2, 4]
    trace = run_under(Prefilter(InThisOrder([0, 1, 2, 3, 5, 4]), keep=2), groups=groups)
    assert np.flatnonzero(trace.best).tolist() == [0, 1]


def test_the_search_may_begin_from_the_very_best():
    steps = run_under(Prefilter(InThisOrder([3, 0, 5, 1, 2, 4]), keep=4, start=2)).steps
    assert np.flatnonzero(steps[0].mask).size == 2
    assert steps[0].score == 4.0 + 1.0


def test_it_keeps_no_fewer_than_are_asked_for():
    assert run_under(Prefilter(InThisOrder(range(6)), keep=3), sizes=(3, 3)).best[:3].all()
    with pytest.raises(InputError, match="keeps 2 features, but 3 are asked for; raise keep"):
        run_under(Prefilter(InThisOrder(range(6)), keep=2), sizes=(3, 3))


def test_a_control_can_be_put_innermost():
    inner = Prefilter(InThisOrder(range(6)))
    assert add_innermost(None, inner) is inner
    outer = Aggregate(control=EarlyStopping())
    both = add_innermost(outer, inner)
    assert both.control.control is inner
    assert outer.control.control is None
