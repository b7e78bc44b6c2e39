import numpy as np
import pytest

from fewer.contracts import Objective, Resources, Scorer, SearchSpace, Walk, round_scores
from fewer.contracts.trace import Trace
from fewer.criteria import KNN, _knn
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.search import Annealing
from fewer.search._annealing import change_of
from making import make_problem
from scorers import Additive, Table, columns, search_on


class Counted(Scorer):
    """Scores from a function; counts how often it is asked."""

    def __init__(self, function):
        self.function = function
        self.asked = 0

    def score(self, masks):
        self.asked += len(masks)
        return np.array([self.function(mask) for mask in masks], dtype=float)


def anneal(search, scorer, space, seed=0, **options):
    return search.run(Objective(scorer, space), space, np.random.default_rng(seed), **options)


@pytest.mark.parametrize("levels", [1, 4])
@pytest.mark.parametrize("k", [1, 3])
def test_running_distances_equal_scoring_from_scratch_after_ten_thousand_moves(levels, k):
    """Values on a coarse grid, so that distances and votes tie; masks and weights."""
    problem = make_problem(n_rows=40, n_features=8, seed=1, decimals=0)
    scorer = KNN(k).bind(problem, np.random.default_rng(0), Resources())
    space = SearchSpace.of(8, weight_levels=levels)
    rng = np.random.default_rng(1)
    state = space.random(rng)
    walk = scorer.walk(state, space.units)
    tried, scores = [], []
    for _ in range(10_000):
        unit, value = int(rng.integers(8)), int(rng.integers(levels + 1)) / levels
        proposed = state.copy()
        proposed[unit] = value
        scores.append(walk.propose(unit, value))
        tried.append(proposed)
        if rng.random() < 0.5:
            walk.accept()
            state = proposed
        else:
            walk.reject()
    fresh = KNN(k).bind(problem, np.random.default_rng(0), Resources())
    assert np.array_equal(fresh.score(np.array(tried)), scores)


@pytest.mark.parametrize("levels", [1, 4])
def test_states_met_before_change_nothing(levels):
    """The objective's memory, which most moves are answered from, gives the scores of a walk without it."""
    problem = make_problem(n_rows=30, n_features=4, seed=2, decimals=0)
    space = SearchSpace.of(4, weight_levels=levels)
    scorer = KNN().bind(problem, np.random.default_rng(0), Resources())
    objective = Objective(scorer, space)
    rng = np.random.default_rng(3)
    walk = objective.walk(space.random(rng))
    for n in range(1, 1001):
        unit, value = int(rng.integers(4)), int(rng.integers(levels + 1)) / levels
        proposed = walk.state.copy()
        proposed[unit] = value
        assert walk.propose(unit, value) == Objective(scorer, space).score(proposed[None])[0]
        assert objective.n_evaluations == n
        if rng.random() < 0.5:
            walk.accept()
            assert np.array_equal(walk.state, proposed)
        else:
            walk.reject()


def test_worse_moves_are_accepted_by_percentage_points():
    """One unit whose absence costs three points: at T = 15 · 0.9 a try to drop it succeeds with exp(−3 / 13.5)."""
    space = SearchSpace.of(1, sizes=(0, 1))
    search = Annealing(t0=13.5, cooling=1.0, levels=4000, effort=0.01, answer="final")
    trace = anneal(search, Counted(lambda mask: 0.5 if mask[0] else 0.47), space)
    states = np.array([step.mask[0] for step in trace.steps])
    kept = states[1:][states[:-1]]
    assert (states[1:][~states[:-1]]).all()  # a better state is always accepted
    assert np.mean(~kept) == pytest.approx(np.exp(-3 / 13.5), abs=4 * 0.4 / np.sqrt(len(kept)))


def test_schedule_of_the_thesis():
    """81 levels end at 15 · 0.9⁸¹ = 0.003; a level has 10 p tries or p accepted changes; the start comes first."""
    assert pytest.approx(0.003, abs=1e-4) == 15 * 0.9**81
    space = SearchSpace.of(7, sizes=(0, 7))
    trace = anneal(Annealing(), Counted(lambda mask: 0.5), space)
    assert trace.n_steps == 82
    assert trace.n_evaluations == 1 + 81 * 7  # on a plateau every change is accepted
    trap = np.zeros(7, dtype=bool)
    trap[2] = True
    trace = anneal(Annealing(t0=1e-9), Counted(lambda mask: 1.0 if np.array_equal(mask, trap) else 0.0), space)
    assert trace.steps[-1].n_evaluations - trace.steps[-2].n_evaluations == 70  # nothing is accepted any more


@pytest.mark.parametrize(
    ("effort", "cap", "tries"), [(1.0, None, 50), (0.3, None, 15), (0.001, None, 1), (1.0, 20, 20)]
)
def test_effort_grows_with_the_features_up_to_a_cap(effort, cap, tries):
    search = Annealing(effort=effort, max_tries=cap)
    assert search._limits(SearchSpace.of(5)) == (tries, max(1, round(effort * 5)))
    assert search.shortened(0.5).effort == effort / 2
    assert search.shortened(0.5).levels == search.levels
    if cap is not None:  # otherwise a capped search would not become shorter
        assert search.shortened(0.5)._limits(SearchSpace.of(5))[0] == tries / 2


