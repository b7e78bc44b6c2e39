"""What cannot be read in a table: all of it at once, each with its place."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from fewer.errors import InputError

MOST = 20


@dataclass(frozen=True)
class ParseProblem:
    """A column of which some cells cannot be read.

    Parameters
    ----------
    column, place, cell : str
        The first such cell.
    count : int
        How many there are.
    trouble : str
        What is wrong, in a few words.
    message : str
        The same with its cure, where it is the only problem.
    is_target : bool
        The target cannot be left out.

    Examples
    --------
    >>> ParseProblem("age", "row 3", "4O", 1, "is no number", "Column 'age' has '4O' in row 3.").count
    1
    """

    column: str
    place: str
    cell: str
    count: int
    trouble: str
    message: str
    is_target: bool = False


class TableError(InputError):
    """A table with cells that cannot be read: `problems` lists them all, `table` shows them as lines.

    Parameters
    ----------
    problems : sequence of ParseProblem
        One or more.

    Examples
    --------
    >>> trouble = ParseProblem("age", "row 3", "4O", 1, "is no number", "Column 'age' has '4O' in row 3.")
    >>> str(TableError([trouble]))
    "Column 'age' has '4O' in row 3."
    """

    def __init__(self, problems: Sequence[ParseProblem]) -> None:
        self.problems = tuple(problems)
        self.table = () if len(problems) == 1 else tuple(_lines(problems))
        super().__init__(problems[0].message if len(problems) == 1 else "\n".join(self.table))


def _lines(problems: Sequence[ParseProblem]) -> list[str]:
    rows = [("column", "where", "cells", "first cell", "trouble")]
    rows += [
        (_short(p.column, 20), p.place, str(p.count), _short(repr(p.cell), 16), p.trouble) for p in problems[:MOST]
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    shown = ["  " + "  ".join([*map(str.ljust, row[:4], widths), row[4]]) for row in rows]
    if len(problems) > MOST:
        shown.append(f"  … and {len(problems) - MOST} more")
    cells = list(dict.fromkeys(p.cell for p in problems if p.cell and len(p.cell) <= 12 and "," not in p.cell))[:4]
    names = [p.column for p in problems if "," not in p.column and not p.is_target][:4]
    cures = ["correct or empty the cells"]
    if cells:
        cures.append(f"name what means missing (--missing {shlex.quote(','.join(cells))})")
    if names:
        cures.append(f"leave columns out (--exclude {shlex.quote(','.join(names))})")
    return [f"{len(problems)} columns cannot be read:", *shown, f"  Cures: {', or '.join(cures)}."]


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
