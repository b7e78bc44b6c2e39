"""What every sum over rows can do, and how a table is passed through it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np

from fewer.io import PartWork, Stream
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

    summed: ClassVar[tuple[str, ...]] = ()
    """Attributes that are added up where two are merged."""
    has_ends: ClassVar[bool] = False
    """Whether there are `low` and `high`, the smallest and the largest of something."""

    def merge(self: S, other: S) -> None:
        """Add what another one of the same kind has summed over other rows.

        Parameters
        ----------
        other : Statistics
            Made with the same parameters.
        """
        mine, theirs = vars(self), vars(other)
        for name in self.summed:
            mine[name] += theirs[name]
        if self.has_ends:
            mine["low"], mine["high"] = np.minimum(mine["low"], theirs["low"]), np.maximum(mine["high"], theirs["high"])

    def __iadd__(self: S, other: S) -> S:
        self.merge(other)
        return self


class InParts(Protocol):
    """Rows that are read part by part: a `Stream`, or what is made of one."""

    @property
    def stream(self) -> Stream:
        """Where the parts lie, what is read of them, and how many rows at a time."""

    def problems(self, part: int, frames: Iterator[Any]) -> Iterator[Problem]:
        """Turn frames of a part into problems."""

    def sent(self) -> InParts:
        """Return the same without its source, for whoever gets the frames of a part."""


class _Collecting(PartWork):
    """Statistics of a part, how they merge, and what is made of them."""

    def __init__(self, table: InParts, make: Callable[[], Any], finish: Callable[[Any], Any] | None) -> None:
        self.columns, self.n_rows = table.stream.columns, table.stream.chunk_rows
        self._table, self._make, self._finish = table.sent(), make, finish

    def read(self, part: int, frames: Iterator[Any]) -> Any:
        statistics, start = self._make(), 0
        for chunk in self._table.problems(part, frames):
            for statistic in _as_tuple(statistics):
                statistic.add(chunk, part, start)
            start += chunk.n_samples
        return statistics

    def merge(self, into: Any, other: Any) -> Any:
        for statistic, new in zip(_as_tuple(into), _as_tuple(other), strict=True):
            statistic.merge(new)
        return into

    def finish(self, result: Any) -> Any:
        return result if self._finish is None else self._finish(result)


def collect(
    stream: InParts | Problem, make: Callable[[], Any], resources: Resources, finish: Callable[[Any], Any] | None = None
) -> Any:
    """Pass a table through statistics: one (or a tuple) for each part, neighbors merged pairwise where they lie.

    Parameters
    ----------
    stream : Stream, another table in parts, or Problem
        The table; one in memory is a stream of one chunk.
    make : callable
        Returns empty statistics, or a tuple of them.
    resources : Resources
        Threads, or who runs tasks.
    finish : callable, optional
        Makes what is returned of the statistics, where they lie: large ones need not travel.

    Returns
    -------
    Statistics or tuple of Statistics
        Over all rows; or what `finish` makes of them.

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
    if isinstance(stream, Problem):
        statistics = make()
        for statistic in _as_tuple(statistics):
            statistic.add(stream)
        return statistics if finish is None else finish(statistics)
    return stream.stream.source.reduce(_Collecting(stream, make, finish), resources)


def _as_tuple(statistics: Any) -> tuple[Statistics, ...]:
    return statistics if isinstance(statistics, tuple) else (statistics,)
