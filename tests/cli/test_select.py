"""The command line as people meet it."""

import json
import re
import signal
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fewer.cli import main
from fewer.contracts.trace import Trace
from fewer.io import read_table
from fewer.roc import Parcel
from fewer.run.selection import Selection
from making import make_problem
from warm import Started

CONTRACT = """
features support score_search score_heldout score_heldout_all_features method criterion search control
n_evaluations seconds seed set_aside warnings
""".split()


def write_table(path: Path, **options) -> Path:
    problem = make_problem(**options)
    columns = {name: problem.X[:, i] for i, name in enumerate(problem.names)}
    pl.DataFrame({**columns, "y": problem.y}).write_csv(path)
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("data") / "table.csv", n_rows=80)


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


def test_json_is_the_contract(table, capsys):
    assert run("select", table, "--target", "y", "--method", "knn-forward", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert set(CONTRACT) <= set(result)
    assert sum(result["support"]) == len(result["features"])
    assert {"x0", "x1"} & set(result["features"])
    assert 0.5 < result["score_heldout"] <= 1.0
    assert 0.5 < result["score_heldout_all_features"] <= 1.0
    assert result["method"] == "knn-forward"
    assert result["n_evaluations"] > 6
    assert Selection.from_json(json.dumps(result)).features == result["features"]


def test_words_with_options_and_a_table(table, capsys):
    words = ["--criterion", "knn:n_neighbors=(1,3),cv=loo", "--search", "floating", "--control", "aggregate:n_runs=3"]
    assert run("select", table, "--target", "y", *words, "--features", "1-3", "--folds", 3) == 0
    text = capsys.readouterr().out
    assert "KNN(cv='loo', n_neighbors=(1, 3)) × Floating() × Aggregate(n_runs=3)" in text
    assert "Held-out accuracy" in text


LONG = {
    "forest-forward",
    "knn-annealing",
    "knn-aggregate",
    "sa",
    "saes",
    "saes-vote",
    "ga",
    "gaes",
    "gaes-vote",
    "gmlvq",
}


def test_any_method_runs(table, tmp_path, capsys):
    from fewer.registry import METHODS
    from fewer.run.planning import make_plan

    quantities = write_table(tmp_path / "r.csv", task="regression")
    for method in METHODS:
        assert make_plan(make_problem(), method).name == method
        if method in LONG:
            continue
        if method in ("chi2", "shap"):
            continue  # counts only, and these are not; a library whose import warns
        file = quantities if method == "rrelieff" else table
        assert run("select", file, "-t", "y", "-m", method, "--folds", 0, "--features", 2, "--json") == 0, method
        assert len(json.loads(capsys.readouterr().out)["features"]) == 2


def test_auto_for_the_users_model_and_preference(tmp_path, capsys):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 5))
    X[:, 4] = X[:, 0] + 0.01 * rng.normal(size=150)
    columns = {f"x{i}": X[:, i] for i in range(5)}
    pl.DataFrame({**columns, "y": (X[:, 0] + X[:, 1] > 0).astype(int)}).write_csv(tmp_path / "t.csv")
    page = tmp_path / "page.html"
    options = ["--prefer", "fewest", "--estimator", "tree", "--folds", 2, "--report", page, "--json"]
    assert run("select", tmp_path / "t.csv", "--target", "y", *options) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["method"], told["prefer"]) == ("auto", "fewest")
    assert "DecisionTreeClassifier" in told["criterion"]
    assert told["judges"] == {"chosen": "the given model", "all": "the given model"}
    assert told["curve"]["chosen"]["fewest"] == len(told["features"])
    assert len(told["curve"]["score"]) == len(told["curve"]["size"])
    assert list(told["stand_ins"].values()) in ([["x4"]], [["x0"]])
    text = page.read_text()
    assert all(word in text for word in ("fewest", "balanced", "accuracy", "substitutes"))


def test_parcel_answers_at_an_operating_point(table, tmp_path, capsys):
    page = tmp_path / "page.html"
    options = ["--max-fpr", 0.2, "--positive", 1, "--report", page, "--json"]
    assert run("select", table, "-t", "y", "-m", "parcel", *options) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(CONTRACT) <= set(result)
    assert set(result["features"]) <= set(result["all_features"])
    assert "How to get this classifier" in page.read_text()
    assert "Choose an operating point for class 1" in page.read_text()
    assert run("select", table, "-t", "y", "-m", "parcel", "--positive", "maybe") == 2
    assert "'maybe' is not a class; the classes are" in capsys.readouterr().err
    assert run("select", table, "-t", "y", "--max-fpr", 0.2) == 2
    assert "are for --method parcel" in capsys.readouterr().err


