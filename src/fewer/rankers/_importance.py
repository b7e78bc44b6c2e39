"""What a fitted model itself says of its columns: coefficients, or importances of trees."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods

from fewer.contracts import IncompatibleError, Resources
from fewer.parallel import run_tasks
from fewer.problem import FloatArray, IntArray, Problem
from fewer.rankers._models import ModelRanker, fit_model, gather, last_step
from fewer.validate import Split
from fewer.validate._folds import CV_OBJECT


class Importance(ModelRanker):
    """Importance of each feature in a fitted model, averaged over folds.

    The model is fitted to the training rows of each fold. A linear model gets columns of unit variance, and a feature's
    importance is the size of its coefficient, summed over classes; a model of trees says its `feature_importances_`.
    Averaging over folds tempers what one draw of the rows, or of a forest, brings about.

    Read more in the guide: :doc:`/guide/own-models`.

    Parameters
    ----------
    estimator : estimator, optional
        Any classifier or regressor with `coef_` or `feature_importances_`, also at the end of a pipeline. Logistic or
        ridge regression by default.
    cv : int, splitter or None, default=5
        Folds; None fits one model to all rows.

    Notes
    -----
    A nominal feature stands as its level indicators, whose importances are summed; missing numbers count as the median
    of the training rows. Row weights go to the model where its `fit` takes them, row groups stay together. The
    ranking's `extra` holds the standard deviation over folds as `spread`.

    Impurity importances favor columns with many values, also where these are noise: see `Permutation`.

    See Also
    --------
    Permutation : What held-out rows lose without a column.
    fewer.search.Elimination : Fit again and again without the least important.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> forest = Importance(RandomForestClassifier(20, random_state=0), cv=3)
    >>> selector = fewer.RankSelector(forest, n_features_to_select=3, random_state=0).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['mean concave points', 'worst radius', 'worst concave points']
    """

    command_name = "importance"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods("fit"), None],
        "cv": CV_OBJECT,
    }

    def _measure(self, problem: Problem, parts: list[Split], seed: int, resources: Resources) -> FloatArray:
        shared = (self.estimator, problem, seed)
        return np.array(list(run_tasks(_importances, [(part.train,) for part in parts], resources, shared=shared)))


def _importances(shared: tuple[Any, Problem, int], rows: IntArray) -> FloatArray:
    estimator, problem, seed = shared
    return importances(estimator, problem.take(rows), seed)


def importances(estimator: Any, problem: Problem, seed: int) -> FloatArray:
    """Fit an estimator to rows and return the importance of each column.

    Parameters
    ----------
    estimator : estimator or None
    problem : Problem
    seed : int

    Returns
    -------
    array of shape (n_features,)
    """
    trees = hasattr(type(last_step(estimator)), "feature_importances_")
    model = fit_model(estimator, problem, seed, scale=not trees)
    return gather(own_importances(last_step(model)), model, problem.n_features)


def own_importances(fitted: Any) -> FloatArray:
    """Return the sizes of a fitted model's coefficients, summed over classes, or its importances.

    Parameters
    ----------
    fitted : estimator

    Returns
    -------
    array of shape (number of inputs,)
    """
    if hasattr(fitted, "coef_"):
        coefficients = fitted.coef_.toarray() if hasattr(fitted.coef_, "toarray") else np.asarray(fitted.coef_)
        return np.abs(np.atleast_2d(coefficients)).sum(axis=0)
    if hasattr(fitted, "feature_importances_"):
        return np.asarray(fitted.feature_importances_, dtype=np.float64)
    raise IncompatibleError(
        f"{type(fitted).__name__} has neither coef_ nor feature_importances_; use Permutation, which needs neither."
    )
