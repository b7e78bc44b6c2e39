import numpy as np
import pytest

from fewer.contracts import Resources, Run, SearchSpace
from fewer.contracts.trace import Trace
from fewer.control import OneStandardError
from fewer.control._one_standard_error import JudgedFolds, search_all
from fewer.criteria import KNN
from fewer.search import Forward
from making import make_problem


class Asked(JudgedFolds):
    """Writes down whom it asks, and lets nothing choose."""

    cv = 4
    control = None

    def __init__(self):
        self.asked = []

    def judged(self, run, split, held, rng):
        self.asked.append((split.train.tolist(), split.test.tolist()))
        assert np.array_equal(held.X, run.problem.X[split.test])
        own = run.on(split.train, rng).under(None)
        return {"best": own.best, "score": own.best_score, "n_evaluations": own.n_evaluations}

    def _search_all(self, run, records, rng):
        told = [record["rows"].tolist() for record in records]
        assert told[len(told) - len(self.asked) :] == [test for _, test in self.asked]
        assert sorted(row for rows in told for row in rows) == list(range(run.problem.n_samples))
        search_all(run, None, rng)


def run_of(problem, trace=None, follower=None):
    space = SearchSpace.of(problem.n_features)
    rng = np.random.default_rng(0)
    return Run(KNN(), problem, Forward(), space, rng, Resources(), trace or Trace(), follower)


def test_every_row_is_held_out_once_and_all_rows_are_searched_last():
    problem = make_problem(n_rows=40)
    control = Asked()
    trace = run_of(problem).under(control)
    assert sorted(row for _, test in control.asked for row in test) == list(range(40))
    assert all(sorted(train + test) == list(range(40)) for train, test in control.asked)
    assert trace.best.any()
    assert trace.n_evaluations > sum(record["n_evaluations"] for record in trace.state["runs"])


def test_folds_that_were_asked_are_not_asked_again(tmp_path):
    problem = make_problem(n_rows=40)
    whole = run_of(problem).under(Asked())

    def stop(trace):
        if len(trace.state.get("runs", [])) == 2:
            trace.save(tmp_path / "trace")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_of(problem, follower=stop).under(Asked())
    control = Asked()
    again = run_of(problem, Trace.load(tmp_path / "trace")).under(control)
    assert len(control.asked) == 2
    assert np.array_equal(again.best, whole.best)
    assert again.n_evaluations == whole.n_evaluations


def test_a_run_that_is_done_stays_as_it_is():
    problem = make_problem(n_rows=40)
    trace = run_of(problem).under(OneStandardError(cv=3))
    before = trace.n_evaluations
    assert run_of(problem, trace).under(OneStandardError(cv=3)) is trace
    assert trace.n_evaluations == before


def test_a_run_that_was_stopped_in_its_last_search_counts_no_subset_twice(tmp_path):
    problem = make_problem(n_rows=40)
    whole = run_of(problem).under(OneStandardError(cv=3))

    def stop(trace):
        if len(trace.state["runs"]) == 3 and trace.n_steps == 2:
            trace.save(tmp_path / "trace")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_of(problem, follower=stop).under(OneStandardError(cv=3))
    stopped = Trace.load(tmp_path / "trace")
    assert stopped.n_evaluations > sum(record["n_evaluations"] for record in stopped.state["runs"])
    again = run_of(problem, stopped).under(OneStandardError(cv=3))
    assert again.n_evaluations == whole.n_evaluations
    assert np.array_equal(again.best, whole.best)
