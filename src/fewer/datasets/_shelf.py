"""The data sets by name: what each is, where it comes from, and loading it."""

from __future__ import annotations

import csv
import difflib
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import resources
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from fewer.datasets import _generators as make
from fewer.datasets._openml import VIEWS, Table, fetch, fetch_named, split
from fewer.io import read_frame, to_problem
from fewer.io.frames import pl
from fewer.problem import BoolArray, InputError, Problem, Task

Way = Literal["bundled", "scikit-learn", "generated", "view", "outside"]


def _wdbc() -> Table:
    from sklearn.datasets import load_breast_cancer

    source = load_breast_cancer()
    columns = [str(name).replace(" ", "_") for name in source.feature_names]
    return pl.DataFrame(source.data, schema=columns), 1 - source.target.astype(np.int64)


GENERATORS: dict[str, Callable[[], Table]] = {
    "wdbc": _wdbc,
    **{f"monk{number}": partial(make.make_monk, number) for number in (1, 2, 3)},
    "corral": make.make_corral,
    "mofn_3_7_10": make.make_m_of_n,
    "nel_three_features": make.make_nel_three_features,
    "nel_shifted": make.make_nel_shifted,
    "nel_surrounded": make.make_nel_surrounded,
    "scott_bimodal": make.make_scott_bimodal,
    "rdg1": lambda: make.make_rdg1()[:2],
}

ALIASES = {
    "artificial": "weka_rdg1_200x100",
    "bupa": "liver_bupa",
    "diabetes": "pima",
    "dexter": "dexter_train",
    "ion": "ionosphere",
    "liver": "liver_bupa",
    "mfeat": "mfeat_digits",
}


