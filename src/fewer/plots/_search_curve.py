"""Training and validation curves of a search, and where it was stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.errors import InputError
from fewer.plots._display import Display
from fewer.plots._style import COLORS, axes_or_new, legend_below, style, wrapped
from fewer.problem import FloatArray
from fewer.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class SearchCurveDisplay(Display):
    """Score after each step of the validation runs of `EarlyStopping`, and the stopping point.

    Parameters
    ----------
    training, validation : arrays
        Averaged over the validation runs, one score a step, the start first.
    smoothed : array, optional
        Moving average of `validation`, NaN where the window is not full.
    stop : int, optional
    score_name, step_name : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import fewer
    >>> X, y, _ = fewer.datasets.make_rdg1(60, 10, 5, random_state=0)
    >>> control = fewer.control.EarlyStopping(cv=3)
    >>> search = fewer.search.Annealing(levels=10, answer="final")
    >>> selector = fewer.SubsetSelector(search=search, control=control, random_state=0).fit(X, y)
    >>> SearchCurveDisplay.from_estimator(selector).validation.shape
    (11,)
    """

    training: FloatArray
    validation: FloatArray
    smoothed: FloatArray | None = None
    stop: int | None = None
    score_name: str = "score"
    step_name: str = "step of the search"

    @classmethod
    def from_trace(cls, trace: Trace, **options: Any) -> SearchCurveDisplay:
        """Take the curves that `EarlyStopping` left in a trace.

        Parameters
        ----------
        trace : Trace
            Of a run under `EarlyStopping`.
        **options : as for `SearchCurveDisplay`
            Such as names of the axes.

        Returns
        -------
        SearchCurveDisplay
            Not drawn yet; call `plot`.
        """
        if "validation" not in trace.extra:
            raise InputError("This run has no validation curve; run the search under EarlyStopping.")
        stop = int(trace.extra["stop"][0]) if "stop" in trace.extra else None
        return cls(
            trace.extra["training"], trace.extra["validation"], trace.extra.get("smoothed"), stop, **options
        )  # fmt: skip

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, **options: Any) -> SearchCurveDisplay:
        """Draw the curves of a fitted selector or weighter.

        Parameters
        ----------
        estimator : fitted selector or weighter
            Under `EarlyStopping`.
        ax : matplotlib Axes, optional
            New ones if left out.
        **options : as for `SearchCurveDisplay`
            Such as names of the axes.

        Returns
        -------
        SearchCurveDisplay
            Drawn.
        """
        return cls.from_trace(estimator.trace_, **options).plot(ax)

    def plot(self, ax: Axes | None = None) -> SearchCurveDisplay:
        with style():
            ax = axes_or_new(ax)
            steps = np.arange(len(self.training))
            ax.plot(steps, self.training, color=COLORS[5], linestyle="--", label="training rows")
            ax.plot(np.arange(len(self.validation)), self.validation, color=COLORS[0], linewidth=1.0, label="held out")
            if self.smoothed is not None:
                ax.plot(np.arange(len(self.smoothed)), self.smoothed, color=COLORS[1], label="held out, smoothed")
            if self.stop is not None:
                ax.axvline(self.stop, color=COLORS[3], linestyle=":", label=f"stop at {self.stop}")
            ax.set_xlabel(self.step_name)
            ax.set_ylabel(wrapped(self.score_name))
            legend_below(ax)
            self.ax_, self.figure_ = ax, ax.figure
        return self
