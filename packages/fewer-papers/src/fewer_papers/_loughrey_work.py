"""The work behind Loughrey's tables and figures: studies of one method on one data set, and overfitting by size.

Every test row is predicted once, by a nearest neighbor among the other outer folds with the features (or weights) found
on them. The stopping point comes from the outer fold's own validation runs; pooled over all outer folds, as the thesis
writes, every test row has had a say in it, so that this reading stands in columns of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from fewer.contracts import Control, Objective, Resources, Run, Search, SearchSpace
from fewer.contracts.trace import Trace
from fewer.control import EarlyStopping, Noise
from fewer.control._early_stopping import stopping_point
from fewer.criteria import KNN
from fewer.parallel import run_tasks
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.rankers import InformationGain
from fewer.search import Annealing, Backward, Forward, Genetic
from fewer.validate import assign_folds
from fewer_papers._core import QUICK, Absent, Rerun, read_printed

SETS = ("spectf", "sonar", "ionosphere", "glass", "diabetes", "colon", "artificial")
MAX_TRIES = 1000
"""Cap on the tries of an annealing level: 10 · p would be 20,000 on colon. The other sets do not reach it."""
NOISY_TRIES = 200
"""The cap on colon with noise, where nothing can be kept from one subset to the next: 81,000 subsets took a quarter of
the time of all tables."""

Record = dict[str, Any]

N_BALANCED = 80
"""Rows of the training file of spectf. Seven of its eight distinct printed test accuracies are multiples of 1/80, so
that the thesis probably used these, though its Table 7.1 says 267."""
ALL_ROWS = "spectf, all rows"


def problem_of(run: Rerun, name: str) -> Problem:
    """Load a data set; spectf as the balanced rows of its training file, or all of it by its longer name."""
    if name == ALL_ROWS:
        return run.load("spectf").problem
    problem = run.load(name).problem
    return problem.take(np.arange(N_BALANCED)) if name == "spectf" else problem


@dataclass(frozen=True)
class Effort:
    """How long searches run: the thesis's lengths, or a sketch of them."""

    n_outer: int = 10
    n_inner: int = 10
    annealing: float = 1.0
    generations: int = 120

    @classmethod
    def of(cls, run: Rerun) -> Effort:
        """Return the effort of a run."""
        return cls(5, 3, 0.1, 25) if run.quick else cls()


# --------------------------------------------------------------------------------------------- one outer fold


def search_for(method: str, effort: Effort, max_tries: int = MAX_TRIES) -> Search:
    """Return the search of a method, as the thesis runs it."""
    if method.startswith("GA"):
        return Genetic(25, effort.generations, mutation=0.05, selection="roulette", answer="final")
    return {"FS": Forward(), "BE": Backward()}.get(
        method, Annealing(effort=effort.annealing, max_tries=max_tries, answer="final")
    )


def control_for(method: str, effort: Effort) -> Control | None:
    """Return the control of a method: early stopping, noise, or none."""
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

    space = SearchSpace.of(problem.n_features, sizes=(0, problem.n_features), weight_levels=levels)
    trace = Run(
        KNN(),
        train,
        search,
        space,
        rng,
        resources=Resources(),
        trace=Trace(keep=1),
        follower=follow if curves else None,
    ).under(control)
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
    order = InformationGain("equal-width").rank(train, rng, Resources()).order
    mask = np.zeros(problem.n_features, dtype=bool)
    mask[order[: ceil(problem.n_features / 2)]] = True
    scorer = KNN().bind(train, rng, Resources())
    right = (scorer.predict(mask, test.X).argmax(axis=1) == test.y).tolist()
    return {"right": right, "train": float(scorer.score(mask[None])[0]), "size": int(mask.sum())}


def all_folds(
    run: Rerun,
    problem: Problem,
    folds: IntArray,
    search: Search,
    control: Control | None = None,
    levels: int = 1,
    seed: int = 0,
    curves: bool = True,
) -> list[Record]:
    """Let each outer fold judge what was found on the others."""
    shared = (problem, folds, search, control, levels, seed, curves)
    tasks = [(fold,) for fold in range(int(folds.max()) + 1)]
    return list(run_tasks(_one_of_all, tasks, Resources(run.n_jobs), shared=shared))


def _one_of_all(shared: tuple[Any, ...], fold: int) -> Record:
    problem, folds, *others = shared
    return one_fold(problem, folds, fold, *others)


# ------------------------------------------------------------------------------------------------- whole studies


