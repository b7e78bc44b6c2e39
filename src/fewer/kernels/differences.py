"""How far apart two cells are: scaling, nominal values and missing, for every component that works with distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fewer.kernels import bundles
from fewer.kernels.distances import CLIP, CLIPPED, NOMINAL, PLAIN
from fewer.problem import FloatArray, InputError, IntArray, Problem

Scaling = Literal["training", "global", "none"]

# Of two ranges that are not scaled: beyond it, squared differences of the smaller one are lost in the larger one's.
LARGEST_RATIO = 1e7
# Steeper than this no factor has to be: the smallest difference that float32 sees is far beyond the cut already.
STEEPEST = 1e30
# Of a fold's range beside the whole column's, and at all: what is narrower has no reciprocal square.
NARROWEST, LEAST_SPAN = 1e-40, 1e-150


def exact_rows(problem: Problem, fold: IntArray, scaling: Scaling = "training") -> bundles.Exact:
    """Lay out rows that serve each other as training rows, except rows of their own fold.

    The squared difference of two cells in one feature is (difference / range)² for numbers and 0 or 1 for nominal
    values. A missing cell is as far from every other as two cells of the training rows are on average, so it
    neither attracts nor repels. Ranges and averages come from the training rows: for a query of fold k, the rows of all
    other folds. Squared differences beyond 64 (eight ranges away) count as 64.

    Precision: each squared difference is rounded to a multiple of a power of two, 1.5e-11 (coarser beyond 1,024
    features), so that every sum of them is exact in double precision and does not depend on the order of additions.
    These sums are the distances; `CoarseRows` ones only decide where theirs cannot differ. So coarse a unit keeps ties:
    differences that are equal on paper, such as 0.3 − 0.2 and 0.2 − 0.1, are equal here. Columns that are not scaled
    share what double precision has: the unit is as fine as the largest possible sum allows, so that a column is
    still told apart from noise when its range is 10⁵ times smaller than another's.
    """
    missing = problem.missing
    table = np.where(missing, 0.0, problem.X)
    nominal = problem.nominal
    n_folds = int(fold.max()) + 1 if scaling == "training" else 1
    parts = fold if scaling == "training" else np.zeros(problem.n_samples, dtype=np.int64)
    low, high, count, total, square = _moments(table, missing, parts, n_folds)
    if n_folds > 1:
        low, high = _min_of_others(low), -_min_of_others(-high)
        count, total, square = (m.sum(axis=0) - m for m in (count, total, square))
    whole = high.max(axis=0, initial=-np.inf) - low.min(axis=0, initial=np.inf)
    narrowest = np.maximum(np.where(np.isfinite(whole), whole, 0.0) * NARROWEST, LEAST_SPAN)
    span = np.where(high > low, np.maximum(high - low, narrowest), 1.0)
    if scaling == "none":
        _refuse_drowned(problem, (high - low).max(axis=0))
        span = np.full_like(span, span[:, ~nominal].max(initial=1.0))
    else:
        span[:, nominal] = 1.0
    scale = 1.0 / span**2
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = np.maximum(square / count - (total / count) ** 2, 0.0)
    # Beside a cell far away sums lose what differs between the others; no spread is wider than half the range.
    variance = np.minimum(variance, np.where(high > low, high - low, 0.0) ** 2 / 4.0)
    gap = np.where(count > 0, 2.0 * variance * scale, 0.0)
    for column in np.flatnonzero(nominal):
        gap[:, column] = _mismatch(problem.X[:, column], parts, n_folds) * scale[:, column]
    if n_folds == 1 and scaling != "training":
        scale, gap = (np.repeat(m, int(fold.max()) + 1, axis=0) for m in (scale, gap))
    return bundles.Exact(
        columns=np.ascontiguousarray(table.T),
        missing=np.ascontiguousarray(missing.T).astype(np.uint8),
        nominal=nominal.astype(np.uint8),
        holes=missing.any(axis=0).astype(np.uint8),
        scale=np.ascontiguousarray(scale),
        gap=np.ascontiguousarray(gap),
        fold=fold,
        quantum=quantum_for(problem.n_features) if scaling != "none" else _finest_quantum(scale, gap, table, missing),
    )


def unit_columns(exact: bundles.Exact) -> tuple[FloatArray, FloatArray]:
    """Return the columns shifted and scaled to 0 … 1, levels as they are, NaN where missing; and their ranges."""
    missing, numeric = exact.missing != 0, exact.nominal == 0
    low = np.where(missing, np.inf, exact.columns).min(axis=1)
    high = np.where(missing, -np.inf, exact.columns).max(axis=1)
    shift, span = np.where(numeric & (high >= low), low, 0.0), np.where(numeric & (high > low), high - low, 1.0)
    return np.where(missing, np.nan, (exact.columns - shift[:, None]) / span[:, None]), span


def kinds_of(exact: bundles.Exact, span: FloatArray) -> NDArray[np.uint8]:
    """Say which terms need a look at levels, or at missing cells and the cut, given the ranges of the columns."""
    clipped = (exact.holes != 0) | ((exact.scale * span**2).max(axis=0, initial=0.0) >= CLIP)
    return np.where(exact.nominal != 0, NOMINAL, np.where(clipped, CLIPPED, PLAIN)).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class CoarseRows:
    """Rows laid out for coarse distances, which are half as wide as exact ones and faster to sum.

    Rows are sorted by class, so that the nearest row of each class is a minimum over contiguous places. Terms are
    int32 numbers of a unit: a power of two, so coarse that no distance reaches 2²⁹ units, and finer for calls that use
    few features (`unit_for`). What lies farther apart than `error` allows is decided; for the rest exact distances
    decide.

    The error of a term: a value in 0 … 1 is off by 2⁻²⁵ from rounding to float32, a difference of two by δ = 2⁻²³ at
    most. A term t, the square of a difference times the factor F, is then off by 2δ√(Ft) + 3Fδ²; three roundings on
    the way add 4t·2⁻²⁴ and cutting to whole units 1. By Cauchy's inequality a distance D over k features is off by
    2δ√(D·ΣF) + 3δ²·ΣF + 4D·2⁻²⁴ + k units at most; the difference of two by twice that, and k more for the roundings
    of the exact terms. `error` has that bound for the largest D of each feature, `steep` the F.
    """

    order: IntArray
    columns: NDArray[np.float32]
    kinds: NDArray[np.uint8]
    factor: FloatArray
    gap: FloatArray
    fold: IntArray
    starts: IntArray
    codes: IntArray
    steep: FloatArray
    largest: FloatArray

    @classmethod
    def of(cls, exact: bundles.Exact, codes: IntArray, n_classes: int) -> CoarseRows:
        """Lay out the rows of exact differences, sorted by class."""
        order = np.argsort(codes, kind="stable")
        columns, span = unit_columns(exact)
        factor = exact.scale * span**2
        return cls(
            order=order.astype(np.int64),
            columns=np.ascontiguousarray(columns[:, order].astype(np.float32)),
            kinds=kinds_of(exact, span),
            factor=factor,
            gap=exact.gap,
            fold=exact.fold[order],
            starts=np.searchsorted(codes[order], np.arange(n_classes + 1)).astype(np.int64),
            codes=codes[order],
            steep=factor.max(axis=0, initial=0.0),
            largest=np.maximum(np.minimum(factor, CLIP), exact.gap).max(axis=0, initial=0.0),
        )

    def unit_for(self, reach: float) -> float:
        """Choose the unit for distances up to `reach`."""
        return float(2.0 ** np.ceil(np.log2(max(reach, 1e-12) / 2.0**29)))

    def arrays(self, unit: float) -> bundles.Coarse:
        """Return what the kernels take, with terms in this unit."""
        return bundles.Coarse(
            self.columns,
            self.kinds,
            np.minimum(self.factor / unit, STEEPEST).astype(np.float32),
            (self.gap / unit).astype(np.float32),
            np.float32(CLIP / unit),
            self.fold,
            self.starts,
            self.codes,
        )

    def errors(self, unit: float) -> FloatArray:
        """Return each feature's part of the error, and its factor, in this unit: (p, 2)."""
        steep, most = self.steep / unit, self.largest / unit
        rough = 2.0 * (2.0 * np.sqrt(steep * most) * 2.0**-23 + 3.0 * steep * 2.0**-46 + most * 2.0**-22) + 3.0
        return np.column_stack([rough, steep])


