"""Where the values of a feature lie in each class, or how the target goes along it.

The rows in two features, over what a judge that knows these two would say everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.evaluate._row_views import plane
from fewer.evaluate.distributions import distribution, shown_classes
from fewer.io import to_problem
from fewer.plots._sizes import short
from fewer.plots._style import COLORS, LINES, MARKERS, SEQUENTIAL, Display, figure_of, legend_below, legend_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class DistributionDisplay(Display):
    """One feature by class, each class drawn to its own number of rows; or the target's quartiles along it.

    Parameters
    ----------
    name : str
        Of the feature.
    told : dict
        As `Selection.evidence["distributions"]` has it.
    classes : list of str
        Names of the classes, in the order of the counts.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = fewer.SubsetSelector(random_state=0).fit(X, y)
    >>> display = DistributionDisplay.from_estimator(selector, X, y)
    >>> display.name == X.columns[selector.ranking_.argmin()], display.ax_.get_ylabel()
    (True, 'share of the class')
    """

    name: str
    told: Mapping[str, Any]
    classes: Sequence[str] = field(default_factory=list)

    @classmethod
    def from_estimator(
        cls, selector: Any, X: Any, y: Any, *, feature: int | None = None, ax: Axes | None = None
    ) -> DistributionDisplay:
        """Draw one feature of the rows that a selector was fitted to.

        Parameters
        ----------
        selector : fitted selector
            Fitted.
        X, y : table and target
            The rows.
        feature : int, optional
            The number of a column; the best one if left out.
        ax : matplotlib Axes, optional
            Drawn into these; new ones if left out.

        Returns
        -------
        DistributionDisplay
        """
        problem = to_problem(X, y)
        column = int(np.argmin(selector.ranking_)) if feature is None else feature
        return cls(problem.names[column], distribution(problem, column), shown_classes(problem)).plot(ax)

    @classmethod
    def from_selection(
        cls, selection: Any, feature: str | None = None, *, ax: Axes | None = None
    ) -> DistributionDisplay:
        """Draw one feature of a `Selection`.

        Parameters
        ----------
        selection : Selection
            What a run found.
        feature : str, optional
            The first chosen one if left out.
        ax : matplotlib Axes, optional
            Drawn into these; new ones if left out.

        Returns
        -------
        DistributionDisplay
        """
        known = selection.evidence.get("distributions", {})
        name = next(iter(known), "") if feature is None else feature
        if name not in known:
            raise InputError(f"There is no distribution of {name!r}; there are those of {', '.join(known) or 'none'}.")
        return cls(name, known[name], selection.evidence["classes"]).plot(ax)

    def _draw(self, ax: Axes) -> None:
        told = self.told
        levels = told.get("levels")
        n = len(told["counts"][0] if "counts" in told else told["middle"])
        ends = np.linspace(told["low"], told["high"], n + 1) if "low" in told else np.arange(n + 1) - 0.5
        places = (ends[:-1] + ends[1:]) / 2
        if "counts" in told:
            for number, (label, counts) in enumerate(zip(self.classes, told["counts"], strict=True)):
                share = np.array(counts) / max(sum(counts), 1)
                ax.stairs(
                    share, ends, color=COLORS[number % len(COLORS)], linestyle=LINES[number % len(LINES)],
                    linewidth=1.6, label=short(label),
                )  # fmt: skip
            ax.set_ylabel("share of the class")
            legend_below(ax)
        else:
            lower, middle, upper = (np.array(told[key], dtype=np.float64) for key in ("lower", "middle", "upper"))
            ax.fill_between(places, lower, upper, color=COLORS[0], alpha=0.16, linewidth=0, label="middle half")
            ax.plot(places, middle, color=COLORS[0], marker="o", label="median")
            ax.set_ylabel("target")
            legend_below(ax)
        if levels:
            ax.set_xticks(places, [short(level, 12) for level in levels], parse_math=False)
        ax.set_xlabel(short(self.name, 40), parse_math=False)


@dataclass
class PlaneDisplay(Display):
    """Rows in the best two features, with the boundary of the judge.

    Parameters
    ----------
    told : dict
        As `Selection.evidence["plane"]` has it.
    labels : list of str
        Names of the classes; empty for a quantity.
    wrong : list of int
        Row numbers, counted from 1, that are ringed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), n_features_to_select=2).fit(X, y)
    >>> display = PlaneDisplay.from_estimator(selector, X, y)
    >>> display.ax_.get_xlabel(), len(display.told["row"])
    ('petal length (cm)', 150)
    """

    told: Mapping[str, Any]
    labels: list[str] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)

    @classmethod
    def from_estimator(
        cls, selector: Any, X: Any, y: Any, *, judge: Any = None, ax: Axes | None = None
    ) -> PlaneDisplay:
        """Draw the rows that a selector was fitted to, in its best two features.

        Parameters
        ----------
        selector : fitted selector
            Fitted.
        X, y : table and target
            The rows.
        judge : Criterion, optional
            A predictive one; the selector's own, else nearest neighbors, if left out.
        ax : matplotlib Axes, optional
            Drawn into these; new ones if left out.

        Returns
        -------
        PlaneDisplay
        """
        problem = to_problem(X, y)
        columns = np.argsort(selector.ranking_, kind="stable")[:2]
        told = plane(problem, columns.tolist(), judge or selector.answer_.judge or KNN(5), 0)
        if not told:
            raise InputError("Too few rows have values in both features; there is nothing to place.")
        return cls(told, [str(label) for label in problem.classes]).plot(ax)

    @classmethod
    def from_selection(cls, selection: Any, *, directions: bool = False, ax: Axes | None = None) -> PlaneDisplay:
        """Draw the rows of a `Selection` in its best two features, or in two directions through all of them.

        Parameters
        ----------
        selection : Selection
            What a run found.
        directions : bool, default=False
            Whether to take the two discriminant directions of the chosen features; there are at least three then.
        ax : matplotlib Axes, optional
            Drawn into these; new ones if left out.

        Returns
        -------
        PlaneDisplay
        """
        told = selection.evidence.get("directions" if directions else "plane")
        if not told:
            few = "three features to seek directions in" if directions else "two features to place its rows in"
            raise InputError(f"This selection has no {few}.")
        wrong = [row["row"] for row in (selection.evidence.get("wrong") or {}).get("rows", ())]
        return cls(told, list(selection.data.get("classes", {})), wrong).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.colors import ListedColormap

        told, n = self.told, len(self.labels)
        x, y, target = (np.array(told[key]) for key in ("x", "y", "target"))
        extent = (*told["x_ends"], *told["y_ends"])
        grid = np.array(told["grid"])
        palette = [COLORS[i % len(COLORS)] for i in range(max(n, 2))]
        ground: dict[str, Any] = {"origin": "lower", "extent": extent, "aspect": "auto", "alpha": 0.18}
        if n:
            ax.imshow(grid, cmap=ListedColormap(palette), vmin=-0.5, vmax=len(palette) - 0.5, **ground)
            for code, label in enumerate(self.labels):
                own = target == code
                marker = MARKERS[code % len(MARKERS)]
                ax.scatter(x[own], y[own], s=14, color=palette[code], marker=marker, label=short(label))
            legend_beside(ax)
        else:
            limits = {"vmin": target.min(), "vmax": target.max(), "cmap": SEQUENTIAL}
            ax.imshow(grid, **{**ground, "alpha": 0.45}, **limits)
            drawn = ax.scatter(x, y, s=14, c=target, edgecolors="white", linewidths=0.4, **limits)
            figure_of(ax).colorbar(drawn, ax=ax, label="target")
        ringed = np.isin(told["row"], self.wrong)
        if ringed.any():
            ax.scatter(x[ringed], y[ringed], s=70, facecolors="none", edgecolors="black", label="always wrong")
        ax.set_xlabel(short(told["names"][0], 40), parse_math=False)
        ax.set_ylabel(short(told["names"][1], 40), parse_math=False)
        ax.grid(visible=False)
