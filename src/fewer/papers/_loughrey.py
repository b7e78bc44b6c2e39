"""Loughrey, Stochastic search with early stopping: tables 7.3–7.9, their curves, and what the thesis asks for.

Every test row is predicted once, by a nearest neighbor among the other outer folds with the features (or weights) found
on them. The stopping point comes from the outer fold's own validation runs; pooled over all outer folds, as the thesis
writes, every test row has had a say in it, so that this reading stands in columns of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed

from fewer.contracts import Control, Resources, Search, SearchSpace
from fewer.control import EarlyStopping, Noise
from fewer.control._early_stopping import stopping_point
from fewer.criteria import KNN
from fewer.objective import run_sentence
from fewer.papers._core import QUICK, Absent, Cell, Document, Run, judge, read_printed
from fewer.problem import FloatArray, IntArray, Problem
from fewer.rankers import InformationGain
from fewer.search import Annealing, Backward, Forward, Genetic
from fewer.trace import Trace
from fewer.validate import assign_folds, mcnemar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETS = ("spectf", "sonar", "ionosphere", "glass", "diabetes", "colon", "artificial")
MAX_TRIES = 1000
"""Cap on the tries of an annealing level: 10 · p would be 20,000 on colon. The other sets do not reach it."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Effort:
    """How long searches run: the thesis's lengths, or a sketch of them."""

    n_outer: int = 10
    n_inner: int = 10
    annealing: float = 1.0
    generations: int = 120

    @classmethod
    def of(cls, run: Run) -> Effort:
        """Give the effort of a run."""
        return cls(5, 3, 0.1, 25) if run.quick else cls()


WHY = (
    "Folds, the effort K and the meaning of ± are not printed, and each number of the thesis is one run; see the "
    "spread of repeated runs in experiments/early_stopping.md."
)
WHY_QUICK = "A tenth of the annealing effort, a fifth of the generations, 5 × 3 folds; run without --quick. "
WHY_ARTIFICIAL = "The WEKA file of the thesis is not printed; another draw of the same generator. "


# --------------------------------------------------------------------------------------------- one outer fold


def search_for(method: str, effort: Effort) -> Search:
    """Give the search of a method, as the thesis runs it."""
    if method.startswith("GA"):
        return Genetic(25, effort.generations, mutation=0.05, selection="roulette", answer="final")
    return {"FS": Forward(), "BE": Backward()}.get(
        method, Annealing(effort=effort.annealing, max_tries=MAX_TRIES, answer="final")
    )


def control_for(method: str, effort: Effort) -> Control | None:
    """Give the control of a method: early stopping, noise, or none."""
    if method.endswith("noise"):
        return Noise()
    return EarlyStopping(cv=effort.n_inner) if method.endswith("ES") else None


def one_fold(
    problem: Problem,
    folds: IntArray,
    fold: int,
    search: Search,
    control: Control | None,
    levels: int,
    seed: int,
    curves: bool = True,
) -> Record:
    """Search on the other folds; predict this one after each step."""
    train, test = problem.take(folds != fold), problem.take(folds == fold)
    rng = np.random.default_rng([seed, fold])
    scorer = KNN().bind(train, rng, Resources())
    known: dict[bytes, list[bool]] = {}
    tested: list[float] = []
    trained: list[float] = []

    def right(mask: Any) -> list[bool]:
        key = mask.tobytes()
        if key not in known:
            known[key] = (scorer.predict(mask, test.X).argmax(axis=1) == test.y).tolist()
        return known[key]

    def follow(trace: Trace) -> None:
        if "validation" in trace.extra and "stop" not in trace.extra:
            return
        trained.append(trace.steps[-1].score)
        tested.append(float(np.mean(right(trace.steps[-1].mask))))

    space = SearchSpace.of(problem.n_features, sizes=(0, problem.n_features), levels=levels)
    trace = run_sentence(
        control, KNN(), train, search, space, rng, follow if curves else None,
        resources=Resources(), trace=Trace(keep=1),
    )  # fmt: skip
    clean = float(scorer.score(trace.best[None])[0]) if isinstance(control, Noise) else trace.best_score
    return {
        "right": right(trace.best),
        "train": clean,
        "size": int(np.count_nonzero(trace.best)),
        "trained": trained,
        "tested": tested,
        "n_evaluations": trace.n_evaluations,
        **{name: trace.extra[name].tolist() for name in ("training", "validation", "stop") if name in trace.extra},
    }


