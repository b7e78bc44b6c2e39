"""Pictures of single features: rankings and their agreement, redundancy, planted columns, GMLVQ relevances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.contracts import Ranker, Resources
from fewer.evaluate import PlantedCounts, redundancy
from fewer.evaluate.associations import rank_correlation
from fewer.io import to_problem
from fewer.plots._sizes import draw_bars
from fewer.plots._style import COLORS, DIVERGING, LINES, MARKERS, SEQUENTIAL, Display, figure_of, legend_beside, wrapped
from fewer.problem import FloatArray, IntArray
from fewer.statistics import Associations, Measure
from fewer.text import cut
from fewer.validate import assign_folds, nogueira

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class RankingDisplay(Display):
    """The score of each feature, best first, with the spread of its rank and the stability of the ranking.

    Parameters
    ----------
    names : list of str
        Of the columns.
    scores : array
        Best first.
    spread : array, optional
        Drawn as error bars.
    chosen : int
        How many of the first were selected; their bars are filled.
    stability : float, optional
        Of these first features over resamples; shown in the title.
    label : str
        What the scores are.

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
    stability: float | None = None
    label: str = "score of the feature"

    @classmethod
    def from_estimator(cls, selector: Any, *, top: int = 30, ax: Axes | None = None) -> RankingDisplay:
        """Draw the best features of a fitted `RankSelector`.

        Parameters
        ----------
        selector : fitted RankSelector
            With `ranking_`.
        top : int, default=30
            How many features to draw.
        ax : matplotlib Axes, optional
            New ones if left out.

        Returns
        -------
        RankingDisplay
            Drawn.
        """
        names = vars(selector).get("feature_names_in_", [f"x{i}" for i in range(selector.n_features_in_)])
        order = np.argsort(selector.ranking_, kind="stable")[:top]
        spread, chosen = selector.extra_.get("spread"), int(min(selector.support_.sum(), top))
        errors = None if spread is None else spread[order]
        return cls([str(names[i]) for i in order], selector.scores_[order], errors, chosen).plot(ax)

    @classmethod
    def from_resamples(
        cls, ranker: Ranker, X: Any, y: Any, *, n_resamples: int = 20, chosen: int = 5, top: int = 30,
        random_state: int | None = None,
    ) -> RankingDisplay:  # fmt: skip
        """Rank random halves of the rows, stratified by class, and see how far the rankings agree.

        A bar shows how many features one beats on average over the halves, its error bar the standard deviation of
        the rank. The stability is Nogueira's measure of the first `chosen` features of each half: 1 if they are
        always the same, 0 if they agree as much as chance.

        Parameters
        ----------
        ranker : Ranker
            Who ranks.
        X : array or data frame of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their target.
        n_resamples : int, default=20
            How many halves.
        chosen : int, default=5
            How many leading features the stability is about.
        top : int, default=30
            How many features to draw.
        random_state : int or None, default=None
            Seed.

        Returns
        -------
        RankingDisplay
            Not drawn yet; call `plot`.
        """
        problem, rng = to_problem(X, y), np.random.default_rng(random_state)
        ranks = []
        for _ in range(n_resamples):
            half = problem.take(assign_folds(problem, 2, rng) == 0)
            ranks.append(np.argsort(ranker.rank(half, rng, Resources()).order) + 1)
        table = np.array(ranks)
        order = np.argsort(table.mean(axis=0), kind="stable")[:top]
        beaten, spread = problem.n_features - table.mean(axis=0)[order], table.std(axis=0)[order]
        label = f"features that it beats, mean of {n_resamples} halves of the rows"
        stability = nogueira(table <= chosen).estimate
        return cls([problem.names[i] for i in order], beaten, spread, chosen, stability, label)

    def _draw(self, ax: Axes) -> None:
        drawn = np.where(np.isfinite(self.scores), self.scores, np.nan)
        draw_bars(ax, self.names, drawn, np.arange(len(self.names)) < self.chosen, xerr=self.spread, ecolor=COLORS[5])
        ax.set(xlabel=self.label)
        if self.stability is not None:
            ax.set_title(f"stability of the first {self.chosen}: {self.stability:.2f}")


