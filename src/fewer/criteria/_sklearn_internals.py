"""Everything that is taken from scikit-learn's private modules, in one place.

Whoever uses it compares a small fit with scikit-learn's own first, so that a version that works otherwise goes the
ordinary way. Checked with the versions in `CHECKED`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fewer.problem import FloatArray

CHECKED = ("1.9.1",)  # Versions of scikit-learn for which the private parts are known to be as expected.
LARGEST = np.iinfo(np.int32).max


def bin_columns(
    train: FloatArray, test: FloatArray, weights: FloatArray | None, levels: dict[int, FloatArray] | None = None
) -> tuple[Any, Any, Any]:
    """Bin columns as histogram gradient boosting does: training rows, test rows (uint8, transposed), bins by column.

    Parameters
    ----------
    train, test : arrays of shape (n_train, n_features), (n_test, n_features)
        Missing cells are NaN.
    weights : array of shape (n_train,) or None
        How much each row counts; None if all count one.
    levels : dict, optional
        The known values of each column of categories, in order; other values are as missing.

    Returns
    -------
    train, test : uint8 arrays of shape (n_features, n_train), (n_features, n_test)
        Missing cells are in bin 255.
    n_bins : int array of shape (n_features,)
        Bins that are not for missing cells.
    """
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

    if levels:
        numbers = np.setdiff1d(np.arange(train.shape[1]), list(levels))
        cells = [np.full((train.shape[1], len(rows)), 255, dtype=np.uint8) for rows in (train, test)]
        n_bins = np.zeros(train.shape[1], dtype=np.int64)
        if len(numbers):
            *binned, n_bins[numbers] = bin_columns(train[:, numbers], test[:, numbers], weights)
            for target, known in zip(cells, binned, strict=True):
                target[numbers] = known
        for column, values in levels.items():
            n_bins[column] = len(values)
            for target, rows in zip(cells, (train, test), strict=True) if len(values) else ():
                places = np.minimum(np.searchsorted(values, rows[:, column]), len(values) - 1)
                target[column] = np.where(values[places] == rows[:, column], places, 255)
        return cells[0], cells[1], n_bins
    mapper = _BinMapper(n_bins=256, random_state=0, n_threads=1)
    if weights is None and 0 < len(train) <= mapper.subsample and np.isfinite(train).all():
        mapper.bin_thresholds_ = _thresholds(train)
        mapper.is_categorical_ = np.zeros(train.shape[1], dtype=np.uint8)
        mapper.n_bins_non_missing_ = np.array(
            [len(thresholds) + 1 for thresholds in mapper.bin_thresholds_], dtype=np.uint32
        )
        mapper.missing_values_bin_idx_ = 255
    else:
        mapper.fit(train, sample_weight=weights)
    n_bins = np.asarray(mapper.n_bins_non_missing_, dtype=np.int64)
    binned = [np.ascontiguousarray(mapper.transform(rows).T) for rows in (train, test)]
    return binned[0], binned[1], n_bins


def _thresholds(train: FloatArray) -> list[FloatArray]:
    """Return where the bins of each column end: sorted once, without a task and `np.percentile` for each.

    Between neighbors of up to 255 values; else at percentiles of the kind "averaged_inverted_cdf", by NumPy's formula.
    """
    ordered, n = np.sort(train, axis=0), len(train)
    new = np.vstack([np.ones((1, train.shape[1]), dtype=bool), ordered[1:] != ordered[:-1]])
    place = n * (np.linspace(0, 100, num=256)[1:-1] / 100) - 1
    before = np.floor(place).astype(np.int64)
    low, high = ordered[np.maximum(before, 0)], ordered[np.minimum(before + 1, n - 1)]
    percentiles = np.where((place == before)[:, None], high - (high - low) * 0.5, high)
    thresholds = []
    for column, quantiles, first in zip(ordered.T, percentiles.T, new.T, strict=True):
        values = column[first]
        cuts = np.stack([values[:-1], values[1:]], axis=1).mean(axis=1) if len(values) <= 255 else quantiles
        thresholds.append(np.unique(cuts) if len(values) > 1 else np.empty(0))
    return thresholds


def loss_of(n_classes: int) -> Any:
    """Return the loss of boosting: squared error for a quantity (0 classes), binomial or multinomial for classes."""
    from sklearn._loss.loss import HalfBinomialLoss, HalfMultinomialLoss, HalfSquaredError

    losses = {0: HalfSquaredError, 2: HalfBinomialLoss}
    return losses[n_classes]() if n_classes in losses else HalfMultinomialLoss(n_classes=n_classes)


def first_prediction(y: FloatArray, n_classes: int, weights: FloatArray | None) -> FloatArray:
    """Return the raw prediction before the first tree, one for each tree of a round.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class codes, or quantities if `n_classes` is 0.
    n_classes : int
        Number of classes; 0 for a quantity.
    weights : array of shape (n_samples,) or None
        How much each row counts; None if all count one.
    """
    return np.atleast_1d(loss_of(n_classes).fit_intercept_only(y_true=y, sample_weight=weights)).astype(np.float64)


class TreeGrower:
    """Grows scikit-learn's compiled trees without what surrounds them.

    On a few hundred rows a forest spends five sixths of its time on checks, copies of estimators and tasks for each
    tree; the trees themselves stay what they are.

    Parameters
    ----------
    model : estimator
        A tree, a forest or gradient boosting: its options.
    rows : float32 array of shape (n_samples, n_columns)
        Missing cells are NaN.
    n_classes : int
        0 for quantities.
    criterion : str
        Name of the measure of impurity.
    is_random : bool
        Cuts are drawn, as in extra trees.
    """

    def __init__(self, model: Any, rows: Any, n_classes: int, criterion: str, is_random: bool) -> None:
        from sklearn.tree import _classes

        self._rows = rows
        n, p = rows.shape
        self._leaf = int(model.min_samples_leaf)
        self._smallest = max(int(model.min_samples_split), 2 * self._leaf)
        self._deepest = LARGEST if model.max_depth is None else model.max_depth
        self._n_leaves, self._decrease = model.max_leaf_nodes, model.min_impurity_decrease
        self._n_tried = n_tried_of(model.max_features, p)
        self._n_classes = np.array([max(n_classes, 1)], dtype=np.intp)
        kinds = _classes.CRITERIA_CLF if n_classes else _classes.CRITERIA_REG
        self._impurity: Any = lambda: kinds[criterion](1, self._n_classes if n_classes else n)
        self._splitter = _classes.DENSE_SPLITTERS["random" if is_random else "best"]
        missing = np.isnan(rows).any(axis=0)
        self._missing = missing.view(np.uint8) if missing.any() else None

    def grow(self, target: FloatArray, weights: FloatArray | None, rng: Any) -> Any:
        """Return a tree that was grown on a target, (n_samples, 1)."""
        from sklearn.tree._tree import BestFirstTreeBuilder, DepthFirstTreeBuilder, Tree

        splitter = self._splitter(self._impurity(), self._n_tried, self._leaf, 0.0, rng, None)
        limits: tuple[Any, ...] = (splitter, self._smallest, self._leaf, 0.0, self._deepest)
        if self._n_leaves is None:
            builder = DepthFirstTreeBuilder(*limits, self._decrease)
        else:
            builder = BestFirstTreeBuilder(*limits, self._n_leaves, self._decrease)
        tree = Tree(self._rows.shape[1], self._n_classes, 1)
        builder.build(tree, self._rows, target, weights, self._missing)
        return tree


def n_tried_of(max_features: Any, p: int) -> int:
    """Return how many columns a cut tries."""
    if max_features is None:
        return p
    if isinstance(max_features, str):
        return max(1, int(np.sqrt(p) if max_features == "sqrt" else np.log2(p)))
    return int(max_features) if isinstance(max_features, int | np.integer) else max(1, int(max_features * p))


def drawn_rows(seed: int, n: int, weights: FloatArray | None) -> Any:
    """Draw the rows of a tree of a forest as scikit-learn does."""
    from sklearn.ensemble._forest import _generate_sample_indices

    return np.asarray(_generate_sample_indices(seed, n, n, weights))


def newton_step(values: Any, leaves: Any, target: FloatArray, gradient: FloatArray) -> None:
    """Write the leaves' values of gradient boosting of two classes: mean gradient over mean curvature."""
    from sklearn.ensemble._gb import _safe_divide

    likely = target - gradient
    order = leaves.argsort(kind="stable")
    gradients, curvatures = gradient.take(order), (likely * (1 - likely)).take(order)
    ends = np.bincount(leaves, minlength=len(values)).cumsum().tolist()
    sum_of, first = np.add.reduce, 0
    for leaf, last in enumerate(ends):
        if last > first:  # slices: sums by scikit-learn's order of rows, to the bit
            n = float(last - first)
            values[leaf] = _safe_divide(sum_of(gradients[first:last]) / n, sum_of(curvatures[first:last]) / n)
        first = last


def responses_of(scorer: Any) -> tuple[str, ...]:
    """Return which methods of a model a scorer asks, the first that the model has.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> responses_of(get_scorer("roc_auc")), responses_of(get_scorer("f1"))
    (('decision_function', 'predict_proba'), ('predict',))
    """
    asked = scorer._response_method
    return (asked,) if isinstance(asked, str) else tuple(asked)


def decisions_of_classes(pairwise: FloatArray, n_classes: int) -> FloatArray:
    """Return one decision value for each class from those of pairs of classes, positive for the first of two."""
    from sklearn.utils.multiclass import _ovr_decision_function

    return np.asarray(_ovr_decision_function(pairwise < 0, -pairwise, n_classes))