def filter_fold(problem: Problem, folds: IntArray, fold: int) -> Record:
    """Keep the half of the features with the most information gain on the other folds."""
    train, test = problem.take(folds != fold), problem.take(folds == fold)
    rng = np.random.default_rng(fold)
    order = InformationGain().rank(train, rng, Resources()).order
    mask = np.zeros(problem.n_features, dtype=bool)
    mask[order[: ceil(problem.n_features / 2)]] = True
    scorer = KNN().bind(train, rng, Resources())
    right = (scorer.predict(mask, test.X).argmax(axis=1) == test.y).tolist()
    return {"right": right, "train": float(scorer.score(mask[None])[0]), "size": int(mask.sum())}


# ------------------------------------------------------------------------------------------------- whole studies


def study(run: Run, name: str, method: str) -> list[Record]:
    """Run one method on one data set: a record for each outer fold.

    Methods: GA, SA, FS, BE, IG_top_half, SA_noise; with early stopping GAES, SAES; with `-4` at the end on weights
    {0, 1/4, …, 1}; with `-pooled` the stopping point of all outer folds together.
    """

    def compute() -> list[Record]:
        effort = Effort.of(run)
        problem = run.load(name).problem
        run.report(f"loughrey: {method} on {name}")
        folds = outer_folds(run, name)
        seed = int(run.rng(f"seed {name}").integers(2**31))
        if method == "IG_top_half":
            return [filter_fold(problem, folds, fold) for fold in range(effort.n_outer)]
        plain, _, rest = method.partition("-")
        search, control = search_for(plain, effort), control_for(plain, effort)
        if rest == "pooled":
            point = stopping_point([np.array(record["validation"]) for record in study(run, name, plain)])
            search, control = search.shortened(point.share), None
        levels = 4 if rest == "4" else 1
        curves = plain not in ("FS", "BE", "SA_noise")
        return list(
            Parallel(n_jobs=run.n_jobs)(
                delayed(one_fold)(problem, folds, fold, search, control, levels, seed, curves)
                for fold in range(effort.n_outer)
            )
        )

    return run.once(f"{name} {method}", compute)


def outer_folds(run: Run, name: str) -> IntArray:
    """Give the outer folds of a data set, the same for every method."""
    return assign_folds(run.load(name).problem, Effort.of(run).n_outer, run.rng(f"folds {name}"))


def records(run: Run, name: str, method: str) -> list[Record] | Absent:
    """Give the records of a study, or why it cannot be had."""
    if run.quick and (name == "colon" or (method == "SA_noise" and name in ("spectf", "ionosphere", "artificial"))):
        return QUICK
    return run.attempt(lambda: study(run, name, method))


def rights(found: list[Record]) -> FloatArray:
    """Say which rows were predicted right, fold after fold: the same order for every method."""
    return np.concatenate([record["right"] for record in found])


def accuracy_on_test(found: list[Record] | Absent) -> float | Absent:
    """Give the share of rows predicted right, in percent."""
    return found if isinstance(found, Absent) else float(100 * rights(found).mean())


def accuracy_on_train(found: list[Record] | Absent) -> float | Absent:
    """Give the mean score that the searches believed, in percent."""
    return found if isinstance(found, Absent) else float(100 * np.mean([record["train"] for record in found]))