def test_final_or_best():
    problem = make_problem(n_rows=50, n_features=8, seed=4)
    space = SearchSpace.of(8, weight_levels=2)
    runs = {}
    for answer in ("best", "final"):
        scorer = KNN().bind(problem, np.random.default_rng(0), Resources())
        runs[answer] = anneal(Annealing(levels=20, answer=answer), scorer, space, seed=5)
    best, final = runs["best"], runs["final"]
    assert np.array_equal(final.best, final.steps[-1].mask)
    assert [step.score for step in best.steps] == [step.score for step in final.steps]
    assert best.best_score == max(best.top_scores) >= final.best_score
    with pytest.raises(InputError, match="The 'answer' parameter of Annealing must be a str among"):
        anneal(Annealing(answer="first"), scorer, space)


def mixed_problem(decimals):
    """Numbers that tie, nominal columns, booleans and missing; three classes."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(45, 12)), decimals)
    X[:, 3:6] = rng.integers(3, size=(45, 3))
    X[:, 6:9] = rng.integers(2, size=(45, 3))
    X[rng.random(X.shape) < 0.03] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0).astype(int) + (np.nan_to_num(X[:, 3]) > 1)
    return Problem.from_arrays(X, y, kinds=("numeric",) * 3 + ("nominal",) * 3 + ("numeric",) * 6)


@pytest.mark.parametrize("voting", ["neighborhood", "neighbors"])
@pytest.mark.parametrize(
    ("space", "answer"),
    [
        (SearchSpace.of(12, sizes=(0, 12)), "final"),
        (SearchSpace.of(12, weight_levels=3), "best"),
        (SearchSpace.of(12, weight_levels=4, include=[0]), "final"),
        (SearchSpace.of(12, sizes=(3, 5)), "best"),
        (SearchSpace.of(12, groups=[[0, 3, 6], [1, 4]]), "best"),
    ],
    ids=["masks", "thirds", "quarters", "few", "groups"],
)
def test_a_walk_by_itself_ends_where_single_moves_end(space, answer, voting, monkeypatch):
    """Levels in one compiled call, in pieces of 50 tries, and move by move: the same trace to the bit."""
    search = Annealing(levels=25, answer=answer)
    for decimals in (0, 3):
        scorer = KNN(voting=voting).bind(mixed_problem(decimals), np.random.default_rng(0), Resources())
        traces = [anneal(search, scorer, space)]
        with monkeypatch.context() as patch:
            patch.setattr(_knn, "MOVES_AT_ONCE", 50 * 45**2)
            traces.append(anneal(search, scorer, space))
        with monkeypatch.context() as patch:
            patch.setattr(_knn.CoarseWalk, "run_moves", Walk.run_moves)
            traces.append(anneal(search, scorer, space))
        for trace in traces[1:]:
            assert np.array_equal([s.mask for s in trace.steps], [s.mask for s in traces[0].steps])
            assert [(s.score, s.best_score, s.n_evaluations) for s in trace.steps] == [
                (s.score, s.best_score, s.n_evaluations) for s in traces[0].steps
            ]
            assert np.array_equal(trace.top_masks, traces[0].top_masks)
            assert np.array_equal(trace.top_scores, traces[0].top_scores)
            assert np.array_equal(trace.best, traces[0].best)
            assert trace.rng_state == traces[0].rng_state
        fresh = scorer.score(np.array([step.mask for step in traces[0].steps], dtype=float))
        assert np.array_equal(round_scores(fresh), [step.score for step in traces[0].steps])


@pytest.mark.parametrize("weight_levels", [1, 3])
def test_a_walk_scores_where_it_stands_as_the_criterion_does(weight_levels, monkeypatch):
    scorer = KNN().bind(mixed_problem(0), np.random.default_rng(0), Resources())
    space = SearchSpace.of(12, weight_levels=weight_levels)
    objective = Objective(scorer, space)
    states = [space.random(np.random.default_rng(seed)) for seed in range(20)] + [space.full()]
    truth = objective.score(np.array(states))
    monkeypatch.setattr(_knn.KNNScorer, "score", None)  # a walk needs no other kernel than its own
    before = objective.n_evaluations
    assert [objective.walk(state).score() for state in states] == truth.tolist()
    assert objective.n_evaluations == before + len(states)


@pytest.mark.parametrize("levels", [1, 3])
@pytest.mark.parametrize("stop_at", [1, 4, 11])
def test_interrupted_and_resumed_ends_the_same(levels, stop_at, tmp_path):
    problem = make_problem(n_rows=40, n_features=6, seed=6)
    space = SearchSpace.of(6, sizes=(2, 3), weight_levels=levels)
    scorer = KNN().bind(problem, np.random.default_rng(0), Resources())
    whole = anneal(Annealing(levels=12), scorer, space)

    def stop(trace):
        if trace.n_steps == stop_at:
            trace.save(tmp_path / "t.npz")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        anneal(Annealing(levels=12), scorer, space, on_step=stop)
    again = anneal(Annealing(levels=12), scorer, space, seed=99, trace=Trace.load(tmp_path / "t.npz"))
    assert [step.score for step in again.steps] == [step.score for step in whole.steps]
    assert np.array_equal(again.best, whole.best)
    assert again.n_evaluations == whole.n_evaluations


@pytest.mark.parametrize("levels", [1, 4])
def test_annealing_finds_an_additive_optimum(levels):
    gains = np.array([0.3, -0.2, 0.1, -0.1, 0.25, 0.05, -0.3, 0.2])
    found = [search_on(Additive(gains), Annealing(levels=40), 8, seed=s, weight_levels=levels) for s in range(20)]
    assert sum(bool(np.array_equal(trace.best > 0, gains > 0)) for trace in found) >= 19


def test_annealing_acceptance_follows_the_temperature():
    worse = Additive(np.array([-0.02]))
    space = SearchSpace.of(1, sizes=(0, 1))
    search = Annealing(t0=15.0, levels=1, effort=3000, max_tries=None)
    trace = search.run(Objective(worse, space), space, np.random.default_rng(0))
    assert trace.n_evaluations > 3000
    walk = [step.mask.sum() for step in trace.steps]
    assert len(walk) == 2
    shortened = search.shortened(0.1)
    assert shortened.effort == pytest.approx(300)
    assert search.effort == 3000


def test_annealing_with_one_size_exchanges_units():
    gains = np.array([0.1, 0.9, 0.2, 0.8, 0.3])
    trace = search_on(Additive(gains), Annealing(levels=20), 5, sizes=(2, 2))
    assert columns(trace) == [1, 3]
    assert all(step.mask.sum() == 2 for step in trace.steps)
    assert columns(search_on(Additive(gains), Annealing(levels=2), 5, sizes=(5, 5))) == [0, 1, 2, 3, 4]


def test_final_answer_is_where_the_search_ends():
    trace = search_on(Table(5, 1), Annealing(levels=3, answer="final"), 5)
    assert np.array_equal(trace.best, trace.steps[-1].mask)


def test_at_the_limits_of_size_another_unit_changes_places():
    rng = np.random.default_rng(0)
    space = SearchSpace.of(4, sizes=(2, 2))
    state = np.array([True, True, False, False])
    taken = [change_of(state, 2, 1, space, rng) for _ in range(40)]
    assert {change[0] for change in taken} == {(0, 0.0, 1.0), (1, 0.0, 1.0)}
    assert all(change[1] == (2, 1.0, 0.0) for change in taken)
    given = [change_of(state, 0, 1, space, rng) for _ in range(40)]
    assert {change[0] for change in given} == {(2, 1.0, 0.0), (3, 1.0, 0.0)}
    assert all(change[1] == (0, 0.0, 1.0) for change in given)


def test_within_the_limits_one_unit_changes_and_without_units_nothing():
    rng = np.random.default_rng(0)
    space = SearchSpace.of(3, sizes=(1, 2))
    assert change_of(np.array([True, False, False]), 1, 1, space, rng) == [(1, 1.0, 0.0)]
    assert change_of(np.array([True, True, False]), 1, 1, space, rng) == [(1, 0.0, 1.0)]
    assert change_of(np.array([], dtype=bool), 0, 1, space, rng) == []
    full = SearchSpace.of(2, sizes=(2, 2))
    assert change_of(np.array([True, True]), 0, 1, full, rng) == []
    weighted = SearchSpace.of(2, weight_levels=4)
    assert change_of(np.array([0.75, 0.0]), 0, 1, weighted, rng) == [(0, 1.0, 0.75)]
    assert change_of(np.array([0.75, 0.5]), 0, 2, weighted, rng) == [(0, 0.0, 0.75)]


def test_every_try_of_every_level_counts_towards_the_most_evaluations():
    space = SearchSpace.of(6)
    assert Annealing(levels=3).max_evaluations(space) == 1 + 3 * 60
    assert Annealing(levels=3, max_tries=7).max_evaluations(space) == 1 + 3 * 7


class Nearness(Scorer):
    """Best at one vector of weights, and worse the farther away."""

    def __init__(self, best):
        self.best = best

    def score(self, masks):
        return -((masks - self.best) ** 2).sum(axis=1)


def test_effort_by_weights_finds_finer_optima():
    space = SearchSpace.of(5, weight_levels=8)
    assert Annealing()._limits(space) == (50, 5)
    assert Annealing(by_weights=True)._limits(space) == (400, 40)
    assert Annealing(by_weights=True, max_tries=20)._limits(space) == (160, 40)
    assert Annealing(by_weights=True)._limits(SearchSpace.of(5)) == (50, 5)
    best = np.array([0.125, 0.5, 0.0, 0.875, 1.0])

    def finds(by_weights, seed):
        search = Annealing(t0=5, levels=12, effort=0.4, by_weights=by_weights)
        return np.array_equal(search_on(Nearness(best), search, 5, seed=seed, weight_levels=8).best, best)

    found = [sum(finds(by_weights, seed) for seed in range(20)) for by_weights in (False, True)]
    assert found[0] < 10 < 19 <= found[1]
