"""Row weights: rows of weight 0 are not there, a common factor means nothing, and nobody ignores weights silently."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB

from fewer import RankSelector, SubsetSelector
from fewer.contracts import IncompatibleError, Resources
from fewer.criteria import KNN, BoundaryShare, CrossValidated, FisherRatio, LinearSeparability
from fewer.errors import FewerWarning
from fewer.io import to_problem
from fewer.problem import InputError, Problem
from fewer.rankers import MRMR, MutualInformation
from fewer.search import Forward


def table():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 3, 150).astype(float)
    return X, y, weights


@pytest.mark.parametrize("kind", [np.asarray, pl.DataFrame, np.ndarray.tolist, csr_array])
def test_rows_of_weight_0_are_dropped_at_the_door(kind):
    X, y, weights = table()
    kept = weights > 0
    problem = to_problem(kind(X), y, sample_weight=weights, groups=np.arange(150) // 3, time=np.arange(150))
    absent = to_problem(kind(X[kept]), y[kept])
    assert (problem.X == absent.X).all()
    assert (problem.y == absent.y).all()
    assert problem.row_numbers.tolist() == np.flatnonzero(kept).tolist()
    assert problem.sample_weight == pytest.approx(weights[kept] / weights[kept].mean())
    assert (np.diff(problem.groups) >= 0).all()
    assert (np.diff(problem.time) > 0).all()
    assert f"{(~kept).sum()} of 150 rows have weight 0" in problem.notes[0]


def test_what_dropped_rows_hold_does_not_matter():
    X, y, weights = table()
    spoiled, target = X.copy(), y.astype(object)
    spoiled[weights == 0] = np.inf
    target[np.flatnonzero(weights == 0)[0]] = None
    problem = to_problem(spoiled, target, task="classification", sample_weight=weights)
    assert (X[weights > 0] == problem.X).all()


def test_a_class_without_weight_is_named_and_left_out():
    X, y, weights = table()
    weights[y == 2] = 0.0
    problem = to_problem(X, np.array(["a", "b", "c"])[y], sample_weight=weights)
    assert problem.classes == ("a", "b")
    assert "Class 'c' has only rows of weight 0 and is left out." in problem.notes
    weights[y == 1] = 0.0
    with pytest.raises(InputError, match="only one class"):
        to_problem(X, y, sample_weight=weights)


@pytest.mark.parametrize("factor", [1e-20, 1e-12, 0.3, 1e9])
def test_a_common_factor_means_nothing(factor):
    X, y, weights = table()
    assert to_problem(X, y, sample_weight=np.full(150, factor)).sample_weight is None
    one, other = (to_problem(X, y, sample_weight=weights * by).sample_weight for by in (1.0, factor))
    assert one == pytest.approx(other, rel=1e-14)


def test_equal_tiny_weights_choose_what_none_choose():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.normal(size=60)
    plain = SubsetSelector(KNN(3), Forward(), random_state=0).fit(X, y)
    tiny = SubsetSelector(KNN(3), Forward(), random_state=0).fit(X, y, sample_weight=np.full(60, 1e-20))
    assert (plain.support_ == tiny.support_).all()
    assert plain.score_ == tiny.score_


def test_rankings_do_not_see_rows_of_weight_0():
    X, y, weights = table()
    kept = weights > 0
    with pytest.warns(FewerWarning, match="weight 0"):
        ours = RankSelector(MRMR()).fit(X, y, sample_weight=kept.astype(float))
    assert (ours.scores_ == RankSelector(MRMR()).fit(X[kept], y[kept]).scores_).all()


def test_listed_splits_number_the_rows_of_the_table():
    X, y, weights = table()
    kept = np.flatnonzero(weights > 0)
    folds = np.arange(150) % 3
    listed = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    own = [(np.flatnonzero(folds[kept] != k), np.flatnonzero(folds[kept] == k)) for k in range(3)]
    dropped = to_problem(X, y, sample_weight=(weights > 0).astype(float))
    absent = to_problem(X[kept], y[kept])
    mask = np.ones((1, 4), dtype=bool)
    scores = [
        CrossValidated(GaussianNB(), cv=cv).bind(problem, np.random.default_rng(0), Resources()).score(mask)[0]
        for cv, problem in ((listed, dropped), (own, absent))
    ]
    assert scores[0] == scores[1]
    with pytest.raises(InputError, match="not among the"):
        CrossValidated(GaussianNB(), cv=PredefinedSplit(folds)).bind(dropped, np.random.default_rng(0), Resources())


@pytest.mark.parametrize("criterion", [FisherRatio(), LinearSeparability()])
def test_a_weight_is_a_row_repeated(criterion):
    X, y, weights = table()
    X, y, weights = X[50:], y[50:], weights[50:] + 1
    rows = np.repeat(np.arange(100), weights.astype(int))
    masks = np.array([[1, 0, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1]], dtype=bool)
    weighted, repeated, plain = (
        criterion.bind(problem, np.random.default_rng(0), Resources()).score(masks)
        for problem in (
            Problem.from_arrays(X, y, sample_weight=weights),
            Problem.from_arrays(X[rows], y[rows]),
            Problem.from_arrays(X, y),
        )
    )
    assert weighted == pytest.approx(repeated, abs=1e-9)
    assert weighted != pytest.approx(plain, abs=1e-4)


def test_components_that_cannot_use_weights_or_groups_say_so():
    X, y, weights = table()
    with pytest.raises(IncompatibleError, match=r"^BoundaryShare cannot use row weights; [^\n]*$"):
        SubsetSelector(BoundaryShare(), Forward()).fit(X, y, sample_weight=weights + 1)
    with pytest.raises(IncompatibleError, match="^MutualInformation cannot use row weights"):
        RankSelector(MutualInformation()).fit(X, y, sample_weight=weights + 1)
    with pytest.raises(IncompatibleError, match="^MutualInformation cannot use row groups"):
        RankSelector(MutualInformation()).fit(X, y, groups=np.arange(150) // 2)


@pytest.mark.parametrize(("y", "words"), [(5, "The target is 5"), (None, "The target y is None")])
def test_no_target_is_refused_beside_weights_too(y, words):
    X, _, weights = table()
    with pytest.raises(InputError, match=words):
        to_problem(X, y, sample_weight=weights)
