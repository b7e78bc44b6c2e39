import gzip
import io
import json
import subprocess
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fewer
from fewer.cli import main
from fewer.errors import FewerWarning, InputError
from fewer.io import frame_bytes, read_frame, read_table, reduce_table, to_problem
from fewer.io.memory import available_memory
from making import xlsx
from warm import Started

N = 60


def make_frame(target):
    """Numbers, words with commas and quotes, truth values, dates, missing."""
    rng = np.random.default_rng(7)
    y = np.arange(N) % 3

    def missing(cells):
        return [None if rng.random() < 0.1 else cell for cell in cells]

    frame = pl.DataFrame(
        {
            "size": missing((rng.normal(size=N) + y).tolist()),
            "count": missing((rng.integers(0, 5, N) + y).tolist()),
            "color": missing(rng.choice(["red", "dark blue", 'the "new", one', "größer"], N).tolist()),
            "flag": missing((rng.random(N) < 0.5).tolist()),
            "day": missing([date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 900, N)]),
            "time": missing([datetime(2020, 1, 1) + timedelta(minutes=int(d)) for d in rng.integers(0, 90_000, N)]),
            "void": [None] * N,
        },
        schema_overrides={"void": pl.Float64},
    )
    labels = {"text": [f"class {c}" for c in y], "number": y.tolist(), "quantity": (y + rng.normal(size=N)).tolist()}
    return frame.with_columns(pl.Series("y", labels[target]))


def arff(frame):
    def quote(cell):
        return "'" + str(cell).replace("\\", "\\\\").replace("'", "\\'") + "'"

    def declare(column):
        if column.dtype == pl.String:
            return "{" + ",".join(quote(level) for level in column.unique().drop_nulls()) + "}"
        if column.dtype == pl.Boolean:
            return "{true,false}"
        if column.dtype == pl.Date:
            return 'date "yyyy-MM-dd"'
        return "date" if column.dtype == pl.Datetime else "numeric"

    def write(cell):
        if cell is None:
            return "?"
        if isinstance(cell, bool):
            return str(cell).lower()
        if isinstance(cell, str):
            return quote(cell)
        return cell.isoformat() if isinstance(cell, date) else repr(cell)

    lines = ["@relation test", *(f"@attribute {column.name} {declare(column)}" for column in frame), "@data"]
    return "\n".join(lines + [",".join(write(cell) for cell in row) for row in frame.rows()])


def write_pandas_csv(frame, path):
    frame.to_pandas().to_csv(path, index=False)


WRITERS = {
    "t.csv": lambda frame, path: frame.write_csv(path),
    "pandas.csv": write_pandas_csv,
    "t.tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "semicolon.csv": lambda frame, path: frame.write_csv(path, separator=";"),
    "t.csv.gz": lambda frame, path: path.write_bytes(gzip.compress(frame.write_csv().encode())),
    "latin.csv": lambda frame, path: path.write_bytes(frame.write_csv().encode("latin-1")),
    "t.parquet": lambda frame, path: frame.write_parquet(path),
    "category.parquet": lambda frame, path: frame.cast({pl.String: pl.Categorical}).write_parquet(path),
    "pandas.parquet": lambda frame, path: frame.to_pandas().to_parquet(path),
    "t.arff": lambda frame, path: path.write_text(arff(frame), encoding="utf-8"),
    "t.arff.gz": lambda frame, path: path.write_bytes(gzip.compress(arff(frame).encode())),
}


@pytest.mark.parametrize("target", ["text", "number", "quantity"])
@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_problem(tmp_path, name, target):
    frame = make_frame(target)
    WRITERS[name](frame, tmp_path / name)
    problem = read_table(tmp_path / name, "y", encoding="latin-1" if name == "latin.csv" else "utf-8")
    expected = to_problem(frame.drop("y"), frame["y"])
    np.testing.assert_array_equal(problem.X, expected.X)
    np.testing.assert_array_equal(problem.y, expected.y)
    assert problem.kinds == expected.kinds == ("numeric", "numeric", "nominal", "boolean", *["numeric"] * 3)
    assert (problem.names, problem.levels, problem.task) == (expected.names, expected.levels, expected.task)
    assert [(type(c), c) for c in problem.classes] == [(type(c), c) for c in expected.classes]
    assert set(expected.notes) <= set(problem.notes)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arff"])
