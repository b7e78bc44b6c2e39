"""Grades against scikit-learn; influences against the jackknife, DeLong's formula and simulation."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, r2_score, roc_auc_score

import fewer
from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.errors import InputError, telling
from fewer.evaluate.grading import Grade, Grader, baseline_score, is_share
from fewer.problem import Problem
from fewer.validate import ConfidenceInterval, Split, split_rows
from making import make_problem


def scorer_of(problem, estimator=None, scoring=None):
    estimator = estimator or (LogisticRegression() if problem.task == "classification" else Ridge())
    return CrossValidated(estimator, scoring).bind(problem, np.random.default_rng(0), Resources())


def fold_grades(problem, scoring, splits):
    grader = Grader(problem, scoring)
    grades, outputs = [], np.empty((problem.n_samples, 2) if problem.task == "classification" else problem.n_samples)
    for split in splits:
        scorer = scorer_of(problem.take(split.train), scoring=scoring)
        outputs[split.test] = scorer.predict(np.ones(problem.n_features, dtype=bool), problem.X[split.test])
        grades.append(grader.grade(scorer, outputs[split.test], problem.take(split.test)))
    return grader, grades, outputs


def test_accuracy_is_the_share_of_rows():
    problem = make_problem(n_rows=53)
    splits = split_rows(problem, 5, np.random.default_rng(0))
    grader, grades, outputs = fold_grades(problem, None, splits)
    right = outputs.argmax(axis=1) == problem.y
    assert grader.interval(splits, grades).estimate == pytest.approx(right.mean())
    first = right[splits[0].test]
    assert np.sum(grades[0].influence ** 2) == pytest.approx(first.var(ddof=1) / len(first))


def test_r2_is_that_of_all_rows_together():
    problem = make_problem(n_rows=53, task="regression")
    splits = split_rows(problem, 5, np.random.default_rng(0))
    grader, grades, outputs = fold_grades(problem, None, splits)
    assert grader.interval(splits, grades).estimate == pytest.approx(r2_score(problem.y, outputs))


def test_area_agrees_with_scikit_learn_and_delong():
    rng = np.random.default_rng(0)
    y = np.arange(41) % 2
    outputs = np.round(rng.normal(size=41) + 0.7 * y, 1)
    problem = Problem.from_arrays(np.zeros((41, 1)), y)
    grade = Grader(problem, "roc_auc").grade(None, np.column_stack([-outputs, outputs]), problem)
    assert grade.score == pytest.approx(roc_auc_score(y, outputs))
    wins = (outputs[y == 1][:, None] > outputs[y == 0]) + 0.5 * (outputs[y == 1][:, None] == outputs[y == 0])
    delong = wins.mean(axis=1).var(ddof=1) / wins.shape[0] + wins.mean(axis=0).var(ddof=1) / wins.shape[1]
    assert np.sum(grade.influence**2) == pytest.approx(delong)


def test_weights_count():
    problem = make_problem(n_rows=30)
    weighted = Problem.from_arrays(problem.X, problem.y, sample_weight=np.arange(1, 31))
    outputs = np.eye(2)[(problem.X[:, 0] > 0).astype(int)]
    grade = Grader(weighted).grade(None, outputs, weighted)
    assert grade.score == pytest.approx(np.average(outputs.argmax(axis=1) == problem.y, weights=np.arange(1, 31)))


def test_other_scores_are_jackknifed():
    # For a mean over rows the jackknife is exact: F1 of two classes of one size, equally often right, is such a mean.
    problem = make_problem(n_rows=60)
    scorer = scorer_of(problem, scoring="f1_macro")
    outputs = np.eye(2)[(problem.X[:, 0] > 0.75).astype(int)]
    grade = Grader(problem, "f1_macro").grade(scorer, outputs, problem)
    plain = Grader(problem).grade(scorer, outputs, problem)
    assert grade.score == pytest.approx(plain.score, abs=0.02)
    assert np.sum(grade.influence**2) == pytest.approx(np.sum(plain.influence**2), rel=0.1)


@pytest.mark.parametrize("counts", [(20, 40), (5, 30, 25), (1, 29, 30)])
def test_balanced_accuracy_agrees_with_scikit_learn_and_the_jackknife(counts):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(counts)), counts)
    problem = Problem.from_arrays(rng.normal(size=(len(y), 2)), y)
    other = np.where(y == len(counts) - 1, 1, y + 1)  # never the first class, of which there may be one row alone
    outputs = np.eye(len(counts))[np.where(rng.random(len(y)) < 0.7, y, other)]
    grader, scorer = Grader(problem, "balanced_accuracy"), scorer_of(problem, scoring="balanced_accuracy")
    grade = grader.grade(scorer, outputs, problem)
    assert grade.score == pytest.approx(balanced_accuracy_score(y, outputs.argmax(axis=1)))
    jackknife = grader._jackknife(scorer, outputs, problem)
    own = np.array(counts)[y]  # the jackknife counts n rows of a class as n - 1
    inflated = grade.influence**2 * np.where(own > 1, own / np.maximum(own - 1, 1), 1.0) * (len(y) - 1) / len(y)
    assert np.sum(inflated) == pytest.approx(np.sum(jackknife**2), rel=1e-9 if counts[0] > 1 else 0.05)


def test_differences_of_grades_are_paired():
    a, b = Grade(0.8, np.array([0.1, -0.1, 0.0])), Grade(0.7, np.array([0.1, 0.0, -0.1]))
    difference = a - b
    assert difference.score == pytest.approx(0.1)
    assert np.allclose(difference.influence, [0.0, -0.1, 0.1])
    assert (a - Grade(0.7, None)).influence is None
    assert np.array_equal(Grade.from_json(a.to_json()).influence, a.influence)
    assert Grade.from_json(Grade(0.5, None).to_json()).influence is None


def test_a_score_that_a_fold_cannot_have_is_refused():
    problem = make_problem(n_rows=20)
    one_class = problem.take(problem.y == 1)
    for scoring in ("roc_auc", "average_precision"):
        scorer = scorer_of(problem, scoring=scoring)
        if scoring == "roc_auc":
            with pytest.raises(InputError, match="use fewer folds"):
                Grader(problem, scoring).grade(scorer, np.full((10, 2), 0.5), one_class)
    assert is_share("f1_macro")
    assert not is_share("neg_log_loss")


def test_a_difference_leans_on_two_measurements():
    problem = make_problem(n_rows=60)
    splits = split_rows(problem, 5, np.random.default_rng(0))
    grader, rng = Grader(problem), np.random.default_rng(0)

    def measured(shift):
        off = [rng.normal(size=12) for _ in splits]
        return [Grade(shift + own.mean(), (own - own.mean()) / np.sqrt(12 * 11)) for own in off]

    first, second = measured(0.0), measured(0.3)
    found, middle = grader.difference(splits, first, second), [np.mean([g.score for g in s]) for s in (first, second)]
    gap = middle[1] - middle[0]
    assert found.estimate == pytest.approx((2 * middle[0] + middle[1]) / 3)
    rows = sum(np.sum(grade.influence**2) for grade in (*first, *second)) / 25
    folds = np.var([grade.score for grade in first], ddof=1) / 5
    parts = np.array([0.7 * rows, 0.5 * folds, 0.1 * gap**2])
    assert found.standard_error == pytest.approx(np.sqrt(parts.sum()))
    assert found.degrees_of_freedom == pytest.approx(parts.sum() ** 2 / np.sum(parts**2 / [55, 4, 1]))
    assert found.low < middle[0] < found.high


def test_a_difference_without_a_second_measurement_is_that_of_folds():
    problem = make_problem(n_rows=60)
    splits = split_rows(problem, 5, np.random.default_rng(0))
    grader, _, _ = fold_grades(problem, None, splits)
    known = [Grade(0.1 * k, np.array([0.1, -0.1])) for k in range(5)]
    unknown = [*known[:4], Grade(0.1, None)]
    plain = grader.interval(splits, known)
    assert grader.difference(splits, known, None) == plain
    assert grader.difference(splits, known, unknown) == plain
    assert grader.difference(splits, unknown, known) == grader.interval(splits, unknown)


def test_two_equal_measurements_without_spread_are_not_certainty():
    problem = make_problem(n_rows=60)
    splits = split_rows(problem, 5, np.random.default_rng(0))
    nothing = [Grade(0.0, np.zeros(12)) for _ in splits]
    found = Grader(problem).difference(splits, nothing, nothing)
    assert found.estimate == 0.0
    assert found.standard_error >= 1.5 / 60


@pytest.mark.parametrize(("name", "ends"), [("accuracy", (0.0, 1.0)), ("f1_macro", (0.0, 1.0)), ("r2", (-0.5, 1.0))])
def test_intervals_end_where_scores_do(name, ends, monkeypatch):
    grader = Grader.__new__(Grader)
    grader.name, grader.problem = name, Problem.from_arrays([[0.0], [1.0]], [0, 1])
    split = Split(np.array([0]), np.array([1]))
    for low, high, expected in ((-0.5, 1.5, ends), (0.4, 0.6, (0.4, 0.6))):
        whole = ConfidenceInterval(0.5, low, high, 0.95, "t", "")
        monkeypatch.setattr(grader, "interval", lambda splits, grades, estimand, whole=whole: whole)
        found = grader.of_scores([split], [])
        assert (found.low, found.high) == expected


def test_a_grade_goes_to_json_and_back_and_differences_need_both_influences():
    known, unknown = Grade(0.5, np.array([0.1, -0.1])), Grade(0.25, None)
    assert Grade.from_json(known.to_json()).influence.tolist() == [0.1, -0.1]
    assert Grade.from_json(unknown.to_json()).influence is None
    assert (known - unknown).score == 0.25
    assert (known - unknown).influence is None
    assert (known - known).influence.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("no rows"), "Scoring failed: no rows"),
        (TypeError("one\ntwo"), "Scoring failed: one"),
        (IndexError(), "Scoring failed: IndexError"),
    ],
)
def test_what_fails_is_told_in_one_line(error, told):
    with pytest.raises(InputError) as raised, telling("Scoring"):
        raise error
    assert str(raised.value) == told


def test_our_own_errors_pass_as_they_are():
    with pytest.raises(InputError, match="^mine$"), telling("Scoring"):
        raise InputError("mine")


@pytest.mark.parametrize("method", ["fisher", "auto"])
def test_a_score_that_fails_is_told_in_one_line(method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 2
    with pytest.raises(InputError, match="^The scoring failed: .* takes 1 positional argument but 3 were given$"):
        fewer.select(X, y, method, cv=2, random_state=0, scoring=lambda model: 1.0)


def test_rows_of_a_group_vary_together():
    problem = Problem.from_arrays(np.zeros((6, 1)), [0, 1, 0, 1, 0, 1], groups=[0, 0, 1, 1, 2, 2])
    split = Split(np.array([], dtype=np.int64), np.arange(6))
    influence = np.array([0.1, 0.2, -0.3, 0.0, 0.1, -0.1])
    # three groups, whose influences sum to 0.3, -0.3 and 0
    assert Grader(problem, None)._variance(split, Grade(0.5, influence)) == pytest.approx(2 * 0.09 * 3 / 2)


def test_a_group_alone_in_its_fold_shows_nothing_of_the_spread_of_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 6)
    problem = Problem.from_arrays(np.zeros((60, 1)), np.arange(60) % 2, groups=groups)
    splits = [Split(np.flatnonzero(groups != g), np.flatnonzero(groups == g), g) for g in range(10)]
    grades = [Grade(score, rng.normal(size=6) - 0.1) for score in rng.uniform(0.2, 1.0, 10)]
    interval = Grader(problem, None).interval(splits, grades)
    between = np.var([grade.score for grade in grades], ddof=1)  # Nadeau and Bengio: 9 degrees of freedom
    assert interval.degrees_of_freedom == 9
    assert interval.standard_error == pytest.approx(max(np.sqrt((1 / 10 + 1 / 9) * between), 1.5 / 10))


def test_a_difference_of_shares_stays_between_minus_one_and_one():
    groups = np.repeat(np.arange(3), 4)
    problem = Problem.from_arrays(np.zeros((12, 1)), np.arange(12) % 2, groups=groups)
    splits = [Split(np.flatnonzero(groups != g), np.flatnonzero(groups == g), g) for g in range(3)]
    interval = Grader(problem, None).interval(splits, [Grade(score, np.zeros(4)) for score in (-0.5, 0.0, 0.5)])
    assert (interval.low, interval.high) == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("scoring", "labels", "best"),
    [
        ("f1", [0, 0, 0, 1], f1_score([0, 0, 0, 1], [1, 1, 1, 1])),
        ("jaccard", [0, 0, 0, 1], 0.25),
        ("neg_log_loss", [0, 0, 0, 1], -log_loss([0, 0, 0, 1], np.tile([0.75, 0.25], (4, 1)))),
        ("neg_mean_absolute_error", [0.0, 0.0, 0.0, 8.0], -2.0),  # the median; the mean is wrong by 3
        ("neg_mean_squared_error", [0.0, 0.0, 0.0, 8.0], -12.0),
    ],
)
def test_knowing_nothing_is_the_best_answer_that_is_the_same_for_every_row(scoring, labels, best):
    task = "regression" if isinstance(labels[0], float) else "classification"
    problem = Problem.from_arrays(np.zeros((4, 1)), labels, task=task)
    assert baseline_score(problem, scoring) == pytest.approx(best)


def test_the_median_that_knows_nothing_is_that_of_the_weights():
    problem = Problem.from_arrays(np.zeros((3, 1)), [0.0, 1.0, 10.0], task="regression", sample_weight=[1.0, 1.0, 3.0])
    assert baseline_score(problem, "neg_median_absolute_error") == 0.0


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc", "f1_macro"])
def test_a_scarce_class_without_a_mistake_is_no_certainty(scoring):
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.normal(size=(100, 1)), np.arange(100) < 6)
    splits = split_rows(problem, 3, rng)
    grader = Grader(problem, scoring)
    outputs = np.column_stack([problem.y == 0, problem.y == 1]).astype(float)
    scorer = scorer_of(problem, scoring=scoring)
    grades = [grader.grade(scorer, outputs[split.test], problem.take(split.test)) for split in splits]
    # nothing wrong in 6 rows still allows a share of 3/6; the class has half of the score
    assert grader.interval(splits, grades).standard_error == pytest.approx(3 / 6 / 2 / 2)
    assert Grader(problem, "f1_micro").interval(splits, grades).standard_error == pytest.approx(3 / 100 / 2)


def test_a_class_in_few_groups_is_as_scarce_as_they_are():
    problem = Problem.from_arrays(np.zeros((40, 1)), np.arange(40) < 16, groups=np.arange(40) // 4)
    assert Grader(problem, "balanced_accuracy")._resolution == pytest.approx(1.5 / (2 * 4))
    mixed = Problem.from_arrays(np.zeros((40, 1)), np.arange(40) % 2, groups=np.arange(40) // 4)
    assert Grader(mixed, "balanced_accuracy")._resolution == pytest.approx(1.5 / 10)
