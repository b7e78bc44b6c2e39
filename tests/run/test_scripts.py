import numpy as np
from sklearn.linear_model import LogisticRegression

from fewer.control import Prefilter
from fewer.criteria import KNN, CrossValidated
from fewer.rankers import Fisher
from fewer.run.budget import Budget
from fewer.run.planning import make_plan
from fewer.run.running import _imports, _source, script_for
from making import make_problem


def test_only_what_was_not_left_alone_is_written():
    problem = make_problem()
    assert "selection = fewer.select(X, y, random_state=0)" in script_for(make_plan(problem))
    script = script_for(make_plan(problem, "knn-forward", cv=3, include=["x0"], seed=7))
    assert "selection = fewer.select(X, y, 'knn-forward', include=['x0'], cv=3, random_state=7)" in script


def test_components_come_with_their_imports():
    script = script_for(make_plan(make_problem(), criterion=KNN(3), control=Prefilter(Fisher(), keep=4)))
    lines = script.splitlines()
    assert lines[:3] == [
        "from fewer.control import Prefilter",
        "from fewer.criteria import KNN",
        "from fewer.rankers import Fisher",
    ]
    assert "criterion=KNN(n_neighbors=3)" in script
    assert "control=Prefilter(keep=4, ranker=Fisher())" in script
    compile(script, "script", "exec")


def test_a_budget_is_written_as_the_effort_that_it_came_to():
    plan = make_plan(make_problem(), "knn-forward", budget=Budget(10.0, n_subsets=123))
    assert "budget='123 subsets'" in script_for(plan)


def test_values_as_source():
    assert _source(np.array([1, 2])) == "[1, 2]"
    assert _source("a") == "'a'"
    assert "\n" not in _source(CrossValidated(LogisticRegression(C=0.123456, max_iter=12345, tol=1e-9)))
    assert _imports(CrossValidated(LogisticRegression())) == [
        "from fewer.criteria import CrossValidated",
        "from sklearn.linear_model import LogisticRegression",
    ]
    assert _imports([1, "a"]) == []
