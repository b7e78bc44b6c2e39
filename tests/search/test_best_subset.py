import itertools

import numpy as np
import pytest
from sklearn.datasets import load_wine

import fewer
from fewer.contracts import IncompatibleError, Objective, Resources, SearchSpace
from fewer.contracts.trace import Trace
from fewer.criteria import KNN, LeastSquares
from fewer.problem import Problem
from fewer.search import BestSubset, Exhaustive
from fewer.search._best_subset import NormalEquations, open_gap, spliced, tree_of


def least_sum(X, Y, columns, weights=None, forced=()):
    """The residual sum of squares of a fit, by scikit-learn's own least squares."""
    weights = np.full(len(X), 1 / len(X)) if weights is None else weights / weights.sum()
    root = np.sqrt(weights)[:, None]
    X = X[:, [*columns, *forced]]
    X, Y = (X - weights @ X) * root, (Y - weights @ Y) * root
    return float(((Y - X @ np.linalg.lstsq(X, Y, rcond=None)[0]) ** 2).sum()) if X.shape[1] else float((Y**2).sum())


def made(seed, n=30, p=7, q=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    return X, X[:, :3] @ rng.normal(size=(3, q)) + 3 * rng.normal(size=(n, q))


def searched(problem, space, search=None, trace=None, follow=None):
    scorer = LeastSquares().bind(problem, np.random.default_rng(0), Resources())
    search = BestSubset() if search is None else search
    return search.run(Objective(scorer, space, problem), space, np.random.default_rng(0), follow, trace)


@pytest.mark.parametrize("seed", range(50))
def test_of_every_size_no_subset_is_better(seed):
    X, Y = made(seed, q=1 + seed % 2)
    y = Y[:, 0] if seed % 2 == 0 else Y
    trace = searched(Problem.from_arrays(X, y, task="regression"), SearchSpace.of(7))
    for size in range(1, 8):
        truth = min(least_sum(X, Y, columns) for columns in itertools.combinations(range(7), size))
        assert trace.state["best_sums"][size] == pytest.approx(truth, rel=1e-6)
        chosen = np.flatnonzero(trace.state["best_masks"][size])
        assert len(chosen) == size
        assert least_sum(X, Y, chosen) == pytest.approx(truth, rel=1e-6)
    assert trace.notes[0].startswith("Leaps and bounds looked at")


def test_classes_weights_groups_and_forced_features():
    X, y = load_wine(return_X_y=True)
    X = X[:, :8]
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    codes = (y[:, None] == np.arange(3)).astype(float)
    problem = Problem.from_arrays(X, y, sample_weight=weights)
    space = SearchSpace.of(8, groups=[[0, 1]], include=[5])
    trace = searched(problem, space)
    units = [unit.tolist() for unit in space.units]
    for size in range(space.n_units + 1):
        subsets = (list(itertools.chain(*some)) for some in itertools.combinations(units, size))
        truth = min(least_sum(X, codes, columns, weights, [5]) for columns in subsets)
        assert trace.state["best_sums"][size] == pytest.approx(truth, rel=1e-6)


def test_copies_and_constants_do_no_harm():
    X, Y = made(1)
    X = np.c_[X[:, :4], X[:, 0], 2 * X[:, 1] + 1]
    trace = searched(Problem.from_arrays(X, Y[:, 0], task="regression"), SearchSpace.of(6))
    for size in range(1, 7):
        truth = min(least_sum(X, Y, columns) for columns in itertools.combinations(range(6), size))
        assert trace.state["best_sums"][size] == pytest.approx(truth, rel=1e-4)


def test_the_criterion_picks_the_size_as_it_does_among_all_subsets():
    """With leave-one-out scores the best of each size need not be the fit of least sum; the answer is near it."""
    for seed in range(5):
        X, Y = made(seed, 60, 8)
        best = fewer.SubsetSelector(LeastSquares(), BestSubset(), random_state=0).fit(X, Y[:, 0])
        every = fewer.SubsetSelector(LeastSquares(), Exhaustive(), random_state=0).fit(X, Y[:, 0])
        assert best.score_ <= every.score_ + 1e-12
        assert best.score_ >= every.score_ - 0.02
        assert "The criterion's score picked the size" in best.notes_[-1]


def test_an_unfinished_tree_tells_the_gap_that_remains():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 24)) + rng.normal(size=(60, 1))
    y = X[:, :5].sum(axis=1) + 5 * rng.normal(size=60)
    problem, space = Problem.from_arrays(X, y, task="regression"), SearchSpace.of(24)
    short = searched(problem, space, BestSubset(max_nodes=20))
    whole = searched(problem, space, BestSubset(max_nodes=None))
    assert "was ended after" in short.notes[0]
    assert whole.state["progress"][0] == -1
    for size in range(1, 24):
        gap = open_gap(short.state, size, space)
        assert 0 <= gap < 1
        assert whole.state["best_sums"][size] >= short.state["best_sums"][size] * (1 - gap) * (1 - 1e-9)


