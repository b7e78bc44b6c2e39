"""Small pictures as SVG in the colors of the page: they follow light, dark and paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from fewer.report._text import cut

SHAPES = (
    "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z",
    "M-3-3h6v6h-6z",
    "M0-4L3.7 2.8h-7.4z",
    "M0-4.2L3.6 0L0 4.2L-3.6 0z",
    "M-3.7-2.8h7.4L0 4z",
    "M-1.2-4h2.4v2.8h2.8v2.4h-2.8V4h-2.4V1.2h-2.8v-2.4h2.8z",
)
"""Markers of classes, so that color is never the only difference."""


def number(value: float) -> str:
    """Write a coordinate or a tick with few digits.

    Examples
    --------
    >>> number(3.14159), number(2.0), number(1234567)
    ('3.142', '2', '1.235e+06')
    """
    return f"{value:.4g}"


def at(value: float) -> str:
    """Write a coordinate to a tenth of a point."""
    return f"{value:.1f}".removesuffix(".0")


def ticks(low: float, high: float, n: int = 5) -> list[float]:
    """Return round numbers between two ends.

    Examples
    --------
    >>> ticks(0.0, 1.0), ticks(3.0, 97.0)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [20.0, 40.0, 60.0, 80.0])
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    raw = (high - low) / n
    base = 10.0 ** math.floor(math.log10(raw))
    step = next((m * base for m in (1, 2, 5, 10) if m * base >= raw * 0.999), 10 * base)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


class Canvas:
    """A picture with two axes that grows element by element."""

    left, bottom, top, right = 52.0, 44.0, 12.0, 12.0

    def __init__(
        self, x: tuple[float, float], y: tuple[float, float], *, size: tuple[int, int] = (460, 320), log: bool = False
    ) -> None:
        self.x, self.y, self.log = x, y, log
        self.width, self.height = size
        self.parts: list[Any] = []

    def px(self, value: float) -> float:
        """Return the place of a value on the x axis."""
        low, high, value = (math.log(v) if self.log else v for v in (*self.x, value))
        return self.left + (self.width - self.left - self.right) * (value - low) / ((high - low) or 1.0)

    def py(self, value: float) -> float:
        """Return the place of a value on the y axis."""
        low, high = self.y
        return (
            self.height - self.bottom - (self.height - self.top - self.bottom) * (value - low) / ((high - low) or 1.0)
        )

    def add(self, tag: str, text: Any = None, **attributes: Any) -> None:
        """Add one element; names with an underscore at the end or inside stand for `class` and hyphens."""
        written = "".join(
            f' {name.rstrip("_").replace("_", "-")}="{escape(value if isinstance(value, str) else at(value))}"'
            for name, value in attributes.items()
            if value is not None
        )
        inner = "" if text is None else escape(text)
        self.parts.append(Markup(f"<{tag}{written}>{inner}</{tag}>" if text is not None else f"<{tag}{written}/>"))

    def line(self, xs: Sequence[float], ys: Sequence[float], class_: str, **more: Any) -> None:
        """Add a line through points."""
        points = " ".join(f"{at(self.px(x))},{at(self.py(y))}" for x, y in zip(xs, ys, strict=True))
        self.add("polyline", points=points, class_=class_, **more)

    def shape(self, x: float, y: float, kind: int, class_: str, **more: Any) -> None:
        """Add a marker."""
        place = f"translate({at(self.px(x))} {at(self.py(y))})"
        self.add("path", d=SHAPES[kind % len(SHAPES)], transform=place, class_=class_, **more)

    def axes(
        self, x_label: str, y_label: str, *, x_ticks: Sequence[Any] | None = None, y_ticks: Sequence[Any] | None = None
    ) -> None:
        """Draw grid, ticks and labels; a tick is a number, or a number with its text."""
        bottom, end = self.height - self.bottom, self.width - self.right
        for tick in ticks(*self.x) if x_ticks is None else x_ticks:
            value, text = tick if isinstance(tick, tuple) else (tick, number(tick))
            place = self.px(value)
            self.add("line", x1=place, x2=place, y1=self.top, y2=bottom, class_="grid")
            self.add("text", text, x=place, y=bottom + 16, text_anchor="middle")
        for tick in ticks(*self.y) if y_ticks is None else y_ticks:
            value, text = tick if isinstance(tick, tuple) else (tick, number(tick))
            place = self.py(value)
            self.add("line", x1=self.left, x2=end, y1=place, y2=place, class_="grid")
            self.add("text", text, x=self.left - 6, y=place + 4, text_anchor="end")
        self.add("text", cut(x_label, 60), x=(self.left + end) / 2, y=self.height - 6, text_anchor="middle")
        middle = (self.top + bottom) / 2
        self.add(
            "text", cut(y_label, 44), x=12, y=middle, text_anchor="middle", transform=f"rotate(-90 12 {at(middle)})"
        )

    def svg(self, label: str, *, role: str = "img", class_: str = "plot", **more: Any) -> Markup:
        """Return the picture with its alternative text."""
        inner = self.parts
        self.parts = []
        self.add(
            "svg", role=role, aria_label=cut(label, 600), class_=class_, viewBox=f"0 0 {self.width} {self.height}",
            **more,
        )  # fmt: skip
        opening = Markup(str(self.parts.pop())[:-2] + ">")  # nothing in it but what `add` escaped
        self.parts = inner
        return opening + Markup("").join(inner) + Markup("</svg>")


__all__ = ["SHAPES", "Canvas", "at", "number", "ticks"]
