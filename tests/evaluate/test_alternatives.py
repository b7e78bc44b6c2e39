from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge

import fewer
from fewer.contracts import IncompatibleError, Resources, SearchSpace, round_scores
from fewer.criteria import KNN, CrossValidated, LeastSquares, Separability
from fewer.errors import InputError
from fewer.evaluate import good_subsets
from fewer.evaluate._alternatives import _Looking, _Rule
from fewer.problem import Problem


def rows(n=90, seed=0, **options):
    """Two features that are needed, an exact copy of the second, noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 7))
    X[:, 0] += 2.0 * y
    X[:, 1] += 2.0 * y
    X[:, 2] = X[:, 1]
    return Problem.from_arrays(X, y, **options)


def all_masks(p, most=None):
    sizes = range(1, (most or p) + 1)
    return np.array([np.isin(np.arange(p), some) for size in sizes for some in combinations(range(p), size)])


def brute_force(criterion, problem, most=None):
    """Every subset by itself, compared with the best row by row."""
    scorer = criterion.bind(problem, np.random.default_rng(0), Resources())
    masks = all_masks(problem.n_features, most)
    scores = round_scores(scorer.score(masks))
    best = min(np.flatnonzero(scores == scores.max()), key=lambda i: (masks[i].sum(), (~masks[i]).tolist()))
    wrong = np.array([scorer.outputs(mask).argmax(axis=1) != problem.y for mask in masks]).astype(float)
    share = problem.row_weights / problem.row_weights.sum()
    units = np.arange(problem.n_samples) if problem.groups is None else problem.groups
    good = {}
    for mask, score, own in zip(masks, scores, wrong, strict=True):
        apart = own - wrong[best]
        gap = share @ apart
        spread = np.sqrt(sum(((share * (apart - gap))[units == u].sum()) ** 2 for u in np.unique(units)))
        if gap <= 1.959963984540054 * spread + 1e-15:
            good[mask.tobytes()] = score
    return good


@pytest.mark.parametrize(
    ("criterion", "options"),
    [
        (KNN(1, cv="loo"), {}),
        (KNN(5), {"sample_weight": np.arange(90) % 3 + 1}),
        (KNN(3, cv="loo"), {"groups": np.arange(90) // 2}),
        (CrossValidated(LogisticRegression()), {}),
    ],
)
def test_good_subsets_are_those_of_brute_force_to_the_bit(criterion, options):
    problem = rows(**options)
    found = good_subsets(criterion, problem)
    truth = brute_force(criterion, problem)
    assert {mask.tobytes(): score for mask, score in zip(found.masks, found.scores, strict=True)} == truth
    assert found.n_good == len(truth)
    assert found.complete
    assert found.n_evaluated == 127
    assert found.sizes.sum() == found.n_good
    assert found.counts.tolist() == np.array([np.frombuffer(key, dtype=bool) for key in truth]).sum(axis=0).tolist()


def test_sizes_up_to_k_are_those_of_brute_force():
    problem = rows()
    found = good_subsets(KNN(3, cv="loo"), problem, max_features=2)
    assert {mask.tobytes() for mask in found.masks} == set(brute_force(KNN(3, cv="loo"), problem, 2))
    assert found.max_features == 2
    with pytest.raises(InputError, match="ask for at most 2 features"):
        good_subsets(KNN(3), problem, max_features=5, max_subsets=30)


def test_a_tolerance_in_points_keeps_what_is_that_near():
    X, y = load_diabetes(return_X_y=True)
    problem = Problem.from_arrays(X[:, :6], y, task="regression")
    scores = round_scores(LeastSquares().bind(problem, np.random.default_rng(0), Resources()).score(all_masks(6)))
    found = good_subsets(LeastSquares(), problem, tolerance=0.03)
    assert found.n_good == (scores >= scores.max() - 0.03).sum()
    assert "within 0.03 of the best" in found.how
    with pytest.raises(IncompatibleError, match="give a tolerance"):
        good_subsets(Separability(), rows())


def test_quantities_are_compared_pairwise_above_a_floor():
    X, y = load_diabetes(return_X_y=True)
    problem = Problem.from_arrays(X[:, :5], y, task="regression")
    found = good_subsets(LeastSquares(), problem)
    assert "two standard errors" in found.how
    assert "x2" in found.necessary
    assert found.scores.min() >= found.floor


def test_copies_are_exchangeable_and_needed_features_necessary():
    found = good_subsets(KNN(7, cv="loo"), rows(300, 1))
    assert found.necessary == ["x0"]
    assert found.exchangeable["x1"] == ["x2"]
    assert found.exchangeable["x2"] == ["x1"]
    costs = {"x1": 5.0, "x2": 1.0, "x0": 1.0}
    cheap = good_subsets(KNN(7, cv="loo"), rows(300, 1), costs=costs).cheapest
    assert "x2" in cheap
    assert "x1" not in cheap


def test_a_wide_table_is_searched_from_a_start_and_says_so():
    rng = np.random.default_rng(0)
    problem = rows(120)
    wide = Problem.from_arrays(np.c_[problem.X, rng.normal(size=(120, 60))], problem.y)
    found = good_subsets(KNN(5, cv="loo"), wide, max_subsets=1500)
    assert not found.complete
    assert found.how.startswith("Not all subsets")
    assert found.n_evaluated == 1500
    scorer = KNN(5, cv="loo").bind(wide, np.random.default_rng(0), Resources())
    assert round_scores(scorer.score(found.masks[:20])).tolist() == found.scores[:20].tolist()
    assert found.n_good > 1
    keys = {mask.tobytes() for mask in found.masks}
    assert len(keys) == len(found.masks)


@pytest.mark.parametrize("most", [1, 2, 7, 13, 27])
def test_no_more_subsets_are_looked_at_than_were_allowed(most, monkeypatch):
    problem, looked_at = rows(60), set()
    found = good_subsets(KNN(3, cv="loo"), problem, max_subsets=most)
    scorer = KNN(3, cv="loo").bind(problem, np.random.default_rng(0), Resources())
    search = _Looking(scorer, SearchSpace.of(7), _Rule(scorer, problem, None), None, most)
    start = search.start(np.random.default_rng(0))
    flips = type(scorer).flips

    def counted(self, mask, units, values):
        for unit, value in zip(units, values, strict=True):
            state = np.array(mask, dtype=bool)
            state[unit] = value
            assert state.tobytes() not in looked_at, "scored twice"
            looked_at.add(state.tobytes())
        return flips(self, mask, units, values)

    monkeypatch.setattr(type(scorer), "flips", counted)
    search.look(start)
    assert len(looked_at) + 1 == search.n_evaluated == most
    assert f"{found.n_good} of {most} subsets looked at" in str(found)
    assert found.packed()["n_evaluated"] == most


def test_from_a_selection_with_rows_put_aside():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selection = fewer.select(X, y, criterion="knn:n_neighbors=3", search="forward", cv=0, random_state=0)
    found = fewer.alternatives(selection, X, y, max_features=3, test_size=0.25)
    assert found.heldout[0]["features"] == found.best
    assert 0.7 < found.heldout[0]["score"] <= 1.0
    assert found.to_dict()["n_good"] == found.n_good
    assert "In all of them" in str(found)
    assert " % of them: " in str(found)
    auto = fewer.Selection.from_json(selection.to_json().replace('"custom"', '"auto"').replace("KNN(", "its own("))
    with pytest.raises(InputError, match=r"criterion \(--criterion\): knn"):
        fewer.alternatives(auto, X, y)
    selector = fewer.SubsetSelector(KNN(3), fewer.search.Forward(), random_state=0).fit(X, y)
    assert fewer.alternatives(selector, X, y, max_features=2).max_features == 2


def test_subsets_of_many_trees_are_compared_as_one_by_one(monkeypatch):
    from fewer.criteria import _knn, _knn_sweep
    from fewer.evaluate import _alternatives

    for module in (_knn, _knn_sweep):
        monkeypatch.setattr(module, "TREE", 4)
    problem = rows(120, 3)
    found = good_subsets(KNN(1, cv="loo"), problem, resources=Resources(n_jobs=2))
    assert found.n_undecided == 0
    monkeypatch.setattr(_knn.KNNScorer, "sweep_against", lambda *asked: None)
    slowly = good_subsets(KNN(1, cv="loo"), problem)
    assert np.array_equal(found.masks, slowly.masks)
    monkeypatch.setattr(_alternatives, "MOST_COMPARED", 5)
    assert good_subsets(KNN(1, cv="loo"), problem).n_undecided > 0


def test_an_exact_copy_is_named_also_where_it_is_not_needed():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] > 0).astype(int)
    X = np.c_[X, X[:, 1]]
    found = good_subsets(KNN(5, cv="loo"), Problem.from_arrays(X, y), tolerance=0.2)
    assert found.exchangeable["x1"][0] == "x4"
    assert found.exchangeable["x4"][0] == "x1"


def test_one_feature_at_most_means_all_single_features():
    found = good_subsets(KNN(3, cv="loo"), rows(), max_features=1)
    assert found.complete
    assert found.n_evaluated == 7


def test_rows_in_time_that_nothing_predicts_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    noisy = X[:, 0] + rng.normal(size=60)
    for y, model, task in ((noisy, Ridge(), "regression"), (noisy > 0, LogisticRegression(), "classification")):
        problem = Problem.from_arrays(X, y, task=task, time=np.arange(60))
        criterion = CrossValidated(model, cv=3)
        scorer = criterion.bind(problem, np.random.default_rng(0), Resources())
        rule = _Rule(scorer, problem, None)
        rule.know(np.ones(3, dtype=bool))
        unseen = np.isnan(scorer.outputs(np.ones(3, dtype=bool)).reshape(60, -1)).any(axis=1)
        assert unseen.any()
        assert rule._share[unseen].tolist() == [0.0] * int(unseen.sum())
        assert rule._share.sum() == pytest.approx(1.0)
        found = good_subsets(criterion, problem)
        assert found.n_good > 0
        assert (found.masks[:, 0]).any()
