"""Options that cannot be used, and tables that are small or odd: an answer or one line."""

import json

import numpy as np
import polars as pl
import pytest

import fewer
from fewer.cli import main
from fewer.errors import InputError
from making import make_problem


def write(path, X, y):
    pl.DataFrame({**{f"x{i}": X[:, i] for i in range(X.shape[1])}, "y": y}).write_csv(path)
    return path


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    classes, quantities = make_problem(), make_problem(task="regression")
    return {
        "T": write(folder / "t.csv", classes.X, classes.y),
        "R": write(folder / "r.csv", quantities.X, quantities.y),
        "SIX": write(folder / "six.csv", classes.X[:6, :3], classes.y[:6]),
        "EIGHT": write(folder / "eight.csv", classes.X[:8, :3], classes.y[:8]),
        "HUGE": write(folder / "huge.csv", 1e60 * classes.X, classes.y),
        "TINY": write(folder / "tiny.csv", 1e-170 * classes.X, classes.y),
    }


def run(tables, arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(tables.get(word, word)) for word in arguments.split()])
    return stop.value.code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("select T -t y --encoding hex", "Encoding 'hex' is not known"),
        ("select T -t y --seed -1", "--seed"),
        ("rank T -t y --seed -1", "--seed"),
        ("compare T -t y --seed 99999999999", "--seed"),
        ("select T -t y -j 0", "--jobs 0"),
        ("compare T -t y -j 0", "--jobs 0"),
        ("compare T -t y -j 9223372036854775808", "--jobs 9223372036854775808 is not valid; use 1 to 10,000"),
        ("rank T -t y --top 0", "--top"),
        ("compare T -t y --repeats 0", "--repeats"),
        ("compare T -t y -m fisher -e knn:n_neighbors=1000", "Judging by 'knn:n_neighbors=1000'"),
        ("compare T -t y -m fisher -e svm:C=-1", "'C' parameter of SVC"),
        ("compare T -t y -m fisher -e forest:max_depth=-1", "'max_depth' parameter of RandomForestClassifier"),
        ("compare T -t y -m fisher --scoring r2", "r2 is for regression"),
        ("compare R -t y -m knn-forward --scoring roc_auc", "roc_auc is for classification"),
        ("compare T -t y -m fisher --scoring acuracy", "did you mean 'accuracy'"),
        ("compare T -t y -m sklearn.feature_selection:SelectKBest(k=-9)", "The selection by 'SelectKBest(k=-9)'"),
        ("select T -t y -m linear-forward --folds 0 --scoring nonsense", "Unknown score 'nonsense'"),
        ("select T -t y -m parcel --folds -1", "does not take --folds"),
        ("select T -t y -m parcel --include y", "does not take --include"),
        ("select T -t y -m parcel --features 2 -j 2", "does not take --features, --jobs"),
        ("compare EIGHT -t y -m fisher --folds 2", "Judging by 'knn' after 4 rows"),
        ("compare SIX -t y -m fisher --folds 2", "Judging by 'knn' after 3 rows"),
        ("select TINY -t y", "varies by"),
    ],
)
def test_one_line_says_what_is_wrong(tables, arguments, message, capsys):
    assert run(tables, arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        "select SIX -t y -m linear-forward --folds 0",
        "select SIX -t y -m knn-forward --folds 2",
        "select EIGHT -t y -m knn-forward --folds 2",
        "select HUGE -t y -m knn-forward --folds 2",
        "compare EIGHT -t y -m fisher --folds 2 -e knn:n_neighbors=1,tree",
        "compare HUGE -t y -m fisher -e knn,linear,svm,forest",
        "rank HUGE -t y",
    ],
)
def test_small_and_odd_tables_are_answered(tables, arguments, capsys):
    assert run(tables, arguments + " --json") == 0
    content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert content.get("features") or content.get("methods") or content.get("ranking")


def test_an_infinite_score_is_a_number_in_json(tmp_path, capsys):
    table = write(
        tmp_path / "t.csv", np.column_stack([np.arange(40) % 2 * 2.0, np.sin(np.arange(40))]), np.arange(40) % 2
    )
    assert run({}, f"rank {table} -t y --json") == 0
    best = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["ranking"][0]
    assert best["feature"] == "x0"
    assert best["score"] > 1e300
    assert run({}, f"select {table} -t y --criterion fisher-ratio --folds 0 -f 1 --json") == 0
    selection = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert selection["features"] == ["x0"]
    assert selection["score_search"] is not None


def test_masked_cells_are_missing_cells():
    problem = make_problem()
    X = problem.X.copy()
    X[::5, 0] = 1e9
    masked = np.ma.masked_greater(X, 1e8)
    holes = np.where(X > 1e8, np.nan, X)
    for method in ("knn-forward", "fisher"):
        one, other = (
            fewer.select(table, problem.y, method, n_features_to_select=2, cv=0, random_state=0)
            for table in (masked, holes)
        )
        assert (one.features, one.score_search) == (other.features, other.score_search)
    with pytest.raises(InputError, match="missing"):
        fewer.select(problem.X, np.ma.masked_equal(problem.y, 1), "fisher", cv=0)


def test_weights_that_cannot_be_added_up():
    problem = make_problem()
    with pytest.raises(InputError, match="too large"):
        fewer.SubsetSelector().fit(problem.X, problem.y, sample_weight=np.full(60, 1e308))


def test_the_order_of_the_rows_matters_only_where_folds_are_drawn():
    problem = make_problem(n_rows=90, decimals=6)
    order = np.random.default_rng(1).permutation(90)
    for method in ("fisher", "relieff", "mrmr", "classifiability"):
        one = fewer.select(problem.X, problem.y, method, n_features_to_select=3, cv=0, random_state=0)
        other = fewer.select(problem.X[order], problem.y[order], method, n_features_to_select=3, cv=0, random_state=0)
        assert one.features == other.features, method
    loo = {"criterion": fewer.criteria.KNN(cv="loo"), "search": fewer.search.Forward()}
    one = fewer.select(problem.X, problem.y, **loo, cv=0, random_state=0)
    other = fewer.select(problem.X[order], problem.y[order], **loo, cv=0, random_state=0)
    assert (one.features, one.score_search) == (other.features, other.score_search)
