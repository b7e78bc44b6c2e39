"""Which of two classifiers decides a case: drawn from the case itself, so that equal cases are decided alike."""

from __future__ import annotations

import hashlib
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fewer.io import is_frame
from fewer.problem import FloatArray, InputError

Digests = NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)


def row_digests(X: Any) -> Digests:
    """Assign each row a number made of its cells: equal rows get equal ones, in any batch and any container.

    Examples
    --------
    >>> import polars as pl
    >>> rows = row_digests(np.array([[1.0, 2.0], [1.0, 2.5], [1.0, 2.0]]))
    >>> bool(rows[0] == rows[2] != rows[1])
    True
    >>> bool(rows[0] == row_digests(pl.DataFrame({"a": [1], "b": [2.0]}))[0])
    True
    """
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        columns = [_column_bits(column) for column in frame.iter_columns()]
        n_rows = len(frame)
    else:
        table = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        if table.ndim != 2:
            raise InputError(f"X has {table.ndim} dimension(s); a table with rows and columns is needed.")
        columns = [_bits(table[:, j]) for j in range(table.shape[1])]
        n_rows = len(table)
    state = np.zeros(n_rows, dtype=np.uint64)
    for bits in columns:
        state = joint_digests(state, bits)
    return state


def joint_digests(low: Digests, high: Digests) -> Digests:
    """Return one number a row from those of the cells that two classifiers use.

    Parameters
    ----------
    low, high : uint64 arrays of shape (n_samples,)

    Returns
    -------
    uint64 array of shape (n_samples,)
    """
    return np.asarray(_mix(low + STEP ^ _mix(high)), dtype=np.uint64)


def key_digests(keys: Any) -> Digests:
    """Assign each key, such as a case number, a number made of its text."""
    return np.array([_text_bits(str(key)) for key in keys], dtype=np.uint64)


def shares(digests: Digests, seed: int) -> FloatArray:
    """Turn digests into numbers that are spread evenly over [0, 1), others for another seed.

    Examples
    --------
    >>> even = shares(row_digests(np.arange(10_000.0)[:, None]), seed=1)
    >>> bool(abs(np.mean(even < 0.3) - 0.3) < 0.01)
    True
    """
    salted = _mix(digests ^ _mix(np.uint64(seed & 0xFFFFFFFFFFFFFFFF) + STEP))
    return np.asarray((salted >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _column_bits(column: nw.Series[Any]) -> Digests:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return _bits(np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64))
    return _bits(np.array(column.to_list(), dtype=object))


def _bits(cells: NDArray[Any]) -> Digests:
    if cells.dtype.kind in "biuf":
        numbers = cells.astype(np.float64) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        return numbers.view(np.uint64)
    known: dict[str, int] = {}
    texts = [str(cell) for cell in cells]
    return np.array([known.setdefault(text, _text_bits(text)) for text in texts], dtype=np.uint64)


def _text_bits(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _mix(bits: Any) -> Any:
    """Stir 64 bits (the finalizer of Steele, Lea and Flood's SplitMix, 2014)."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return bits ^ (bits >> np.uint64(31))
