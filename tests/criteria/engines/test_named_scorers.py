"""Every named scorer of scikit-learn is computed from an engine's predictions, or refused by scikit-learn."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.svm import LinearSVC
from sklearn.utils.validation import has_fit_parameter

from engine_twin import rows
from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.errors import InputError
from fewer.problem import Problem

CLASSIFIERS = [
    GaussianNB(), BernoulliNB(), NearestCentroid(), RidgeClassifier(), LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(), KNeighborsClassifier(4), KNeighborsClassifier(3, weights="distance"),
    LogisticRegression(tol=1e-8), LinearSVC(tol=1e-6, random_state=0),
    LogisticRegression(l1_ratio=1, solver="liblinear", tol=1e-6, random_state=0),
]  # fmt: skip
REGRESSORS = [LinearRegression(), KNeighborsRegressor(3), KNeighborsRegressor(4, weights="distance")]
# Two classes without row weights, three with them (the last solver fits two), and quantities.
JOBS = [(model, 2, False) for model in CLASSIFIERS] + [(model, 3, True) for model in CLASSIFIERS[:-1]]
JOBS += [(model, 0, weighted) for model in REGRESSORS for weighted in (False, True)]
SUBSETS = np.array([[0, 0, 1, 0], [1, 0, 1, 0], [1, 1, 1, 1]], dtype=bool)
GROUPS = ".cluster."  # Metrics that compare groups of rows, which quantities do not make.


def true_scores(model, X, y, weights, cv):
    """Return scikit-learn's mean scores of the subsets by each name, NaN where a fold cannot be scored."""
    scores = {name: np.zeros(len(SUBSETS)) for name in get_scorer_names()}
    for i, mask in enumerate(SUBSETS):
        for train, test in cv.split(X, y):
            is_weighted = weights is not None and has_fit_parameter(model, "sample_weight")
            to_fit = {"sample_weight": weights[train]} if is_weighted else {}
            fitted = clone(model).fit(X[train][:, mask], y[train], **to_fit)
            to_score = {} if weights is None else {"sample_weight": weights[test]}
            for name in scores:
                try:
                    scores[name][i] += get_scorer(name)(fitted, X[test][:, mask], y[test], **to_score) / cv.n_splits
                except (AttributeError, TypeError, ValueError):
                    scores[name][i] = np.nan
    return scores


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "n_classes", "weighted"), JOBS, ids=repr)
def test_every_name_is_computed_from_predictions_or_refused(model, n_classes, weighted):
    task = "classification" if n_classes else "regression"
    X, y = rows(task, n_classes, n=90)
    y = y if n_classes else np.exp(0.3 * y)
    cv = StratifiedKFold(3) if n_classes else KFold(3)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    problem, n_scored = Problem.from_arrays(X, y, task=task, sample_weight=weights), 0
    about = 1e-7 if isinstance(model, LogisticRegression | LinearSVC) else 1e-9  # their solvers stop earlier
    for name, truth in true_scores(model, X, y, weights, cv).items():
        try:
            scorer = CrossValidated(model, name, cv).bind(problem, np.random.default_rng(0), Resources())
        except InputError:
            assert np.isnan(truth).all(), name
            continue
        assert scorer.score(SUBSETS) == pytest.approx(truth, rel=1e-9, abs=about, nan_ok=True), name
        compares_groups = not n_classes and GROUPS in get_scorer(name)._score_func.__module__
        if np.isnan(truth).all() or compares_groups:
            continue
        n_scored += 1
        assert scorer.way == "compiled", name
        assert scorer.n_fits < len(SUBSETS) * cv.n_splits, name  # some folds may hang on rounding
    assert n_scored > 10
