import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import CategoricalNB

from fewer import SubsetSelector
from fewer.contracts import IncompatibleError, Objective, Resources, SearchSpace
from fewer.criteria import NaiveBayes
from fewer.io import to_problem
from fewer.models import DiscreteNaiveBayes, MDLPDiscretizer
from fewer.problem import InputError, Problem
from fewer.search import Exhaustive, Floating, Forward
from fewer.validate import FixedFolds


def bind(problem, *words, n_jobs=1, **kwargs):
    return NaiveBayes(*words, **kwargs).bind(problem, np.random.default_rng(0), Resources(n_jobs))


def numbers(seed=0, n=120, p=5, n_classes=2, decimals=1):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p))
    X[:, :2] += 1.2 * y[:, None]
    return Problem.from_arrays(X.round(decimals), y)


def all_masks(p):
    return (np.arange(2**p)[:, None] >> np.arange(p)) & 1 == 1


def twin(problem, folds, mask, scoring):
    """Bins, frequencies and ranks of each fold, by scikit-learn."""
    right = pairs = 0.0
    for fold in np.unique(folds):
        train, test = folds != fold, folds == fold
        bins = MDLPDiscretizer().fit(problem.X[train], problem.y[train])
        codes = bins.transform(problem.X)[:, mask]
        if mask.any():
            model = CategoricalNB(min_categories=bins.n_bins_[mask]).fit(codes[train], problem.y[train])
            chances = model.predict_joint_log_proba(codes[test])
        else:
            chances = np.repeat(np.log(np.bincount(problem.y[train]))[None], test.sum(), axis=0)
        if scoring == "accuracy":
            right += (chances.argmax(axis=1) == problem.y[test]).sum()
            pairs += test.sum()
        else:
            n = (problem.y[test] == 1).sum() * (problem.y[test] == 0).sum()
            right += n * roc_auc_score(problem.y[test], (chances[:, 1] - chances[:, 0]).round(6))
            pairs += n
    return right / pairs


@pytest.mark.parametrize(("scoring", "n_classes"), [("accuracy", 2), ("accuracy", 3), ("auroc", 2)])
def test_scores_agree_with_scikit_learn_fold_by_fold(scoring, n_classes):
    problem = numbers(n_classes=n_classes, p=4)
    folds = np.arange(120) % 7
    scorer = bind(problem, scoring, cv=FixedFolds(folds))
    masks = all_masks(4)
    truth = [twin(problem, folds, mask, scoring) for mask in masks]
    np.testing.assert_allclose(scorer.score(masks), truth, atol=1e-12)


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10_000), scoring=st.sampled_from(["accuracy", "auroc"]), n_jobs=st.sampled_from([1, 3]),
    weighted=st.booleans(),
)  # fmt: skip
def test_every_way_to_a_subset_gives_the_same_score(seed, scoring, n_jobs, weighted):
    rng = np.random.default_rng(seed)
    plain = numbers(seed, n=40)
    X = np.where(rng.random(plain.X.shape) < 0.1, np.nan, plain.X)
    weights = rng.integers(1, 5, size=40) / 4 if weighted else None
    problem = Problem.from_arrays(X, plain.y, sample_weight=weights)
    scorer = bind(problem, scoring, n_jobs=n_jobs)
    units = [np.array([0, 3]), np.array([1]), np.array([2]), np.array([4])]
    mask = np.zeros(5, dtype=bool)
    walk = scorer.walk(mask, units)
    for _ in range(12):
        unit, value = int(rng.integers(4)), bool(rng.integers(2))
        proposed = mask.copy()
        proposed[units[unit]] = value
        direct = scorer.score(proposed[None])[0]
        assert walk.propose(unit, value) == direct
        values = np.arange(4) == unit
        values = np.where(values, value, ~mask[[0, 1, 2, 4]])
        assert scorer.flips(mask, units, values)[unit] == direct
        if rng.random() < 0.6:
            walk.accept()
            mask = proposed
        else:
            walk.reject()


def test_one_training_and_one_validation_set():
    problem = numbers(n=150)
    role = np.where(np.arange(150) < 100, -1, 0)
    scorer = bind(problem, cv=PredefinedSplit(role))
    mask = np.array([True, True, False, False, True])
    model = DiscreteNaiveBayes().fit(problem.X[:100][:, mask], problem.y[:100])
    assert scorer.score(mask[None])[0] == pytest.approx(model.score(problem.X[100:][:, mask], problem.y[100:]))
    assert np.isnan(scorer.outputs(mask)[:100]).all()
    np.testing.assert_allclose(scorer.outputs(mask)[100:], model.predict_proba(problem.X[100:][:, mask]), atol=1e-12)


def test_outputs_and_predictions_are_memberships():
    problem = numbers(n_classes=3)
    scorer = bind(problem)
    mask = np.array([True, True, True, False, False])
    out = scorer.outputs(mask)
    assert scorer.grade(out, problem) == pytest.approx(scorer.score(mask[None])[0])
    model = DiscreteNaiveBayes().fit(problem.X[:, mask], problem.y)
    np.testing.assert_allclose(scorer.predict(mask, problem.X), model.predict_proba(problem.X[:, mask]), atol=1e-12)


def test_it_works_with_every_search_and_finds_what_matters():
    problem = numbers(n=300)
    for search in (Forward(), Floating(), Exhaustive()):
        selector = SubsetSelector(NaiveBayes("auroc"), search, n_features_to_select=2, random_state=0)
        assert selector.fit(problem.X, problem.y).support_.tolist() == [True, True, False, False, False]


def test_a_sweep_agrees_with_single_scores():
    problem = numbers()
    space = SearchSpace.of(5)
    sweep = Objective(bind(problem), space).sweep(0, 32, 5)
    scores = bind(problem).score(all_masks(5)[1:])
    np.testing.assert_allclose(sweep.scores, np.sort(scores)[::-1][:5], atol=1e-12)


def test_nominal_columns_with_holes():
    frame = pl.DataFrame({"color": ["red", "blue", None, "red"] * 10, "size": [1.0, 2.0, 3.0, None] * 10})
    problem = to_problem(frame, ["a", "b", "a", "a"] * 10)
    assert bind(problem).score(np.array([[True, True]]))[0] > 0.9


def test_what_cannot_work_is_refused():
    problem = numbers(n_classes=3)
    with pytest.raises(IncompatibleError, match="two classes, but there are 3"):
        bind(problem, "auroc")
    with pytest.raises(InputError, match="The 'scoring' parameter"):
        bind(problem, "f1")
    with pytest.raises(InputError, match="The 'alpha' parameter"):
        bind(problem, alpha=-1.0)
    with pytest.raises(IncompatibleError, match="No fold holds rows of both"):
        bind(numbers(n=20), "auroc", cv="loo")
