"""The documents' tables, re-run and set beside the printed ones.

Names are loaded when they are first used, so that `fewer --help` can list the command at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fewer_papers._core import (
        QUICK,
        Absent,
        Cell,
        Claim,
        Document,
        Reproduction,
        Rerun,
        backed,
        judge,
        judge_spread,
        mean_and_sd,
        prepare,
        read_printed,
        reproduce,
        save_cells,
        show,
    )

_NAMES = ("chen", "dong-kothari", "loughrey", "nel", "scott")

__all__ = [
    "QUICK",
    "Absent",
    "Cell",
    "Claim",
    "Document",
    "Reproduction",
    "Rerun",
    "backed",
    "document",
    "judge",
    "judge_spread",
    "mean_and_sd",
    "names",
    "prepare",
    "read_printed",
    "reproduce",
    "save_cells",
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
    return list(_NAMES)


def document(name: str) -> Document:
    """Return a document by its name.

    Parameters
    ----------
    name : str
        Of the document.

    Returns
    -------
    Document

    Examples
    --------
    >>> document("scott").name
    'scott'
    """
    from fewer.errors import InputError

    if name not in _NAMES:
        raise InputError(f"There is no document {name!r}; choose one of {', '.join([*_NAMES, 'all'])}.")
    found: Document = import_module(f"fewer_papers._{name.replace('-', '_')}").DOCUMENT
    return found


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("fewer_papers._core"), name)
    raise AttributeError(f"module 'fewer_papers' has no attribute {name!r}")
