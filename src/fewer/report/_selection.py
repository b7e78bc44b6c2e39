"""The page of one selection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.plots import FrequencyDisplay, RedundancyDisplay, SearchCurveDisplay, SizeDisplay
from fewer.plots._sizes import short
from fewer.plots._style import COLORS, new_figure, style
from fewer.report._page import as_svg, render, write_page
from fewer.selection import Selection
from fewer.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 40


def write_selection_report(path: Path | str, selection: Selection, trace: Trace | None = None) -> Path:
    """Write the page of a selection to a file."""
    return write_page(path, selection_report(selection, trace))


def selection_report(selection: Selection, trace: Trace | None = None) -> str:
    """Return the page of a selection as one HTML text that needs nothing else.

    Parameters
    ----------
    selection : Selection
    trace : Trace, optional
        Of its search; without it the page leaves out how the search went.
    """
    pictures = []
    if trace is not None and "validation" in trace.extra:
        pictures.append(_stopping_picture(selection, trace))
    if trace is not None and len(trace.steps) > 1:
        pictures.append(_search_picture(selection, trace))
    if (sizes := _sizes(selection, trace)) is not None and len(sizes.sizes) > 1:
        pictures.append(_size_picture(sizes))
    if selection.frequency:
        pictures.append(_frequency_picture(selection))
    if 2 <= len(selection.redundancy.get("names", ())) <= SHOWN:
        pictures.append(_redundancy_picture(selection.redundancy))
    often = {name: share for name, share in selection.frequency.items() if name not in selection.features}
    return render(
        "selection.html",
        selection=selection,
        features=selection.features[: 5 * SHOWN],
        n_hidden=max(len(selection.features) - 5 * SHOWN, 0),
        runners_up=list(often.items())[:10],
        classes=list(selection.data.get("classes", {}).items())[:20],
        set_aside=selection.set_aside[:SHOWN],
        pictures=pictures,
    )


def _search_picture(selection: Selection, trace: Trace) -> dict[str, Any]:
    with style():
        figure, ax = new_figure()
        asked = [max(step.n_evaluations, 1) for step in trace.steps]
        ax.plot(asked, [step.score for step in trace.steps], color=COLORS[5], linestyle="--", label="where it stood")
        ax.plot(asked, [step.best_score for step in trace.steps], color=COLORS[0], label="best so far")
        if selection.score_heldout is not None:
            ax.axhline(selection.score_heldout, color=COLORS[1], linestyle=":", label="on held-out rows")
        ax.set(xlabel="subsets scored", ylabel=selection.score_name)
        if asked[-1] > 50 * max(asked[0], 1):
            ax.set_xscale("log")
        ax.legend(loc="best")
    last = trace.steps[-1]
    text = (
        f"The search went from {trace.steps[0].score:.4f} to {last.best_score:.4f} "
        f"while it scored {last.n_evaluations:,} subsets."
    )
    return _picture(figure, "How the search went", text)


def _stopping_picture(selection: Selection, trace: Trace) -> dict[str, Any]:
    with style():
        figure, ax = new_figure()
    display = SearchCurveDisplay.from_trace(trace, score_name=selection.score_name).plot(ax)
    held_out = display.validation
    text = (
        f"Averaged over searches on parts of the rows: training rows end at {display.training[-1]:.4f}, "
        f"rows left out peak at {held_out.max():.4f} and end at {held_out[-1]:.4f}."
    )
    if display.stop is not None:
        text += f" Smoothed, rows left out do best around step {display.stop} of {len(held_out) - 1}."
    return _picture(figure, "When to stop", text)


def _sizes(selection: Selection, trace: Trace | None) -> SizeDisplay | None:
    """Return the curve that the selection carries, or else what its trace tells of it."""
    if selection.sizes:
        return SizeDisplay.from_curve(selection.sizes, len(selection.features), score_name=selection.score_name)
    if trace is not None and trace.steps:
        return SizeDisplay.from_trace(trace, score_name=selection.score_name)
    return None


def _size_picture(display: SizeDisplay) -> dict[str, Any]:
    with style():
        figure, ax = new_figure()
    display.plot(ax)
    text = f"The best found of each size; {display.chosen} features were chosen."
    if display.smallest is not None:
        error = f" ({display.standard_error:.4f})" if isinstance(display.standard_error, float) else ""
        text += f" {display.smallest} are the fewest within one standard error{error} of the best."
    return _picture(figure, "How many features", text)


def _redundancy_picture(redundancy: Mapping[str, Any]) -> dict[str, Any]:
    names, values = list(redundancy["names"]), np.array(redundancy["values"], dtype=np.float64)
    with style():
        side = max(3.0, 1.4 + 0.2 * len(names))
        figure, ax = new_figure(size=(side + 0.8, side))
    RedundancyDisplay(names, values).plot(ax)
    i, j = np.unravel_index(np.argmax(values - np.eye(len(names)), axis=None), values.shape)
    text = (
        f"Absolute rank correlation, or its like for nominal features. Most alike: {short(names[i])} and "
        f"{short(names[j])} ({values[i, j]:.2f}); at 1 one of the two could be left out."
    )
    return _picture(figure, "How far the chosen features repeat each other", text)


def _frequency_picture(selection: Selection) -> dict[str, Any]:
    names = list(dict.fromkeys([*selection.features, *selection.frequency]))[:SHOWN]
    names.sort(key=lambda name: -selection.frequency.get(name, 0.0))
    with style():
        figure, ax = new_figure(size=(4.6, 0.8 + 0.2 * len(names)))
    chosen = [name in selection.features for name in names]
    FrequencyDisplay(names, [selection.frequency.get(name, 0.0) for name in names], chosen).plot(ax)
    text = (
        f"The selection was repeated without each of {selection.heldout['n_folds']} folds. "
        "Filled bars are the chosen features."
    )
    return _picture(figure, "How sure of each feature", text)


def _picture(figure: Figure, title: str, text: str) -> dict[str, Any]:
    return {"title": title, "text": text, "svg": as_svg(figure, f"{title}. {text}")}
