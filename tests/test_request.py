"""One declaration, three views: Python, the command line, the workbench."""

import inspect
from dataclasses import fields

import pytest
import typer

import fewer
from fewer.cli import app
from fewer.request import OPTIONS, Request
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
    fewer.select(problem.X, problem.y, "knn-forward", random_state=7, **given)
    assert asked[0].changed() == given | {"method": "knn-forward", "seed": 7}


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
    }
    value = texts.get(option["name"], "3")
    choices = Choices.read({"table": "t.csv", "target": "y", option["name"]: value})
    assert f"--{option['name']} {value}" in " ".join(choices.command("r"))
    assert str(choices.to_dict()[option["name"]]) == value
    assert Choices.read(choices.to_dict()) == choices
