"""Training and validation curves as text, for a search that is being watched."""

from __future__ import annotations

from collections.abc import Sequence

TRAINING, VALIDATION, BOTH = "·", "█", "▓"


def render_curves(train: Sequence[float], validation: Sequence[float], width: int, height: int) -> str:
    """Draw two curves over the steps of a search, scores in percent on the left.

    Steps beyond the width are averaged into columns. Axis and legend are among the `height` lines. Empty if there is
    nothing to draw or too little room.

    Examples
    --------
    >>> print(render_curves([0.5, 0.6, 0.8, 0.9, 1.0], [0.5, 0.6, 0.7, 0.6, 0.5], width=36, height=7))
    100.0 ┤    ·
     87.5 ┤   ·
     75.0 ┤  ▓
     62.5 ┤ ▓ █
     50.0 ┤▓   █
          └─────
           step 0–4   · training   █ validation
    """
    train, validation = [float(v) for v in train], [float(v) for v in validation]
    finite = [v for v in (*train, *validation) if v == v]
    if not finite or height < 4 or width < 20:
        return ""
    rows, columns = height - 2, min(width - 8, max(len(train), len(validation)))
    low, high = min(finite), max(finite)
    if high - low < 1e-9:
        low, high = low - 0.01, high + 0.01
    training, held_out = (_lines(curve, columns, low, high, rows) for curve in (train, validation))
    picture = []
    for row in range(rows - 1, -1, -1):
        label = 100 * (low + (high - low) * row / (rows - 1))
        cells = "".join(
            BOTH if t == row and v == row else VALIDATION if v == row else TRAINING if t == row else " "
            for t, v in zip(training, held_out, strict=True)
        )
        picture.append(f"{label:5.1f} ┤{cells}".rstrip())
    last = max(len(train), len(validation)) - 1
    picture.append("      └" + "─" * columns)
    picture.append(f"       step 0–{last}   {TRAINING} training   {VALIDATION} validation")
    return "\n".join(picture)


def _lines(curve: Sequence[float], columns: int, low: float, high: float, rows: int) -> list[int]:
    """Return the line on which a curve stands in each column, −1 where there is none."""
    out = []
    for column in range(columns):
        first = column * len(curve) // columns if len(curve) > columns else column
        last = (column + 1) * len(curve) // columns if len(curve) > columns else column + 1
        part = [v for v in curve[first:last] if v == v]
        out.append(round((sum(part) / len(part) - low) / (high - low) * (rows - 1)) if part else -1)
    return out
