"""The curve of score against size, and the standard error of its best point."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import fewer
from fewer import RankSelector, SubsetSelector
from fewer.contracts import Resources
from fewer.criteria import KNN, Classifiability, NaiveBayes
from fewer.evaluate import scores_by_size, standard_error
from fewer.evaluate._by_size import best_by_size
from fewer.problem import Problem
from fewer.rankers import Fisher, RReliefF
from fewer.search import Exhaustive, Forward
from fewer.selectors._rank import one_standard_error
from fewer.validate import assign_folds
from making import make_problem


def test_the_error_of_an_accuracy_is_that_of_the_mean_over_parts():
    problem = Problem.from_arrays(*load_iris(return_X_y=True))
    scorer = KNN().bind(problem, np.random.default_rng(0), Resources())
    mask = np.array([True, True, False, False])
    found = standard_error(scorer, mask, problem, np.random.default_rng(5))
    right = scorer.outputs(mask).argmax(axis=1) == problem.y
    parts = assign_folds(problem, 10, np.random.default_rng(5))
    means = [right[parts == part].mean() for part in range(10)]
    assert len(set(np.bincount(parts))) == 1
    assert found == pytest.approx(np.std(means, ddof=1) / np.sqrt(10))


def test_the_error_tells_how_far_new_samples_would_scatter():
    """Over many samples of one source the mean of the errors is near the spread of the scores."""
    scores, errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(200, 1))
        problem = Problem.from_arrays(x, x[:, 0] + rng.normal(size=200), task="regression")
        scorer = KNN(15, cv="loo").bind(problem, rng, Resources())
        scores.append(scorer.score(np.ones((1, 1), dtype=bool))[0])
        errors.append(standard_error(scorer, np.ones(1, dtype=bool), problem, rng))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(scores), rel=0.3)


def test_an_undefined_grade_gives_no_error():
    y = np.zeros(40, dtype=int)
    y[:2] = 1
    problem = Problem.from_arrays(np.arange(80.0).reshape(40, 2), y, names=["a", "b"])
    scorer = NaiveBayes(scoring="auroc", cv=2).bind(problem, np.random.default_rng(0), Resources())
    only = problem.take(np.append(1, np.arange(2, 40)))
    scorer.outputs = lambda mask: np.full((39, 2), 0.5)
    assert standard_error(scorer, np.array([True, False]), only, np.random.default_rng(0)) is None


def test_a_search_gives_the_best_of_each_size():
    problem = make_problem()
    selector = SubsetSelector(KNN(), Exhaustive(), random_state=0).fit_problem(problem)
    curve = scores_by_size(selector, problem)
    trace = selector.trace_
    sizes = trace.top_masks.sum(axis=1)
    truth = {int(size): trace.top_scores[sizes == size].max() for size in np.unique(sizes)}
    assert dict(zip(curve["sizes"], curve["scores"], strict=True)) == pytest.approx(truth)
    for size, (score, mask) in best_by_size(trace).items():
        assert mask.sum() == size
        scorer = KNN().bind(problem, np.random.default_rng(0), Resources())
        assert scorer.score(mask[None])[0] == pytest.approx(score)


def test_a_criterion_that_does_not_predict_has_no_error():
    problem = make_problem()
    selector = SubsetSelector(Classifiability(), Forward(), random_state=0).fit_problem(problem)
    assert scores_by_size(selector, problem)["standard_error"] is None


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_ranking_gives_its_own_curve_in_the_units_of_the_page(task):
    load = load_iris if task == "classification" else load_diabetes
    problem = Problem.from_arrays(*load(return_X_y=True), task=task)
    ranker = Fisher() if task == "classification" else RReliefF()
    selector = RankSelector(ranker, random_state=0).fit_problem(problem)
    curve = scores_by_size(selector, problem)
    scores, best = np.array(curve["scores"]), int(np.argmax(curve["scores"]))
    unit = 1.0 if task == "classification" else problem.y.var()
    assert (scores - 1) * unit == pytest.approx(selector.curve_["score"])
    fewest = curve["sizes"][int(np.argmax(scores >= scores[best] - curve["standard_error"]))]
    assert fewest == one_standard_error(selector.curve_) == selector.support_.sum()
    assert scores_by_size(RankSelector(ranker, n_features_to_select=2).fit_problem(problem), problem) == {}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_curve_of_the_one_standard_error_rule_is_that_of_held_out_rows(task):
    problem = make_problem(n_rows=90, n_features=8, task=task)
    words = fewer.criteria.LeastSquares(), fewer.search.Floating()
    selector = fewer.SubsetSelector(*words, control=fewer.control.OneStandardError(), random_state=0)
    curve = scores_by_size(selector.fit_problem(problem), problem)
    extra = selector.trace_.extra
    alone = np.var(problem.y) if task == "regression" else 0.5
    assert curve["sizes"] == extra["sizes"].tolist()
    assert curve["scores"] == pytest.approx(1 - extra["loss"] / alone)
    within = np.array(curve["scores"]) >= max(curve["scores"]) - np.array(curve["standard_error"]) - 1e-12
    assert curve["sizes"][int(np.argmax(within))] == extra["chosen_size"][0]
    assert curve["name"].startswith("R²")


def test_there_is_no_error_where_one_part_has_all_the_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    one_group = Problem.from_arrays(X, y, groups=np.zeros(40, dtype=int))
    weights = np.zeros(40)
    weights[:2] = 1.0
    few = Problem.from_arrays(X, y, sample_weight=weights, groups=np.repeat(np.arange(20), 2))
    mask = np.array([True, False, False])
    for problem in (one_group, few):
        scorer = KNN("auto", cv="loo").bind(Problem.from_arrays(X, y), rng, Resources())
        assert standard_error(scorer, mask, problem, rng) is None