def mean_curve(found: list[Record], name: str) -> FloatArray:
    """Average a curve over the outer folds, each going on with its last value."""
    curves = [record[name] for record in found]
    longest = max(map(len, curves))
    return np.mean([[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves], axis=0)


# --------------------------------------------------------------------------------------------------- the tables


def printed(table: str, name: str, method: str, metric: str, w: int | None = 1) -> Record:
    """Find a printed number."""
    rows = [
        row
        for row in read_printed("loughrey")["rows"]
        if (row["table"], row["dataset"], row["method"], row["metric"]) == (table, name, method, metric)
        and row.get("w") == w
    ]
    found: Record = rows[0]
    return found


def reason(run: Run, name: str) -> str:
    """Say why a number may differ."""
    return (WHY_QUICK if run.quick else "") + (WHY_ARTIFICIAL if name == "artificial" else "") + WHY


def accuracy_cells(run: Run, table: str, name: str, method: str, w: int = 1) -> list[Cell]:
    """Set training and test accuracy of one method on one set beside the printed ones."""
    found = records(run, name, method if w == 1 else f"{method}-{w}")
    label = method if table != "7.9" else f"{method} w={w}"
    weight = None if method == "IG_top_half" else w
    test = printed(table, name, method, "test_accuracy_pct", weight)
    why = reason(run, name)
    cells = []
    if method != "IG_top_half":
        train = printed(table, name, method, "train_accuracy_pct", weight)["value"]
        cells.append(judge(table, name, f"{label} train", train, accuracy_on_train(found), tolerance=3.0, reason=why))
    cells.append(
        judge(
            table, name, f"{label} test", test["value"], accuracy_on_test(found),
            sd=test.get("plus_minus"), better="higher", reason=why,
        )
    )  # fmt: skip
    return cells


def mcnemar_cell(run: Run, table: str, name: str, one: str, other: str, starred: bool) -> Cell:
    """Compare two methods on the same test rows."""
    a, b = records(run, name, one), records(run, name, other)
    word = {True: "significant", False: "not significant"}
    column = f"{one} against {other}, McNemar"
    if isinstance(a, Absent) or isinstance(b, Absent):
        absent = a if isinstance(a, Absent) else b
        return judge(table, name, column, word[starred], absent)
    right_a, right_b = rights(a).astype(bool), rights(b).astype(bool)
    test = mcnemar(right_a, right_b)
    ahead = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    about = f"p = {test.p_value:.3f}; {ahead[0]} rows are right only with {one}, {ahead[1]} only with {other}."
    return judge(table, name, column, word[starred], word[test.p_value < 0.05], reason=about, remark=about)


def is_starred(table: str, name: str, method: str, against: str) -> bool:
    """Say whether the printed number carries an asterisk against another method."""
    w = None if method == "IG_top_half" else 1
    row = printed(table, name, method, "test_accuracy_pct", w)
    return bool(row.get("starred")) and row.get("star_against", against) == against


def table_of(number: str, methods: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Callable[[Run], list[Cell]]:
    """Make the function that computes one table: accuracies of methods, then tests of pairs."""

    def compute(run: Run) -> list[Cell]:
        cells: list[Cell] = []
        for name in SETS:
            for method in methods:
                cells.extend(accuracy_cells(run, number, name, method))
            cells.extend(
                mcnemar_cell(run, number, name, one, other, is_starred(number, name, one, other))
                for one, other in pairs
            )
        return cells

    return compute


def table_weights(run: Run) -> list[Cell]:
    """Table 7.9: selection against weights, with and without early stopping."""
    cells: list[Cell] = []
    for name in SETS:
        for method in ("SA", "SAES"):
            for w in (1, 4):
                cells.extend(accuracy_cells(run, "7.9", name, method, w))
            cells.append(mcnemar_cell(run, "7.9", name, f"{method}-4", method, False))
    return cells


def table_pooled(run: Run) -> list[Cell]:
    """Set the stopping point pooled over all outer folds, which leaks, beside the printed numbers of 7.3 and 7.4."""
    cells = []
    for name in SETS:
        for table, method in (("7.3", "GAES"), ("7.4", "SAES")):
            row = printed(table, name, method, "test_accuracy_pct")
            cells.append(
                judge(
                    "pooled", name, f"{method} test, pooled point",
                    row["value"], accuracy_on_test(records(run, name, f"{method}-pooled")),
                    sd=row.get("plus_minus"), better="higher", reason=reason(run, name),
                    remark="The stopping point has seen the test rows through the other folds.",
                )
            )  # fmt: skip
    return cells


# --------------------------------------------------------------------------------------------------- the claims


def differences(run: Run, one: str, other: str) -> dict[str, float]:
    """Give the difference in test accuracy, in points, on each set that is at hand."""
    out = {}
    for name in SETS:
        a, b = accuracy_on_test(records(run, name, one)), accuracy_on_test(records(run, name, other))
        if not isinstance(a, Absent) and not isinstance(b, Absent):
            out[name] = a - b
    return out


CLAIMS = (
    ("GAES", "GA", "7.3"),
    ("SAES", "SA", "7.4"),
    ("SAES", "GAES", "7.5"),
    ("SAES", "IG_top_half", "7.6"),
    ("SAES", "FS", "7.7"),
    ("SAES", "BE", "7.7"),
    ("SAES", "SA_noise", "7.8"),
    ("SA_noise", "SA", "7.8"),
    ("SA", "SA-4", "7.9"),
    ("SAES-4", "SAES", "7.9"),
)
"""Pairs whose test accuracies the thesis compares, and in which table."""


def printed_differences(one: str, other: str, table: str) -> list[float]:
    """Give the printed differences in test accuracy on the seven sets."""

    def value(name: str, method: str) -> float:
        plain, _, weights = method.partition("-")
        w = None if method == "IG_top_half" else int(weights or 1)
        return float(printed(table, name, plain, "test_accuracy_pct", w)["value"])

    return [value(name, one) - value(name, other) for name in SETS]


def tally(gaps: Sequence[float]) -> str:
    """Count who is ahead.

    Examples
    --------
    >>> tally([1.0, 2.0, -0.5, 0.0])
    '2 wins, 1 loss, 1 tie, +0.6 points on average'
    """
    values = np.round(np.asarray(gaps, dtype=np.float64), 6)
    wins, losses, ties = int((values > 0).sum()), int((values < 0).sum()), int((values == 0).sum())
    parts = [
        f"{count} {word if count == 1 else plural}"
        for count, word, plural in ((wins, "win", "wins"), (losses, "loss", "losses"), (ties, "tie", "ties"))
        if count or word != "tie"
    ]
    return f"{', '.join(parts)}, {values.mean():+.1f} points on average"


def claims(run: Run) -> list[str]:
    """Say who tests higher in the thesis, and on honest splits here."""
    out = []
    for one, other, table in CLAIMS:
        gaps = differences(run, one, other)
        if gaps:
            each = ", ".join(f"{name} {gap:+.1f}" for name, gap in gaps.items())
            told = tally(printed_differences(one, other, table))
            out.append(
                f"{one} against {other} on test rows (table {table}). Printed: {told}. "
                f"Here: {tally(list(gaps.values()))} ({each})."
            )
    gaps = differences(run, "SAES-pooled", "SAES")
    if gaps:
        out.append(
            "SAES with the stopping point pooled over all outer folds, which has seen the test rows, against the "
            f"honest one: {tally(list(gaps.values()))}."
        )
    trained = {
        name: (accuracy_on_train(records(run, name, "SA")), accuracy_on_train(records(run, name, "SAES")))
        for name in SETS
    }
    both = [(a, b) for a, b in trained.values() if not isinstance(a, Absent) and not isinstance(b, Absent)]
    if both:
        lower = sum(b <= a for a, b in both)
        out.append(f"Early stopping lowers training accuracy: SAES trains no higher than SA on {lower} of {len(both)}.")
    rows, columns = overfitting_by_rows(run), overfitting_by_features(run)
    out.append(
        "Overfitting (score on the searched rows less score on fresh rows, simulated annealing, 5 informative "
        "features): "
        + ", ".join(f"{gap:.0f} points with {n} rows" for n, gap in zip(rows["rows"], rows["gap"], strict=True))
        + " (45 noise features); "
        + ", ".join(f"{gap:.0f} with {p}" for p, gap in zip(columns["noise"], columns["gap"], strict=True))
        + " noise features (60 rows)."
    )
    return out


# ------------------------------------------------------------------ what the thesis asks for: rows and features


def planted(n_rows: int, n_noise: int, rng: np.random.Generator, shift: float = 1.0) -> Problem:
    """Draw two classes that differ by a shift in five features, beside noise."""
    y = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, 5 + n_noise))
    X[:, :5] += shift * y[:, None]
    return Problem.from_arrays(X, y)


