"""Data sets from OpenML, cached; and recipes that make a document's task from another set."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.files import write_atomically
from fewer.io import read_frame
from fewer.io.frames import pl
from fewer.problem import InputError

Table = tuple[pl.DataFrame, NDArray[Any]]

# Nel's first fifteen of the thirty WDBC features, counted from 1.
WDBC1 = (4, 5, 7, 8, 9, 10, 11, 14, 15, 21, 22, 25, 27, 28, 29)


# What makes a task of another set of the shelf.
Making = Callable[[pl.DataFrame, NDArray[Any]], Table]


def columns(numbers: Sequence[int]) -> Making:
    """Keep some columns, counted from 1 as the documents do."""
    return lambda X, y: (X[:, [number - 1 for number in numbers]], y)


def merged(classes: Mapping[Any, str], rest: str) -> Making:
    """Merge some classes under one name, all others under the name `rest`."""
    return lambda X, y: (X, np.array([classes.get(label, rest) for label in y.tolist()]))


def rows(keep: Callable[[pl.DataFrame, NDArray[Any]], NDArray[np.bool_]]) -> Making:
    """Keep some rows."""

    def make(X: pl.DataFrame, y: NDArray[Any]) -> Table:
        mask = keep(X, y)
        return X.filter(mask), y[mask]

    return make


complete = rows(lambda X, _: ~X.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy())
"""Keep the rows without a missing cell."""
VIEWS: dict[str, tuple[str, Making]] = {
    "wdbc1": ("wdbc", columns(WDBC1)),
    "wdbc2": ("wdbc", columns([i for i in range(1, 31) if i not in WDBC1])),
    "brodsat": ("segment", merged(dict.fromkeys(["brickface", "cement", "window", "path"], "man-made"), "natural")),
    "cotton": ("satimage", merged(dict.fromkeys([2, 5], "cotton"), "other")),
    "grey": ("satimage", merged(dict.fromkeys([3, 4, 7], "grey"), "other")),
    "thyroid": ("ann_thyroid", merged(dict.fromkeys([1, 2], "abnormal"), "normal")),
    "cleve_complete": ("cleve", complete),
    "crx_complete": ("crx", complete),
    "mofn_3_7_10_train": ("mofn_3_7_10_file", rows(lambda X, y: np.arange(len(y)) < 300)),
    "mfeat_digits5": ("mfeat_digits", rows(lambda X, y: y < 5)),
}


API = "https://www.openml.org/api/v1/json/data/{number}"
SECONDS = 60


@dataclass(frozen=True)
class Recipe:
    """How OpenML's copy becomes the set on the shelf.

    Attributes
    ----------
    names : sequence of str
        Column names here, by position.
    labels : mapping
        Class labels here, by OpenML's.
    complete : bool
        Leave rows with missing cells out.
    numeric : bool
        Numbers that OpenML declares as levels are numbers here.
    """

    names: Sequence[str] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    complete: bool = False
    numeric: bool = True


_DIGITS = {"fou": 76, "fac": 216, "kar": 64, "pix": 240, "zer": 47, "mor": 6}
RECIPES: dict[str, Recipe] = {
    "pima": Recipe(
        ("pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age"),
        {"tested_negative": 0, "tested_positive": 1},
    ),
    "colon": Recipe([f"g{i}" for i in range(1, 2001)], {"1": 0, "-1": 1}),
    "mfeat_digits": Recipe(
        [f"{group}{i}" for group, count in _DIGITS.items() for i in range(1, count + 1)],
        {str(digit + 1): digit for digit in range(10)},
    ),
    "adult": Recipe(
        ("age", "workclass", "fnlwgt", "education", "educational-num", "marital-status", "occupation", "relationship",
         "race", "gender", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
        {"<=50K": 0, ">50K": 1},
        complete=True,
        numeric=False,
    ),
    "madelon": Recipe([f"f{i}" for i in range(1, 501)], {"1": -1, "2": 1}),
}  # fmt: skip


def fetch_named(name: str, numbers: Sequence[int]) -> Table:
    """Fetch a set of the shelf; several OpenML sets stand side by side and must agree on the target."""
    recipe = RECIPES.get(name, Recipe())
    parts = [fetch(number) for number in numbers]
    y = parts[0][1]
    for number, (_, other) in zip(numbers, parts, strict=True):
        if not np.array_equal(y, other):
            raise InputError(
                f"{name} is made of the OpenML sets {', '.join(map(str, numbers))}, but the rows of {number} are in "
                f"another order; put {name}.csv.gz into a folder and name the folder in the variable FEWER_DATA."
            )
    columns = [column for X, _ in parts for column in X.iter_columns()]
    if len(recipe.names) == len(columns):
        columns = [column.alias(name) for column, name in zip(columns, recipe.names, strict=True)]
    X = pl.DataFrame(columns)
    if recipe.numeric:
        X = X.select(pl.all().cast(pl.Float64))
    if recipe.labels:
        y = np.array([recipe.labels.get(str(label), label) for label in y.tolist()])
    if recipe.complete:
        X, y = complete(X, y)
    return X, y


def fetch(number: int) -> Table:
    """Fetch one OpenML set by its number, or take it from the cache.

    The columns that OpenML names as row numbers or as to be ignored are left out.
    """
    about = _described(number)
    target = (about.get("default_target_attribute") or "").split(",")[0]
    path = _cache() / f"{number}.arff.gz"
    if not path.exists():
        content = _get(about["url"], number)
        checksum = hashlib.md5(content, usedforsecurity=False).hexdigest()
        if about.get("md5_checksum") not in (None, "", checksum):
            raise InputError(f"OpenML {number} arrived damaged (its checksum differs); try again.")
        write_atomically(path, gzip.compress(content, compresslevel=5, mtime=0))
    frame = read_frame(path, target=target)
    if target not in frame.columns:
        raise InputError(
            f"OpenML {number} names no target column; save it as CSV and read it with fewer.io.read_table."
        )
    ignored = [*_listed(about.get("row_id_attribute")), *_listed(about.get("ignore_attribute"))]
    X, y = split(frame, target)
    return X.drop(ignored, strict=False), y


def split(frame: pl.DataFrame, target: str) -> Table:
    """Take the target out of a table; one of whole numbers is of integers."""
    y = frame[target]
    if y.dtype == pl.Float64 and (y == y.round()).all():
        y = y.cast(pl.Int64)
    return frame.drop(target), y.to_numpy()


def _described(number: int) -> dict[str, Any]:
    path = _cache() / f"{number}.json"
    if not path.exists():
        write_atomically(path, _get(API.format(number=number), number))
    try:
        about = json.loads(path.read_bytes())["data_set_description"]
    except (ValueError, KeyError, TypeError):
        path.unlink(missing_ok=True)
        raise InputError(f"OpenML's answer about data set {number} cannot be read; try again later.") from None
    return dict(about)


def _get(address: str, number: int) -> bytes:
    if not address.startswith(("https://", "http://127.0.0.1:")):
        raise InputError(f"OpenML {number} is to be had at {address}, which is no https address; it is not fetched.")
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        raise InputError(f"OpenML has no data set {number} (it answered {error.code} {error.reason}).") from None
    except OSError as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise InputError(
            f"OpenML cannot be reached for data set {number} ({reason}); without a network, put the file into a "
            "folder and name the folder in the variable FEWER_DATA."
        ) from None


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fewer" / "openml"


def _listed(names: Any) -> list[str]:
    return names if isinstance(names, list) else [name for name in (names or "").split(",") if name]
