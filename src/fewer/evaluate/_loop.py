"""One loop over parts of the rows for every evaluation: what is done is kept, what is left runs, here or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fewer.contracts import Resources, Stopped
from fewer.parallel import run_tasks

Record = dict[str, Any]
"""What was measured on one part: plain JSON data, so that it can be kept and read again."""
LEAST = 2
"""Parts that are measured at least, whoever has seen enough: one has no spread."""


def each_part(
    measure: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    resources: Resources,
    *,
    shared: Any,
    done: Iterable[Any] = (),
    on_record: Callable[[list[Any]], None] | None = None,
    ordered: bool = True,
) -> list[Any]:
    """Measure the parts that are left, and hand each record on as soon as it is there.

    Parameters
    ----------
    measure : callable
        `measure(shared, *task)` returns the record of one part. It depends on the task alone, never on what was
        measured before, so that records are the same in any order and on any machine.
    tasks : sequence of tuples
        Those that are not done yet.
    resources : Resources
        With one job they run in this process, one after the other; otherwise wherever the resources say.
    shared : object
        What every task needs: the rows, the splits, the selection.
    done : iterable of records, default=()
        Of an interrupted call.
    on_record : callable, optional
        Called with all records so far after each of them: keeps them, reports them. If it raises `Stopped`, the
        records so far are the answer, but two at least.
    ordered : bool, default=True
        Whether records come in the order of the tasks.

    Returns
    -------
    list of records
        Those that were done, then the others.

    Examples
    --------
    >>> each_part(lambda shared, k: shared[k], [(1,), (2,)], Resources(), shared="abc", done=["a"])
    ['a', 'b', 'c']
    """
    records = list(done)
    for record in run_tasks(measure, tasks, resources, shared=shared, ordered=ordered):
        records.append(record)
        try:
            if on_record is not None:
                on_record(records)
        except Stopped:
            if len(records) >= LEAST:
                break
    return records
