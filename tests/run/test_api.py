import dataclasses
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import fewer
from fewer.criteria import KNN, CrossValidated
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.run.planning import AUTO_ROWS, make_plan, thin
from fewer.run.selection import Selection
from fewer.search import Floating
from making import make_problem


@pytest.fixture(scope="module")
def selection():
    problem = make_problem(n_rows=80)
    return fewer.select(pd.DataFrame(problem.X, columns=problem.names), problem.y, "knn-forward", random_state=0)


def test_the_answer_is_complete_and_repeatable(selection):
    problem = make_problem(n_rows=80)
    again = fewer.select(pd.DataFrame(problem.X, columns=problem.names), problem.y, "knn-forward", random_state=0)
    assert dataclasses.replace(again, seconds=0.0) == dataclasses.replace(selection, seconds=0.0)
    assert set(selection.score_without) == set(selection.features)
    assert set(selection.frequency.values()) <= {0.2, 0.4, 0.6, 0.8, 1.0}
    assert selection.score_search >= selection.score_heldout - 0.2
    for part in (*selection.features, "Held-out accuracy", "without it"):
        assert part in str(selection)


def test_words_may_be_objects():
    problem = make_problem()
    chosen = fewer.select(problem.X, problem.y, criterion=KNN(3), search=Floating(), cv=0, random_state=1)
    assert chosen.criterion == "KNN(n_neighbors=3)"
    assert chosen.score_heldout is None
    assert "not measured" in chosen.verdict
    with pytest.raises(InputError, match="not both"):
        fewer.select(problem.X, problem.y, "fisher", search=Floating())


def test_json_frame_and_html(selection):
    again = Selection.from_json(selection.to_json())
    assert again == selection
    assert selection.to_frame()["feature"].to_list() == selection.features
    evil = dataclasses.replace(selection, features=["<b>bold</b>"], score_without={})
    assert "<b>bold" not in evil._repr_html_()
    with pytest.raises(InputError, match="Not a selection in JSON"):
        Selection.from_json("[1, 2")
    with pytest.raises(InputError, match="Not a selection in JSON"):
        Selection.from_json('{"features": []}')


@pytest.mark.parametrize(
    ("low", "high", "begins"),
    [
        (0.01, 0.09, "Better with 1 of 6 features: +5.0 points of held-out accuracy (+1.0 to +9.0, 95 %)."),
        (-0.012, 0.12, "As good with 1 of 6 features: at most 0.1 points of held-out accuracy are lost (95 %)."),
        (-0.015, -0.004, "Nearly as good with 1 of 6 features: at most 1.4 points of held-out accuracy are lost"),
        (
            -0.05,
            0.12,
            "Not known whether 1 of 6 features is as good: between −5.0 and +12.0 points of held-out accuracy (95 %).",
        ),
        (None, None, "Not known: whether this helps was not measured on held-out rows."),
    ],
)
def test_verdicts_agree_with_the_numbers(selection, low, high, begins):
    numbers = {"difference_low": low, "difference_high": high}
    made = dataclasses.replace(selection, score_heldout=0.85, score_heldout_all_features=0.80, heldout=numbers)
    assert made.verdict.startswith(begins)


def test_a_loss_is_called_a_loss(selection):
    numbers = {"difference_low": -0.09, "difference_high": -0.01}
    made = dataclasses.replace(selection, score_heldout=0.80, score_heldout_all_features=0.85, heldout=numbers)
    assert made.verdict == "Worse with 1 of 6 features: 5.0 points of held-out accuracy are lost (−9.0 to −1.0, 95 %)."
    assert made.outcome.kind == "worse"
    # 95 % on one side: 1.645 standard errors below the estimate, of the 1.96 to the lower end of the interval.
    assert made.outcome.at_most_lost == pytest.approx(0.05 + 0.04 * 1.645 / 1.96)


