"""Mean size of SHAP values on held-out rows (Lundberg and Lee 2017)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods

from fewer.contracts import Resources
from fewer.problem import FloatArray, InputError, Problem
from fewer.rankers._models import ModelRanker, fit_model, gather, inputs_of, last_step
from fewer.validate import Split
from fewer.validate._folds import CV_OBJECT

MOST_ROWS = 200
"""Rows that stand for the table where a model of no known kind is explained, and rows explained then."""


class Shap(ModelRanker):
    """Mean size of a feature's SHAP values on held-out rows, averaged over folds.

    A SHAP value is what a cell adds to the prediction of its row, shared out fairly among the columns. Needs the
    package shap: `pip install 'fewer[shap]'`. Trees and linear models are explained exactly and fast; others by
    sampling, on at most 200 rows of each fold.

    Read more in the guide: :doc:`/guide/own-models`.

    Parameters
    ----------
    estimator : estimator, optional
        Logistic or ridge regression by default.
    cv : int, splitter or None, default=5
        Folds; None fits and explains all rows.

    Notes
    -----
    For classes, sizes are summed over the classes that the model explains. A nominal feature stands as its level
    indicators, whose sizes are summed. Row weights go to `fit`, where it takes them, and to the mean over rows; row
    groups stay together.

    See Also
    --------
    Permutation : In units of the score, without another package.

    References
    ----------
    S. Lundberg and S.-I. Lee, A unified approach to interpreting model predictions, NeurIPS 2017.

    Examples
    --------
    >>> from fewer.rankers import Shap
    >>> Shap(cv=3)
    Shap(cv=3)
    """

    command_name = "shap"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "cv": CV_OBJECT,
    }

    def _measure(self, problem: Problem, parts: list[Split], seed: int, resources: Resources) -> FloatArray:
        found = []
        for part in parts:
            train, test = problem.take(part.train), problem.take(part.test)
            model = fit_model(self.estimator, train, seed)
            sizes = shap_sizes(model, train.X, test, seed)
            found.append(gather(sizes, model, problem.n_features))
        return np.array(found)


def shap_sizes(model: Any, background: FloatArray, rows: Problem, seed: int) -> FloatArray:
    """Return the mean size of the SHAP values of each input of a fitted model's last step.

    Parameters
    ----------
    model : fitted estimator
    background : array
        Training rows, against which a cell is told to add something.
    rows : Problem
        Rows to explain.
    seed : int

    Returns
    -------
    array of shape (number of inputs,)
    """
    try:
        import shap
    except ImportError:
        raise InputError("Shap needs the package shap; install it with pip install 'fewer[shap]'.") from None
    final, base, cells = last_step(model), inputs_of(model, background), inputs_of(model, rows.X)
    weights = rows.row_weights
    if hasattr(type(final), "feature_importances_"):
        values = shap.TreeExplainer(final).shap_values(cells, check_additivity=False)
    elif hasattr(final, "coef_"):
        values = shap.LinearExplainer(final, base).shap_values(cells)
    else:
        draw = np.random.default_rng(seed)
        base = base[draw.permutation(len(base))[:MOST_ROWS]]
        chosen = draw.permutation(len(cells))[:MOST_ROWS]
        cells, weights = cells[chosen], weights[chosen]
        predict = final.predict_proba if hasattr(final, "predict_proba") else final.predict
        values = shap.Explainer(predict, base, seed=seed)(cells, silent=True).values
    sizes = np.abs(np.stack(values, axis=-1) if isinstance(values, list) else np.asarray(values))
    sizes = sizes.reshape(*sizes.shape[:2], -1).sum(axis=2)
    return np.average(sizes, axis=0, weights=weights if weights.any() else None)
