"""Sentences against constructed numbers."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.evaluate import MethodScore, verdict


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


def say(*scores, scoring="accuracy", n_rows=208):
    return verdict(scores, scoring=scoring, n_rows=n_rows, n_features=60)


def test_better():
    text = say(score(0.061, 0.032, 0.090))
    assert text == "Selection helps kNN by 6.1 points (3.2 to 9.0) with 12 of 60 features (knn-forward)."


def test_worse():
    text = say(score(-0.04, -0.07, -0.01))
    assert text == (
        "Selection costs kNN 4.0 points (1.0 to 7.0): all 60 features beat 12 of 60 features (knn-forward)."
    )


def test_no_difference():
    text = say(score(0.01, -0.02, 0.04, estimator="svm"))
    assert text == (
        "For the SVM, no clear difference between all features and 12 of 60 features (knn-forward): −2.0 to "
        "+4.0 points."
    )


def test_too_few_rows():
    text = say(score(0.02, -0.21, 0.25), n_rows=24)
    assert text == (
        "For kNN, 24 rows are too few: 12 of 60 features (knn-forward) may score anything from −21.0 to "
        "+25.0 points against all."
    )


def test_two_estimators_the_clearest_first():
    undecided = score(0.00, -0.02, 0.02, estimator="svm")
    better = score(0.061, 0.032, 0.090, estimator="knn")
    text = say(undecided, better)
    assert text.startswith("Selection helps kNN by 6.1 points")
    assert "For the SVM, no clear difference" in text


def test_the_best_method_is_spoken_of_and_baselines_are_not():
    text = say(
        score(0.02, 0.01, 0.03, name="good"),
        score(0.05, 0.04, 0.06, name="better"),
        score(0.09, 0.08, 0.10, name="a baseline", role="baseline"),
    )
    assert "(better)" in text
    assert text.count("Selection") == 1


def test_the_joint_interval_decides():
    row = MethodScore(**{**score(0.05, 0.01, 0.09).__dict__, "joint_low": -0.01, "joint_high": 0.099})
    assert "no clear difference" in say(row)


def test_scores_without_points():
    text = say(score(0.5, 0.2, 0.8, base=-3.0), scoring="neg_mean_squared_error")
    assert text.startswith("Selection helps kNN by 0.5 of neg_mean_squared_error (0.2 to 0.8)")
    assert "too few" in say(score(0.5, -2, 3, base=-3.0), scoring="neg_mean_squared_error", n_rows=20)
    assert "no clear difference" in say(score(0.5, -2, 3, base=-3.0), scoring="neg_mean_squared_error", n_rows=200)


@given(st.floats(-0.3, 0.3), st.floats(0.001, 0.3), st.integers(10, 1000))
@settings(deadline=None, max_examples=100)
def test_words_agree_with_numbers(difference, reach, n_rows):
    low, high = difference - reach, difference + reach
    text = say(score(difference, low, high), n_rows=n_rows)
    assert ("helps" in text) == (low > 0)
    assert ("costs" in text) == (high < 0)
    undecided = low <= 0 <= high
    assert ("no clear difference" in text or "too few" in text) == undecided
    numbers = [float(number.replace("−", "-")) for number in re.findall(r"[−+]?\d+\.\d", text)]
    ends = sorted([100 * low, 100 * high] if undecided else [abs(100 * low), abs(100 * high)])
    assert numbers[-2:] == pytest.approx(ends, abs=0.0501)


def test_thirty_rows_are_enough_for_scores_without_points():
    undecided = score(0.5, -2, 3, base=-3.0)
    assert "29 rows are too few" in say(undecided, scoring="neg_mean_squared_error", n_rows=29)
    assert "no clear difference" in say(undecided, scoring="neg_mean_squared_error", n_rows=30)


def test_ten_points_to_either_side_are_not_too_wide():
    assert "no clear difference" in say(score(0.0, -0.10, 0.10))
    assert "too few" in say(score(0.0, -0.101, 0.0))
    assert "too few" in say(score(0.0, 0.0, 0.101))


def test_both_ends_of_a_span_have_their_sign():
    assert say(score(0.02, 0.0, 0.04)).endswith(" 0.0 to +4.0 points.")
    assert say(score(0.02, -0.01, 0.04), scoring="r2").endswith("−0.01 to +0.04 of R².")