def test_a_stopped_run_goes_on_as_if_nothing_had_happened(tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.search._best_subset.NODES_PER_REPORT", 30)
    X, Y = made(3, 40, 14)
    problem, space = Problem.from_arrays(X, Y[:, 0], task="regression"), SearchSpace.of(14)

    def stop(trace):
        if trace.n_steps == 2:
            raise KeyboardInterrupt

    trace = Trace()
    with pytest.raises(KeyboardInterrupt):
        searched(problem, space, trace=trace, follow=stop)
    trace.save(tmp_path / "trace.npz")
    again, whole = searched(problem, space, trace=Trace.load(tmp_path / "trace.npz")), searched(problem, space)
    assert (again.best == whole.best).all()
    assert (again.state["best_sums"] == whole.state["best_sums"]).all()
    assert again.notes == whole.notes


def test_splicing_finds_what_leaps_and_bounds_proves_where_that_is_easy_and_says_what_it_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 60))
    y = X[:, [3, 17, 42]] @ np.array([3.0, -2.0, 2.0]) + rng.normal(size=150)
    selector = fewer.SubsetSelector(LeastSquares(), BestSubset(), n_features_to_select=3, random_state=0).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [3, 17, 42]
    assert "Splicing" in selector.notes_[-1]
    assert "no proof" in selector.notes_[-1]
    problem, space = Problem.from_arrays(X[:, :12], y, task="regression"), SearchSpace.of(12)
    equations = NormalEquations.of(problem, space)
    mask, total = spliced(equations, np.zeros(12, dtype=bool), 2)
    assert total == pytest.approx(tree_of(equations, space)["best_sums"][2])
    assert mask[3]


def test_other_criteria_are_refused():
    X, y = load_wine(return_X_y=True)
    with pytest.raises(IncompatibleError, match="needs the residual sums of squares of LeastSquares, and KNN has none"):
        fewer.SubsetSelector(KNN(), BestSubset()).fit(X, y)


def test_a_fit_that_is_known_is_not_scored_again():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    y = X[:, 1] - X[:, 4] + rng.normal(size=60)
    selector = fewer.SubsetSelector(LeastSquares(), BestSubset()).fit(X, y)
    assert selector.trace_.n_steps >= 3
    assert selector.trace_.n_evaluations <= 2 * 6


def test_splicing_answers_with_the_best_score_on_its_way():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 8))
    y = X[:, 1] - X[:, 4] + 0.5 * X[:, 6] + rng.normal(size=50)
    for sizes in ("auto", (3, 6)):
        search = BestSubset(exact_up_to=0)
        trace = fewer.SubsetSelector(LeastSquares(), search, n_features_to_select=sizes).fit(X, y).trace_
        low, high = (1, 8) if sizes == "auto" else sizes
        allowed = [step.score for step in trace.steps if low <= step.mask.sum() <= high]
        assert trace.best_score == max(allowed)
        assert low <= trace.best.sum() <= high
        assert [int(step.mask.sum()) for step in trace.steps[:4]] == [0, 1, 2, 3]


