"""A table in chunks is the table that the input reader makes of the whole file."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from fewer.errors import InputError
from fewer.io import open_stream, read_table
from fewer.io._source import TextSource
from fewer.io._stream import group_keys, moments_of


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    n = 600
    return pl.DataFrame(
        {
            "number": rng.normal(size=n),
            "whole": rng.integers(0, 9, n),
            "truth": rng.random(n) < 0.5,
            "word": rng.choice(["red", "green", "ünï"], n),
            "day": [date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 900, n)],
            "gap": pl.Series(np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n))).fill_nan(None),
            "label": rng.choice(["yes", "no", "maybe"], n),
        }
    )


def gathered(stream):
    chunks = [(chunk.X.copy(), chunk.y) for part in range(stream.n_parts) for chunk in stream.chunks(part)]
    return np.concatenate([X for X, _ in chunks]), np.concatenate([y for _, y in chunks])


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("target", ["label", "number", "whole", "truth"])
def test_chunks_make_up_the_problem_in_memory(frame, tmp_path, ending, target, monkeypatch):
    monkeypatch.setattr("fewer.io._stream.CHUNK_BYTES", 1 << 12)
    path = tmp_path / f"table.{ending}"
    frame.write_parquet(path, row_group_size=150) if ending == "parquet" else frame.write_csv(path)
    whole = read_table(path, target, nominal=[] if target == "whole" else ["whole"])
    stream = open_stream(path, target, nominal=[] if target == "whole" else ["whole"])
    assert stream.like.names == whole.names
    assert stream.like.kinds == whole.kinds
    assert stream.like.levels == whole.levels
    assert stream.like.classes == whole.classes
    assert stream.like.task == whole.task
    assert stream.n_samples == 600
    X, y = gathered(stream)
    np.testing.assert_array_equal(X, whole.X)
    np.testing.assert_array_equal(y, whole.y)
    if whole.task == "classification":
        assert stream.class_counts.tolist() == np.bincount(whole.y).tolist()


def test_weights_and_columns_left_out(frame, tmp_path):
    path = tmp_path / "table.parquet"
    frame.write_parquet(path)
    stream = open_stream(path, -1, exclude=["word", 0], weights="whole")
    assert stream.like.names == ("truth", "day", "gap")
    chunk = next(stream.chunks(0))
    weights = frame["whole"].to_numpy()
    assert chunk.sample_weight == pytest.approx(weights[weights > 0][: chunk.n_samples] / weights[weights > 0].mean())
    with pytest.raises(InputError, match="no column 'w' for the row weights"):
        open_stream(path, "label", weights="w")


def test_rows_of_weight_0_are_not_there(tmp_path):
    rng = np.random.default_rng(0)
    kept = rng.random(400) < 0.6
    table = pl.DataFrame(
        {"a": rng.normal(size=400), "b": rng.choice(["x", "y"], 400), "w": kept * 2.5, "y": np.arange(400) % 3}
    )
    spoiled = table.with_columns(
        a=pl.when(pl.Series(kept)).then("a").otherwise(1e300),
        b=pl.when(pl.Series(kept)).then("b").otherwise(pl.lit("z")),
        y=pl.when(pl.Series(kept)).then("y").otherwise(9),
    )
    spoiled.write_csv(tmp_path / "t.csv")
    absent = open_stream(table.filter(pl.Series(kept)).drop("w").lazy(), "y")
    for data in (spoiled.lazy(), tmp_path / "t.csv"):
        stream = open_stream(data, "y", weights="w")
        assert (
            stream.like.notes[0]
            == f"{(~kept).sum()} of 400 rows have weight 0; they were left out before anything else."
        )
        assert (stream.n_samples, stream.like.levels) == (absent.n_samples, absent.like.levels)
        assert stream.class_counts.tolist() == absent.class_counts.tolist()
        assert np.allclose(gathered(stream)[0], gathered(absent)[0])
        assert next(stream.chunks(0)).sample_weight is None  # equal weights are none
    for wrong in (np.zeros(400), np.full(400, -1.0), np.full(400, np.nan)):
        with pytest.raises(InputError, match="Row weights must be finite"):
            open_stream(table.with_columns(w=pl.Series(wrong)).lazy(), "y", weights="w")


def test_mistakes_are_named(frame, tmp_path):
    def opened(table, target="label", **options):
        return open_stream(table.lazy(), target, **options)

    with pytest.raises(InputError, match="'label' is missing in 1 rows"):
        opened(frame.with_columns(label=pl.when(pl.col("whole").cum_count() > 1).then("label")))
    with pytest.raises(InputError, match="only one class, 'a'"):
        opened(frame.with_columns(label=pl.lit("a")))
    with pytest.raises(InputError, match="holds no numbers; task regression"):
        opened(frame, task="regression")
    with pytest.raises(InputError, match="'whole' is both nominal and numeric"):
        opened(frame, nominal=["whole"], numeric=["whole"])
    with pytest.raises(InputError, match="only one value"):
        opened(frame.with_columns(number=pl.lit(0.5)), "number")
    with pytest.raises(InputError, match="infinite"):
        opened(frame.with_columns(number=pl.lit(float("inf"))))
    with pytest.raises(InputError, match=r"Column 'number' holds -1e\+308, too large to compute with"):
        opened(frame.with_columns(number=pl.when(pl.int_range(pl.len()) < 5).then(None).otherwise(-1e308)))
    with pytest.raises(InputError, match="List"):
        opened(frame.with_columns(number=pl.concat_list("number")))
    with pytest.raises(InputError, match="nothing to select"):
        opened(frame.select("label"))
    names = pl.DataFrame({"id": [f"r{i}" for i in range(12_000)], "x": 1.0, "label": ["a", "b"] * 6000})
    with pytest.raises(InputError, match="'id' has more than 10,000 categories"):
        opened(names, nominal=["id"])
    with pytest.raises(
        InputError, match=r"no column left to select from\. .*: 'id' \(more than 10,000 different texts\)\.$"
    ):
        opened(names.drop("x"))
    path = tmp_path / "bad.csv"
    path.write_text("x,label\n" + "1.5,a\n2.5,b\n" * 10 + "oops,a\n")
    with pytest.raises(InputError, match="'x' holds numbers, but 1 of 21 cells are not"):
        open_stream(path, "label")


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical])
def test_text_that_is_named_as_numbers_is_read_as_numbers(kind, tmp_path):
    values = np.random.default_rng(0).normal(size=50).round(3)
    text = pl.Series(["" if i == 7 else f"{value:.3f}" for i, value in enumerate(values)]).cast(kind)
    frame = pl.DataFrame({"a": text, "b": text, "y": np.arange(50) % 2})
    frame.write_parquet(tmp_path / "t.parquet")
    stream = open_stream(tmp_path / "t.parquet", "y", numeric=["a"], nominal=["b"])
    assert stream.like.kinds == ("numeric", "nominal")
    values[7] = np.nan
    np.testing.assert_array_equal(next(stream.chunks(0)).X[:, 0], values)
    frame = frame.with_columns(a=pl.Series(["x", *text.cast(pl.String)[1:]]))
    with pytest.raises(InputError, match="'a' holds numbers, but 1 of 49 cells are not"):
        open_stream(frame.lazy(), "y", numeric=["a"], nominal=["b"])


@pytest.mark.parametrize("labels", [[0, 1, 5], [2**53, 2**53 + 1, 7], [0.5, 1.5, -2.0]], ids=str)
def test_numbers_as_classes_keep_their_codes(labels):
    rows = np.arange(30) % 3
    task = "classification"
    stream = open_stream(pl.LazyFrame({"a": rows * 1.0, "y": [labels[row] for row in rows]}), "y", task=task)
    (chunk,) = stream.chunks(0)
    assert [stream.like.classes[code] for code in chunk.y] == [labels[row] for row in rows]
    assert stream.class_counts.tolist() == [10, 10, 10]


def test_text_files_are_read_once_for_kinds_and_levels(tmp_path, monkeypatch):
    for part in range(2):
        lines = [",".join([*(f"w{(i + c) % 5}" for c in range(12)), str(i * 0.5), "yn"[i % 2]]) for i in range(40)]
        (tmp_path / f"{part}.csv").write_text("\n".join([",".join([*(f"t{c}" for c in range(12)), "n", "y"]), *lines]))
    read = []
    batches = TextSource.batches
    monkeypatch.setattr(
        TextSource, "batches", lambda self, part, *rest: read.append(part) or batches(self, part, *rest)
    )
    stream = open_stream(tmp_path, "y")
    assert read == [0, 1, 0]  # each part once, and the first rows
    assert stream.like.kinds == ("nominal",) * 12 + ("numeric",)
    assert stream.like.levels[3] == ("w0", "w1", "w2", "w3", "w4")


def test_a_word_after_many_numbers_makes_them_levels(tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.io._stream.MOST_NUMBERS", 5)
    numbers = [str(i % 8) for i in range(40)]
    for name, cells in (("0", numbers), ("1", [*numbers[:20], *["many"] * 20])):
        rows = [f"{cell},{i % 2}" for i, cell in enumerate(cells)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,y", *rows]))
    stream = open_stream(tmp_path, "y")
    assert stream.like.levels[0] == ("0", "1", "2", "3", "4", "5", "6", "7", "many")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_without_a_target_are_left_out_if_asked(tmp_path, kind):
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0], "w": [1, 2, 0, 1, 1], "y": ["u", None, "v", "u", "v"]})
    path = tmp_path / f"t.{kind}"
    frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
    with pytest.raises(InputError, match="missing in 1 rows.*--skip-rows-without-target"):
        open_stream(path, "y", exclude=["w"])
    stream = open_stream(path, "y", weights="w", skip_rows_without_target=True)
    (chunk,) = stream.chunks(0)
    assert chunk.X[:, 0].tolist() == [1.0, 4.0, 5.0]
    assert stream.n_samples == 3
    assert stream.like.notes[0] == "1 of 5 rows have no target; they were left out."


@pytest.mark.parametrize(
    "cells",
    [
        [1, 2, 1, 3],
        [1.0, 2.0, 1.0, 2.5],
        ["ann", "bob", "ann", ""],
        [True, False, True, False],
        pl.Series(["a", "b", "a", "c"], dtype=pl.Categorical),
        pl.Series([1, 2, 1, 3]).cast(pl.Date),
    ],
)
def test_groups_are_known_by_their_value_alone(cells):
    cells = pl.Series("g", cells)
    keys = group_keys(cells)
    assert [keys.tolist().index(key) for key in keys.tolist()] == [
        cells.to_list().index(cell) for cell in cells.to_list()
    ]
    assert np.array_equal(group_keys(cells[2:]), keys[2:])
    if cells.dtype == pl.Float64:
        assert np.array_equal(group_keys(cells[:3].cast(pl.Int32)), keys[:3])


def test_groups_have_the_numbers_that_their_formula_gives():
    def mixed(key):  # SplitMix64
        z = (key * 0x9E3779B97F4A7C15 + 7) % 2**64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def text(cell):  # FNV-1a
        h = 0xCBF29CE484222325
        for byte in cell.encode():
            h = (h ^ byte) * 0x100000001B3 % 2**64
        return h

    words = ["ann", "Zoë", ""]
    assert group_keys(pl.Series(words)).tolist() == [mixed(text(word)) for word in words]
    assert group_keys(pl.Series([7, 8])).tolist() == [mixed(7), mixed(8)]


def test_long_whole_numbers_are_codes_as_in_memory(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{10**20 + row % 12},{2**53 + row},{row % 7},{row % 2}" for row in range(48)]
    path.write_text("shop,order,a,y\n" + "\n".join(rows))
    stream, problem = open_stream(path, "y"), read_table(path, "y")
    assert stream.like.names == problem.names == ("shop", "a")
    notes = [note for note in stream.like.notes if "read as codes" in note]
    assert notes == ["Column 'shop' is read as codes because of more than 15 digits; use --numeric for numbers."]
    assert open_stream(path, "y", numeric=["shop", "order"]).like.kinds == ("numeric", "numeric", "numeric")


def test_times_are_numbers_dates_or_text_of_them():
    assert moments_of(pl.Series(["2.5", " 1 "])).tolist() == [2.5, 1.0]
    assert moments_of(pl.Series([1, 2]).cast(pl.Date)).tolist() == [1.0, 2.0]
    assert moments_of(pl.Series([86_400_000, 0]).cast(pl.Datetime("ms", "UTC"))).tolist() == [1.0, 0.0]
    for cells in (["soon"], ["1970-01-01", "3"], [None], [float("inf")]):
        with pytest.raises(InputError, match="every row needs a number or a date"):
            moments_of(pl.Series("t", cells))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_that_names_rows_is_left_out_as_in_memory(tmp_path, kind, monkeypatch):
    monkeypatch.setattr("fewer.io._source.PART_ROWS", 4_000)
    names = pl.DataFrame({"id": [f"r{i}" for i in range(12_000)], "x": np.arange(12_000.0), "y": ["a", "b"] * 6000})
    path = tmp_path / f"t.{kind}"
    names.write_csv(path) if kind == "csv" else names.write_parquet(path, row_group_size=4_000)
    stream = open_stream(path, "y")
    assert stream.like.names == read_table(path, "y").names == ("x",)
    assert stream.like.notes[0] == "Not used as features: 'id' (more than 10,000 different texts)."
    assert sum(chunk.n_samples for part in range(stream.n_parts) for chunk in stream.chunks(part)) == 12_000


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_few_names_of_rows_and_sentences_are_left_out_as_in_memory(tmp_path, kind):
    n = 60
    table = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)],
            "said": [f"the customer called us {i} times about it" for i in range(n)],
            "tags": [
                ["red;blue", "blue", "red;blue;green", "green;red", "red"][i % 5] + f";t{i % 3}" for i in range(n)
            ],
            "city": ["Bonn", "Kiel", "Ulm"] * 20,
            "x": np.arange(n) % 7 + 0.5,
            "y": ["a", "b"] * 30,
        }
    )
    path = tmp_path / f"t.{kind}"
    table.write_csv(path) if kind == "csv" else table.write_parquet(path)
    whole, stream = read_table(path, "y"), open_stream(path, "y")
    assert stream.like.names == whole.names
    assert {"id", "said"}.isdisjoint(whole.names)
    assert stream.like.notes[0] == next(note for note in whole.notes if note.startswith("Not used"))
    assert "id" in open_stream(path, "y", nominal=["id"]).like.names
    with pytest.raises(InputError, match="no column left .*nearly all values unique.*Use --nominal to keep one"):
        open_stream(table.select("id", "y").lazy(), "y")


def test_columns_too_good_to_be_true_are_named_as_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.io._source.PART_ROWS", 100)
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 300)
    table = pl.DataFrame({"x": rng.normal(size=300), "leak": np.where(y == "a", 3, 5), "row": np.arange(300), "y": y})
    table.write_parquet(tmp_path / "t.parquet", row_group_size=100)
    found, whole = open_stream(tmp_path / "t.parquet", "y").like, read_table(tmp_path / "t.parquet", "y")
    assert [(own.kind, own.column) for own in found.suspicions] == [(own.kind, own.column) for own in whole.suspicions]
    assert {own.column for own in found.suspicions} == {"leak", "row"}
    assert found.suspicions[0].evidence in found.notes
    assert "(Seen in the first 100 rows.)" in found.suspicions[0].evidence
    table.sort("y").write_parquet(tmp_path / "t.parquet", row_group_size=100)
    assert open_stream(tmp_path / "t.parquet", "y").like.suspicions == ()  # the first rows have one class
