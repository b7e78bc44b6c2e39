"""A table in memory is a stream of one chunk: sums of parts are those of the whole, and nothing is copied."""

import tracemalloc

import numpy as np
import pytest

from fewer.contracts import Resources
from fewer.problem import Problem
from fewer.rankers import Chi2, Fisher, FTest
from fewer.rankers._by_moments import class_sums, fisher_scores
from fewer.statistics import ClassMoments


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_merge_into_the_whole(missing, order):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 22)) * rng.uniform(0.1, 1e4, 22)
    X[rng.random(X.shape) < missing] = np.nan
    problem = Problem.from_arrays(X, rng.integers(0, 3, 300), sample_weight=rng.random(300))
    whole, tables = class_sums(problem, Resources())
    parts = [ClassMoments(whole.shift) for _ in range(3)]
    for part, rows in zip(parts, np.array_split(np.arange(300), 3), strict=True):
        chunk = problem.take(rows)
        object.__setattr__(chunk, "X", np.asarray(chunk.X, order=order))
        part.add(chunk)
    parts[0].merge(parts[1])
    parts[0].merge(parts[2])
    scores = [fisher_scores(moments, tables, problem.nominal) for moments in (parts[0], whole)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-9)
    assert (parts[0].ranges.low == whole.ranges.low).all()
    assert (parts[0].counts == whole.counts).all()


@pytest.mark.parametrize("ranker", [Fisher(), FTest(), Chi2()])
def test_a_long_table_is_not_copied_on_the_way(ranker):
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 80))
    problem = Problem.from_arrays(X, (X[:, 0] > 0.5).astype(int))
    assert not problem.has_missing
    assert not problem.constant.any()
    tracemalloc.start()
    ranker.rank(problem, rng, Resources())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes
