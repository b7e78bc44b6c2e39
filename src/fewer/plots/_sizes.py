"""Score against the number of features, over all the subsets that a run kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.plots._style import COLORS, axes_or_new, style
from fewer.problem import FloatArray, IntArray
from fewer.trace import Trace, size_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass
class SizeDisplay:
    """The best score of each subset size that a search met, and the size that it chose.

    Parameters
    ----------
    sizes, scores : arrays
        One point for each size, in ascending order.
    chosen : int
        The size of the answer.
    score_name : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> selector = fewer.SubsetSelector(random_state=0).fit(*load_wine(return_X_y=True))
    >>> display = SizeDisplay.from_estimator(selector)
    >>> int(display.sizes[np.argmax(display.scores)]) == display.chosen
    True
    """

    sizes: IntArray
    scores: FloatArray
    chosen: int
    score_name: str = "score"
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_trace(cls, trace: Trace, *, score_name: str = "score") -> SizeDisplay:
        """Take the best of each size among the steps and the best subsets of a run."""
        masks = [step.mask for step in trace.steps] + [step.best for step in trace.steps]
        scores = [step.score for step in trace.steps] + [step.best_score for step in trace.steps]
        if trace.top_masks is not None:
            masks.extend(trace.top_masks)
            scores.extend(trace.top_scores)
        by_size: dict[int, float] = {}
        for mask, score in zip(masks, scores, strict=True):
            size = int(size_of(mask))
            by_size[size] = max(by_size.get(size, -np.inf), float(score))
        sizes = np.array(sorted(size for size in by_size if size and np.isfinite(by_size[size])), dtype=np.int64)
        return cls(sizes, np.array([by_size[int(size)] for size in sizes]), int(size_of(trace.best)), score_name)

    @classmethod
    def from_estimator(cls, selector: Any, *, score_name: str = "score") -> SizeDisplay:
        """Take the trace of a fitted `SubsetSelector`."""
        return cls.from_trace(selector.trace_, score_name=score_name)

    def plot(self, ax: Axes | None = None) -> SizeDisplay:
        """Draw the curve and mark the chosen size."""
        from matplotlib.ticker import MaxNLocator

        with style():
            ax = axes_or_new(ax)
            ax.plot(self.sizes, self.scores, marker="o", color=COLORS[0], label="best found of each size")
            if self.chosen in self.sizes:
                score = self.scores[int(np.searchsorted(self.sizes, self.chosen))]
                ax.plot([self.chosen], [score], marker="D", markersize=8, linestyle="none", color=COLORS[1])
                ax.annotate(
                    f"chosen: {self.chosen}", (self.chosen, score), (0, 8), textcoords="offset points", ha="center"
                )
                ax.margins(y=0.12)
            ax.set(xlabel="number of features", ylabel=f"{self.score_name}, as the search saw it")
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self


@dataclass
class FrequencyDisplay:
    """How often each feature was chosen when the selection was repeated on parts of the rows.

    Parameters
    ----------
    names : list of str
    shares : list of float
        Between 0 and 1, one a feature.
    chosen : list of bool
        Which of them are in the answer.

    Examples
    --------
    >>> FrequencyDisplay(["a", "b"], [1.0, 0.4], [True, False]).names
    ['a', 'b']
    """

    names: list[str]
    shares: list[float]
    chosen: list[bool]
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    def plot(self, ax: Axes | None = None) -> FrequencyDisplay:
        """Draw one bar a feature, the chosen ones filled."""
        with style():
            ax = axes_or_new(ax)
            places = np.arange(len(self.names))[::-1]
            colors = [COLORS[0] if chosen else "white" for chosen in self.chosen]
            ax.barh(places, self.shares, color=colors, edgecolor=COLORS[0], height=0.7)
            ax.set_yticks(places, [short(name) for name in self.names], parse_math=False)
            ax.set(xlim=(0, 1), xlabel="share of the repeated selections that chose it")
            ax.grid(axis="y", visible=False)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self


def short(name: str, length: int = 28) -> str:
    """Cut a name to a length that fits beside a picture."""
    plain = "".join(letter if letter.isprintable() else "�" for letter in name)
    return plain if len(plain) <= length else plain[: length - 1] + "…"


def figure_of(ax: Axes) -> Figure:
    """Give the figure that axes belong to."""
    figure = ax.get_figure()
    assert figure is not None
    return figure  # type: ignore[return-value]
