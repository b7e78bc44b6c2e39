"""Arguments that kernels share, in named tuples: the rows, how they vote, and the columns that change together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Exact(NamedTuple):
    """Rows laid out for exact distances, in float64.

    columns, missing : (p, n) float64 and uint8
        One row for each feature: its values, and where they are missing.
    nominal, holes : (p,) uint8
        Whether the values are levels, and whether any is missing.
    scale, gap : (k, p) float64
        For queries of fold k: the factor on a squared difference, and the squared difference of a missing cell.
    fold : (n,) int64
        Row i may use row j when their folds differ.
    quantum : float
        Terms are multiples of this power of two.
    """

    columns: Any
    missing: Any
    nominal: Any
    holes: Any
    scale: Any
    gap: Any
    fold: Any
    quantum: Any


class Queries(NamedTuple):
    """Rows whose neighbors are looked for: cells and which are missing, (p, q), and folds (q,), −1 for new rows."""

    columns: Any
    missing: Any
    fold: Any

    @classmethod
    def of(cls, X: Any) -> Queries:
        """Lay out new rows (q, p), whose neighbors all rows may be."""
        missing = np.isnan(X.T)
        columns = np.ascontiguousarray(np.where(missing, 0.0, X.T))
        return cls(columns, np.ascontiguousarray(missing, dtype=np.uint8), np.full(len(X), -1, dtype=np.int64))


class Coarse(NamedTuple):
    """Rows sorted by class and laid out for coarse distances, in int32.

    columns : (p, n) float32
        Values shifted and scaled to 0 … 1, level codes of nominal features; NaN where missing.
    kinds : (p,) uint8
        PLAIN, CLIPPED (numeric, with missing cells or with terms that reach the clip) or NOMINAL.
    factor, gap : (k, p) float32, clip : float32
        As scale, gap and CLIP, in coarse units.
    fold, codes : (n,) int64
    starts : (c + 1,) int64
        Where the rows of each class begin.
    """

    columns: Any
    kinds: Any
    factor: Any
    gap: Any
    clip: Any
    fold: Any
    starts: Any
    codes: Any


class Rules(NamedTuple):
    """How neighbors vote and what a row adds to the score.

    codes, values, row_weights : (n,)
        Class codes, regression targets, and weights of the rows. `n_classes` 0 means regression.
    grain : float
        Gains of regression are rounded to multiples of this power of two, and row weights are given in whole
        multiples of one, so that sums of gains do not depend on the order of the rows either.
    ks : (t,) int64, ascending
        The numbers of neighbors to judge with.
    by_rows : bool
        True: k counts rows. False: k counts distinct distances, and a tied vote takes in the next distance.
    """

    codes: Any
    values: Any
    row_weights: Any
    n_classes: Any
    grain: Any
    ks: Any
    by_rows: Any


class Units(NamedTuple):
    """Columns that change together: those of unit u are members[offsets[u]:offsets[u + 1]]."""

    members: Any
    offsets: Any

    @classmethod
    def of(cls, units: Sequence[Any]) -> Units:
        """Lay the columns of units end to end."""
        members = np.concatenate([*units, np.empty(0, dtype=np.int64)]).astype(np.int64)
        return cls(members, np.cumsum([0, *(len(unit) for unit in units)]).astype(np.int64))


def changes_of(mask: Any, units: Units, new: Any) -> tuple[Any, Any, Any]:
    """Lay out masks that differ from one mask (p,) in one unit each, unit u set to new[u]: columns, weights and bounds.

    The columns between the first two bounds make up the mask; those between the next two, with their weights, are what
    the first unit adds to its distances, and so on: off with the old weights, on with the new.

    Examples
    --------
    >>> units = Units.of([np.array([0]), np.array([1, 2])])
    >>> changes = changes_of(np.array([1.0, 0.0, 0.5]), units, np.array([0.0, 1.0]))
    >>> [part.tolist() for part in changes]
    [[0, 2, 0, 1, 2, 2], [1.0, 0.5, -1.0, 1.0, -0.5, 1.0], [0, 2, 3, 6]]
    """
    members, offsets = units
    weights = np.column_stack([-mask[members], np.repeat(new, np.diff(offsets))]).ravel()
    changed, used = weights != 0, np.flatnonzero(mask)
    before = np.append(0, np.cumsum(changed))[2 * offsets]
    columns = np.concatenate([used, np.repeat(members, 2)[changed]])
    return columns, np.concatenate([mask[used], weights[changed]]), np.append(0, len(used) + before)


def changes_from_none(weights: Any) -> tuple[Any, Any, Any]:
    """Lay out (m, p) masks or weights as `changes_of` does, as changes from no column at all.

    Examples
    --------
    >>> [part.tolist() for part in changes_from_none(np.array([[0.0, 1.0], [0.5, 1.0]]))]
    [[1, 0, 1], [1.0, 0.5, 1.0], [0, 0, 1, 3]]
    """
    which, members = np.nonzero(weights)
    # In one piece: kernels are compiled once more for every other layout of an array.
    return members.copy(), weights[which, members], np.append(0, np.searchsorted(which, np.arange(len(weights) + 1)))


class Moved(NamedTuple):
    """Three masks (3, p): that of the running distances, the accepted and the proposed one.

    The second differs from the first in the columns `before`, the third from the second in the columns `unit`.
    """

    masks: Any
    before: Any
    unit: Any


class Doubt(NamedTuple):
    """How far off a comparison of coarse distances can be: sums over the features (see `differences.CoarseRows`)."""

    rough: Any
    steep: Any
    used: Any


class HeldOut(NamedTuple):
    """Test rows of every fold: columns (p, n) float64; rows bounds[k] … bounds[k + 1] − 1 belong to fold k."""

    columns: Any
    bounds: Any


class Gaussians(NamedTuple):
    """What Gaussian naive Bayes learns from the training rows of each fold.

    means, variances : (f, p, c) float64
        Of each class.
    prior : (f, c) float64
        Logarithms of the classes' shares.
    spreads : (f, p) float64
        Variances of the columns: the largest in a subset, times `smoothing`, is added to all.
    """

    means: Any
    variances: Any
    prior: Any
    spreads: Any
    smoothing: Any


class Products(NamedTuple):
    """Products of training columns of each fold.

    gram : (f, p, p) float64
        The ridge stands on the diagonal.
    moments : (f, p, c) float64
        Products of training columns with the targets, or means of the classes.
    constant : (f, c) float64
        Predictions without any column.
    half : float64
        0 for a regression; 1/2 where each coordinate also takes half of its squared mean off (linear discriminants).
    least : float64
        A column of which the others leave less than this share is not sure.
    """

    gram: Any
    moments: Any
    constant: Any
    half: Any
    least: Any


class Spreads(NamedTuple):
    """Classes in the training rows of each fold.

    gram : (f, c, p, p) float64
        Their covariances.
    means : (f, c, p) float64
    prior : (f, c) float64
        Logarithms of their shares.
    least : float64
        Variance, in any direction, below which a class is not sure.
    """

    gram: Any
    means: Any
    prior: Any
    least: Any


class Training(NamedTuple):
    """Training rows of each fold, `sizes[fold]` of them.

    trains : (f, p, t) float64
    sizes : (f,) int64
    y, weights : (f, t) float64
        Class codes, and how much each row counts.
    totals : (f,) float64
        Sums of the weights.
    ridge : float64
        What the squared coefficients cost, the constant's not.
    hinge : bool
        The loss is the squared hinge instead of the logistic one, and the constant costs as much as a coefficient.
    length : float64
        What the absolute coefficients cost, and the constant's.
    """

    trains: Any
    sizes: Any
    y: Any
    weights: Any
    totals: Any
    ridge: Any
    hinge: Any = False
    length: Any = 0.0
