"""One thin layer for frames: names of columns, frames in and out, and polars when it is first used."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fewer.problem import BoolArray, FloatArray, InputError, Kind, Problem, column_number

if TYPE_CHECKING:
    import polars as pl
else:

    class _Later:
        def __getattr__(self, name: str) -> Any:
            return getattr(sys.modules.get("polars") or import_module("polars"), name)

    pl = _Later()

__all__ = ["pl"]  # the one name that is not this module's own


Place = Callable[[int], str]


def row_number(row: int) -> str:
    """Say where a row of an array or a frame is: counted from 0, as there."""
    return f"row {row}"


def missing_cells(cells: pl.Series) -> pl.Series:
    """Say which cells are missing: null, or NaN."""
    return cells.is_null() | cells.is_nan() if cells.dtype.is_float() else cells.is_null()


@contextmanager
def reading(what: str, *faults: type[Exception], cure: str = "") -> Iterator[None]:
    """Say in one line why a table cannot be read, whatever error the library that reads it has for that."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, InputError) or not isinstance(error, (*faults, pl.exceptions.PanicException)):
            raise
        reason = (error.strerror if isinstance(error, OSError) else "") or (str(error).splitlines() or [""])[0]
        if isinstance(error, pl.exceptions.PanicException):  # polars gives up on some damaged files in its own way
            reason = "it is damaged"
        raise InputError(f"{what} cannot be read ({reason or type(error).__name__}){cure}.") from None


def refuse_repeated_names(names: Sequence[str], where: str = "") -> None:
    """Refuse two columns of one name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"{where}{count} columns are named {name!r}; give every column a unique name.")


def text_name(label: Any) -> str:
    """Write the label of a column as text; the parts of one of several levels are joined by an underscore.

    Parameters
    ----------
    label : object
        Of any type.

    Returns
    -------
    str
        Text stays as it is.

    Examples
    --------
    >>> text_name(3), text_name(("b", "x"))
    ('3', 'b_x')
    """
    return "_".join(map(str, label)) if isinstance(label, tuple) else str(label)


def own_labels(X: Any, names: Iterable[str]) -> list[Any]:
    """Return the labels that a frame has for columns named by text; the text where no one label stands for it.

    Parameters
    ----------
    X : table
        Of any kind.
    names : iterable of str
        As `plain_frame` made them.

    Returns
    -------
    list
        What selects these columns from X.

    Examples
    --------
    >>> import pandas as pd
    >>> own_labels(pd.DataFrame([[1.0, 2.0]], columns=[0, ("a", "b")]), ["a_b", "0", "other"])
    [('a', 'b'), 0, 'other']
    """
    labels = list(X.columns) if hasattr(X, "iloc") and hasattr(X, "columns") else []
    counts = Counter(labels)
    original = {name: label for name, label in zip(text_names(labels)[0], labels, strict=True) if counts[label] == 1}
    return [original.get(name, name) for name in names]


def text_names(labels: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Turn the labels of columns into distinct names, with a note on names that stood there twice.

    Examples
    --------
    >>> text_names(["a", 3, ("b", "x"), "a"])
    (['a', '3', 'b_x', 'a (2)'], ["2 columns are named 'a'; the others are called 'a (2)'; rename them in your table."])
    """
    names = [text_name(label) for label in labels]
    counts = Counter(names)
    if len(counts) == len(names):
        return names, []
    taken, renamed = set(counts), dict[str, list[str]]()
    seen: Counter[str] = Counter()
    for i, name in enumerate(names):
        seen[name] += 1
        if counts[name] > 1 and seen[name] > 1:
            number = seen[name]
            while (new := f"{name} ({number})") in taken:
                number += 1
            taken.add(new)
            names[i] = new
            renamed.setdefault(name, []).append(new)
    return names, [
        f"{counts[name]:,} columns are named {name!r}; the others are called "
        f"{', '.join(map(repr, others[:5]))}{', …' * (len(others) > 5)}; rename them in your table."
        for name, others in renamed.items()
    ]


