"""ROC curves and hulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewer.plots._style import COLORS, LINES, Display, axes_or_new, legend_beside, style
from fewer.problem import FloatArray
from fewer.roc import OperatingPoint, Parcel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class RocHullDisplay(Display):
    """The hull of a Parcel: its vertices with their subsets, where they stand on other rows, and a chosen point.

    Make it with `from_estimator`.

    Parameters
    ----------
    fpr, tpr : arrays
        The hull.
    labels : list of str
        The subset at each vertex.
    area : float
        Of the hull.
    held_out : (fpr, tpr, area) or None
        The same classifiers on other rows.
    point : OperatingPoint or None
        A point to mark.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        After `plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> parcel = Parcel(random_state=0).fit(X, y)
    >>> display = RocHullDisplay.from_estimator(parcel, point=parcel.operating_point(max_fpr=0.1))
    >>> display.ax_.get_xlabel()
    'false positive rate'
    """

    fpr: FloatArray
    tpr: FloatArray
    labels: list[str]
    area: float
    held_out: tuple[FloatArray, FloatArray, float] | None = None
    point: OperatingPoint | None = None

    @classmethod
    def from_estimator(
        cls,
        parcel: Parcel,
        X: Any = None,
        y: Any = None,
        *,
        point: OperatingPoint | None = None,
        label_vertices: bool = True,
        ax: Axes | None = None,
    ) -> RocHullDisplay:
        """Draw the hull of a fitted Parcel, and its classifiers on other rows if some are given.

        Parameters
        ----------
        parcel : fitted Parcel
            Of two classes.
        X, y : array-like, optional
            Other rows.
        point : OperatingPoint, optional
            A point to mark.
        label_vertices : bool, default=True
            Name the subset at each vertex.
        ax : matplotlib Axes, optional
            New ones if left out.

        Returns
        -------
        RocHullDisplay
            Drawn.
        """
        check_is_fitted(parcel)
        held_out = None
        if X is not None:
            line = parcel.held_out(X, y)
            held_out = line.fpr, line.tpr, line.area
        labels = [_short(vertex.names) for vertex in parcel.vertices_]
        display = cls(parcel.hull_.fpr, parcel.hull_.tpr, labels, parcel.hull_.area, held_out, point)
        return display.plot(ax=ax, label_vertices=label_vertices)

    def plot(self, ax: Axes | None = None, *, label_vertices: bool = True) -> RocHullDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            New ones if left out.
        label_vertices : bool, default=True
            Name the subset at each vertex.

        Returns
        -------
        self
        """
        with style():
            self.ax_ = axes_or_new(ax)
            self.figure_ = self.ax_.figure
            roc_axes(self.ax_)
            self.ax_.plot(self.fpr, self.tpr, "o-", color=COLORS[0], label=f"hull, area {self.area:.2f}")
            if self.held_out is not None:
                fpr, tpr, area = self.held_out
                self.ax_.plot(fpr, tpr, "s--", color=COLORS[1], markersize=3, label=f"other rows, area {area:.2f}")
            if label_vertices:
                number_subsets(self.ax_, self.fpr, self.tpr, self.labels)
            if self.point is not None:
                where = self.point.promised_
                self.ax_.plot(where.fpr, where.tpr, "*", markersize=12, color=COLORS[3], label="operating point")
            legend_beside(self.ax_)
        return self


def _short(names: Sequence[str]) -> str:
    """Name a subset: all features of a small one, the first of a large one."""
    return ", ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]} and {len(names) - 2} more"


def roc_axes(ax: Axes, *, title: str = "") -> None:
    """Lay out ROC space: both rates from 0 to 1, the line of guessing."""
    ax.plot([0, 1], [0, 1], linestyle=":", color="#9a9a9a", linewidth=1)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel="false positive rate", ylabel="true positive rate")
    ax.set_aspect("equal")
    if title:
        ax.set_title(title)


def draw_curve(ax: Axes, fpr: FloatArray, tpr: FloatArray, label: str, number: int = 0, **options: Any) -> None:
    """Draw one curve in the color and line style of its number."""
    chosen = {"color": COLORS[number % len(COLORS)], "linestyle": LINES[number % len(LINES)], **options}
    ax.plot(fpr, tpr, label=label, **chosen)


def number_subsets(ax: Axes, fpr: FloatArray, tpr: FloatArray, labels: list[str]) -> None:
    """Put f1, f2, … at the vertices and say in the legend which subset each is; a subset has one number."""
    names = {label: f"f{i}" for i, label in enumerate(dict.fromkeys(label for label in labels if label), 1)}
    taken: list[tuple[float, float]] = []
    for x, y, label, last in zip(fpr, tpr, labels, ["", *labels[:-1]], strict=True):
        # Where the subset changes; vertices crowd in the corner: one that would hide another's number is left without.
        if label and label != last and all(np.hypot(x - a, y - b) > 0.045 for a, b in taken):
            ax.annotate(names[label], (x, y), textcoords="offset points", xytext=(5, -9), fontsize=7)
            taken.append((float(x), float(y)))
    for label, name in names.items():
        ax.plot([], [], " ", label=f"{name}: {label}")
