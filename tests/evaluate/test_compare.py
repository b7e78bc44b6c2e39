import dataclasses
import json

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.evaluate import Comparison, compare, nested
from fewer.evaluate._compare import CELLS, _line, _random_name
from fewer.problem import Problem
from fewer.rankers import Fisher
from fewer.search import Forward
from fewer.text import score_text
from fewer.validate import holm
from making import make_problem

METHODS = {
    "forward": fewer.SubsetSelector(KNN(), Forward()),
    "two best": fewer.RankSelector(Fisher(), n_features_to_select=2),
    "scikit-learn": SelectKBest(k=3),
}
ESTIMATORS = {"knn": KNeighborsClassifier(3), "bayes": GaussianNB()}


def run(problem=None, methods=METHODS, estimators=ESTIMATORS, **options):
    return compare(problem or make_problem(n_rows=60), methods, estimators, **options)


@pytest.fixture(scope="module")
def comparison():
    return run()


def without_seconds(comparison):
    content = json.loads(comparison.to_json())
    for row in content["methods"]:
        del row["seconds"]
    return content


def row(comparison, name, estimator="knn"):
    return next(row for row in comparison.methods if (row.name, row.estimator) == (name, estimator))


def test_baselines_are_always_there(comparison):
    names = [row.name for row in comparison.methods if row.estimator == "bayes"]
    assert names == [
        *METHODS,
        "all features",
        "Fisher filter",
        "random subset (as forward)",
        "random subset (as two best)",
        "random subset (as scikit-learn)",
    ]
    assert [row.role for row in comparison.methods[:3]] == ["method"] * 3
    assert {row.role for row in comparison.methods[3:8]} == {"baseline"}


def test_each_row_is_a_nested_evaluation(comparison):
    problem = make_problem(n_rows=60)
    alone = nested(METHODS["two best"], problem, ESTIMATORS["bayes"])
    found = row(comparison, "two best", "bayes")
    assert (found.score, found.low, found.high) == (alone.score, alone.interval.low, alone.interval.high)
    assert found.n_features == 2.0
    assert found.stability == pytest.approx(alone.stability.estimate)
    assert found.optimism == pytest.approx(alone.optimism)


def test_differences_are_against_all_features(comparison):
    for estimator in ESTIMATORS:
        reference = row(comparison, "all features", estimator)
        assert reference.difference == 0.0
        for found in comparison.rows_of(estimator):
            assert found.difference == pytest.approx(found.score - reference.score)
            assert found.difference_low <= found.difference <= found.difference_high


def test_families_are_adjusted(comparison):
    rows = [row(comparison, name) for name in METHODS]
    assert np.allclose([found.p_holm for found in rows], holm([found.p_value for found in rows]))
    for found in rows:
        assert found.joint_low < found.difference_low
        assert found.joint_high > found.difference_high


def test_random_subsets_have_the_size_of_their_method(comparison):
    for name in METHODS:
        assert row(comparison, f"random subset (as {name})").n_features == row(comparison, name).n_features


def test_subsets_are_told(comparison):
    subsets = comparison.subsets["two best"]
    assert len(subsets["chosen"]) == 5
    assert all(len(chosen) == 2 for chosen in subsets["chosen"])
    assert subsets["consensus"] == ["x0", "x1"]
    assert subsets["frequency"]["x0"] == np.mean(["x0" in chosen for chosen in subsets["chosen"]])


def test_json_and_back(comparison):
    text = comparison.to_json()
    content = json.loads(text)
    needed = {"name", "estimator", "score", "low", "high", "n_features", "stability", "optimism", "seconds"}
    assert all(needed <= set(found) for found in content["methods"])
    assert content["verdict"] == comparison.verdict
    assert Comparison.from_json(text) == comparison
    for broken in ("{}", "[]", "nothing", text.replace('"format": 1', '"format": 99')):
        with pytest.raises(InputError):
            Comparison.from_json(broken)


def test_frame_text_and_html(comparison):
    frame = comparison.to_frame()
    assert frame.shape[0] == len(comparison.methods)
    assert frame["score"].to_list() == [found.score for found in comparison.methods]
    text = str(comparison)
    assert comparison.verdict in text
    for found in comparison.methods:
        assert f"{found.name} " in text
        assert score_text(found.score, found.low, found.high) in text
    html = comparison._repr_html_()
    assert html.count("<tr>") == len(comparison.methods) + 2
    hostile = run(methods={"<b>bad</b>": SelectKBest(k=2)}, estimators={"knn": KNeighborsClassifier()})
    assert "<b>bad" not in hostile._repr_html_()


