"""The door: arrays, frames and files become a `Problem`; kinds and holes are recorded, nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fewer.problem import FloatArray, InputError, Kind, Problem, Task

MAX_INTEGER_CLASSES = 20


def is_frame(X: Any) -> bool:
    """Say whether X is a data frame (pandas, polars, …)."""
    return isinstance(nw.from_native(X, pass_through=True, eager_only=True), nw.DataFrame)


def infer_task(y: NDArray[Any]) -> Task:
    """Tell classification from regression by the target.

    Strings, booleans and up to 20 distinct whole numbers are classes; everything else is a quantity.

    Examples
    --------
    >>> infer_task(np.array([1, 2, 1])), infer_task(np.array([0.5, 1.2, 3.0]))
    ('classification', 'regression')
    """
    if y.dtype.kind not in "iuf":
        return "classification"
    values = np.unique(y)
    whole = bool(np.all(values == np.round(values)))
    return "classification" if whole and len(values) <= MAX_INTEGER_CLASSES else "regression"


def to_problem(
    X: Any,
    y: Any,
    *,
    task: Task | None = None,
    nominal: Sequence[str] = (),
    weights: Any = None,
    groups: Any = None,
) -> Problem:
    """Make a problem of an array or a frame and its target."""
    if is_frame(X):
        table, names, kinds, levels = _columns(nw.from_native(X, eager_only=True), nominal)
    else:
        table = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        names = tuple(f"x{i}" for i in range(table.shape[1]))
        kinds = tuple("nominal" if name in nominal else "numeric" for name in names)
        levels = {}
    target = np.asarray(y)
    task = infer_task(target) if task is None else task
    problem = Problem.from_arrays(table, target, task=task, names=names, kinds=kinds, weights=weights, groups=groups)
    problem.levels.update(levels)
    refuse_useless_target(problem)
    return problem


def refuse_useless_target(problem: Problem) -> None:
    """Refuse a target with one class or one value: nothing can be learnt from it."""
    if problem.task == "classification" and problem.n_classes < 2:
        raise InputError(f"The target has one class only, {problem.classes[0]!r}; at least two are needed.")


def read_table(path: Path | str, target: str, *, task: Task | None = None, nominal: Sequence[str] = ()) -> Problem:
    """Read a CSV file with a header row."""
    import polars as pl

    path = Path(path)
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    frame = pl.read_csv(path, infer_schema_length=None)
    if target not in frame.columns:
        raise InputError(f"{path.name} has no column {target!r}; it has {', '.join(frame.columns[:10])}.")
    return to_problem(frame.drop(target), frame[target].to_numpy(), task=task, nominal=nominal)


def _columns(
    frame: nw.DataFrame[Any], nominal: Sequence[str]
) -> tuple[FloatArray, tuple[str, ...], tuple[Kind, ...], dict[int, tuple[Any, ...]]]:
    table = np.empty(frame.shape)
    kinds: list[Kind] = []
    levels: dict[int, tuple[Any, ...]] = {}
    for i, name in enumerate(frame.columns):
        column = frame[name]
        if column.dtype.is_numeric() and name not in nominal:
            table[:, i] = column.cast(nw.Float64).to_numpy()
            kinds.append("numeric")
        elif column.dtype == nw.Boolean:
            table[:, i] = column.cast(nw.Float64).to_numpy()
            kinds.append("boolean")
        else:
            cells = np.array([None if v is None else str(v) for v in column.to_list()], dtype=object)
            present = np.array([v is not None for v in cells])
            names, codes = np.unique(cells[present].astype(str), return_inverse=True)
            table[:, i] = np.nan
            table[present, i] = codes
            kinds.append("nominal")
            levels[i] = tuple(names.tolist())
    return table, tuple(map(str, frame.columns)), tuple(kinds), levels
