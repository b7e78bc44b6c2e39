import json
import time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import fewer
from fewer import AutoSelector
from fewer.contracts import SearchSpace
from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.run.budget import Budget, parse_budget, seconds_along, seconds_for, seconds_of_auto
from fewer.run.folder import recorded_budget
from fewer.run.planning import make_plan
from fewer.run.running import open_folder, run_plan
from fewer.search import PBIL, Annealing, Genetic
from making import make_problem


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60", 60), ("60s", 60), (" 2 min", 120), ("1.5h", 5400), (7, 7), ("1 hour", 3600), ("2 minutes", 120)],
)
def test_amounts_of_time(text, seconds):
    assert parse_budget(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "0s", "-5", "5 days", "inf"])
def test_what_is_no_amount_of_time_is_refused(text):
    with pytest.raises(InputError, match="is not a duration"):
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
    plan = make_plan(problem, "knn-backward", budget=Budget(5.0, each=2.0), cv=0)
    now = iter(np.arange(0.0, 10_000.0, 3.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    found = run_plan(plan, problem)
    assert any(note.startswith("Time ran out after") for note in found.warnings)


def test_seconds_become_subsets_and_auto_gets_wider_with_them(monkeypatch):
    monkeypatch.setattr("fewer.run.planning.seconds_of_auto", lambda *_: (100, 1.0))  # however fast the machine is
    problem = make_problem(n_rows=300, n_features=30)
    little, much = (make_plan(problem, budget=seconds, cv=5) for seconds in ("2s", "200s"))
    assert much.selector.budget > 2 * little.selector.budget > 0
    assert little.budget.seconds == 2.0
    forward = make_plan(problem, "knn-forward", budget=10.0)
    assert forward.budget.n_subsets > 10
    with pytest.raises(InputError, match="the ranker 'fisher' does not search"):
        make_plan(problem, "fisher", budget=10.0)
    with pytest.raises(InputError, match="is not a duration"):
        fewer.select(problem.X, problem.y, budget="a while")
    with pytest.raises(InputError, match="'N subsets' is for searches, not for auto"):
        fewer.select(problem.X, problem.y, budget="5000 subsets")


def test_the_machine_is_measured():
    problem = make_problem(n_rows=200, n_features=10)
    assert all(cost > 0 for cost in seconds_for(KNN(), problem, 1))
    for search in (Annealing(), Genetic(), PBIL()):
        start, each = seconds_along(search, KNN(), problem, SearchSpace.of(10), 1)
        assert start >= 0
        assert each > 0
    n_rows, seconds = seconds_of_auto(AutoSelector(), problem)
    assert n_rows == 100
    assert 0 < seconds < 60


@pytest.mark.parametrize(
    ("method", "n_searches"), [("knn-annealing", 1), ("saes", 11), ("gaes", 11), ("gaes-vote", 11)]
)
def test_a_search_that_can_be_shortened_is_laid_out_to_end_with_its_subsets_instead_of_being_cut_off(
    method, n_searches
):
    problem = make_problem(n_rows=60, n_features=12)
    plan = make_plan(problem, method, budget="6000 subsets", cv=0)
    whole = make_plan(problem, method, cv=0).selector.search
    most = plan.selector.search.max_evaluations(SearchSpace.of(12))
    assert most * n_searches <= 6000 < whole.max_evaluations(SearchSpace.of(12)) * n_searches
    found = run_plan(plan, problem)
    assert not any("ended the search" in note for note in found.warnings)
    assert any(f"limits a search to {most:,} subsets" in note for note in found.warnings)
    assert found.n_evaluations <= 6000 + n_searches
    again = {}
    exec(found.code, {"X": problem.X, "y": problem.y, "print": lambda *_: None}, again)
    assert again["selection"].features == found.features


def test_max_evaluations_is_what_a_whole_search_comes_to():
    problem = make_problem(n_rows=40, n_features=6)
    for search in (Annealing(levels=3), Genetic(generations=4, patience=None), PBIL(generations=3, runs=2)):
        selector = fewer.SubsetSelector(KNN(), search, random_state=0).fit_problem(problem)
        assert selector.trace_.n_evaluations <= search.max_evaluations(SearchSpace.of(6))
    assert Annealing(levels=3, effort=1.0).max_evaluations(SearchSpace.of(6)) == 1 + 3 * 60
    assert Genetic(population=10, generations=4).max_evaluations(SearchSpace.of(6)) == 50
    assert PBIL(population=10, generations=3, runs=2).max_evaluations(SearchSpace.of(6)) == 60


def test_too_little_time_for_the_shortest_search_is_refused(monkeypatch):
    problem = make_problem(n_rows=60, n_features=12)
    monkeypatch.setattr("fewer.run.planning.seconds_for", lambda *_: (1.0, 1.0))
    with pytest.raises(InputError, match=r"budget='20s' is too short for knn-forward: .* take about 36 s here"):
        make_plan(problem, "knn-forward", budget="20s")
    monkeypatch.setattr("fewer.run.planning.seconds_along", lambda *_: (1.0, 0.1))
    # 3 x 11 x (1 + 0.1 (1 + 81)) seconds
    with pytest.raises(InputError, match=r"too short for saes: .* take about 6 minutes here"):
        make_plan(problem, "saes", budget="1min")


def test_a_search_that_the_clock_ended_repeats_by_what_it_was_laid_out_for():
    budget = Budget(60.0, 5000).cut(3120)
    assert (budget.n_subsets, budget.planned) == (3120, 5000)
    assert budget.cut(9).planned == 5000
    assert budget.source == "'3120 of 5000 subsets'"
    read = Budget.of_subsets("3120 of 5000 subsets")
    assert (read.n_subsets, read.planned) == (3120, 5000)
    space = SearchSpace.of(10)
    laid_out = [each.laid_out(Genetic(), 11, space).generations for each in (read, Budget.of_subsets("5000 subsets"))]
    assert laid_out[0] == laid_out[1] < Genetic().generations


def test_where_two_folds_have_no_time_nothing_is_measured_and_that_is_said(monkeypatch):
    problem = make_problem(n_rows=60, n_features=12)
    plan = make_plan(problem, "knn-forward", budget=Budget(100.0, n_subsets=200), cv=5)
    ticks = iter(np.arange(0.0, 1e6, 60.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    found = run_plan(plan, problem)
    assert found.score_heldout is None
    assert any("No time left for cross-validation" in note for note in found.warnings)


def test_a_small_budget_says_how_few_rows_auto_saw():
    X, y = load_breast_cancer(return_X_y=True)
    budget = AutoSelector().budget_for(80, Problem.from_arrays(X, y))
    found = fewer.select(X[:, :8], y, budget=Budget(nominal=budget), cv=2, random_state=0)
    assert any("auto used 80 of the 569 rows" in note for note in found.warnings)
    assert "Budget(nominal=" in found.code


@pytest.mark.parametrize(
    ("n_rows", "n_features", "n_classes"), [(60, 500, 2), (399, 500, 2), (900, 10, 40), (7000, 500, 2)]
)
def test_the_budget_for_some_rows_gives_these_rows(n_rows, n_features, n_classes):
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.normal(size=(8000, n_features)), np.arange(8000) % n_classes)
    auto = AutoSelector()
    assert auto.set_params(budget=auto.budget_for(n_rows, problem))._n_rows(problem) == n_rows


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
    monkeypatch.setattr("fewer.run.planning.seconds_for", lambda *_: (0.01, 0.01))
    problem = make_problem(n_rows=3000, n_features=12)
    planned = {cv: make_plan(problem, "knn-forward", budget=10.0, cv=cv).budget.n_subsets for cv in (0, 3, 4, 9)}
    assert planned == pytest.approx({0: 800, 3: 200, 4: 160, 9: 266}, abs=3)  # nine would leave it six steps: two folds
    monkeypatch.setattr("fewer.run.planning.seconds_of_auto", lambda *_: (100, 1.0))
    budgets = [make_plan(problem, budget=100.0, cv=cv).budget for cv in (0, 4)]
    assert [budget.each for budget in budgets] == pytest.approx([80 / 1.5, 80 / 5.5], rel=0.05)


@pytest.mark.parametrize("text", ["5000 of 3000 subsets", "10 of 0 subsets"])
def test_a_search_that_would_end_behind_its_end_is_refused(text):
    with pytest.raises(InputError, match="write the smaller number first"):
        Budget.of_subsets(text)
