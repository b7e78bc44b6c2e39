"""The line of the Gamma Test, and the M-test that says whether the rows are enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.plots._display import Display, figure_of
from fewer.plots._style import COLORS, axes_or_new, legend_below, style
from fewer.problem import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    def plot(self, ax: Axes | None = None) -> GammaDisplay:
        with style():
            ax = axes_or_new(ax)
            ends = np.array([0.0, float(self.delta.max())])
            ax.plot(ends, self.gamma + self.slope * ends, color=COLORS[1], label=f"line, γ = {self.gamma:.4g}")
            ax.plot(self.delta, self.gammas, marker="o", linestyle="none", color=COLORS[0], label="neighbors 1, 2, …")
            half = np.abs(np.array(self.interval) - self.gamma)[:, None]
            ax.errorbar([0.0], [self.gamma], yerr=half, color=COLORS[3], capsize=4, label="its 95 % interval")
            ax.set(xlabel="Δ: mean squared distance to the neighbors", ylabel="Γ: half mean squared\ndifference of y")
            ax.locator_params(axis="x", nbins=4)
            legend_below(ax, ncols=3)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self


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

    def plot(self, ax: Axes | None = None) -> MTestDisplay:
        with style():
            ax = axes_or_new(ax)
            rows, gamma, error = self.curve.T
            ax.fill_between(rows, gamma - 2 * error, gamma + 2 * error, color=COLORS[0], alpha=0.15, linewidth=0)
            ax.plot(rows, gamma, marker="o", color=COLORS[0])
            ax.set(xlabel="M: number of rows", ylabel="γ (band: two standard errors)")
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self
