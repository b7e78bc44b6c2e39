"""Fisher's ratio and the spanning tree against formulas and SciPy."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from fewer import SubsetSelector
from fewer.contracts import IncompatibleError, Resources
from fewer.criteria import BoundaryShare, FisherRatio, boundary_share, fisher_ratio
from fewer.problem import InputError, Problem
from fewer.search import Forward
from making import make_problem


def test_fisher_ratio_is_the_formula():
    problem = make_problem(n_rows=80, n_features=5)
    a, b = problem.X[problem.y == 0], problem.X[problem.y == 1]
    truth = (a.mean(axis=0) - b.mean(axis=0)) ** 2 / (a.var(axis=0) + b.var(axis=0))
    np.testing.assert_allclose(fisher_ratio(problem.X, problem.y), truth)
    scorer = FisherRatio().bind(problem, np.random.default_rng(0), Resources())
    masks = np.random.default_rng(1).random((20, 5)) < 0.5
    np.testing.assert_allclose(scorer.score(masks), [truth[mask].max(initial=0.0) for mask in masks])


def test_fisher_ratio_skips_holes_and_prizes_perfect_columns():
    X = np.array([[0.0, 1.0], [np.nan, 1.0], [2.0, 3.0], [4.0, 3.0]])
    ratios = fisher_ratio(X, [0, 0, 1, 1])
    assert ratios[0] == pytest.approx(9.0)
    assert ratios[1] > 1e300


@pytest.mark.parametrize("seed", range(5))
def test_boundary_share_equals_scipys_tree(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 3)) + y[:, None]
    tree = minimum_spanning_tree(squareform(pdist(X / np.ptp(X, axis=0)))).tocoo()
    assert boundary_share(X, y) == pytest.approx(np.mean(y[tree.row] != y[tree.col]), abs=1e-12)


def test_no_edge_of_the_tree_joins_rows_of_one_group():
    rng = np.random.default_rng(0)
    y, groups = rng.integers(0, 2, 60), rng.integers(0, 12, 60)
    X = rng.normal(size=(60, 3)) + y[:, None]
    problem = Problem.from_arrays(X, y, groups=groups)
    distances = squareform(pdist(X / np.ptp(X, axis=0)))
    distances[groups[:, None] == groups] = 0.0  # no edge, to SciPy
    tree = minimum_spanning_tree(distances).tocoo()
    scorer = BoundaryShare().bind(problem, rng, Resources())
    assert scorer.score(np.ones((1, 3)))[0] == pytest.approx(1 - np.mean(y[tree.row] != y[tree.col]), abs=1e-12)
    for refused in (np.zeros(60), y):
        with pytest.raises(InputError, match="BoundaryShare .* group"):
            BoundaryShare().bind(Problem.from_arrays(X, y, groups=refused), rng, Resources())


def test_boundary_share_of_one_clean_cut():
    X = np.concatenate([np.arange(10.0), np.arange(30.0, 40.0)])[:, None]
    assert boundary_share(X, np.repeat([0, 1], 10)) == pytest.approx(1 / 19)


def test_both_select():
    problem = make_problem(n_rows=100)
    assert SubsetSelector(FisherRatio(), Forward()).fit_problem(problem).support_.sum() == 1
    chosen = SubsetSelector(BoundaryShare(), Forward()).fit_problem(problem)
    assert chosen.score_ == pytest.approx(1 - boundary_share(problem.X[:, chosen.support_], problem.y))


def test_numbers_are_refused():
    with pytest.raises(IncompatibleError, match="classification"):
        SubsetSelector(BoundaryShare(), Forward()).fit_problem(make_problem(task="regression"))
