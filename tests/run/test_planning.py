import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fewer.contracts import IncompatibleError
from fewer.control import Aggregate, Prefilter, Probe
from fewer.criteria import KNN, CrossValidated
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.run.planning import build_component, make_plan, prepare_rows, treat_rare
from fewer.run.request import Request
from fewer.search import PBIL, Forward, Genetic
from fewer.selectors import AutoSelector, RankSelector, SubsetSelector
from making import make_problem


def test_what_was_asked_for():
    assert Request().is_auto
    assert not Request("knn-forward").is_auto
    assert not Request(ranker="fisher").is_auto
    assert Request(cv=7).n_folds == 7
    assert Request(cv="loo").n_folds == 5
    assert Request(cv=5, seed=0).changed() == {}
    assert Request("fisher", cv=3, include=["a"]).changed() == {"method": "fisher", "cv": 3, "include": ["a"]}


def test_names_and_objects_become_selectors():
    problem = make_problem()
    assert isinstance(make_plan(problem).selector, AutoSelector)
    named = make_plan(problem, "knn-forward")
    assert isinstance(named.selector, SubsetSelector)
    assert isinstance(named.selector.search, Forward)
    assert named.name == "knn-forward"
    assert isinstance(make_plan(problem, "fisher").selector, RankSelector)
    own = make_plan(problem, criterion=KNN(5), search="backward")
    assert own.name == "custom"
    assert own.selector.criterion.n_neighbors == 5
    with pytest.raises(InputError, match="KNN is a class; give an object: KNN"):
        build_component("criterion", KNN, problem)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "fisher", "search": Forward()}, "not both; the method fisher is ranker fisher."),
        ({"ranker": "fisher", "search": "forward"}, "A ranker needs no criterion and no search"),
        ({"method": "fisher", "start": [0]}, "start is for subset searches"),
        ({"method": "fisher", "n_features_to_select": (1, 2)}, "not the range"),
        ({"start": [0]}, "start does not work with auto"),
    ],
)
def test_contradictions(options, message):
    with pytest.raises(InputError, match=message):
        make_plan(make_problem(), **options)


@pytest.mark.parametrize(
    ("criterion", "searched_by"),
    [
        (CrossValidated(LogisticRegression()), "roc_auc"),
        (CrossValidated(LogisticRegression(), scoring="f1"), "f1"),
        (KNN(), None),
    ],
)
def test_the_users_metric_reaches_criteria_that_take_one(criterion, searched_by):
    plan = make_plan(make_problem(), criterion=criterion, search="forward", scoring="roc_auc")
    assert plan.selector.criterion.scoring == searched_by


def counts(problem):
    return dict(zip(problem.classes, np.bincount(problem.y).tolist(), strict=True))


def rare_problem():
    y = np.repeat(["a", "b", "c", "d"], [10, 8, 2, 3])
    return Problem.from_arrays(np.arange(46.0).reshape(23, 2), y)


@pytest.mark.parametrize("rarest", [1, 2])
def test_the_advice_on_rare_classes_works_as_printed(rarest):
    problem = Problem.from_arrays(np.arange(10.0)[:, None], np.repeat([3, 4, 20], [5, 5 - rarest, rarest]))
    with pytest.raises(InputError, match=r"a quantity, say so \(task='regression', --task regression\)") as refused:
        treat_rare(problem, 3, "refuse")
    assert ("use fewer folds (cv=2" in str(refused.value)) == (rarest == 2)
    if rarest == 2:
        assert treat_rare(problem, 2, "refuse") is problem


