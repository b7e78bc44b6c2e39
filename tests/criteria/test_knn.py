import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import PredefinedSplit, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import fewer
from fewer.contracts import Resources, SearchSpace
from fewer.criteria import KNN
from fewer.problem import InputError, Problem
from making import make_problem


def bind(criterion, problem, **resources):
    return criterion.bind(problem, np.random.default_rng(0), Resources(**resources))


def random_folds(n, k=10, seed=0):
    return np.random.default_rng(seed).permutation(np.arange(n) % k)


@pytest.mark.parametrize("n_neighbors", [1, 5])
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_accuracy_is_that_of_scikit_learn(load, n_neighbors):
    X, y = load(return_X_y=True)
    y = y == 1  # two classes and no tied distances: what ties mean differs
    X = X / np.ptp(X, axis=0) + 1e-3 * np.random.default_rng(1).random(X.shape)
    split = PredefinedSplit(random_folds(len(X)))
    scorer = bind(KNN(n_neighbors, cv=split, voting="neighbors", scaling="none"), Problem.from_arrays(X, y))
    masks = np.random.default_rng(2).random((8, X.shape[1])) < 0.4
    masks[:, 0] = True
    peer = KNeighborsClassifier(n_neighbors)
    truth = [np.mean(cross_val_predict(peer, X[:, mask], y, cv=split) == y) for mask in masks]
    np.testing.assert_allclose(scorer.score(masks), truth, atol=1e-12)
    if n_neighbors == 1:  # no ties, one neighbor: both votings agree
        by_distance = bind(KNN(cv=split, scaling="none"), Problem.from_arrays(X, y))
        np.testing.assert_array_equal(by_distance.score(masks), scorer.score(masks))


def test_columns_that_are_not_scaled_keep_their_resolution():
    X, y = load_breast_cancer(return_X_y=True)  # ranges from 0.03 to 4,250
    split = PredefinedSplit(random_folds(len(X)))
    scorer = bind(KNN(cv=split, voting="neighbors", scaling="none"), Problem.from_arrays(X, y))
    mask = np.ptp(X, axis=0) < 0.5
    truth = np.mean(cross_val_predict(KNeighborsClassifier(1), X[:, mask], y, cv=split) == y)
    assert scorer.score(mask[None])[0] == pytest.approx(truth, abs=1e-12)


def test_regression_is_that_of_scikit_learn():
    problem = make_problem(task="regression", n_rows=80)
    split = PredefinedSplit(random_folds(80, 4))
    scorer = bind(KNN(3, cv=split, scaling="none"), problem)
    predicted = cross_val_predict(KNeighborsRegressor(3), problem.X, problem.y, cv=split)
    truth = 1.0 - np.sum((predicted - problem.y) ** 2) / np.sum((problem.y - problem.y.mean()) ** 2)
    assert scorer.score(np.ones((1, 6), dtype=bool))[0] == pytest.approx(truth, abs=1e-9)
    np.testing.assert_allclose(scorer.outputs(np.ones(6, dtype=bool)), predicted, atol=1e-12)


def test_forward_selection_is_that_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    X = X + 1e-3 * np.random.default_rng(1).random(X.shape)
    split = PredefinedSplit(random_folds(len(X), 5))
    criterion = KNN(cv=split, voting="neighbors", scaling="none")
    ours = fewer.SubsetSelector(criterion, fewer.search.Forward(), n_features_to_select=3).fit(X, y)
    remaining, chosen = list(range(4)), []
    for _ in range(3):
        scores = [cross_val_score(KNeighborsClassifier(1), X[:, [*chosen, f]], y, cv=split).mean() for f in remaining]
        chosen.append(remaining.pop(int(np.argmax(scores))))
    assert sorted(chosen) == np.flatnonzero(ours.get_support()).tolist()


def test_tied_neighborhoods_take_in_the_next_distance():
    # Row 0 (class a) has a and b at distance 1, then b at distance 2: the vote 1:1 becomes 1:2.
    X = np.array([[0.0], [1.0], [-1.0], [2.0], [50.0]])
    problem = Problem.from_arrays(X, ["a", "a", "b", "b", "c"])
    scorer = bind(KNN(cv="loo", scaling="none"), problem)
    assert problem.classes[scorer.outputs(np.array([True]))[0].argmax()] == "b"
    by_rows = bind(KNN(cv="loo", scaling="none", voting="neighbors"), problem)
    assert problem.classes[by_rows.outputs(np.array([True]))[0].argmax()] == "a"  # the earlier row


def test_several_numbers_of_neighbors_use_the_best():
    problem = make_problem(n_rows=70)
    masks = np.random.default_rng(0).random((10, 6)) < 0.5
    split = PredefinedSplit(random_folds(70, 5))
    single = np.array([bind(KNN(k, cv=split), problem).score(masks) for k in (1, 3, 7)])
    several = bind(KNN((7, 1, 3), cv=split), problem)
    np.testing.assert_array_equal(several.score(masks), single.max(axis=0))
    as_array = bind(KNN(np.array([7, 1, 3]), cv=split), problem)
    np.testing.assert_array_equal(as_array.score(masks), single.max(axis=0))
    for mask, column in zip(masks, single.T, strict=True):
        best = bind(KNN((1, 3, 7)[column.argmax()], cv=split), problem)
        np.testing.assert_array_equal(several.outputs(mask), best.outputs(mask))


