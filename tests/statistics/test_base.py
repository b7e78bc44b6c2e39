import numpy as np
import polars as pl
import pytest

from fewer.contracts import Resources
from fewer.io import Source
from fewer.statistics._base import Statistics, collect
from making import make_problem


class Places(Statistics):
    """Where rows came from: part and place."""

    def __init__(self):
        self.rows = []

    def add(self, chunk, part=0, start=0):
        self.rows += [(part, start + i, float(chunk.X[i, 0])) for i in range(chunk.n_samples)]

    def merge(self, other):
        self.rows += other.rows


class Numbers(Source):
    """The numbers of rows, in two parts of 30."""

    travels, n_parts = True, 2
    columns = {"row": pl.Int64()}  # noqa: RUF012

    def batches(self, part, columns, n_rows):
        for low in range(0, 30, n_rows):
            yield pl.DataFrame({"row": np.arange(30 * part + low, 30 * part + min(low + n_rows, 30))})


class Parts:
    """A table of two parts in chunks of 7 rows."""

    source, columns, chunk_rows = Numbers(), ("row",), 7

    def __init__(self, problem):
        self.problem, self.stream = problem, self

    def sent(self):
        return self

    def problems(self, part, frames):
        return (self.problem.take(frame["row"].to_numpy()) for frame in frames)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_row_is_added_once_with_its_place(n_jobs):
    problem = make_problem(n_rows=60)
    found = collect(Parts(problem), Places, Resources(n_jobs))
    assert [(part, place) for part, place, _ in found.rows] == [(p, i) for p in range(2) for i in range(30)]
    assert [value for *_, value in found.rows] == problem.X[:, 0].tolist()


def test_several_statistics_in_one_pass():
    one, other = collect(Parts(make_problem(n_rows=60)), lambda: (Places(), Places()), Resources())
    assert one.rows == other.rows
    assert len(one.rows) == 60
