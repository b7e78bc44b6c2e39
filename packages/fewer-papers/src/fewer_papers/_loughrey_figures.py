"""Loughrey's figures, drawn again from our own runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.control._early_stopping import stopping_point
from fewer.problem import FloatArray
from fewer_papers._core import Absent, Rerun
from fewer_papers._loughrey_work import (
    SETS,
    accuracy_on_test,
    accuracy_on_train,
    mean_curve,
    overfitting_by_features,
    overfitting_by_rows,
    printed_masks,
    records,
    rights,
    selections_by_chance,
    sized_search,
    spectf_by_search,
    study,
    weighted_ga,
    weighted_generations,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _panel(title: str, x: str = "level", y: str = "accuracy, percent") -> tuple[Figure, Any]:
    from fewer.plots._style import new_figure

    figure, axes = new_figure()
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure, axes


def _curve(axes: Any, values: Sequence[float] | FloatArray, label: str, number: int, **options: Any) -> None:
    from fewer.plots._style import COLORS, LINES

    axes.plot(
        np.arange(len(values)), 100 * np.asarray(values), label=label,
        **{"color": COLORS[number], "linestyle": LINES[number % len(LINES)], **options},
    )  # fmt: skip


def _legend(axes: Any) -> None:
    from fewer.plots._style import legend_beside

    legend_beside(axes)


def _bars(axes: Any, labels: Sequence[str], train: Sequence[float], test: Sequence[float]) -> None:
    from fewer.plots._style import COLORS

    places = np.arange(len(labels))
    axes.bar(places - 0.2, train, 0.4, color=COLORS[5], label="training")
    axes.bar(places + 0.2, test, 0.4, color=COLORS[0], label="test")
    axes.set_xticks(places, labels)
    axes.set_ylim(max(0, min(*train, *test) - 15), 100)


SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Of the training rows, in figure 4.2."""


def figure_4_2(run: Rerun) -> Figure:
    """Sonar: the gap shrinks as training rows become more."""
    pairs = [sized_search(run, "sonar", share) for share in SHARES]
    figure, axes = _panel("GA on sonar", "share of the training rows")
    _bars(axes, [f"{share:.0%}" for share in SHARES], [a for a, _ in pairs], [b for _, b in pairs])
    for values, place, label in (([a for a, _ in pairs], -0.2, "trend"), ([b for _, b in pairs], 0.2, None)):
        slope, start = np.polyfit(np.arange(5), values, 1)
        axes.plot(np.arange(5) + place, start + slope * np.arange(5), color="black", linewidth=0.8, label=label)
    _legend(axes)
    return figure


def figure_4_10(run: Rerun) -> Figure:
    """Spectf: longer genetic searches train higher and test lower."""
    found = spectf_by_search(run)
    figure, axes = _panel("spectf", "")
    labels, values = list(found), np.array(list(found.values()))
    _bars(axes, [label.replace(" ", "\n") for label in labels], values[:, 0].tolist(), values[:, 1].tolist())
    nodes = axes.twinx()
    nodes.plot(
        np.arange(len(labels)), values[:, 2], "D", color="white", markeredgecolor="black", label="subsets evaluated"
    )
    nodes.set_ylim(bottom=0)
    nodes.set_ylabel("subsets evaluated")
    nodes.grid(False)
    handles = [*axes.get_legend_handles_labels()[0], *nodes.get_legend_handles_labels()[0]]
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.32, 0.5))
    return figure


def figure_4_11(run: Rerun) -> Figure:
    """Artificial: the gap grows with the number of weights."""
    found = {w: weighted_ga(run, w) for w in (1, 2, 4)}
    title = f"GA (30 members, {weighted_generations(run)} generations) on artificial"
    figure, axes = _panel(title, "number of non-zero weights")
    _bars(
        axes,
        [f"w = {w}" for w in found],
        [100 * float(np.mean([r["train"] for r in f])) for f in found.values()],
        [100 * float(rights(f).mean()) for f in found.values()],
    )
    _legend(axes)
    return figure


def figure_4_12(run: Rerun) -> Figure:
    """Artificial: test accuracy over the generations with few and many weights."""
    figure, axes = _panel("GA on artificial, test rows", "generation")
    for number, w in enumerate((2, 4)):
        _curve(axes, mean_curve(weighted_ga(run, w), "tested"), f"w = {w}", number)
    _legend(axes)
    return figure


def _inner_figure(run: Rerun, name: str, method: str, title: str, folds: slice, step: str) -> Figure:
    found = study(run, name, method)[folds]
    point = stopping_point([np.array(record["validation"]) for record in found])
    figure, axes = _panel(title, step)
    _curve(axes, mean_curve(found, "training"), "training (81 %)", 1)
    _curve(axes, mean_curve(found, "validation"), "validation (9 %)", 0, linewidth=1.0)
    _curve(axes, point.smoothed, "five-point average", 3)
    axes.axvline(point.step, color="black", linewidth=0.8, linestyle=":", label=f"peak at {point.step}")
    _legend(axes)
    return figure


def figure_5_1(run: Rerun) -> Figure:
    """Artificial: validation accuracy of SA peaks and falls."""
    return _inner_figure(run, "artificial", "SAES", "SA on artificial, all validation runs", slice(None), "level")


def figure_5_8(run: Rerun) -> Figure:
    """Sonar: training accuracy of one SA run dips early."""
    figure, axes = _panel("SA on sonar, one run")
    _curve(axes, study(run, "sonar", "SA")[0]["trained"], "training", 0)
    _legend(axes)
    return figure


def figure_5_10(run: Rerun) -> Figure:
    """Glass: the validation runs of one outer fold and the stopping point."""
    return _inner_figure(run, "glass", "SAES", "SA on glass, validation runs of one outer fold", slice(0, 1), "level")


