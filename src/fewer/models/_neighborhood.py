"""Nearest neighbors counted in neighborhoods, with a weight for each feature (Loughrey, chapters 2 and 4)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import metadata_routing
from sklearn.utils.validation import check_is_fitted

from fewer.contracts.declaring import Count, parameters
from fewer.errors import one_line
from fewer.estimators import ClassScoresMixin, TableClassifier
from fewer.kernels import neighbors as kernels
from fewer.kernels.bundles import Rules
from fewer.kernels.differences import exact_rows
from fewer.problem import FloatArray, InputError


@parameters
class NeighborhoodClassifier(ClassScoresMixin, TableClassifier):
    """The rows at the nearest distances vote; a tied vote takes in the next distance.

    The squared distance of two rows is Σ w · diff², where diff is the difference over the feature's range in the
    training rows for numbers, and 0 or 1 for nominal values. This is the classifier that the criterion `KNN` judges
    subsets by, and `weights` takes what `FeatureWeighter` finds.

    Read more in the guide: :doc:`/methods/dong-kothari`.

    Parameters
    ----------
    n_neighbors : int, default=1
        How many *distinct* distances vote (or rows, see `voting`).
    weights : array of shape (n_features,), optional
        Between 0 and 1; 1 for every feature if left out.
    voting : {"neighborhood", "neighbors"}, default="neighborhood"
        `"neighbors"`: the k nearest rows vote, earlier rows first among equally near ones, and a tied vote goes to the
        nearest.
    scaling : {"range", "none"}, default="range"
        `"none"`: numbers are not divided by their range.

    Attributes
    ----------
    classes_ : array
    n_features_in_, feature_names_in_

    Notes
    -----
    If all distances are used up and the vote is still tied, the most frequent class of the training rows wins. A
    missing cell, or a level that no training row has, is as far from every other as two cells of its column are on
    average.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NeighborhoodClassifier(weights=[0, 0, 1, 0.25]).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.96
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = dict.fromkeys(("groups", "time"), metadata_routing.UNUSED)

    n_neighbors: Count = 1
    _: KW_ONLY
    weights: Annotated[ArrayLike | None, "array-like", None] = None
    voting: Literal["neighborhood", "neighbors"] = "neighborhood"
    scaling: Literal["range", "none"] = "range"

    def fit(self, X: Any, y: Any) -> NeighborhoodClassifier:
        """Keep the rows.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Text and categories are nominal; cells may be missing.
        y : array of shape (n_samples,)
            Their target.

        Returns
        -------
        NeighborhoodClassifier
            Itself.
        """
        self._validate_params()
        problem = self._learn_table(X, y)
        self.classes_ = np.asarray(problem.classes)
        self.weights_ = _weights(self.weights, problem.n_features)
        self._codes = problem.y
        everyone = np.zeros(problem.n_samples, dtype=np.int64)
        self._exact = exact_rows(problem, everyone, "global" if self.scaling == "range" else "none")
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return each class's share of the votes.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array
        """
        votes = self._class_scores(X)
        return votes / votes.sum(axis=1, keepdims=True)

    def _class_scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        cells = self.reader_.read(self, X)
        missing, n = np.isnan(cells), len(self._codes)
        out = np.empty((len(cells), len(self.classes_)))
        rules = Rules(
            codes=self._codes, values=np.zeros(n), row_weights=np.ones(n), n_classes=len(self.classes_), grain=1.0,
            ks=np.array([min(self.n_neighbors, n)]), by_rows=self.voting == "neighbors",
        )  # fmt: skip
        kernels.predict_rows(
            np.where(missing, 0.0, cells), missing.astype(np.uint8),
            np.full(len(cells), -1, dtype=np.int64), self.weights_,
            self._exact, rules, out,
        )  # fmt: skip
        return out


def _weights(weights: ArrayLike | None, n_features: int) -> FloatArray:
    if weights is None:
        return np.ones(n_features)
    with one_line():
        given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n_features,):
        raise InputError(f"weights has shape {given.shape}, but there are {n_features} features; give one for each.")
    if not ((given >= 0) & (given <= 1)).all():
        raise InputError("weights must lie between 0 and 1.")
    return given
