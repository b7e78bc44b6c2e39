"""Nearest neighbors counted in neighborhoods, with a weight for each feature (Loughrey, chapters 2 and 4)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import metadata_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fewer.contracts.declaring import Count, NonNegative, parameters
from fewer.errors import one_line
from fewer.estimators import ClassScoresMixin, TableClassifier
from fewer.kernels import neighbors as kernels
from fewer.kernels.bundles import Queries, Rules
from fewer.kernels.differences import exact_rows
from fewer.problem import BoolArray, FloatArray, InputError, IntArray


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
        n = len(self._codes)
        rules = Rules(
            codes=self._codes, values=np.zeros(n), row_weights=np.ones(n), n_classes=len(self.classes_), grain=1.0,
            ks=np.array([min(self.n_neighbors, n)]), by_rows=self.voting == "neighbors",
        )  # fmt: skip
        return kernels.predicted(Queries.of(cells), self.weights_, self._exact, rules)


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


# The distances between all pairs of this many rows take 3 GiB.
PAIRED_ROWS = 20_000
TEST_ROWS = 1024


@parameters
class RelevantContextClassifier(ClassifierMixin, BaseEstimator):
    """Nearest neighbor whose training rows each compare by features of their own.

    A feature may matter in one region of the table and mislead in another. At first every row compares by all features.
    Row after row, the features in which a row differs from its nearest neighbor of the same class are dropped from it,
    if the share of rows that their nearest other row classifies right does not fall; otherwise the row stays as it is
    from then on. It ends when no row can drop any more.

    Read more in the guide: :doc:`/methods/nel`.

    Parameters
    ----------
    tolerance : float, default=0.5
        Number of standard deviations of the feature beyond which two values differ.

    Attributes
    ----------
    classes_ : array
    masks_ : bool array of shape (n_samples, n_features)
        The features by which each training row compares.
    feature_usage_ : array of shape (n_features,)
        The share of training rows that keep each feature: 1 where it matters everywhere.
    accuracy_ : tuple of float
        Leave-one-out accuracy with all features, and at the end; the latter is what the rows were chosen by, so that
        new rows do worse.

    See Also
    --------
    fewer.SubsetSelector : One subset for all rows.

    Notes
    -----
    A dropped feature adds nothing to a distance, so that a row with few features is near to many. Of equally near rows
    the first counts. A row keeps at least one feature. Features are standardized; one that does not vary is dropped
    everywhere.

    Examples
    --------
    The first feature matters where the second is low, the third where it is high:

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 8))
    >>> X[:, 1] = np.where(np.arange(200) % 2, 4.0, -4.0)
    >>> y = np.where(X[:, 1] < 0, X[:, 0] > 0, X[:, 2] > 0)
    >>> model = RelevantContextClassifier().fit(X, y)
    >>> low, high = model.masks_[X[:, 1] < 0].mean(axis=0), model.masks_[X[:, 1] > 0].mean(axis=0)
    >>> bool(low[0] > high[0]), bool(high[2] > low[2])
    (True, True)
    """

    tolerance: NonNegative = 0.5

    def fit(self, X: Any, y: Any) -> RelevantContextClassifier:
        """Find the features of each row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their target.

        Returns
        -------
        RelevantContextClassifier
            Itself.
        """
        with one_line():
            self._validate_params()
            X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_min_samples=2)
            check_classification_targets(y)
        if len(X) > PAIRED_ROWS:
            raise InputError(f"There are {len(X)} rows, whose distances take {8e-9 * len(X) ** 2:.0f} GB; sample some.")
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        self._mean, spread = X.mean(axis=0), X.std(axis=0)
        # A constant column may have a spread of rounding.
        varies = np.ptp(X, axis=0) > 0
        self._scale = np.where(varies, spread, 1.0)
        self._rows = (X - self._mean) / self._scale
        first = np.repeat(varies[None] if varies.any() else ~varies[None], len(X), axis=0)
        self.masks_, self.accuracy_ = find_contexts(self._rows, self._codes, first, float(self.tolerance))
        self.feature_usage_ = self.masks_.mean(axis=0)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the nearest training row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        nearest = self._nearest(X)
        return np.asarray(self.classes_[self._codes[nearest]])

    def used_features(self, X: Any) -> BoolArray:
        """Say which features decided: those of the nearest training row.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        bool array of shape (n_samples, n_features)
        """
        nearest = self._nearest(X)
        return np.asarray(self.masks_[nearest])

    def _nearest(self, X: Any) -> IntArray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        Z = (X - self._mean) / self._scale
        parts = [distances_to(Z[low : low + TEST_ROWS], self._rows, self.masks_) for low in range(0, len(Z), TEST_ROWS)]
        return np.concatenate([part.argmin(axis=1) for part in parts])


def distances_to(Z: FloatArray, rows: FloatArray, masks: BoolArray) -> FloatArray:
    """Return squared distances (n_new, n_rows) of new rows to rows that each have features of their own."""
    kept = rows * masks
    squares = Z**2 @ masks.T.astype(np.float64) - 2.0 * (Z @ kept.T) + (kept**2).sum(axis=1)
    return np.asarray(np.maximum(squares, 0.0))


def find_contexts(
    rows: FloatArray, codes: IntArray, masks: BoolArray, tolerance: float
) -> tuple[BoolArray, tuple[float, float]]:
    """Drop features from rows as long as leave-one-out accuracy does not fall; return the masks and both accuracies."""
    masks, n = masks.copy(), len(rows)
    apart = np.stack([_to_row(rows, e, masks[e]) for e in range(n)], axis=1)
    np.fill_diagonal(apart, np.inf)
    nearest = apart.argmin(axis=1)
    reach = apart[np.arange(n), nearest]
    right = codes[nearest] == codes
    before = right.mean()
    going = np.array([np.count_nonzero(codes == code) > 1 for code in codes])
    while going.any():
        for e in np.flatnonzero(going).tolist():
            others = np.where(codes == codes[e], apart[:, e], np.inf)
            friend = int(others.argmin())
            kept = masks[e] & (np.abs(rows[e] - rows[friend]) <= tolerance)
            if not kept.any() or (kept == masks[e]).all():
                going[e] = False
                continue
            # Fewer features: e comes nearer to every row and to none less near, so that nobody leaves it.
            closer = _to_row(rows, e, kept)
            closer[e] = np.inf
            taken = (closer < reach) | ((closer == reach) & (e < nearest)) | (nearest == e)
            taken[e] = False
            after = np.where(taken, codes[e] == codes, right)
            if after.sum() < right.sum():
                going[e] = False
                continue
            masks[e], right = kept, after
            apart[:, e] = closer
            nearest[taken], reach[taken] = e, closer[taken]
    return masks, (float(before), float(right.mean()))


def _to_row(rows: FloatArray, e: int, mask: BoolArray) -> FloatArray:
    return np.asarray(((rows[:, mask] - rows[e, mask]) ** 2).sum(axis=1))
