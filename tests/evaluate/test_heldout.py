import json

import numpy as np
import pytest

from fewer.contracts import Resources, Stopped
from fewer.criteria import KNN, CrossValidated
from fewer.errors import InputError
from fewer.evaluate import Choice, heldout
from fewer.problem import Problem
from fewer.rankers import Fisher
from fewer.validate import assign_folds
from making import make_problem


def two_best(rows, rng):
    return np.isin(np.arange(rows.n_features), Fisher().rank(rows, rng, Resources()).order[:2])


def run(choose=two_best, problem=None, criterion=None, **options):
    options = {"cv": 5, "rng": np.random.default_rng(0), "resources": Resources(), **options}
    return heldout(choose, problem or make_problem(), criterion or KNN(3), **options)


def test_it_is_a_loop_over_folds():
    problem = make_problem(n_rows=60)
    result = run(problem=problem)
    folds = assign_folds(problem, 5, np.random.default_rng(0))
    right = np.empty(60)
    for fold in range(5):
        train, test = problem.take(folds != fold), problem.take(folds == fold)
        mask = two_best(train, None)
        assert np.array_equal(mask, result.masks[fold])
        outputs = KNN(3).bind(train, np.random.default_rng(0), Resources()).predict(mask, test.X)
        assert np.array_equal(outputs, result.outputs[folds == fold])
        right[folds == fold] = outputs.argmax(axis=1) == test.y
    assert result.score == pytest.approx(right.mean())
    assert result.low < result.score < result.high <= 1.0
    assert result.n_folds == 5
    assert "new rows" in result.interval.estimand


def test_selecting_everything_makes_no_difference():
    result = run(lambda rows, rng: np.ones(rows.n_features, dtype=bool))
    assert result.score == result.score_all
    assert result.difference == 0.0
    assert result.p_value == 1.0
    assert result.difference_low < 0 < result.difference_high


def test_selection_helps_where_noise_drowns_the_signal():
    result = run(problem=make_problem(n_rows=200, n_features=100, seed=3))
    assert result.difference_low > 0
    assert result.p_value < 0.05


def test_what_was_tried_moves_the_interval_of_the_difference_alone():
    problem = make_problem(n_rows=60)
    plain = run(problem=problem)
    right, wrong = np.eye(2)[problem.y], np.eye(2)[1 - problem.y]
    mixed = np.where((np.arange(60) % 4 == 0)[:, None], wrong, right)
    found = run(problem=problem, tried=(right, mixed))
    assert found.interval == plain.interval
    assert found.difference == plain.difference
    assert found.interval_of_difference.estimate == pytest.approx((2 * plain.difference + 0.25) / 3)
    assert found.difference_low <= found.difference <= found.difference_high
    assert run(problem=problem, tried=(right, mixed), scoring="f1").interval_of_difference == (
        run(problem=problem, scoring="f1").interval_of_difference
    )


@pytest.mark.parametrize(("stop_at", "n_folds"), [(1, 2), (2, 2), (3, 3), (9, 5)])
def test_whoever_follows_the_folds_can_end_them_but_two_are_run(stop_at, n_folds):
    def follow(records):
        if len(records) >= stop_at:
            raise Stopped("Enough.")

    outcome = run(lambda rows, rng: np.ones(rows.n_features, dtype=bool), on_fold=follow)
    assert outcome.n_folds == n_folds
    assert np.isnan(outcome.outputs).any() == (n_folds < 5)


def test_it_resumes_to_the_same_result():
    def shaky(rows, rng):
        return rng.random(rows.n_features) < 0.5

    kept = []

    def stop_after_two(records):
        kept[:] = json.loads(json.dumps(records))
        if len(records) == 2:
            raise KeyboardInterrupt

    whole = run(shaky)
    with pytest.raises(KeyboardInterrupt):
        run(shaky, on_fold=stop_after_two)
    assert len(kept) == 2
    calls = []

    def counted(rows, rng):
        calls.append(1)
        return shaky(rows, rng)

    again = run(counted, done=kept)
    assert len(calls) == 3
    assert again.interval == whole.interval
    assert again.interval_of_difference == whole.interval_of_difference
    assert np.array_equal(again.outputs, whole.outputs)
    assert all(np.array_equal(a, b) for a, b in zip(again.masks, whole.masks, strict=True))


def test_criteria_without_predictions_are_judged_by_neighbors():
    class Judgeless(KNN):
        predictive = False

    assert run(criterion=Judgeless()).interval == run(criterion=KNN(n_neighbors="auto")).interval


def test_the_criterion_judges_in_its_own_units():
    from sklearn.naive_bayes import GaussianNB

    result = run(criterion=CrossValidated(GaussianNB(), "roc_auc"), problem=make_problem(n_rows=100))
    assert result.score > 0.8
    assert "roc_auc" in result.interval.estimand


def test_regression_nominal_and_missing_cells():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    X[:, 3] = rng.integers(0, 3, 80)
    y = X[:, 0] + (X[:, 3] == 1) + 0.1 * rng.normal(size=80)
    X[rng.random((80, 4)) < 0.1] = np.nan
    kinds = ["numeric"] * 3 + ["nominal"]
    problem = Problem.from_arrays(X, y, task="regression", kinds=kinds)
    result = run(lambda rows, rng: np.array([True, False, False, True]), problem)
    assert 0.2 < result.score < 1.0
    assert result.score > result.score_all


def test_groups_stay_on_one_side():
    groups = np.arange(60) // 4
    problem = make_problem(n_rows=60)
    grouped = Problem.from_arrays(np.column_stack([problem.X, groups]), problem.y, groups=groups)
    seen = []

    def remember(rows, rng):
        seen.append(set(rows.X[:, -1]))
        return np.ones(rows.n_features, dtype=bool)

    run(remember, grouped)
    left_out = [set(groups) - ids for ids in seen]
    assert sum(len(ids) for ids in left_out) == 15


def test_a_mask_of_the_wrong_size_is_refused():
    with pytest.raises(InputError, match="shape"):
        run(lambda rows, rng: np.ones(3, dtype=bool))


def test_a_judge_may_learn_from_a_sample():
    seen = []

    class Watched(KNN):
        def bind(self, problem, rng, resources):
            seen.append(np.bincount(problem.y).tolist())
            return super().bind(problem, rng, resources)

    run(lambda rows, rng: Choice(two_best(rows, rng), Watched(3), judge_rows=20), make_problem(n_rows=60))
    run(lambda rows, rng: Choice(two_best(rows, rng), Watched(3), judge_rows=48), make_problem(n_rows=60))
    assert seen == [[10, 10]] * 5 + [[24, 24]] * 5
