"""`fewer compare` as people meet it."""

import json
import signal
import time
from pathlib import Path

import polars as pl
import pytest

import fewer
from fewer.cli import main
from fewer.evaluate import Comparison
from making import make_problem
from warm import Started

METHODS = "fisher,sklearn.feature_selection:SelectKBest(k=2),knn-forward"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    problem = make_problem(n_rows=60)
    columns = {name: problem.X[:, i] for i, name in enumerate(problem.names)}
    path = tmp_path_factory.mktemp("data") / "table.csv"
    pl.DataFrame({**columns, "y": problem.y}).write_csv(path)
    return path


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


def without_seconds(text):
    content = json.loads(text)
    assert content.pop("command").startswith("fewer compare ")  # it names the folder
    for row in content["methods"]:
        del row["seconds"]
    return content


def test_json_is_the_contract(table, capsys):
    assert run("compare", table, "--target", "y", "--methods", METHODS, "--estimators", "knn,svm", "--json") == 0
    text = capsys.readouterr().out
    content = json.loads(text)
    assert {"methods", "verdict"} <= set(content)
    names = {row["name"] for row in content["methods"]}
    assert {"fisher", "SelectKBest(k=2)", "knn-forward", "all features"} <= names
    assert {row["estimator"] for row in content["methods"]} == {"knn", "svm"}
    assert Comparison.from_json(text).verdict == content["verdict"]


def test_a_table_and_a_verdict(table, capsys):
    assert run("compare", table, "--target", "y", "--methods", "fisher", "--estimators", "knn", "--folds", 3) == 0
    text = capsys.readouterr().out
    assert "Held-out accuracy of kNN: 60 rows, 6 features, 3 splits" in text
    assert "random subset" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "fishr"], "did you mean 'fisher'"),
        (["--methods", "sklearn.nowhere:Selector"], "module:Class"),
        (["--methods", "sklearn.feature_selection:SelectKBest(q=2)"], "cannot be built"),
        (["--estimators", "kn"], "did you mean 'knn'"),
        (["--folds", "1"], "at least 2"),
        (["--resume"], "--resume needs --out"),
        (["--resume", "--out", "nowhere"], "No comparison to resume"),
    ],
)
def test_one_line_says_what_is_wrong(table, arguments, words, capsys):
    assert run("compare", table, "--target", "y", *arguments) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


OPTIONS = ["--target", "y", "--methods", METHODS, "--estimators", "knn,linear", "--json"]


def start(table, folder, *more):
    return Started("compare", table, *OPTIONS, "--out", folder, *more)


def wait_for_cells(path: Path, n: int, process) -> None:
    while process.poll() is None:
        if path.exists() and len(path.read_text().splitlines()) > n:
            return
        time.sleep(0.01)


def test_ctrl_c_and_resume_end_with_the_identical_table(table, tmp_path, capsys):
    cells = tmp_path / "run" / "cells.jsonl"
    interrupted = start(table, tmp_path / "run")
    wait_for_cells(cells, 3, interrupted)
    interrupted.send_signal(signal.SIGINT)
    out, error = interrupted.communicate(timeout=300)
    assert interrupted.returncode == 130
    assert out == ""
    assert "--resume" in error
    assert "Traceback" not in error
    kept = cells.read_text().splitlines()
    assert 4 <= len(kept) < 21
    resumed = start(table, tmp_path / "run", "--resume")
    text = resumed.communicate(timeout=300)[0]
    assert resumed.returncode == 0
    assert cells.read_text().splitlines()[1 : len(kept)] == kept[1:]
    assert run("compare", table, *OPTIONS) == 0
    assert without_seconds(text) == without_seconds(capsys.readouterr().out)
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == json.loads(text)


def test_the_recommended_practice_is_a_list_of_methods(table, capsys):
    options = ["--estimators", "knn", "--folds", 2, "--practice"]
    assert run("compare", table, "--target", "y", *options, "--json") == 0
    names = {row["name"] for row in json.loads(capsys.readouterr().out)["methods"]}
    assert {"information-gain", "knn-forward", "sa", "saes", "saes-vote", "all features"} <= names
    frame = pl.read_csv(table)
    both = fewer.compare(frame, "y", ["practice", "fisher"], ["knn"], cv=2, random_state=0)
    practice = ["information-gain", "knn-forward", "sa", "saes", "saes-vote"]
    assert sorted(row.name for row in both.methods if row.role == "method") == sorted([*practice, "fisher"])
    assert run("compare", table, "--target", "y", *options, "--methods", "fisher") == 2
    assert "--practice is a list of methods" in capsys.readouterr().err
