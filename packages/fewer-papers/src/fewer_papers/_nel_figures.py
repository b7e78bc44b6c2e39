"""Nel's figures, drawn again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.criteria import gamma_test
from fewer.datasets import make_nel_shifted, make_nel_surrounded, make_nel_three_features
from fewer.io import to_problem
from fewer.models import RANNClassifier
from fewer.plots._style import COLORS, LINES, MARKERS, legend_beside, new_figure
from fewer.rankers._mutual_information import Kernels
from fewer_papers._core import Absent, Rerun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEVEN = [subset for size in (1, 2, 3) for subset in combinations(range(3), size)]


def two_directions(run: Rerun) -> Figure:
    """Figure 3.1: the direction of most variance, and the one that tells two classes apart."""
    rng = run.rng("figure 3.1")
    y = np.repeat([0, 1], 80)
    X = rng.normal(size=(160, 2)) @ np.array([[2.4, 2.0], [0.0, 0.45]]) + np.where(
        y[:, None] == 1, [0.9, -0.9], [-0.9, 0.9]
    )
    principal = np.linalg.eigh(np.cov(X.T))[1][:, -1]
    within = sum(np.cov(X[y == code].T) for code in (0, 1))
    discriminant = np.linalg.solve(within, X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    discriminant /= np.linalg.norm(discriminant)
    figure, (left, right) = new_figure(1, 2, size=(4.4, 3.4))
    _scatter(left, X, y)
    for number, (direction, label) in enumerate(((principal, "principal component"), (discriminant, "discriminant"))):
        ends = np.outer([-6, 6], direction) + X.mean(axis=0)
        left.plot(*ends.T, color="black", linestyle=LINES[number], linewidth=1.2, label=label)
        for code in (0, 1):
            places = (X[y == code] - X.mean(axis=0)) @ direction
            right.plot(places, np.full(len(places), 1 - number + 0.12 * code), MARKERS[code], color=COLORS[code], ms=3)
    left.set(xlabel="feature 1", ylabel="feature 2", xlim=(-8, 8), ylim=(-7, 7))
    right.set(xlabel="place along the direction", ylim=(-0.4, 1.6), title="the rows, projected")
    right.set_yticks([0.06, 1.06], ["discriminant", "principal"])
    legend_beside(left)
    return figure


def three_features(run: Rerun) -> Figure:
    """Figure 4.1: the three-feature data in its three planes."""
    X, y = make_nel_three_features(random_state=run.seed)
    table = X.to_numpy()
    figure, axes = new_figure(1, 3, size=(3.2, 3.0))
    for panel, (a, b) in zip(axes, combinations(range(3), 2), strict=True):
        _scatter(panel, table[:, [a, b]], y)
        panel.set(xlabel=f"feature {a + 1}", ylabel=f"feature {b + 1}")
    legend_beside(axes[-1])
    return figure


def three_informations(run: Rerun) -> Figure:
    """Figure 4.2: information between the class and the three features, and between the features."""
    X, y = make_nel_three_features(random_state=run.seed)
    kernels = Kernels(to_problem(X, y))
    relevance = kernels.relevance()
    names = ["C, f1", "C, f2", "C, f3", "f1, f2", "f1, f3", "f2, f3"]
    values = [*relevance, kernels.redundancy(0)[1], kernels.redundancy(0)[2], kernels.redundancy(1)[2]]
    figure, axes = new_figure(size=(5.2, 3.0))
    axes.bar(names, values, color=[COLORS[0]] * 3 + [COLORS[1]] * 3, edgecolor="black", linewidth=0.6)
    axes.set(xlabel="pair", ylabel="mutual information (nats)")
    axes.grid(axis="x", visible=False)
    return figure


def wdbc_line(run: Rerun) -> Figure:
    """Figure 5.1: the points and the line of the Gamma Test on WDBC."""
    data = run.load("wdbc").problem
    figure, axes = new_figure(size=(5.2, 3.4))
    _line(axes, gamma_test(data.X, data.y, n_neighbors=50), "WDBC, all 30 features", 0)
    _name_axes(axes)
    legend_beside(axes)
    return figure


def shifted_classes(run: Rerun) -> Figure:
    """Figure 5.2: two normal classes, one shifted by (3, 3)."""
    X, y = make_nel_shifted(3.0, random_state=run.seed)
    figure, axes = new_figure(size=(4.4, 3.6))
    _scatter(axes, X.to_numpy(), y)
    axes.set(xlabel="feature 1", ylabel="feature 2")
    legend_beside(axes)
    return figure


def three_feature_lines(run: Rerun) -> Figure:
    """Figure 5.3: the lines of the seven subsets of the three-feature data."""
    X, y = make_nel_three_features(random_state=run.seed)
    table = X.to_numpy()
    figure, axes = new_figure(size=(5.6, 3.8))
    for number, subset in enumerate(SEVEN):
        result = gamma_test(table[:, list(subset)], y, n_neighbors=30)
        _line(axes, result, " ".join(f"f{f + 1}" for f in subset), number)
    _name_axes(axes)
    legend_beside(axes)
    return figure


def surrounded_class(run: Rerun) -> Figure:
    """Figure 5.4: a class between two lumps of the other, and the S-shaped curve that it makes."""
    X, y = make_nel_surrounded(random_state=run.seed)
    figure, (left, right) = new_figure(1, 2, size=(4.4, 3.4))
    _scatter(left, X.to_numpy(), y)
    left.set(xlabel="feature 1", ylabel="feature 2", title="(a) class 1 between two lumps of class 2")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    result = gamma_test(X, y, n_neighbors=300, scaling="none")
    right.plot(result.delta, result.Gamma, color=COLORS[0], label="Γ against Δ, 300 neighbors")
    for number, fit in enumerate(("line", "local"), start=1):
        found = gamma_test(X, y, n_neighbors=300, scaling="none", fit=fit)  # type: ignore[arg-type]
        ends = np.array([0.0, result.delta[-1]])
        heights = found.gamma + found.slope * ends
        right.plot(ends, heights, color=COLORS[number], ls=LINES[number], label=f"{fit} fit, γ = {found.gamma:.3f}")
    right.set(title="(b) the curve bends")
    _name_axes(right)
    legend_beside(right)
    return figure


def three_feature_networks(run: Rerun) -> Figure:
    """Figure 6.2: test accuracy of networks on the seven subsets of the three-feature data."""

    def compute() -> list[list[float]]:
        X, y = make_nel_three_features(random_state=run.seed)
        table = X.to_numpy()
        results = []
        for subset in SEVEN:
            scores = []
            for number in range(5 if run.quick else 20):
                rng = run.rng(f"figure 6.2 {number}")
                order = rng.permutation(len(y))
                train, test = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
                model = RANNClassifier(20, random_state=number).fit(table[train][:, list(subset)], y[train])
                scores.append(100.0 * float(model.score(table[test][:, list(subset)], y[test])))
            results.append(scores)
        return results

    scores = np.array(run.once("figure 6.2", compute))
    figure, axes = new_figure(size=(5.2, 3.0))
    labels = [", ".join(str(f + 1) for f in subset) for subset in SEVEN]
    axes.bar(labels, scores.mean(axis=1), yerr=scores.std(axis=1, ddof=1), color=COLORS[0], capsize=3)
    axes.axhline(50, color=COLORS[3], ls=":", label="chance")
    axes.set(xlabel="features used", ylabel="test accuracy of the network (%)", ylim=(40, 102))
    axes.grid(axis="x", visible=False)
    legend_beside(axes)
    return figure


def panels(run: Rerun, pair: Callable[..., Any], names: Sequence[str], kind: str, classifier: str) -> Figure:
    """Figures 7.1–7.8: accuracy on the left, the criterion on the right, one dotted line a run and their mean."""
    known = {}
    for name in names:
        found = run.attempt(partial(pair, run, name))
        if not isinstance(found, Absent):
            known[name] = found
    figure, grid = new_figure(len(known), 2, size=(4.2, 2.6), squeeze=False)
    word = "random subset (Table B.1)" if kind == "gamma" else "feature"
    for row, (name, (values, accuracy)) in zip(grid, known.items(), strict=True):
        for panel, lines, label in (
            (row[0], accuracy, f"test accuracy of {'the network' if classifier == 'RANN' else 'k-NN'} (%)"),
            (row[1], values, "γ" if kind == "gamma" else "mutual information (nats)"),
        ):
            places = np.arange(1, lines.shape[1] + 1)
            panel.plot(places, lines.T, color=COLORS[5], ls=":", lw=0.7)
            panel.plot(places, lines.mean(axis=0), color=COLORS[0], marker="o", ms=3)
            panel.set(xlabel=word, ylabel=label, title=f"{name}, {len(lines)} runs and their mean")
            panel.xaxis.get_major_locator().set_params(integer=True)
    return figure


def _scatter(axes: Any, points: Any, y: Any) -> None:
    for number, code in enumerate(np.unique(y)):
        rows = y == code
        axes.scatter(
            *points[rows].T, s=9, color=COLORS[number], marker=MARKERS[number], label=f"class {number + 1}", alpha=0.8
        )


def _line(axes: Any, result: Any, label: str, number: int) -> None:
    color, line = COLORS[number % len(COLORS)], LINES[number % len(LINES)]
    axes.plot(result.delta, result.Gamma, color=color, ls="", marker=MARKERS[number], ms=3)
    ends = np.array([0.0, result.delta[-1]])
    axes.plot(ends, result.gamma + result.slope * ends, color=color, ls=line, label=f"{label}: γ = {result.gamma:.4f}")


def _name_axes(axes: Any) -> None:
    axes.set(xlabel="mean squared distance Δ(p)", ylabel="half mean squared output difference Γ(p)")