def test_rare_classes():
    problem = rare_problem()
    assert treat_rare(problem, 2, "refuse") is problem
    assert treat_rare(problem, 0, "refuse") is problem
    with pytest.raises(
        InputError,
        match="Classes 'c', 'd' have as few as 2 rows, fewer than the 5 folds",
    ):
        treat_rare(problem, 5, "refuse")
    dropped = treat_rare(problem, 5, "drop")
    assert counts(dropped) == {"a": 10, "b": 8}
    assert dropped.notes[-1] == "5 rows of rare classes ('c', 'd') were dropped."
    assert counts(treat_rare(problem, 5, "merge")) == {"a": 10, "b": 8, "(rare)": 5}
    with pytest.raises(
        InputError, match=r"Merged, the rare classes \('c'\) still have fewer rows than the 3 folds; drop"
    ):
        treat_rare(problem, 3, "merge")
    with pytest.raises(InputError, match=r"or drop rare classes \(rare='drop'"):  # not what would not help
        treat_rare(problem, 3, "refuse")
    one = Problem.from_arrays(np.arange(9.0)[:, None], [*"aaaabbbbc"])
    assert treat_rare(one, 3, "drop").notes[-1] == "1 row of rare classes ('c') was dropped."
    with pytest.raises(InputError, match="only one class is left"):
        treat_rare(problem, 9, "drop")
    with pytest.raises(InputError, match="rare='keep' is not known"):
        treat_rare(problem, 5, "keep")


def test_near_copies_without_groups_are_noted():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(40, 6)), 5, axis=0) + rng.normal(scale=0.01, size=(200, 6))
    y = np.arange(200) % 2
    noted = prepare_rows(Problem.from_arrays(X, y), Request("knn-forward"))
    assert "near-duplicates" in noted.notes[-1]
    told = Problem.from_arrays(X, y, groups=np.arange(200) // 5)
    assert prepare_rows(told, Request("knn-forward")).notes == ()


def test_a_method_may_cut_columns_first():
    control = make_plan(make_problem(), "auto", criterion="knn", search="forward", control="one-standard-error")
    assert not isinstance(control.selector.control, Prefilter)


def test_what_cannot_work_together_is_refused_before_the_clock_is_asked():
    problem = make_problem(task="regression")
    with pytest.raises(IncompatibleError, match="NaiveBayes is for classification"):
        make_plan(problem, Request("naive-bayes-forward", budget="1s", cv=0))


@pytest.mark.parametrize(
    "parts",
    [
        {"search": Genetic(generations=object())},
        {"search": PBIL(population=True)},
        {"control": Aggregate(control=object())},
        {"control": Aggregate(control=Probe(n_probes=float("nan")))},
    ],
    ids=["generations", "population", "control", "inside"],
)
def test_parameters_are_looked_at_before_a_budget_counts_with_them(parts):
    with pytest.raises(InputError, match=r"^The '\w+' parameter of \w+ "):
        make_plan(make_problem(), criterion="knn", budget="30 subsets", **parts)


def test_splits_of_the_users_own_need_no_rows_of_each_class_in_each_fold():
    from sklearn.model_selection import KFold

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.repeat(["x", "y", "few"], [20, 18, 2])
    problem = Problem.from_arrays(X, y)
    for cv in (KFold(3), "loo"):
        assert prepare_rows(problem, Request(cv=cv)).n_samples == 40
    assert prepare_rows(problem, Request(cv=KFold(3), rare="drop")).n_samples == 38


def test_cures_for_rare_classes_can_be_followed():
    X = np.arange(40.0)[:, None]
    with pytest.raises(InputError, match=r"Class True has 1 row, fewer than the 5 folds; do without a held-out"):
        treat_rare(Problem.from_arrays(X, np.arange(40) == 3), 5, "refuse")
    with pytest.raises(InputError, match="only one class is left; give more of their rows"):
        treat_rare(Problem.from_arrays(X, np.arange(40) == 3), 5, "drop")
    three = Problem.from_arrays(X, np.repeat(["x", "y", "few"], [20, 19, 1]))
    with pytest.raises(InputError, match=r"drop them \(rare='drop', --rare drop\)\."):
        treat_rare(three, 5, "merge")
    assert treat_rare(three, 5, "drop").n_samples == 39
