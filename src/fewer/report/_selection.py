"""The page of one selection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewer.api import Selection
from fewer.plots._sizes import FrequencyDisplay, SizeDisplay
from fewer.plots._style import COLORS, new_figure, style
from fewer.report._page import as_svg, render, write_page
from fewer.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 40


def write_selection_report(path: Path | str, selection: Selection, trace: Trace | None = None) -> Path:
    """Write the page of a selection to a file."""
    return write_page(path, selection_report(selection, trace))


def selection_report(selection: Selection, trace: Trace | None = None) -> str:
    """Give the page of a selection as one HTML text that needs nothing else."""
    pictures = []
    if trace is not None and len(trace.steps) > 1:
        pictures.append(_search_picture(selection, trace))
        pictures.append(_size_picture(selection, trace))
    if selection.frequency:
        pictures.append(_frequency_picture(selection))
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


def _size_picture(selection: Selection, trace: Trace) -> dict[str, Any]:
    with style():
        figure, ax = new_figure()
    display = SizeDisplay.from_trace(trace, score_name=selection.score_name).plot(ax)
    text = f"The best subset of each size that the search met; it chose {display.chosen} features."
    return _picture(figure, "How many features", text)


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
