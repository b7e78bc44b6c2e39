"""Pictures of two criteria: classifiability over one or two features, and the lines of the Gamma Test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.contracts import Resources
from fewer.criteria import Classifiability
from fewer.io import to_problem
from fewer.plots._style import COLORS, MARKERS, SEQUENTIAL, Display, figure_of, legend_below
from fewer.problem import FloatArray, InputError, column_number, mask_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 90


@dataclass
class ClassifiabilityDisplay(Display):
    """Which rows are hard? Rows over two features, dark where their neighborhood disagrees with them.

    Make it with `from_data` or `from_estimator`. Behind the rows, for two classes, lies the label surface that
    Dong & Kothari sketch: the share of the second class within the radius of each point. `plot(surface=False)` leaves
    it out.

    Parameters
    ----------
    points : array of shape (n_samples, 1 or 2)
        The rows.
    y : array of shape (n_samples,)
        Their class codes.
    local : array of shape (n_samples,)
        C(x) of each row.
    value : float
        L of the two features together.
    radius : float
        In ranges of a column.
    names : tuple of str
        The features.
    classes : tuple
        The label behind each code.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        After `plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = ClassifiabilityDisplay.from_data(X, y, features=["petal length (cm)", "petal width (cm)"])
    >>> display.ax_.get_xlabel()
    'petal length (cm)'
    """

    points: FloatArray
    y: Any
    local: FloatArray
    value: float
    radius: float
    names: tuple[str, ...]
    classes: tuple[Any, ...]

    @classmethod
    def from_data(
        cls, X: Any, y: Any, *, features: Sequence[str | int] | None = None, ax: Axes | None = None,
        surface: bool = True, **options: Any,
    ) -> ClassifiabilityDisplay:  # fmt: skip
        """Measure the rows over one or two features and draw them.

        Parameters
        ----------
        X : array or data frame
            The rows.
        y : array
            Classes.
        features : one or two names or positions, optional
            The first two columns unless given.
        ax : matplotlib Axes, optional
            New ones if left out.
        surface : bool, default=True
            Draw the label surface behind the rows (two classes, two features).
        **options
            As for `fewer.criteria.Classifiability`.

        Returns
        -------
        ClassifiabilityDisplay
            Drawn.
        """
        problem = to_problem(X, y, task="classification")
        chosen = range(min(2, problem.n_features)) if features is None else features
        columns = [column_number(feature, problem.names, "features") for feature in chosen]
        if len(columns) not in (1, 2):
            raise InputError(f"{len(columns)} features are named; one or two can be drawn.")
        mask = mask_of(columns, problem.n_features)
        scorer = Classifiability(**options).bind(problem, np.random.default_rng(0), Resources())
        local, _, radius = scorer.per_row(mask)
        rows, value = scorer.problem, float(scorer.score(mask[None])[0])
        names = tuple(problem.names[column] for column in columns)
        display = cls(rows.X[:, columns], rows.y, local, value, radius, names, problem.classes)
        return display.plot(ax, surface=surface)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Axes | None = None, surface: bool = True, **options: Any
    ) -> ClassifiabilityDisplay:
        """Draw the rows over the two best features of a fitted selector (the first two that it chose).

        Parameters
        ----------
        estimator : fitted selector
            With `get_support`.
        X : array or data frame
            The rows.
        y : array
            Their classes.
        ax : matplotlib Axes, optional
            New ones if left out.
        surface : bool, default=True
            Draw the label surface behind the rows.
        **options : as for `fewer.criteria.Classifiability`
            How the neighborhood is chosen.

        Returns
        -------
        ClassifiabilityDisplay
            Drawn.
        """
        chosen = np.flatnonzero(estimator.get_support())
        order = chosen[np.argsort(estimator.ranking_[chosen], kind="stable")][:2]
        return cls.from_data(X, y, features=[int(i) for i in order], ax=ax, surface=surface, **options)

    def _draw(self, ax: Axes, surface: bool = True) -> None:
        x, both = self.points[:, 0], self.points.shape[1] == 2
        height = self.points[:, 1] if both else self.y.astype(np.float64)
        surface = surface and both and len(self.classes) == 2
        if surface:
            self._draw_surface(ax)
        for code in range(len(self.classes)):
            rows = self.y == code
            drawn = ax.scatter(
                x[rows], height[rows], c=self.local[rows], marker=MARKERS[code % len(MARKERS)], cmap=SEQUENTIAL,
                vmin=-1, vmax=1, s=24, linewidths=0.5, edgecolors="#333333", zorder=3,
            )  # fmt: skip
        ax.set(xlabel=self.names[0], ylabel=self.names[1] if both else "class")
        if not both:
            ax.set_yticks(range(len(self.classes)), [str(label) for label in self.classes])
        ax.set_title(f"L = {self.value:.2f}, {np.mean(self.local < 0):.0%} of the rows among others")
        figure_of(ax).colorbar(drawn, ax=ax, label="C(x): −1 among others, 1 among its own", shrink=0.9)
        self._explain(ax, surface)

    def _explain(self, ax: Axes, surface: bool) -> None:
        """Say below the data which marker is which class, and what the grey ground is."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: list[Any] = [
            Line2D([], [], marker=MARKERS[code % len(MARKERS)], ls="", mfc="white", mec="#333333", label=str(label))
            for code, label in enumerate(self.classes)
        ]
        if surface:
            handles.append(Patch(color="#9a9a9a", label=f"darker ground: more of class {self.classes[1]} nearby"))
        ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=min(len(handles), 6))

    def _draw_surface(self, ax: Axes) -> None:
        """Shade the share of the second class within the radius of each point, where there are rows."""
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        span = np.where(high > low, high - low, 1.0)
        steps = [np.linspace(low[k] - 0.03 * span[k], high[k] + 0.03 * span[k], GRID) for k in (0, 1)]
        across = (steps[0][:, None] - self.points[:, 0]) / span[0]
        share = np.full((GRID, GRID), np.nan)
        for row, level in enumerate(steps[1]):
            up = (level - self.points[:, 1]) / span[1]
            near = across**2 + up**2 <= self.radius**2
            count = near.sum(axis=1)
            share[row] = np.divide(near @ self.y, count, out=np.full(GRID, np.nan), where=count > 0)
        ax.contourf(*steps, share, levels=np.linspace(0, 1, 6), cmap="Greys", alpha=0.45, zorder=1)


@dataclass
class GammaDisplay(Display):
    """The points (Δ, Γ), the line through them, and γ where it meets Δ = 0.

    Parameters
    ----------
    delta, gammas : arrays
        The points.
    gamma, slope : float
        The line.
    interval : (float, float)
        Of γ, drawn as a bar at Δ = 0.

    Examples
    --------
    >>> from fewer.criteria import gamma_test
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> display = GammaDisplay.from_result(gamma_test(X, np.sin(6 * X[:, 0])))
    >>> len(display.delta)
    10
    """

    delta: FloatArray
    gammas: FloatArray
    gamma: float
    slope: float
    interval: tuple[float, float]

    @classmethod
    def from_result(cls, result: Any) -> GammaDisplay:
        """Take what `gamma_test` found.

        Parameters
        ----------
        result : GammaTestResult
            What `gamma_test` returns.

        Returns
        -------
        GammaDisplay
            Not drawn yet; call `plot`.
        """
        return cls(result.delta, result.Gamma, result.gamma, result.slope, result.interval)

    def _draw(self, ax: Axes) -> None:
        ends = np.array([0.0, float(self.delta.max())])
        ax.plot(ends, self.gamma + self.slope * ends, color=COLORS[1], label=f"line, γ = {self.gamma:.2g}")
        ax.plot(self.delta, self.gammas, marker="o", linestyle="none", color=COLORS[0], label="neighbors 1, 2, …")
        half = np.abs(np.array(self.interval) - self.gamma)[:, None]
        ax.errorbar([0.0], [self.gamma], yerr=half, color=COLORS[3], capsize=4, label="its 95 % interval")
        ax.set(xlabel="Δ: mean squared distance to the neighbors", ylabel="Γ: half mean squared\ndifference of y")
        ax.locator_params(axis="x", nbins=4)
        legend_below(ax, ncols=3)


@dataclass
class MTestDisplay(Display):
    """γ against the number of rows: a curve that has become level says that the rows are enough.

    Parameters
    ----------
    curve : array of shape (n_sizes, 3)
        Columns M, γ and standard error, as `GammaTestResult.m_test` gives them.

    Examples
    --------
    >>> import numpy as np
    >>> display = MTestDisplay(np.array([[50, 0.02, 0.01], [100, 0.01, 0.005]])).plot()
    >>> len(display.ax_.lines) > 0
    True
    """

    curve: FloatArray

    def _draw(self, ax: Axes) -> None:
        rows, gamma, error = self.curve.T
        ax.fill_between(rows, gamma - 2 * error, gamma + 2 * error, color=COLORS[0], alpha=0.15, linewidth=0)
        ax.plot(rows, gamma, marker="o", color=COLORS[0])
        ax.set(xlabel="M: number of rows", ylabel="γ (band: two standard errors)")
