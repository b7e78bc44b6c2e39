"""What a selection keeps for its page."""

import json

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import fewer
from fewer.criteria import KNN, CrossValidated
from fewer.evaluate import Evidence, _evidence
from fewer.rankers import Fisher
from fewer.selectors import RankSelector
from making import make_problem


def test_a_selection_carries_it_as_small_plain_data():
    problem = make_problem(n_rows=300, n_features=30)
    selection = fewer.select(problem.X, problem.y, "fisher", cv=3, random_state=0)
    told = selection.evidence
    assert set(told) >= {"features", "answers", "distributions", "predictions", "without", "plane", "wrong"}
    assert told["features"][: len(selection.features)] == selection.features
    assert set(told["without"]) == set(selection.features)
    chosen = next(answer for answer in told["answers"] if answer["size"] == len(selection.features))
    assert [told["features"][place] for place in chosen["places"]] == selection.features
    assert json.loads(selection.to_json())["evidence"] == told
    assert len(json.dumps(told)) < 60_000


def test_the_counts_are_the_held_out_score():
    problem = make_problem(n_rows=90)
    selection = fewer.select(problem.X, problem.y, "knn-forward", cv=3, random_state=0)
    for part, score in (("chosen", selection.score_heldout), ("all", selection.score_heldout_all_features)):
        counts = np.array(selection.evidence["predictions"][part]["confusion"])
        assert np.trace(counts) / counts.sum() == pytest.approx(score)


def test_without_folds_there_are_no_predictions_and_nothing_fails():
    problem = make_problem()
    told = fewer.select(problem.X, problem.y, "knn-forward", cv=0, random_state=0).evidence
    assert "predictions" not in told
    assert told["plane"]["row"]


class _Broken(KNN):
    def bind(self, problem, rng, resources):
        raise ValueError("no model today")


def test_a_judge_that_fails_is_told_and_ends_nothing():
    problem = make_problem()
    selector = RankSelector(Fisher(), n_features_to_select=2).fit_problem(problem)
    told = Evidence(problem, selector.answer_, np.array([0, 1]), _Broken(), None).gather()
    assert "plane" not in told
    assert told["untold"] == ["The rows in two features failed: no model today"]


def test_the_plane_is_that_of_the_best_two_features():
    problem = make_problem()
    selector = RankSelector(Fisher(), n_features_to_select=3).fit_problem(problem)
    told = Evidence(problem, selector.answer_, np.array([2, 0, 1]), KNN(), None).gather()
    assert told["plane"]["names"] == ["x2", "x0"]
    row = told["plane"]["row"][0] - 1
    assert (told["plane"]["x"][0], told["plane"]["y"][0]) == pytest.approx(tuple(problem.X[row, [2, 0]]), rel=1e-4)


def test_a_model_is_fitted_without_so_many_features_as_there_is_time_for(monkeypatch):
    problem = make_problem(n_rows=60)
    monkeypatch.setattr(_evidence, "FITS", 3 * 60 * 4)  # three folds of sixty rows: four fits, one of them with all
    selector = RankSelector(Fisher(), n_features_to_select=5).fit_problem(problem)
    judge = CrossValidated(GaussianNB())
    told = Evidence(problem, selector.answer_, np.arange(5), judge, None, n_total=problem.n_samples).gather()
    assert len(told["without"]) == 3


def test_rows_of_a_part_are_numbered_as_in_the_table():
    assert _evidence._numbered({"row": [1, 3], "x": [0.5, 0.7]}, np.array([4, 6, 9])) == {
        "row": [5, 10],
        "x": [0.5, 0.7],
    }
    assert _evidence._numbered({}, np.array([4, 6, 9])) == {}


def test_what_the_judge_predicts_on_the_way_is_one_more_look_where_it_saw_all_rows(monkeypatch):
    problem = make_problem(n_rows=90)
    told = fewer.select(problem.X, problem.y, "knn-forward", cv=3, random_state=0).evidence
    assert told["wrong"]["n_looks"] == 3
    monkeypatch.setattr(_evidence, "FITTED_ROWS", 60)
    told = fewer.select(problem.X, problem.y, "knn-forward", cv=3, random_state=0).evidence
    assert told["wrong"]["n_looks"] == 2


def test_losses_of_another_size_are_those_of_a_run_with_that_size():
    problem = make_problem(n_rows=80)
    selector = RankSelector(Fisher(), random_state=0).fit_problem(problem)
    judge, n_total = KNN(), problem.n_samples
    order = np.argsort(selector.ranking_, kind="stable")
    told = Evidence(problem, selector.answer_, order[:4], judge, None, n_total=n_total, thorough=True).gather()
    assert set(told["without_at"]) >= {"2", "3"}
    for size in (2, 3):
        own = Evidence(problem, selector.answer_, np.sort(order[:size]), judge, None, n_total=n_total).gather()
        assert told["without_at"][str(size)] == own["without"] != {}