def _refuse_drowned(problem: Problem, spans: FloatArray) -> None:
    """Refuse columns that no distance can see beside a much larger one."""
    columns = np.flatnonzero(~problem.nominal & (spans > 0) & np.isfinite(spans))
    if len(columns) < 2:
        return
    large, small = columns[np.argmax(spans[columns])], columns[np.argmin(spans[columns])]
    if spans[large] > LARGEST_RATIO * spans[small]:
        raise InputError(
            f"Without scaling, column {problem.names[large]!r} (range {spans[large]:g}) dominates column "
            f"{problem.names[small]!r} ({spans[small]:g}); scale the columns, or drop one."
        )


def quantum_for(n_features: int) -> float:
    """Choose the unit of squared differences so that the largest possible sum still has 52 bits or fewer."""
    bits = 52 - 6 - int(np.ceil(np.log2(max(n_features, 1))))
    return float(2.0 ** -min(bits, 36))


def _finest_quantum(scale: FloatArray, gap: FloatArray, table: FloatArray, missing: NDArray[np.bool_]) -> float:
    """Choose the finest unit with which the largest possible sum of squared differences is exact."""
    low = np.where(missing, np.inf, table).min(axis=0, initial=np.inf)
    high = np.where(missing, -np.inf, table).max(axis=0, initial=-np.inf)
    span = np.where(high > low, high - low, 1.0)
    reach = np.maximum(np.minimum(scale * span**2, CLIP), gap).max(axis=0, initial=0.0).sum()
    return float(2.0 ** np.ceil(np.log2(max(float(reach), 1.0) / 2.0**51)))


