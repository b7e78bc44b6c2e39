"""Rankings of tables in chunks are those of the same rows in memory, given the same cuts."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from fewer.contracts import IncompatibleError, Resources
from fewer.io import open_stream, read_table
from fewer.rankers import CMIM, DISR, JIM, JMI, MIFS, MRMR, Chi2, Fisher, FTest, InformationGain, ReliefF, _bins


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.io._stream.CHUNK_BYTES", 1 << 13)
    monkeypatch.setattr("fewer.io._source.PART_ROWS", 700)
    rng = np.random.default_rng(0)
    n = 2000
    label = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    own = label == "a"
    table = pl.DataFrame(
        {
            "strong": rng.normal(size=n) + own,
            "copy": rng.normal(size=n) * 0.3 + own,
            "gap": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + 0.5 * (label == "b")),
            "few": rng.integers(0, 4, n) + own,
            "word": np.where(rng.random(n) < 0.3, label, "other"),
            "noise": rng.normal(size=n) + 100,
            "fixed": np.full(n, 3.0),
            "amount": rng.normal(size=n) + 2.0 * own,
            "label": label,
        }
    )
    table.write_parquet(tmp_path / "table.parquet", row_group_size=300)
    return tmp_path / "table.parquet"


def both(ranker, path, target="label", resources=None):
    memory = ranker.rank(read_table(path, target), np.random.default_rng(3), Resources())
    resources = Resources() if resources is None else resources
    return memory, ranker.rank_stream(open_stream(path, target), np.random.default_rng(3), resources)


RANKERS = [
    FTest(),
    Fisher(),
    InformationGain(binning="mdlp"),
    InformationGain(binning="equal-width"),
    InformationGain(binning="equal-frequency", n_bins=5),
    MIFS(n_bins=6),
    MIFS(direction="backward"),
    MRMR(),
    MRMR(scheme="quotient", n_ranked=3),
    JMI(stop="share"),
    CMIM(n_bins=4),
    DISR(),
    JIM(),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_ranking_is_that_of_the_rows_in_memory(ranker, path):
    memory, chunks = both(ranker, path)
    np.testing.assert_array_equal(chunks.order, memory.order)
    np.testing.assert_allclose(chunks.scores, memory.scores, rtol=1e-9, atol=1e-12)
    for name, values in memory.extra.items():
        np.testing.assert_allclose(chunks.extra[name], values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("ranker", "target"), [(FTest(), "label"), (FTest(), "amount"), (Chi2(), "label")])
@pytest.mark.parametrize("weighted", [False, True])
def test_tests_have_the_p_values_of_the_rows_in_memory(ranker, target, weighted, path, tmp_path):
    table = pl.read_parquet(path).drop("amount" if target == "label" else "label")
    if isinstance(ranker, Chi2):
        table = table.with_columns(pl.selectors.float().abs())
    elif target == "label":
        table = table.drop("word")
    else:  # the target's mean differs between levels, some cells are missing, one level is rare
        levels = np.where(table["amount"] > 1, "high", table["word"])
        levels[:3], missing = "rare", np.arange(len(levels)) % 7 == 0
        table = table.with_columns(word=pl.Series(levels).set(pl.Series(missing), None))
    weights = np.random.default_rng(1).integers(0, 3, table.height).astype(float) if weighted else None
    table.write_parquet(tmp_path / "own.parquet")
    problem = replace(read_table(tmp_path / "own.parquet", target), sample_weight=weights)
    memory = ranker.rank(problem, np.random.default_rng(0), Resources())
    if weighted:
        table = table.with_columns(w=pl.Series(weights))
    stream = open_stream(table.lazy(), target, weights="w" if weighted else None)
    chunks = ranker.rank_stream(stream, np.random.default_rng(0), Resources())
    np.testing.assert_array_equal(chunks.order, memory.order)
    np.testing.assert_allclose(chunks.scores, memory.scores, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(chunks.extra["p_value"], memory.extra["p_value"], rtol=1e-7, atol=1e-300)


@pytest.mark.parametrize("ranker", [Fisher(), InformationGain(), MRMR(), FTest(), JIM()], ids=str)
def test_mostly_missing_columns_come_last(ranker, path):
    table = pl.read_parquet(path).drop("word")
    own = np.where(np.arange(table.height) % 20 == 0, table["label"] == "a", np.nan)
    noise = np.random.default_rng(0).normal(scale=1e-3, size=table.height)
    table = table.with_columns(bare=pl.Series(own + noise), empty=pl.lit(None, pl.Float64))
    stream = open_stream(table.lazy(), "label")
    order = ranker.rank_stream(stream, np.random.default_rng(3), Resources()).order
    names = [stream.like.names[column] for column in order]
    assert names[-3:] == ["bare", "fixed", "empty"]


@pytest.mark.parametrize("ranker", [MRMR(), JMI(), MIFS()], ids=str)
def test_quantities_are_ranked_too(ranker, path):
    memory, chunks = both(ranker, path, "amount")
    np.testing.assert_array_equal(chunks.order, memory.order)
    np.testing.assert_allclose(chunks.scores, memory.scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("ranker", [JMI(), MRMR(n_ranked=2)], ids=str)
def test_one_pass_for_each_feature_counts_what_one_for_all_pairs_does(ranker, path, monkeypatch):
    _, pairs = both(ranker, path)
    monkeypatch.setattr(_bins, "PASSES_FOR_PAIRS", 0)
    _, passes = both(ranker, path)
    np.testing.assert_array_equal(pairs.order, passes.order)
    np.testing.assert_array_equal(pairs.scores, passes.scores)


def test_cuts_of_a_sample_are_told_with_their_error(path, monkeypatch):
    monkeypatch.setattr(_bins, "CUT_ROWS", 500)
    ranking = MRMR(n_bins=4).rank_stream(open_stream(path, "label"), np.random.default_rng(0), Resources())
    assert 0.1 < float(ranking.extra["rank_error"]) < 0.13
    whole = read_table(path, "label")
    cuts = ranking.extra["cuts"][0]
    ranks = [(whole.X[:, 0] < cut).mean() for cut in cuts[~np.isnan(cuts)]]
    assert np.abs(np.array(ranks) - [0.25, 0.5, 0.75]).max() < float(ranking.extra["rank_error"])


def test_threads_change_nothing(path):
    _, serial = both(MRMR(), path)
    _, threaded = both(MRMR(), path, resources=Resources(n_jobs=2))
    np.testing.assert_array_equal(serial.scores, threaded.scores)


@pytest.mark.parametrize(
    ("ranker", "why"),
    [
        (ReliefF(), "needs all rows in memory"),
        (MIFS(density="kernel"), "needs all rows in memory"),
        (MRMR(stop="permutation"), "shuffles the target"),
        (JIM(stop="permutation"), "shuffles the target"),
    ],
)
def test_what_needs_the_rows_is_refused(ranker, why, path):
    with pytest.raises(IncompatibleError, match=why):
        ranker.rank_stream(open_stream(path, "label"), np.random.default_rng(0), Resources())


def test_a_ranker_of_classes_refuses_a_quantity(path):
    with pytest.raises(IncompatibleError, match="Fisher is for classification, but the task is regression"):
        Fisher().rank_stream(open_stream(path, "amount"), np.random.default_rng(0), Resources())
