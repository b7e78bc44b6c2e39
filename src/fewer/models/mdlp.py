"""Bins that the classes call for: recursive cuts, each kept if it pays for its description (Fayyad & Irani 1993)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fewer.errors import one_line
from fewer.problem import FloatArray, IntArray, Problem

SAME = 1e-9  # Bits within which two cuts count as equally good: far above rounding, far below what one row changes.


class MDLPDiscretizer(TransformerMixin, BaseEstimator):
    """Cut each feature where its classes change, as often as the minimum description length allows.

    A stretch of values is cut where the class entropy of the two sides, weighted by their rows, is least (the lowest
    of equally good places). With n rows, k classes and entropy H in the stretch, k₁, H₁ and k₂, H₂ on its sides, the
    cut is kept, and both sides are cut in turn, if

        gain > (log₂(n − 1) + log₂(3ᵏ − 2) − k H + k₁ H₁ + k₂ H₂) / n.

    A feature without any kept cut becomes one bin: it says nothing about the class by this measure.

    Missing cells (NaN) take no part in the cuts. They get a code of their own, the one after the last bin, so that
    codes are whole numbers whether cells are missing or not.

    Read more in the guide: :doc:`/methods/information`.

    Attributes
    ----------
    cut_points_ : list of float arrays
        For each feature, ascending. Values up to and including a cut point belong to the bin on its left.
    n_bins_ : int array of shape (n_features_in_,)
        Bins of each feature, without the one for missing cells.
    n_features_in_, feature_names_in_

    References
    ----------
    U. Fayyad and K. Irani, Multi-interval discretization of continuous-valued attributes for classification learning,
    IJCAI 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bins = MDLPDiscretizer().fit(X, y)
    >>> bins.cut_points_[2], bins.n_bins_
    (array([2.45, 4.75]), array([3, 3, 3, 3]))
    >>> bins.transform([[5.0, 3.0, 4.75, float("nan")]])
    array([[0, 1, 1, 3]])
    """

    cut_points_: list[FloatArray]
    n_bins_: IntArray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MDLPDiscretizer:
        """Find the cut points.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers; NaN where missing.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            The number of copies that a row counts as.

        Returns
        -------
        MDLPDiscretizer
            Itself.
        """
        with one_line():
            X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
            check_classification_targets(y)
            codes = np.unique(y, return_inverse=True)[1]
            weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
        self.cut_points_ = [mdlp_cuts(column, codes, weights) for column in X.T]
        self.n_bins_ = np.array([len(cuts) + 1 for cuts in self.cut_points_])
        return self

    def transform(self, X: Any) -> IntArray:
        """Return each cell the number of its bin.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            A table with the columns that were there in `fit`.

        Returns
        -------
        int array of shape (n_samples, n_features)
            0 … `n_bins_` − 1, and `n_bins_` for missing cells.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        codes = np.empty(X.shape, dtype=np.int64)
        for feature, cuts in enumerate(self.cut_points_):
            codes[:, feature] = bin_numbers(X[:, feature], cuts)
        return codes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def bin_numbers(values: FloatArray, cuts: FloatArray) -> IntArray:
    """Return each value the number of cut points below it; missing ones come after the last bin.

    Examples
    --------
    >>> bin_numbers(np.array([0.0, 1.0, 1.5, np.nan]), np.array([1.0]))
    array([0, 0, 1, 2])
    """
    numbers = np.searchsorted(cuts, values, side="left")
    numbers[np.isnan(values)] = len(cuts) + 1
    return numbers.astype(np.int64)


