import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fewer.contracts import Resources
from fewer.criteria import CrossValidated, FisherRatio
from fewer.evaluate import Agreement, score_agreement
from fewer.problem import InputError, Problem
from fewer.rankers import Fisher, MutualInformation


def shifted(n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return Problem.from_arrays(rng.normal(size=(n, 5)) + np.outer(y, [0.0, 0.3, 0.8, 1.5, 3.0]), y)


def test_it_is_what_scikit_learn_gives_on_the_same_splits():
    problem = shifted()
    models = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2, random_state=0)}
    found = score_agreement(
        Fisher(),
        problem,
        {name: CrossValidated(m) for name, m in models.items()},
        n_splits=4,
        rng=np.random.default_rng(7),
    )
    rng = np.random.default_rng(7)
    scores, accuracies = [], {name: [] for name in models}
    for _ in range(4):
        order = rng.permutation(150)
        train, test = np.sort(order[:100]), np.sort(order[100:])
        scores.append(Fisher().rank(problem.take(train), rng, Resources()).scores)
        for name, model in models.items():
            CrossValidated(model).bind(problem.take(train), rng, Resources())  # draws what it draws
            X, y = problem.X, problem.y
            accuracies[name].append(
                [model.fit(X[train][:, [j]], y[train]).score(X[test][:, [j]], y[test]) for j in range(5)]
            )
    assert found.scores == pytest.approx(np.array(scores))
    for name in models:
        assert found.accuracies[name] == pytest.approx(np.array(accuracies[name]))
        each = [np.corrcoef(a, b)[0, 1] for a, b in zip(scores, accuracies[name], strict=True)]
        assert found.mean(name) == pytest.approx(np.mean(each))
        whole = np.corrcoef(np.mean(scores, axis=0), np.mean(accuracies[name], axis=0))[0, 1]
        assert found.of_means(name) == pytest.approx(whole)


def test_information_goes_with_the_accuracy_of_all_usual_models_where_features_differ():
    found = score_agreement(MutualInformation(), shifted(), n_splits=5, rng=np.random.default_rng(0))
    assert list(found.accuracies) == ["nearest neighbors", "random-weight network", "naive Bayes", "linear model"]
    assert all(found.of_means(name) > 0.9 for name in found.accuracies)


def test_without_differences_there_is_no_correlation_and_filters_predict_nothing():
    level = Agreement(np.ones((2, 3)), {"tree": np.array([[0.5, 0.6, 0.7]] * 2)})
    assert np.isnan(level.mean("tree"))
    assert np.isnan(level.of_means("tree"))
    with pytest.raises(InputError, match="FisherRatio does not predict"):
        score_agreement(Fisher(), shifted(), {"ratio": FisherRatio()}, n_splits=1, rng=np.random.default_rng(0))