def test_any_number_of_processes_gives_the_same(comparison):
    assert without_seconds(run(n_jobs=2)) == without_seconds(comparison)


def test_an_interrupted_comparison_resumes_to_the_same_table(comparison, tmp_path):
    seen = []

    def stop(done, total, text):
        seen.append((done, total))
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(on_progress=stop, resume_dir=tmp_path / "not" / "yet")
    assert seen == [(done, 25) for done in range(8)]
    with (tmp_path / "not" / "yet" / CELLS).open("a") as file:
        file.write('{"method": "two be')  # torn by a kill
    seen.clear()
    again = run(on_progress=lambda done, total, text: seen.append((done, total)), resume_dir=tmp_path / "not" / "yet")
    assert seen == [(done, 25) for done in range(7, 26)]
    assert without_seconds(again) == without_seconds(comparison)
    finished = run(resume_dir=tmp_path / "not" / "yet")
    assert finished == again


def test_a_method_can_join_later(tmp_path):
    few = {"two best": METHODS["two best"]}
    run(methods=few, resume_dir=tmp_path)
    done = []
    both = run(
        methods={**few, "scikit-learn": SelectKBest(k=3)}, resume_dir=tmp_path, on_progress=lambda *a: done.append(a)
    )
    assert done[0][:2] == (15, 20)
    assert row(both, "two best").score == row(run(methods=few), "two best").score


def test_a_folder_of_another_comparison_is_refused(tmp_path):
    few = {"two best": METHODS["two best"]}
    run(methods=few, resume_dir=tmp_path)
    with pytest.raises(InputError, match="another comparison"):
        run(make_problem(n_rows=60, seed=1), methods=few, resume_dir=tmp_path)
    with pytest.raises(InputError, match="another comparison"):
        run(methods=few, resume_dir=tmp_path, random_state=1)


def test_selection_helps_where_noise_drowns_the_signal():
    problem = make_problem(n_rows=200, n_features=100, seed=3)
    found = run(problem, {"two best": METHODS["two best"]}, {"knn": KNeighborsClassifier(3)})
    assert found.verdict.startswith("Better with ")
    assert "2 of 100 features" in found.verdict
    assert row(found, "two best").score > row(found, "random subset").score