def _overfitting(run: Run, n_rows: int, n_noise: int) -> tuple[float, float]:
    """Give the mean score that annealing believes and the one on fresh rows, in percent."""
    trained, tested = [], []
    for repeat in range(3 if run.quick else 20):
        rng = run.rng(f"overfitting {n_rows} {n_noise} {repeat}")
        problem, fresh = planted(n_rows, n_noise, rng), planted(1000, n_noise, rng)
        search = Annealing(effort=0.1 if run.quick else 0.5, answer="final")
        trace = run_sentence(
            None, KNN(), problem, search, SearchSpace.of(problem.n_features), rng,
            resources=Resources(), trace=Trace(keep=1),
        )  # fmt: skip
        scorer = KNN().bind(problem, rng, Resources())
        trained.append(trace.best_score)
        tested.append(scorer.grade(scorer.predict(trace.best, fresh.X), fresh))
    return 100 * float(np.mean(trained)), 100 * float(np.mean(tested))


def overfitting_by_rows(run: Run) -> dict[str, list[float]]:
    """Training and test accuracy against the number of rows, 45 noise features."""

    def compute() -> dict[str, list[float]]:
        run.report("loughrey: overfitting against rows")
        rows = [30, 60, 120, 240]
        pairs = [_overfitting(run, n, 45) for n in rows]
        return {
            "rows": [float(n) for n in rows],
            "train": [a for a, _ in pairs],
            "test": [b for _, b in pairs],
            "gap": [a - b for a, b in pairs],
        }

    found = run.once("overfitting rows", compute)
    return {**found, "rows": [int(n) for n in found["rows"]]}


