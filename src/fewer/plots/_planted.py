"""Rankings on trial: planted features against the chance line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewer.evaluate import PlantedCounts
from fewer.plots._style import COLORS, LINES, Display, axes_or_new, legend_beside, style, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PlantedDisplay(Display):
    """How many planted features are among the first of each ranking, with the chance line.

    The grey band holds one random order with 90 % probability; the vertical line marks as many features as there were.

    Parameters
    ----------
    counts : PlantedCounts
        What `fewer.evaluate.planted_counts` returns.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        After `plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.evaluate import planted_counts
    >>> from fewer.problem import Problem
    >>> from fewer.rankers import Fisher
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> counts = planted_counts({"Fisher": Fisher()}, problem, irrelevant=6, rng=np.random.default_rng(0))
    >>> PlantedDisplay(counts).plot().ax_.get_xlabel()
    'leading features'
    """

    def __init__(self, counts: PlantedCounts) -> None:
        self.counts = counts

    def plot(self, ax: Axes | None = None, *, label: str = "planted features among them") -> PlantedDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones if left out.
        label : str
            The name of the vertical axis.

        Returns
        -------
        self
        """
        counts = self.counts
        sizes = np.arange(1, counts.kept.shape[2] + 1)
        with style():
            ax = axes_or_new(ax)
            low, high = counts.chance_band()
            ax.fill_between(sizes, low, high, color="#dddddd", linewidth=0, label="chance (90 %)")
            ax.plot(sizes, counts.chance, color="#777777", linestyle=":", label="chance (mean)")
            for number, (name, curve) in enumerate(zip(counts.names, counts.mean, strict=True)):
                color, line = COLORS[number % len(COLORS)], LINES[number % len(LINES)]
                ax.plot(sizes, curve, label=name, color=color, linestyle=line)
            ax.axvline(counts.n_original, color="#444444", linewidth=0.8)
            ax.set_xlabel("leading features")
            ax.set_ylabel(wrapped(label))
            legend_beside(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self
