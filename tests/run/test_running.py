import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import fewer
from fewer import registry
from fewer.contracts import IncompatibleError, Resources
from fewer.contracts.trace import Ending
from fewer.control import EarlyStopping
from fewer.criteria import KNN, CrossValidated
from fewer.problem import Problem
from fewer.rankers import Fisher
from fewer.registry import METHODS
from fewer.run import running
from fewer.run.budget import Budget
from fewer.run.planning import make_plan
from fewer.run.request import Request
from fewer.run.running import Followers, Interrupted, components_of, judge_of, run_plan
from fewer.search import Annealing, Forward
from fewer.text import Note
from making import make_problem


def test_followers_are_told_of_every_step_and_fold():
    steps, folds = [], []
    plan = make_plan(make_problem(), "knn-forward", cv=3)
    run_plan(plan, make_problem(), followers=Followers(lambda trace: steps.append(trace.n_steps), folds.append))
    assert steps == list(range(1, len(steps) + 1))
    assert folds[-1] == 3


def test_nothing_is_held_out_if_no_folds_are_asked_for():
    found = run_plan(make_plan(make_problem(), "knn-forward", cv=0), make_problem())
    assert found.score_heldout is None
    assert found.frequency == {}
    assert found.n_evaluations > 6


def test_ctrl_c_leaves_the_best_so_far():
    def stop(trace):
        if trace.n_steps == 3:
            raise KeyboardInterrupt

    plan = make_plan(make_problem(), "knn-backward", cv=3)
    with pytest.raises(Interrupted) as ended:
        run_plan(plan, make_problem(), followers=Followers(stop))
    assert len(ended.value.selection.features) == 6 - 2


def test_who_judges_held_out_rows():
    problem = make_problem()
    forward = make_plan(problem, "knn-forward")
    assert isinstance(judge_of(forward.selector.answer(problem), forward, problem)[0], KNN)
    own = make_plan(problem, "knn-forward", estimator=LogisticRegression())
    assert isinstance(judge_of(own.selector.answer(problem), own, problem)[0], CrossValidated)
    ranked = make_plan(problem, "fisher")
    assert isinstance(judge_of(ranked.selector.answer(problem), ranked, problem)[0], KNN)


def test_neighbors_that_stand_in_as_the_judge_of_many_rows_learn_from_some_and_say_so(monkeypatch):
    monkeypatch.setattr("fewer.run.running.JUDGE_ROWS", 30)
    said = "used a sample of 30 rows"
    for method, told in (("fisher", True), ("knn-forward", False)):
        found = run_plan(make_plan(make_problem(), method, cv=3), make_problem())
        assert any(said in note for note in found.warnings) is told


def test_components_are_written_out():
    plan = make_plan(make_problem(), criterion=KNN(3), search=Forward(min_gain=0.01))
    written = components_of(plan.selector.components())
    assert written["criterion"] == "KNN(n_neighbors=3)"
    assert written["search"] == "Forward(min_gain=0.01)"
    assert Fisher.__name__ in str(components_of(make_plan(make_problem(), "fisher").selector.components()))


def test_scores_without_each_feature_are_those_of_the_searchs_own_folds():
    problem = make_problem(n_features=4)
    found = run_plan(make_plan(problem, "knn-forward", cv=0), problem)
    assert set(found.score_without) == set(found.features)
    assert all(score <= found.score_search + 1e-12 for score in found.score_without.values())
    assert np.isfinite(list(found.score_without.values())).all()


@pytest.mark.parametrize("name", registry.COMPONENTS["criterion"])
def test_every_criterion_scores_no_changes_as_none(name):
    problem = make_problem(task="regression") if name == "gamma-test" else make_problem()
    criterion = registry.build("criterion", name, problem.task)
    scorer = criterion.bind(problem, np.random.default_rng(0), Resources())
    assert len(scorer.flips(np.zeros(problem.n_features, dtype=bool), [], np.empty(0, dtype=bool))) == 0


def test_an_answer_without_features_is_described():
    """`Probe` may keep none, and then there is nothing to leave out."""
    rng = np.random.default_rng(1)
    noise = Problem.from_arrays(rng.normal(size=(300, 6)), rng.integers(0, 2, 300))
    plan = make_plan(noise, Request("auto", criterion="knn:cv=loo", search="floating", control="probe", cv=0))
    found = run_plan(plan, noise)
    assert found.features == []
    assert found.score_without == {}


def test_features_that_were_asked_for_are_given_even_where_nothing_was_found():
    rng = np.random.default_rng(0)
    noise = Problem.from_arrays(rng.normal(size=(60, 5)), rng.integers(0, 2, 60))
    two = run_plan(make_plan(noise, Request("auto", n_features_to_select=2, cv=0)), noise)
    assert two.nothing_found
    assert (len(two.features), sum(two.support)) == (2, 2)
    assert two.verdict.endswith("The requested features are kept anyway.")
    three = ["x3"]
    sizes = {"n_features_to_select": (2, 5)}
    asked = [{"include": three}, sizes, {"include": three, **sizes}]
    for options, n_asked in zip(asked, (1, 2, 2), strict=True):  # and no others: they are as good as drawn
        found = run_plan(make_plan(noise, Request("auto", cv=0, **options)), noise)
        assert len(found.features) == n_asked
        assert set(options.get("include", ())) <= set(found.features)
    none = run_plan(make_plan(noise, Request("auto", cv=0)), noise)
    assert (none.features, sum(none.support)) == ([], 0)
    assert none.verdict.endswith("better than chance.")