def overfitting_by_features(run: Run) -> dict[str, list[float]]:
    """Training and test accuracy against the number of noise features, 60 rows."""

    def compute() -> dict[str, list[float]]:
        run.report("loughrey: overfitting against features")
        noise = [0, 10, 45, 95]
        pairs = [_overfitting(run, 60, p) for p in noise]
        return {
            "noise": [float(p) for p in noise],
            "train": [a for a, _ in pairs],
            "test": [b for _, b in pairs],
            "gap": [a - b for a, b in pairs],
        }

    found = run.once("overfitting features", compute)
    return {**found, "noise": [int(p) for p in found["noise"]]}


# -------------------------------------------------------------------------------------------------- the figures


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
        color=COLORS[number], linestyle=LINES[number % len(LINES)], **options,
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


def _sized_search(run: Run, name: str, share: float) -> tuple[float, float]:
    """Run GA on a share of each outer training set."""

    def compute() -> list[float]:
        effort, problem, folds = Effort.of(run), run.load(name).problem, outer_folds(run, name)
        run.report(f"loughrey: GA on {share:.0%} of {name}")
        found = []
        for fold in range(effort.n_outer):
            rng = run.rng(f"share {share} {fold}")
            kept = np.flatnonzero(folds != fold)
            dropped = rng.permutation(kept)[round(share * len(kept)) :]
            some = folds.copy()
            some[dropped] = -1
            rows = some >= 0
            found.append(
                one_fold(problem.take(rows), some[rows], fold, search_for("GA", effort), None, 1, fold, curves=False)
            )
        return [100 * float(np.mean([r["train"] for r in found])), 100 * float(rights(found).mean())]

    train, test = run.once(f"share {share} {name}", compute)
    return train, test


def figure_4_2(run: Run) -> Figure:
    """Sonar: the gap shrinks as training rows become more."""
    shares = (0.2, 0.4, 0.6, 0.8, 1.0)
    pairs = [_sized_search(run, "sonar", share) for share in shares]
    figure, axes = _panel("GA on sonar", "share of the training rows")
    _bars(axes, [f"{share:.0%}" for share in shares], [a for a, _ in pairs], [b for _, b in pairs])
    for values, place in (([a for a, _ in pairs], -0.2), ([b for _, b in pairs], 0.2)):
        slope, start = np.polyfit(np.arange(5), values, 1)
        axes.plot(np.arange(5) + place, start + slope * np.arange(5), color="black", linewidth=0.8)
    _legend(axes)
    return figure