@dataclass
class AgreementDisplay(Display):
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

    @classmethod
    def from_rankings(cls, rankings: Mapping[str, Sequence[int]]) -> AgreementDisplay:
        """Compare rankings (`ranking_` of fitted selectors, one number a feature).

        Parameters
        ----------
        rankings : dict of str to sequence of int
            By name; 1 is best.

        Returns
        -------
        AgreementDisplay
            Not drawn yet; call `plot`.
        """
        rows = [np.asarray(ranking, dtype=np.float64) for ranking in rankings.values()]
        return cls(list(rankings), np.array([[rank_correlation(one, other) for other in rows] for one in rows]))

    def _draw(self, ax: Axes) -> None:
        draw_matrix(ax, self.correlation, self.names, (-1.0, 1.0), DIVERGING, "rank correlation")


@dataclass
class RedundancyDisplay(Display):
    """How far features repeat each other, from 0 (not at all) to 1 (one determines the other).

    Parameters
    ----------
    names : list of str
        Of the columns.
    values : array of shape (n_features, n_features)
        As `fewer.evaluate.redundancy` measures them: absolute rank correlations, and their like for nominal features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> RedundancyDisplay.from_table(X.iloc[:, 2:]).values.round(2).tolist()
    [[1.0, 0.94], [0.94, 1.0]]
    """

    names: list[str]
    values: FloatArray

    @classmethod
    def from_table(cls, X: Any, columns: Sequence[int] | None = None) -> RedundancyDisplay:
        """Compare columns (numbers; all unless given) of a table.

        Parameters
        ----------
        X : array or data frame
            The rows.
        columns : sequence of int, optional
            Which columns; all by default.

        Returns
        -------
        RedundancyDisplay
            Not drawn yet; call `plot`.
        """
        problem = to_problem(X, np.arange(len(X)), task="regression")  # kinds and missing alone matter
        matrix = redundancy(problem, range(problem.n_features) if columns is None else columns)
        return cls(matrix["names"], np.array(matrix["values"]))

    @classmethod
    def from_estimator(cls, selector: Any, X: Any, *, ax: Axes | None = None) -> RedundancyDisplay:
        """Draw how far the features that a fitted selector chose repeat each other.

        Parameters
        ----------
        selector : fitted selector
            With `get_support`.
        X : array or data frame
            The rows.
        ax : matplotlib Axes, optional
            New ones if left out.

        Returns
        -------
        RedundancyDisplay
            Drawn.
        """
        return cls.from_table(X, np.flatnonzero(selector.get_support()).tolist()).plot(ax)

    def _draw(self, ax: Axes) -> None:
        draw_matrix(ax, self.values, self.names, (0.0, 1.0), SEQUENTIAL, "how far they repeat each other")


@dataclass
class DendrogramDisplay(Display):
    """Which columns are alike: joined where their clusters' mean association is, the line at a threshold.

    Parameters
    ----------
    names : list of str
        The columns.
    values : array of shape (n_features, n_features)
        Their associations, between 0 and 1.
    threshold : float, optional
        Where the line is drawn.
    kept : sequence of str, optional
        Columns to mark with a dot, such as the ones that `fewer.control.Correlated` keeps.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = DendrogramDisplay.from_table(X, y, threshold=0.9).plot()
    >>> display.ax_.get_xlabel()
    'association'
    """

    names: list[str]
    values: FloatArray
    threshold: float | None = None
    kept: Sequence[str] = ()

    @classmethod
    def from_table(
        cls, X: Any, y: Any, *, threshold: float | None = None, measure: Measure = "pearson", kept: Sequence[str] = ()
    ) -> DendrogramDisplay:
        """Compare the columns of a table.

        Parameters
        ----------
        X : array or data frame
            The rows; up to some hundred columns can be read.
        y : array
            The target.
        threshold : float, optional
            Where the line is drawn.
        measure : {"pearson", "spearman"}, default="pearson"
            How two numbers are compared.
        kept : sequence of str, optional
            Columns to mark.

        Returns
        -------
        DendrogramDisplay
            Not drawn yet; call `plot`.
        """
        problem = to_problem(X, y)
        columns = np.arange(problem.n_features)
        return cls(list(problem.names), Associations(problem, measure).block(columns, columns), threshold, kept)

    def _draw(self, ax: Axes) -> None:
        from scipy.cluster.hierarchy import dendrogram, linkage
        from scipy.spatial.distance import squareform

        apart = 1.0 - (self.values + self.values.T) / 2.0
        np.fill_diagonal(apart, 0.0)
        joined = linkage(squareform(apart, checks=False), method="average")
        labels = [f"{cut(name, 22)}{' ●' if name in self.kept else ''}" for name in self.names]
        look: dict[str, Any] = {"orientation": "left", "leaf_font_size": 8, "link_color_func": lambda _: COLORS[0]}
        dendrogram(joined, labels=labels, ax=ax, **look)
        ax.set_xticks(ticks := np.linspace(0.0, 1.0, 6), [f"{1.0 - tick:.1f}" for tick in ticks])
        ax.set_xlabel("association")
        if self.threshold is not None:
            ax.axvline(1.0 - self.threshold, color="#444444", linestyle="--", linewidth=0.8)