def test_all_features_are_not_compared_with_themselves(selection):
    every = [f"x{i}" for i in range(6)]
    numbers = {"difference_low": -0.09, "difference_high": -0.01, "baseline": 0.6}
    made = dataclasses.replace(selection, features=every, heldout={**selection.heldout, **numbers})
    assert made.verdict.startswith("All 6 features are selected, so there is nothing to compare.")
    assert made.outcome.baseline == 0.6
    assert "0.60 knowing nothing" in str(made)


def test_the_verdict_names_both_judges_and_the_text_the_stand_ins(selection):
    told = {**selection.heldout, "difference_low": -0.01, "difference_high": 0.02}
    by_auto = dataclasses.replace(selection, heldout=told, prefer="balanced")
    other = dataclasses.replace(by_auto, judges={"chosen": "5 neighbors", "all": "a forest"})
    assert " features (model: 5 neighbors; all features: a forest):" in other.verdict
    same = dataclasses.replace(other, judges={"chosen": "a forest", "all": "a forest"}, stand_ins={"x0": ["x5", "x6"]})
    assert " features (model: a forest):" in same.verdict
    assert "Substitutes for x0: x5, x6.\n" in str(same)


def test_numbers_that_are_not_finite_do_not_break_json(selection):
    made = dataclasses.replace(selection, score_search=float("-inf"), heldout={"p_value": float("nan")})
    assert json.loads(made.to_json(), parse_constant=pytest.fail)["heldout"]["p_value"] is None


def test_auto_samples_many_rows():
    rng = np.random.default_rng(0)
    many = Problem.from_arrays(rng.normal(size=(3 * AUTO_ROWS, 2)), np.arange(3 * AUTO_ROWS) % 3)
    sample = thin(many, AUTO_ROWS, 0)
    assert sample.n_samples == AUTO_ROWS
    assert np.ptp(np.bincount(sample.y)) <= 1
    assert "sample of 5,000 of the 15,000 rows" in sample.notes[-1]
    assert thin(many, many.n_samples, 0) is many


def test_rankers_refuse_what_they_cannot_do():
    problem = make_problem()
    with pytest.raises(InputError, match="start is for subset searches"):
        fewer.select(problem.X, problem.y, "fisher", start=[0])
    with pytest.raises(InputError, match="cost_weight is for subset searches"):
        fewer.select(problem.X, problem.y, "fisher", feature_costs={0: 2.0}, cost_weight=0.1)
    with pytest.raises(InputError, match="not the range"):
        fewer.select(problem.X, problem.y, "fisher", n_features_to_select=(1, 2))
    assert fewer.select(problem.X, problem.y, "fisher", n_features_to_select=2, cv=2).score_search is None


def test_quantities_are_predicted_by_several_neighbors():
    plan = make_plan(make_problem(task="regression"), "knn-forward")
    assert plan.selector.criterion.n_neighbors == "auto"
    assert make_plan(make_problem(), "knn-forward").selector.criterion.n_neighbors == 1


def test_the_named_model_is_fitted_to_levels_and_missing_cells():
    rng = np.random.default_rng(0)
    colors = rng.choice(["red", "green", "blue"], size=120)
    size = rng.normal(size=120)
    y = (colors == "red") + 0.3 * size + 0.3 * rng.normal(size=120) > 0.5
    size[::10] = np.nan
    table = pl.DataFrame({"color": colors, "size": size, "other": rng.normal(size=120)})
    found = fewer.select(table, y, random_state=0, cv=0)
    assert "color" in found.features
    assert found.pipeline(table, y).score(table, y) > 0.8
    with pytest.raises(InputError, match="No model was named"):
        fewer.select(table, y, "relieff", random_state=0, cv=0, n_features_to_select=1).pipeline(table, y)


