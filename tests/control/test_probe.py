import numpy as np
import pytest

import fewer
from fewer.contracts.trace import Trace
from fewer.control import Probe
from fewer.rankers import Fisher
from making import make_problem


def test_chance_passes_about_as_often_as_it_says():
    passed = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 10)), rng.integers(0, 2, 60)
        control = Probe(n_probes=9, n_runs=1)
        passed += fewer.RankSelector(Fisher(), control=control, random_state=seed + 99).fit(X, y).support_.sum()
    assert 10 <= passed <= 60  # 300 features, a chance of one in ten each


def test_the_majority_of_the_runs_decides_and_wins_are_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 8)), rng.integers(0, 2, 120)
    X[:, 6] += 1.5 * y
    selector = fewer.RankSelector(Fisher(), control=Probe(30, 5), random_state=0).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [6]
    assert selector.trace_.extra["hits"][6] == 5
    assert "the best of 30 random columns" in selector.promise_


def test_a_finished_run_is_done_and_not_interrupted():
    problem = make_problem()
    selector = fewer.RankSelector(Fisher(), control=Probe(5, 2), random_state=0).fit_problem(problem)
    assert selector.trace_.done
    assert not selector.trace_.interrupted
    assert "best of 5 random columns in over half of 2 runs" in selector.promise_
    assert selector.promise_.endswith("probability about 0.17.")
    assert selector.trace_.n_steps == 2
    assert selector.trace_.extra["hits"].max() <= 2


def test_a_run_that_is_stopped_says_so():
    trace = Trace()
    selector = fewer.RankSelector(Fisher(), control=Probe(5, 3), random_state=0)

    def stop(trace):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        selector.fit_problem(make_problem(n_rows=80), stop, trace)
    assert trace.interrupted
    assert not trace.done
    assert trace.n_steps == 1