def test_every_format_gives_the_same_selection(tmp_path, name):
    frame = make_frame("text")
    WRITERS[name](frame, tmp_path / name)
    found = fewer.SubsetSelector(random_state=0).fit_problem(read_table(tmp_path / name, "y"))
    with pytest.warns(FewerWarning, match="hold dates"):
        expected = fewer.SubsetSelector(random_state=0).fit(frame.drop("y"), frame["y"].to_numpy())
    assert found.support_.tolist() == expected.support_.tolist()
    assert found.score_ == expected.score_


@pytest.mark.parametrize("target", ["text", "quantity"])
def test_the_command_line_gives_the_same_answer_through_every_format(tmp_path, capsys, target):
    frame = make_frame(target)
    answers = {}
    for name in ("t.csv", "t.tsv", "t.csv.gz", "category.parquet", "t.arff"):
        WRITERS[name](frame, tmp_path / name)
        with pytest.raises(SystemExit) as leaving:
            main(["select", str(tmp_path / name), "-t", "y", "-m", "knn-forward", "--folds", "2", "--json"])
        assert not leaving.value.code
        answers[name] = json.loads(capsys.readouterr().out)
    expected = fewer.select(frame.drop("y"), frame["y"], "knn-forward", cv=2, random_state=0)
    for answer in answers.values():
        assert answer["features"] == expected.features
        assert answer["score_search"] == expected.score_search
        assert answer["score_heldout"] == expected.score_heldout
        assert answer["set_aside"] == ["void"]


def test_five_rows_are_enough_for_the_command_line(tmp_path, capsys):
    (tmp_path / "five.csv").write_text("a,b,y\n1,5,no\n2,9,no\n3,4,no\n8,7,yes\n9,6,yes\n")
    with pytest.raises(SystemExit) as leaving:
        main(["select", str(tmp_path / "five.csv"), "-t", "-1", "-m", "knn-forward", "--folds", "2", "--json"])
    assert not leaving.value.code
    assert json.loads(capsys.readouterr().out)["features"] == ["a"]


def test_a_frame_keeps_its_types_and_declared_levels_are_text(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(
        "@relation r\n@attribute a {1,2,?}\n@attribute b numeric\n@attribute c {0,1}\n@data\n1,7,0\n?,8,1\n"
    )
    frame = read_frame(path, target="c")
    assert frame.to_dict(as_series=False) == {"a": ["1", None], "b": [7.0, 8.0], "c": [0.0, 1.0]}
    frame.write_parquet(tmp_path / "t.parquet")
    assert read_frame(tmp_path / "t.parquet").equals(frame)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "patients.csv").write_text("a,y\n1,0\n2,1\n")
    (tmp_path / "fake.parquet").write_bytes(b"PAR1 and nothing more PAR1")
    pl.DataFrame({"a": [], "y": []}).write_parquet(tmp_path / "bare.parquet")
    pl.DataFrame({"y": [1, 2]}).write_parquet(tmp_path / "target.parquet")
    pl.DataFrame({"a": [1.0, float("inf")], "y": [1, 2]}).write_parquet(tmp_path / "inf.parquet")
    single = pl.DataFrame({"a": [1.0, float("inf")], "y": [1, 2]}, schema={"a": pl.Float32, "y": pl.Int64})
    single.write_parquet(tmp_path / "single.parquet")
    for name, message in {
        "patient.csv": f"File not found: {tmp_path / 'patient.csv'}; did you mean patients.csv?",
        "zzz": f"File not found: {tmp_path / 'zzz'}; check the path.",
        "empty": f"The folder {tmp_path / 'empty'} holds no Parquet or CSV file; name another.",
        "bare.parquet": "bare.parquet has no rows; give a table with rows.",
        "target.parquet": "target.parquet has only the target column 'y'; there is nothing to select.",
        "inf.parquet": "Column 'a' is infinite in row 1; correct the cell, or clear it if unknown.",
        "single.parquet": "Column 'a' is infinite in row 1; correct the cell, or clear it if unknown.",
    }.items():
        with pytest.raises(InputError) as error:
            read_table(tmp_path / name, "y")
        assert str(error.value) == message
    with pytest.raises(InputError, match=r"^The Parquet file fake.parquet cannot be read \(.*\); write it again.$"):
        read_table(tmp_path / "fake.parquet", "y")


