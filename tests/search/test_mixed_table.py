"""A table as people have it: three classes, strings, booleans, missing cells, a constant column."""

import numpy as np
import polars as pl
import pytest

import fewer
from fewer.contracts import IncompatibleError
from fewer.criteria import RANN, GammaTest, Separability
from fewer.rankers import CMIM, JMI, MIFS, MRMR
from fewer.search import PBIL, BranchAndBound, Genetic, PlusLTakeAwayR

CRITERIA = [GammaTest(5), RANN(5, n_draws=1), RANN(5, "train", 1), *map(Separability, ("mahalanobis", "bhattacharyya"))]
SEARCHES = [PlusLTakeAwayR(), BranchAndBound(), BranchAndBound(force=True), Genetic(6, 3), PBIL(6, 3, runs=1)]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 45
    y = np.array(["red", "green", "blue"])[np.arange(n) % 3]
    missing = rng.random(n) < 0.2
    frame = pl.DataFrame(
        {
            "size": np.where(missing, np.nan, rng.normal(size=n) + (y == "red")),
            "shape": [
                None if hole else str(v) for hole, v in zip(missing[::-1], rng.choice(["a", "b"], n), strict=True)
            ],
            "whole": rng.random(n) < 0.5,
            "same": ["x"] * n,
            "count": rng.integers(0, 5, n),
        }
    )
    return frame, y


@pytest.mark.parametrize("search", SEARCHES, ids=repr)
@pytest.mark.parametrize("criterion", CRITERIA, ids=repr)
def test_every_sentence_answers_or_refuses(table, criterion, search):
    selector = fewer.SubsetSelector(criterion, search, n_features_to_select=(1, 3), random_state=0)
    if "monotone" in search.needs and not criterion.monotone:
        with pytest.raises(IncompatibleError):
            selector.fit(*table)
        return
    selector.fit(*table)
    assert np.isfinite(selector.score_)
    assert 1 <= selector.support_.sum() <= 3
    assert not selector.support_[3]


@pytest.mark.parametrize("ranker", [MIFS(), MIFS(density="kernel"), MRMR(), JMI(), CMIM()], ids=repr)
def test_every_ranker_answers(table, ranker):
    selector = fewer.RankSelector(ranker, n_features_to_select=2).fit(*table)
    assert not np.isnan(selector.scores_).any()
    assert selector.ranking_[3] == 5
