"""On the user's own terms: groups, weights, time, metric, task, budget, sampling, code that repeats, verdict."""

import json
import time as clock
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import fewer
from fewer import registry
from fewer.control import OneStandardError
from fewer.criteria import KNN, CrossValidated, LeastSquares, NaiveBayes
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.rankers import Permutation
from fewer.run.budget import Budget
from fewer.run.planning import make_plan, prepare_rows, treat_rare
from fewer.run.request import Request
from fewer.run.running import run_plan
from fewer.run.selection import rows_to_tell
from fewer.validate import near_copies, split_rows, stratified_sample
from making import make_problem

PATIENTS = np.repeat(np.arange(40), 5)


def patients(seed, spread=0.05):
    """40 patients with 5 near-copies each, and labels that mean nothing."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(40, 6)), 5, axis=0) + rng.normal(scale=spread, size=(200, 6))
    return X, np.repeat(rng.permutation(np.arange(40) % 2), 5)


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_one_patient_are_never_on_both_sides(seed):
    X, y = patients(seed)
    fooled = fewer.select(X, y, "knn-forward", random_state=seed)
    assert fooled.score_heldout > 0.95
    assert any("near-duplicates" in note for note in fooled.warnings)
    honest = fewer.select(X, y, "knn-forward", random_state=seed, groups=PATIENTS)
    assert honest.score_heldout < 0.8
    assert honest.heldout["by"] == "group"
    assert not any("near-duplicates" in note for note in honest.warnings)
    assert honest.heldout["high"] - honest.heldout["low"] > fooled.heldout["high"] - fooled.heldout["low"]


def test_independent_rows_draw_no_note():
    rng = np.random.default_rng(0)
    assert near_copies(Problem.from_arrays(rng.normal(size=(200, 6)), np.arange(200) % 2)) < 0.1
    assert near_copies(Problem.from_arrays(rng.integers(0, 5, size=(200, 6)), np.arange(200) % 2)) == 0


def test_a_column_that_names_the_rows_is_no_feature():
    X, y = patients(0)
    frame = pd.DataFrame(X).add_prefix("x").assign(patient=PATIENTS, weight=1.0 + (PATIENTS % 2))
    found = fewer.select(frame, y, "fisher", groups="patient", sample_weight="weight", n_features_to_select=2, cv=3)
    assert found.n_features == 6
    assert not {"patient", "weight"} & set(found.features)
    arrays = fewer.select(
        X,
        y,
        "fisher",
        groups=PATIENTS,
        sample_weight=1.0 + (PATIENTS % 2),
        n_features_to_select=2,
        cv=3,
        random_state=0,
    )
    assert arrays.support == found.support
    with pytest.raises(InputError, match="groups='pateint' is not a column; did you mean 'patient'"):
        fewer.select(frame, y, "fisher", groups="pateint")


def test_training_rows_are_earlier_and_equal_times_stay_together():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 30, 200)
    problem = Problem.from_arrays(rng.normal(size=(200, 4)), rng.normal(size=200), task="regression", time=days)
    for split in split_rows(problem, 4, rng):
        assert days[split.train].max() < days[split.test].min()
    with pytest.raises(InputError, match="not earlier"):
        split_rows(problem, KFold(4), rng)
    found = fewer.select(problem.X, problem.y, "linear-forward", time=days, cv=3, n_features_to_select=2)
    assert found.heldout["n_folds"] == 3
    with pytest.raises(InputError, match="KNN predicts each row from all others, even later ones"):
        fewer.select(problem.X, problem.y, "knn-forward", time=days)


def test_the_metric_is_the_users():
    problem = make_problem(n_rows=120, n_features=5)
    y = np.where(problem.y == 1, "rare", "usual")
    y[: np.flatnonzero(y == "rare")[-8]] = "usual"
    splits = [(split.train, split.test) for split in split_rows(problem, 3, np.random.default_rng(0))]
    found = fewer.select(
        problem.X, y, criterion="cross-validated:estimator=linear", search="forward", n_features_to_select=5,
        scoring="balanced_accuracy", cv=splits, random_state=0,
    )  # fmt: skip
    model = registry.build("estimator", "linear")
    told = cross_val_score(model, problem.X, y, cv=splits, scoring="balanced_accuracy")
    assert found.score_name == "balanced_accuracy"
    assert found.score_heldout == pytest.approx(np.average(told, weights=[len(test) for _, test in splits]), abs=1e-12)


def test_whole_numbers_of_few_values_are_classes_unless_said_otherwise():
    problem = make_problem(task="regression")
    y = np.round(problem.y).clip(-2, 2)
    assert fewer.select(problem.X, y, "fisher", cv=0, n_features_to_select=1).data["task"] == "classification"
    told = fewer.select(problem.X, y, "linear-forward", cv=3, task="regression", n_features_to_select=1)
    assert told.data["task"] == "regression"
    assert "points" not in told.verdict
    assert "R²" in told.verdict


def test_differences_of_r2_are_told_in_its_own_unit():
    problem = make_problem(task="regression")
    comparison = fewer.compare(problem.X, problem.y, ["rrelieff"], ["linear"], cv=3, random_state=0)
    assert "points" not in comparison.verdict


def test_every_fold_gets_the_effort_of_the_answer_or_is_not_run(monkeypatch):
    problem = make_problem(n_rows=90, n_features=12)
    plan = make_plan(problem, "knn-backward", budget=Budget(1000.0, n_subsets=30), cv=4)
    found = run_plan(plan, problem)
    assert found.heldout["n_folds"] == 4
    assert found.effort == 30
    ticks = iter(np.arange(0.0, 1e6, 40.0))
    monkeypatch.setattr(clock, "monotonic", lambda: next(ticks))
    hurried = run_plan(make_plan(problem, "knn-forward", budget=Budget(1200.0, n_subsets=200), cv=5), problem)
    assert hurried.heldout["n_folds"] < 5
    assert any(f"allowed {hurried.heldout['n_folds']} of the 5 folds" in note for note in hurried.warnings)


def test_a_run_under_a_clock_repeats_by_its_effort():
    problem = make_problem(n_rows=90, n_features=12)
    first = fewer.select(problem.X, problem.y, "knn-backward", budget="5s", random_state=3, cv=2)
    assert "subsets" in first.code
    spaces = {"X": problem.X, "y": problem.y}
    exec(first.code, spaces)
    assert spaces["selection"].features == first.features


@pytest.mark.parametrize("n_rows", [5_001, 10_001])
def test_a_sample_holds_exactly_the_rows_that_it_names_and_rare_classes(n_rows):
    y = np.zeros(n_rows, dtype=int)
    y[:10] = 1
    problem = Problem.from_arrays(np.arange(n_rows, dtype=float)[:, None], y)
    rows = stratified_sample(problem, 5_000, np.random.default_rng(0))
    assert len(rows) == 5_000 == len(np.unique(rows))
    assert (rows < 10).sum() == 10


def test_rare_classes_are_refused_dropped_or_merged():
    problem = make_problem(n_rows=60)
    labels = np.where(problem.y == 1, "b", "a").astype(object)
    labels[:2], labels[2:4] = "x", "z"
    whole = Problem.from_arrays(problem.X, labels.astype(str))
    with pytest.raises(InputError, match="fewer than the 5 folds"):
        fewer.select(problem.X, labels, "fisher")
    assert treat_rare(whole, 5, "drop").classes == ("a", "b")
    merged = treat_rare(whole, 3, "merge")
    assert merged.classes == ("a", "b", "(rare)")
    assert np.bincount(merged.y).tolist()[-1] == 4
    found = fewer.select(problem.X, labels, "fisher", rare="drop", n_features_to_select=2)
    assert found.n_rows == 56
    assert any("were dropped" in note for note in found.warnings)


SLOW = {"boruta", "stability", "permutation", "shap"}
"""Forests by the hundred, and an extra that is not installed here: `make torture` runs them."""


@pytest.mark.parametrize("method", [name for name in registry.METHODS if name not in SLOW])
def test_the_code_repeats_the_run(method):
    named = registry.METHODS[method]
    options = {"cv": 0} if "forest" in f"{method} {named.criterion} {named.ranker}" else {"cv": 2}
    if named.ranker is not None and named.control is None:
        options["n_features_to_select"] = 2
    for task in ("classification", "regression"):
        problem = make_problem(n_rows=60, n_features=5, task=task)
        X = problem.X - problem.X.min(axis=0)
        y = problem.y if task == "regression" else np.where(problem.y == 1, "ill", "well")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = fewer.select(X, y, method, random_state=4, **options)
            except InputError:
                continue
            spaces = {"X": X, "y": y}
            exec(found.code, spaces)
        assert spaces["selection"].features == found.features
        assert spaces["selection"].score_heldout == found.score_heldout
        return
    pytest.fail(f"{method} works for neither task")


def test_the_code_carries_options_and_objects():
    problem = make_problem(n_rows=80, n_features=6)
    options = {
        "criterion": fewer.criteria.CrossValidated(KNeighborsClassifier(3), cv=3),
        "search": fewer.search.Floating(),
        "include": [1],
        "exclude": ["x0"],
        "feature_groups": [[2, 3]],
        "scoring": "f1_macro",
        "cv": 3,
        "groups": np.arange(80) // 2,
        "sample_weight": np.linspace(0.5, 2, 80),
    }
    found = fewer.select(problem.X, problem.y, random_state=1, **options)
    spaces = {"X": problem.X, "y": problem.y, **{key: options[key] for key in ("groups", "sample_weight")}}
    exec(found.code, spaces)
    assert spaces["selection"].features == found.features
    assert spaces["selection"].score_heldout == found.score_heldout


def test_the_command_lines_code_reads_the_table_itself(tmp_path, capsys):
    from fewer.cli import main

    problem = make_problem(n_rows=80, n_features=5)
    frame = pd.DataFrame(problem.X).add_prefix("x").assign(patient=np.arange(80) // 2, y=problem.y)
    file = tmp_path / "t.csv"
    frame.to_csv(file, index=False)
    arguments = ["select", str(file), "-t", "y", "-m", "knn-forward", "--groups", "patient", "--folds", "3", "--json"]
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert "patient" not in told["features"]
    spaces = {}
    exec(told["code"], spaces)
    assert spaces["selection"].features == told["features"]
    assert spaces["selection"].score_heldout == told["score_heldout"]


def test_sizes_and_starts():
    problem = make_problem(n_features=6)
    with pytest.raises(InputError, match="2 features are included"):
        fewer.select(problem.X, problem.y, "knn-forward", include=[0, 1], n_features_to_select=1)
    begun = fewer.SubsetSelector(search=fewer.search.Backward(), start=[0, 2, 5], random_state=0).fit(
        problem.X, problem.y
    )
    assert set(np.flatnonzero(begun.support_)) <= {0, 2, 5}
    with pytest.raises(InputError, match="cannot begin from a given one"):
        fewer.SubsetSelector(search=fewer.search.Exhaustive(), start=[0]).fit(problem.X, problem.y)
    for cv in (3, "loo", KFold(3), list(KFold(3).split(problem.X)), KFold(3).split(problem.X)):
        assert fewer.select(problem.X, problem.y, "fisher", cv=cv, n_features_to_select=1).score_heldout > 0


def test_several_targets_are_taken_where_the_criterion_can():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    Y = np.column_stack([X[:, 1] + 0.1 * rng.normal(size=80), X[:, 3] - X[:, 1] + 0.1 * rng.normal(size=80)])
    selector = fewer.SubsetSelector(fewer.criteria.LeastSquares(), fewer.search.Forward(), n_features_to_select=2)
    assert selector.fit(X, Y).get_support(indices=True).tolist() == [1, 3]
    with pytest.raises(InputError, match="2 columns"):
        fewer.SubsetSelector(random_state=0).fit(X, Y)


def test_a_python_run_is_kept_and_resumed(tmp_path):
    problem = make_problem()
    whole = fewer.select(problem.X, problem.y, "knn-forward", random_state=0, cv=3)
    first = fewer.select(problem.X, problem.y, "knn-forward", random_state=0, cv=3, resume_dir=tmp_path / "run")
    (tmp_path / "run" / "result.json").unlink()
    again = fewer.select(problem.X, problem.y, "knn-forward", random_state=0, cv=3, resume_dir=tmp_path / "run")
    assert whole.features == first.features == again.features
    assert whole.heldout == first.heldout == again.heldout


def test_a_folder_of_another_run_is_refused_in_words_of_python(tmp_path):
    problem = make_problem()
    fewer.select(problem.X, problem.y, "fisher", random_state=0, cv=2, resume_dir=tmp_path)
    for refused in ({"random_state": 1}, {"method": "relieff", "random_state": 0}):
        with pytest.raises(InputError, match=r"holds a different run \(its .* choose another folder\.$") as caught:
            fewer.select(problem.X, problem.y, **{"method": "fisher", "cv": 2, "resume_dir": tmp_path, **refused})
        assert "--" not in str(caught.value)
    (tmp_path / "run.json").write_text("{torn")
    with pytest.raises(InputError, match="start the run again in another folder") as caught:
        fewer.select(problem.X, problem.y, "fisher", random_state=0, cv=2, resume_dir=tmp_path)
    assert "--" not in str(caught.value)


def test_a_class_that_lies_in_one_group_is_noted():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.repeat(["a", "b", "c"], 20)
    groups = np.where(y == "c", 9, np.arange(60) % 5)
    alone = fewer.select(X, y, "fisher", groups=groups, cv=3, random_state=0)
    told = "In one group only, so never predicted right when that group is held out: class 'c'."
    assert alone.warnings.count(told) == 1
    for spread in (np.where(np.arange(60) == 0, 9, groups), np.where(np.arange(60) == 59, 0, groups)):
        warnings = fewer.select(X, y, "fisher", groups=spread, cv=3, random_state=0).warnings
        assert (told in warnings) == (spread[59] == 9)
    assert told not in fewer.select(X, y, "fisher", groups=groups, cv=0, random_state=0).warnings


def test_which_classes_lie_in_one_group_is_said_of_the_table_not_of_a_sample():
    y, n_groups = np.repeat([0, 1, 2], [90, 90, 20]), set()
    groups = np.where(y == 2, 50 + np.arange(200) % 2, np.arange(200) % 50)
    rows = Problem.from_arrays(np.random.default_rng(0).normal(size=(200, 3)), y, groups=groups)
    for seed in range(12):
        sample = prepare_rows(rows, Request(seed=seed), 60)
        n_groups.add(len(np.unique(sample.groups[sample.y == 2])))
        assert not any(note.startswith("In one group only") for note in sample.notes)
    assert 1 in n_groups


def test_the_verdict_says_what_the_data_can_exclude():
    problem = make_problem(n_rows=60)
    found = fewer.select(problem.X, problem.y, "knn-forward", random_state=0)
    low, high = found.heldout["difference_low"], found.heldout["difference_high"]
    assert low < -0.02 < 0 < high  # so few rows cannot tell
    assert found.verdict.startswith("Not known whether ")
    assert f" are as good: between −{-100 * low:.1f} and +{100 * high:.1f} points" in found.verdict
    assert f"{found.heldout['rows_to_tell']:,} rows would narrow this to ± 2 points" in found.verdict
    assert rows_to_tell(-0.02, 0.02, 500) == 0  # there are enough
    assert rows_to_tell(-0.04, 0.04, 500) == 2000
    assert json.loads(found.to_json())["heldout"]["rows_to_tell"] == found.heldout["rows_to_tell"]


def test_a_model_of_ones_own_judges():
    problem = make_problem(n_rows=100)
    found = fewer.select(problem.X, problem.y, "fisher", estimator=LogisticRegression(), n_features_to_select=2, cv=3)
    assert found.score_heldout is not None
    with pytest.raises(InputError, match="is a class; give an object"):
        fewer.select(problem.X, problem.y, "fisher", estimator=LogisticRegression)


TAKES_SPLITS = {
    "knn": lambda cv: fewer.SubsetSelector(KNN(3, cv=cv), random_state=0),
    "naive bayes": lambda cv: fewer.SubsetSelector(NaiveBayes(cv=cv), random_state=0),
    "least squares": lambda cv: fewer.SubsetSelector(LeastSquares(cv=cv), random_state=0),
    "own model": lambda cv: fewer.SubsetSelector(CrossValidated(LogisticRegression(), cv=cv), random_state=0),
    "permutation": lambda cv: fewer.RankSelector(
        Permutation(KNeighborsClassifier(), cv=cv), n_features_to_select=2, random_state=0
    ),
    "one standard error": lambda cv: fewer.SubsetSelector(KNN(3), control=OneStandardError(cv=cv), random_state=0),
}


@pytest.mark.parametrize("name", TAKES_SPLITS)
def test_a_list_a_generator_and_a_splitter_of_splits_are_one_thing(name):
    X, y = load_iris(return_X_y=True)
    splitter = KFold(3, shuffle=True, random_state=0)
    ways = (splitter, list(splitter.split(X)), splitter.split(X))
    scores = [TAKES_SPLITS[name](cv).fit(X, y) for cv in ways]
    for found in scores[1:]:
        np.testing.assert_array_equal(found.support_, scores[0].support_)
        assert getattr(found, "score_", 0) == getattr(scores[0], "score_", 0)


def test_listed_splits_that_do_not_fit_the_rows_are_refused():
    X, y = load_iris(return_X_y=True)
    for cv, word in (([(range(99), [999])] * 2, "whole table"), ([3, 4], "pair"), ([([0.5], [1])] * 2, "rows")):
        with pytest.raises(InputError, match=word):
            fewer.SubsetSelector(CrossValidated(LogisticRegression(), cv=cv)).fit(X, y)


def test_many_small_classes_are_said_to_make_scores_too_high():
    rng = np.random.default_rng(0)
    y = np.arange(96) % 12
    X = rng.normal(size=(96, 4)) + y[:, None]
    told = prepare_rows(Problem.from_arrays(X, y), Request(method="fisher")).notes
    assert any("12 classes in 96 rows" in note for note in told)
    many = np.tile(np.arange(10), 20)
    assert not prepare_rows(Problem.from_arrays(rng.normal(size=(200, 4)), many), Request(method="fisher")).notes


def test_the_interval_says_which_rule_it_is_about():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    found = fewer.select(rng.normal(size=(60, 4)) + y[:, None], y, method="fisher", random_state=0)
    assert "for a model built by the whole procedure on these 60 rows" in found.heldout["estimand"]
