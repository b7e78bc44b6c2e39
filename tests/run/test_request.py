"""One declaration, three views: Python, the command line, the workbench."""

import inspect
import json
from dataclasses import fields
from itertools import combinations

import numpy as np
import polars as pl
import pytest
import typer
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import fewer
from fewer.cli import app
from fewer.errors import InputError
from fewer.report import selection_report
from fewer.run.planning import make_plan
from fewer.run.request import OPTIONS, Request
from fewer.serve._choices import Choices, offered
from making import make_problem

DEFAULTS = {field.name: field.default for field in fields(Request)}


def test_every_option_is_a_parameter_of_select_with_the_same_default():
    parameters = inspect.signature(fewer.select).parameters
    rows = {"X", "y", "task", "groups", "time", "sample_weight", "random_state", "resume_dir", "verbose"}
    assert set(DEFAULTS) - {"seed"} == set(parameters) - rows
    assert all(parameters[name].default == DEFAULTS[name] for name in set(DEFAULTS) - {"seed"})


def test_what_select_is_given_arrives_in_the_request(monkeypatch):
    asked = []
    monkeypatch.setattr("fewer.run.api._select", lambda problem, request, *rest, **more: asked.append(request))
    given = {"prefer": "fewest", "cost_weight": 0.5, "memory": "2GiB", "include": ["x0"], "cv": 3, "n_jobs": 2}
    problem = make_problem()
    fewer.select(problem, None, "knn-forward", random_state=7, **given)
    assert asked[0].changed() == given | {"method": "knn-forward", "seed": 7}


@pytest.mark.parametrize("name", sorted(set(DEFAULTS) - {"seed"}))
def test_a_word_that_no_option_knows_is_refused_in_a_line(name):
    with pytest.raises(InputError, match=r"^[^\n]+$"):
        fewer.select(make_problem(), random_state=0, **{"cv": 0, name: "no such word"})


def test_a_preference_is_known_and_for_auto():
    with pytest.raises(InputError, match="prefer='acuracy' is not known; did you mean 'accuracy'"):
        Request(prefer="acuracy")
    with pytest.raises(InputError, match="prefer='fewest' is for auto; use n_features_to_select"):
        make_plan(make_problem(), "fisher", prefer="fewest")


def test_every_declared_option_is_one_of_the_command_line_with_its_help():
    options = {
        option.name: option
        for option in typer.main.get_command(app).commands["select"].params
        if option.name in OPTIONS
    }
    assert set(options) == set(OPTIONS)
    for name, declared in OPTIONS.items():
        assert (tuple(options[name].opts), options[name].help) == (declared.flags, declared.help)
        assert options[name].default == DEFAULTS[name]


@pytest.mark.parametrize("option", offered(), ids=lambda option: option["name"])
def test_every_labelled_option_goes_from_the_page_to_the_command(option):
    texts = {
        "method": "fisher",
        "prefer": "fewest",
        "estimator": "tree",
        "scoring": "r2",
        "rare": "drop",
        "budget": "9s",
        "costs": "x=3,z=0.5",
    }
    value = texts.get(option["name"], "3")
    choices = Choices.read({"table": "t.csv", "target": "y", option["name"]: value})
    assert f"--{option['name']} {value}" in " ".join(choices.command("r"))
    assert str(choices.to_dict()[option["name"]]) == value
    assert Choices.read(choices.to_dict()) == choices


def test_no_feature_at_all_is_an_answer_where_the_largest_class_wins(tmp_path):
    """Noise with one row in ten of the second class: no subset is as good as always naming the first."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 3)), (np.arange(80) % 10 == 0).astype(int)
    subsets = [list(columns) for size in (1, 2, 3) for columns in combinations(range(3), size)]
    scores = [cross_val_score(KNeighborsClassifier(1), X[:, columns], y, cv=8).mean() for columns in subsets]
    assert max(scores) < cross_val_score(DummyClassifier(), X, y, cv=8).mean() == pytest.approx(0.9)
    found = fewer.select(X, y, "knn-forward", min_features=0, cv=0, random_state=0)
    assert found.features == []
    assert len(fewer.select(X, y, "knn-forward", cv=0, random_state=0).features) > 0
    path = tmp_path / "rows.csv"
    pl.DataFrame(X).with_columns(y=pl.Series(y).replace_strict({0: "no", 1: "yes"})).write_csv(path)
    options = [str(path), "-t", "y", "-m", "knn-forward", "--min-features", "0", "--folds", "0", "--json"]
    answer = CliRunner().invoke(app, ["select", *options])
    assert json.loads(answer.stdout)["features"] == []
    printed = CliRunner().invoke(app, ["select", *options[:-1]]).stdout
    assert "0 of 3 features selected" in printed
    assert not [line for line in printed.splitlines() if line.split()[:1] == ["feature"]]  # no head without a table
    assert "predicting without any feature scored best" in selection_report(found)


def test_the_smallest_number_of_features_joins_the_size_asked_for():
    assert Request("knn-forward", n_features_to_select=(2, 5), min_features=0).size == (0, 5)
    assert Request("knn-forward", n_features_to_select=7).size == 7
    assert Request("auto", min_features=0).size == "auto"
    with pytest.raises(InputError, match="exclude each other"):
        _ = Request("knn-forward", n_features_to_select=7, min_features=0).size
    X, y = make_problem().X, make_problem().y
    with pytest.raises(InputError, match="min_features is for subset searches"):
        fewer.select(X, y, "fisher", min_features=0)