def test_the_gap_comes_from_branches_that_were_not_taken_and_can_hold_the_size():
    """One open node: 4 units alive, none fixed; branch i drops unit i and keeps those before it."""
    state = {
        "best_sums": np.array([10.0, 8.0, 4.0, 2.0, 1.6]),
        "progress": np.array([0, 7]),
        "node_sizes": np.array([[4, 0, 4]]),
        "places": np.array([1]),
        "losses": np.array([[0.1, 3.0, 3.5, 1.5]]),
    }
    space = SearchSpace.of(4)
    assert open_gap(state, 2, space) == pytest.approx(1 - 3.0 / 4.0)  # branches 1 and 2
    assert open_gap(state, 1, space) == pytest.approx(1 - 3.0 / 8.0)  # branch 1 alone
    assert open_gap(state, 3, space) == pytest.approx(1 - 1.5 / 2.0)
    assert open_gap(state, 4, space) == 0.0  # no branch keeps all
    assert open_gap({**state, "best_sums": np.zeros(5)}, 2, space) == 0.0


def test_splicing_ends_after_ten_sizes_that_did_not_raise_the_score():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    y = 10 * X[:, 3] + rng.normal(size=400)
    trace = fewer.SubsetSelector(LeastSquares(score="bic"), BestSubset(exact_up_to=0)).fit(X, y).trace_
    assert np.flatnonzero(trace.best).tolist() == [3]
    assert max(int(step.mask.sum()) for step in trace.steps) == 1 + 10


def test_splicing_leaves_rows_for_what_is_not_explained():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(7, 12)), rng.normal(size=7)
    trace = fewer.SubsetSelector(LeastSquares(alpha=0.1), BestSubset(exact_up_to=0)).fit(X, y).trace_
    assert max(int(step.mask.sum()) for step in trace.steps) <= 7 - 2


@pytest.mark.parametrize(("start", "size", "best"), [([0], 1, [2]), ([0, 1], 2, [2, 3]), ([0, 3], 2, [2, 3])])
def test_units_change_places_until_none_is_worth_more(start, size, best):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X -= X.mean(axis=0)
    y = 2.0 * X[:, [2]] + X[:, [3]] + 0.1 * rng.normal(size=(200, 1))
    y -= y.mean()
    equations = NormalEquations(X.T @ X, X.T @ y, float((y**2).sum()), np.arange(6), 200)
    mask, total = spliced(equations, np.isin(np.arange(5), start), size)
    assert np.flatnonzero(mask).tolist() == best
    left = y - X[:, best] @ np.linalg.lstsq(X[:, best], y, rcond=None)[0]
    assert total == pytest.approx(float((left**2).sum()))


def test_a_copy_does_not_change_places_for_ever():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    X -= X.mean(axis=0)
    X[:, 1] = X[:, 0]
    y = X[:, [0]] + 0.1 * rng.normal(size=(100, 1))
    equations = NormalEquations(X.T @ X, X.T @ y, float((y**2).sum()), np.arange(4), 100)
    mask, _ = spliced(equations, np.array([True, False, False]), 1)
    assert mask.sum() == 1
    assert not mask[2]


def test_a_unit_loses_or_gains_and_never_both():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    y = X.sum(axis=1)
    equations = NormalEquations(X.T @ X, X.T @ y, float((y**2).sum()), np.arange(5), 100)
    mask = np.array([True, False, True, False])
    losses, gains, _ = equations.losses_and_gains(mask)
    assert (losses[mask] > 0).all()
    assert losses[~mask].tolist() == [0, 0]
    assert (gains[~mask] > 0).all()
    assert gains[mask].tolist() == [0, 0]


def test_of_two_copies_the_first_stays():
    rng = np.random.default_rng(0)
    column = rng.normal(size=(100, 1))
    X, y = np.c_[column, column], column + 0.1 * rng.normal(size=(100, 1))
    equations = NormalEquations(X.T @ X, X.T @ y, float((y**2).sum()), np.arange(3), 100)
    assert spliced(equations, np.array([True, False]), 1)[0].tolist() == [True, False]