def reword(monkeypatch):
    make = Note.__new__

    def other_words(cls, text, *kind):
        note = make(cls, f"Words, {hash(text)}.")
        note.kind = make(cls, text, *kind).kind
        return note

    monkeypatch.setattr(Note, "__new__", other_words)


@pytest.mark.parametrize("control", [None, EarlyStopping(cv=3)])
def test_nothing_but_the_words_depends_on_the_words_of_a_note(control, monkeypatch):
    problem = make_problem().noted("Something about the rows.")
    request = Request("auto", criterion=KNN(3), search=Annealing(), control=control, cv=2, budget="150 subsets")
    before = run_plan(make_plan(problem, request), problem).to_dict()
    reword(monkeypatch)
    after = run_plan(make_plan(problem, request), problem).to_dict()
    changed = {name for name in before if before[name] != after[name]}
    assert len(before["warnings"]) == len(after["warnings"]) >= 2
    assert changed <= {"warnings", "seconds"}


def test_a_search_that_the_clock_ended_says_so_by_its_kind_and_not_by_its_words(monkeypatch):
    problem = make_problem(n_rows=60)
    plan = make_plan(problem, Request("knn-annealing", cv=0, budget=Budget(seconds=60.0, n_subsets=10**6, each=1e-9)))
    reword(monkeypatch)
    found = run_plan(plan, problem)
    assert found.trace.ending is Ending.CLOCK
    assert 0 < found.effort < 10**6


def test_folds_that_groups_do_not_allow_are_not_blamed_on_a_budget():
    problem = make_problem(n_rows=60)
    groups = np.arange(60) // 2 % 3
    selection = fewer.select(problem.X, problem.y, "linear-forward", groups=groups, random_state=0)
    assert "The groups of rows allow 3 folds, not 5." in selection.warnings
    assert not any("budget" in warning for warning in selection.warnings)


def test_more_groups_also_know_their_spread_better(monkeypatch):
    outcomes, measure = [], running.heldout
    monkeypatch.setattr(running, "heldout", lambda *args, **how: outcomes.append(measure(*args, **how)) or outcomes[0])
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 2, 90)
    told = fewer.select(X, y, "fisher", groups=np.arange(90) % 15, random_state=0)
    needed = 15 * (1.96 * outcomes[0].interval_of_difference.standard_error / 0.02) ** 2
    assert told.heldout["rows_to_tell"] == pytest.approx(needed, rel=0.05)


KNOWS_LATER = ("knn", "naive-bayes", "least-squares")  # criteria that predict rows by later ones, too
REFUSED = {"gmlvq", "rrelieff"} | {name for name, method in METHODS.items() if method.criterion in KNOWS_LATER}


@pytest.mark.filterwarnings(
    "ignore:The set_:PendingDeprecationWarning", "ignore:The least populated class"
)  # shap, the lasso
@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_every_method_answers_where_the_second_class_comes_late(method):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(90, 5))
    y = np.where((X[:, 0] + 0.3 * rng.normal(size=90) > 0.7) & (np.arange(90) >= 40), "fraud", "fine")
    ask = {"time": np.arange(90), "cv": 2, "random_state": 0}
    if method in REFUSED:
        with pytest.raises(IncompatibleError, match="later ones|is for regression"):
            fewer.select(X, y, method, **ask)
        return
    told = fewer.select(X, y, method, **ask)
    alone = "The first 40 rows in time are all of class fine; the held-out scores are those of later rows."
    assert told.heldout["n_folds"] == 2
    assert alone in told.warnings


def test_auto_answers_few_rows_in_time():
    rng = np.random.default_rng(0)
    for seed in range(6):
        X, y = rng.normal(size=(15, 3)), rng.integers(0, 2, 15) if seed % 2 else rng.normal(size=15)
        assert fewer.select(X, y, time=np.arange(15), random_state=seed).heldout["n_folds"] >= 4


def test_times_in_the_order_of_letters_are_named():
    rng = np.random.default_rng(0)
    months = np.repeat(["January", "February", "March", "April", "May", "June"], 15)
    X, y = rng.normal(size=(90, 3)), rng.normal(size=90)
    ask = {"n_features_to_select": 1, "cv": 3, "random_state": 0}
    told = fewer.select(X, y, "f-test", time=months, **ask)
    assert any("letters (April is first, May last); give dates or numbers" in note for note in told.warnings)
    quarters = np.repeat(["2024 Q1", "2024 Q2", "2024 Q3"], 30)
    assert not any("letters" in note for note in fewer.select(X, y, "f-test", time=quarters, **ask).warnings)
