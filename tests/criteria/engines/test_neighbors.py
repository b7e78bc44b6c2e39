import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from engine_twin import rows, scores
from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.problem import Problem


@pytest.mark.parametrize("k", [1, 4, 5])
@pytest.mark.parametrize("decimals", [0, 5])
def test_neighbors_score_as_scikit_learns_also_where_distances_tie(k, decimals):
    X, y = rows(n_classes=3)
    name, ours, truth = scores(KNeighborsClassifier(k), X.round(decimals), y)
    assert name == "NeighborsEngine"
    assert ours == pytest.approx(truth)


def test_quantities():
    X, y = rows("regression")
    name, ours, truth = scores(KNeighborsRegressor(3), X, y, "r2", "regression")
    assert name == "NeighborsEngine"
    assert ours == pytest.approx(truth)


@pytest.mark.parametrize("seed", range(50))
def test_weighted_and_manhattan_neighbors_of_drawn_tables_are_those_of_scikit_learn(seed):
    """Several classes, copies of rows, ties and pipelines; every candidate of a forward step."""
    rng = np.random.default_rng(seed)
    n, p, k = int(rng.integers(30, 120)), int(rng.integers(2, 6)), int(rng.integers(1, 8))
    X = rng.normal(size=(n, p)) * 3.0 ** rng.integers(-2, 3, p)
    if seed % 4 == 0:
        X = X.round(1)
    if seed % 5 == 0:
        X[: n // 4] = X[n // 4 : 2 * (n // 4)]
    distances = [{"p": 1}, {"metric": "manhattan"}, {"weights": "distance"}, {"weights": "distance", "p": 1}][seed % 4]
    task = "regression" if seed % 3 == 0 else "classification"
    score = X[:, 0] / X[:, 0].std() + 0.5 * rng.normal(size=n)
    y = score if task == "regression" else np.digitize(score, [-0.4, 0.6])
    model = (KNeighborsRegressor if task == "regression" else KNeighborsClassifier)(k, **distances)
    folds = KFold(3, shuffle=True, random_state=seed)
    model = make_pipeline(StandardScaler(), model) if seed % 2 else model
    scorer = CrossValidated(model, cv=folds).bind(
        Problem.from_arrays(X, y, task=task), np.random.default_rng(0), Resources()
    )
    assert type(scorer._engine).__name__ == "WeightedNeighborsEngine"
    base, units = np.eye(p, dtype=bool)[0], [np.array([f]) for f in range(1, p)]
    masks = [base, *(base | np.isin(np.arange(p), unit) for unit in units), np.ones(p, dtype=bool)]
    truth = [cross_val_score(model, X[:, mask], y, cv=folds).mean() for mask in masks]
    found = [*scorer.score(np.array([masks[0], masks[-1]])), *scorer.flips(base, units, np.ones(p - 1, dtype=bool))]
    assert found == pytest.approx([truth[0], truth[-1], *truth[1:-1]], rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("model", [KNeighborsRegressor(1), KNeighborsRegressor(3, p=1)], ids=str)
def test_ties_that_rounding_breaks_are_broken_as_in_the_subset_alone(model):
    """Sums over the rows of a scaled table round by how many columns it has: equal distances part by the last bit."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(50, 2)).round(1) + 1e4, rng.normal(size=50)
        pipeline, folds = make_pipeline(StandardScaler(), model), KFold(3)
        scorer = CrossValidated(pipeline, cv=folds).bind(
            Problem.from_arrays(X, y, task="regression"), np.random.default_rng(0), Resources()
        )
        masks = np.array([[True, False], [False, True], [True, True]])
        truth = [cross_val_score(pipeline, X[:, mask], y, cv=folds).mean() for mask in masks]
        assert scorer.score(masks) == pytest.approx(truth, rel=1e-10, abs=1e-10)


def test_the_first_of_classes_with_as_many_votes_wins():
    """Eleven votes of 1/11, five for each of two classes, have different sums in different orders."""
    problem = Problem.from_arrays(np.full((60, 1), 7.0), np.arange(60) % 3)
    scorer = CrossValidated(KNeighborsClassifier(11, p=1), cv=3).bind(problem, np.random.default_rng(0), Resources())
    near = np.argsort(np.random.default_rng(0).random((1000, 60)), axis=1)[:, :11]
    counts = np.apply_along_axis(np.bincount, 1, problem.y[near], minlength=3)
    shares = scorer._engine._vote(near, np.zeros(near.shape), problem.y)
    assert (shares == counts / 11).all()