def draw_matrix(
    ax: Axes, values: FloatArray, names: Sequence[str], limits: tuple[float, float], colors: str, title: str,
    texts: Any = None,
) -> None:  # fmt: skip
    """Draw a square table of numbers in colors, with texts, or the numbers where there is room for them."""
    image = ax.imshow(values, vmin=limits[0], vmax=limits[1], cmap=colors)
    labels = [cut(name, 22 if texts is None else 14) for name in names]
    turned: dict[str, Any] = {"rotation": 45, "ha": "right"} if texts is None else {}
    ax.set_xticks(range(len(names)), labels, parse_math=False, **turned)
    ax.set_yticks(range(len(names)), labels, parse_math=False)
    ax.grid(visible=False)
    if len(names) <= 12 or texts is not None:
        for (i, j), value in np.ndenumerate(values):
            text, size = (f"{value:.2f}", 7) if texts is None else (f"{texts[i, j]:,}", None)
            ink = readable_on(image.to_rgba(np.array([value]))[0])
            ax.text(j, i, text, ha="center", va="center", color=ink, fontsize=size)
    figure_of(ax).colorbar(image, ax=ax, label=title, shrink=0.8)


def readable_on(color: Any) -> str:
    """Choose black or white ink, whichever has more contrast with a color as people see it (WCAG 2)."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color[:3])
    return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "white"


@dataclass
class PlantedDisplay(Display):
    """How many planted features are among the first of each ranking, with the chance line.

    The grey band holds one random order with 90 % probability; the vertical line marks as many features as there were.
    `plot(label=...)` names the vertical axis.

    Parameters
    ----------
    counts : PlantedCounts
        What `fewer.evaluate.planted_counts` returns.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        After `plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.evaluate import planted_counts
    >>> from fewer.problem import Problem
    >>> from fewer.rankers import Fisher
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> counts = planted_counts({"Fisher": Fisher()}, problem, irrelevant=6, rng=np.random.default_rng(0))
    >>> PlantedDisplay(counts).plot().ax_.get_xlabel()
    'leading features'
    """

    counts: PlantedCounts

    def _draw(self, ax: Axes, label: str = "planted features among them") -> None:
        counts = self.counts
        sizes = np.arange(1, counts.kept.shape[2] + 1)
        ax.fill_between(sizes, *counts.chance_band(), color="#dddddd", linewidth=0, label="chance (90 %)")
        ax.plot(sizes, counts.chance, color="#777777", linestyle=":", label="chance (mean)")
        for number, (name, curve) in enumerate(zip(counts.names, counts.mean, strict=True)):
            ax.plot(sizes, curve, label=name, color=COLORS[number % len(COLORS)], linestyle=LINES[number % len(LINES)])
        ax.axvline(counts.n_original, color="#444444", linewidth=0.8)
        ax.set(xlabel="leading features", ylabel=wrapped(label))
        legend_beside(ax)


HATCHES = ("", "///", "...", "xx")
MOST_LABELS = 12


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
        step = max(len(self.names) // MOST_LABELS, 1)
        ax.set_xticks(places[::step], self.names[::step], rotation=0 if max(map(len, self.names)) < 4 else 90)
        ax.grid(visible=False, axis="x")
        ax.set(xlabel="feature", ylabel="relevance")
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


@dataclass
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

    points: FloatArray
    y: IntArray
    prototypes: FloatArray
    prototype_labels: IntArray
    classes: Sequence[Any]

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
        ax.set(xlabel="first direction of Λ", ylabel="second direction of Λ")
        legend_beside(ax, title="class (large: prototype)")
