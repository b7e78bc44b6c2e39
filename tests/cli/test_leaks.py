"""What makes scores too good to be true is read first, and the command beside it works as printed."""

import json
import shlex
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest

import fewer
from fewer.cli import main
from fewer.report import selection_report
from fewer.run.selection import Selection

LEAK = 'refund, "net"'


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


def make_leaky(n=120):
    """Customers of whom a refund says who left, and a number names each."""
    rng = np.random.default_rng(0)
    left = rng.random(n) < 0.4
    columns = {
        "customer_id": 10_000 + 7 * rng.permutation(n),
        "visits": rng.poisson(4 + 3 * left),
        "age": rng.integers(18, 80, n),
        LEAK: np.where(left, rng.gamma(2, 20, n).round(2) + 1, 0.0),
    }
    return pl.DataFrame({**columns, "churned": np.where(left, "yes", "no")})


@pytest.fixture(scope="module")
def customers(tmp_path_factory):
    path = tmp_path_factory.mktemp("leaks") / "customers.csv"
    make_leaky().write_csv(path)
    return path


def test_a_leak_is_read_before_the_answer_and_the_printed_command_leaves_it_out(
    customers, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    words = ["select", customers, "--target", "churned", "--method", "fisher", "--folds", 3, "--out", "run"]
    assert run(*words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Check this first: the scores below may be too good to be true."
    assert "Possible leak" in lines[1]
    assert LEAK in lines[1]
    assert "identifier" in lines[2]
    command = next(line for line in lines if line.startswith("Run again without")).partition(": ")[2]
    assert not any("Possible leak" in line for line in lines[4:])  # said once

    program, *arguments = shlex.split(command)
    assert program == "fewer"
    assert run(*arguments, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert not {LEAK, "customer_id"} & {column["name"] for column in result["data"]["columns"]}
    assert result["suspicions"] == []
    assert result["score_heldout"] < 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "run-2"]


def test_a_leak_stands_in_json_page_notebook_and_text(customers, capsys):
    assert run("select", customers, "--target", "churned", "--method", "fisher", "--folds", 3, "--json") == 0
    text = capsys.readouterr().out
    told = json.loads(text)["suspicions"]
    assert [(found["kind"], found["column"]) for found in told] == [("leak", LEAK), ("identifier", "customer_id")]
    selection = Selection.from_json(text)
    assert [asdict(found) for found in selection.suspicions] == told
    assert str(selection).startswith("Check this first")
    page = selection_report(selection)
    assert page.index("Check this first") < page.index("<h1>")
    assert "--exclude" in page
    shown = selection._repr_html_()
    assert shown.index("Check this first") < shown.index("<table")
    assert selection.to_markdown().startswith("> Check this first")


def test_a_comparison_says_it_first_too(customers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("compare", customers, "-t", "churned", "--methods", "fisher", "--folds", 3, "--report", "c.html") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Check this first: the scores below may be too good to be true."
    assert LEAK in lines[1]
    command = next(line for line in lines if line.startswith("Run again without")).partition(": ")[2]
    assert not any("Possible leak" in line for line in lines[4:])  # said once
    page = (tmp_path / "c.html").read_text()
    assert page.index("Check this first") < page.index("<h1>")
    assert run(*shlex.split(command)[1:], "--json") == 0
    comparison = fewer.Comparison.from_json(capsys.readouterr().out)
    assert (comparison.n_features, comparison.suspicions, comparison.banner) == (2, [], [])


def test_a_comparison_in_python_says_what_to_drop():
    frame = make_leaky().to_pandas()
    comparison = fewer.compare(frame, "churned", ["fisher"], cv=3, random_state=0)
    assert comparison.again == f"X.drop(columns={[LEAK, 'customer_id']!r})"
    shown = comparison._repr_html_()
    assert shown.index("Check this first") < shown.index("<table")
    assert comparison.to_markdown().startswith("> Check this first")
    assert fewer.Comparison.from_json(comparison.to_json()) == comparison


def test_python_is_told_the_argument_and_it_works():
    frame = make_leaky()
    selection = fewer.select(frame, "churned", "fisher", cv=3, random_state=0)
    assert selection.again == f"exclude={[LEAK, 'customer_id']!r}"
    again = fewer.select(frame, "churned", "fisher", cv=3, random_state=0, exclude=[LEAK, "customer_id"])
    assert not {LEAK, "customer_id"} & set(again.features)


def test_where_nothing_would_be_left_no_command_is_shown():
    frame = make_leaky().select("customer_id", "churned")
    selection = fewer.select(frame, "churned", "fisher", cv=0, random_state=0)
    assert selection.banner
    assert not selection.again
