"""The documents' tables, re-run and set beside the printed ones."""

from __future__ import annotations

from importlib import import_module

from fewer.papers._core import (
    QUICK,
    Absent,
    Cell,
    Document,
    Reproduction,
    Rerun,
    backed,
    judge,
    judge_spread,
    mean_and_sd,
    read_printed,
    reproduce,
    show,
)
from fewer.problem import InputError

_HOMES = {
    "chen": "fewer.papers._chen",
    "dong-kothari": "fewer.papers._dong_kothari",
    "loughrey": "fewer.papers._loughrey",
    "nel": "fewer.papers._nel",
    "scott": "fewer.papers._scott",
}

__all__ = [
    "QUICK",
    "Absent",
    "Cell",
    "Document",
    "Reproduction",
    "Rerun",
    "backed",
    "document",
    "judge",
    "judge_spread",
    "mean_and_sd",
    "names",
    "read_printed",
    "reproduce",
    "show",
]


def names() -> list[str]:
    """Name the documents that can be re-run.

    Returns
    -------
    list of str

    Examples
    --------
    >>> "scott" in names()
    True
    """
    return list(_HOMES)


def document(name: str) -> Document:
    """Return a document by its name.

    Parameters
    ----------
    name : str

    Returns
    -------
    Document

    Examples
    --------
    >>> document("scott").name
    'scott'
    """
    if name not in _HOMES:
        raise InputError(f"There is no document {name!r}; choose one of {', '.join([*_HOMES, 'all'])}.")
    found: Document = import_module(_HOMES[name]).DOCUMENT
    return found
