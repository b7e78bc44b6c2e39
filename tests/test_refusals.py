"""Bad input on the real command line: one line that names the place and the cure, exit code 2, nothing written."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fewer
from fewer import SubsetSelector, registry
from fewer.cli import main
from fewer.control import Aggregate, ChosenNoise, EarlyStopping, Noise, OneStandardError, Probe, Shadow
from fewer.criteria import KNN, NaiveBayes
from fewer.errors import InputError
from fewer.io import to_problem
from fewer.run.planning import make_plan
from fewer.search import Annealing, Forward
from warm import Started

GOOD = "size,weight,color,outcome\n" + "".join(
    f"{i % 7},{i * 3 % 11},{'red' if i % 3 else 'blue'},{'yes' if i % 2 else 'no'}\n" for i in range(20)
)
TEN = GOOD.split("\n")[0] + "\n" + "\n".join(GOOD.split("\n")[1:11]) + "\n"
QUANTITY = "a,b,y\n" + "".join(f"{i},{i * i % 7},{i * 1.5}\n" for i in range(30))


def parquet(path):
    pl.DataFrame({"a": [[1], [2]] * 10, "outcome": ["x", "y"] * 10}).write_parquet(path)


HOLE = (
    "The target is missing in line 22; fill the cell, delete the row, or skip such rows (--skip-rows-without-target)."
)
FILES = {
    "good.csv": GOOD,
    "ten.csv": TEN,
    "quantity.csv": QUANTITY,
    "empty.csv": "",
    "header.csv": "size,outcome\n",
    "lonely.csv": "outcome\nyes\nno\n",
    "ragged.csv": GOOD + "1,2,red\n",
    "long.csv": GOOD + "1,2,red,yes,9\n",
    "binary.csv": b"size,outcome\n\x00\x01\x02,yes\n",
    "latin.csv": "größe,outcome\n1,schön\n2,nicht\n".encode("latin-1"),
    "excel.csv": b"PK\x03\x04\x14\x00",
    "broken.csv.gz": gzip.compress(GOOD.encode(), mtime=0)[:40],
    "quote.csv": 'size,outcome\n1,"yes\n2,no\n',
    "one.csv": "size,outcome\n1,yes\n2,yes\n3,yes\n",
    "flat.csv": "size,outcome\n3.5,3.5\n4.5,3.5\n",
    "own.csv": "size,outcome\n1,a\n2,b\n3,c\n",
    "hole.csv": GOOD + "1,2,red,\n",
    "infinite.csv": GOOD + "1,-inf,red,no\n",
    "constant.csv": "size,color,outcome\n" + "1,red,yes\n1,red,no\n" * 8,
    "mistake.csv": GOOD + "1,about 3,red,no\n",
    "comma.csv": "size;outcome\n1,5;yes\n2,5;no\n",
    "rare.csv": GOOD + "1,1,red,maybe\n",
    "lists.parquet": parquet,
    "bad.arff": "@relation r\n@attribute size numeric\n@attribute outcome {yes,no}\n@data\n1,yes\n2,perhaps\n",
}

FIXES = {
    "select infinite.csv -t outcome": "--missing=-inf",
    "select mistake.csv -t outcome": "'--missing=about 3'",
    "select hole.csv -t outcome": "--skip-rows-without-target",
    "rank hole.csv -t outcome": "--skip-rows-without-target",
}
CASES = [
    # the file
    ("select nowhere.csv -t y", "File not found: nowhere.csv; check the path."),
    ("select god.csv -t y", "File not found: god.csv; did you mean good.csv?"),
    ("select . -t y", ". mixes Parquet and other files; name files of one kind."),
    ("select empty.csv -t y", "empty.csv is empty; a table with a header row is needed."),
    ("select header.csv -t outcome", "header.csv has a header (line 1), but no rows below it; give a table with rows."),
    (
        "select binary.csv -t outcome",
        "binary.csv is not a text table (line 2 holds a zero byte); see fewer help tables.",
    ),
    ("select excel.csv -t y", "excel.csv cannot be unpacked: it is damaged; copy or pack it again."),
    (
        "select broken.csv.gz -t y",
        "broken.csv.gz cannot be unpacked: it is damaged; copy or pack it again.",
    ),
    (
        "select latin.csv -t outcome --encoding utf-8",
        "latin.csv is not utf-8 text ('utf-8' codec can't decode byte 0xf6 in position 2: invalid start byte); give "
        "another --encoding.",
    ),
    # its lines
    (
        "select ragged.csv -t outcome",
        "ragged.csv, line 22 has 3 cells, but the header has 4; correct the line, and quote cells that hold the "
        "separator.",
    ),
    (
        "select long.csv -t outcome",
        "long.csv, line 22 has 5 cells, but the header has 4; correct the line, and quote cells that hold the "
        "separator.",
    ),
    (
        "select quote.csv -t outcome",
        "quote.csv, line 2: a quote is not closed, or not followed by the separator; write a quote inside a cell as "
        '"".',
    ),
    (
        "select bad.arff -t outcome",
        "bad.arff, line 6: 'perhaps' in attribute 'outcome' is none of its levels; correct the cell or the "
        "declaration.",
    ),
    # its columns
    (
        "select lonely.csv -t outcome",
        "lonely.csv has only the target column 'outcome'; there is nothing to select.",
    ),
    ("select good.csv -t outcom", "good.csv has no column 'outcom'; did you mean 'outcome'?"),
    (
        "select good.csv -t label",
        "good.csv has no column 'label'; the columns are 'size', 'weight', 'color', 'outcome'.",
    ),
    (
        "select good.csv -t 7",
        "good.csv has no column 7; its 4 columns are numbered 0 to 3, or -4 to -1 from the end.",
    ),
    ("select constant.csv -t outcome", "Every column is constant or empty; at least one must vary."),
    (
        "select infinite.csv -t outcome",
        "Column 'weight' is infinite in line 22; correct the cell, or clear it if unknown.",
    ),
    (
        "select mistake.csv -t outcome",
        "Column 'weight' holds numbers, but line 22 is 'about 3'; correct or clear the cell, or make the "
        "column nominal (--nominal weight).",
    ),
    (
        "select lists.parquet -t outcome",
        "lists.parquet has only the target column 'outcome'; there is nothing to select.",
    ),
    (
        "select good.csv -t outcome --nominal colour",
        "nominal names 'colour', not a feature; did you mean 'color'?",
    ),
    # its target
    ("select one.csv -t outcome", "The target has only one class, 'yes'; at least two are needed."),
    ("select flat.csv -t outcome", "The target has only one value, 3.5; choose another target."),
    (
        "select own.csv -t outcome",
        "The target has 3 classes in 3 rows, one per row; choose another target, or task regression if it is numeric.",
    ),
    ("select hole.csv -t outcome", HOLE),
    (
        "select good.csv -t outcome --task regression",
        "The target holds text (line 2: 'no'), not numbers; choose task classification.",
    ),
    ("rank hole.csv -t outcome", HOLE),
    # what is asked of it
    (
        "select rare.csv -t outcome",
        "Class 'maybe' has 1 row, fewer than the 5 folds; drop rare classes (rare='drop', --rare drop).",
    ),
    (
        "select good.csv -t outcome --features 5",
        "5 features requested, but only 3 are available; ask for at most 3.",
    ),
    ("select good.csv -t outcome --method knn-forwrd", "Unknown method 'knn-forwrd'; did you mean 'knn-forward'?"),
    ("select good.csv -t outcome --criterion kn", "Unknown criterion 'kn'; did you mean 'knn'?"),
    ("select good.csv -t outcome --search forwards", "Unknown search 'forwards'; did you mean 'forward'?"),
    (
        "select good.csv -t outcome --criterion knn:n_neighbours=3",
        "Criterion 'knn' has no option 'n_neighbours'; did you mean 'n_neighbors'?",
    ),
    (
        "select good.csv -t outcome --task sorting",
        "Invalid value for '--task': Value error, 'sorting' is not one of 'classification', 'regression'.",
    ),
    ("select good.csv -t outcome --resume", "--resume needs --out, the folder of the run to resume."),
    (
        "select good.csv -t outcome --folds 0 --out run --resume",
        "No run to resume in run; omit --resume to start one.",
    ),
    (
        "select good.csv -t outcome --folds 0 --out good.csv/run",
        "good.csv/run cannot be written (Not a directory); choose another --out.",
    ),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, content in FILES.items():
        path = tmp_path / name
        if callable(content):
            content(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(arguments, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    captured = capsys.readouterr()
    assert leaving.value.code == 2
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(("command", "message"), CASES, ids=[command for command, _ in CASES])
def test_one_line_says_what_where_and_the_cure(folder, capsys, command, message):
    if command in FIXES:
        message += f"\nHow to fix: correct the cells, or go on without them:\n  fewer {command} {FIXES[command]}"
    assert refusal(command.split(), capsys) == f"fewer: {message}\n"
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)


@pytest.mark.parametrize("option", ["--metod", "--serch"])
def test_an_unknown_option_is_answered_with_the_nearest(folder, capsys, option):
    error = refusal(["select", "good.csv", "-t", "outcome", option, "x"], capsys)
    assert error.startswith(f"fewer: No such option: {option}")
    assert {"--metod": "--method", "--serch": "--search"}[option] in error
    assert error.count("\n") == 1


def test_a_run_is_not_resumed_as_another(folder, capsys):
    start = ["select", "good.csv", "-t", "outcome", "--folds", "0", "--out", "run", "--method"]
    with pytest.raises(SystemExit) as leaving:
        main([*start, "knn-forward"])
    assert not leaving.value.code
    capsys.readouterr()
    before = {path: path.read_bytes() for path in Path("run").iterdir()}
    error = refusal([*start, "knn-backward", "--resume"], capsys)
    assert error.startswith("fewer: run holds a different run (its ")
    assert error.endswith(" differ); choose another folder.\n")
    (folder / "good.csv").write_text(GOOD.replace("0,0,blue,no", "5,0,blue,no"))
    error = refusal([*start, "knn-forward", "--resume"], capsys)
    assert error == "fewer: run holds a different run (its data differ); choose another folder.\n"
    assert {path: path.read_bytes() for path in Path("run").iterdir()} == before


def test_the_cures_help(folder, capsys):
    for command, features in {
        "rank latin.csv -t outcome --encoding latin-1": "größe",
        "rank comma.csv -t outcome --decimal ,": "size",
        "rank mistake.csv -t outcome --nominal weight": "weight",
        "rank comma.csv -t -1 --nominal size": "size",
    }.items():
        if "latin" in command:
            (folder / "latin.csv").write_bytes("größe,outcome\n1,schön\n2,nicht\n3,schön\n".encode("latin-1"))
        if "comma" in command:
            (folder / "comma.csv").write_text("size;outcome\n1,5;yes\n2,5;no\n3,5;no\n")
        with pytest.raises(SystemExit) as leaving:
            main(command.split())
        assert not leaving.value.code
        assert features in capsys.readouterr().out


def test_a_file_larger_than_memory(folder, capsys, monkeypatch):
    monkeypatch.setattr("fewer.io._files.available_memory", lambda: 100)
    assert refusal(["select", "good.csv", "-t", "outcome"], capsys) == (
        "fewer: good.csv needs about 0.3 KiB of memory, but 0.1 KiB is free; read it in chunks (--stream), "
        "drop columns (--exclude), or sample its rows.\n"
    )


# -------------------------------------------------------------------------------------------------- calls in Python


def _table():
    X = np.random.default_rng(0).normal(size=(60, 4))
    return X, (X[:, 0] > 0).astype(int), np.column_stack([X[:, 0] + X[:, 1], X[:, 2]])


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda X, y, _: fewer.select(X, y, method=None), "method=None is no name"),
        (lambda X, y, _: fewer.select(X, None), "y is None; give one value for each row"),
        (lambda X, y, _: fewer.select(X, y, method="fisher", cv=[]), "gives 0 split"),
        (lambda X, y, _: fewer.compare(X, y, methods=["fisher"], estimators=[]), "no estimator to judge by"),
        (lambda X, y, _: SubsetSelector(KNN(10**9), Forward()).fit(X, y), "there are 60 rows; take fewer"),
        (lambda X, y, _: fewer.select(X, y, exclude=["x0", "x1", "x2", "x3"]), "Every feature is excluded"),
        (lambda X, y, _: fewer.select(pd.DataFrame(X), y, exclude=[0, 1, 2, 3]), "Every feature is excluded"),
        (lambda X, y, _: fewer.select(X, y, "fisher", time=0 * y), "cannot be split into earlier and later ones by"),
        (lambda X, y, Y: fewer.select(X, Y), "2 columns, and method='auto' works with one"),
        (lambda X, y, Y: fewer.select(X, Y > 0), "2 columns, and method='auto' works with one"),
        (lambda X, y, Y: fewer.select(X, Y, ranker="f-test"), "2 columns, and method='auto' works with one"),
        (lambda X, y, Y: fewer.select(X, Y, criterion="knn"), "KNN works with one target"),
        (lambda X, y, _: SubsetSelector().fit(X[:, 0], y), "Expected 2D array, got 1D array"),
        (lambda X, y, _: SubsetSelector(n_jobs=0).fit(X, y), "'n_jobs' parameter of SubsetSelector"),
        (lambda X, y, _: SubsetSelector().fit(X, y, sample_weight=np.ones(61)), "sample_weight.shape"),
        (lambda X, y, _: SubsetSelector(feature_groups=[[]]).fit(X, y), "A feature group names no columns"),
        (lambda X, y, _: fewer.select(X, y, n_jobs="many"), "'n_jobs' parameter of select"),
        (lambda X, y, _: fewer.select(X, y, random_state=float("nan")), "'random_state' parameter of select"),
        (lambda X, y, _: fewer.select(X, y, include=3), "include=3 names no columns"),
        (lambda X, y, _: fewer.select(X, y, task={}), "'task' parameter of select"),
        (lambda X, y, _: fewer.select(X, y, cv=object()), "is neither a number of folds"),
        (lambda X, y, _: fewer.select(X, y, groups=y[:3], sample_weight=y + 1.0), "groups has shape"),
        (
            lambda X, y, _: fewer.select(X, y, memory=np.zeros((2, 2, 2))),
            r"^memory=array\(.*\) is not an amount of memory",
        ),
        (lambda X, y, _: fewer.compare(X, y, [None]), "None is neither a name nor"),
        (lambda X, y, _: fewer.compare(X, y, ["parcel"]), "use fewer.roc.Parcel"),
        (lambda X, y, _: fewer.compare(X, y, on_progress=object), "on_progress must take three arguments"),
        (lambda X, y, _: fewer.compare(X, y, on_progress=lambda done: None), "on_progress must take three arguments"),
        (lambda X, y, _: fewer.select(X, y, "parcel-scott"), "use fewer.roc.Parcel"),
        (lambda X, y, _: fewer.select({"a": X[:, 0]}, y), "X is of type dict; give an array"),
        (lambda X, y, _: fewer.select(None, y), "X is of type NoneType; give an array"),
        (lambda X, y, _: fewer.compare(X, y, {"a": 1}), "1 is neither a name nor"),
        (lambda X, y, _: SubsetSelector(NaiveBayes(cv=[])).fit(X, y), "gives no split"),
        (lambda X, y, _: fewer.validate.wilcoxon([0.5], None), "must be finite numbers"),
        (lambda X, y, _: fewer.select(X, y, alternatives="all"), "'alternatives' parameter of select"),
        (lambda X, y, _: fewer.validate.holm("1"), "p_values must be a list"),
        (lambda X, y, Y: fewer.select(np.zeros((60, 1)), np.arange(60).astype(str)), "constant|classes"),
    ],
)
def test_calls_that_cannot_be_answered_are_refused_in_one_line(call, why):
    with pytest.raises(InputError, match=why) as refused:
        call(*_table())
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("control", [Aggregate, Noise, OneStandardError, Probe, ChosenNoise, Shadow, EarlyStopping])
def test_what_is_no_control_is_refused_by_whatever_holds_it(control):
    X, y, _ = _table()
    with pytest.raises(InputError, match="control='often' is no control"):
        SubsetSelector(KNN(), Annealing(), control=control(control="often")).fit(X, y)


@pytest.mark.parametrize("criterion", ["least-squares", "cross-validated:estimator=tree"])
@pytest.mark.parametrize("labels", [False, True])
def test_several_targets_are_searched_and_not_judged(criterion, labels):
    X, _, Y = _table()
    Y = (Y > 0).astype(int) if labels else Y
    answer = fewer.select(X, Y, criterion=criterion, search="forward", random_state=0)
    assert "With several targets there is no held-out evaluation" in " ".join(answer.notes)
    direct = make_plan(to_problem(X, Y, multi_output=True), criterion=criterion, search="forward", seed=0)
    assert [f"x{i}" for i in np.flatnonzero(direct.selector.fit(X, Y).support_)] == sorted(map(str, answer.features))


@pytest.mark.parametrize("method", ["auto", *registry.METHODS])
def test_groups_that_leave_nothing_to_compare_are_refused_by_their_name(method):
    X, y, _ = _table()
    for groups, what in ((np.zeros(60), "all 60 rows are of one group"), (y, "each class is one group")):
        with pytest.raises(InputError, match=f"here {what}. Give .*groups.*, or none") as refused:
            fewer.select(X, y, method=method, groups=groups)
        assert "\n" not in str(refused.value)


def _few_groups(y):
    rows = np.arange(len(y))
    return {"two": rows % 2, "three": rows % 3, "a class in one of six": np.where(y == 0, 0, 1 + rows % 5)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("groups", _few_groups(np.zeros(2)))
@pytest.mark.parametrize(
    "method",
    ["knn-forward", "fisher", "lasso", "rfe", "lasso-path", "linear-forward", "stability", "gamma-forward"],
)
def test_too_few_groups_for_folds_within_folds_are_answered_or_refused_by_their_name(method, groups):
    """Folds of a part of the groups had gaps in their numbers, which models were asked to predict."""
    X, y, _ = _table()
    X = np.c_[X, X[:, :2] ** 2]
    refused = ""
    try:
        fewer.select(X, y, method=method, groups=_few_groups(y)[groups], random_state=0)
    except InputError as error:
        refused = str(error)
    assert "\n" not in refused
    assert "group" in refused or not refused
    assert refused or groups != "two"  # one is held out, and one is left to be split


def test_more_classes_than_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr("fewer.io._reader.available_memory", lambda: 10_000)
    monkeypatch.setattr("fewer.io._reader.DENSE_BYTES", 10_000)  # smaller targets are not worth asking
    with pytest.raises(InputError, match="merge rare classes"):
        to_problem(np.arange(100.0)[:, None], np.repeat(np.arange(50), 2).astype(str))


def test_a_full_disk_under_the_list_of_data_sets_is_an_error():
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    for arguments in ([], ["sonar"], ["--json"]):
        with Path("/dev/full").open("wb") as full:
            process = Started("datasets", *arguments, stdout=full)
            error = process.communicate()[1]
        assert process.returncode == 1
        assert "cannot print the result" in error