@pytest.mark.parametrize("kind", ["plain", "nullable", "arrow", "polars"])
def test_the_named_model_is_fitted_to_frames_of_every_kind(kind):
    rng = np.random.default_rng(0)
    days, is_new, size = rng.integers(0, 1000, 300), rng.random(300) < 0.5, rng.normal(size=300)
    color = rng.choice(["red", "green", None], size=300)
    y = days / 500 + 1.5 * is_new + 2.0 * (color == "red") + size + 0.3 * rng.normal(size=300) > 2.5
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D")
    frame = pd.DataFrame({"when": when, "is_new": pd.array(is_new, "boolean"), "color": color, "size": size})
    frame.loc[::9, "is_new"] = pd.NA
    backends = {"nullable": {}, "arrow": {"dtype_backend": "pyarrow"}}
    table = frame.convert_dtypes(**backends[kind]) if kind in backends else frame
    table = pl.from_pandas(frame) if kind == "polars" else table
    found = fewer.select(table, y, random_state=0, cv=0, include=["when", "is_new", "color", "size"])
    assert found.pipeline(table, y).score(table, y) > 0.85


def test_that_a_level_is_missing_may_be_all_that_counts():
    rng = np.random.default_rng(0)
    boat = rng.choice([*"abcdefghi"], size=300).astype(object)
    color = rng.choice(["red", "green"], size=300).astype(object)
    saved, warm = rng.random((2, 300)) < 0.5
    boat[~saved], color[~warm] = None, None
    table = pd.DataFrame({"other": rng.normal(size=300), "boat": boat, "color": color})
    for y, name in ((saved, "boat"), (warm, "color")):
        found = fewer.select(table, y, random_state=0)
        assert found.features == [name]
        assert found.score_heldout == pytest.approx(1.0)
        assert found.pipeline(table, y).score(table, y) == 1.0


