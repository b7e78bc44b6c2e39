import numpy as np
import pytest

import fewer
from fewer.contracts import Refusal, Resources, Scorer, SearchSpace
from fewer.criteria import KNN, Separability
from fewer.objective import Objective
from fewer.problem import Problem
from fewer.search import BranchAndBound, Exhaustive
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


def random_problem(seed, p=9):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2 + seed % 2, 60)
    mix = rng.normal(size=(p, p))
    X = rng.normal(size=(60, p)) @ mix + np.outer(y, rng.normal(size=p))
    return Problem.from_arrays(X, y)


@pytest.mark.parametrize("seed", range(50))
def test_it_gives_the_exhaustive_optimum(seed):
    problem = random_problem(seed)
    measure = ("mahalanobis", "bhattacharyya", "scatter")[seed % 3]
    scorer = Separability(measure).bind(problem, np.random.default_rng(0), Resources())
    size = 2 + seed % 6
    prices = np.random.default_rng(seed).uniform(0, 0.5, 9) if seed % 5 == 0 else None
    space = SearchSpace.of(9, sizes=(size, size) if prices is None else (1, size), prices=prices)
    found = BranchAndBound().run(Objective(scorer, space), space, np.random.default_rng(0))
    truth = Exhaustive().run(Objective(scorer, space), space, np.random.default_rng(0))
    assert found.best_score == pytest.approx(truth.best_score, rel=1e-9)
    assert np.array_equal(found.best, truth.best)
    assert found.state["nodes_visited"] == found.n_evaluations
    assert found.state["nodes_pruned"] >= 0


def test_it_cuts_most_of_the_tree():
    problem = random_problem(1, p=15)
    scorer = Separability().bind(problem, np.random.default_rng(0), Resources())
    space = SearchSpace.of(15, sizes=(5, 5))
    found = BranchAndBound().run(Objective(scorer, space), space, np.random.default_rng(0))
    assert found.state["nodes_pruned"] > 0
    assert found.state["nodes_visited"] < 3003


def test_a_criterion_that_is_not_monotone_is_refused_unless_forced():
    problem = random_problem(0, p=5)
    with pytest.raises(Refusal, match="never falls"):
        fewer.SubsetSelector(KNN(), BranchAndBound(), n_features_to_select=3).fit_problem(problem)
    forced = fewer.SubsetSelector(KNN(), BranchAndBound(force=True), n_features_to_select=3, random_state=0)
    assert forced.fit_problem(problem).support_.sum() == 3


def test_it_goes_on_after_an_interruption(tmp_path):
    rng = np.random.default_rng(4)
    covered = rng.random((12, 60)) < 0.2

    def coverage(masks):
        return (np.asarray(masks).astype(float) @ covered > 0).mean(axis=1)

    space = SearchSpace.of(12, sizes=(5, 5))
    whole = run(BranchAndBound(), coverage, space)
    assert whole.n_steps > 2
    for after in range(1, whole.n_steps):
        again = run_interrupted(BranchAndBound(), coverage, space, 0, after, tmp_path / "trace")
        assert_same(whole, again)
        assert again.state["nodes_visited"] == whole.state["nodes_visited"]


def test_free_sizes_mean_everything_and_a_single_unit_works():
    assert run(BranchAndBound(), lambda m: m.sum(axis=1) * 1.0, SearchSpace.of(4)).best.all()
    assert run(BranchAndBound(), lambda m: m.sum(axis=1) * 1.0, SearchSpace.of(1)).best.all()
