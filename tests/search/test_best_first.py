"""Best-first search against the published procedure written plainly, and on problems with known answers."""

import numpy as np
import pytest

from fewer import SubsetSelector
from fewer.contracts import Objective, Scorer, SearchSpace
from fewer.contracts.trace import Trace
from fewer.criteria import Classifiability
from fewer.datasets import load
from fewer.problem import InputError
from fewer.search import BestFirst, Forward


class Table(Scorer):
    """A score for every subset, drawn once."""

    def __init__(self, p, seed=0, smooth=0.0):
        rng = np.random.default_rng(seed)
        masks = (np.arange(2**p)[:, None] >> np.arange(p)) & 1
        self.scores = rng.random(2**p) + smooth * masks @ rng.normal(size=p)
        self.powers = 2 ** np.arange(p)

    def score(self, masks):
        return self.scores[masks.astype(int) @ self.powers]


class Function(Scorer):
    def __init__(self, function):
        self.function = function

    def score(self, masks):
        return np.array([self.function(mask.astype(bool)) for mask in masks], dtype=float)


def search_on(scorer, search, p, trace=None, on_step=None, **space):
    layout = SearchSpace.of(p, **space)
    return search.run(Objective(scorer, layout), layout, np.random.default_rng(0), on_step, trace)


def columns(trace):
    return np.flatnonzero(trace.best).tolist()


def neighbors(subset, p):
    return [subset ^ {f} for f in range(p)]


def plain_hill_climbing(value, p):
    """Kohavi & John, Table 2: move to the best child while it is better."""
    current = max((frozenset({f}) for f in range(p)), key=value)
    while True:
        best = max((child for child in neighbors(current, p) if child), key=value)
        if value(best) <= value(current):
            return current
        current = best


def plain_best_first(value, p, patience):
    """Kohavi & John, Table 4: expand the best open node; stop after so many expansions without improvement."""
    best = max((frozenset({f}) for f in range(p)), key=value)
    opened, closed, idle = {frozenset({f}) for f in range(p)}, {frozenset()}, 0
    while opened and idle < patience:
        node = max(opened, key=value)
        opened.remove(node)
        closed.add(node)
        children = [c for c in neighbors(node, p) if c and c not in opened and c not in closed]
        opened.update(children)
        idle += 1
        better = max(children, key=value, default=best)
        if value(better) > value(best):
            best, idle = better, 0
    return best


@pytest.mark.parametrize("seed", range(25))
def test_hill_climbing_is_its_special_case(seed):
    scorer = Table(7, seed, smooth=0.3)
    value = lambda subset: scorer.scores[sum(2**f for f in subset)]  # noqa: E731
    trace = search_on(scorer, BestFirst(patience=1, compound=False), 7)
    assert columns(trace) == sorted(plain_hill_climbing(value, 7))


@pytest.mark.parametrize("patience", [2, 5, 9])
@pytest.mark.parametrize("seed", range(10))
def test_equals_the_published_procedure(seed, patience):
    scorer = Table(8, seed, smooth=0.2)
    value = lambda subset: scorer.scores[sum(2**f for f in subset)]  # noqa: E731
    trace = search_on(scorer, BestFirst(patience=patience, compound=False), 8)
    assert columns(trace) == sorted(plain_best_first(value, 8, patience))


def test_finds_features_that_help_only_together():
    """Feature 0 pays a little, 1 to 3 pay only as three."""
    score = lambda mask: 0.1 * mask[0] + mask[1:4].all() - 0.01 * mask.sum()  # noqa: E731
    assert columns(search_on(Function(score), Forward(), 6)) == [0]
    assert columns(search_on(Function(score), BestFirst(patience=30, compound=False), 6)) == [0, 1, 2, 3]


def test_compound_changes_cross_the_space():
    """Twenty features with gains of their own: the best changes together reach the optimum in few expansions."""
    gains = np.where(np.arange(40) % 2, 1.0, -1.0) * np.linspace(1, 2, 40)
    expansions = {}
    for compound in (False, True):
        trace = search_on(Function(lambda mask: mask @ gains), BestFirst(patience=1, compound=compound), 40)
        assert columns(trace) == np.flatnonzero(gains > 0).tolist()
        expansions[compound] = trace.n_steps
    assert expansions == {False: 21, True: 2}


def test_every_subset_is_scored_once():
    seen = []

    def score(mask):
        seen.append(mask.tobytes())
        return float(np.sin(mask @ np.arange(1, 7)))

    search_on(Function(score), BestFirst(patience=20), 6)
    assert len(seen) == len(set(seen))


def test_monk_1_where_forward_stalls():
    problem = load("monk1").problem
    forward = SubsetSelector(Classifiability(), Forward(min_gain=0.0)).fit_problem(problem)
    best_first = SubsetSelector(Classifiability(), BestFirst()).fit_problem(problem)
    assert np.flatnonzero(forward.support_).tolist() == [4]
    assert np.flatnonzero(best_first.support_).tolist() == [0, 1, 4]
    assert best_first.score_ == 1.0


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("sizes", [(3, 3), (2, 4), (8, 8), (1, 1)])
def test_sizes_are_kept(sizes, direction):
    for seed in range(5):
        trace = search_on(Table(8, seed), BestFirst(direction=direction), 8, sizes=sizes)
        assert sizes[0] <= len(columns(trace)) <= sizes[1]


def test_gain_must_exceed_what_is_asked():
    gains = np.array([0.3, 0.05, 0.2])
    assert columns(search_on(Function(lambda m: m @ gains), BestFirst(compound=False), 3)) == [0, 1, 2]
    assert columns(search_on(Function(lambda m: m @ gains), BestFirst(min_gain=0.1, compound=False), 3)) == [0, 2]


def test_smaller_subset_wins_a_tie():
    trace = search_on(Function(lambda mask: float(mask[2])), BestFirst(direction="backward"), 5)
    assert columns(trace) == [2]


@pytest.mark.parametrize("stop_at", [1, 2, 4])
def test_goes_on_after_an_interruption_as_if_there_were_none(tmp_path, stop_at):
    whole = search_on(Table(9, 3, smooth=0.2), BestFirst(), 9)
    assert whole.n_steps > 4

    def interrupt(trace):
        if trace.n_steps == stop_at:
            trace.save(tmp_path / "trace.npz")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_on(Table(9, 3, smooth=0.2), BestFirst(), 9, on_step=interrupt)
    resumed = search_on(Table(9, 3, smooth=0.2), BestFirst(), 9, trace=Trace.load(tmp_path / "trace.npz"))
    assert columns(resumed) == columns(whole)
    assert resumed.n_steps == whole.n_steps
    assert resumed.n_evaluations == whole.n_evaluations


@pytest.mark.parametrize("options", [{"patience": 0}, {"direction": "sideways"}])
def test_refuses_what_it_does_not_know(options):
    with pytest.raises(InputError, match=next(iter(options))):
        search_on(Table(3), BestFirst(**options), 3)
