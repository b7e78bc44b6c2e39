import numpy as np
import pytest

from fewer.contracts import Objective, Scorer, SearchSpace, gray_states, round_scores
from fewer.contracts.trace import Step, Trace
from fewer.errors import InputError
from scorers import Additive, Table


class Counting(Additive):
    asked = 0

    def score(self, masks):
        self.asked += len(masks)
        return super().score(masks)


class Sometimes(Scorer):
    failure = "ValueError: no"

    def score(self, masks):
        return np.where(masks[:, 0], np.nan, masks.sum(axis=1).astype(float))


def test_default_flips_walk_and_sweep_agree_with_score():
    scorer = Additive([0.3, 0.2, -0.1, 0.05, 0.15, -0.3])
    space = SearchSpace.of(6, prices=np.full(6, 0.01))
    objective = Objective(scorer, space)
    every = gray_states(np.arange(64), 6)[1:]
    truth = round_scores(scorer.score(every) - 0.01 * every.sum(axis=1))
    sweep = objective.sweep(0, 64, 63)
    order = {tuple(state): score for state, score in zip(sweep.states.tolist(), sweep.scores, strict=True)}
    assert [order[tuple(state)] for state in every.tolist()] == truth.tolist()
    assert sweep.scores.tolist() == sorted(truth, reverse=True)
    state = every[20]
    changed = np.repeat(state[None], 6, axis=0) ^ np.eye(6, dtype=bool)
    assert objective.flips(state).tolist() == objective.score(changed).tolist()
    walk = objective.walk(state)
    assert [walk.propose(u, float(not state[u])) for u in range(6)] == objective.score(changed).tolist()


def test_a_state_met_before_is_counted_but_not_computed_again():
    scorer, space = Counting([1.0, 2.0, 4.0]), SearchSpace.of(3)
    objective = Objective(scorer, space)
    states = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0]], dtype=bool)
    assert objective.score(states).tolist() == [1.0, 2.0, 1.0]
    assert objective.score(states[:1]).tolist() == [1.0]
    assert scorer.asked == 2
    assert objective.n_evaluations == 4


def test_the_oldest_of_many_states_is_forgotten(monkeypatch):
    monkeypatch.setattr("fewer.contracts._scorer.MOST_KNOWN", 2)
    scorer = Counting([1.0, 2.0, 4.0])
    objective = Objective(scorer, SearchSpace.of(3))
    objective.score(np.eye(3, dtype=bool))
    assert objective.score(np.eye(3, dtype=bool)[1:]).tolist() == [2.0, 4.0]
    assert scorer.asked == 3
    assert objective.score(np.eye(3, dtype=bool)[:1]).tolist() == [1.0]
    assert scorer.asked == 4


def test_the_trace_gets_the_best_of_allowed_size():
    trace, space = Trace(), SearchSpace.of(3, sizes=(1, 2))
    objective = Objective(Additive([1.0, 2.0, 4.0]), space)
    objective.follow(trace)
    objective.score(gray_states(np.arange(8), 3))
    assert trace.n_evaluations == 8
    assert np.array_equal(trace.top_masks[0], [False, True, True])
    assert len(trace.top_masks) == 6


def test_best_flip_is_the_first_of_equals():
    objective = Objective(Additive([1.0, 3.0, 3.0, 2.0]), SearchSpace.of(4))
    place, score = objective.best_flip(np.zeros(4, dtype=bool), np.array([0, 1, 2, 3]))
    assert (place, score) == (1, 3.0)
    place, score = objective.best_flip(np.array([True, False, False, False]), np.array([0, 3]))
    assert (place, score) == (1, 3.0)
    assert objective.flips(np.zeros(4, dtype=bool), np.array([], dtype=int)).size == 0


def test_what_could_not_be_scored_comes_last_and_is_told_once():
    trace = Trace()
    objective = Objective(Sometimes(), SearchSpace.of(3))
    objective.follow(trace)
    assert objective.score(np.array([[1, 1, 1], [0, 1, 0]], dtype=bool)).tolist() == [-np.inf, 1.0]
    objective.score(np.array([[1, 0, 0]], dtype=bool))
    assert objective.trace.n_undefined == 2
    note = "Subsets skipped because they could not be scored: 2; the first failed with ValueError: no."
    assert trace.notes == [note]
    with pytest.raises(InputError, match="No subset could be scored \\(2 were tried\\)"):
        objective.refuse_undefined()
    trace.record(Step(np.zeros(3, dtype=bool), 1.0, np.zeros(3, dtype=bool), 1.0))
    objective.refuse_undefined()


def test_a_walk_changes_only_what_was_accepted():
    space = SearchSpace.of(3, prices=np.array([0.0, 0.5, 0.0]))
    walk = Objective(Additive([1.0, 2.0, 4.0]), space).walk(np.zeros(3, dtype=bool))
    assert walk.propose(1, True) == 1.5
    walk.reject()
    assert walk.propose(2, True) == 4.0
    walk.accept()
    assert walk.propose(1, True) == 5.5
    walk.reject()
    assert walk.state.tolist() == [False, False, True]


def test_rows_are_there_only_if_they_were_given():
    with pytest.raises(InputError, match="This search looks at the rows"):
        _ = Objective(Table(2), SearchSpace.of(2)).problem


def test_notes_are_told_once():
    trace, objective = Trace(), Objective(Table(2), SearchSpace.of(2))
    objective.note("nobody listens")
    objective.follow(trace)
    objective.note("a")
    objective.note("a")
    assert trace.notes == ["a"]
