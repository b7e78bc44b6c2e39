import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import mutual_info_score
from sklearn.preprocessing import KBinsDiscretizer

from fewer.contracts import Resources
from fewer.io import SparseProblem
from fewer.models import MDLPDiscretizer
from fewer.problem import InputError, Problem
from fewer.rankers import InformationGain


def gain(X, y, binning="equal-width", n_bins=10, **options):
    problem = Problem.from_arrays(X, y, **options)
    return InformationGain(binning, n_bins).rank(problem, np.random.default_rng(0), Resources())


def in_bits(codes, y):
    return [mutual_info_score(column, y) / np.log(2) for column in codes.T]


@pytest.mark.parametrize("n_bins", [2, 10, 33])
def test_equal_width_is_the_mutual_information_of_discretised_data(n_bins):
    X, y = load_wine(return_X_y=True)
    X = X + 1e-7 * np.random.default_rng(0).normal(size=X.shape)  # no value exactly on an edge
    codes = KBinsDiscretizer(n_bins, encode="ordinal", strategy="uniform").fit_transform(X)
    assert gain(X, y, n_bins=n_bins).scores == pytest.approx(in_bits(codes, y))


def test_equal_frequency_is_the_mutual_information_of_discretised_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(203, 4)), rng.integers(0, 3, 203)
    X[:, 0] += y
    edges = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    codes = (X[:, None, :] > edges).sum(axis=1)
    assert gain(X, y, "equal-frequency", 4).scores == pytest.approx(in_bits(codes, y))


def test_mdlp_is_the_mutual_information_of_discretised_data():
    X, y = load_wine(return_X_y=True)
    codes = MDLPDiscretizer().fit(X, y).transform(X)
    ranking = gain(X, y, "mdlp")
    assert ranking.scores == pytest.approx(in_bits(codes, y))
    assert ranking.extra["n_bins"].tolist() == (codes.max(axis=0) + 1).tolist()


def test_nominal_levels_are_bins_and_holes_are_left_out():
    rng = np.random.default_rng(1)
    codes, y = rng.integers(0, 30, 200).astype(float), rng.integers(0, 2, 200)
    column = codes[:, None].copy()
    column[:20] = np.nan
    expected = mutual_info_score(codes[20:], y[20:]) / np.log(2)
    assert gain(column, y, kinds=["nominal"]).scores == pytest.approx([expected])


def test_weights_count_as_copies():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(40, 3)), rng.integers(0, 2, 40), rng.integers(1, 4, 40)
    copies = np.repeat(np.arange(40), weights)
    assert gain(X, y, sample_weight=weights).scores == pytest.approx(gain(X[copies], y[copies]).scores)


def test_constant_and_empty_columns_say_nothing():
    X = np.column_stack([np.ones(8), np.full(8, np.nan), np.arange(8)])
    for binning in ("equal-width", "equal-frequency", "mdlp"):
        ranking = gain(X, [0, 0, 0, 0, 1, 1, 1, 1], binning)
        assert ranking.scores == pytest.approx([0, 0, 1])


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["equal-width", "equal-frequency", "mdlp"]))
def test_between_nothing_and_the_class_entropy_whatever_the_names(seed, binning):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 3)).round(1), rng.integers(0, 3, 30)
    scores = gain(X, y, binning).scores
    shares = np.unique(y, return_counts=True)[1] / 30
    assert (scores >= 0).all()
    assert (scores <= -(shares * np.log(shares)).sum() + 1e-9).all()
    assert gain(4 * X, 2 - y, binning).scores == pytest.approx(scores)


def test_the_nine_features_of_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    for n_bins in (5, 10, 20):
        assert {23, 21, 28, 24, 8, 3, 1, 4, 7} <= set((gain(X, y, n_bins=n_bins).order[:10] + 1).tolist())


def test_words_that_are_not_known_are_refused():
    with pytest.raises(InputError, match="The 'binning' parameter of InformationGain must be a str among"):
        gain(np.ones((4, 1)), [0, 1, 0, 1], "width")
    with pytest.raises(InputError, match="The 'n_bins' parameter of InformationGain must be an int in the range"):
        gain(np.ones((4, 1)), [0, 1, 0, 1], n_bins=0)


@pytest.mark.parametrize("binning", ["mdlp", "equal-width", "equal-frequency"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sparse_table_scores_as_the_dense_one(binning, weighted):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = np.round(rng.normal(size=(400, 6)) + 2 * (y == 1)[:, None], 1) * (
        rng.random((400, 6)) < [0.02, 0.1, 0.3, 0.9, 1, 0]
    )
    X[5, 2] = X[6, 3] = np.nan
    X[:, 4] += 50.0  # no zeros at all
    weights = rng.uniform(0.1, 3.0, 400) if weighted else None
    dense = Problem.from_arrays(X, y, sample_weight=weights)
    ranker, rng = InformationGain(binning=binning), np.random.default_rng(0)
    expected = ranker.rank(dense, rng, Resources())
    found = ranker.rank(SparseProblem.of(dense, sparse.csc_array(X)), rng, Resources())
    assert found.scores == pytest.approx(expected.scores, abs=1e-12)
    assert found.extra["n_bins"].tolist() == expected.extra["n_bins"].tolist()
    assert expected.scores[3] > 0.01
