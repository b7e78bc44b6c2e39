"""How many features: the held-out score against size, all features, and what each preference takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.errors import InputError
from fewer.plots._sizes import short
from fewer.plots._style import COLORS, MARKERS, Display, legend_below, wrapped
from fewer.problem import FloatArray, IntArray
from fewer.text import metric_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
            display = _of_curve(selection.curve, len(selection.features), selection.n_features)
            same = (
                selection.score_name in (display.score_name, "r2") and selection.score_heldout_all_features is not None
            )
            if display.all_ is None and same:
                display.all_ = (selection.n_features, selection.score_heldout_all_features)
            return display
        curve = selection.sizes
        if not curve or not curve["sizes"]:
            return None
        scores = np.asarray(curve["scores"], dtype=np.float64)
        error = curve["standard_error"]
        spread = np.zeros(len(scores)) if error is None else SEEN * np.broadcast_to(error, scores.shape)
        name = curve.get("name", selection.score_name)
        chosen = len(selection.features)
        return cls(
            np.asarray(curve["sizes"], dtype=np.int64), scores, scores - spread, scores + spread, chosen,
            {chosen: ["chosen"]} if chosen else {}, None, name, curve["measured"],
        )  # fmt: skip

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
        return _of_curve(answer.curve, int(estimator.support_.sum()), estimator.n_features_in_).plot(ax)

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


def _of_curve(curve: dict[str, Any], chosen: int, n_features: int) -> AnswersDisplay:
    sizes = np.asarray(curve["size"], dtype=np.int64)
    scores = np.asarray(curve["score"], dtype=np.float64)
    error = SEEN * np.nan_to_num(np.asarray(curve["standard_error"], dtype=np.float64))
    marks: dict[int, list[str]] = {}
    for name, size in curve["chosen"].items():
        marks.setdefault(int(size), []).append(name)
    whole = curve.get("all")
    return AnswersDisplay(
        sizes, scores, scores - error, scores + error, chosen, marks,
        None if whole is None else (n_features, float(scores[whole])), curve["score_name"],
        "cross-validated; slightly optimistic, because the same folds chose the size",
    )  # fmt: skip


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
        ax.set_xlabel("number of features")
        ax.set_ylabel("score")
        ax.set_xticks(np.unique(sizes))

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
        ax.set_yticks(range(len(rows)), [short(self.found.names[row], 22) for row in rows], parse_math=False)
        ax.set_xticks([])
        ax.set_xlabel("good subsets")
        ax.grid(visible=False)
