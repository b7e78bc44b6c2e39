"""Pictures of the score against the number of features, for one search or for all good subsets, and along a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.contracts import best_by_size
from fewer.contracts.trace import Trace, size_of
from fewer.errors import InputError
from fewer.evaluate import AS_SEARCHED, scores_by_size
from fewer.io import to_problem
from fewer.plots._style import COLORS, MARKERS, Display, legend_below, wrapped
from fewer.problem import FloatArray, IntArray
from fewer.text import cut, metric_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Characters of a name that fit beside a picture.
NAME = 28
# Points of a curve above which they are no longer marked one by one.
MOST_MARKED = 60


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
        sizes, scores = np.asarray(curve["sizes"], dtype=np.int64), np.asarray(curve["scores"], dtype=np.float64)
        error = curve["standard_error"]
        error = np.asarray(error, dtype=np.float64) if isinstance(error, list | np.ndarray) else error
        return cls(sizes, scores, chosen, error, f"{curve.get('name', score_name)}, {curve['measured']}")

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

        marker = "o" if len(self.sizes) <= MOST_MARKED else None
        ax.plot(self.sizes, self.scores, marker=marker, color=COLORS[0], label="best found of each size")
        if self.standard_error is not None:
            best, label = self.scores.max(), "within one standard error"
            low = np.broadcast_to(best - self.standard_error, self.sizes.shape)
            ax.fill_between(self.sizes, low, best, color=COLORS[0], alpha=0.12, linewidth=0, label=label)
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
        draw_bars(ax, self.names, self.shares, self.chosen)
        ax.set(xlim=(0, 1), xlabel="share of the repeated selections that chose it")


def draw_bars(ax: Axes, names: list[str], values: Any, chosen: Any, **options: Any) -> None:
    """Draw a bar for each feature, the first on top; those of the answer are filled."""
    places = np.arange(len(names))[::-1]
    colors = [COLORS[0] if one else "white" for one in chosen]
    ax.barh(places, values, color=colors, edgecolor=COLORS[0], height=0.7, **options)
    ax.set_yticks(places, [cut(name, NAME) for name in names], parse_math=False)
    ax.grid(axis="y", visible=False)


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
        extra = trace.extra
        stop = int(extra["stop"][0]) if "stop" in extra else None
        return cls(extra["training"], extra["validation"], extra.get("smoothed"), stop, **options)

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
        ax.set(xlabel=self.step_name, ylabel=wrapped(self.score_name))
        legend_below(ax)


SEEN = 1.96


@dataclass
class AnswersDisplay(Display):
    """The held-out score of each number of features with its band, and the marked numbers.

    Make it with `from_selection`, or with `from_estimator` of a fitted `AutoSelector`.

    Parameters
    ----------
    sizes, scores, low, high : arrays
        The curve and its 95 % band (`low` equals `high` where none is known).
    chosen : int
        The size of the answer.
    marks : dict
        Names of preferences by size.
    all_ : (int, float) or None
        Size and score of all features.
    score_name, measured : str
        What the score is called, and how it was measured.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> selector = fewer.AutoSelector(random_state=0, budget=0.3).fit(*load_wine(return_X_y=True))
    >>> display = AnswersDisplay.from_estimator(selector)
    >>> display.chosen == selector.get_support().sum(), display.ax_.get_xlabel()
    (np.True_, 'number of features')
    """

    sizes: IntArray
    scores: FloatArray
    low: FloatArray
    high: FloatArray
    chosen: int
    marks: dict[int, list[str]] = field(default_factory=dict)
    all_: tuple[int, float] | None = None
    score_name: str = "score"
    measured: str = ""

    @property
    def title(self) -> str:
        """What the scores are: held out, or what the search saw."""
        name = metric_text(self.score_name)
        return f"held-out {name}" if self.measured.startswith("on ") else name

    @classmethod
    def from_selection(cls, selection: Any, *, ax: Axes | None = None) -> AnswersDisplay:
        """Draw the curve of a `Selection`.

        Parameters
        ----------
        selection : Selection
            What a run found.
        ax : matplotlib Axes, optional
            Drawn into these; new ones if left out.

        Returns
        -------
        AnswersDisplay
        """
        display = cls.of(selection)
        if display is None:
            raise InputError("This selection has no score for each number of features.")
        return display.plot(ax)

    @classmethod
    def of(cls, selection: Any) -> AnswersDisplay | None:
        """Collect the curve of a `Selection` without drawing it; None where there is none.

        Parameters
        ----------
        selection : Selection
            What a run found.

        Returns
        -------
        AnswersDisplay or None
        """
        if selection.curve.get("size"):
            display = cls._of_curve(selection.curve, len(selection.features), selection.n_features)
            score = selection.score_heldout_all_features
            if display.all_ is None and score is not None and selection.score_name in (display.score_name, "r2"):
                display.all_ = (selection.n_features, score)
            return display
        curve = selection.sizes
        if not curve or not curve["sizes"]:
            return None
        chosen, name = len(selection.features), curve.get("name", selection.score_name)
        marks = {chosen: ["chosen"]} if chosen else {}
        known = (curve["sizes"], curve["scores"], curve["standard_error"])
        return cls._banded(*known, chosen, marks, None, name, curve["measured"])

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> AnswersDisplay:
        """Draw the curve of a fitted `AutoSelector`.

        Parameters
        ----------
        estimator : AutoSelector
            Fitted.
        ax : matplotlib Axes, optional
            Drawn into these; new ones if left out.

        Returns
        -------
        AnswersDisplay
        """
        answer = estimator.answer_
        if not answer.choices or not len(answer.curve["size"]):
            raise InputError("This estimator has no curve of its answers; fit an AutoSelector, or use SizeDisplay.")
        return cls._of_curve(answer.curve, int(estimator.support_.sum()), estimator.n_features_in_).plot(ax)

    @classmethod
    def _of_curve(cls, curve: dict[str, Any], chosen: int, n_features: int) -> AnswersDisplay:
        marks: dict[int, list[str]] = {}
        for name, size in curve["chosen"].items():
            marks.setdefault(int(size), []).append(name)
        whole = curve.get("all")
        every = None if whole is None else (n_features, float(curve["score"][whole]))
        measured = "cross-validated; slightly optimistic, because the same folds chose the size"
        known = (curve["size"], curve["score"], curve["standard_error"])
        return cls._banded(*known, chosen, marks, every, curve["score_name"], measured)

    @classmethod
    def _banded(cls, sizes: Any, scores: Any, error: Any, *about: Any) -> AnswersDisplay:
        """Put a 95 % band around scores whose standard errors are known."""
        scores = np.asarray(scores, dtype=np.float64)
        spread = SEEN * np.nan_to_num(np.asarray(0.0 if error is None else error, dtype=np.float64))
        return cls(np.asarray(sizes, dtype=np.int64), scores, scores - spread, scores + spread, *about)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        ax.plot(self.sizes, self.scores, color=COLORS[0], marker="o", label=wrapped(self.measured or "held out", 40))
        if (self.high > self.low).any():
            ax.fill_between(self.sizes, self.low, self.high, color=COLORS[0], alpha=0.14, linewidth=0, label="95 %")
        if self.all_ is not None:
            ax.axhline(self.all_[1], color=COLORS[5], linestyle="--", label=f"all {self.all_[0]:,} features")
        for number, (size, names) in enumerate(sorted(self.marks.items())):
            ax.plot(
                [size], [np.interp(size, self.sizes, self.scores)], linestyle="none", markersize=8, color=COLORS[1],
                marker=MARKERS[(number + 1) % len(MARKERS)], label=f"{', '.join(names)}: {size}", zorder=4,
            )  # fmt: skip
        if len(self.sizes) and self.sizes[-1] > 16:
            ax.set_xscale("log")
        else:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set(xlabel="number of features", ylabel=wrapped(self.title))
        legend_below(ax)


@dataclass
class AlternativesDisplay(Display):
    """All good subsets: their scores against their sizes, or which features each of them has.

    Parameters
    ----------
    found : Alternatives
        What `fewer.alternatives` returned.
    kind : {"sizes", "prices", "matrix"}, default="sizes"
        A point for each subset, at its size or at what its features cost together, and a line along the best for each
        price; or a column for each of at most 400 subsets, a row for each feature, subsets that are alike beside each
        other.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.criteria import KNN
    >>> from fewer.evaluate import good_subsets
    >>> from fewer.problem import Problem
    >>> found = good_subsets(KNN(5, cv="loo"), Problem.from_arrays(*load_iris(return_X_y=True)))
    >>> AlternativesDisplay(found).plot().ax_.get_xlabel()
    'number of features'
    """

    found: Any
    kind: str = "sizes"

    def _draw(self, ax: Axes) -> None:
        {"sizes": self._draw_sizes, "prices": self._draw_prices, "matrix": self._draw_matrix}[self.kind](ax)

    def _draw_sizes(self, ax: Axes) -> None:
        shown = np.linspace(0, len(self.found.scores) - 1, min(len(self.found.scores), 4000)).astype(np.int64)
        sizes = self.found.masks[shown].sum(axis=1)
        aside = (np.arange(len(shown)) * 0.618 % 1.0 - 0.5) * 0.6  # points of one size beside each other
        self._points(ax, sizes + aside, shown)
        ax.set(xlabel="number of features", ylabel="score")
        ax.set_xticks(np.unique(sizes))
        ax.set_xlim(sizes.min() - 0.6, sizes.max() + 0.6)  # one size alone is no spread of sizes

    def _points(self, ax: Axes, x: FloatArray, shown: IntArray) -> None:
        size = 3 if len(shown) > 200 else 7
        ax.plot(x, self.found.scores[shown], ".", color=COLORS[0], markersize=size, alpha=0.5)

    def _draw_prices(self, ax: Axes) -> None:
        prices = self.found.masks @ np.asarray(self.found.costs)
        order = np.lexsort((-self.found.scores, prices))
        best = order[np.flatnonzero(np.diff(np.maximum.accumulate(self.found.scores[order]), prepend=-np.inf) > 0)]
        shown = np.linspace(0, len(prices) - 1, min(len(prices), 4000)).astype(np.int64)
        self._points(ax, prices[shown], shown)
        ends = np.append(prices[best], prices.max()), np.append(self.found.scores[best], self.found.scores.max())
        ax.step(*ends, where="post", color=COLORS[1], label="best for at most this price")
        ax.set(xlabel="price", ylabel="score")
        legend_below(ax)

    def _draw_matrix(self, ax: Axes) -> None:
        from scipy.cluster.hierarchy import leaves_list, linkage

        shown = np.linspace(0, len(self.found.scores) - 1, min(len(self.found.scores), 400)).astype(np.int64)
        masks = self.found.masks[shown].astype(np.float64)
        if len(masks) > 2:
            masks = masks[leaves_list(linkage(masks, "average"))]
        rows = np.argsort(-self.found.counts, kind="stable")[:40]
        ax.imshow(masks[:, rows].T, aspect="auto", cmap="Greys", vmin=0, vmax=1.3, interpolation="nearest")
        ax.set_yticks(range(len(rows)), [cut(self.found.names[row], 22) for row in rows], parse_math=False)
        ax.set_xticks([])
        ax.set_xlabel("good subsets")
        ax.grid(visible=False)
