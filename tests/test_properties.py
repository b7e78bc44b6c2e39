"""What must not matter: names of classes, order of columns, copies of columns, threads, the way to a subset."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.contracts import Objective, Resources, Run, SearchSpace, gray_states
from fewer.contracts.trace import Trace
from fewer.criteria import KNN
from fewer.problem import Problem
from fewer.search import Annealing, Backward, Exhaustive, Floating, Forward
from making import make_problem

SLOW = settings(deadline=None, max_examples=15)
SEEDS = st.integers(0, 2**31)


def tied_table(seed, n_rows=30, n_features=5):
    """A table full of ties, with nominal columns and missing."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n_rows, n_features)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    kinds = ["nominal" if i % 2 else "numeric" for i in range(n_features)]
    return X, rng.integers(0, 3, n_rows), kinds


def run(problem, search, seed=0, n_jobs=1, criterion=None):
    space = SearchSpace.of(problem.n_features)
    resources = Resources(n_jobs)
    rng = np.random.default_rng(seed)
    return Run(criterion or KNN(), problem, search, space, rng, resources=resources, trace=Trace()).under(None)


@SLOW
@given(SEEDS, st.permutations([0, 1, 2]))
def test_names_of_classes_do_not_matter(seed, names):
    X, y, kinds = tied_table(seed)
    for search in (Exhaustive(), Annealing(levels=3)):
        one = run(Problem.from_arrays(X, y, kinds=kinds), search)
        other = run(Problem.from_arrays(X, np.array(["c", "a", "b"])[np.array(names)[y]], kinds=kinds), search)
        assert one.best_score == other.best_score
        assert np.array_equal(one.best, other.best)


@SLOW
@given(SEEDS, st.permutations(range(6)))
def test_order_of_columns_does_not_matter_without_ties(seed, order):
    rows = make_problem(n_rows=40, seed=seed, task="regression")
    shuffled = Problem.from_arrays(rows.X[:, order], rows.y, task="regression")
    for search in (Exhaustive(), Forward(), Forward(None), Backward(), Floating(), Floating("backward")):
        one, other = run(rows, search), run(shuffled, search)
        assert one.best_score == other.best_score
        assert np.array_equal(one.best[order], other.best)


@SLOW
@given(SEEDS, st.permutations(range(5)))
def test_order_of_columns_never_changes_the_best_score_of_all_subsets(seed, order):
    X, y, kinds = tied_table(seed)
    one = run(Problem.from_arrays(X, y, kinds=kinds), Exhaustive())
    other = run(Problem.from_arrays(X[:, order], y, kinds=[kinds[i] for i in order]), Exhaustive())
    assert one.best_score == other.best_score


@SLOW
@given(SEEDS, st.sampled_from(["neighborhood", "neighbors"]), st.sampled_from([1, 3]))
def test_a_copy_of_a_column_scores_as_its_twin(seed, voting, k):
    X, y, kinds = tied_table(seed)
    problem = Problem.from_arrays(np.column_stack([X, X[:, 0]]), y, kinds=[*kinds, kinds[0]])
    scorer = KNN(k, voting=voting).bind(problem, np.random.default_rng(0), Resources())
    others = gray_states(np.arange(16), 4)
    first = np.column_stack([np.ones(16, dtype=bool), others, np.zeros(16, dtype=bool)])
    last = np.column_stack([np.zeros(16, dtype=bool), others, np.ones(16, dtype=bool)])
    assert np.array_equal(scorer.score(first), scorer.score(last))


@SLOW
@given(SEEDS)
def test_duplicate_rows_do_not_break_anything(seed):
    X, y, kinds = tied_table(seed, n_rows=12)
    problem = Problem.from_arrays(np.vstack([X, X]), np.concatenate([y, y]), kinds=kinds)
    trace = run(problem, Exhaustive(), criterion=KNN(cv="loo"))
    assert 0.0 <= trace.best_score <= 1.0


@SLOW
@given(SEEDS, st.floats(0.001, 1000.0), st.integers(0, 4))
def test_units_of_measurement_do_not_matter(seed, factor, column):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 5)), rng.integers(0, 2, 30)
    scaled = X.copy()
    scaled[:, column] *= 2.0 ** round(np.log2(factor))
    one, other = (run(Problem.from_arrays(table, y), Exhaustive()) for table in (X, scaled))
    assert one.best_score == other.best_score
    assert np.array_equal(one.best, other.best)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("search", [Exhaustive(), Floating(), Annealing(levels=4)])
def test_one_and_two_threads_agree(search, task):
    rows = make_problem(n_rows=150, seed=1, task=task, decimals=1)
    one, two = (run(rows, search, n_jobs=jobs, criterion=KNN((1, 4))) for jobs in (1, 2))
    assert one.best_score == two.best_score
    assert np.array_equal(one.best, two.best)
    assert one.n_evaluations == two.n_evaluations


@pytest.mark.parametrize("levels", [1, 4])
@pytest.mark.parametrize("voting", ["neighborhood", "neighbors"])
def test_walk_equals_score_after_ten_thousand_moves(levels, voting):
    X, y, kinds = tied_table(3, n_rows=25, n_features=6)
    problem = Problem.from_arrays(X, y, kinds=kinds)
    scorer = KNN(voting=voting).bind(problem, np.random.default_rng(0), Resources())
    space = SearchSpace.of(6, weight_levels=levels, sizes=(0, 6), groups=[[0, 3]])
    objective, fresh = Objective(scorer, space), Objective(scorer, space)
    rng = np.random.default_rng(1)
    walk = objective.walk(space.random(rng))
    for move in range(10_000):
        unit = int(rng.integers(space.n_units))
        value = int(rng.integers(levels + 1)) / levels
        score = walk.propose(unit, value)
        proposed = walk.state.copy()
        proposed[unit] = value
        if move % 50 == 0 or move > 9_900:
            assert score == fresh.score(proposed[None])[0]
        if rng.random() < 0.5:
            walk.accept()
            assert np.array_equal(walk.state, proposed)
        else:
            walk.reject()
