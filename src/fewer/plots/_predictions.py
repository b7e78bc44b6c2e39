"""How good the predictions of held-out rows are: ROC curves, counts, calibration, or predicted against true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.errors import InputError
from fewer.evaluate.distributions import predictions
from fewer.io import to_problem
from fewer.plots._rankings import readable_on
from fewer.plots._roc import draw_curve, roc_axes
from fewer.plots._sizes import short
from fewer.plots._style import COLORS, LINES, MARKERS, Display, figure_of, legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("roc", "confusion", "calibration", "points")


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
        told = predictions(problem, np.asarray(outputs, dtype=np.float64))
        return cls({"predicted": told}, _kind(told, kind), [str(label) for label in problem.classes]).plot(ax)

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
        told = selection.evidence.get("predictions")
        if not told or not told["chosen"]:
            raise InputError("This selection kept no held-out predictions; give cv of at least 2.")
        names = {"chosen": f"{len(selection.features)} chosen", "all": f"all {selection.n_features:,}"}
        parts = {names[key]: part for key, part in told.items()}
        return cls(parts, _kind(told["chosen"], kind), list(selection.data.get("classes", {}))).plot(ax)

    def _draw(self, ax: Axes) -> None:
        if self.kind == "confusion":
            self._counts(ax)
            return
        if self.kind == "roc":
            roc_axes(ax)
        else:
            ends = (0.0, 1.0) if self.kind == "calibration" else self._ends()
            ax.plot(ends, ends, linestyle=":", color="#9a9a9a", linewidth=1)
        for number, (name, told) in enumerate(self.parts.items()):
            part = told[self.kind]
            if self.kind == "roc":
                draw_curve(ax, part["fpr"], part["tpr"], f"{name}: area {part['area']:.2f}", number)
            elif self.kind == "calibration":
                ax.plot(part["given"], part["is"], marker=MARKERS[number], linestyle=LINES[number], label=name)
            else:
                ax.scatter(
                    part["truth"], part["prediction"], s=14, color=COLORS[number], marker=MARKERS[number], alpha=0.7,
                    label=name,
                )  # fmt: skip
        if self.kind == "calibration":
            ax.set(xlabel="predicted probability", ylabel="share that came true")
        elif self.kind == "points":
            ax.set(xlabel="truth", ylabel="predicted")
        legend_below(ax)

    def _ends(self) -> tuple[float, float]:
        values = [v for told in self.parts.values() for key in ("truth", "prediction") for v in told["points"][key]]
        return min(values), max(values)

    def _counts(self, ax: Axes) -> None:
        counts = np.array(next(iter(self.parts.values()))["confusion"])
        image = ax.imshow(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1), vmin=0, vmax=1, cmap="Blues")
        for (i, j), n in np.ndenumerate(counts):
            ink = readable_on(image.to_rgba(np.array([image.get_array()[i, j]]))[0])  # type: ignore[index]
            ax.text(j, i, f"{n:,}", ha="center", va="center", color=ink)
        labels = [short(label, 14) for label in self.labels]
        ax.set_xticks(range(len(labels)), labels, parse_math=False)
        ax.set_yticks(range(len(labels)), labels, parse_math=False)
        ax.set(xlabel="predicted", ylabel="is")
        ax.grid(visible=False)
        figure_of(ax).colorbar(image, ax=ax, label="share of the true class", shrink=0.8)


def _kind(told: Mapping[str, Any], asked: str | None) -> str:
    able = [kind for kind in KINDS if kind in told]
    if asked is None and able:
        return able[0]
    if asked not in able:
        raise InputError(f"kind={asked!r} cannot be drawn here; choose {' or '.join(map(repr, able)) or 'nothing'}.")
    return asked
