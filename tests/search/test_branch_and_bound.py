from itertools import pairwise

import numpy as np
import pytest

import fewer
from analytic import assert_same, run, run_interrupted
from fewer.contracts import IncompatibleError, Objective, Resources, SearchSpace
from fewer.criteria import KNN, Separability
from fewer.problem import Problem
from fewer.search import BranchAndBound, Exhaustive


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
    with pytest.raises(IncompatibleError, match="never falls"):
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


def test_steps_are_told_now_and_then_also_without_a_better_subset(monkeypatch):
    space = SearchSpace.of(8, sizes=(3, 3))
    gains = np.array([8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
    plain = run(BranchAndBound(), lambda m: m @ gains, space)
    monkeypatch.setattr("fewer.search._exhaustive.REPORT_EVERY", 1)
    often = run(BranchAndBound(), lambda m: m @ gains, space)
    assert plain.n_steps < often.n_steps
    assert often.n_evaluations == plain.n_evaluations
    assert often.best.tolist() == plain.best.tolist() == [True] * 3 + [False] * 5


def test_only_a_better_subset_is_told_before_the_end():
    rng = np.random.default_rng(3)
    gains = rng.random(9)
    found = run(BranchAndBound(), lambda m: np.sqrt(m @ gains), SearchSpace.of(9, sizes=(4, 4)))
    told = [step.best_score for step in found.steps[:-1]]
    assert all(a < b for a, b in pairwise(told))


@pytest.mark.parametrize(("p", "size"), [(4, 2), (5, 2), (6, 3)])
def test_where_nothing_can_be_cut_each_node_of_the_tree_is_met_once(p, size):
    def nodes(n_free, to_drop):
        if to_drop == 0:
            return 0
        return n_free + sum(nodes(n_free - 1 - place, to_drop - 1) for place in range(n_free - to_drop + 1))

    def never_scored(masks):
        return np.full(len(masks), -np.inf)  # bounds nothing

    found = run(BranchAndBound(force=True), never_scored, SearchSpace.of(p, sizes=(size, size)))
    assert found.state["nodes_visited"] == 1 + nodes(p, p - size)