def test_regression_nominal_missing_and_groups():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    X[:, 4] = rng.integers(0, 3, 90)
    y = X[:, 0] + (X[:, 4] == 1) + 0.3 * rng.normal(size=90)
    X[rng.random((90, 5)) < 0.05] = np.nan
    kinds = ["numeric"] * 4 + ["nominal"]
    problem = Problem.from_arrays(X, y, task="regression", kinds=kinds, groups=np.arange(90) // 3)
    selector = fewer.SubsetSelector(KNN(3), Forward(), n_features_to_select=2)
    found = compare(problem, {"forward": selector}, cv=GroupKFold(5))
    assert found.scoring == "r2"
    assert {row.estimator for row in found.methods} == {"knn", "linear"}
    assert "F-test filter" in [row.name for row in found.methods]
    assert row(found, "forward").score > row(found, "random subset").score


def test_area_under_the_curve():
    problem = make_problem(n_rows=80)
    found = run(problem, {"two best": METHODS["two best"]}, scoring="roc_auc")
    assert found.scoring == "roc_auc"
    assert row(found, "two best", "bayes").score > 0.8


def test_refusals():
    with pytest.raises(InputError, match="no method|Unknown method"):
        run(methods={})
    with pytest.raises(InputError, match="name of a baseline"):
        run(methods={"all features": SelectKBest()})


def test_a_filter_that_is_the_baseline_takes_part_once():
    found = run(methods={"fisher": fewer.RankSelector(Fisher(), random_state=3)})
    assert "Fisher filter" not in [row.name for row in found.methods]


def test_a_frame_with_names_and_holes_through_the_front_reader():
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd"))
    frame["city"] = rng.choice(["Ulm", "Bonn"], 80)
    target = np.where((frame["a"] > 0) ^ (rng.random(80) < 0.1), "yes", "no")
    frame.loc[3, "b"] = np.nan
    found = fewer.compare(frame, target, ["fisher", SelectKBest(k=2), SelectKBest(k=1)], [GaussianNB()], random_state=0)
    assert [row.name for row in found.methods if row.role == "method"] == ["fisher", "SelectKBest", "SelectKBest 2"]
    assert found.estimators == ["GaussianNB"]
    assert found.subsets["SelectKBest 2"]["consensus"] == ["a"]
    assert found.seed == 0


def test_cells_of_the_table_have_the_digits_of_their_unit(comparison):
    made = row(comparison, "forward")
    cells = comparison.cells(dataclasses.replace(made, difference=0.0123, difference_low=-0.0456, difference_high=0.1))
    assert cells[6] == "+1.2 (−4.6 to +10.0)"
    priced = dataclasses.replace(comparison, scoring="neg_mean_squared_error")
    cells = priced.cells(dataclasses.replace(made, difference=0.0123, difference_low=-0.0456, difference_high=0.1))
    assert cells[6] == "+0.012 (−0.046 to +0.100)"
    assert comparison.cells(row(comparison, "all features"))[6:8] == ["–", "–"]
    assert comparison.cells(dataclasses.replace(made, p_value=0.5, p_holm=None))[7] == "0.500"
    assert comparison.cells(dataclasses.replace(made, p_value=0.5, p_holm=0.25))[7] == "0.250"


def test_the_first_latex_table_has_the_label_itself_and_the_others_a_number(comparison):
    text = comparison.to_latex("tab:mine")
    assert text.index("\\label{tab:mine}") < text.index("\\label{tab:mine-2}")
    assert text.count("\\label{") == 2


def test_a_random_subset_names_its_method_only_where_there_are_several():
    assert _random_name("forward", {"forward": None}) == "random subset"
    assert _random_name("forward", {"forward": None, "other": None}) == "random subset (as forward)"


def test_the_columns_of_the_table_stand_under_their_headings():
    cells = ["name", "a", "b", "c", "d", "e", "f", "g", "h"]
    ends = [6 + sum(widths) for widths in ((9,), (9, 19), (9, 19, 10), (9, 19, 10, 11), (9, 19, 10, 11, 10))]
    told = _line(cells, 4)
    assert told.startswith("  name ")
    assert [told.index(f" {cell}") + 2 for cell in "abcde"] == ends
    assert len(told) == len(_line([""] * 9, 4)) == 107


def test_a_dict_may_name_methods_and_estimators():
    problem = make_problem(n_rows=60)
    told = fewer.compare(problem.X, problem.y, {"mine": "fisher"}, {"near": "knn"}, cv=2, random_state=0)
    listed = fewer.compare(problem.X, problem.y, ["fisher"], ["knn"], cv=2, random_state=0)
    assert (told.methods[0].name, told.methods[0].estimator) == ("mine", "near")
    assert told.methods[0].score == listed.methods[0].score


@pytest.mark.parametrize("given", [{"methods": [VarianceThreshold]}, {"estimators": {"tree": DecisionTreeClassifier}}])
def test_a_class_is_no_method_and_no_estimator(given):
    problem = make_problem(n_rows=60)
    with pytest.raises(InputError, match=r"is a class; give an object: \w+\(\)"):
        fewer.compare(problem.X, problem.y, **given)


def test_a_method_that_keeps_all_features_promises_nothing_of_fewer():
    problem = make_problem(n_rows=60)
    told = fewer.compare(problem.X, problem.y, [VarianceThreshold()], ["knn"], cv=2, random_state=0)
    n = problem.n_features
    assert told.verdict == f"All {n} features are selected for kNN (VarianceThreshold), so there is nothing to compare."


def test_an_interval_that_says_nothing_is_too_few_groups():
    problem = make_problem(n_rows=60)
    groups = np.arange(60) // 15
    told = fewer.compare(
        problem.X, problem.y, ["fisher", "mrmr"], ["knn"], groups=groups, cv=LeaveOneGroupOut(), random_state=0
    )
    assert told.verdict.endswith(
        "too few groups to tell. At least 30 groups are needed to see a difference of 10 points."
    )
    best = max((row for row in told.methods if row.role == "method"), key=lambda row: row.score)
    assert best.joint_low < -1.0 < 1.0 < best.joint_high
