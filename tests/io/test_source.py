"""Tables in parts: whatever holds them, the same rows come out."""

import gzip
from datetime import date
from urllib.parse import quote

import duckdb
import numpy as np
import polars as pl
import pyarrow.dataset as ds
import pytest

import fewer
from fewer import streaming
from fewer.errors import InputError
from fewer.io import _source as sources
from fewer.io import is_lazy, open_source, open_stream, read_table


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pl.DataFrame({"a": rng.normal(size=100), 'b "c"': rng.choice(["x", "y"], 100), "n": np.arange(100)})


def read(source, columns=None):
    columns = list(source.columns) if columns is None else columns
    return pl.concat(b for part in range(source.n_parts) for b in source.batches(part, columns, 17))


def test_every_kind_of_source_gives_the_rows_in_order(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PART_ROWS", 40)
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in range(3):
        frame[34 * number : 34 * number + 34].write_parquet(folder / f"p{number}.parquet", row_group_size=20)
    (folder / "_SUCCESS").write_text("")
    frame.write_parquet(tmp_path / "one.parquet", row_group_size=20)
    relation = duckdb.sql(f"select * from '{tmp_path / 'one.parquet'}'")
    parts = [
        (tmp_path / "one.parquet", 3),
        (folder, 3),
        (str(folder / "p*.parquet"), 3),
        (frame.lazy(), 1),
        (ds.dataset(folder, exclude_invalid_files=True), 3),
        (relation, 1),
    ]
    for data, n_parts in parts:
        source = open_source(data)
        assert source.n_parts == n_parts
        assert read(source).equals(frame)
        assert read(source, ["n"])["n"].to_list() == list(range(100))
        assert is_lazy(data) == (not isinstance(data, str | type(tmp_path)))


def test_a_dask_dataframe_is_read_partition_by_partition(frame):
    dd = pytest.importorskip("dask.dataframe")
    source = open_source(dd.from_pandas(frame.to_pandas(), npartitions=3))
    assert source.n_parts == 3
    assert read(source)["a"].to_list() == frame["a"].to_list()


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # in Dask itself
def test_a_dask_dataframe_of_files_keeps_its_partitions_when_few_columns_are_read(tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    table = pl.DataFrame({f"x{i}": np.arange(12) for i in range(12)})
    for number in range(6):
        table[2 * number : 2 * number + 2].write_parquet(tmp_path / f"{number}.parquet")
    frame = dd.read_parquet(str(tmp_path))
    source = open_source(frame)
    assert len(frame[["x1", "x0"]].to_delayed()) < source.n_parts == 6  # Dask reads several files as one
    assert [batch["x1"].to_list() for part in range(6) for batch in source.batches(part, ["x1", "x0"], 9)] == [
        [2 * part, 2 * part + 1] for part in range(6)
    ]


def test_a_dask_dataframe_that_a_cluster_keeps_answers_like_a_lazy_one_and_a_frame(frame, monkeypatch):
    dd, distributed = pytest.importorskip("dask.dataframe"), pytest.importorskip("distributed")
    y = np.where(frame["a"] > frame["a"].median(), "u", "v")
    table = frame.with_columns(b=np.sin(np.arange(100)), y=y)
    computed, arrived = sources._computed, []

    def recorded(part):
        arrived.append(computed(part))
        return arrived[-1]

    monkeypatch.setattr(sources, "_computed", recorded)
    how = {"criterion": "least-squares:cv=4", "n_features_to_select": 2, "cv": 0, "random_state": 0}
    expected = fewer.select(table, "y", **how).features
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        lazy = dd.from_pandas(table.to_pandas(), npartitions=3)
        kept = lazy.persist()
        for data in (lazy, kept):
            assert fewer.select(data, "y", **how).features == expected
        arrived.clear()
        assert [batch.columns for batch in open_source(kept).batches(1, ["b"], 99)] == [["b"]]
        assert list(arrived[0].columns) == ["b"]  # the other columns stay on the cluster
        # a task of the cluster, which has one thread, does not wait for itself
        task = client.submit(lambda source: next(source.batches(2, ["n"], 99))["n"].to_list(), open_source(kept))
        assert task.result(timeout=30) == frame["n"].to_list()[-len(task.result()) :]


def test_packed_text_is_read_in_parts(frame, tmp_path):
    for number in range(2):
        packed = gzip.compress(frame[50 * number : 50 * number + 50].write_csv(separator=";").encode())
        (tmp_path / f"{number}.csv.gz").write_bytes(packed)
    source = open_source(tmp_path)
    assert source.n_parts == 2
    assert read(source)["n"].to_list() == [str(i) for i in range(100)]


def test_text_files_of_one_header_are_one_table(frame, tmp_path):
    frame[:60].write_csv(tmp_path / "a.csv", separator=";")
    frame[60:].write_csv(tmp_path / "b.csv", separator=";")
    source = open_source(str(tmp_path / "*.csv"))
    assert source.is_text
    assert read(source)["n"].to_list() == [str(i) for i in range(100)]
    frame.rename({"a": "z"}).write_csv(tmp_path / "c.csv", separator=";")
    with pytest.raises(InputError, match=r"c.csv and a.csv have different headers"):
        open_source(tmp_path)


def test_files_with_other_cells_in_a_column_are_named_unless_it_is_left_out(tmp_path):
    one, other = pl.DataFrame({"a": [1.0, 2.0], "b": [1, 2]}), pl.DataFrame({"a": ["x", "y"], "b": [0.5, 1.5]})
    one.write_parquet(tmp_path / "1.parquet")
    other.write_parquet(tmp_path / "2.parquet")
    source = open_source(tmp_path)
    assert pl.concat([*source.batches(0, ["b"], 9), *source.batches(1, ["b"], 9)], how="vertical_relaxed").height == 4
    with pytest.raises(InputError, match=r"'a' holds String in 2\.parquet and Float64 in a file before it"):
        read(source)
    files = str(tmp_path / "*.parquet")
    for data in (ds.dataset(tmp_path), pl.scan_parquet(files), duckdb.sql(f"select * from '{files}'")):
        with pytest.raises(InputError, match=r"^The .* cannot be read \([^\n]*\)\.$"):
            read(open_source(data), ["a"])


@pytest.mark.parametrize("first", [0, 1])
def test_a_file_without_cells_in_a_column_takes_the_type_of_the_others(first, tmp_path):
    for number in (0, 1):
        cells = [None, None] if number == first else ["x", "y"]
        pl.DataFrame({"a": cells, "b": [1, 2]}).write_parquet(tmp_path / f"{number}.parquet")
    source = open_source(tmp_path)
    assert source.columns["a"] == pl.String
    assert read(source)["a"].to_list() == ([None, None, "x", "y"] if first == 0 else ["x", "y", None, None])


def parted(folder, frame, kind):
    """Write a table as polars does, in folders that name two of its columns."""
    for (year, city), own in frame.group_by("year", "city", maintain_order=True):
        place = folder / f"year={year:04d}" / f"city={quote(city) if city else '__HIVE_DEFAULT_PARTITION__'}"
        place.mkdir(parents=True)
        bare = own.drop("year", "city")
        bare.write_parquet(place / "part.parquet") if kind == "parquet" else bare.write_csv(place / "part.csv")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_folders_that_name_columns_are_read_as_columns(tmp_path, kind):
    rng = np.random.default_rng(0)
    cities = np.array(["New York", "Zürich", None])
    columns = {"x": rng.normal(size=600), "year": rng.integers(2022, 2025, 600), "city": cities[np.arange(600) % 3]}
    frame = pl.DataFrame(columns).with_columns(y=pl.col("year") > 2022)
    parted(tmp_path / "t", frame, kind)
    for path in (tmp_path / "t", tmp_path / "t" / "year=*" / "**" / f"part.{kind}"):
        source = open_source(path)
        assert list(source.columns) == ["x", "y", "year", "city"]
        assert source.n_parts == 9
        order = ["city", "x", "year"]
        found = pl.concat([batch for part in range(9) for batch in source.batches(part, order, 50)])
        assert found.columns == order
        expected = (
            pl.scan_parquet(tmp_path / "t" / "**" / "*.parquet", hive_partitioning=True)
            if kind == "parquet"
            else frame.lazy()
        )
        key = ["year", "city", "x"]
        same = found.with_columns(pl.col("year", "x").cast(pl.Float64)).sort(key)
        assert same.equals(expected.select(order).with_columns(pl.col("year").cast(pl.Float64)).collect().sort(key))
        alone = [batch["year"].to_list() for part in range(9) for batch in source.batches(part, ["year"], 50)]
        assert sum(map(len, alone)) == 600
    stream = open_stream(tmp_path / "t", "y")
    whole = read_table(tmp_path / "t", "y")
    assert stream.like.names == whole.names == ("x", "year", "city")
    assert stream.like.kinds == whole.kinds == ("numeric", "numeric", "nominal")
    assert stream.like.levels[2] == whole.levels[2] == ("New York", "Zürich")
    ranking, _ = streaming.rank(tmp_path / "t", "f-test", target="y")
    assert ranking.order[0] == 1
    one = open_source(tmp_path / "t" / "year=2022")  # whoever names a folder does not ask for its name
    assert list(one.columns) == ["x", "y", "city"]


def test_dates_and_own_columns_beside_folders(tmp_path):
    for day in ("2024-01-31", "2024-02-01"):
        place = tmp_path / f"day={day}" / "kind=a"
        place.mkdir(parents=True)
        pl.DataFrame({"x": [1.0, 2.0], "kind": ["b", "c"]}).write_parquet(place / "p.parquet")
    source = open_source(tmp_path)
    assert source.columns == {"x": pl.Float64, "kind": pl.String, "day": pl.Date}
    assert next(source.batches(0, ["kind", "day"], 9)).rows() == [("b", date(2024, 1, 31)), ("c", date(2024, 1, 31))]
    pl.DataFrame({"x": [1.0, 2.0], "kind": ["b", "c"]}).write_parquet(tmp_path / "z.parquet")
    with pytest.raises(InputError, match="name 'day' and 'kind', but not the one of .*z.parquet; arrange"):
        open_source(tmp_path)


def test_what_is_no_source_is_refused(frame, tmp_path):
    with pytest.raises(InputError, match="No file matches"):
        open_source(str(tmp_path / "*.parquet"))
    with pytest.raises(InputError, match="holds no Parquet or CSV file"):
        open_source(tmp_path)
    with pytest.raises(InputError, match="A DataFrame cannot be read in parts"):
        open_source(frame)
    frame.write_parquet(tmp_path / "a.parquet")
    frame.drop("n").write_parquet(tmp_path / "b.parquet")
    source = open_source(tmp_path)
    with pytest.raises(InputError, match=r"b.parquet lacks the column 'n' that a.parquet has; drop it"):
        read(source)
    assert read(source, ["a"]).height == 200  # nobody asks for the column that it lacks
    frame.write_csv(tmp_path / "c.csv")
    with pytest.raises(InputError, match="mixes Parquet and other files"):
        open_source(tmp_path)