def test_a_row_weight_counts_like_copies_of_the_row():
    rng = np.random.default_rng(0)
    X, y, copies = rng.random((40, 3)), rng.integers(0, 2, 40), rng.integers(1, 4, 40)
    fold = random_folds(40, 5)
    masks = rng.random((6, 3)) < 0.7
    for n_neighbors in (1, 3):
        weighted = bind(
            KNN(n_neighbors, cv=PredefinedSplit(fold), scaling="global"),
            Problem.from_arrays(X, y, sample_weight=copies),
        )
        repeated = bind(
            KNN(n_neighbors, cv=PredefinedSplit(np.repeat(fold, copies)), scaling="global"),
            Problem.from_arrays(np.repeat(X, copies, axis=0), np.repeat(y, copies)),
        )
        np.testing.assert_allclose(weighted.score(masks), repeated.score(masks), atol=1e-12)


def test_outputs_grade_to_the_score(problem):
    mask = np.array([True, False, True, True, False, False])
    for n_neighbors in (1, 3):
        scorer = bind(KNN(n_neighbors), problem)
        assert scorer.grade(scorer.outputs(mask), problem) == pytest.approx(scorer.score(mask[None])[0])


def test_new_rows_are_predicted_from_all_rows(problem):
    mask = np.ones(6, dtype=bool)
    new = np.random.default_rng(5).normal(size=(20, 6))
    scorer = bind(KNN(5, voting="neighbors", scaling="none"), problem)
    peer = KNeighborsClassifier(5).fit(problem.X, problem.y)
    np.testing.assert_allclose(scorer.predict(mask, new), peer.predict_proba(new), atol=1e-8)
    shifted = make_problem(task="regression")
    scorer = bind(KNN(2, scaling="none"), shifted)
    peer = KNeighborsRegressor(2).fit(shifted.X, shifted.y)
    np.testing.assert_allclose(scorer.predict(mask, new), peer.predict(new), atol=1e-9)


@pytest.mark.parametrize("seed", range(50))
def test_trees_over_few_columns_find_the_neighbors_that_all_distances_find(seed, monkeypatch):
    """To the bit: ties, weights, outliers that change the scale of a fold, every voting, classes and quantities."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 200)), 7
    X = np.round(rng.normal(size=(n, p)), int(rng.choice([0, 1, 8])))
    X[0, rng.integers(p)] *= rng.choice([1.0, 1000.0])
    y = X[:, 0] + rng.normal(size=n)
    task = "regression" if seed % 3 == 0 else "classification"
    problem = Problem.from_arrays(
        X, y if task == "regression" else np.digitize(y, [-0.5, 0.7][: 1 + seed % 2]), task=task,
        sample_weight=rng.uniform(0.5, 2.0, n) if seed % 4 == 0 else None,
    )  # fmt: skip
    criterion = KNN(
        [1, 5, [1, 3, 5]][seed % 3], cv="loo" if seed % 5 == 0 else 5,
        voting=["neighborhood", "neighbors"][seed % 2], scaling=["training", "global", "none"][seed % 3],
    )  # fmt: skip
    mask = np.zeros(p)
    mask[: rng.integers(1, 5)] = rng.choice([0.5, 1.0])
    units, new = [np.array([f]) for f in np.flatnonzero(mask == 0)], np.ones(int((mask == 0).sum()))
    scorer = bind(criterion, problem)
    truth = scorer.flips(mask, units, new)
    for name, value in (("WORTH_A_TREE", 1), ("TREE_COST", (0, 0)), ("TRIED", 1)):
        monkeypatch.setattr(f"fewer.criteria._knn.{name}", value)
    assert scorer._tree_flips(mask, units, new) is not None
    np.testing.assert_array_equal(scorer.flips(mask, units, new), truth)


def test_a_sweep_counts_and_keeps_the_allowed_subsets():
    problem = make_problem(n_features=6)
    scorer = bind(KNN(), problem)
    space = SearchSpace.of(6, sizes=(2, 3))
    found = scorer.sweep(space, 0, 64, 5)
    assert found.n_evaluated == 15 + 20
    assert ((found.states.sum(axis=1) == 2) | (found.states.sum(axis=1) == 3)).all()
    priced = SearchSpace.of(6, prices=np.full(6, 0.5))
    assert scorer.sweep(priced, 0, 64, 1).states.sum() == 1


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (KNN(0), "The 'n_neighbors' parameter"),
        (KNN(voting="some"), "The 'voting' parameter"),
        (KNN(scaling="some"), "The 'scaling' parameter"),
    ],
)
def test_what_cannot_be_is_refused(criterion, message, problem):
    with pytest.raises(InputError, match=message):
        bind(criterion, problem)
