"""Pictures of predictions (ROC curves and hulls, confusion, calibration) and of rows in one or two features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.evaluate.distributions import distribution, predictions, shown_classes
from fewer.evaluate.planes import plane
from fewer.io import to_problem
from fewer.plots._rankings import draw_matrix
from fewer.plots._sizes import NAME
from fewer.plots._style import COLORS, LINES, MARKERS, SEQUENTIAL, Display, figure_of, legend_below, legend_beside
from fewer.problem import FloatArray
from fewer.roc import OperatingPoint, Parcel
from fewer.text import cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class RocHullDisplay(Display):
    """The hull of a Parcel: its vertices with their subsets, where they stand on other rows, and a chosen point.

    Make it with `from_estimator`. `plot(label_vertices=False)` leaves the names of the subsets out.

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
        cls, parcel: Parcel, X: Any = None, y: Any = None, *, point: OperatingPoint | None = None,
        label_vertices: bool = True, ax: Axes | None = None,
    ) -> RocHullDisplay:  # fmt: skip
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
        labels = [_cut(vertex.names) for vertex in parcel.vertices_]
        display = cls(parcel.hull_.fpr, parcel.hull_.tpr, labels, parcel.hull_.area, held_out, point)
        return display.plot(ax, label_vertices=label_vertices)

    def _draw(self, ax: Axes, label_vertices: bool = True) -> None:
        roc_axes(ax)
        ax.plot(self.fpr, self.tpr, "o-", color=COLORS[0], label=f"hull, area {self.area:.2f}")
        if self.held_out is not None:
            fpr, tpr, area = self.held_out
            ax.plot(fpr, tpr, "s--", color=COLORS[1], markersize=3, label=f"other rows, area {area:.2f}")
        if label_vertices:
            number_subsets(ax, self.fpr, self.tpr, self.labels)
        if self.point is not None:
            where = self.point.promised_
            ax.plot(where.fpr, where.tpr, "*", markersize=12, color=COLORS[3], label="operating point")
        legend_beside(ax)


def _cut(names: Sequence[str]) -> str:
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


PICTURES = ("roc", "confusion", "calibration", "points")
AXES = {
    "calibration": {"xlabel": "predicted probability", "ylabel": "observed share"},
    "points": {"xlabel": "actual value", "ylabel": "predicted"},
}


@dataclass
class PredictionsDisplay(Display):
    """Predictions of rows that the rule did not see, with the chosen features and with all.

    Parameters
    ----------
    parts : dict
        By name (such as `"4 chosen"`), what `Selection.evidence["predictions"]` has.
    kind : {"roc", "confusion", "calibration", "points"}
        What is drawn.
    labels : list of str
        Names of the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> display = PredictionsDisplay.from_estimator(LogisticRegression(max_iter=500), X, y, kind="confusion")
    >>> display.ax_.get_xlabel(), sum(map(sum, display.parts["predicted"]["confusion"]))
    ('predicted', 150)
    """

    parts: Mapping[str, Mapping[str, Any]]
    kind: str
    labels: list[str] = field(default_factory=list)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, kind: str | None = None, cv: Any = 5, ax: Axes | None = None
    ) -> PredictionsDisplay:
        """Draw the cross-validated predictions of an estimator, such as a pipeline with a selector in it.

        Parameters
        ----------
        estimator : scikit-learn estimator
            It is fitted anew without each fold.
        X, y : table and target
            The rows.
        kind : {"roc", "confusion", "calibration", "points"}, optional
            What is drawn; the first of them that fits the target if left out.
        cv : int or splitter, default=5
            The folds.
        ax : matplotlib Axes, optional
            Drawn into these; new ones if left out.

        Returns
        -------
        PredictionsDisplay
        """
        from sklearn.model_selection import cross_val_predict

        problem = to_problem(X, y)
        classes = problem.task == "classification"
        proba = classes and hasattr(estimator, "predict_proba")
        outputs = cross_val_predict(estimator, X, y, cv=cv, method="predict_proba" if proba else "predict")
        if classes and not proba:
            outputs = (outputs[:, None] == np.asarray(problem.classes)).astype(np.float64)
        summary = predictions(problem, np.asarray(outputs, dtype=np.float64))
        return cls({"predicted": summary}, _kind(summary, kind), [str(label) for label in problem.classes]).plot(ax)

    @classmethod
    def from_selection(cls, selection: Any, *, kind: str | None = None, ax: Axes | None = None) -> PredictionsDisplay:
        """Draw the held-out predictions of a `Selection`; counts are those with the chosen features.

        Parameters
        ----------
        selection : Selection
            What a run found.
        kind : {"roc", "confusion", "calibration", "points"}, optional
            What is drawn; the first of them that fits the target if left out.
        ax : matplotlib Axes, optional
            Drawn into these; new ones if left out.

        Returns
        -------
        PredictionsDisplay
        """
        summaries = selection.evidence.get("predictions")
        if not summaries or not summaries["chosen"]:
            raise InputError("This selection kept no held-out predictions; give cv of at least 2.")
        names = {"chosen": f"{len(selection.features)} chosen", "all": f"all {selection.n_features:,}"}
        parts = {names[key]: part for key, part in summaries.items()}
        return cls(parts, _kind(summaries["chosen"], kind), list(selection.data.get("classes", {}))).plot(ax)

    def _draw(self, ax: Axes) -> None:
        if self.kind == "confusion":
            self._counts(ax)
            return
        if self.kind == "roc":
            roc_axes(ax)
        else:
            ends = (0.0, 1.0) if self.kind == "calibration" else self._ends()
            ax.plot(ends, ends, linestyle=":", color="#9a9a9a", linewidth=1)
        for number, (name, summary) in enumerate(self.parts.items()):
            part = summary[self.kind]
            if self.kind == "roc":
                draw_curve(ax, part["fpr"], part["tpr"], f"{name}: area {part['area']:.2f}", number)
            elif self.kind == "calibration":
                ax.plot(part["given"], part["is"], marker=MARKERS[number], linestyle=LINES[number], label=name)
            else:
                color, marker = COLORS[number], MARKERS[number]
                ax.scatter(part["truth"], part["prediction"], s=14, color=color, marker=marker, alpha=0.7, label=name)
        if self.kind in AXES:
            ax.set(**AXES[self.kind])
        legend_below(ax)

    def _ends(self) -> tuple[float, float]:
        points = [summary["points"] for summary in self.parts.values()]
        values = [value for part in points for key in ("truth", "prediction") for value in part[key]]
        return min(values), max(values)

    def _counts(self, ax: Axes) -> None:
        counts = np.array(next(iter(self.parts.values()))["confusion"])
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        draw_matrix(ax, shares, self.labels, (0.0, 1.0), "Blues", "share of the true class", counts)
        ax.set(xlabel="predicted", ylabel="actual")