def test_a_folder_that_memory_holds_is_one_table(tmp_path, capsys):
    rows = [f"{i % 7},{i % 3},{'uv'[i % 5 % 2]},{i // 6},{i % 2}" for i in range(60)]
    head = "a,b,c,who,y"
    (tmp_path / "all.csv").write_text("\n".join([head, *rows]))
    (tmp_path / "parts").mkdir()
    for k in range(3):
        (tmp_path / "parts" / f"{k}.csv").write_text("\n".join([head, *rows[20 * k : 20 * k + 20]]))
    whole, parts = (read_table(tmp_path / name, "y", groups="who") for name in ("all.csv", "parts"))
    np.testing.assert_array_equal(parts.X, whole.X)
    np.testing.assert_array_equal(parts.groups, whole.groups)
    assert (parts.names, parts.kinds) == (whole.names, whole.kinds)
    for command in ("inspect {} -t y", "select {} -t y -m fisher --groups who --no-stream --features 1"):
        said = []
        for name in ("all.csv", "parts/*.csv"):
            with pytest.raises(SystemExit) as ended:
                main(command.format(tmp_path / name).split())
            assert not ended.value.code
            said.append(capsys.readouterr().out.splitlines()[1:7])
        assert said[0] == said[1]
    (tmp_path / "parts" / "1.csv").write_text(f"{head}\n1,inf,u,1,0\n1,2,u,1,1\n")
    with pytest.raises(InputError, match=r"Column 'b' is infinite in 1\.csv, line 2"):
        read_table(tmp_path / "parts", "y")
    (tmp_path / "parts" / "1.csv").write_text("a,b,y\n1,2,0\n")
    with pytest.raises(InputError, match=r"1\.csv has other columns than .*0\.csv; name files of one table"):
        read_table(tmp_path / "parts", "y")


def test_a_parquet_file_larger_than_memory_is_refused_before_it_is_read(tmp_path):
    pl.DataFrame({"a": np.arange(1000.0), "y": np.arange(1000) % 2}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError) as error:
        read_table(tmp_path / "t.parquet", "y", memory=31_000)
    assert str(error.value).startswith("t.parquet needs about 31.2 KiB of memory, but 30.3 KiB is free;")
    assert read_table(tmp_path / "t.parquet", "y", memory=33_000).n_samples == 1000


def test_free_memory_is_some_and_less_than_all():
    free = available_memory()
    assert 1 << 20 < free < 1 << 50


def test_long_and_wide_files_pass(tmp_path):
    rng = np.random.default_rng(0)
    for n_rows, n_features in ((100_000, 20), (60, 5_000)):
        X = rng.integers(0, 1000, (n_rows, n_features)) / 8
        frame = pl.DataFrame(X).with_columns(pl.Series("y", np.arange(n_rows) % 2))
        frame.write_csv(tmp_path / "t.csv")
        frame.write_parquet(tmp_path / "t.parquet")
        for name in ("t.csv", "t.parquet"):
            np.testing.assert_array_equal(read_table(tmp_path / name, -1).X, X)


def test_pandas_index_columns_draw_a_note(tmp_path):
    pd.DataFrame({"a": np.sin(np.arange(20)), "y": np.arange(20) % 2}).to_csv(tmp_path / "t.csv")
    notes = read_table(tmp_path / "t.csv", "y").notes
    assert notes == ("'column 1' looks like an identifier: it has a different value in every row. Exclude it.",)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arff"])
def test_a_pipe_is_read_once_and_whole(tmp_path, name):
    import os
    import threading

    frame = make_frame("text")
    frame = pl.concat([frame] * 40)  # more than a pipe holds at once
    WRITERS[name](frame, tmp_path / name)
    content = (tmp_path / name).read_bytes()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    piped = read_table(pipe, "y")
    writer.join()
    read = read_table(tmp_path / name, "y")
    np.testing.assert_array_equal(piped.X, read.X)
    assert piped.names == read.names


def test_standard_input_by_its_sign_and_by_its_path(tmp_path):
    frame = make_frame("text")
    pl.concat([frame] * 40).write_csv(tmp_path / "t.csv")
    answers = []
    for file in (str(tmp_path / "t.csv"), "-", "/dev/stdin"):
        with (
            (tmp_path / "t.csv").open("rb") as table,
            subprocess.Popen(["cat"], stdin=table, stdout=subprocess.PIPE) as cat,
        ):
            process = Started("rank", file, "-t", "y", "-m", "fisher", "--json", stdin=cat.stdout)
            answers.append(json.loads(process.communicate()[0]))
    assert answers[0] == answers[1] == answers[2]


