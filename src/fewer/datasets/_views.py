"""Tasks that documents made of other sets: some of the columns, some of the rows, classes put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.io.frames import pl

Table = tuple[pl.DataFrame, NDArray[Any]]

WDBC1 = (4, 5, 7, 8, 9, 10, 11, 14, 15, 21, 22, 25, 27, 28, 29)
"""Nel's first fifteen of the thirty WDBC features, counted from 1."""


@dataclass(frozen=True)
class View:
    """A task on another set of the shelf."""

    of: str
    make: Callable[[pl.DataFrame, NDArray[Any]], Table]


def columns(numbers: Sequence[int]) -> Callable[[pl.DataFrame, NDArray[Any]], Table]:
    """Keep some columns, counted from 1 as the documents do."""
    return lambda X, y: (X[:, [number - 1 for number in numbers]], y)


def merged(classes: Mapping[Any, str], rest: str) -> Callable[[pl.DataFrame, NDArray[Any]], Table]:
    """Merge some classes under one name, all others under the name `rest`."""
    return lambda X, y: (X, np.array([classes.get(label, rest) for label in y.tolist()]))


def rows(keep: Callable[[pl.DataFrame, NDArray[Any]], NDArray[np.bool_]]) -> Callable[[pl.DataFrame, Any], Table]:
    """Keep some rows."""

    def make(X: pl.DataFrame, y: NDArray[Any]) -> Table:
        mask = keep(X, y)
        return X.filter(mask), y[mask]

    return make


complete = rows(lambda X, _: ~X.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy())
"""Keep the rows without a missing cell."""
VIEWS: dict[str, View] = {
    "wdbc1": View("wdbc", columns(WDBC1)),
    "wdbc2": View("wdbc", columns([i for i in range(1, 31) if i not in WDBC1])),
    "brodsat": View("segment", merged(dict.fromkeys(["brickface", "cement", "window", "path"], "man-made"), "natural")),
    "cotton": View("satimage", merged(dict.fromkeys([2, 5], "cotton"), "other")),
    "grey": View("satimage", merged(dict.fromkeys([3, 4, 7], "grey"), "other")),
    "thyroid": View("ann_thyroid", merged(dict.fromkeys([1, 2], "abnormal"), "normal")),
    "cleve_complete": View("cleve", complete),
    "crx_complete": View("crx", complete),
    "mofn_3_7_10_train": View("mofn_3_7_10_file", rows(lambda X, y: np.arange(len(y)) < 300)),
    "mfeat_digits5": View("mfeat_digits", rows(lambda X, y: y < 5)),
}
