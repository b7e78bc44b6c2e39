"""How important each column is to a fitted estimator, as scikit-learn's `RFE` weighs it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from fewer.contracts import IncompatibleError
from fewer.problem import FloatArray, IntArray


def column_importances(model: Any, n_columns: int) -> FloatArray:
    """Return squared coefficients, summed over classes, or squared importances; indicators count for their column.

    Parameters
    ----------
    model : fitted estimator
        Also a pipeline whose last step has `coef_` or `feature_importances_`.
    n_columns : int
        How many columns it was given.

    Returns
    -------
    array of shape (n_columns,)

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    >>> column_importances(LinearRegression().fit(X, 3 * X[:, 0]), 2).round(6)
    array([9., 0.])
    """
    owner = np.arange(n_columns)
    final = model
    while isinstance(final, Pipeline):
        first = final.steps[0][1]
        if isinstance(first, ColumnTransformer) and {name for name, _, _ in first.transformers} <= {"fill", "encode"}:
            owner = _owners(first)
        final = final.steps[-1][1]
    if hasattr(final, "coef_"):
        values = final.coef_.toarray() if hasattr(final.coef_, "toarray") else np.asarray(final.coef_)
    elif hasattr(final, "feature_importances_"):
        values = np.asarray(final.feature_importances_)
    else:
        raise IncompatibleError(
            f"Elimination needs importances, and {type(final).__name__} has neither coef_ nor feature_importances_."
        )
    squares = np.atleast_2d(np.square(values)).sum(axis=0)
    if len(squares) != len(owner):
        raise IncompatibleError(
            f"{type(final).__name__} works on {len(squares)} inputs that its pipeline makes of {n_columns} columns, so "
            "columns have no importance of their own; leave out the step that makes them."
        )
    return np.asarray(np.bincount(owner, squares, minlength=n_columns), dtype=np.float64)


def _owners(transformer: ColumnTransformer) -> IntArray:
    """Return the column that each output of the preparation comes from."""
    owner: list[int] = []
    for name, step, columns in transformer.transformers_:
        places = np.arange(transformer.n_features_in_)[columns].tolist()
        counts = [len(levels) for levels in step[-1].categories_] if name == "encode" else [1] * len(places)
        owner += [place for place, count in zip(places, counts, strict=True) for _ in range(count)]
    return np.array(owner, dtype=np.int64)
