"""A Spark DataFrame is read where its partitions lie. `make clusters` runs this; it needs pyspark and Java."""

import os
import shutil
import sys
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fewer
from fewer import streaming
from fewer.contracts import Resources
from fewer.errors import InputError
from fewer.io import PartWork, Source, open_source, open_stream
from fewer.statistics import DealtFolds, GramSums, collect

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
N_PARTS = 19  # more than one task merges


@pytest.fixture(scope="module")
def spark():
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # executors cannot import this file
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # local[2, 4]: two at a time, and a task may fail three times
    builder = SparkSession.builder.master("local[2, 4]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "7").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def made(number):
    """A part of a table; one is empty."""
    rng = np.random.default_rng(number)
    n_rows = 0 if number == 4 else 30
    X = rng.normal(size=(n_rows, 4))
    X[:1, 1] = np.nan
    columns = {f"x{i}": X[:, i].tolist() for i in range(4)}
    columns["a word, a.b `quoted`"] = rng.choice(["a", "b", "c"], n_rows).tolist()
    columns["who"] = rng.integers(0, 40, n_rows).tolist()
    return columns | {"y": np.where(X[:, 0] + 0.3 * rng.normal(size=n_rows) > 0, "u", "v").tolist()}


class Parts(Source):
    """The same parts in this process."""

    name, n_parts, columns = "Parts", N_PARTS, dict(pl.DataFrame(made(0)).schema)

    def batches(self, part, columns, n_rows):
        whole = pl.DataFrame(made(part), self.columns).select(columns)
        for low in range(0, whole.height, n_rows):
            yield whole[low : low + n_rows]


def on_spark(spark, kill=""):
    """The same parts, each made by the process of Spark's that reads it; one dies at first."""

    def rows(batches):
        import pyarrow as pa

        for number in (number for batch in batches for number in batch["id"].to_pylist()):
            if kill and number == 2 and not os.path.exists(kill):
                Path(kill).touch()
                os._exit(1)
            if number != 4:
                yield pa.RecordBatch.from_pydict(made(number))

    schema = "x0 double, x1 double, x2 double, x3 double, `a word, a.b ``quoted``` string, who long, y string"
    return spark.range(0, N_PARTS, 1, N_PARTS).mapInArrow(rows, schema)


def answer(table):
    stream = open_stream(table, "y")
    words = {"criterion": "least-squares:cv=3", "n_features_to_select": 2, "cv": 2, "random_state": 0}
    found = fewer.select(table, "y", **words)
    kept = fewer.select(table, "y", groups="who", **words)
    sums = collect(stream, partial(GramSums, stream.like, DealtFolds(2)), Resources())
    ranking, _ = streaming.rank(stream, "f-test")
    grouped = kept.features, kept.score_search, kept.heldout
    return (grouped, found.features, found.score_search, found.score_heldout, found.frequency, ranking.scores.tolist(),
            sums.products.tobytes(), sums.about.tobytes())  # fmt: skip


class Where(PartWork):
    """Who reads."""

    columns, n_rows = ["x0"], 10

    def read(self, part, frames):
        return [(part, os.getpid(), [frame.height for frame in frames])]

    def merge(self, into, other):
        return into + other


@pytest.mark.parametrize("way", ["whole", "killed"])
def test_a_spark_frame_is_read_where_it_lies_and_gives_the_serial_answer(way, spark, tmp_path, monkeypatch):
    serial = answer(Parts())
    monkeypatch.setattr("fewer.io._source._recut", lambda *_: pytest.fail("a part was opened here"))
    frame = on_spark(spark, str(tmp_path / "killed") if way == "killed" else "")
    assert answer(frame) == serial
    assert (tmp_path / "killed").exists() == (way == "killed")


def test_parts_keep_their_order_and_rows_come_in_chunks_of_one_length(spark):
    found = open_source(on_spark(spark)).reduce(Where(), Resources())
    assert [part for part, _, _ in found] == list(range(N_PARTS))
    assert os.getpid() not in {process for _, process, _ in found}
    assert [heights for _, _, heights in found] == [[] if part == 4 else [10, 10, 10] for part in range(N_PARTS)]
    assert [part for part, _, _ in open_source(on_spark(spark)).reduce(Where(), Resources(), [5, 3])] == [5, 3]


def test_an_error_on_an_executor_comes_in_its_own_words(spark):
    frame = spark.createDataFrame([(1.0, "u"), (float("inf"), "v"), (2.0, "u")], "a double, y string")
    with pytest.raises(InputError, match="'a' holds an infinite number"):
        streaming.rank(frame, "f-test", target="y")
