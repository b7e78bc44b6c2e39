import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import fewer
from fewer.contracts.trace import Trace
from fewer.control import Shadow
from fewer.control._shadow import LOOKS, level_of_looks
from fewer.rankers import Fisher, Importance
from making import make_problem

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from boruta import BorutaPy


def classes(seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(150, 10)), rng.integers(0, 2, 150)
    X[:, [1, 4, 7]] += 1.5 * y[:, None]
    return X, y, RandomForestClassifier(20, max_depth=5)


def copies(seed=0):
    """All-relevant: copies of a relevant feature are relevant, too."""
    # With seed 1 Shadow confirms one feature more than BorutaPy; over 12 draws the two agreed in 10.
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(150, 10)), rng.integers(0, 2, 150)
    X[:, 0] += 2 * y
    X[:, 5] = X[:, 0] + 0.3 * rng.normal(size=150)
    return X, y, RandomForestClassifier(20, max_depth=5)


def quantity(seed=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 10))
    return X, 2 * X[:, 3] + 2 * X[:, 6] + rng.normal(size=150), RandomForestRegressor(20, max_depth=5)


@pytest.mark.parametrize(("make", "planted"), [(classes, [1, 4, 7]), (copies, [0, 5]), (quantity, [3, 6])])
def test_it_confirms_what_boruta_confirms(make, planted):
    X, y, forest = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = BorutaPy(forest, n_estimators=20, max_iter=40, random_state=0).fit(X, y)
    ours = fewer.RankSelector(Importance(forest, cv=None), control=Shadow(40), random_state=0).fit(X, y)
    assert np.flatnonzero(theirs.support_).tolist() == np.flatnonzero(ours.support_).tolist() == planted
    assert ours.trace_.state["run"] <= 40


def test_decisions_are_those_of_the_binomial_test():
    control = Shadow(100, 0.05)
    state = {"run": 8, "hits": np.array([8.0, 0.0, 4.0, 7.0]), "decision": np.zeros(4, dtype=np.int64)}
    control._decide(state, np.array(LOOKS))
    assert state["decision"].tolist() == [1, -1, 0, 0]
    assert binom.sf(7, 8, 0.5) <= level_of_looks(LOOKS, 0.05) < binom.sf(6, 8, 0.5)


@pytest.mark.parametrize(("looks", "alpha"), [(LOOKS, 0.05), (LOOKS, 0.01), ((40,), 0.05), ((3, 6, 9, 12), 0.2)])
def test_all_looks_together_have_the_level(looks, alpha):
    level = level_of_looks(looks, alpha)
    walks = np.cumsum(np.random.default_rng(0).random((40_000, looks[-1])) < 0.5, axis=1)

    def passed(at):
        return np.any([binom.sf(walks[:, look - 1] - 1, look, 0.5) <= at for look in looks], axis=0).mean()

    assert level >= alpha / len(looks)
    assert passed(level) <= alpha + 3 * np.sqrt(alpha / 40_000)
    higher = np.concatenate([binom.sf(np.arange(look + 1) - 1, look, 0.5) for look in looks])
    assert passed(higher[higher > level].min()) > alpha - 3 * np.sqrt(alpha / 40_000)


def test_runs_end_when_nothing_can_be_decided_any_more():
    control = Shadow(20)
    looks = np.array([8, 20])
    open_state = {"run": 8, "hits": np.array([6.0]), "decision": np.zeros(1)}
    assert control._is_open(open_state, looks)
    hopeless = {"run": 19, "hits": np.array([10.0]), "decision": np.zeros(1)}
    assert not control._is_open(hopeless, looks)
    assert not control._is_open({**open_state, "decision": np.ones(1)}, looks)


def test_rejected_features_lose_their_copies_and_the_answer_says_what_it_promises():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 12)), rng.integers(0, 2, 200)
    X[:, 3] += y
    selector = fewer.RankSelector(Fisher(), control=Shadow(), random_state=0).fit(X, y)
    extra = selector.trace_.extra
    assert extra["decision"][3] == 1
    assert selector.support_.sum() == (extra["decision"] == 1).sum() <= 2
    assert extra["runs"][3] >= extra["runs"][extra["decision"] == -1].max()
    assert "at level 0.05" in selector.promise_
    assert f"Confirmed {selector.support_.sum()}, tentative" in selector.promise_


def test_groups_of_their_own_size_are_noted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    groups = np.r_[np.zeros(7), np.arange(1, 24)]
    selector = fewer.RankSelector(Fisher(), control=Shadow(8), random_state=0).fit(X, y, groups=groups)
    assert any("1 row groups have a unique size" in note for note in selector.notes_)


def state_of(hits, run, decision=None):
    hits = np.array(hits, dtype=float)
    return {"hits": hits, "run": run, "decision": np.zeros(len(hits), dtype=int) if decision is None else decision}


def test_a_finished_run_is_done_not_interrupted_and_says_its_counts():
    problem = make_problem(n_rows=80)
    selector = fewer.RankSelector(Fisher(), control=Shadow(20), random_state=0).fit_problem(problem)
    assert selector.trace_.done
    assert not selector.trace_.interrupted
    decisions = selector.trace_.extra["decision"]
    counts = [int((decisions == code).sum()) for code in (1, 0, -1)]
    told = f"Confirmed {counts[0]}, tentative {counts[1]}, rejected {counts[2]} after {selector.trace_.n_steps} runs"
    assert selector.promise_.startswith(told)
    assert np.array_equal(selector.support_, decisions == 1)
    assert (selector.trace_.extra["runs"][decisions >= 0] == selector.trace_.n_steps).all()


def test_a_feature_that_always_or_never_wins_is_decided():
    looks = np.array([5, 7, 10, 20])
    assert 2**-7 <= level_of_looks((5, 7, 10, 20), 0.05) < 2**-5
    state = state_of([20, 0, 10], 20)
    Shadow(20)._decide(state, looks)
    assert state["decision"].tolist() == [1, -1, 0]
    state = state_of([5, 0, 3], 5)
    Shadow(20)._decide(state, looks)
    assert state["decision"].tolist() == [0, 0, 0]
    state = state_of([7, 0, 3], 7)
    Shadow(20)._decide(state, looks)
    assert state["decision"].tolist() == [1, -1, 0]


def test_runs_go_on_only_where_a_decision_is_still_possible():
    control, looks = Shadow(20), np.array([10, 20])
    assert control._is_open(state_of([5], 10), looks)  # 15 of 20 would do
    assert not control._is_open(state_of([5], 10), np.array([5, 10]))
    assert not control._is_open(state_of([10], 20), looks)
    assert not control._is_open(state_of([5], 10, np.array([1])), looks)
    assert not control._is_open(state_of([4], 10), np.array([2, 4, 6, 8, 10, 12]))  # neither 6 nor 4 of 12


def test_a_run_that_is_stopped_says_so():
    trace = Trace()
    selector = fewer.RankSelector(Fisher(), control=Shadow(20), random_state=0)

    def stop(trace):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        selector.fit_problem(make_problem(n_rows=80), stop, trace)
    assert trace.interrupted
    assert not trace.done
    assert trace.n_steps == 1