@dataclass(frozen=True)
class Info:
    """One line of the manifest.

    Parameters
    ----------
    name : str
        What `load` is given.
    rows, columns : int
        The table without its target.
    kinds : str
        How many columns of each kind, such as "6 numeric, 7 nominal".
    task : {"classification", "regression"}
        What the target is.
    counts : str
        Rows of each class, such as "0:97 1:111".
    way : {"bundled", "scikit-learn", "generated", "view", "outside"}
        Where `load` finds it: in this package, in scikit-learn, made by a rule, a task on another set, or outside
        (a folder named by FEWER_DATA, or OpenML).
    source, licence : str
        Who published the data, and under which terms.
    documents : str
        Which of the documents use it.
    note : str
        What else is worth knowing.
    file, sha256 : str
        The bundled file and its checksum; for a set from outside, the file looked for in FEWER_DATA.
    test_rows : str
        Which rows are the publisher's own test file, such as "4435:6435".
    nominal, boolean : tuple of str
        Columns of whole numbers that are levels, or true and false.
    openml : str
        The number of the OpenML set, or of those whose columns stand side by side.

    Examples
    --------
    >>> sonar = info("sonar")
    >>> sonar.name, sonar.columns, sonar.way
    ('sonar', 60, 'bundled')
    """

    name: str
    rows: int
    columns: int
    kinds: str
    task: Task
    counts: str
    way: Way
    source: str
    licence: str
    documents: str = ""
    note: str = ""
    file: str = ""
    sha256: str = ""
    test_rows: str = ""
    nominal: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()
    openml: str = ""

    @property
    def bundled(self) -> bool:
        """Whether it needs neither a network nor a folder."""
        return manifest()[VIEWS[self.name][0]].bundled if self.way == "view" else self.way != "outside"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table, its target, and where they come from.

    Parameters
    ----------
    X : polars.DataFrame
        The table without its target.
    y : array of shape (n_samples,)
        Class labels or numbers.
    info : Info
        The line of the manifest.
    holdout : bool array of shape (n_samples,), optional
        The rows of the publisher's own test file, if there is one.

    See Also
    --------
    load : Load one by its name.

    Examples
    --------
    >>> data = load("sonar")
    >>> data.X.shape, data.info.task
    ((208, 60), 'classification')
    """

    X: pl.DataFrame
    y: NDArray[Any]
    info: Info
    holdout: BoolArray | None = None

    @cached_property
    def problem(self) -> Problem:
        """The same as every package sees it."""
        return to_problem(self.X, self.y, task=self.info.task)


def names() -> list[str]:
    """Name every set on the shelf.

    Returns
    -------
    list of str
        What `load` knows by name.

    Examples
    --------
    >>> "sonar" in names()
    True
    """
    return list(manifest())


@overload
def info(name: str) -> Info: ...


@overload
def info(name: None = None) -> list[Info]: ...


def info(name: str | None = None) -> Info | list[Info]:
    """Return the line of the manifest of one set, or all lines.

    Parameters
    ----------
    name : str, optional
        Of a set; all of them if left out.

    Returns
    -------
    Info or list of Info
        The line, or all lines.

    Examples
    --------
    >>> info("sonar").rows, info("sonar").licence
    (208, 'CC BY 4.0')
    >>> [line.name for line in info() if "Nel" in line.documents and line.bundled][:3]
    ['ionosphere', 'liver_bupa', 'wdbc']
    """
    return list(manifest().values()) if name is None else manifest()[_canonical(name)]


def load(name: str) -> Dataset:
    """Load a set by its name; capital letters do not matter.

    A set comes from this package, from scikit-learn or from its rule where that is possible, so that it is the
    same for everybody. Otherwise the folder named by the variable FEWER_DATA is searched for `NAME.csv.gz` and
    `NAME.csv` (the column `target`, or else the last one, is the target), and then OpenML is asked. Files in that
    folder that are not on the shelf can be loaded by their names too, and any OpenML set as "openml:NUMBER".

    Read more in the guide: :doc:`/guide/tables`.

    Parameters
    ----------
    name : str
        A name of `names()`, of a file in FEWER_DATA, or "openml:NUMBER".

    Returns
    -------
    Dataset
        The table, its target, and where they come from.

    Examples
    --------
    >>> data = load("sonar")
    >>> data.X.shape, data.problem.classes
    ((208, 60), (0, 1))
    """
    if name.startswith("openml:"):
        return _stranger(name, *fetch(_number(name)), source=f"OpenML {name.removeprefix('openml:')}")
    if name.lower() not in _spellings() and (path := _in_folder(name)) is not None:
        return _stranger(name, *_split(read_frame(path)), source=str(path))
    line = info(name)
    X, y = _table(line)
    X = X.cast(dict.fromkeys(_chosen(line.nominal, X), pl.String))
    X = X.cast(dict.fromkeys(_chosen(line.boolean, X), pl.Boolean))
    return Dataset(X, y, line, _holdout(line))


@cache
def manifest() -> dict[str, Info]:
    """Read the manifest that the package carries."""
    text = resources.files("fewer.datasets").joinpath("manifest.csv").read_text(encoding="utf-8")
    lines: dict[str, Info] = {}
    for row in csv.DictReader(text.splitlines()):
        fields: dict[str, Any] = {**row, "rows": int(row["rows"]), "columns": int(row["columns"])}
        fields |= {kind: tuple(filter(None, row[kind].split(";"))) for kind in ("nominal", "boolean")}
        lines[row["name"]] = Info(**fields)
    return lines


def _table(line: Info) -> Table:
    if line.way == "view":
        of, make_view = VIEWS[line.name]
        parent = load(of)
        return make_view(parent.X, parent.y)
    if line.way == "bundled":
        return _split(_bundled_file(line))
    return GENERATORS[line.name]() if line.way in ("generated", "scikit-learn") else _from_outside(line)


def _bundled_file(line: Info) -> pl.DataFrame:
    content = resources.files("fewer.datasets").joinpath("files", line.file).read_bytes()
    if hashlib.sha256(content).hexdigest() != line.sha256:
        raise InputError(f"{line.file} of this package is damaged (its checksum differs); install fewer again.")
    return pl.read_csv(content, infer_schema_length=None)


def _from_outside(line: Info) -> Table:
    path = _in_folder(line.file)
    if path is not None:
        X, y = _split(pl.read_csv(path, infer_schema_length=None))
    elif line.openml:
        X, y = fetch_named(line.name, [int(number) for number in line.openml.split("+")])
    else:
        raise InputError(
            f"{line.name} is not carried in this package ({line.licence}); put {line.file}.csv.gz into a folder and "
            f"name the folder in the variable FEWER_DATA."
        )
    shape = f"{X.height} x {X.width}, classes {_counts(y)}"
    expected = f"{line.rows} x {line.columns}, classes {line.counts}"
    if shape != expected:
        where = path if path is not None else f"OpenML {line.openml}"
        raise InputError(f"{line.name} from {where} is {shape}, but {expected} is expected; look for the right file.")
    return X, y


def _stranger(name: str, X: pl.DataFrame, y: NDArray[Any], source: str) -> Dataset:
    """Describe a set that is not on the shelf by what it holds."""
    problem = to_problem(X, y)
    counts = _counts(y) if problem.task == "classification" else ""
    about = (name, X.height, X.width, count_kinds(problem), problem.task, counts)
    return Dataset(X, y, Info(*about, way="outside", source=source, licence="not known"))


def count_kinds(problem: Problem) -> str:
    """Say how many columns of each kind there are."""
    counts = ((kind, problem.kinds.count(kind)) for kind in ("numeric", "nominal", "boolean"))
    return ", ".join(f"{count} {kind}" for kind, count in counts if count)


def _in_folder(name: str) -> Path | None:
    folder = os.environ.get("FEWER_DATA")
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise InputError(f"FEWER_DATA names {folder}, which is no folder; correct or unset it.")
    paths = (Path(folder) / f"{name}{ending}" for ending in (".csv.gz", ".csv"))
    return next((path for path in paths if path.is_file()), None)


def _split(frame: pl.DataFrame) -> Table:
    return split(frame, "target" if "target" in frame.columns else frame.columns[-1])


def _number(name: str) -> int:
    number = name.removeprefix("openml:")
    if not number.isdigit():
        raise InputError(f"{name!r} names no OpenML data set; write for example 'openml:61'.")
    return int(number)


def _holdout(line: Info) -> BoolArray | None:
    if not line.test_rows:
        return None
    start, stop = map(int, line.test_rows.split(":"))
    rows = np.arange(line.rows)
    return (rows >= start) & (rows < stop)


def _counts(y: NDArray[Any]) -> str:
    return " ".join(f"{label}:{count}" for label, count in zip(*np.unique(y, return_counts=True), strict=True))


def _chosen(columns: tuple[str, ...], X: pl.DataFrame) -> list[str]:
    return X.columns if columns == ("*",) else [column for column in columns if column in X.columns]


@cache
def _spellings() -> dict[str, str]:
    return {name.lower(): name for name in manifest()} | ALIASES


def _canonical(name: str) -> str:
    spellings = _spellings()
    key = name.lower().replace("-", "_")
    if key in spellings:
        return spellings[key]
    near = difflib.get_close_matches(key, spellings, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`fewer datasets` lists them."
    raise InputError(f"Unknown data set {name!r}; {hint}")
