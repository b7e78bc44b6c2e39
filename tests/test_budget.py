import json
import time

import numpy as np
import pytest

import fewer
from fewer.budget import Budget, measure_speed, parse_budget, seconds_for
from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.planning import make_plan
from fewer.running import open_folder, run_plan
from fewer.runs import recorded_budget
from making import make_problem


@pytest.mark.parametrize(("text", "seconds"), [("60", 60), ("60s", 60), (" 2 min", 120), ("1.5h", 5400), (7, 7)])
def test_amounts_of_time(text, seconds):
    assert parse_budget(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "0s", "-5", "5 days", "inf"])
def test_what_is_no_amount_of_time_is_refused(text):
    with pytest.raises(InputError, match="not an amount of time"):
        parse_budget(text)


def test_a_search_ends_where_its_subsets_are_spent_and_says_so():
    problem = make_problem(n_features=12)
    plan = make_plan(problem, "knn-forward", budget=Budget(1000.0, n_subsets=25), cv=2)
    found = run_plan(plan, problem)
    assert found.n_evaluations == 1 + 12 + 11 + 10 or found.n_evaluations <= 25 + 12
    whole = run_plan(make_plan(problem, "knn-backward", cv=0), problem)
    cut = run_plan(make_plan(problem, "knn-backward", budget=Budget(1000.0, n_subsets=13), cv=0), problem)
    assert cut.n_evaluations < whole.n_evaluations
    assert len(cut.features) > len(whole.features)
    assert any("budget ended the search after 13 subsets" in note for note in cut.warnings)
    assert run_plan(make_plan(problem, "knn-backward", budget=Budget(1000.0, 13), cv=0), problem).features == (
        cut.features
    )


def test_a_stop_by_the_clock_is_noted(monkeypatch):
    problem = make_problem(n_features=12)
    plan = make_plan(problem, "knn-backward", budget=Budget(5.0), cv=0)
    now = iter(np.arange(0.0, 10_000.0, 3.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    found = run_plan(plan, problem)
    assert any(note.startswith("The clock ended the search after") for note in found.warnings)


def test_seconds_become_subsets_and_auto_gets_wider_with_them():
    problem = make_problem(n_rows=300, n_features=30)
    little, much = (make_plan(problem, budget=seconds, cv=5) for seconds in ("2s", "200s"))
    assert 20 < much.selector.budget / little.selector.budget < 500
    assert little.budget.seconds == 2.0
    forward = make_plan(problem, "knn-forward", budget=10.0)
    assert forward.budget.n_subsets > 10
    with pytest.raises(InputError, match="nothing to cut short"):
        make_plan(problem, "fisher", budget=10.0)
    with pytest.raises(InputError, match="amount of time"):
        fewer.select(problem.X, problem.y, budget="a while")


def test_the_machine_is_measured():
    problem = make_problem(n_rows=200, n_features=10)
    assert 0.001 < measure_speed(problem, 1) < 1000
    assert 0 < seconds_for(KNN(), problem, 1) < 1


def test_a_resumed_run_takes_the_budget_that_was_measured(tmp_path):
    problem = make_problem()
    plan = make_plan(problem, budget="3s", cv=2)
    open_folder(tmp_path / "run", plan, problem, resume=False).close()
    recorded = recorded_budget(tmp_path / "run", "3s")
    assert recorded == plan.budget
    again = make_plan(problem, budget=recorded, cv=2)
    assert again.selector.budget == plan.selector.budget
    open_folder(tmp_path / "run", again, problem, resume=True).close()
    assert recorded_budget(tmp_path / "run", "4s") == "4s"
    assert recorded_budget(tmp_path / "nowhere", "4s") == "4s"
    assert json.loads((tmp_path / "run" / "run.json").read_text())["components"]["budget"]["seconds"] == 3.0


def test_seconds_are_shared_among_the_search_on_all_rows_and_those_on_the_folds(monkeypatch):
    """A subset costs a hundredth of a second: 10 s, less what is kept aside, are 800 of them in all."""
    monkeypatch.setattr("fewer.planning.seconds_for", lambda *_: 0.01)
    problem = make_problem(n_features=12)
    planned = {cv: make_plan(problem, "knn-forward", budget=10.0, cv=cv).budget.n_subsets for cv in (0, 3, 4, 9)}
    assert planned == {0: 800, 3: 200, 4: 160, 9: 80}
    monkeypatch.setattr("fewer.planning.measure_speed", lambda *_: 2.0)
    shares = [make_plan(problem, budget=10.0, cv=cv).selector.budget for cv in (0, 4)]
    assert shares == pytest.approx([16.0, 3.2])
