"""The pictures of a selection's page: small SVGs drawn from plain data, in the colors of the page, light or dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any

from markupsafe import Markup

from fewer.text import cut, score_text

SHAPES = (
    "M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z",
    "M-3-3h6v6h-6z",
    "M0-4L3.7 2.8h-7.4z",
    "M0-4.2L3.6 0L0 4.2L-3.6 0z",
    "M-3.7-2.8h7.4L0 4z",
    "M-1.2-4h2.4v2.8h2.8v2.4h-2.8V4h-2.4V1.2h-2.8v-2.4h2.8z",
)
"""Markers of classes, so that color is never the only difference."""


Ends = tuple[float, float]
# Left, right, top and bottom; by default with room for axes.
Margins = tuple[float, float, float, float]
MARGINS = (52.0, 12.0, 12.0, 44.0)


def number(value: float) -> str:
    """Write a coordinate or a tick with few digits.

    Examples
    --------
    >>> number(3.14159), number(2.0), number(20000), number(1e-6)
    ('3.142', '2', '20,000', '1e-06')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


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

    def __init__(
        self, x: Ends, y: Ends, size: tuple[int, int] = (460, 320), margins: Margins = MARGINS, *, log: bool = False
    ) -> None:
        self.x, self.y, self.log = x, y, log
        self.width, self.height = size
        self.left, self.right, self.top, self.bottom = margins
        self.parts: list[Any] = []

    def px(self, value: float) -> float:
        """Return the place of a value on the x axis."""
        low, high, value = (math.log(v) if self.log else v for v in (*self.x, value))
        return self.left + (self.width - self.left - self.right) * (value - low) / ((high - low) or 1.0)

    def py(self, value: float) -> float:
        """Return the place of a value on the y axis."""
        (low, high), room = self.y, self.height - self.top - self.bottom
        return self.height - self.bottom - room * (value - low) / ((high - low) or 1.0)

    def points(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        """Write the places of points, as lines and polygons have them."""
        return " ".join(f"{at(self.px(x))},{at(self.py(y))}" for x, y in zip(xs, ys, strict=True))

    def band(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> None:
        """Fill what lies between two lines."""
        self.add("polygon", points=self.points([*xs, *xs[::-1]], [*high, *low[::-1]]), class_="band")

    def add(self, tag: str, text: Any = None, **attributes: Any) -> None:
        """Add one element; names with an underscore at the end or inside stand for `class` and hyphens."""
        end = Markup("/>") if text is None else Markup(">{}</{}>").format(text, tag)
        self.parts.append(_opened(tag, attributes) + end)

    def line(self, xs: Sequence[float], ys: Sequence[float], class_: str, **more: Any) -> None:
        """Add a line through points."""
        self.add("polyline", points=self.points(xs, ys), class_=class_, **more)

    def dot(self, x: float, y: float, radius: float, class_: str, **more: Any) -> None:
        """Add a circle."""
        self.add("circle", cx=self.px(x), cy=self.py(y), r=radius, class_=class_, **more)

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
            self.add("text", text, x=self.left - 9, y=place + 4, text_anchor="end")
        self.add("text", cut(x_label, 60), x=(self.left + end) / 2, y=self.height - 6, text_anchor="middle")
        middle = (self.top + bottom) / 2
        turned = f"rotate(-90 12 {at(middle)})"
        self.add("text", cut(y_label, 44), x=12, y=middle, text_anchor="middle", transform=turned)

    def svg(self, label: str, *, role: str = "img", class_: str = "plot", **more: Any) -> Markup:
        """Return the picture with its alternative text."""
        about = {"role": role, "aria_label": cut(label, 600), "class_": class_}
        about |= {"viewBox": f"0 0 {self.width} {self.height}", **more}
        return Markup("{}>{}</svg>").format(_opened("svg", about), Markup("").join(self.parts))


def _opened(tag: str, attributes: Mapping[str, Any]) -> Markup:
    """Write the beginning of an element, without the bracket that closes it."""
    written = {name: value if isinstance(value, str) else at(value) for name, value in attributes.items()
               if value is not None}  # fmt: skip
    pairs = (Markup(' {}="{}"').format(name.rstrip("_").replace("_", "-"), value) for name, value in written.items())
    return Markup(f"<{tag}") + Markup("").join(pairs)


# Height of the strip of a class, and where there are few classes.
LANE, TALL = 13, 18
WIDTH = 150
# Features up to which redundancy is written out, and its darkest shade: numbers stay readable on it.
NUMBERED, SHADE = 12, 0.45


def distribution_picture(name: str, summary: Mapping[str, Any], classes: Sequence[str]) -> Markup:
    """Draw the values of one feature: a strip for each class, or the target's quartiles along the feature.

    Parameters
    ----------
    name : str
        Of the feature.
    summary : dict
        As `fewer.evaluate` gives it.
    classes : list of str
        Their names.

    Returns
    -------
    Markup
        Inline SVG.
    """
    if "counts" in summary:
        return _lanes(name, summary, classes)
    return _quartile_band(name, summary) if "middle" in summary else Markup("")


def _lanes(name: str, summary: Mapping[str, Any], classes: Sequence[str]) -> Markup:
    counts = summary["counts"]
    step = TALL if len(counts) <= 3 else LANE
    n_bins, height = len(counts[0]), step * len(counts) + 2
    canvas = Canvas((0, n_bins), (0, 1), size=(WIDTH, height))
    shares = [[c / max(sum(heights), 1) for c in heights] for heights in counts]
    width = WIDTH / n_bins
    for lane, heights in enumerate(shares):
        top = max(heights) or 1.0
        base = step * (lane + 1)
        if "levels" in summary:
            bars = [(i, s) for i, s in enumerate(heights) if s]
            path = "".join(
                f"M{at(i * width + 1)} {base}v{at(-s / top * (step - 2))}h{at(width - 2)}V{base}z" for i, s in bars
            )
        else:
            steps = "".join(f"V{at(base - s / top * (step - 2))}h{at(width)}" for s in heights)
            path = f"M0 {base}{steps}V{base}z"
        canvas.add("path", d=path, class_=f"fill{lane % 6}")
        canvas.add("line", x1=0, x2=WIDTH, y1=base, y2=base, class_="base")
    return canvas.svg(_lanes_as_text(name, summary, classes), class_="small")


def _lanes_as_text(name: str, summary: Mapping[str, Any], classes: Sequence[str]) -> str:
    missing = f" {summary['missing']:,} missing." if summary.get("missing") else ""
    if "levels" in summary:
        often = [
            f"{cut(summary['levels'][class_counts.index(max(class_counts))], 30)} in {cut(label, 30)}"
            for label, class_counts in zip(classes, summary["counts"], strict=False)
            if sum(class_counts)
        ]
        return f"{cut(name, 60)} by class. Most frequent: {', '.join(often)}.{missing}"
    parts = [
        f"{number(m)} in {cut(label, 30)}"
        for label, m in zip(classes, summary.get("medians", ()), strict=False)
        if m is not None
    ]
    ends = f"from {number(summary['low'])} to {number(summary['high'])}"
    return f"{cut(name, 60)} by class, {ends}. Median: {', '.join(parts)}.{missing}"


def _quartile_band(name: str, summary: Mapping[str, Any]) -> Markup:
    known = [i for i, value in enumerate(summary["middle"]) if value is not None]
    low, high = min(summary["lower"][i] for i in known), max(summary["upper"][i] for i in known)
    margin = (high - low) * 0.08 or 1.0
    canvas = Canvas((0, len(summary["middle"])), (low - margin, high + margin), (WIDTH, 44), (2.0, 2.0, 2.0, 2.0))
    if "levels" in summary:
        for i in known:
            canvas.line([i + 0.5] * 2, [summary["lower"][i], summary["upper"][i]], "range0")
            canvas.line([i + 0.25, i + 0.75], [summary["middle"][i]] * 2, "line0")
    else:
        there = [i + 0.5 for i in known]
        canvas.band(there, *([summary[edge][i] for i in known] for edge in ("lower", "upper")))
        canvas.line(there, [summary["middle"][i] for i in known], "line0")
    first, last = summary["middle"][known[0]], summary["middle"][known[-1]]
    ends = f", from {number(summary['low'])} to {number(summary['high'])}" if "low" in summary else ""
    caption = f"The target against {cut(name, 60)}{ends}: median {number(first)} to {number(last)}."
    return canvas.svg(caption, class_="small")


def loss_picture(loss: Mapping[str, float], ends: tuple[float, float], caption: str) -> Markup:
    """Draw what is lost without a feature: a dot, its interval and zero."""
    canvas = _loss_canvas(ends)
    canvas.add("line", x1=canvas.px(0), x2=canvas.px(0), y1=1, y2=15, class_="zero")
    canvas.line([loss["low"], loss["high"]], [0.5, 0.5], "line0")
    canvas.dot(loss["loss"], 0.5, 3.5, "fill0")
    return canvas.svg(caption, class_="tiny")


def loss_places(loss: Mapping[str, float], ends: tuple[float, float]) -> list[float]:
    """Return where `loss_picture` draws the dot and the ends of its interval.

    Examples
    --------
    >>> loss_places({"loss": 0.5, "low": 0.0, "high": 1.0}, (0.0, 1.0))
    [48.0, 4.0, 92.0]
    """
    canvas = _loss_canvas(ends)
    return [round(canvas.px(loss[key]), 1) for key in ("loss", "low", "high")]


def _loss_canvas(ends: tuple[float, float]) -> Canvas:
    return Canvas(ends, (0, 1), (96, 16), (4.0, 4.0, 2.0, 2.0))


def curve_picture(curve: Mapping[str, Any]) -> Markup:
    """Draw the held-out score against size with its band, all features and the marked sizes.

    Parameters
    ----------
    curve : dict
        `sizes`, `scores`, `low`, `high`, `name`, `chosen`, `marks` (names of preferences by size), `all` (size and
        score of all features, or None), `answers` (sizes that can be looked at).

    Returns
    -------
    Markup
    """
    sizes, scores = curve["sizes"], curve["scores"]
    every = curve["all"]
    low, high = min(curve["low"]), max(curve["high"])
    if every:
        low, high = min(low, every["score"]), max(high, every["score"])
    margin = (high - low) * 0.06 or 0.02
    last = max(sizes[-1], every["size"] if every else 1)
    log = last > 16
    ends = (low - margin, high + margin)
    canvas = Canvas((1, max(last, 2)), ends, (640, 370), (72.0, 26.0, 62.0, 44.0), log=log)
    shown = sorted({1, last, *(s for s in (2, 5, 10, 20, 50, 100, 200, 500, 1000) if s < 0.75 * last)})
    canvas.axes("number of features", curve["title"], x_ticks=shown if log else None)
    canvas.band(sizes, curve["low"], curve["high"])
    if every:
        canvas.line([1, max(last, 2)], [every["score"]] * 2, "all")
        above = every["score"] > scores[0]
        y = canvas.py(every["score"]) + (-6 if above else 16)
        canvas.add("text", f"all {every['size']:,}", x=canvas.left + 8, y=y, class_="legend")
    canvas.line(sizes, scores, "line0")
    _marks(canvas, curve)
    for size, score in zip(sizes, scores, strict=True):
        known = size in curve["answers"]
        look = (5.0, "stop") if known else (2.5, "point")
        canvas.dot(size, score, *look, data_size=str(size) if known else None)
    if curve["chosen"] in sizes:
        canvas.dot(curve["chosen"], scores[sizes.index(curve["chosen"])], 8, "here", id="here")
    return canvas.svg(_curve_as_text(curve), id="curve")


def price_picture(stops: Sequence[Mapping[str, Any]], title: str) -> Markup | None:
    """Draw the score against what the features cost together; None where fewer than two sizes have both.

    Parameters
    ----------
    stops : sequence of dict
        `size`, `value` and `price` of each.
    title : str
        What the score is called.

    Returns
    -------
    Markup or None
    """
    known = sorted((s["price"], -s["value"], s["size"]) for s in stops if "price" in s and s["value"] is not None)
    if len({price for price, _, _ in known}) < 2:
        return None
    prices, losses, sizes = zip(*known, strict=True)
    scores = [-loss for loss in losses]
    margin = (max(scores) - min(scores)) * 0.12 or 0.02
    ends = (min(scores) - margin, max(scores) + margin)
    canvas = Canvas((min(0, *prices), max(prices)), ends, (640, 300), (72.0, 26.0, 12.0, 44.0))
    canvas.axes("price of all features together", title)
    tops = list(accumulate(scores, max))
    canvas.line([p for p in prices for _ in "xy"][1:], [top for top in tops for _ in "xy"][:-1], "line0")
    for place, (price, score) in enumerate(zip(prices, scores, strict=True)):
        canvas.dot(price, score, 4.0, "point")
        if not place or score > tops[place - 1] + 1e-9:
            at = {"x": canvas.px(price), "y": canvas.py(score) - 9, "text_anchor": "middle"}
            canvas.add("text", str(sizes[place]), **at, class_="legend")
    best, name = scores.index(tops[-1]), f"{title[:1].upper()}{title[1:]}"
    first, most = (f"{score_text(scores[i])} for {prices[i]:.4g}" for i in (0, best))
    return canvas.svg(f"{name} against price: {first}, highest {most} ({sizes[best]} features).")


def _marks(canvas: Canvas, curve: Mapping[str, Any]) -> None:
    """Name the marked sizes above the curve, in as many rows as keep the names apart."""
    taken = [-1e9] * 3
    for size in sorted(curve["marks"]):
        x, text = canvas.px(size), ", ".join(curve["marks"][size])
        width = 10.0 * len(text)
        start = min(max(x - width / 2, canvas.left - 8), canvas.width - 4 - width)
        row = next((i for i, end in enumerate(taken) if start > end), 2)
        taken[row] = start + width
        y = 17 + 18 * row
        canvas.add("line", x1=x, x2=x, y1=y + 4, y2=canvas.height - canvas.bottom, class_="mark")
        canvas.add("text", text, x=start + width / 2, y=y, text_anchor="middle")


def _curve_as_text(curve: Mapping[str, Any]) -> str:
    best = max(range(len(curve["scores"])), key=curve["scores"].__getitem__)
    every = curve["all"]
    title = curve["title"][:1].upper() + curve["title"][1:]
    text = f"{title} against the number of features: {score_text(curve['scores'][0])} with {curve['sizes'][0]}, "
    text += f"highest {score_text(curve['scores'][best])} with {curve['sizes'][best]}"
    if every:
        text += f", {score_text(every['score'])} with all {every['size']}"
    marks = "; ".join(f"{' and '.join(names)}: {size}" for size, names in sorted(curve["marks"].items()))
    return f"{text}. {marks}." if marks else f"{text}."


def _square(ends: Ends, x_label: str, y_label: str) -> Canvas:
    """Return a picture whose axes are alike, with its diagonal."""
    canvas = Canvas(ends, ends, (360, 340))
    canvas.axes(x_label, y_label)
    canvas.line(ends, ends, "all")
    return canvas


def roc_picture(parts: Sequence[tuple[str, Mapping[str, Any]]]) -> Markup:
    """Draw ROC curves of held-out rows, the chosen features first."""
    positive = cut(parts[0][1]["positive"], 24)
    canvas = _square((0, 1), "false positive rate", f"true positive rate ({positive})")
    for i, (_, roc) in enumerate(parts):
        canvas.line(roc["fpr"], roc["tpr"], f"line{i}")
    _legend(canvas, [f"{name}: AUC {score_text(roc['area'])}" for name, roc in parts])
    caption = ", ".join(f"{score_text(roc['area'])} with {name}" for name, roc in parts)
    return canvas.svg(f"ROC curves of held-out rows, looking for {positive}. Area: {caption}.")


def calibration_picture(parts: Sequence[tuple[str, Mapping[str, Any]]], of: str) -> Markup:
    """Draw the observed share against the predicted probability."""
    canvas = _square((0, 1), f"predicted probability of {of}", "observed share")
    for i, (_, curve) in enumerate(parts):
        canvas.line(curve["given"], curve["is"], f"line{i}")
        for x, y in zip(curve["given"], curve["is"], strict=True):
            canvas.shape(x, y, i, f"fill{i}")
    _legend(canvas, [name for name, _ in parts])
    gaps = []
    for name, curve in parts:
        gap = sum(n * abs(g - t) for g, t, n in zip(curve["given"], curve["is"], curve["n"], strict=True))
        gaps.append(f"{score_text(gap / (sum(curve['n']) or 1))} with {name}")
    return canvas.svg(f"Calibration on held-out rows, {of}. Mean calibration error: {', '.join(gaps)}.")


def _legend(canvas: Canvas, lines: Sequence[str]) -> None:
    for i, text in enumerate(lines):
        y = canvas.height - canvas.bottom - 12 - 18 * (len(lines) - 1 - i)
        x = canvas.width - canvas.right - 10
        canvas.add("text", text, x=x - 32, y=y, text_anchor="end", class_="legend")
        canvas.add("line", x1=x - 26, x2=x, y1=y - 4, y2=y - 4, class_=f"line{i}")


def truth_picture(name: str, points: Mapping[str, Any], score: str) -> Markup:
    """Draw predictions of held-out rows against what is."""
    both = [*points["truth"], *points["prediction"]]
    margin = (max(both) - min(both)) * 0.04 or 1.0
    canvas = _square((min(both) - margin, max(both) + margin), "actual value", f"predicted, {name}")
    for row, x, y in zip(points["row"], points["truth"], points["prediction"], strict=True):
        canvas.dot(x, y, 3.2, "row0", data_told=f"Row {row:,}: is {number(x)}, predicted {number(y)}.")
    return canvas.svg(f"Predicted against true values of {len(both) // 2} held-out rows with {name}. {score}")


def plane_picture(
    plane: Mapping[str, Any], classes: Sequence[str], wrong: Sequence[int], name: str = "plane"
) -> Markup:
    """Draw rows in two features over what the judge would say everywhere; each row can be asked for its number.

    Parameters
    ----------
    plane : dict
        As `fewer.evaluate` gives it.
    classes : list of str
        Labels by code; empty for a quantity.
    wrong : list of int
        Row numbers to mark.
    name : str
        The picture's own on its page.

    Returns
    -------
    Markup
    """
    canvas = Canvas(tuple(plane["x_ends"]), tuple(plane["y_ends"]), (560, 400), (72.0, 12.0, 12.0, 44.0))
    shades = [[int(v) % 6 if classes else _level_of(v, plane) for v in row] for row in plane["grid"]]
    for code in sorted({v for row in shades for v in row}):
        canvas.add("path", d=_cells(canvas, shades, code), class_=f"area{code}" if classes else f"heat{code}")
    names = plane["names"]
    canvas.axes(*names, x_ticks=_levels(plane, 0), y_ticks=_levels(plane, 1))
    marked = set(wrong)
    for i in sorted(range(len(plane["row"])), key=lambda i: plane["x"][i]):
        x, y, target, row = (plane[key][i] for key in ("x", "y", "target", "row"))
        kind = target % 6 if classes else _level_of(target, plane)
        label = cut(classes[target], 60) if classes else number(target)
        where = [f"{cut(names[axis], 60)} {_shown(plane, axis, value)}" for axis, value in enumerate((x, y))]
        ring = " wrong" if row in marked else ""
        caption = f"Row {row:,}: {label}; {', '.join(where)}{'. Always predicted wrongly.' if ring else '.'}"
        canvas.shape(x, y, kind if classes else 0, f"{'row' if classes else 'warm'}{kind}{ring}", data_told=caption)
    text = f"{len(plane['row'])} rows in {cut(names[0], 80)} and {cut(names[1], 80)}; the ground shows the "
    text += f"{'classes' if classes else 'values'} that the model predicts from these two."
    return canvas.svg(text, role="group", class_="plot rows", id=name)


def _levels(plane: Mapping[str, Any], axis: int) -> list[tuple[float, str]] | None:
    labels = plane["levels"][axis]
    return [(float(i), cut(label, 12)) for i, label in enumerate(labels)][:12] if labels else None


def _shown(plane: Mapping[str, Any], axis: int, value: float) -> str:
    labels = plane["levels"][axis]
    code = round(value)
    return cut(labels[code], 40) if labels and 0 <= code < len(labels) else number(value)


def _level_of(value: float, plane: Mapping[str, Any]) -> int:
    """Put a quantity into one of five levels, by the range of the rows."""
    low, high = min(plane["target"]), max(plane["target"])
    return min(max(int(5 * (value - low) / ((high - low) or 1.0)), 0), 4)


def _cells(canvas: Canvas, shades: Sequence[Sequence[int]], code: int) -> str:
    """Write the cells of one shade as runs along the rows."""
    high, wide = len(shades), len(shades[0])
    width = (canvas.width - canvas.left - canvas.right) / wide
    height = (canvas.height - canvas.top - canvas.bottom) / high
    path = []
    for i, row in enumerate(shades):
        y, start = canvas.height - canvas.bottom - (i + 1) * height, 0
        for shade, cells in groupby(row):
            n = len(list(cells))
            if shade == code:
                run = at(n * width)
                path.append(f"M{at(canvas.left + start * width)} {at(y)}h{run}v{at(height)}h-{run}z")
            start += n
    return "".join(path)


def interval_picture(rows: Sequence[Mapping[str, Any]], label: str, caption: str) -> Markup:
    """Draw scores with their intervals, one below the other.

    Parameters
    ----------
    rows : list of dict
        `name`, `score`, `low`, `high`, and `baseline`, whether it is something to compare with.
    label, caption : str
        What the scores are; the picture in words.

    Returns
    -------
    Markup
    """
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    margin = (high - low) * 0.04 or 0.02
    size = (530, 62 + 24 * len(rows))
    canvas = Canvas((low - margin, high + margin), (len(rows) - 0.5, -0.5), size, (266.0, 12.0, 12.0, 44.0))
    names = [(float(i), cut(row["name"], 32)) for i, row in enumerate(rows)]
    canvas.axes(label, "", y_ticks=names)
    for i, row in enumerate(rows):
        kind = int(row["baseline"])
        canvas.line([row["low"], row["high"]], [i, i], f"line{5 if kind else 0}")
        canvas.shape(row["score"], i, kind, f"row{5 if kind else 0}")
    return canvas.svg(caption)


def redundancy_picture(names: Sequence[str], values: Sequence[Sequence[float]], caption: str) -> Markup:
    """Draw how far features repeat each other, the darker the more, with numbers where there is room.

    Parameters
    ----------
    names : list of str
        Of the columns.
    values : square list of lists
        Between 0 and 1.
    caption : str
        The picture in words.

    Returns
    -------
    Markup
    """
    n = len(names)
    cell = 34 if n <= NUMBERED else 15
    size = (200 + n * cell, 34 + n * cell)
    canvas = Canvas((-0.5, n - 0.5), (n - 0.5, -0.5), size, (190.0, 10.0, 8.0, 26.0))
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            x, y = canvas.px(j), canvas.py(i)
            known = 0.0 if value is None else float(value)
            canvas.add(
                "rect", x=x - cell / 2, y=y - cell / 2, width=cell - 1.0, height=cell - 1.0, class_="fill0",
                opacity=f"{SHADE * known:.2f}",
            )  # fmt: skip
            if n <= NUMBERED:
                shown = "–" if value is None else f"{known:.2f}".removeprefix("0")
                canvas.add("text", shown, x=x, y=y + 4, text_anchor="middle", class_="legend")
    for i, name in enumerate(names):
        canvas.add("text", f"{cut(name, 22)} {i + 1}", x=182, y=canvas.py(i) + 4, text_anchor="end")
        canvas.add("text", str(i + 1), x=canvas.px(i), y=canvas.height - 10, text_anchor="middle")
    return canvas.svg(caption)


def key_of(kind: int, class_: str = "row") -> Markup:
    """Draw the marker of a class for a legend."""
    return Markup(
        '<svg class="key" viewBox="-5 -5 10 10" aria-hidden="true" focusable="false"><path class="{}{}" d="{}"/></svg>'
    ).format(class_, kind % 6, SHAPES[kind % 6 if class_ == "row" else 0])
