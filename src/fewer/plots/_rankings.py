"""Rankings, how far several of them agree, and how far the chosen features repeat each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.plots._sizes import figure_of, short
from fewer.plots._style import COLORS, SEQUENTIAL, axes_or_new, style
from fewer.problem import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class RankingDisplay:
    """The score of each feature, best first, with the spread of its rank where the ranker gives one.

    Parameters
    ----------
    names : list of str
    scores : array
        Best first.
    spread : array, optional
        Drawn as error bars.
    chosen : int
        How many of the first were selected; their bars are filled.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), n_features_to_select=2).fit(X, y)
    >>> RankingDisplay.from_estimator(selector, top=3).names
    ['flavanoids', 'proline', 'od280/od315_of_diluted_wines']
    """

    names: list[str]
    scores: FloatArray
    spread: FloatArray | None = None
    chosen: int = 0
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(cls, selector: Any, *, top: int = 30) -> RankingDisplay:
        """Take the best features of a fitted `RankSelector`."""
        names = getattr(selector, "feature_names_in_", [f"x{i}" for i in range(selector.n_features_in_)])
        order = np.argsort(selector.ranking_, kind="stable")[:top]
        spread = selector.extra_.get("spread")
        return cls(
            [str(names[i]) for i in order],
            selector.scores_[order],
            None if spread is None else spread[order],
            int(min(selector.support_.sum(), top)),
        )

    def plot(self, ax: Axes | None = None) -> RankingDisplay:
        """Draw one bar a feature."""
        with style():
            ax = axes_or_new(ax)
            places = np.arange(len(self.names))[::-1]
            colors = [COLORS[0] if i < self.chosen else "white" for i in range(len(self.names))]
            drawn = np.where(np.isfinite(self.scores), self.scores, np.nan)
            ax.barh(places, drawn, xerr=self.spread, color=colors, edgecolor=COLORS[0], ecolor=COLORS[5], height=0.7)
            ax.set_yticks(places, [short(name) for name in self.names], parse_math=False)
            ax.set(xlabel="score of the feature")
            ax.grid(axis="y", visible=False)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self


@dataclass
class AgreementDisplay:
    """Rank correlation between several rankings of the same features.

    Parameters
    ----------
    names : list of str
        The rankers.
    correlation : array of shape (n_rankers, n_rankers)
        Spearman's.

    Examples
    --------
    >>> display = AgreementDisplay.from_rankings({"one": [1, 2, 3], "other": [3, 2, 1]})
    >>> display.correlation.round(3).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """

    names: list[str]
    correlation: FloatArray
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_rankings(cls, rankings: Mapping[str, Sequence[int]]) -> AgreementDisplay:
        """Compare rankings (`ranking_` of fitted selectors, one number a feature)."""
        return cls(list(rankings), _spearman(np.array(list(rankings.values()), dtype=np.float64)))

    def plot(self, ax: Axes | None = None) -> AgreementDisplay:
        """Draw the matrix with its numbers."""
        self.ax_ = _matrix(ax, self.correlation, self.names, (-1.0, 1.0), "RdYlBu", "rank correlation")
        self.figure_ = figure_of(self.ax_)
        return self


@dataclass
class RedundancyDisplay:
    """How far the chosen features repeat each other: absolute rank correlations.

    Parameters
    ----------
    names : list of str
    correlation : array of shape (n_features, n_features)

    Examples
    --------
    >>> X = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 25.0]])
    >>> RedundancyDisplay.from_table(X, ["a", "b"]).correlation.round(3).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    names: list[str]
    correlation: FloatArray
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_table(cls, X: Any, names: Sequence[str]) -> RedundancyDisplay:
        """Compare the columns of a table; rows with a hole in either column of a pair are left out."""
        return cls([str(name) for name in names], np.abs(_spearman(np.asarray(X, dtype=np.float64).T)))

    def plot(self, ax: Axes | None = None) -> RedundancyDisplay:
        """Draw the matrix with its numbers."""
        self.ax_ = _matrix(ax, self.correlation, self.names, (0.0, 1.0), SEQUENTIAL, "absolute rank correlation")
        self.figure_ = figure_of(self.ax_)
        return self


def _spearman(rows: FloatArray) -> FloatArray:
    from scipy.stats import rankdata

    result = np.eye(len(rows))
    for i in range(len(rows)):
        for j in range(i):
            both = ~np.isnan(rows[i]) & ~np.isnan(rows[j])
            one, other = rankdata(rows[i][both]), rankdata(rows[j][both])
            spread = one.std() * other.std() if both.any() else 0.0
            covariance = ((one - one.mean()) * (other - other.mean())).mean() if spread else 0.0
            result[i, j] = result[j, i] = covariance / spread if spread else 0.0
    return result


def _matrix(
    ax: Axes | None, values: FloatArray, names: list[str], limits: tuple[float, float], colors: str, title: str
) -> Axes:
    with style():
        ax = axes_or_new(ax)
        image = ax.imshow(values, vmin=limits[0], vmax=limits[1], cmap=colors)
        labels = [short(name, 18) for name in names]
        ax.set_xticks(range(len(names)), labels, rotation=45, ha="right", parse_math=False)
        ax.set_yticks(range(len(names)), labels, parse_math=False)
        ax.grid(visible=False)
        if len(names) <= 12:
            for (i, j), value in np.ndenumerate(values):
                red, green, blue, _ = image.to_rgba(np.array([value]))[0]
                light = 0.3 * red + 0.59 * green + 0.11 * blue > 0.5
                ax.text(j, i, f"{value:.2f}", ha="center", va="center", color="black" if light else "white", fontsize=7)
        figure_of(ax).colorbar(image, ax=ax, label=title, shrink=0.8)
    return ax