def test_a_panic_of_polars_is_a_damaged_file(tmp_path, monkeypatch):
    pl.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}).write_parquet(tmp_path / "hurt.parquet")

    def panic(*_):
        raise pl.exceptions.PanicException("assertion `left == right` failed")

    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(InputError, match=r"^The Parquet file hurt.parquet cannot be read \(it is damaged\)"):
        read_table(tmp_path / "hurt.parquet", "y")


def test_long_whole_numbers_are_codes_of_which_no_digit_is_lost(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{10**20 + row % 12},{2**53 + row},{2**60 + 512 * row},{row % 2}" for row in range(48)]
    path.write_text("shop,order,even,y\n" + "\n".join(rows))
    problem = read_table(path, "y")
    assert problem.names == ("shop", "even")
    assert problem.kinds == ("nominal", "numeric")
    assert problem.levels[0] == tuple(str(10**20 + i) for i in range(12))
    assert problem.notes[:2] == (
        "Column 'shop' is read as codes because of more than 15 digits ('100000000000000000000'); use --numeric for "
        "numbers.",
        "Not used as features: 'order' (nearly all values unique). Use --nominal to keep one.",
    )
    assert len(read_table(path, "y", nominal=["order"]).levels[1]) == 48
    assert read_table(path, "y", numeric=["shop", "order"]).kinds == ("numeric", "numeric", "numeric")


def test_the_target_is_looked_for_where_it_may_be(tmp_path):
    book = tmp_path / "t.xlsx"
    book.write_bytes(xlsx({"info": [["about"], ["text"]], "data": [["a", "y"], [1, 0], [2, 1]]}))
    with pytest.raises(InputError, match=r"no column 'y'; the columns are 'about'.*2 sheets \('info', 'data'\)"):
        read_table(book, "y")
    path = tmp_path / "t.csv"
    path.write_text("y,a,y\n1,2,no\n2,3,yes\n3,5,no\n4,4,yes\n")
    with pytest.raises(InputError, match="several columns 'y'; give the number of the one to predict, 0 or 2"):
        read_table(path, "y")
    assert read_table(path, 2).classes == ("no", "yes")
    with pytest.raises(InputError, match="no workbook and has no sheets"):
        read_table(path, 2, sheet="y")
    with pytest.raises(InputError, match=r"not utf-16 text \(it is UTF-8\)"):
        read_table(path, 2, encoding="utf-16")
    path.write_text("a,y\n1,\n2,\n")
    with pytest.raises(InputError, match="The target 'y' is missing in every row"):
        read_table(path, "y")
    path.write_text("<!DOCTYPE html>\n<html>")
    with pytest.raises(InputError, match="a web page; download the table itself"):
        read_table(path, "y")


def test_columns_that_are_no_features_can_be_kept(tmp_path):
    rows = [f"{i:032x},{i % 3},{i % 2}" for i in range(40)]
    (tmp_path / "t.csv").write_text("code,a,y\n" + "\n".join(rows) + "\n")
    small = reduce_table(tmp_path / "t.csv", ["y", "code"])
    assert small.columns == ["y", "code"]
    assert small["code"][1] == f"{1:032x}"
    assert small["y"].dtype == pl.Float64


def test_formats_come_back(tmp_path):
    frame = pl.DataFrame({"a": [1.5, None], "b": ["x", "y"]})
    assert pl.read_parquet(io.BytesIO(frame_bytes(frame, "t.parquet"))).equals(frame)
    assert pl.read_csv(io.BytesIO(frame_bytes(frame, "t.tsv")), separator="\t").equals(frame)
    with pytest.raises(InputError, match="unsupported extension"):
        frame_bytes(frame, "t.xlsx")


@pytest.mark.parametrize("role", ["groups", "sample_weight", "time"])
def test_a_column_of_the_rows_cannot_be_excluded_too(tmp_path, role):
    (tmp_path / "t.csv").write_text("a,b,y\n1,2,u\n2,3,v\n4,4,u\n")
    with pytest.raises(InputError, match=f"'b' is both {role} and excluded; choose one."):
        read_table(tmp_path / "t.csv", "y", exclude=["b"], **{role: "b"})