def test_a_parcel_that_was_stopped_or_killed_can_be_resumed(table, tmp_path, capsys, monkeypatch):
    options = ["select", table, "-t", "y", "-m", "parcel", "--json", "--out"]
    assert run(*options, tmp_path / "whole") == 0
    whole = told(capsys.readouterr().out)

    def stop(*arguments, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("fewer.roc.fit_parcel", stop)
        assert run(*options, tmp_path / "run") == 130
    assert f"Begin again with: --out {tmp_path / 'run'} --resume" in capsys.readouterr().err
    assert not (tmp_path / "run" / "result.json").exists()
    assert run(*options, tmp_path / "run", "--resume") == 0
    assert told(capsys.readouterr().out) == whole
    assert told((tmp_path / "run" / "result.json").read_text()) == whole
    assert run(*options, tmp_path / "run", "--resume", "--seed", 1) == 2
    assert "holds a different run (its seed differs)" in capsys.readouterr().err


def test_the_algorithm_as_printed_has_a_name_of_its_own(table, capsys):
    assert run("select", table, "-t", "y", "-m", "parcel-scott", "--max-fpr", 0.2, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    problem = read_table(table, "y")
    truth = Parcel(method="scott", edge_points=0, random_state=0).fit_problem(problem)
    assert result["method"] == "parcel-scott"
    assert [vertex["features"] for vertex in result["vertices"]] == [list(v.names) for v in truth.vertices_]
    assert result["n_evaluated"] == truth.n_evaluated_


def test_rank(table, capsys):
    assert run("rank", table, "--target", "y", "--json") == 0
    ranking = json.loads(capsys.readouterr().out)["ranking"]
    assert [row["rank"] for row in ranking] == [1, 2, 3, 4, 5, 6]
    assert {ranking[0]["feature"], ranking[1]["feature"]} == {"x0", "x1"}
    assert ranking == sorted(ranking, key=lambda row: -row["score"])
    assert run("rank", table, "--target", "y", "--top", 2) == 0
    *rows, what = capsys.readouterr().out.splitlines()
    assert len(rows) == 3
    assert what.startswith("Ranked by fisher: ")


def test_every_ranker_ranks(table, tmp_path, capsys):
    from fewer.registry import COMPONENTS

    quantities = write_table(tmp_path / "r.csv", task="regression")
    for ranker in COMPONENTS["ranker"]:
        if ranker in ("chi2", "shap"):
            continue  # counts only, and these are not; an extra
        word = f"{ranker}:n_rounds=2" if ranker == "gmlvq" else ranker
        file = quantities if ranker == "rrelieff" else table
        assert run("rank", file, "-t", "y", "-m", word, "--json") == 0, ranker
        ranking = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["ranking"]
        assert sorted(row["feature"] for row in ranking) == [f"x{i}" for i in range(6)]
        assert run("rank", file, "-t", "y", "-m", word) == 0, ranker
        capsys.readouterr()


def test_demo_says_what_readme_shows(capsys):
    assert run("demo") == 0
    text = capsys.readouterr().out
    shown = (Path(__file__).parents[2] / "README.md").read_text().split("```")
    block = next(part for part in shown if "of 36 features" in part)
    assert all(line.removesuffix("…") in text for line in block.strip().splitlines())
    assert "subsets scored in" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["select", "T", "--target", "y", "--method", "knn-floatin"], "'knn-floatin'; did you mean 'knn-floating'?"),
        (["select", "T", "--target", "y", "--criterion", "kn"], "Unknown criterion 'kn'; did you mean 'knn'?"),
        (["select", "T", "--target", "y", "--search", "fast"], "Unknown search 'fast'"),
        (["select", "T", "--target", "y", "--criterion", "knn:k=3"], "Criterion 'knn' has no option 'k'"),
        (["select", "T", "--target", "y", "--criterion", "knn:3"], "write name:option=value"),
        (["select", "T", "--target", "y", "--features", "many"], "--features 'many': use a number"),
        (["select", "T", "--target", "y", "--features", "9"], "9 features requested, but only 6 are available"),
        (["select", "T", "--target", "y", "--folds", "90"], "--folds 90 exceeds the 80 rows"),
        (["select", "T", "--target", "y", "--folds", "50"], "have as few as 40 rows, fewer than the 50 folds"),
        (["select", "T", "--target", "y", "--task", "guess"], "'guess' is not one of 'classification', 'regression'"),
        (["select", "T", "--target", "y", "--resume"], "--resume needs --out"),
        (["select", "T", "--target", "y", "--method", "knn-forward", "--search", "forward"], "not both"),
        (["select", "T", "--target", "y", "--metod", "x"], "No such option: --metod"),
        (["select", "T", "--target", "y", "--random-state", "0"], "--random-state (Possible options: --seed)"),
        (["compare", "T", "--target", "y", "--cv", "3"], "No such option: --cv (Possible options: --folds)"),
        (["selct", "T"], "No such command 'selct'"),
        (["select", "T"], "to list the columns: fewer inspect"),
        (["select", "nowhere.csv", "--target", "y"], "nowhere.csv"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(arguments, message, table, capsys):
    assert run(*[str(table) if argument == "T" else argument for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_runs_on_disk_resume_only_as_themselves(table, tmp_path, capsys):
    base = ["select", table, "--target", "y", "--method", "knn-forward", "--out", tmp_path / "run", "--json"]
    assert run(*base) == 0
    first = json.loads(capsys.readouterr().out)
    saved = json.loads((tmp_path / "run" / "result.json").read_text())
    assert saved == first
    assert run(*base, "--resume") == 0
    again = json.loads(capsys.readouterr().out)
    assert {**again, "seconds": 0} == {**first, "seconds": 0}
    assert run(*base, "--resume", "--seed", 1) == 2
    assert "holds a different run (its seed differs)" in capsys.readouterr().err
    assert run(*base[:6], tmp_path / "nothing", "--resume") == 2
    capsys.readouterr()
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert run("select", table, "--target", "y", "--out", blocked / "run") == 2
    assert "cannot be written" in capsys.readouterr().err


# A share of rows as the smallest leaf (here one row) leaves the trees to scikit-learn; the compiled ones end too soon.
SLOW_TREE = "cross-validated:estimator='tree:min_samples_leaf=0.005',cv=8"
LONG_RUNS = {
    "exhaustive": ["--search", "exhaustive"],
    "floating": ["--search", "floating:overshoot=9"],
    "annealing": ["--search", "annealing:effort=0.15"],
}
STOPPED = """
import os, signal
from fewer.run import folder as runs
keep, n_kept = runs.RunFolder.keep_trace, []
def keep_and_stop(self, trace, *, now=False):
    keep(self, trace, now=True)
    n_kept.append(trace)
    if len(n_kept) == 2:
        os.kill(os.getpid(), signal.{0})
runs.RunFolder.keep_trace = keep_and_stop
"""
"""A run that gets a signal when it has saved its second step; signals at any time are in the torture suite."""


def start(table, out, words, *more, prelude=""):
    command = ["select", table, "--target", "y", "--criterion", "knn", *words]
    return Started(*command, "--folds", "0", "--json", "--out", out, *more, prelude=prelude)


@pytest.fixture(scope="module")
def long_table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("data") / "long.csv", n_rows=150, n_features=8, seed=2)


def told(text):
    """Return a result without what may differ between a run and its twin: the time, and the folder it was kept in."""
    return {key: value for key, value in json.loads(text).items() if key not in ("seconds", "command")}


@pytest.mark.parametrize("name", LONG_RUNS)
def test_a_killed_run_resumes_to_the_same_result(name, long_table, tmp_path):
    whole, _ = start(long_table, tmp_path / "whole", LONG_RUNS[name]).communicate()
    killed = start(long_table, tmp_path / "killed", LONG_RUNS[name], prelude=STOPPED.format("SIGKILL"))
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed" / "result.json").exists()
    assert not Trace.load(tmp_path / "killed" / "trace.npz").done
    resumed, errors = start(long_table, tmp_path / "killed", LONG_RUNS[name], "--resume").communicate()
    assert errors == ""
    assert told(resumed) == told(whole)


def test_ctrl_c_prints_and_saves_the_best_so_far(long_table, tmp_path):
    process = start(long_table, tmp_path / "run", LONG_RUNS["exhaustive"], prelude=STOPPED.format("SIGINT"))
    out, errors = process.communicate()
    assert process.returncode == 130
    result = json.loads(out)
    assert result["interrupted"]
    assert result["features"]
    assert "Traceback" not in errors
    assert "--resume" in errors
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == result
    resumed, _ = start(long_table, tmp_path / "run", LONG_RUNS["exhaustive"], "--resume").communicate()
    assert not json.loads(resumed)["interrupted"]


def test_ctrl_c_without_a_folder_makes_one(long_table, tmp_path):
    command = ["select", long_table, "--target", "y", "--folds", "0"]
    for patience in (2, 5, 15, 45):
        process = Started(*command, "--criterion", SLOW_TREE, "--search", "annealing:effort=100", cwd=tmp_path)
        time.sleep(patience)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate()
        if "long.fewer" in errors:
            break
    assert process.returncode == 130
    assert "long.fewer" in errors
    assert Trace.load(tmp_path / "long.fewer" / "trace.npz").n_steps >= 1
    assert "features selected" in out


def test_the_terminal_answers_all_that_was_asked(table, capsys):
    assert run("select", table, "--target", "y", "--method", "fisher", "--folds", "0", "--alternatives", "7") == 0
    said = re.search("As good as the best: ([0-9]+) of ([0-9]+) subsets looked at. Not all ", capsys.readouterr().out)
    assert 1 <= int(said[1]) <= int(said[2]) == 7
    assert run("select", table, "--target", "y", "--folds", "0", "--device", "cuda") == 0
    assert "auto runs on the CPU, not on the GPU" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--json"], ["--report", "page.html"], ["--out", "run"]])
def test_what_the_terminal_does_not_show_is_not_measured(more, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("fewer.run.running._evidence", lambda *about: asked.append(about) or {})
    monkeypatch.chdir(tmp_path)
    table = write_table(tmp_path / "t.csv")
    assert run("select", table, "--target", "y", "--method", "fisher", *more) == 0
    assert bool(asked) == bool(more)


def test_regression_and_forced_columns(tmp_path, capsys):
    table = write_table(tmp_path / "r.csv", task="regression")
    options = ["--method", "knn-floating", "--include", "x5", "--exclude", "x0", "--folds", 3, "--json"]
    assert run("select", table, "--target", "y", *options) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["score_name"] == "R²"
    assert "x5" in result["features"]
    assert "x0" not in result["features"]
    assert np.isfinite(result["score_heldout"])


@pytest.mark.parametrize(
    ("method", "watched", "lines"), [("knn-forward", True, 1), ("knn-forward", False, 0), ("fisher", True, 0)]
)
def test_a_terminal_says_before_a_search_how_far_luck_goes(method, watched, lines, table, capsys, monkeypatch):
    """Once; 80 rows and 6 features: √(2 ln 6 / 4 / 80) is 0.11. A ranking has no such line."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched)
    assert run("select", str(table), "--target", "y", "--method", method, "--folds", "2") == 0
    told = capsys.readouterr()
    assert " ".join(told.err.split()).count("about 11 points above chance by luck alone") == lines
    assert "luck" not in told.out


def test_a_long_answer_does_not_push_the_verdict_out_of_a_terminal(tmp_path, capsys, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 45))
    wide = tmp_path / "wide.csv"
    pl.DataFrame(X).with_columns(y=pl.Series([0, 1] * 30)).write_csv(wide)
    line = ["select", wide, "-t", "y", "-m", "fisher", "-f", "45", "--folds", "0"]
    assert run(*line) == 0
    shown = capsys.readouterr().out
    assert "more; all are in" not in shown
    assert shown.startswith("All 45 features are selected, so there is nothing to compare.\n")  # fisher drops none
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(*line) == 0
    assert "and 5 more; all are in --json, --report and --save" in capsys.readouterr().out


def test_where_nothing_is_found_no_empty_table_is_shown(tmp_path, capsys):
    X = np.random.default_rng(3).normal(size=(80, 4))
    noise = tmp_path / "noise.csv"
    pl.DataFrame(X).with_columns(y=pl.Series([0, 1] * 40)).write_csv(noise)
    assert run("select", noise, "-t", "y") == 0
    shown = capsys.readouterr().out
    assert shown.count("No signal found") == 1
    assert "selected in" not in shown
    assert "0 of 4 features" not in shown
    assert "with the best candidate of each fold" in shown