def forced_kinds(nominal: Iterable[str | int], numeric: Iterable[str | int], names: Sequence[str]) -> dict[int, Kind]:
    """Return the kinds that the user chose, by column."""
    forced: dict[int, Kind] = {column_number(column, names, "nominal"): "nominal" for column in nominal}
    for column in numeric:
        number = column_number(column, names, "numeric")
        if number in forced:
            raise InputError(f"Column {names[number]!r} is both nominal and numeric; choose one.")
        forced[number] = "numeric"
    return forced


def is_frame(X: Any) -> bool:
    """Say whether X is a data frame (pandas, polars, …); refuse one that is not computed yet, and say how to.

    Parameters
    ----------
    X : object
        Anything.

    Returns
    -------
    bool
        True for a frame in memory.

    Examples
    --------
    >>> import polars as pl
    >>> is_frame(pl.DataFrame({"a": [1.0]})), is_frame([[1.0]])
    (True, False)
    """
    if isinstance(X, np.ndarray | list):
        return False
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        return True
    if isinstance(frame, nw.LazyFrame):
        raise InputError(_lazy(X, frame.implementation.name.lower()))
    return isinstance(frame, nw.DataFrame)


def plain_frame(X: Any) -> tuple[Any, list[str]]:
    """Return a table whose columns have distinct names that are text; other tables than frames stay as they are.

    pandas takes any labels: numbers, tuples, one label twice. A structured array and a batch of Arrow become frames.

    Parameters
    ----------
    X : table
        Of any kind.

    Returns
    -------
    X, notes : table and list of str
        X itself if its names will do; what was renamed.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_frame(pd.DataFrame([[1.0, 2.0]], columns=[0, ("a", "b")]))[0].columns.tolist()
    ['0', 'a_b']
    """
    if isinstance(X, np.ndarray) and X.dtype.names is not None and X.ndim == 1:
        return pl.DataFrame({name: np.ascontiguousarray(X[name]) for name in X.dtype.names}), []
    if type(X).__name__ == "RecordBatch":  # of Arrow: no frame to others, a table to its own library
        X = import_module("pyarrow").Table.from_batches([X])
    if not is_frame(X):
        return X, []
    if hasattr(X, "iloc"):
        labels = list(X.columns)
        if all(type(label) is str for label in labels) and len(set(labels)) == len(labels):
            return X, []
        names, notes = text_names(labels)
        return X.set_axis(names, axis=1), notes
    if hasattr(X, "rename_columns"):  # an Arrow table, the only other one that takes a name twice
        names, notes = text_names(X.column_names)
        return (X.rename_columns(names) if notes else X), notes
    return X, []


def without_arrow_text(X: Any) -> Any:
    """Return a pandas frame without the types that scikit-learn cannot make an array of: Arrow's text, and dates.

    Parameters
    ----------
    X : table
        A pandas frame, or anything else.

    Returns
    -------
    table
        X itself if nothing changes.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"c": pd.Series(["u", "v"], dtype="category")})
    >>> without_arrow_text(frame) is frame
    True
    """
    if not (hasattr(X, "dtypes") and hasattr(X, "astype") and hasattr(X, "iloc") and X.ndim == 2):
        return X
    odd = [
        dtype.kind in "mM" or (type(dtype).__name__ == "ArrowDtype" and dtype.kind not in "biuf") for dtype in X.dtypes
    ]
    return X.astype(object) if any(odd) else X


def _lazy(X: Any, library: str) -> str:
    cure = {"polars": "X.collect()", "duckdb": "X.pl()", "dask": "X.compute()", "ibis": "X.to_pandas()"}
    kind = {"polars": "a lazy polars frame", "duckdb": "a DuckDB relation", "dask": "a Dask frame"}
    description = kind.get(library, f"a lazy frame ({type(X).__module__.partition('.')[0]})")
    return f"The table is {description}, not loaded yet; pass {cure.get(library, 'X.toPandas()')} instead of X."


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
    if like.implementation.is_pandas() and hasattr(native := like.to_native().dtype, "categories"):
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