def _kind(summary: Mapping[str, Any], asked: str | None) -> str:
    able = [kind for kind in PICTURES if kind in summary]
    if asked is None and able:
        return able[0]
    if asked not in able:
        raise InputError(f"kind={asked!r} cannot be drawn here; choose {' or '.join(map(repr, able)) or 'nothing'}.")
    return asked


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
    def from_selection(cls, selection: Any, feature: str | None = None, *, ax: Any = None) -> DistributionDisplay:
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
        summary = self.told
        n = len(summary["counts"][0] if "counts" in summary else summary["middle"])
        ends = np.linspace(summary["low"], summary["high"], n + 1) if "low" in summary else np.arange(n + 1) - 0.5
        places = (ends[:-1] + ends[1:]) / 2
        if "counts" in summary:
            for number, (label, counts) in enumerate(zip(self.classes, summary["counts"], strict=True)):
                color, line = COLORS[number % len(COLORS)], LINES[number % len(LINES)]
                share = np.array(counts) / max(sum(counts), 1)
                ax.stairs(share, ends, color=color, linestyle=line, linewidth=1.6, label=cut(label, NAME))
            ax.set_ylabel("share of the class")
        else:
            lower, middle, upper = (np.array(summary[key], dtype=np.float64) for key in ("lower", "middle", "upper"))
            ax.fill_between(places, lower, upper, color=COLORS[0], alpha=0.16, linewidth=0, label="middle half")
            ax.plot(places, middle, color=COLORS[0], marker="o", label="median")
            ax.set_ylabel("target")
        legend_below(ax)
        if "levels" in summary:
            ax.set_xticks(places, [cut(level, 12) for level in summary["levels"]], parse_math=False)
        ax.set_xlabel(cut(self.name, 40), parse_math=False)


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
    def from_estimator(cls, selector: Any, X: Any, y: Any, *, judge: Any = None, ax: Any = None) -> PlaneDisplay:
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
        drawn = plane(problem, columns.tolist(), judge or selector.answer_.judge or KNN(5), 0)
        if not drawn:
            raise InputError("Too few rows have values in both features; there is nothing to place.")
        return cls(drawn, [str(label) for label in problem.classes]).plot(ax)

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
        drawn = selection.evidence.get("directions" if directions else "plane")
        if not drawn:
            few = "three features to seek directions in" if directions else "two features to place its rows in"
            raise InputError(f"This selection has no {few}.")
        wrong = [row["row"] for row in (selection.evidence.get("wrong") or {}).get("rows", ())]
        return cls(drawn, list(selection.data.get("classes", {})), wrong).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.colors import ListedColormap

        plane, n = self.told, len(self.labels)
        x, y, target = (np.array(plane[key]) for key in ("x", "y", "target"))
        extent = (*plane["x_ends"], *plane["y_ends"])
        grid = np.array(plane["grid"])
        palette = [COLORS[i % len(COLORS)] for i in range(max(n, 2))]
        ground: dict[str, Any] = {"origin": "lower", "extent": extent, "aspect": "auto", "alpha": 0.18}
        if n:
            ax.imshow(grid, cmap=ListedColormap(palette), vmin=-0.5, vmax=len(palette) - 0.5, **ground)
            for code, label in enumerate(self.labels):
                in_class = target == code
                marker = MARKERS[code % len(MARKERS)]
                ax.scatter(x[in_class], y[in_class], s=14, color=palette[code], marker=marker, label=cut(label, NAME))
            legend_beside(ax)
        else:
            limits = {"vmin": target.min(), "vmax": target.max(), "cmap": SEQUENTIAL}
            ax.imshow(grid, **{**ground, "alpha": 0.45}, **limits)
            drawn = ax.scatter(x, y, s=14, c=target, edgecolors="white", linewidths=0.4, **limits)
            figure_of(ax).colorbar(drawn, ax=ax, label="target")
        ringed = np.isin(plane["row"], self.wrong)
        if ringed.any():
            ax.scatter(x[ringed], y[ringed], s=70, facecolors="none", edgecolors="black", label="always wrong")
        ax.set_xlabel(cut(plane["names"][0], 40), parse_math=False)
        ax.set_ylabel(cut(plane["names"][1], 40), parse_math=False)
        ax.grid(visible=False)
