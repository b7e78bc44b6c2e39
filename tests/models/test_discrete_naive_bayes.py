import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewer.models import DiscreteNaiveBayes, MDLPDiscretizer
from fewer.models.discrete_naive_bayes import LogTables
from fewer.problem import Problem


@parametrize_with_checks([DiscreteNaiveBayes()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def coded(seed=0, n=300, p=5, n_levels=4, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    codes = (rng.integers(n_levels, size=(n, p)) + y[:, None] * (rng.random((n, p)) < 0.4)) % n_levels
    return codes, y


@pytest.mark.parametrize("alpha", [1.0, 0.25, 3.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_levels_agree_with_scikit_learn(alpha, n_classes):
    codes, y = coded(n_classes=n_classes)
    frame = pl.DataFrame(codes.astype(str), schema=[f"f{i}" for i in range(codes.shape[1])])
    ours = DiscreteNaiveBayes(alpha=alpha).fit(frame, y)
    theirs = CategoricalNB(alpha=alpha).fit(codes, y)
    np.testing.assert_allclose(ours.predict_proba(frame), theirs.predict_proba(codes), rtol=0, atol=1e-6)
    assert (ours.predict(frame) == theirs.predict(codes)).mean() > 0.995


def test_numbers_are_binned_by_the_training_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(int)
    bins = MDLPDiscretizer().fit(X, y)
    theirs = CategoricalNB().fit(bins.transform(X), y)
    new = rng.normal(size=(50, 3))
    ours = DiscreteNaiveBayes().fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(bins.transform(new)), atol=1e-6)


def test_any_discretizer():
    codes, y = coded(n_classes=2)
    X = codes + np.random.default_rng(1).random(codes.shape)
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="uniform")
    theirs = CategoricalNB(min_categories=5).fit(bins.fit_transform(X).astype(int), y)
    ours = DiscreteNaiveBayes(discretizer=bins).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(bins.transform(X).astype(int)), atol=1e-6)


def test_cells_that_are_missing_or_new_say_nothing():
    codes, y = coded(n_classes=2, p=2)
    names = ["a", "b"]
    model = DiscreteNaiveBayes().fit(pl.DataFrame(codes.astype(str), schema=names), y)
    only_a = DiscreteNaiveBayes().fit(pl.DataFrame(codes[:, :1].astype(str), schema=["a"]), y)
    rows = pl.DataFrame({"a": ["0", "1", "2"], "b": [None, "never seen", None]})
    np.testing.assert_allclose(model.predict_proba(rows), only_a.predict_proba(rows.select("a")))


def test_a_level_keeps_its_meaning_in_a_table_with_fewer_levels():
    codes, y = coded(n_classes=2)
    names = [f"f{i}" for i in range(5)]
    frame = pl.DataFrame(codes.astype(str), schema=names)
    model = DiscreteNaiveBayes().fit(frame, y)
    whole = model.predict_proba(frame)
    for row in range(10):
        np.testing.assert_array_equal(model.predict_proba(frame[row])[0], whole[row])


def test_weights_count_as_copies_and_it_can_be_pickled():
    codes, y = coded(n_classes=2, n=80)
    copies = np.random.default_rng(2).integers(1, 4, size=80)
    names = [f"f{i}" for i in range(5)]
    weighted = DiscreteNaiveBayes().fit(pl.DataFrame(codes.astype(str), schema=names), y, sample_weight=copies)
    repeated = pl.DataFrame(np.repeat(codes, copies, axis=0).astype(str), schema=names)
    plain = DiscreteNaiveBayes().fit(repeated, np.repeat(y, copies))
    np.testing.assert_array_equal(weighted.predict_proba(repeated), plain.predict_proba(repeated))
    again = pickle.loads(pickle.dumps(plain))
    np.testing.assert_array_equal(again.predict_proba(repeated), plain.predict_proba(repeated))


@pytest.mark.parametrize("kind", ["nominal", "numeric"])
def test_folds_are_learnt_as_each_would_be_alone(kind):
    codes, y = coded(n=120, n_classes=3)
    X = np.where(np.random.default_rng(0).random(codes.shape) < 0.1, np.nan, codes)
    X[:3, 0] = 9  # a level that some folds never see
    problem = Problem.from_arrays(X, y, kinds=[kind] * 5)
    folds = np.arange(120) % 7
    splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(7)]
    splits.append((np.arange(50), np.arange(60, 90)))
    for chosen in (splits[:7], splits):
        for tables, (train, test) in zip(LogTables.learn_folds(problem, chosen, 0.5), chosen, strict=True):
            alone = LogTables.learn(problem.take(train), 0.5)
            np.testing.assert_array_equal(tables.joint(X[test]), alone.joint(X[test]))
