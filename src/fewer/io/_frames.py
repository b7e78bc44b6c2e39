"""Frames like the one that came in, made of a problem's numbers: the reader's work backwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fewer.problem import BoolArray, FloatArray, Problem


@dataclass(frozen=True, eq=False)
class FrameSchema:
    """Names and types of a frame.

    Attributes
    ----------
    head : data frame
        The frame without its rows.
    answers : dict
        What was found out of models that were given such frames, so that it is found out once.

    Notes
    -----
    Numbers, truth values, text and categories come back as they were. Dates and durations stay what the reader made of
    them, numbers of days, and so do numbers that were kept as text and are used as numbers.
    """

    head: Any
    answers: dict[Any, bool] = field(default_factory=dict)

    def frame(self, problem: Problem, X: FloatArray) -> Any:
        """Return rows of numbers as a frame.

        Examples
        --------
        >>> import polars as pl
        >>> from fewer.io import to_problem
        >>> problem = to_problem(pl.DataFrame({"size": [1, 2, 4], "color": ["red", "blue", "red"]}), [0, 1, 0])
        >>> problem.schema.frame(problem, problem.X[1:]).to_dicts()
        [{'size': 2, 'color': 'blue'}, {'size': 4, 'color': 'red'}]
        """
        head = nw.from_native(self.head, eager_only=True)
        library = nw.get_native_namespace(head)
        if not problem.levels and all(dtype == nw.Float64 for dtype in head.schema.values()):
            if head.implementation.is_pandas() and all(dtype == np.float64 for dtype in self.head.dtypes):
                return library.DataFrame(X, columns=head.columns, copy=True)
            if head.implementation.is_polars():
                return nw.from_numpy(X, head.columns, backend=head.implementation).to_native()
        columns = {
            like.name: _column(X[:, i], problem.levels.get(i), like, library)
            for i, like in enumerate(head.iter_columns())
        }
        if head.implementation.is_pandas():
            return library.DataFrame({name: column.to_native() for name, column in columns.items()})
        return nw.from_dict(columns, backend=head.implementation).to_native()

    def textual(self) -> BoolArray:
        """Say which columns hold text or categories, so that levels need no codes."""
        head = nw.from_native(self.head, eager_only=True)
        return np.array([not dtype.is_numeric() and dtype != nw.Boolean for dtype in head.schema.values()], dtype=bool)

    def fits(self, problem: Problem) -> bool:
        """Say whether a problem still has the columns of this frame."""
        return nw.from_native(self.head, eager_only=True).shape[1] == problem.n_features


def schema_of(frame: Any) -> FrameSchema:
    """Return the names and types of a frame."""
    return FrameSchema(nw.from_native(frame, eager_only=True).head(0).to_native())


def label_of(value: Any) -> str:
    """Write a cell as the reader writes the levels of a nominal column."""
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, int | float | np.number):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)


def _column(cells: FloatArray, levels: tuple[str, ...] | None, like: nw.Series[Any], library: Any) -> nw.Series[Any]:
    dtype = like.dtype
    missing = np.isnan(cells)
    if levels is not None:
        return _nominal_column(cells, missing, levels, like, library)
    if dtype == nw.Boolean:
        return _series(like, [None if gone else cell != 0 for cell, gone in zip(cells, missing, strict=True)], dtype)
    if dtype.is_integer() and missing.any():
        return _series(like, [None if gone else int(cell) for cell, gone in zip(cells, missing, strict=True)], dtype)
    if dtype.is_numeric():
        return _series(like, cells, dtype)
    return nw.new_series(like.name, cells, nw.Float64, backend=like.implementation)


def _nominal_column(
    cells: FloatArray, missing: NDArray[Any], levels: tuple[str, ...], like: nw.Series[Any], library: Any
) -> nw.Series[Any]:
    codes = np.where(missing, 0, cells).astype(np.int64)
    if like.implementation.is_pandas() and like.dtype in (nw.Categorical, nw.Enum):
        native = like.to_native().dtype
        place = {label_of(category): code for code, category in enumerate(native.categories)}
        numbers = np.array([place[level] for level in levels], dtype=np.int64)[codes]
        values = library.Categorical.from_codes(np.where(missing, -1, numbers), dtype=native)
        return nw.from_native(library.Series(values, name=like.name), series_only=True)
    labels: NDArray[Any] = np.array(levels, dtype=object)[codes]
    if like.dtype.is_numeric():
        return _series(like, np.where(missing, np.nan, labels.astype(np.float64)), like.dtype)
    labels[missing] = None
    if like.implementation.is_pandas():
        return nw.from_native(library.Series(labels, name=like.name, dtype=like.to_native().dtype), series_only=True)
    return nw.new_series(like.name, labels.tolist(), nw.String, backend=like.implementation).cast(like.dtype)


def _series(like: nw.Series[Any], values: Any, dtype: Any) -> nw.Series[Any]:
    if like.implementation.is_pandas():
        library = nw.get_native_namespace(like)
        native = library.Series(values, name=like.name).astype(like.to_native().dtype)
        return nw.from_native(native, series_only=True)
    return nw.new_series(like.name, values, backend=like.implementation).cast(dtype)