def test_auto_tells_the_winners_words_and_judges_by_it():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(150, 5))
    found = fewer.select(X, X[:, 1] * X[:, 2] > 0, random_state=0)
    assert found.method == "auto"
    assert found.features == ["x1", "x2"] or found.features == ["x2", "x1"]
    assert found.criterion.startswith("CrossValidated(")
    assert found.reason.startswith("Why these: of 7 rankings, that by ")
    assert "5 splits of 150 rows)." in found.reason
    assert found.score_heldout > 0.8 > found.score_heldout_all_features - 0.2
    assert len(found.redundancy["values"]) == 2
    assert "fewer.select(X, y, random_state=0)" in found.code
    assert type(found.model).__name__ in found.criterion or "Pipeline" in found.criterion
    assert found.pipeline(X, X[:, 1] * X[:, 2] > 0).score(X, X[:, 1] * X[:, 2] > 0) > 0.9
    linear = fewer.select(X, X[:, 0] - X[:, 3] + 0.05 * rng.normal(size=150), random_state=0)
    assert "RidgeCV(" in linear.criterion
    assert sorted(linear.features) == ["x0", "x3"]
    assert linear.score_name == "R²"
    assert linear.score_heldout > 0.9


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_preference_is_told_with_its_features(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    quantity = 2 * X[:, 1] + X[:, 4] + 0.3 * rng.normal(size=150)
    y = quantity if task == "regression" else quantity > 0
    told = {p: fewer.select(X, y, prefer=p, cv=0, random_state=0) for p in ("fewest", "balanced", "accuracy")}
    one = told["balanced"].curve
    for prefer, selection in told.items():
        assert sorted(one["answers"][prefer]) == sorted(selection.features)
        if "order" in one:
            assert one["order"][: one["chosen"][prefer]] == one["answers"][prefer]
    assert "order" in one


def test_after_auto_alternatives_names_criteria_that_work():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selection = fewer.select(X, y, cv=0, random_state=0)
    with pytest.raises(InputError, match="give one as criterion .*: knn") as refused:
        fewer.alternatives(selection, X, y)
    assert "CrossValidated(selection.model) with max_subsets=2000" in str(refused.value)
    for criterion in ("knn", "cross-validated:estimator=linear", CrossValidated(selection.model)):
        assert fewer.alternatives(selection, X, y, criterion=criterion, max_subsets=2000).n_good > 0
    with pytest.raises(InputError, match="else give criterion='knn'"):
        fewer.alternatives(fewer.AutoSelector(random_state=0).fit(X, y), X, y)


def labelled(labels):
    problem = make_problem(n_rows=60)
    return pd.DataFrame(problem.X[:, :4], columns=labels), problem.y


@pytest.mark.parametrize(
    "labels", [[40, 30, 20, 10], [3, 2, 1, 0], pd.MultiIndex.from_product([["p", "q"], [1, 2]]), ["a", "b", "c", 0]]
)
def test_columns_are_named_by_the_labels_of_the_frame(labels):
    X, y = labelled(labels)
    first, second, third, last = X.columns
    found = fewer.select(X, y, "fisher", include=[last], exclude=[first], cv=2, random_state=0)
    assert last in found.features
    assert first not in found.features
    renamed = fewer.select(
        X.set_axis(list("abcd"), axis=1), y, "fisher", include=["d"], exclude=["a"], cv=2, random_state=0
    )
    assert found.support == renamed.support
    assert found.score_heldout_all_features == renamed.score_heldout_all_features  # left out there too
    fewer.select(X, y, "fisher", include=found.features, cv=0, random_state=0)
    grouped = fewer.select(
        X, y, "knn-forward", feature_groups=[[first, last], (second, third)], start=[first],
        feature_costs={second: 2.0}, cost_weight=0.01, cv=0, random_state=0,
    )  # fmt: skip
    assert (first in grouped.features) == (last in grouped.features)
    masked = fewer.select(X, y, "fisher", include=[False, False, False, True], cv=0, random_state=0)
    assert last in masked.features


def test_a_number_is_no_place_where_columns_have_numbers():
    X, y = labelled([40, 30, 20, 10])
    with pytest.raises(InputError, match="include names '3', not a feature"):
        fewer.select(X, y, "fisher", include=[3])
    plain = X.set_axis(range(4), axis=1)
    assert 3 in fewer.select(plain, y, "fisher", include=[-1], cv=0, random_state=0).features


def test_lists_of_labels_are_no_target():
    X, _ = labelled(list("abcd"))
    with pytest.raises(InputError, match="The target holds lists of different lengths; give one value for each row"):
        fewer.select(X, [["u", "v"], ["u"]] * 30)


def test_no_cv_means_five_folds_as_in_scikit_learn():
    X, y = labelled(list("abcd"))
    assert fewer.select(X, y, "fisher", cv=None, random_state=0).heldout["n_folds"] == 5


def test_the_cure_stands_where_the_task_was_misread():
    X, y = labelled(list("abcd"))
    with pytest.raises(InputError, match=r"say what the target is \(task='classification', --task classification\)"):
        fewer.select(X, y * 0.5, "fisher")


@pytest.mark.parametrize(
    ("options", "judge"), [({}, "nearest neighbors"), ({"estimator": LogisticRegression()}, "LogisticRegression")]
)
def test_who_predicts_the_held_out_rows_is_said(options, judge):
    X, y = labelled(list("abcd"))
    found = fewer.select(X, y, "fisher", cv=2, random_state=0, **options)
    assert found.judges == {"chosen": judge, "all": judge}
    assert f"\nHeld-out accuracy of {judge}: " in str(found)
    assert fewer.select(X, y, "fisher", cv=0, random_state=0).judges == {}


def test_alternatives_refuses_numbers_that_mean_nothing():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selection = fewer.select(X.iloc[:, :3], y, "knn-forward", cv=0, random_state=0)
    for wrong in ({"tolerance": -0.1}, {"test_size": 1.5}, {"test_size": -0.1}):
        with pytest.raises(InputError, match="a tolerance of at least 0, and a test_size between 0 and 0.5"):
            fewer.alternatives(selection, X.iloc[:, :3], y, **wrong)


def table_with_codes(n=60):
    """A frame whose first column is text that no two rows share, and classes that follow a and b."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    y = (X["a"] + X["b"] + rng.normal(size=n) > 0).astype(int)
    return X.assign(code=[f"i{k}" for k in range(n)])[["code", "a", "b", "c", "d"]], y


def test_places_and_costs_count_the_columns_that_are_left_out():
    X, y = table_with_codes()
    plain = {"method": "knn-forward", "cv": 0, "random_state": 0}
    assert fewer.select(X, y, include=[4], n_features_to_select=1, **plain).features == ["d"]
    assert fewer.select(X, y, start=[-1], n_features_to_select=(1, 4), **plain).features
    numbered = X.set_axis(range(5), axis=1)
    assert fewer.select(numbered, y, include=[3], n_features_to_select=1, **plain).features == [3]
    assert "a" in fewer.select(X, y, exclude=[0, 2, 3, 4], **plain).features
    paired = fewer.select(X, y, feature_groups=[[1, 2], [3, 4]], n_features_to_select=1, **plain).features
    assert sorted(paired) in (["a", "b"], ["c", "d"])
    priced = [fewer.select(X, y, feature_costs=costs, cost_weight=0.1, **plain).features for costs in (
        [9, 50, 0, 50, 50], {"code": 9, "a": 50, "c": 50, "d": 50}
    )]  # fmt: skip
    assert priced == [["b"], ["b"]]


def test_an_option_that_names_a_left_out_column_says_why_it_is_none():
    X, y = table_with_codes()
    for options in ({"include": ["code"]}, {"start": [0]}, {"feature_groups": [["code", "a"]]}):
        with pytest.raises(InputError, match=f"{next(iter(options))} names 'code', left out as .* categorical"):
            fewer.select(X, y, "knn-forward", cv=0, **options)
    kept = fewer.select(X.astype({"code": "category"}), y, "fisher", cv=0, include=["code"], n_features_to_select=1)
    assert kept.features == ["code"]


def test_scores_that_the_classes_or_the_model_do_not_allow_are_refused_with_a_cure():
    from sklearn.svm import SVC

    X, y = load_iris(return_X_y=True)
    for method in ("auto", "linear-forward"):
        with pytest.raises(InputError, match="roc_auc is for two classes, but the target has 3; use"):
            fewer.select(X, y, method, scoring="roc_auc")
    assert fewer.select(X, y, scoring="roc_auc_ovr", cv=2, random_state=0).score_heldout > 0.9
    with pytest.raises(InputError, match="neg_log_loss needs probabilities, which the model does not give; wrap it"):
        fewer.select(X[50:], y[50:], scoring="neg_log_loss", estimator=SVC(), cv=2)


def test_auto_refuses_an_estimator_that_picks_columns_or_fails():
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = table_with_codes()
    for columns in (["a"], [0, 2], make_column_selector()):
        picking = make_pipeline(make_column_transformer((StandardScaler(), columns)), LogisticRegression())
        with pytest.raises(InputError, match="auto gives it numbers of some columns without their names"):
            fewer.select(X, y, estimator=picking, cv=2)
    assert fewer.select(X, y, criterion=fewer.criteria.CrossValidated(picking), cv=0, random_state=0).features
    with pytest.raises(InputError, match="given estimator failed: Negative values in data passed to MultinomialNB"):
        fewer.select(X, y, estimator=MultinomialNB(), cv=2)


def test_the_first_of_two_columns_of_one_name_is_excluded():
    X, y = table_with_codes()
    twice = pd.concat([X[["a", "b"]], X[["a"]]], axis=1)
    features = fewer.select(twice, y, "fisher", exclude=["a"], cv=0, n_features_to_select=2).features
    assert sorted(features) == ["a (2)", "b"]


def test_a_wrong_weight_is_named_by_its_row_from_0_as_wrong_cells_are():
    X, y = table_with_codes()
    with pytest.raises(InputError, match="row 1 has nan"):
        fewer.select(X, y, sample_weight=np.where(np.arange(60) == 1, np.nan, 1.0))
