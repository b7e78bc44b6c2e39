"""What a reader of the page should worry about: what the input reader noticed, and what the numbers say."""

from __future__ import annotations

from fewer.report._text import cut
from fewer.selection import Selection

RARE = 30
"""Rows of a class below which it counts as rare."""
SELDOM = 0.5
"""Share of the repetitions below which a chosen feature hardly returns."""
COPY = 0.95
"""Correlation from which on two features count as copies of each other."""
MANY = 0.05
"""Share of missing cells that is told."""


def worries(selection: Selection) -> list[str]:
    """Return sentences, what the reader of the table noticed first.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    list of str
    """
    found = [*selection.warnings, *_missing(selection), *_rare(selection), *_seldom(selection), *_copies(selection)]
    return list(dict.fromkeys([*found, *selection.evidence.get("untold", ())]))


def _missing(selection: Selection) -> list[str]:
    cells = selection.n_rows * selection.n_features
    n = selection.data.get("missing_cells", 0)
    if not cells or n < MANY * cells:
        return []
    columns = [column for column in selection.data.get("columns", ()) if column.get("missing")]
    worst = max(columns, key=lambda column: column["missing"], default=None)
    most = f", most in {cut(worst['name'], 60)} ({worst['missing']:.0%})" if worst else ""
    return [f"{n:,} cells are missing ({n / cells:.0%}){most}."]


def _rare(selection: Selection) -> list[str]:
    small = {label: n for label, n in selection.data.get("classes", {}).items() if n < RARE}
    if not small:
        return []
    told = ", ".join(f"{cut(label, 40)} ({n})" for label, n in list(small.items())[:6])
    more = f" and {len(small) - 6} more" if len(small) > 6 else ""
    return [f"Classes with fewer than {RARE} rows: {told}{more}. What is said of them rests on little."]


def _seldom(selection: Selection) -> list[str]:
    if not selection.frequency:
        return []
    names = [name for name in selection.features if selection.frequency.get(name, 0.0) < SELDOM]
    if not names:
        return []
    told = ", ".join(cut(name, 60) for name in names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    one = len(names) == 1
    return [
        f"{told} {'returns' if one else 'return'} in fewer than half of the repetitions: "
        f"{'it is one of several choices' if one else 'each is one of several choices'} that do about as well."
    ]


def _copies(selection: Selection) -> list[str]:
    names, values = selection.redundancy.get("names", []), selection.redundancy.get("values", [])
    pairs = [
        f"{cut(names[i], 40)} and {cut(names[j], 40)}"
        for i in range(len(names))
        for j in range(i)
        if values[i][j] is not None and values[i][j] >= COPY
    ]
    if not pairs:
        return []
    more = f" and {len(pairs) - 4} more pairs" if len(pairs) > 4 else ""
    return [f"Chosen features that nearly repeat each other: {'; '.join(pairs[:4])}{more}."]


__all__ = ["worries"]
