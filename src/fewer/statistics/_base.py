"""What every sum over rows can do, and how a table is passed through it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from fewer.parallel import run_tasks
from fewer.problem import Problem

if TYPE_CHECKING:
    from fewer.contracts import Resources

S = TypeVar("S", bound="Statistics")


class Statistics(ABC):
    """Sums over rows: chunks are added, sums of different rows merged.

    See Also
    --------
    collect : Pass a table through them.

    Examples
    --------
    >>> import numpy as np
    >>> from fewer.statistics import Ranges
    >>> one, other = Ranges(1), Ranges(1)
    >>> one.add(Problem.from_arrays([[3.0], [1.0]], [0, 1]))
    >>> other.add(Problem.from_arrays([[7.0], [2.0]], [0, 1]))
    >>> one.merge(other)
    >>> one.low, one.high
    (array([1.]), array([7.]))
    """

    @abstractmethod
    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        """Add rows.

        Parameters
        ----------
        chunk : Problem
            Rows of the table, with its names, kinds, classes and levels.
        part, start : int
            Where they are: the part of the table, and the place of the first of them in it.
        """

    @abstractmethod
    def merge(self: S, other: S) -> None:
        """Add what another one of the same kind has summed over other rows.

        Parameters
        ----------
        other : Statistics
            Made with the same parameters.
        """


class InParts(Protocol):
    """Rows that are read part by part: a `Stream`, or what is made of one."""

    @property
    def n_parts(self) -> int:
        """How many parts can be read apart from each other."""

    @property
    def travels(self) -> bool:
        """Parts can be read by another process that sees the same files."""

    def chunks(self, part: int) -> Iterator[Problem]:
        """Read a part, chunk by chunk."""


def collect(stream: InParts, make: Callable[[], Any], resources: Resources) -> Any:
    """Pass a table through statistics: one (or a tuple) for each part, merged in the order of the parts.

    Where the parts can travel, whatever runs tasks (`Resources.executor`) reads them, each by itself.

    Parameters
    ----------
    stream : Stream or another table in parts
        The table.
    make : callable
        Returns empty statistics, or a tuple of them.
    resources : Resources
        Threads, or who runs tasks.

    Returns
    -------
    Statistics or tuple of Statistics
        Over all rows.

    Examples
    --------
    >>> import polars as pl
    >>> from fewer.contracts import Resources
    >>> from fewer.io import open_stream
    >>> from fewer.statistics import Ranges
    >>> stream = open_stream(pl.LazyFrame({"a": [1.0, 2.0, 4.0], "y": ["no", "yes", "no"]}), "y")
    >>> collect(stream, lambda: Ranges(1), Resources()).high
    array([4.])
    """
    whole: Any = None
    if not stream.travels:
        resources = resources.alone()
    parts = [(part,) for part in range(stream.n_parts)]
    for one in run_tasks(_read_part, parts, resources, shared=(stream, make), prefer="threads"):
        if whole is None:
            whole = one
            continue
        for into, new in zip(_as_tuple(whole), _as_tuple(one), strict=True):
            into.merge(new)
    return whole


def _read_part(shared: tuple[InParts, Callable[[], Any]], part: int) -> Any:
    stream, make = shared
    statistics, start = make(), 0
    for chunk in stream.chunks(part):
        for own in _as_tuple(statistics):
            own.add(chunk, part, start)
        start += chunk.n_samples
    return statistics


def _as_tuple(statistics: Any) -> tuple[Statistics, ...]:
    return statistics if isinstance(statistics, tuple) else (statistics,)
