"""Naive Bayes on a table in chunks is the one in memory, given the cuts and the folds."""

import re

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

from fewer import streaming
from fewer.contracts import IncompatibleError, Resources
from fewer.criteria import NaiveBayes
from fewer.criteria.streamed_naive_bayes import CountedTable, StreamedNaiveBayesScorer
from fewer.io import open_stream, read_table
from fewer.search import Forward
from fewer.selectors import SubsetSelector
from fewer.statistics import DealtFolds, row_folds
from fewer.validate import FixedFolds


class FixedCuts(TransformerMixin, BaseEstimator):
    """Cuts that are given, not learnt."""

    def __init__(self, edges=()):
        self.edges = edges

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.column_stack([np.searchsorted(own, X[:, i], side="right") for i, own in enumerate(self.edges)])


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.io._stream.CHUNK_BYTES", 1 << 13)
    monkeypatch.setattr("fewer.io._source.PART_ROWS", 400)
    rng = np.random.default_rng(0)
    n = 1000
    label = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    columns = {
        "strong": rng.normal(size=n) + 1.5 * (label == "a"),
        "gap": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + 1.5 * (label == "b")),
        "flag": (rng.random(n) < 0.3) | (label == "c"),
        "word": np.where(rng.random(n) < 0.2, label, "other"),
        "noise": rng.normal(size=n),
        "fixed": np.full(n, 3.0),
        "label": label,
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "table.parquet", row_group_size=200)
    return tmp_path / "table.parquet"


def cells_of(stream, n_cells, seed):
    rows = [sum(chunk.n_samples for chunk in stream.chunks(part)) for part in range(stream.n_parts)]
    return np.concatenate([row_folds(part, 0, n, n_cells, seed) for part, n in enumerate(rows)])


def in_memory(counted, cells, n_inner):
    numeric = [f for f, kind in enumerate(counted.stream.like.kinds) if kind == "numeric"]
    cuts = FixedCuts([counted.bins.edges[f] for f in numeric])
    return NaiveBayes(cv=FixedFolds(cells % n_inner), discretizer=cuts)


def test_scores_are_those_of_the_rows_in_memory(path):
    stream, problem = open_stream(path, "label"), read_table(path, "label")
    counted = CountedTable.of(stream, NaiveBayes(cv=3), DealtFolds(2, 3, 7), Resources())
    assert len(counted.bins.edges[0]) > 0
    cells = cells_of(stream, 6, 7)
    rng = np.random.default_rng(0)
    masks = rng.random((6, 6)) < 0.5
    units, values = [np.array([c]) for c in range(6)], ~masks[0]
    for without in (None, 0):
        kept = np.ones(len(cells), dtype=bool) if without is None else cells // 3 != without
        rows = problem.take(kept)
        memory = in_memory(counted, cells[kept], 3).bind(rows, rng, Resources())
        chunks = StreamedNaiveBayesScorer(counted, without)
        np.testing.assert_allclose(chunks.score(masks), memory.score(masks), rtol=1e-14)
        found = chunks.flips(masks[0], units, values)
        np.testing.assert_allclose(found, memory.flips(masks[0], units, values), rtol=1e-14)


def test_a_whole_selection_is_that_of_the_rows_in_memory(path):
    stream, problem = open_stream(path, "label"), read_table(path, "label")
    chosen = streaming.select(stream, criterion="naive-bayes:cv=3", search="forward", cv=2, random_state=7)
    counted = CountedTable.of(stream, NaiveBayes(cv=3), DealtFolds(2, 3, 7), Resources())
    cells = cells_of(stream, 6, 7)
    memory = SubsetSelector(in_memory(counted, cells, 3), Forward(), random_state=7).fit_problem(problem)
    assert chosen.support == memory.support_.tolist()
    assert chosen.score_search == pytest.approx(memory.score_, rel=1e-12)
    assert chosen.set_aside == ["fixed"]
    assert chosen.data["missing_cells"] == int(problem.missing.sum())
    right = np.zeros((2, problem.n_samples))
    for fold in range(2):
        train, test = cells // 3 != fold, cells // 3 == fold
        criterion = in_memory(counted, cells[train], 3)
        mask = SubsetSelector(criterion, Forward(), random_state=0).fit_problem(problem.take(train)).support_
        scorer = criterion.bind(problem.take(train), np.random.default_rng(0), Resources())
        for place, own in enumerate((mask, np.ones_like(mask))):
            right[place, test] = scorer.predict(own, problem.X[test]).argmax(axis=1) == problem.y[test]
    assert chosen.score_heldout == pytest.approx(right[0].mean(), abs=1e-12)
    assert chosen.score_heldout_all_features == pytest.approx(right[1].mean(), abs=1e-12)
    assert "cut by MDLP on all of them" in chosen.warnings[-1]
    assert chosen.data["cuts"]["strong"] == counted.bins.edges[0].tolist()
    assert "word" not in chosen.data["cuts"]


def test_cuts_of_a_sample_and_missing_cells_are_told_whatever_rows_weigh(path, tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.criteria.streamed_naive_bayes.BINNING_ROWS", 300)
    table = pl.read_parquet(path).with_columns(w=pl.Series(np.arange(1000) % 3 / 2))
    chosen = streaming.select(
        open_stream(table.lazy(), "label", weights="w"), criterion="naive-bayes:cv=2", cv=0, n_features_to_select=1
    )
    assert chosen.data["missing_cells"] == int(table.filter(pl.col("w") > 0)["gap"].is_nan().sum())
    assert re.search(r"cut by MDLP on a sample of 30\d of them", chosen.warnings[-1])


def test_threads_change_nothing(path):
    stream = open_stream(path, "label")
    answers = [
        streaming.select(stream, criterion="naive-bayes:cv=2", cv=0, resources=Resources(n_jobs=n)).score_search
        for n in (1, 2)
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("criterion", "why"),
    [
        (NaiveBayes("auroc"), "use scoring='accuracy'"),
        (NaiveBayes(discretizer=FixedCuts()), "discretizer of your own"),
        (NaiveBayes(cv="loo"), "naive-bayes:cv=10"),
    ],
)
def test_what_needs_the_rows_is_refused(path, criterion, why):
    with pytest.raises(IncompatibleError, match=why):
        streaming.select(path, target="label", criterion=criterion)