def _moments(
    table: FloatArray, missing: NDArray[np.bool_], parts: IntArray, n_parts: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return minimum, maximum, count, sum and sum of squares of each column in each part."""
    shape = (n_parts, table.shape[1])
    present = ~missing
    middle = np.divide(table.sum(axis=0), present.sum(axis=0), out=np.zeros(shape[1]), where=present.any(axis=0))
    # Rows sorted by part are summed up part by part, which is many times faster than `ufunc.at`.
    order = np.argsort(parts, kind="stable")
    met, starts = np.unique(parts[order], return_index=True)
    missing = missing[order]
    table = table[order]
    centered = np.where(missing, 0.0, table - middle)

    def by_part(ufunc: np.ufunc, values: FloatArray, empty: float) -> FloatArray:
        result = np.full(shape, empty)
        result[met] = ufunc.reduceat(values, starts, axis=0)
        return result

    return (
        by_part(np.minimum, np.where(missing, np.inf, table), np.inf),
        by_part(np.maximum, np.where(missing, -np.inf, table), -np.inf),
        by_part(np.add, (~missing).astype(np.float64), 0.0),
        by_part(np.add, centered, 0.0),
        by_part(np.add, centered**2, 0.0),
    )


def _min_of_others(values: FloatArray) -> FloatArray:
    """For each row, give the minimum over all other rows, column by column."""
    first = values.argmin(axis=0)
    columns = np.arange(values.shape[1])
    rest = values.copy()
    rest[first, columns] = np.inf
    result = np.repeat(values.min(axis=0)[None, :], len(values), axis=0)
    result[first, columns] = rest.min(axis=0)
    return result


def _mismatch(column: FloatArray, parts: IntArray, n_parts: int) -> FloatArray:
    """Return the chance that two present cells outside each part differ."""
    present = ~np.isnan(column)
    _, codes = np.unique(column[present], return_inverse=True)
    counts = np.zeros((n_parts, int(codes.max(initial=0)) + 1))
    np.add.at(counts, (parts[present], codes), 1.0)
    if n_parts > 1:
        counts = counts.sum(axis=0) - counts
    total = counts.sum(axis=1)
    shares = np.divide(counts, total[:, None], out=np.zeros_like(counts), where=total[:, None] > 0)
    return np.where(total > 0, 1.0 - (shares**2).sum(axis=1), 0.0)
