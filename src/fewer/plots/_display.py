"""What all Displays share: `plot`, `ax_`, `figure_`, and a `from_estimator` that always draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from fewer.errors import InputError
from fewer.plots._style import axes_or_new, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        *args, **options
            As the display needs them. `ax` are the axes to draw on; new ones if left out.

        Returns
        -------
        display
            Drawn, with `ax_` and `figure_`.
        """
        raise InputError(f"{cls.__name__} is not made of an estimator.")

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones if left out.

        Returns
        -------
        self
        """
        with style():
            ax = axes_or_new(ax)
            self._draw(ax)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError


def figure_of(ax: Axes) -> Figure:
    """Return the figure that axes belong to."""
    figure = ax.get_figure()
    assert figure is not None
    return figure  # type: ignore[return-value]


__all__ = ["Display", "figure_of"]
