"""The rows in two features, over what a judge that knows these two would say everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.evaluate._row_views import plane
from fewer.io import to_problem
from fewer.plots._display import Display, figure_of
from fewer.plots._sizes import short
from fewer.plots._style import COLORS, MARKERS, SEQUENTIAL, legend_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        X, y : table and target
        judge : Criterion, optional
            A predictive one; the selector's own, else nearest neighbors, if left out.
        ax : matplotlib Axes, optional

        Returns
        -------
        PlaneDisplay
        """
        problem = to_problem(X, y)
        columns = np.argsort(selector.ranking_, kind="stable")[:2]
        told = plane(problem, columns.tolist(), judge or getattr(selector, "judge_", None) or KNN(5), 0)
        if not told:
            raise InputError("Too few rows have values in both features; there is nothing to place.")
        return cls(told, [str(label) for label in problem.classes]).plot(ax)

    @classmethod
    def from_selection(cls, selection: Any, *, directions: bool = False, ax: Axes | None = None) -> PlaneDisplay:
        """Draw the rows of a `Selection` in its best two features, or in two directions through all of them.

        Parameters
        ----------
        selection : Selection
        directions : bool, default=False
            Whether to take the two discriminant directions of the chosen features; there are at least three then.
        ax : matplotlib Axes, optional

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


__all__ = ["PlaneDisplay"]
