"""Sparse tables stay sparse for whoever can work on them, and give the dense table's answers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import fewer
from fewer.contracts import Resources
from fewer.control import Prefilter
from fewer.criteria import KNN, CrossValidated, LeastSquares, NaiveBayes
from fewer.errors import InputError
from fewer.io import SparseProblem, to_problem
from fewer.io.sparse import surely_varies
from fewer.problem import Problem
from fewer.rankers import CMIM, DISR, JMI, MRMR, Chi2, Fisher, FTest, InformationGain
from fewer.search import Forward
from fewer.validate import FixedFolds


@pytest.fixture
def pair():
    """Return a problem, dense and sparse; dense forms of the sparse one are errors."""
    return both("classification")


def both(task, missing=False):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 12)) < 0.8, 0.0, np.round(rng.exponential(size=(300, 12)) * 3))
    X[:, 11] = 0.0
    if missing:
        X[rng.random(X.shape) < 0.03] = np.nan
    signal = np.nan_to_num(X[:, 0] + X[:, 1]) + rng.normal(size=300)
    y = np.digitize(signal, [0.5, 2.0]) if task == "classification" else signal
    dense = Problem.from_arrays(X, y, task=task, sample_weight=rng.random(300))
    thin = SparseProblem.of(dense, sparse.csr_array(X))
    return dense, thin


def forbid_dense(monkeypatch):
    def refuse(self):
        raise AssertionError("the table became dense")

    monkeypatch.setattr(SparseProblem, "dense", refuse)


RANKERS = [Fisher(), FTest(), Chi2(), InformationGain(), MRMR(), JMI(), CMIM(n_bins=4), DISR()]


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
@pytest.mark.parametrize("missing", [False, True])
def test_rankers_give_the_dense_ranking(ranker, missing, monkeypatch):
    dense, thin = both("classification", missing)
    forbid_dense(monkeypatch)
    expected = ranker.rank(dense, np.random.default_rng(0), Resources())
    found = ranker.rank(thin, np.random.default_rng(0), Resources(n_jobs=2))
    np.testing.assert_array_equal(found.order, expected.order)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-9, atol=1e-12)
    for name in expected.extra:
        np.testing.assert_allclose(found.extra[name], expected.extra[name], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("ranker", [FTest(), MRMR()], ids=str)
def test_quantities_are_ranked_too(ranker, monkeypatch):
    dense, thin = both("regression")
    forbid_dense(monkeypatch)
    expected = ranker.rank(dense, np.random.default_rng(0), Resources())
    np.testing.assert_allclose(
        ranker.rank(thin, np.random.default_rng(0), Resources()).scores, expected.scores, rtol=1e-8
    )


@pytest.mark.parametrize(
    "criterion",
    [
        CrossValidated(LogisticRegression(), cv=3),
        CrossValidated(GaussianNB(), cv=3),
        LeastSquares(cv=FixedFolds(np.arange(300) % 4)),
        NaiveBayes(cv=3),
    ],
    ids=["sparse estimator", "another", "least squares", "naive Bayes"],
)
def test_criteria_give_the_dense_scores(criterion, pair, monkeypatch):
    dense, thin = pair
    forbid_dense(monkeypatch)
    monkeypatch.setattr("fewer.models.discrete_naive_bayes.SPARSE_BLOCK", 1500)  # five columns at a time
    masks = np.eye(12, dtype=bool)[:4] | np.eye(12, dtype=bool)[1:5]
    expected = criterion.bind(dense, np.random.default_rng(1), Resources()).score(masks)
    found = criterion.bind(thin, np.random.default_rng(1), Resources()).score(masks)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("scoring", ["accuracy", "auroc"])
def test_naive_bayes_is_the_dense_one_to_the_bit(scoring, missing, monkeypatch):
    dense, thin = (
        replace(rows, y=(rows.y > 0).astype(np.int64), classes=(0, 1)) if scoring == "auroc" else rows
        for rows in both("classification", missing)
    )
    forbid_dense(monkeypatch)
    monkeypatch.setattr("fewer.models.discrete_naive_bayes.SPARSE_BLOCK", 1500)
    criterion, rng = NaiveBayes(scoring, cv=3), np.random.default_rng
    one, other = (criterion.bind(rows, rng(1), Resources()) for rows in (dense, thin))
    units = [np.array([c]) for c in range(12)]
    mask = np.arange(12) % 3 == 0
    np.testing.assert_array_equal(other.flips(mask, units, ~mask), one.flips(mask, units, ~mask))
    np.testing.assert_array_equal(other.outputs(mask), one.outputs(mask))
    np.testing.assert_array_equal(other.predict(mask, dense.X[:9]), one.predict(mask, dense.X[:9]))
    assert other._columns.codes.size == 0
    assert len(other._columns.stored) < dense.X.size / 2


def test_rows_that_are_taken_keep_their_times(pair):
    _, thin = pair
    timed = replace(thin, time=np.arange(thin.n_samples))
    np.testing.assert_array_equal(timed.take(np.array([4, 2])).time, [4, 2])


def test_a_prefilter_makes_dense_what_it_keeps(pair, monkeypatch):
    dense, thin = pair
    prefilter = Prefilter(Fisher(), keep=4)
    selector = fewer.SubsetSelector(KNN(), Forward(), prefilter=prefilter, include=[5], random_state=0)
    expected = selector.fit_problem(dense)
    support, score = expected.support_.copy(), expected.score_
    forbid_dense(monkeypatch)
    found = selector.fit_problem(thin)
    np.testing.assert_array_equal(found.support_, support)
    assert found.score_ == pytest.approx(score)


def test_parts_columns_and_dense_forms(pair):
    dense, thin = pair
    rows = np.flatnonzero(dense.y == 1)
    np.testing.assert_array_equal(thin.take(rows).X, dense.take(rows).X)
    np.testing.assert_array_equal(thin.column(3), dense.column(3))
    np.testing.assert_array_equal(thin.constant, dense.constant)
    assert type(thin.as_dense()) is Problem
    assert thin.narrowed(np.array([2, 5])).names == ("x2", "x5")
    assert "X" not in vars(thin.take(rows))


def test_the_reader_keeps_large_tables_sparse_and_refuses_what_does_not_fit(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((200, 50)) < 0.1, rng.random((200, 50)), 0.0))
    y = rng.integers(0, 2, 200)
    assert to_problem(X, y).sparse is None
    monkeypatch.setattr("fewer.io._reader.DENSE_BYTES", 1000)
    problem = to_problem(X, y)
    np.testing.assert_array_equal(problem.sparse.toarray(), X.toarray())
    monkeypatch.setattr("fewer.io.sparse.available_memory", lambda: 1000)
    with pytest.raises(InputError, match="dense one of 78.1 KiB, and 1.0 KiB are free"):
        KNN().bind(problem, np.random.default_rng(0), Resources())
    bad = X.tolil()
    bad[3, 7] = np.inf
    with pytest.raises(InputError, match="'x7' holds an infinite number"):
        to_problem(bad.tocsr(), y)
    with pytest.raises(InputError, match="constant or empty"):
        to_problem(sparse.csr_array((200, 50)), y)
    with pytest.raises(InputError, match="199 rows"):
        to_problem(X, y[:-1])


def test_cells_that_are_stored_twice_are_added_up():
    rng = np.random.default_rng(0)
    cells = sparse.coo_array((rng.random(400), (rng.integers(0, 40, 400), rng.integers(0, 9, 400))), shape=(40, 9))
    twice = sparse.csr_array((np.repeat(cells.toarray(), 2) / 2, np.tile(np.repeat(np.arange(9), 2), 40),
                              np.arange(0, 721, 18)), shape=(40, 9))  # fmt: skip
    like = Problem.from_arrays(cells.toarray(), np.arange(40) % 2)
    ranked = [FTest().rank(p, rng, Resources()).scores for p in (like, SparseProblem.of(like, twice))]
    np.testing.assert_allclose(ranked[1], ranked[0], rtol=1e-9)
    assert twice.nnz == 720  # the user's own table stays as it is


def test_a_column_that_is_stored_in_many_rows_may_vary_in_the_last():
    stored = np.ones((1300, 1))
    assert not surely_varies(sparse.csr_array(stored))
    stored[1250] = 0.0
    assert surely_varies(sparse.csr_array(stored))
