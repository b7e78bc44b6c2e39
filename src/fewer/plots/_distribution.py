"""Where the values of a feature lie in each class, or how the target goes along it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.errors import InputError
from fewer.evaluate._distributions import distribution, shown_classes
from fewer.io import to_problem
from fewer.plots._display import Display
from fewer.plots._sizes import short
from fewer.plots._style import COLORS, LINES, legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class DistributionDisplay(Display):
    """One feature by class, each class drawn to its own number of rows; or the target's quartiles along it.

    Parameters
    ----------
    name : str
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
        X, y : table and target
        feature : int, optional
            The number of a column; the best one if left out.
        ax : matplotlib Axes, optional

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
        feature : str, optional
            The first chosen one if left out.
        ax : matplotlib Axes, optional

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


__all__ = ["DistributionDisplay"]
