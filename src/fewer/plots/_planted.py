"""Rankings on trial: planted features against the chance line, and performance against the number of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.evaluate import Curves, PlantedCounts
from fewer.plots._display import Display
from fewer.plots._style import COLORS, LINES, MARKERS, axes_or_new, legend_beside, style, wrapped
from fewer.problem import FloatArray

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
            _lines(ax, sizes, dict(zip(counts.names, counts.mean, strict=True)))
            ax.axvline(counts.n_original, color="#444444", linewidth=0.8)
            ax.set_xlabel("leading features")
            ax.set_ylabel(wrapped(label))
            legend_beside(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class SizeCurvesDisplay(Display):
    """Area under the ROC curve against the number of leading features, a line for each ranker.

    Parameters
    ----------
    curves : Curves
        What `fewer.evaluate.size_curves` returns.
    evaluator : str
        Whose curves are drawn.
    beside : dict of str to array, optional
        Further mean curves by name.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        After `plot`.

    Examples
    --------
    >>> curves = Curves(np.array([1, 2]), {"SVM": {"Fisher": np.array([[0.8, 0.9]])}}, {})
    >>> SizeCurvesDisplay(curves, "SVM").plot().ax_.get_ylabel()
    'AUC on test rows (SVM)'
    """

    def __init__(self, curves: Curves, evaluator: str, *, beside: Mapping[str, Any] | None = None) -> None:
        self.curves = curves
        self.evaluator = evaluator
        self.beside = dict(beside or {})

    def plot(self, ax: Axes | None = None) -> SizeCurvesDisplay:
        with style():
            ax = axes_or_new(ax)
            _lines(ax, self.curves.sizes, {**self.curves.mean(self.evaluator), **self.beside}, markers=True)
            ax.set_xlabel("leading features")
            ax.set_ylabel(wrapped(f"AUC on test rows ({self.evaluator})"))
            legend_beside(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _lines(ax: Axes, x: Any, curves: Mapping[str, FloatArray], *, markers: bool = False) -> None:
    for number, (name, curve) in enumerate(curves.items()):
        ax.plot(
            x,
            curve,
            label=name,
            color=COLORS[number % len(COLORS)],
            linestyle=LINES[number % len(LINES)],
            marker=MARKERS[number % len(MARKERS)] if markers else None,
        )
