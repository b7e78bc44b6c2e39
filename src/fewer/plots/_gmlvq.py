"""What a prototype classifier learned: how much each feature counts, and the rows in its metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.plots._rankings import draw_matrix
from fewer.plots._style import COLORS, DIVERGING, MARKERS, Display, legend_beside
from fewer.problem import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HATCHES = ("", "///", "...", "xx")
MANY = 12


class RelevanceDisplay(Display):
    """Relevances of features as bars, of one model or of several side by side.

    Parameters
    ----------
    relevances : dict of str to array of shape (n_features,)
        By the name of the model.
    names : sequence of str, optional
        The features; numbers from 1 by default.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        After `plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.models import GMLVQClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = RelevanceDisplay.from_estimator(GMLVQClassifier().fit(X, y))
    >>> display.ax_.get_ylabel()
    'relevance'
    """

    def __init__(self, relevances: Mapping[str, Any], names: Sequence[str] | None = None) -> None:
        self.relevances = {label: np.asarray(values, dtype=np.float64) for label, values in relevances.items()}
        n_features = len(next(iter(self.relevances.values())))
        self.names = tuple(str(i) for i in range(1, n_features + 1)) if names is None else tuple(names)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> RelevanceDisplay:
        """Draw the relevances of a fitted `GMLVQClassifier`.

        Parameters
        ----------
        estimator : fitted GMLVQClassifier
            With `relevances_`.
        ax : matplotlib Axes, optional
            New ones if left out.

        Returns
        -------
        RelevanceDisplay
            Drawn.
        """
        names = vars(estimator).get("feature_names_in_")
        return cls({"": estimator.relevances_}, names).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        width = 0.8 / len(self.relevances)
        places = np.arange(len(self.names), dtype=np.float64)
        for number, (label, values) in enumerate(self.relevances.items()):
            shift = (number - (len(self.relevances) - 1) / 2) * width
            ax.bar(places + shift, values, width, label=label or None, color=COLORS[number], hatch=HATCHES[number % 4])
        step = max(len(self.names) // MANY, 1)
        ax.set_xticks(places[::step], self.names[::step], rotation=0 if max(map(len, self.names)) < 4 else 90)
        ax.grid(visible=False, axis="x")
        ax.set_xlabel("feature")
        ax.set_ylabel("relevance")
        if any(self.relevances):
            legend_beside(ax)


class RelevanceMatrixDisplay(Display):
    """The matrix Λ of a learned metric: how much features count, alone (diagonal) and in pairs (beside it).

    Parameters
    ----------
    matrix : array of shape (n_features, n_features)
        Λ.
    names : sequence of str, optional
        The features; numbers from 1 by default.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        After `plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.models import GMLVQClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = RelevanceMatrixDisplay.from_estimator(GMLVQClassifier().fit(X, y))
    >>> display.matrix.shape
    (4, 4)
    """

    def __init__(self, matrix: FloatArray, names: Sequence[str] | None = None) -> None:
        self.matrix = matrix
        self.names = [str(i) for i in range(1, len(matrix) + 1)] if names is None else [str(name) for name in names]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> RelevanceMatrixDisplay:
        """Draw Λ of a fitted `GMLVQClassifier`; of one that has a matrix for each class, their mean.

        Parameters
        ----------
        estimator : fitted GMLVQClassifier
            With `lambda_`.
        ax : matplotlib Axes, optional
            New ones if left out.

        Returns
        -------
        RelevanceMatrixDisplay
            Drawn.
        """
        matrix = np.asarray(estimator.lambda_)
        names = vars(estimator).get("feature_names_in_")
        return cls(matrix if matrix.ndim == 2 else matrix.mean(axis=0), names).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        most = float(np.abs(self.matrix).max())
        draw_matrix(ax, self.matrix, self.names, (-most, most), DIVERGING, "entry of Λ")


class ProjectionDisplay(Display):
    """Rows and prototypes on the two leading directions of a learned metric.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
        The rows.
    y : array of shape (n_samples,)
        Class codes.
    prototypes : array of shape (n_prototypes, 2)
        The prototypes.
    prototype_labels : int array
        Their class codes.
    classes : sequence
        The label behind each code.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        After `plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.models import GMLVQClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> display = ProjectionDisplay.from_estimator(GMLVQClassifier().fit(X, y), X, y)
    >>> display.points.shape
    (150, 2)
    """

    def __init__(
        self,
        points: FloatArray,
        y: IntArray,
        prototypes: FloatArray,
        prototype_labels: IntArray,
        classes: Sequence[Any],
    ) -> None:
        self.points, self.y = points, y
        self.prototypes, self.prototype_labels = prototypes, prototype_labels
        self.classes = tuple(classes)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None) -> ProjectionDisplay:
        """Project rows with a fitted `GMLVQClassifier` and draw them.

        Parameters
        ----------
        estimator : fitted GMLVQClassifier
            With its metric and prototypes.
        X : array or data frame
            The rows.
        y : array
            Their classes.
        ax : matplotlib Axes, optional
            New ones if left out.

        Returns
        -------
        ProjectionDisplay
            Drawn.
        """
        centers = estimator.mean_ + estimator.scale_ * estimator.prototypes_
        names = vars(estimator).get("feature_names_in_")
        if names is not None:
            centers = type(X)(dict(zip(names, centers.T, strict=True)))
        codes = np.searchsorted(estimator.classes_, np.asarray(y))
        labels = np.searchsorted(estimator.classes_, estimator.prototype_labels_)
        display = cls(estimator.project(X), codes, estimator.project(centers), labels, estimator.classes_.tolist())
        return display.plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        for code, name in enumerate(self.classes):
            color, marker = COLORS[code % len(COLORS)], MARKERS[code % len(MARKERS)]
            x, y = self.points[self.y == code].T
            ax.scatter(x, y, s=12, color=color, marker=marker, alpha=0.6, label=str(name))
            x, y = self.prototypes[self.prototype_labels == code].T
            ax.scatter(x, y, s=130, color=color, marker=marker, edgecolors="black", linewidths=1.4, zorder=3)
        ax.set_xlabel("first direction of Λ")
        ax.set_ylabel("second direction of Λ")
        legend_beside(ax, title="class (large: prototype)")