def figure_4_10(run: Run) -> Figure:
    """Spectf: longer genetic searches train higher and test lower."""

    def compute() -> dict[str, list[float]]:
        effort, problem, folds = Effort.of(run), run.load("spectf").problem, outer_folds(run, "spectf")
        searches: dict[str, Search] = {"BE": Backward(), "FS": Forward()}
        lengths = (10, 20, 40) if run.quick else (100, 200, 400)
        for n in lengths:
            searches[f"GA {n}"] = search_for("GA", Effort(generations=n))
        out = {}
        for label, search in searches.items():
            run.report(f"loughrey: {label} on spectf")
            found = [one_fold(problem, folds, fold, search, None, 1, 0, curves=False) for fold in range(effort.n_outer)]
            nodes = float(np.mean([r["n_evaluations"] for r in found]))
            out[label] = [100 * float(np.mean([r["train"] for r in found])), 100 * float(rights(found).mean()), nodes]
        return out

    found = run.once("figure 4.10", compute)
    figure, axes = _panel("spectf", "")
    labels, values = list(found), np.array(list(found.values()))
    _bars(axes, labels, values[:, 0].tolist(), values[:, 1].tolist())
    nodes = axes.twinx()
    nodes.plot(np.arange(len(labels)), values[:, 2], "k.:", label="subsets evaluated")
    nodes.set_ylabel("subsets evaluated")
    nodes.grid(False)
    handles = [*axes.get_legend_handles_labels()[0], *nodes.get_legend_handles_labels()[0]]
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.32, 0.5))
    return figure


def _weighted_generations(run: Run) -> int:
    return 15 if run.quick else 50


def _weighted_ga(run: Run, levels: int) -> list[Record]:
    def compute() -> list[Record]:
        effort, problem, folds = Effort.of(run), run.load("artificial").problem, outer_folds(run, "artificial")
        run.report(f"loughrey: GA on artificial, w = {levels}")
        search = Genetic(30, _weighted_generations(run), mutation=0.05, selection="roulette", answer="final")
        return [one_fold(problem, folds, fold, search, None, levels, 0) for fold in range(effort.n_outer)]

    return run.once(f"weighted ga {levels}", compute)


def figure_4_11(run: Run) -> Figure:
    """Artificial: the gap grows with the number of weights."""
    found = {w: _weighted_ga(run, w) for w in (1, 2, 4)}
    title = f"GA (30 members, {_weighted_generations(run)} generations) on artificial"
    figure, axes = _panel(title, "number of non-zero weights")
    _bars(
        axes,
        [f"w = {w}" for w in found],
        [100 * float(np.mean([r["train"] for r in f])) for f in found.values()],
        [100 * float(rights(f).mean()) for f in found.values()],
    )
    _legend(axes)
    return figure


def figure_4_12(run: Run) -> Figure:
    """Artificial: test accuracy over the generations with few and many weights."""
    figure, axes = _panel("GA on artificial, test rows", "generation")
    for number, w in enumerate((2, 4)):
        _curve(axes, mean_curve(_weighted_ga(run, w), "tested"), f"w = {w}", number)
    _legend(axes)
    return figure


def _inner_figure(run: Run, name: str, method: str, title: str, folds: slice, step: str) -> Figure:
    found = study(run, name, method)[folds]
    point = stopping_point([np.array(record["validation"]) for record in found])
    figure, axes = _panel(title, step)
    _curve(axes, mean_curve(found, "training"), "training (81 %)", 1)
    _curve(axes, mean_curve(found, "validation"), "validation (9 %)", 0, linewidth=1.0)
    _curve(axes, point.smoothed, "five-point average", 3)
    axes.axvline(point.step, color="black", linewidth=0.8, linestyle=":", label=f"peak at {point.step}")
    _legend(axes)
    return figure


def figure_5_1(run: Run) -> Figure:
    """Artificial: validation accuracy of SA peaks and falls."""
    return _inner_figure(run, "artificial", "SAES", "SA on artificial, all validation runs", slice(None), "level")


def figure_5_8(run: Run) -> Figure:
    """Sonar: training accuracy of one SA run dips early."""
    figure, axes = _panel("SA on sonar, one run")
    _curve(axes, study(run, "sonar", "SA")[0]["trained"], "training", 0)
    _legend(axes)
    return figure


def figure_5_10(run: Run) -> Figure:
    """Glass: the validation runs of one outer fold and the stopping point."""
    return _inner_figure(run, "glass", "SAES", "SA on glass, validation runs of one outer fold", slice(0, 1), "level")


def figure_5_11(run: Run) -> Figure:
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