def figure_5_11(run: Rerun) -> Figure:
    """Diabetes: (a) validation runs, (b) outer runs with the modified search."""
    from fewer.plots._style import new_figure

    found = study(run, "diabetes", "SAES")
    figure, (left, right) = new_figure(1, 2, sharey=True)
    _curve(left, mean_curve(found, "training"), "training", 1)
    _curve(left, mean_curve(found, "validation"), "held out", 0)
    _curve(right, mean_curve(found, "trained"), "training", 1)
    _curve(right, mean_curve(found, "tested"), "held out", 0)
    left.set_title("diabetes: (a) validation runs of SA")
    right.set_title("(b) outer runs of SAES")
    left.set_ylabel("accuracy, percent")
    for axes in (left, right):
        axes.set_xlabel("level")
    _legend(right)
    return figure


def figure_7_2(run: Rerun) -> Figure:
    """Sonar: GA runs on after GAES has stopped."""
    figure, axes = _panel("sonar, test rows", "generation")
    _curve(axes, mean_curve(study(run, "sonar", "GA"), "tested"), "GA", 0)
    found = study(run, "sonar", "GAES")
    stop = float(np.mean([record["stop"][0] for record in found]))
    _curve(axes, mean_curve(found, "tested"), "GAES", 1)
    axes.axvline(stop, color="black", linewidth=0.8, linestyle=":", label=f"mean stop {stop:.0f}")
    _legend(axes)
    return figure


def _pair_of_curves(run: Rerun, name: str, title: str, methods: Sequence[str], labels: Sequence[str]) -> Figure:
    figure, axes = _panel(f"{title} on {name}, mean of the outer folds")
    for number, (method, label) in enumerate(zip(methods, labels, strict=True)):
        found = study(run, name, method)
        _curve(axes, mean_curve(found, "trained"), f"{label}, training", number, linestyle="--", linewidth=1.0)
        _curve(axes, mean_curve(found, "tested"), f"{label}, test", number, linestyle="-")
    _legend(axes)
    return figure


def figure_7_4(run: Rerun) -> Figure:
    """Sonar: SA and SAES on one axis of 81 levels."""
    return _pair_of_curves(run, "sonar", "SA and SAES", ("SA", "SAES"), ("SA", "SAES"))


def figure_7_10(run: Rerun) -> Figure:
    """Selection and weights under SA; the thesis does not say on which set, this is sonar."""
    return _pair_of_curves(run, "sonar", "SA", ("SA", "SA-4"), ("w = 1", "w = 4"))


def figure_7_12(run: Rerun) -> Figure:
    """The same legend, SA with w = 1 and w = 4, and no set named either; this is glass."""
    return _pair_of_curves(run, "glass", "SA", ("SA", "SA-4"), ("SA (w = 1)", "SA (w = 4)"))


def bars(run: Rerun, methods: Sequence[str], printed: Callable[[str, str], float]) -> Figure:
    """Draw training and test accuracy of some methods on all sets, with the printed test accuracies as marks."""
    from fewer.plots._style import COLORS, new_figure

    figure, axes = new_figure(size=(9.0, 3.6))
    width = 0.8 / (2 * len(methods))
    shown = []
    for place, name in enumerate(SETS):
        found = [records(run, name, method) for method in methods]
        if any(isinstance(each, Absent) for each in found):
            continue
        shown.append((place, name))
        for number, (method, each) in enumerate(zip(methods, found, strict=True)):
            left = place + (2 * number - len(methods)) * width
            first = len(shown) == 1
            train, test = accuracy_on_train(each), accuracy_on_test(each)
            color = COLORS[number]
            axes.bar(left, train, width, color=color, alpha=0.35, label=f"{method}, training" if first else None)
            axes.bar(left + width, test, width, color=color, label=f"{method}, test" if first else None)
            mark = "test, printed" if first and not number else None
            axes.plot(left + width, printed(name, method), "_", color="black", markersize=9, label=mark)
    axes.set_xticks([place for place, _ in shown], [name for _, name in shown])
    axes.set_ylabel("accuracy, percent")
    axes.set_ylim(30, 101)
    _legend(axes)
    return figure


def figure_3_7(run: Rerun) -> Figure:
    """How often forward selection chooses each feature of resampled rows: glass, and the ten printed masks."""
    from fewer.plots._style import COLORS, new_figure

    counts, masks = selections_by_chance(run, "glass"), printed_masks()
    figure, (left, right) = new_figure(1, 2)
    for axes, values, title in (
        (left, counts, f"glass, {20 if run.quick else 100} draws of half the rows"),
        (right, masks.sum(axis=0).tolist(), "the ten printed masks"),
    ):
        axes.bar(np.arange(1, len(values) + 1), values, color=COLORS[0])
        axes.set(title=title, xlabel="feature", ylabel="times chosen")
        axes.set_xticks(np.arange(1, len(values) + 1))
    return figure


def figure_overfitting(run: Rerun) -> Figure:
    """Training and test accuracy against rows and against noise features."""
    from fewer.plots._style import new_figure

    rows, features = overfitting_by_rows(run), overfitting_by_features(run)
    figure, (left, right) = new_figure(1, 2, sharey=True)
    for axes, found, x, label in (
        (left, rows, "rows", "rows (50 features, 5 informative)"),
        (right, features, "noise", "noise features beside 5 informative (60 rows)"),
    ):
        axes.plot(found[x], found["train"], "s--", label="rows searched")
        axes.plot(found[x], found["test"], "o-", label="fresh rows")
        axes.set_xlabel(label)
    left.set_ylabel("accuracy, percent")
    _legend(right)
    return figure
