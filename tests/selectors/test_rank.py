import numpy as np
import pytest

import fewer
from fewer import RankSelector
from fewer.contracts import IncompatibleError, Ranker, Ranking
from fewer.control import Aggregate
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.rankers import MRMR, Fisher, FTest
from fewer.rankers._bins import FeatureBins
from fewer.selectors._rank import one_standard_error, size_curve
from making import make_problem


class Backwards(Ranker):
    """The last column first."""

    def rank(self, problem, rng, resources):
        return Ranking.by_score(np.arange(float(problem.n_features)))


def chosen(**options):
    problem = make_problem(n_features=6)
    return RankSelector(Backwards(), random_state=0, **options).fit(problem.X, problem.y)


def test_a_greedy_ranker_ranks_as_many_as_are_asked_for(monkeypatch):
    problem = make_problem(n_features=9)
    whole = RankSelector(MRMR(), n_features_to_select=9).fit(problem.X, problem.y)
    asked = []
    redundancy = FeatureBins.redundancy
    monkeypatch.setattr(FeatureBins, "redundancy", lambda self, f: asked.append(f) or redundancy(self, f))
    some = RankSelector(MRMR(), n_features_to_select=3, exclude=[8]).fit(problem.X, problem.y)
    assert len(asked) == 4  # the fourth may have to stand in for the one that is left out
    rest = np.argsort(whole.ranking_)
    assert set(np.flatnonzero(some.support_)) == set(rest[rest != 8][:3])


def test_the_best_so_many():
    found = chosen(n_features_to_select=2)
    assert np.flatnonzero(found.support_).tolist() == [4, 5]
    assert found.ranking_.tolist() == [6, 5, 4, 3, 2, 1]
    assert not hasattr(found, "curve_")


def test_forced_features_and_groups():
    found = chosen(n_features_to_select=2, include=[0], exclude=[5])
    assert np.flatnonzero(found.support_).tolist() == [0, 4]
    found = chosen(n_features_to_select=1, feature_groups=[[0, 5]])
    assert np.flatnonzero(found.support_).tolist() == [0, 5]


def test_the_smallest_size_within_one_standard_error():
    curve = {
        "size": np.array([1, 2, 4, 8]),
        "score": np.array([0.5, 0.8, 0.9, 0.85]),
        "standard_error": np.array([0.5, 0.2, 0.1, 0.3]),
    }
    assert one_standard_error(curve) == 2
    curve["standard_error"][2] = 0.09
    assert one_standard_error(curve) == 4


def test_the_curve_goes_to_all_features_in_halves_of_doublings():
    curve = size_curve(Fisher(), make_problem(n_features=6), np.random.default_rng(0))
    assert curve["size"].tolist() == [1, 2, 3, 4, 6]
    assert (curve["score"] <= 0).all()
    errors = -curve["score"]
    assert curve["standard_error"] == pytest.approx(np.sqrt(errors * (1 - errors) / 60))


def test_what_cannot_be_ranked():
    with pytest.raises(InputError, match="Fisher is for classification, but the task is regression"):
        RankSelector(Fisher()).fit_problem(make_problem(task="regression"))
    with pytest.raises(IncompatibleError, match="Aggregate works over a search, not over a ranker"):
        chosen(control=Aggregate())


def test_many_rows_are_judged_on_a_sample_and_say_so(monkeypatch):
    problem = make_problem(n_rows=120, n_features=6)
    small = RankSelector(Fisher(), random_state=0).fit_problem(problem)
    monkeypatch.setattr("fewer.selectors._rank.MOST_JUDGED", 80)
    seen = []
    monkeypatch.setattr(
        "fewer.selectors._rank.size_curve", lambda *args: seen.append((args[1].n_samples, args[3])) or size_curve(*args)
    )
    large = RankSelector(Fisher(), random_state=0).fit_problem(problem)
    assert seen == [(80, 5)]
    assert large.scores_.tolist() == small.scores_.tolist()
    assert "chosen with 5 neighbors on a stratified sample of 80 of the 120 rows" in large.notes_[-1]
    assert not any("stratified" in note for note in small.notes_)


@pytest.mark.parametrize("groups", [None, [7]])
def test_a_size_is_not_judged_on_rows_of_one_part(groups):
    problem = Problem.from_arrays([[1.0, 2.0]], [0.5], task="regression", groups=groups)
    with pytest.raises(InputError, match="cannot be split;"):
        size_curve(FTest(), problem, np.random.default_rng(0))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_judge_of_a_wide_table_sees_leading_columns_only_and_says_the_same(task, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 140))
    X[:, 3] = np.floor(3 * rng.random(120))
    X[rng.random(X.shape) < 0.02] = np.nan
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + 0.5 * rng.normal(size=120)
    kinds = ["nominal" if column == 3 else "numeric" for column in range(140)]
    y = (signal > 0).astype(int) if task == "classification" else signal
    problem = Problem.from_arrays(X, y, task=task, kinds=kinds)
    ranker = Fisher() if task == "classification" else FTest()
    narrow = size_curve(ranker, problem, np.random.default_rng(1))
    monkeypatch.setattr("fewer.selectors._rank._leading", lambda rows, best: np.arange(rows.n_features))
    whole = size_curve(ranker, problem, np.random.default_rng(1))
    assert narrow["size"].tolist() == whole["size"].tolist()
    assert narrow["size"][-1] == 120
    assert narrow["score"].tolist() == whole["score"].tolist()


@pytest.mark.parametrize("n_ranked", [[None], 1j, {"a": 1}])
def test_a_number_that_is_none_is_refused_by_its_ranker(n_ranked):
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    with pytest.raises(InputError, match="'n_ranked' parameter of MRMR"):
        RankSelector(MRMR(n_ranked=n_ranked), n_features_to_select=2).fit(X, y)


def few_groups(n_groups, n_rows=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int), np.arange(n_rows) % n_groups


@pytest.mark.parametrize(("n_groups", "cv"), [(2, 0), (3, 5), (4, 5)])
def test_a_size_is_chosen_with_few_groups(n_groups, cv):
    X, y, groups = few_groups(n_groups)
    for method in ("fisher", "auto"):
        assert len(fewer.select(X, y, method, groups=groups, cv=cv, random_state=0).support) == 4


@pytest.mark.parametrize(("method", "n_groups"), [("fisher", 2), ("relief", 3), ("auto", 2), ("knn-forward", 2)])
def test_too_few_groups_are_refused_with_cures(method, n_groups):
    X, y, groups = few_groups(n_groups)
    asked = {"groups": groups, "random_state": 0}
    said = f"^Without the rows of fold 1 of {n_groups}: .*of one group. Give more groups.* score: cv=0, --folds 0.$"
    with pytest.raises(InputError, match=said) as refused:
        fewer.select(X, y, method, **asked)
    fewer.select(X, y, method, **asked, cv=0)
    cure = "Or give the number (n_features_to_select=…, --features)."
    assert (cure in str(refused.value)) == (method in ("fisher", "relief"))
    if method == "relief":
        assert len(fewer.select(X, y, method, **asked, n_features_to_select=2).features) == 2