def figure_7_2(run: Run) -> Figure:
    """Sonar: GA runs on after GAES has stopped."""
    figure, axes = _panel("sonar, test rows", "generation")
    _curve(axes, mean_curve(study(run, "sonar", "GA"), "tested"), "GA", 0)
    found = study(run, "sonar", "GAES")
    stop = float(np.mean([record["stop"][0] for record in found]))
    _curve(axes, mean_curve(found, "tested"), "GAES", 1)
    axes.axvline(stop, color="black", linewidth=0.8, linestyle=":", label=f"mean stop {stop:.0f}")
    _legend(axes)
    return figure


def _pair_of_curves(run: Run, name: str, title: str, methods: Sequence[str], labels: Sequence[str]) -> Figure:
    figure, axes = _panel(f"{title} on {name}, mean of the outer folds")
    for number, (method, label) in enumerate(zip(methods, labels, strict=True)):
        found = study(run, name, method)
        _curve(axes, mean_curve(found, "tested"), f"{label}, test", number)
        _curve(axes, mean_curve(found, "trained"), f"{label}, training", number + 2, linewidth=0.9)
    _legend(axes)
    return figure


def figure_7_4(run: Run) -> Figure:
    """Sonar: SA and SAES on one axis of 81 levels."""
    return _pair_of_curves(run, "sonar", "SA and SAES", ("SA", "SAES"), ("SA", "SAES"))


def figure_7_10(run: Run) -> Figure:
    """Selection and weights under SA; the thesis does not say on which set, this is sonar."""
    return _pair_of_curves(run, "sonar", "SA", ("SA", "SA-4"), ("w = 1", "w = 4"))


def figure_7_12(run: Run) -> Figure:
    """The same with early stopping."""
    return _pair_of_curves(run, "sonar", "SAES", ("SAES", "SAES-4"), ("w = 1", "w = 4"))


def figure_overfitting(run: Run) -> Figure:
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


def stops(run: Run) -> list[Cell]:
    """Stopping points that the figures print."""
    cells = []
    for figure, name, method in (("5.10", "glass", "SAES"), ("7.2", "sonar", "GAES"), ("5.1", "artificial", "SAES")):
        value = next(f["value"] for f in read_printed("loughrey")["figures"] if f["figure"] == figure)
        found = records(run, name, method)
        if isinstance(found, Absent):
            cells.append(judge("stops", name, f"{method}, figure {figure}", value, found))
            continue
        own = [int(record["stop"][0]) for record in found]
        spread = f"Our outer folds stop at {', '.join(map(str, own))} of {int(found[0]['stop'][1])}: a flat peak."
        cells.append(
            judge(
                "stops", name, f"{method}, figure {figure}", value, float(np.median(own)),
                tolerance=float(max(np.median(own) - min(own), max(own) - np.median(own))),
                reason=spread, remark=spread,
            )
        )  # fmt: skip
    return cells


DOCUMENT = Document(
    name="loughrey",
    title="J. Loughrey, Stochastic search with early stopping against overfitting in wrapper-based feature selection",
    tables={
        "7.3": table_of("7.3", ("GA", "GAES"), [("GAES", "GA")]),
        "7.4": table_of("7.4", ("SA", "SAES"), [("SAES", "SA")]),
        "7.5": table_of("7.5", ("GAES", "SAES"), [("SAES", "GAES")]),
        "7.6": table_of("7.6", ("IG_top_half", "SAES"), [("SAES", "IG_top_half")]),
        "7.7": table_of("7.7", ("FS", "BE", "SA", "SAES"), [("SAES", "FS"), ("SAES", "BE")]),
        "7.8": table_of("7.8", ("SA", "SA_noise", "SAES"), [("SAES", "SA_noise")]),
        "7.9": table_weights,
        "pooled": table_pooled,
        "stops": stops,
    },
    figures={
        "4.2": figure_4_2,
        "4.10": figure_4_10,
        "4.11": figure_4_11,
        "4.12": figure_4_12,
        "5.1": figure_5_1,
        "5.8": figure_5_8,
        "5.10": figure_5_10,
        "5.11": figure_5_11,
        "7.2": figure_7_2,
        "7.4": figure_7_4,
        "7.10": figure_7_10,
        "7.12": figure_7_12,
        "overfitting": figure_overfitting,
    },
    claims=claims,
)
