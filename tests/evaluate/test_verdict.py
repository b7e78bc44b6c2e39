"""Sentences against constructed numbers."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import make_regression
from sklearn.linear_model import LinearRegression

import fewer
from fewer.criteria import CrossValidated
from fewer.evaluate import MethodScore, verdict
from fewer.evaluate.grading import LEAST_FOR_TEN, Verdict


def score(difference, low, high, *, name="knn-forward", estimator="knn", role="method", n_features=12.2, base=0.8):
    return MethodScore(
        name=name,
        estimator=estimator,
        role=role,
        score=base + difference,
        low=base + low,
        high=base + high,
        n_features=n_features,
        stability=0.5,
        optimism=0.1,
        seconds=1.0,
        difference=difference,
        difference_low=low,
        difference_high=high,
        p_value=0.01,
        p_holm=0.01,
        joint_low=low,
        joint_high=high,
    )


def say(*scores, scoring="accuracy"):
    return verdict(scores, scoring=scoring, n_features=60)


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ((0.061, 0.032, 0.090), "Better with {}: +6.1 points of held-out accuracy (+3.2 to +9.0, 95 %)."),
        ((-0.04, -0.07, -0.01), "Worse with {}: 4.0 points of held-out accuracy are lost (−7.0 to −1.0, 95 %)."),
        ((0.01, -0.012, 0.04), "As good with {}: at most 1.2 points of held-out accuracy are lost (95 %)."),
        (
            (0.02, -0.21, 0.25),
            "Not known whether {} are as good: between −21.0 and +25.0 points of held-out accuracy (95 %).",
        ),
    ],
)
def test_the_kinds_in_words(numbers, sentence):
    assert say(score(*numbers)) == sentence.format("12 of 60 features for kNN (knn-forward)")


def test_two_estimators_the_best_first():
    undecided = score(0.00, -0.05, 0.05, estimator="svm")
    better = score(0.061, 0.032, 0.090, estimator="knn")
    text = say(undecided, better)
    assert text.startswith("Better with")
    assert "for the SVM" in text.split("Not known")[1]


def test_the_best_method_is_spoken_of_and_baselines_are_not():
    text = say(
        score(0.02, 0.01, 0.03, name="good"),
        score(0.05, 0.04, 0.06, name="better"),
        score(0.09, 0.08, 0.10, name="a baseline", role="baseline"),
    )
    assert "(better)" in text
    assert text.count("features") == 1


def test_the_joint_interval_decides():
    row = MethodScore(**{**score(0.05, 0.01, 0.09).__dict__, "joint_low": -0.03, "joint_high": 0.099})
    assert say(row).startswith("Not known")


def test_errors_are_said_to_be_higher_or_lower():
    text = say(score(0.5, 0.2, 0.8, base=-3.0), scoring="neg_root_mean_squared_error")
    assert text == "Better with 12 of 60 features for kNN (knn-forward): held-out RMSE is 0.5 lower (0.2 to 0.8, 95 %)."


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    ("ends", "start"),
    [
        ((-0.05, 0.01), "As good"),  # knowing nothing is wrong by 5, all features by 2: 2 % of that gain is 0.06
        ((-0.05, -0.01), "Nearly as good"),
        ((-0.4, 0.3), "Not known"),
        ((-0.4, -0.3), "Worse"),
        ((0.3, 0.4), "Better"),
    ],
)
def test_the_unit_of_the_target_changes_no_verdict(ends, start, unit):
    low, high = (unit * end for end in ends)
    middle = (low + high) / 2
    told = Verdict.of(
        middle, low, high, n_chosen=2, n_features=9, score_name="neg_mean_absolute_error",
        score=-2 * unit + middle, baseline=-5 * unit,
    )  # fmt: skip
    assert told.sentence.startswith(start)
    if start == "As good":
        lost = 1.645 / 1.96 * 0.03 + 0.02
        most = f"{lost * unit:.3g}".replace("-", "−")
        ends = f"error is at most {most} higher (95 %), {100 * lost / 3:.2g} % of what is gained over knowing nothing."
        assert told.sentence.endswith(ends)


def test_a_selection_is_judged_alike_in_any_unit():
    X, y = make_regression(200, 8, n_informative=3, noise=20.0, random_state=0)
    kinds = {
        fewer.select(
            X,
            unit * y,
            criterion=CrossValidated(LinearRegression()),
            scoring="neg_root_mean_squared_error",
            random_state=0,
        ).outcome.kind
        for unit in (2.0**-20, 1.0, 2.0**20)
    }
    assert len(kinds) == 1


@given(st.floats(-0.3, 0.3), st.floats(0.001, 0.3))
@settings(deadline=None, max_examples=100)
def test_words_agree_with_numbers(difference, reach):
    low, high = difference - reach, difference + reach
    text = say(score(difference, low, high))
    assert text.startswith("Better") == (low > 0 and difference >= 0.005)
    assert not text.startswith("Worse") or high < 0
    assert not text.startswith("As good") or low >= -0.02
    if text.startswith(("Better", "Not known")):
        numbers = [float(number.replace("−", "-")) for number in re.findall(r"[−+]\d+\.\d|(?<=[ (])0\.0", text)]
        assert numbers[-2:] == pytest.approx([100 * low, 100 * high], abs=0.0501)


def test_rows_needed_are_told_only_where_two_points_mean_something():
    made = {"n_chosen": 5, "n_features": 10, "rows_needed": 3000}
    assert "about 3,000 rows" in Verdict.of(0.0, -0.05, 0.05, score_name="R²", **made).sentence
    made_of = Verdict.of(1.0, -0.5, 3.9, score_name="neg_root_mean_squared_error", **made)
    assert made_of.sentence.endswith("held-out RMSE is between 0.5 higher and 3.9 lower (95 %).")


def test_an_interval_that_says_nothing_is_not_written_out():
    made = {"n_chosen": 1, "n_features": 6, "rows_needed": 900, "unit": "groups"}
    told = Verdict.of(0.1, -0.6, 0.4, score_name="accuracy", **made)
    assert told.sentence == (
        "Not known whether 1 of 6 features is as good: too few groups to tell. At least 30 groups are needed to see a "
        "difference of 10 points."
    )
    assert (told.low, told.high, told.rows_needed) == (-0.6, 0.4, 900), "the numbers stay"
    of_quantity = Verdict.of(0.1, -1.3, 0.7, score_name="R²", **made)
    assert of_quantity.sentence.endswith("too few groups to tell; about 900 groups would narrow this to ± 0.02.")
    assert "−59.0 and +40.0 points" in Verdict.of(0.1, -0.59, 0.4, score_name="accuracy", **made).sentence


def test_thirty_groups_are_the_fewest_that_show_ten_points():
    """The least standard error that is claimed is 1.5 of n; five folds leave n − 5 degrees of freedom."""
    reach = {n: stats.t.ppf(0.975, n - 5) * 1.5 / n for n in (29, LEAST_FOR_TEN, 31)}
    assert reach[29] > 0.105 > reach[LEAST_FOR_TEN] > 0.1 > reach[31]


@pytest.mark.parametrize(
    ("numbers", "start"),
    [
        ((0.05, 0.02, 0.08), "Better without any of the 5 features: +5.0 points of held-out accuracy"),
        ((0.0, -0.01, 0.01), "As good without any of the 5 features: at most 0.8 points of held-out accuracy"),
        ((-0.3, -0.4, -0.2), "Worse without any of the 5 features: 30.0 points of held-out accuracy are lost"),
        ((0.0, -0.1, 0.1), "Not known whether doing without any of the 5 features is as good: between −10.0"),
    ],
)
def test_no_features_at_all_are_spoken_of_as_people_do(numbers, start):
    assert Verdict.of(*numbers, n_chosen=0, n_features=5, score_name="accuracy").sentence.startswith(start)
    alone = Verdict.of(*numbers, n_chosen=0, n_features=1, score_name="accuracy", by=" (model: a tree)").sentence
    assert alone.startswith(start.partition(" any of")[0] + " the only feature (model: a tree)")
    error = Verdict.of(*numbers, n_chosen=0, n_features=5, score_name="neg_mean_absolute_error", score=-1, baseline=-1)
    assert "without any of the 5 features" in error.sentence


def test_less_of_a_loss_of_probabilities_is_better():
    made = Verdict.of(
        -0.01, -0.02, 0.004, n_chosen=3, n_features=9, score_name="neg_log_loss", score=-0.4, baseline=-0.69
    )
    assert made.sentence.startswith("Not known whether 3 of 9 features are as good: held-out log loss is")
    assert "negative" not in made.sentence