def mdlp_cuts(values: FloatArray, codes: NDArray[Any], weights: NDArray[Any] | None = None) -> FloatArray:
    """Return the ascending cut points of one feature for class codes 0, 1, …; missing values are left out.

    A row counts as `weights` copies of it.

    Examples
    --------
    >>> mdlp_cuts(np.array([1.0, 2.0, 3.0, 4.0, 11.0, 12.0, 13.0, 14.0]), np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    array([7.5])
    """
    present = ~np.isnan(values)
    if weights is not None:
        present &= weights > 0
    order = np.argsort(values[present], kind="stable")
    values, codes = values[present][order], codes[present][order]
    n_rows = len(values)
    if n_rows < 2:
        return np.empty(0)
    copies = np.ones(n_rows, dtype=np.int64) if weights is None else weights[present][order]
    above = np.zeros((n_rows + 1, int(codes.max()) + 1), dtype=copies.dtype)
    np.cumsum((codes[:, None] == np.arange(above.shape[1])) * copies[:, None], axis=0, out=above[1:])
    x_log_x = _x_log_x if weights is not None else _x_log_x(np.arange(n_rows + 1.0)).__getitem__
    steps = np.flatnonzero(values[1:] > values[:-1]) + 1
    kept: list[int] = []
    stretches = [(0, n_rows)]
    while stretches:
        low, high = stretches.pop()
        inside = steps[np.searchsorted(steps, low, side="right") : np.searchsorted(steps, high, side="left")]
        cut = _cut(above[[low, high]], above[inside], x_log_x)
        if cut is not None:
            kept.append(int(inside[cut]))
            stretches += [(low, kept[-1]), (kept[-1], high)]
    return np.array([_between(values[i - 1], values[i]) for i in sorted(kept)], dtype=np.float64)


def class_bins(problem: Problem, n_bins: int = 10) -> NDArray[np.int32]:
    """Code every column: levels as they are, numbers by MDLP cuts for classes, or by equally full bins for a quantity.

    Parameters
    ----------
    problem : Problem
        The rows.
    n_bins : int, default=10
        Bins where the target is a quantity.

    Returns
    -------
    int array of shape (n_features, n_samples)
        From 0 on; missing cells have a code of their own.

    Examples
    --------
    >>> class_bins(Problem.from_arrays([[1.0], [2.0], [8.0], [9.0], [np.nan]] * 4, [0, 0, 1, 1, 1] * 4))[0, :5]
    array([0, 0, 1, 1, 2], dtype=int32)
    """
    codes = np.empty((problem.n_features, problem.n_samples), dtype=np.int32)
    for feature, nominal in enumerate(problem.nominal):
        cells = problem.column(feature)
        known = ~np.isnan(cells)
        if nominal:
            cuts = np.arange(cells[known].max(initial=0.0))
        elif problem.task == "classification":
            cuts = mdlp_cuts(cells, problem.y)
        else:
            shares = np.arange(1, n_bins) / n_bins
            cuts = np.unique(np.quantile(cells[known], shares)) if known.any() else np.empty(0)
        codes[feature] = bin_numbers(cells, cuts)
    return codes


def _x_log_x(x: FloatArray) -> FloatArray:
    return np.asarray(x * np.log2(np.where(x > 0, x, 1.0)))


def _cut(ends: NDArray[Any], places: NDArray[Any], x_log_x: Callable[[Any], Any]) -> int | None:
    """Choose among places, each given by the class counts of the rows before it; None if no cut pays."""
    if len(places) == 0:
        return None
    left, right, both = places - ends[0], ends[1] - places, ends[1] - ends[0]
    bits = _bits(left, x_log_x) + _bits(right, x_log_x)
    best = int(np.argmax(bits <= bits.min() + SAME))
    n_rows = both.sum()
    if n_rows <= 1:
        return None
    n_classes = int(np.count_nonzero(both))
    whole = float(_bits(both, x_log_x))
    price = np.log2(n_rows - 1) + _log2_of_3_to_the(n_classes) - n_classes * whole / n_rows
    for side in (left[best], right[best]):
        price += np.count_nonzero(side) * float(_bits(side, x_log_x)) / side.sum()
    return best if whole - bits[best] > price else None


def _bits(counts: NDArray[Any], x_log_x: Callable[[Any], Any]) -> Any:
    """Return rows times class entropy: n log₂ n − Σ c log₂ c."""
    return x_log_x(counts.sum(axis=-1)) - x_log_x(counts).sum(axis=-1)


def _log2_of_3_to_the(k: int) -> float:
    """Return log₂(3ᵏ − 2), also where 3ᵏ is beyond floating point."""
    return k * np.log2(3.0) + np.log1p(-2.0 * 3.0**-k) / np.log(2.0)


def _between(low: float, high: float) -> float:
    """Return the middle, or the lower value where rounding would put the middle on the upper one."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