def study(run: Rerun, name: str, method: str) -> list[Record]:
    """Rerun one method on one data set: a record for each outer fold.

    Methods: GA, SA, FS, BE, IG_top_half, SA_noise; with early stopping GAES, SAES; with `-4` at the end on weights
    {0, 1/4, …, 1}; with `-pooled` the stopping point of all outer folds together.
    """

    def compute() -> list[Record]:
        effort = Effort.of(run)
        problem = problem_of(run, name)
        run.report(f"loughrey: {method} on {name}")
        folds = outer_folds(run, name)
        seed = int(run.rng(f"seed {name}").integers(2**31))
        if method == "IG_top_half":
            return [filter_fold(problem, folds, fold) for fold in range(effort.n_outer)]
        plain, _, rest = method.partition("-")
        tries = NOISY_TRIES if (name, plain) == ("colon", "SA_noise") else MAX_TRIES
        search, control = search_for(plain, effort, tries), control_for(plain, effort)
        if rest == "pooled":
            point = stopping_point([np.array(record["validation"]) for record in study(run, name, plain)])
            search, control = search.shortened(point.share), None
        levels = 4 if rest == "4" else 1
        curves = plain not in ("FS", "BE", "SA_noise")
        return all_folds(run, problem, folds, search, control, levels, seed, curves)

    return run.once(f"{name} {method}", compute)


def outer_folds(run: Rerun, name: str) -> IntArray:
    """Return the outer folds of a data set, the same for every method."""
    return assign_folds(problem_of(run, name), Effort.of(run).n_outer, run.rng(f"folds {name}"))


def records(run: Rerun, name: str, method: str) -> list[Record] | Absent:
    """Return the records of a study, or why it cannot be had."""
    if run.quick and name == "colon" and method in ("BE", "SA_noise"):
        return QUICK
    return run.attempt(lambda: study(run, name, method))


def rights(found: list[Record]) -> FloatArray:
    """Say which rows were predicted right, fold after fold: the same order for every method."""
    return np.concatenate([record["right"] for record in found])


def accuracy_on_test(found: list[Record] | Absent) -> float | Absent:
    """Return the share of rows predicted right, in percent."""
    return found if isinstance(found, Absent) else float(100 * rights(found).mean())


def accuracy_on_train(found: list[Record] | Absent) -> float | Absent:
    """Return the mean score that the searches believed, in percent."""
    return found if isinstance(found, Absent) else float(100 * np.mean([record["train"] for record in found]))


def spread_on_test(found: list[Record] | Absent) -> float | Absent:
    """Return the standard deviation of the accuracy over the outer folds, in percent.

    What the thesis means by ± is not printed. `claims` counts how often the printed ones agree with this, and with the
    standard error.
    """
    if isinstance(found, Absent):
        return found
    return float(np.std([100 * float(np.mean(record["right"])) for record in found], ddof=1))


def mean_curve(found: list[Record], name: str) -> FloatArray:
    """Average a curve over the outer folds, each going on with its last value."""
    curves = [record[name] for record in found]
    longest = max(map(len, curves))
    return np.mean([[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves], axis=0)


# ------------------------------------------------------------------ what the thesis asks for: rows and features


def planted(n_rows: int, n_noise: int, rng: np.random.Generator, shift: float = 1.0) -> Problem:
    """Draw two classes that differ by a shift in five features, beside noise."""
    y = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, 5 + n_noise))
    X[:, :5] += shift * y[:, None]
    return Problem.from_arrays(X, y)


def _overfitting(run: Rerun, n_rows: int, n_noise: int) -> tuple[float, float]:
    """Return the mean score that annealing believes and the one on fresh rows, in percent."""
    search = Annealing(effort=0.1 if run.quick else 0.5, answer="final")
    tasks = [(run.rng(f"overfitting {n_rows} {n_noise} {repeat}"),) for repeat in range(3 if run.quick else 20)]
    found = run_tasks(_one_overfitting, tasks, Resources(run.n_jobs), shared=(n_rows, n_noise, search))
    trained, tested = np.mean(list(found), axis=0)
    return 100 * float(trained), 100 * float(tested)


def _one_overfitting(shared: tuple[int, int, Search], rng: np.random.Generator) -> tuple[float, float]:
    """Search drawn rows: the score believed, and the one on fresh rows."""
    n_rows, n_noise, search = shared
    problem, fresh = planted(n_rows, n_noise, rng), planted(1000, n_noise, rng)
    trace = Run(
        KNN(), problem, search, SearchSpace.of(problem.n_features), rng, resources=Resources(), trace=Trace(keep=1)
    ).under(None)
    scorer = KNN().bind(problem, rng, Resources())
    return trace.best_score, scorer.grade(scorer.predict(trace.best, fresh.X), fresh)


def overfitting_by_rows(run: Rerun) -> dict[str, list[float]]:
    """Training and test accuracy against the number of rows, 45 noise features."""
    return _overfitting_along(run, "rows", "rows", [(n, 45) for n in (30, 60, 120, 240)])


def overfitting_by_features(run: Rerun) -> dict[str, list[float]]:
    """Training and test accuracy against the number of noise features, 60 rows."""
    return _overfitting_along(run, "features", "noise", [(60, p) for p in (0, 10, 45, 95)])


