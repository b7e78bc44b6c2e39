"""A compiled engine beside scikit-learn's own cross-validation."""

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.problem import Problem


def rows(task="classification", n_classes=2, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.arange(n) % n_classes
    X[:, 0] += y
    return (X, y) if task == "classification" else (X, X[:, 0] - X[:, 2] + 0.5 * rng.normal(size=n))


def scores(estimator, X, y, scoring=None, task="classification"):
    """Return the engine's name, its scores of some subsets, and scikit-learn's."""
    cv = StratifiedKFold(3) if task == "classification" else KFold(3)
    problem = Problem.from_arrays(X, y, task=task)
    scorer = CrossValidated(estimator, scoring, cv).bind(problem, np.random.default_rng(0), Resources())
    subsets = [[0], [0, 2], [1, 3], [0, 1, 2, 3]]
    masks = np.array([np.isin(np.arange(4), subset) for subset in subsets])
    truth = [cross_val_score(estimator, X[:, subset], y, cv=cv, scoring=scoring).mean() for subset in subsets]
    return type(scorer._engine).__name__, scorer.score(masks), truth
