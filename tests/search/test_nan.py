"""NaN stands for a subset that could not be scored: whatever the search, it never wins."""

import numpy as np
import pytest

from fewer.contracts import Criterion, Run, Scorer, SearchSpace
from fewer.contracts.trace import Trace
from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.search import (
    DIET,
    PBIL,
    Annealing,
    Backward,
    BestFirst,
    BranchAndBound,
    Exhaustive,
    Floating,
    Forward,
    Genetic,
    PlusLTakeAwayR,
)
from making import make_problem

SEARCHES = [
    Forward(),
    Forward(min_gain=None),
    Backward(),
    Backward(min_gain=None),
    Floating(),
    Floating(exhaust=2),
    Floating("backward"),
    PlusLTakeAwayR(),
    PlusLTakeAwayR(1, 2),
    BestFirst(),
    BestFirst(direction="backward"),
    Exhaustive(),
    BranchAndBound(force=True),
    Genetic(population=8, generations=6),
    Genetic(population=8, generations=6, selection="roulette", answer="final"),
    PBIL(population=8, generations=6, runs=1),
    Annealing(levels=10),
    Annealing(levels=10, answer="final"),
    DIET(),
]
NAMES = [repr(search) for search in SEARCHES]
GAINS = np.array([0.5, 0.1, 0.3, -0.2, -0.1, 0.05])


class Broken(Criterion):
    """A sum of gains, but NaN wherever `fails` says so."""

    def __init__(self, fails):
        self.fails = fails

    def bind(self, problem, rng, resources):
        return BrokenScorer(self.fails)


class BrokenScorer(Scorer):
    failure = "an error of its own"

    def __init__(self, fails):
        self.fails = fails

    def score(self, masks):
        return np.where([self.fails(mask) for mask in masks], np.nan, masks @ GAINS)


def run(search, fails, **space):
    problem, space = make_problem(n_features=6), SearchSpace.of(6, **space)
    return Run(Broken(fails), problem, search, space, np.random.default_rng(0)).under(None)


@pytest.mark.parametrize("search", SEARCHES, ids=NAMES)
@pytest.mark.parametrize(
    "fails",
    [
        lambda mask: mask[3],  # wherever one column takes part
        lambda mask: mask.sum() == 0,  # nothing to fit on
        lambda mask: mask.sum() == 6,  # too much to fit on
        lambda mask: not mask[0] and mask.sum() > 0,  # wherever one column is missing
    ],
)
def test_it_never_wins(search, fails):
    trace = run(search, fails)
    assert np.isfinite(trace.best_score)
    assert not fails(trace.best)
    assert trace.best_score == pytest.approx(trace.best @ GAINS)
    assert not np.isnan([step.score for step in trace.steps]).any()
    assert np.isfinite(trace.top_scores).all()


@pytest.mark.parametrize("search", SEARCHES, ids=NAMES)
def test_if_none_can_be_scored_one_error_says_so(search):
    with pytest.raises(InputError, match="No subset could be scored .* an error of its own"):
        run(search, lambda mask: True)


@pytest.mark.parametrize("search", [Forward(), Exhaustive(), Annealing(levels=10)], ids=["Forward", "Exhaustive", "SA"])
def test_they_are_counted_and_noted(search, tmp_path):
    trace = run(search, lambda mask: mask[3])
    assert trace.n_undefined > 0
    notes = [note for note in trace.notes if "could not be scored" in note]
    assert notes == [
        f"Subsets skipped because they could not be scored: {trace.n_undefined}; the first failed with an "
        "error of its own."
    ]
    trace.save(tmp_path / "trace.npz")
    assert Trace.load(tmp_path / "trace.npz").n_undefined == trace.n_undefined


def test_every_subset_of_an_exhaustive_search_is_counted():
    assert run(Exhaustive(), lambda mask: mask[3]).n_undefined == 32
    assert run(Exhaustive(), lambda mask: mask[3], sizes=(1, 1)).n_undefined == 1


def test_sizes_beyond_what_can_be_scored_are_an_error():
    with pytest.raises(InputError, match="No subset could be scored"):
        run(Forward(), lambda mask: mask.sum() > 2, sizes=(4, 4))


def test_a_criterion_without_nan_has_no_note():
    problem = make_problem()
    trace = Run(KNN(), problem, Forward(), SearchSpace.of(6), np.random.default_rng(0)).under(None)
    assert trace.n_undefined == 0
    assert not trace.notes