def _overfitting_along(run: Rerun, what: str, axis: str, shapes: list[tuple[int, int]]) -> dict[str, list[float]]:
    """Measure along one axis of (rows, noise features)."""
    places = [shape[0 if axis == "rows" else 1] for shape in shapes]

    def compute() -> dict[str, list[float]]:
        run.report(f"loughrey: overfitting against {what}")
        pairs = [_overfitting(run, *shape) for shape in shapes]
        return {
            "train": [a for a, _ in pairs],
            "test": [b for _, b in pairs],
            "gap": [a - b for a, b in pairs],
        }

    return {**run.once(f"overfitting {what}", compute), axis: list(places)}


# -------------------------------------------------------------------------------------- searches for the figures


def printed_masks() -> BoolArray:
    """Return the ten masks of table 3.1."""
    masks = np.zeros((10, 10), dtype=bool)
    for row in read_printed("loughrey")["rows"]:
        if row["table"] == "3.1":
            masks[row["run"] - 1, row["feature"] - 1] = bool(row["value"])
    return masks


def selections_by_chance(run: Rerun, name: str) -> list[int]:
    """Count how often forward selection on half of the rows, drawn 100 times, chooses each feature (figure 3.7)."""

    def compute() -> list[int]:
        problem = problem_of(run, name)
        run.report(f"loughrey: forward selection on resampled rows of {name}")
        counts = np.zeros(problem.n_features, dtype=np.int64)
        for number in range(20 if run.quick else 100):
            rng = run.rng(f"resampled {name} {number}")
            rows = problem.take(np.sort(rng.permutation(problem.n_samples)[: problem.n_samples // 2]))
            scorer = KNN().bind(rows, rng, Resources())
            space = SearchSpace.of(rows.n_features)
            counts += Forward().run(Objective(scorer, space), space, rng).best
        return counts.tolist()

    return run.once(f"resampled {name}", compute)


def _one_of_some(problem: Problem, rows: IntArray, folds: IntArray, fold: int, search: Search) -> Record:
    return one_fold(problem.take(rows), folds, fold, search, None, 1, fold, curves=False)


def sized_search(run: Rerun, name: str, share: float) -> tuple[float, float]:
    """Rerun GA on a share of each outer training set."""

    def compute() -> list[float]:
        effort, problem, folds = Effort.of(run), problem_of(run, name), outer_folds(run, name)
        run.report(f"loughrey: GA on {share:.0%} of {name}")
        tasks = []
        for fold in range(effort.n_outer):
            rng = run.rng(f"share {share} {fold}")
            kept = np.flatnonzero(folds != fold)
            dropped = rng.permutation(kept)[round(share * len(kept)) :]
            some = folds.copy()
            some[dropped] = -1
            rows = some >= 0
            search = search_for("GA", effort)
            tasks.append((np.flatnonzero(rows), some[rows], fold, search))
        found = list(run_tasks(_one_of_some, tasks, Resources(run.n_jobs), shared=problem))
        return [100 * float(np.mean([r["train"] for r in found])), 100 * float(rights(found).mean())]

    train, test = run.once(f"share {share} {name}", compute)
    return train, test


def spectf_by_search(run: Rerun) -> dict[str, list[float]]:
    """Return training accuracy, test accuracy and subsets evaluated of several searches on spectf (figure 4.10)."""

    def compute() -> dict[str, list[float]]:
        problem, folds = problem_of(run, ALL_ROWS), outer_folds(run, ALL_ROWS)
        searches: dict[str, Search] = {"BE": Backward(), "FS": Forward()}
        lengths = (10, 20, 40) if run.quick else (100, 200, 400)
        for n in lengths:
            searches[f"GA {n}"] = search_for("GA", Effort(generations=n))
        out = {}
        for label, search in searches.items():
            run.report(f"loughrey: {label} on spectf")
            found = all_folds(run, problem, folds, search, curves=False)
            nodes = float(np.mean([r["n_evaluations"] for r in found]))
            out[label] = [100 * float(np.mean([r["train"] for r in found])), 100 * float(rights(found).mean()), nodes]
        return out

    return run.once("figure 4.10", compute)


def weighted_generations(run: Rerun) -> int:
    """Return the length of the searches behind figures 4.11 and 4.12."""
    return 15 if run.quick else 50


def weighted_ga(run: Rerun, levels: int) -> list[Record]:
    """Search for masks or weights on artificial, with 30 members."""

    def compute() -> list[Record]:
        problem, folds = run.load("artificial").problem, outer_folds(run, "artificial")
        run.report(f"loughrey: GA on artificial, w = {levels}")
        search = Genetic(30, weighted_generations(run), mutation=0.05, selection="roulette", answer="final")
        return all_folds(run, problem, folds, search, levels=levels)

    return run.once(f"weighted ga {levels}", compute)
