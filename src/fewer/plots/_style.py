"""What all pictures share: one look, readable in grey with legends beside the data, and the base of the Displays."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fewer.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colors of lines and classes, ordered so that neighbors differ in lightness too.
COLORS = ("#1b4f72", "#d9822b", "#6aa84f", "#a33a3a", "#7b68a6", "#8c8c8c", "#3aa6a6", "#c2a83e")

# Markers of classes, so that color is never the only difference.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

# Line styles, in the order of the colors.
LINES = ("-", "--", "-.", ":")

# For quantities: its lightness only grows, so it survives a grey printer.
SEQUENTIAL = "cividis"

# For quantities on both sides of zero.
DIVERGING = "RdYlBu"

# Sizes, grids and fonts, as matplotlib reads them.
STYLE = Path(__file__).with_name("fewer.mplstyle")


def refuse_without_matplotlib() -> None:
    """Refuse to draw where matplotlib is not installed; pages draw most of their pictures without it."""
    if find_spec("matplotlib") is None:
        raise InputError("Pictures need matplotlib: pip install 'fewer[plots]'.")


@contextmanager
def style() -> Iterator[None]:
    """Draw in the house style inside the block."""
    refuse_without_matplotlib()
    import matplotlib.style as mpl_style
    from cycler import cycler

    with mpl_style.context([STYLE, {"axes.prop_cycle": cycler(color=COLORS)}]):
        yield


def new_figure(
    n_rows: int = 1, n_columns: int = 1, *, size: tuple[float, float] = (4.6, 3.2), **subplots: Any
) -> tuple[Figure, Any]:
    """Make a figure without a window and its axes; `size` is that of one panel in inches.

    Call it inside `style()`. A single panel comes as `Axes`, several as an array, as in `matplotlib.pyplot.subplots`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] * n_columns, size[1] * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, **subplots)


def legend_beside(axes: Axes, **options: Any) -> None:
    """Put the legend to the right of the data."""
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), **options)


def legend_below(axes: Axes, **options: Any) -> None:
    """Put the legend below the data, where the picture must stay narrow."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), **{"ncols": 2, **options})


def axes_or_new(axes: Axes | None) -> Axes:
    """Return these axes, or new ones in a window, as scikit-learn's displays do."""
    if axes is not None:
        return axes
    refuse_without_matplotlib()
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def wrapped(label: str, width: int = 34) -> str:
    """Break a long label into lines, so that it does not run out of its figure.

    Examples
    --------
    >>> wrapped("held-out accuracy, the mean over many classes").count(chr(10))
    1
    """
    return "\n".join(textwrap.wrap(label, width, break_long_words=True)) or label


class Display:
    """A picture that knows its data.

    A display says in `_draw` how it is drawn; where it can be made of a fitted estimator, `from_estimator` draws it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        After it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from fewer.plots import RelevanceDisplay
    >>> display = RelevanceDisplay({"a model": np.array([0.7, 0.3])}).plot()
    >>> display.figure_ is display.ax_.figure
    True
    """

    ax_: Any = None
    figure_: Any = None

    @classmethod
    def from_estimator(cls, estimator: Any, *args: Any, **options: Any) -> Self:
        """Draw what a fitted estimator knows.

        Parameters
        ----------
        estimator : fitted estimator
            Fitted.
        *args, **options
            As the display needs them. `ax` are the axes to draw on; new ones if left out.

        Returns
        -------
        display
            Drawn, with `ax_` and `figure_`.
        """
        raise InputError(f"{cls.__name__} is not made of an estimator.")

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones if left out.
        **options
            What the display lets you choose about the drawing; its own text names it.

        Returns
        -------
        self
        """
        with style():
            self.ax_ = axes_or_new(ax)
            self._draw(self.ax_, **options)
        self.figure_ = figure_of(self.ax_)
        return self

    def _draw(self, ax: Axes, *args: Any, **options: Any) -> None:
        raise NotImplementedError


def figure_of(ax: Axes) -> Figure:
    """Return the figure that axes belong to."""
    figure = ax.get_figure()
    assert figure is not None
    return figure  # type: ignore[return-value]
