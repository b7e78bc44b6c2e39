"""Score against the number of features, and how often each feature was chosen.

Training and validation curves of a search, and where it was stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.contracts import best_by_size
from fewer.contracts.trace import Trace, size_of
from fewer.errors import InputError
from fewer.evaluate import AS_SEARCHED, scores_by_size
from fewer.io import to_problem
from fewer.plots._style import COLORS, Display, legend_below, wrapped
from fewer.problem import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MANY = 60
"""Points of a curve above which they are no longer marked one by one."""


@dataclass
class SizeDisplay(Display):
    """The best score of each number of features, the number that was chosen, and how few would have done as well.

    Parameters
    ----------
    sizes, scores : arrays
        One point for each size, in ascending order.
    chosen : int
        The size of the answer.
    standard_error : float or array, optional
        Of the best score, or of each size's difference from it. The band that it reaches down from there holds the
        sizes that are as good as the best within one standard error.
    label : str
        What the scores are.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = fewer.SubsetSelector(search=fewer.search.Floating(), random_state=0).fit(X, y)
    >>> display = SizeDisplay.from_estimator(selector, X, y)
    >>> display.chosen, display.smallest
    (7, 5)
    """

    sizes: IntArray
    scores: FloatArray
    chosen: int
    standard_error: float | FloatArray | None = None
    label: str = "score"

    @property
    def smallest(self) -> int | None:
        """The smallest size whose score is within one standard error of the best, where that is known."""
        if self.standard_error is None:
            return None
        return int(self.sizes[int(np.argmax(self.scores >= self.scores.max() - self.standard_error))])

    @classmethod
    def from_curve(cls, curve: Mapping[str, Any], chosen: int, *, score_name: str = "score") -> SizeDisplay:
        """Take what `fewer.evaluate.scores_by_size` found.

        Parameters
        ----------
        curve : dict
            What `fewer.evaluate.scores_by_size` returns.
        chosen : int
            The size to mark.
        score_name : str, default="score"
            The name of the vertical axis.

        Returns
        -------
        SizeDisplay
            Not drawn yet; call `plot`.
        """
        return cls(
            np.asarray(curve["sizes"], dtype=np.int64),
            np.asarray(curve["scores"], dtype=np.float64),
            chosen,
            _error(curve["standard_error"]),
            f"{curve.get('name', score_name)}, {curve['measured']}",
        )

    @classmethod
    def from_trace(cls, trace: Trace, *, score_name: str = "score") -> SizeDisplay:
        """Take the best of each size among the steps and the best subsets of a run; without rows, without a band.

        Parameters
        ----------
        trace : Trace
            Of a search.
        score_name : str, default="score"
            The name of the vertical axis.

        Returns
        -------
        SizeDisplay
            Not drawn yet; call `plot`.
        """
        best = best_by_size(trace)
        curve = {"sizes": list(best), "scores": [score for score, _ in best.values()]}
        curve |= {"standard_error": None, "measured": AS_SEARCHED}
        return cls.from_curve(curve, int(size_of(trace.best)), score_name=score_name)

    @classmethod
    def from_estimator(
        cls, selector: Any, X: Any = None, y: Any = None, *, score_name: str = "score", ax: Axes | None = None
    ) -> SizeDisplay:
        """Draw the curve of a fitted `SubsetSelector` or `RankSelector`; the rows that it was fitted to give the band.

        The standard error is that of the best subset's out-of-fold predictions over ten parts of the rows, so it
        needs a criterion that predicts rows.

        Parameters
        ----------
        selector : fitted SubsetSelector or RankSelector
            With its trace.
        X, y : array-like, optional
            The rows that it was fitted to.
        score_name : str, default="score"
            The name of the vertical axis.
        ax : matplotlib Axes, optional
            New ones if left out.

        Returns
        -------
        SizeDisplay
            Drawn.
        """
        if X is None:
            return cls.from_trace(selector.trace_, score_name=score_name).plot(ax)
        curve = scores_by_size(selector, to_problem(X, y))
        if not curve:
            raise InputError("This ranking was cut at a given number, so there is no curve; let it be chosen ('auto').")
        return cls.from_curve(curve, int(selector.support_.sum()), score_name=score_name).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        marker = "o" if len(self.sizes) <= MANY else None
        ax.plot(self.sizes, self.scores, marker=marker, color=COLORS[0], label="best found of each size")
        if self.standard_error is not None:
            best = self.scores.max()
            low = np.broadcast_to(best - self.standard_error, self.sizes.shape)
            ax.fill_between(
                self.sizes, low, best, color=COLORS[0], alpha=0.12, linewidth=0, label="within one standard error"
            )
        both = ", the fewest in it" if self.smallest == self.chosen else ""
        self._mark(ax, self.chosen, "D", COLORS[1], f"chosen: {self.chosen}{both}")
        if self.smallest is not None and not both:
            self._mark(ax, self.smallest, "s", "white", f"the fewest in it: {self.smallest}")
        ax.set(xlabel="number of features", ylabel=wrapped(self.label))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        legend_below(ax)

    def _mark(self, ax: Axes, size: int, marker: str, color: str, label: str) -> None:
        if size in self.sizes:
            score = self.scores[int(np.searchsorted(self.sizes, size))]
            ax.plot(
                [size], [score], marker=marker, markersize=8, linestyle="none", color=color,
                markeredgecolor=COLORS[1], markeredgewidth=1.6, label=label, zorder=4,
            )  # fmt: skip


def _error(given: Any) -> float | FloatArray | None:
    return np.asarray(given, dtype=np.float64) if isinstance(given, list | np.ndarray) else given


@dataclass
class FrequencyDisplay(Display):
    """How often each feature was chosen when the selection was repeated on parts of the rows.

    Parameters
    ----------
    names : list of str
        Of the columns.
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

    def _draw(self, ax: Axes) -> None:
        places = np.arange(len(self.names))[::-1]
        colors = [COLORS[0] if chosen else "white" for chosen in self.chosen]
        ax.barh(places, self.shares, color=colors, edgecolor=COLORS[0], height=0.7)
        ax.set_yticks(places, [short(name) for name in self.names], parse_math=False)
        ax.set(xlim=(0, 1), xlabel="share of the repeated selections that chose it")
        ax.grid(axis="y", visible=False)


def short(name: str, length: int = 28) -> str:
    """Cut a name to a length that fits beside a picture."""
    plain = "".join(letter if letter.isprintable() else "�" for letter in name)
    return plain if len(plain) <= length else plain[: length - 1] + "…"


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
        The step at which the search was stopped.
    score_name, step_name : str
        Names of the axes.

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

    def _draw(self, ax: Axes) -> None:
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
