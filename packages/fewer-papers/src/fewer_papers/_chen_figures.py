"""Figures of Chen's thesis: 7–10 and, for each public data set, rankings, curves and planted features."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.models import GMLVQClassifier
from fewer.plots import PlantedDisplay, RelevanceDisplay
from fewer.plots._style import COLORS, LINES, MARKERS, legend_beside, new_figure
from fewer.problem import FloatArray
from fewer_papers import _chen
from fewer_papers._chen import GMLVQ, OMEGA, STOPPED, SVM, Case, counts_of, curves_of, forces_of, problem_of
from fewer_papers._curves import ORIGINAL, Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fewer_papers._core import Rerun

BREAST = _chen.CASES[2]
SHOWN = 30


def draw(name: str, run: Rerun) -> Figure:
    """Draw one figure by its printed number."""
    if name in ALONE:
        return ALONE[name](run)
    if name.startswith("13-"):
        return top_three(run, next(case for case in _chen.CASES if case.set == name[3:]))
    number = int(name)
    case = next(case for case in _chen.CASES if 0 <= number - case.first_figure < 5)
    return FAMILY[number - case.first_figure](run, case)


def relevances(run: Rerun, alpha: float | str) -> FloatArray:
    """Return the relevances of one model of breast cancer that stops by a fourth of the rows."""
    problem = problem_of(run, BREAST)
    model = GMLVQClassifier(alpha=alpha, early_stopping=True, random_state=run.seed)  # type: ignore[arg-type]
    return model.fit(problem.X, problem.y).relevances_


def figure_7(run: Rerun) -> Figure:
    """Diagonal elements of Λ."""
    figure, ax = new_figure(size=(6.4, 3.0))
    RelevanceDisplay({"": relevances(run, "auto")}).plot(ax)
    ax.set_title("Breast cancer: diagonal of Λ (the thesis shows a set that is not public)")
    return figure


def figure_8(run: Rerun) -> Figure:
    """Performance against the entropy force."""
    alphas = (0.0, 0.9, 9.0, 30.0, 90.0, 300.0, 900.0)
    found = {"stopped by validation rows": forces_of(run, BREAST, alphas)}
    found["150 steps"] = forces_of(run, BREAST, alphas, stop=False)
    figure, panels = new_figure(1, 2, size=(4.2, 3.0))
    for ax, key, label in zip(panels, ("auc", "effective"), ("AUC on test rows", "effective features"), strict=True):
        for number, (name, values) in enumerate(found.items()):
            ax.plot(alphas, values[key], label=name, marker=MARKERS[number], linestyle=LINES[number])
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
        ax.axvline(90, color="#777777", linewidth=0.8)
        ax.set_xlabel("entropy force α (line: N² / 10)")
        ax.set_ylabel(label)
        ax.set_title("Breast cancer")
    legend_beside(panels[-1])
    return figure


def figure_9(run: Rerun) -> Figure:
    """Relevances with and without the entropy force."""
    figure, ax = new_figure(size=(6.4, 3.0))
    RelevanceDisplay({"with force": relevances(run, "auto"), "without": relevances(run, 0.0)}).plot(ax)
    ax.set_title("Breast cancer: relevances with and without the entropy force")
    return figure


def figure_10(run: Rerun) -> Figure:
    """Descent with a fixed step, and with waypoint averaging, in a long valley: the one circles, the other arrives."""
    figure, ax = new_figure(size=(5.6, 3.0))
    grid_x, grid_y = np.meshgrid(np.linspace(-4.5, 1.5, 120), np.linspace(-1.6, 1.6, 80))
    ax.contour(
        grid_x, grid_y, np.sqrt(_valley(np.stack([grid_x, grid_y]))), levels=12, colors="#c8c8c8", linewidths=0.7
    )
    for number, (name, averaging) in enumerate((("fixed step", False), ("waypoint averaging", True))):
        path = _path(averaging)
        ax.plot(*path.T, marker=MARKERS[number], linestyle=LINES[1 - number], color=COLORS[number], label=name)
    ax.plot(0, 0, marker="+", color="black", markersize=11)
    ax.set_title("Descent in a long valley")
    ax.set_xlabel("x")
    ax.set_ylabel("y")
    legend_beside(ax)
    return figure


def _valley(place: Any) -> Any:
    return 0.5 * place[0] ** 2 + 8.0 * place[1] ** 2


def _path(averaging: bool, step: float = 0.9, n_steps: int = 60) -> FloatArray:
    places = [np.array([-4.0, 0.9])]
    recent: deque[FloatArray] = deque(places, maxlen=3)
    for t in range(n_steps):
        slope = np.array([1.0, 16.0]) * places[-1]
        proposal = places[-1] - step * slope / np.linalg.norm(slope)
        middle = np.mean(recent, axis=0)
        if averaging and t >= 3 and _valley(proposal) > _valley(middle):
            proposal, step = middle, step * 2 / 3
        places.append(proposal)
        recent.append(proposal)
    return np.array(places)


def mean_ranks(run: Rerun, case: Case) -> Figure:
    """Mean rank of each feature by the four methods (figures 18, 23, 28, 33)."""
    ranks = curves_of(run, case).mean_ranks()
    best = np.sort(np.argsort(np.min(list(ranks.values()), axis=0), kind="stable")[:SHOWN])
    figure, ax = new_figure(size=(7.2, 3.2))
    for number, (name, values) in enumerate(ranks.items()):
        ax.plot(
            np.arange(len(best)), values[best], label=name, marker=MARKERS[number], linestyle="", color=COLORS[number]
        )
    ax.set_xticks(np.arange(len(best)), [str(i + 1) for i in best], fontsize=7)
    ax.invert_yaxis()
    ax.set_xlabel("feature" + ("" if len(best) == len(next(iter(ranks.values()))) else f" (the {SHOWN} best placed)"))
    ax.set_ylabel("mean rank (1 is best)")
    ax.set_title(case.name)
    legend_beside(ax)
    return figure


def top_three(run: Rerun, case: Case) -> Figure:
    """How often each feature is among the first three, for each method (as figure 13)."""
    orders = curves_of(run, case).orders
    figure, panels = new_figure(2, 2, size=(4.0, 2.2), sharey=True)
    for ax, (name, order) in zip(panels.flat, orders.items(), strict=True):
        shares = np.bincount(order[:, :3].ravel(), minlength=order.shape[1]) / len(order)
        ax.bar(np.arange(1, len(shares) + 1), shares, color=COLORS[0])
        ax.set_title(name)
        ax.set_xlabel("feature")
        ax.set_ylabel("share of rounds")
    figure.suptitle(f"{case.name}: features among the first three")
    return figure


def size_lines(ax: Axes, curves: Curves, evaluator: str, beside: dict[str, FloatArray] | None = None) -> None:
    """Draw the area under the ROC curve against the number of leading features, a line for each ranker."""
    for number, (name, curve) in enumerate({**curves.mean(evaluator), **(beside or {})}.items()):
        look = COLORS[number], LINES[number % len(LINES)], MARKERS[number]
        ax.plot(curves.sizes, curve, label=name, color=look[0], linestyle=look[1], marker=look[2])
    ax.set(xlabel="leading features", ylabel=f"AUC on test rows ({evaluator})")
    legend_beside(ax)


def curves_by_gmlvq(run: Rerun, case: Case) -> Figure:
    """AUC against subset size, by GMLVQ, with the original Omega (figures 19, 24, 29, 34)."""
    curves = curves_of(run, case)
    figure, panels = new_figure(1, 2, size=(4.4, 3.2), sharey=True)
    for ax, evaluator in zip(panels, (GMLVQ, STOPPED), strict=True):
        size_lines(ax, curves, evaluator, {OMEGA: curves.mean(ORIGINAL)[GMLVQ]})
        ax.set_title("evaluator " + ("learns to the end" if evaluator == GMLVQ else "stops by validation rows"))
    panels[0].get_legend().remove()
    panels[0].set_ylabel("AUC on test rows (GMLVQ)")
    panels[1].set_ylabel("")
    figure.suptitle(case.name)
    return figure


def curves_by_svm(run: Rerun, case: Case) -> Figure:
    """AUC against subset size, by an RBF-SVM (figures 20, 25, 30, 35)."""
    figure, ax = new_figure(size=(5.4, 3.2))
    size_lines(ax, curves_of(run, case), SVM)
    ax.set_title(case.name)
    return figure


def irrelevant(run: Rerun, case: Case) -> Figure:
    """Irrelevant features against subset size (figures 21, 26, 31, 36)."""
    figure, ax = new_figure(size=(5.4, 3.2))
    _draw_counts(ax, run, case, "irrelevant")
    return figure


def redundant(run: Rerun, case: Case) -> Figure:
    """Redundant features against subset size, and where copies stand beside their originals (as figure 17)."""
    figure, (above, below) = new_figure(2, 1, size=(5.4, 3.2))
    _draw_counts(above, run, case, "redundant")
    orders, n_original = _chen.planted_orders(run, case, "redundant"), problem_of(run, case).n_features
    labels, columns, places = [], [], []
    for number, source in enumerate(case.copied):
        labels += [f"{source}", *(f"{source}~{ratio}" for ratio in _chen.RATIOS)]
        columns += [source - 1, *(n_original + number * len(_chen.RATIOS) + k for k in range(len(_chen.RATIOS)))]
        places += [number * (len(_chen.RATIOS) + 2) + k for k in range(len(_chen.RATIOS) + 1)]
    for number, name in enumerate(_chen.rankers()):
        ranks = (np.argsort(orders[name], axis=1) + 1).mean(axis=0)[columns]
        below.plot(places, ranks, label=name, marker=MARKERS[number], linestyle="", color=COLORS[number])
    below.set_xticks(places, labels, rotation=90)
    below.invert_yaxis()
    below.set_xlabel("feature, and its copies ~ signal-to-noise ratio")
    below.set_ylabel("mean rank (1 is best)")
    legend_beside(below)
    return figure


def _draw_counts(ax: Axes, run: Rerun, case: Case, kind: str) -> None:
    counts = counts_of(run, case, kind)
    PlantedDisplay(counts).plot(ax, label=f"{kind} features among them")
    ax.set_title(f"{case.name} with {counts.n_added} {kind} features")


ALONE: dict[str, Callable[[Rerun], Figure]] = {"7": figure_7, "8": figure_8, "9": figure_9, "10": figure_10}
FAMILY: tuple[Callable[[Rerun, Case], Figure], ...] = (
    mean_ranks,
    curves_by_gmlvq,
    curves_by_svm,
    irrelevant,
    redundant,
)
