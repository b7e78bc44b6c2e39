"""Does early stopping help? Runs `early_stopping_design.json` and writes `early_stopping.md`.

    python experiments/early_stopping.py [--full] [--only planted | sets | spectf] [--minutes 15] [--out FOLDER]

`--only spectf` runs both readings of that set, all rows and the 80 of the training file, and writes
`early_stopping_spectf.md`.

Finished pieces are kept in FOLDER (default: early_stopping_results beside the report, not committed), so that a stopped
run goes on; after `--minutes` of processor time no new piece is begun and the report says how many repeats it rests on.
Sets that are not at hand are left out and named.
"""

from __future__ import annotations

import argparse
import json
import time
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from fewer.contracts import Resources, Run, SearchSpace
from fewer.contracts.trace import Trace
from fewer.control import EarlyStopping, Noise
from fewer.criteria import KNN
from fewer.datasets import load
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.rankers import InformationGain
from fewer.search import Annealing, Backward, Forward, Genetic
from fewer.validate import assign_folds

HERE = Path(__file__).parent
DESIGN = json.loads((HERE / "early_stopping_design.json").read_text())
WAYS: dict[str, dict[str, Any]] = {
    "": {},
    " level": {"how": "level"},
    " peak": {"how": "peak"},
    " aggregate": {"how": "aggregate"},
    " if seen": {"only_if_seen": True},
}
"""What to do with the validation runs, by what is added to the method's name."""


def planted(n_rows: int, n_noise: int, shift: float, n_informative: int, rng: np.random.Generator) -> Problem:
    """Draw two classes that differ by a shift in some features, beside noise."""
    y = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, n_informative + n_noise))
    X[:, :n_informative] += shift * y[:, None]
    return Problem.from_arrays(X, y)


def search_rows(control, problem, search, seed, levels=1, trace=None):
    """Run one sentence with the thesis's space: any weights, also none."""
    space = SearchSpace.of(problem.n_features, sizes=(0, problem.n_features), weight_levels=levels)
    rng = np.random.default_rng(seed)
    return Run(KNN(), problem, search, space, rng, resources=Resources(), trace=trace or Trace(keep=1)).under(control)


def variants(problem, search, seed, how, n_inner, levels=1):
    """Run early stopping in several ways on the same validation runs."""
    runs: list[Any] = []
    found = {}
    for name, options in how.items():
        trace = Trace(keep=1, state={"runs": runs})
        found[name] = search_rows(EarlyStopping(n_inner, **options), problem, search, seed, levels, trace)
    return found, runs


def judge_methods(
    train: Problem, test: Problem, seed: int, effort: dict[str, Any], repeat: int, kind: str
) -> dict[str, Any]:
    """Return the accuracy of each method on the test rows, and what is needed to understand it."""
    scorer = KNN().bind(train, np.random.default_rng(seed), Resources())
    accuracy, extra = {}, {}
    rare = DESIGN[kind]["expensive_methods_in_the_first_repeats"]

    def judge(name, mask):
        accuracy[name] = scorer.grade(scorer.predict(mask, test.X), test)

    annealing = Annealing(effort=effort["annealing_effort"], answer="final")
    sa = search_rows(None, train, annealing, seed)
    judge("SA", sa.best)
    extra["SA believes"] = sa.best_score
    found, runs = variants(train, annealing, seed, WAYS, effort["inner_folds"])
    for way, trace in found.items():
        judge("SAES" + way, trace.best)
    trace = found[""]
    extra["SAES believes"] = trace.best_score
    extra["stop"] = float(trace.extra["stop"][0] / trace.extra["stop"][1])
    extra["seen"] = bool(trace.extra["fall"][0] > 2.5 * trace.extra["fall"][1])
    outputs = np.mean([scorer.predict(run["masks"][-1], test.X) for run in runs], axis=0)
    accuracy["SubsetEnsemble"] = scorer.grade(outputs, test)

    order = InformationGain().rank(train, np.random.default_rng(seed), Resources()).order
    half = np.zeros(train.n_features, dtype=bool)
    half[order[: ceil(train.n_features / 2)]] = True
    judge("filter", half)
    judge("FS", search_rows(None, train, Forward(), seed).best)
    judge("BE", search_rows(None, train, Backward(), seed).best)
    judge("all features", np.ones(train.n_features, dtype=bool))

    if repeat < rare["GA"]:
        population, generations = DESIGN["genetic_population"], effort["genetic_generations"]
        genetic = Genetic(population, generations, mutation=0.05, selection="roulette", answer="final")
        judge("GA", search_rows(None, train, genetic, seed).best)
        for way, trace in variants(train, genetic, seed, WAYS, effort["inner_folds"])[0].items():
            judge("GAES" + way, trace.best)
    if repeat < rare["weights"]:
        judge("SA w=4", search_rows(None, train, annealing, seed, 4).best)
        judge("SAES w=4", variants(train, annealing, seed, {"": {}}, effort["inner_folds"], 4)[0][""].best)
    if repeat < rare["noise"]:
        judge("SA noise", search_rows(Noise(), train, annealing, seed).best)
    return {"accuracy": accuracy, **extra}


def pieces(kind: str | None) -> list[tuple[str, int]]:
    """List designs and repeats, the first repeat of every design first."""
    counts: dict[str, int] = {}
    if kind == "spectf":
        counts |= dict.fromkeys(["spectf", *DESIGN["sets"]["readings"]], DESIGN["sets"]["repeats"])
    if kind in (None, "planted"):
        counts |= dict.fromkeys(DESIGN["planted"]["designs"], DESIGN["planted"]["repeats"])
    if kind in (None, "sets"):
        counts |= dict.fromkeys(DESIGN["sets"]["names"], DESIGN["sets"]["repeats"])
    return [(name, r) for r in range(max(counts.values())) for name in counts if r < counts[name]]


def run_piece(name: str, repeat: int, effort: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one repeat of one design: one training set and fresh rows, or all outer folds of a data set."""
    seed = [DESIGN["seed"], repeat, sum(map(ord, name))]
    rng = np.random.default_rng(seed)
    if name in DESIGN["planted"]["designs"]:
        design = DESIGN["planted"]["designs"][name]
        how = (design["noise"], design["shift"], DESIGN["planted"]["informative"])
        train = planted(design["rows"], *how, rng)
        test = planted(DESIGN["planted"]["fresh_rows"], *how, rng)
        return [judge_methods(train, test, repeat, effort, repeat, "planted")]
    reading = DESIGN["sets"]["readings"].get(name)
    problem = load(reading["set"] if reading else name).problem
    if reading:
        problem = problem.take(np.arange(reading["first_rows"]))
    folds = assign_folds(problem, effort["outer_folds"], rng)
    return [
        judge_methods(
            problem.take(folds != fold), problem.take(folds == fold), 100 * repeat + fold, effort, repeat, "sets"
        )
        for fold in range(effort["outer_folds"])
    ]


def interval(differences: np.ndarray, correction: float) -> tuple[float, float, float]:
    """Return the mean of paired differences and its 95 % interval.

    Repeats of planted designs are independent samples: Student's t. Repeats of the folds of one data set share their
    rows; the variance is corrected after Nadeau and Bengio by test rows over training rows.
    """
    n = len(differences)
    mean = float(differences.mean())
    error = float(np.sqrt((1 / n + correction) * differences.var(ddof=1))) if n > 1 else float("nan")
    reach = float(stats.t.ppf(0.975, n - 1)) * error if n > 1 else float("nan")
    return mean, mean - reach, mean + reach


def table(results: dict[str, list[list[dict[str, Any]]]], effort: dict[str, Any]) -> str:
    """Write the paired differences, in points."""
    lines = ["| design | pair | difference, points | 95 % interval | training sets |", "|---|---|---|---|---|"]
    for one, other in DESIGN["pairs"]:
        for name, repeats in results.items():
            both = [r["accuracy"] for records in repeats for r in records]
            gaps = [100 * (a[one] - a[other]) for a in both if one in a and other in a]
            if len(gaps) < 2:
                continue
            fold = name not in DESIGN["planted"]["designs"]
            correction = 1 / (effort["outer_folds"] - 1) if fold else 0.0
            mean, low, high = interval(np.array(gaps), correction)
            mark = " **" if low > 0 or high < 0 else ""
            lines.append(f"| {name} | {one} − {other} | {mean:+.1f}{mark} | {low:+.1f} to {high:+.1f} | {len(gaps)} |")
    return "\n".join(lines)


def means(results: dict[str, list[list[dict[str, Any]]]]) -> str:
    """Write the mean accuracy of each method, in percent."""
    methods = list(dict.fromkeys(name for pair in DESIGN["pairs"] for name in reversed(pair)))
    lines = ["| design | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for name, repeats in results.items():
        cells = []
        for method in methods:
            values = [r["accuracy"][method] for records in repeats for r in records if method in r["accuracy"]]
            cells.append(f"{100 * np.mean(values):.1f}" if values else "–")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def curves(results: dict[str, list[list[dict[str, Any]]]]) -> str:
    """Write what the searches believed, where they were stopped, and how often overfitting was seen."""
    lines = [
        "| design | SA believes | SA on new rows | SAES believes | SAES on new rows | mean stop | overfitting seen |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, repeats in results.items():
        all_records = [r for records in repeats for r in records]
        numbers = [
            100 * np.mean([r["SA believes"] for r in all_records]),
            100 * np.mean([r["accuracy"]["SA"] for r in all_records]),
            100 * np.mean([r["SAES believes"] for r in all_records]),
            100 * np.mean([r["accuracy"]["SAES"] for r in all_records]),
        ]
        stop = np.mean([r["stop"] for r in all_records])
        seen = np.mean([r["seen"] for r in all_records])
        lines.append(
            f"| {name} | " + " | ".join(f"{v:.1f}" for v in numbers) + f" | {stop:.0%} of the levels | {seen:.0%} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the thesis's lengths")
    parser.add_argument("--only", choices=["planted", "sets", "spectf"], help="some designs alone")
    parser.add_argument("--minutes", type=float, default=15.0, help="processor time after which nothing new is begun")
    parser.add_argument("--out", type=Path, default=HERE / "early_stopping_results")
    options = parser.parse_args()
    kind = "full" if options.full else "sketch"
    effort = DESIGN[kind]
    results: dict[str, list[list[dict[str, Any]]]] = {}
    missing: dict[str, str] = {}
    for name, repeat in pieces(options.only):
        path = options.out / kind / f"{name.replace(' ', '_').replace(':', '').replace(',', '')}-{repeat}.json"
        if not path.exists():
            if name in missing or time.process_time() > 60 * options.minutes:
                continue
            try:
                records = run_piece(name, repeat, effort)
            except InputError as error:
                missing[name] = str(error)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(records))
            print(f"{time.process_time():7.1f} s  {name}, repeat {repeat}", flush=True)
        results.setdefault(name, []).append(json.loads(path.read_text()))
    part = "_spectf" if options.only == "spectf" else ""
    target = HERE / f"early_stopping{part}{'_full' if options.full else ''}.md"
    write_between_marks(target, report(results, effort, missing))
    print(f"{target} is written.")


def report(results: dict[str, list[list[dict[str, Any]]]], effort: dict[str, Any], missing: dict[str, str]) -> str:
    """Write all tables."""
    done = ", ".join(f"{name}: {len(repeats)}" for name, repeats in results.items())
    parts = [
        f"Cap: {effort['cap']}.",
        f"Repeats: {done}.",
        *(f"{name} is missing: {why}" for name, why in missing.items()),
        "## Accuracy on rows never seen, percent",
        means(results),
        "## What the search believed, and where it was stopped",
        curves(results),
        "## Paired differences",
        "Intervals that do not hold 0 carry two stars. Planted designs: Student's t over independent training sets. "
        "Data sets: folds and repeats share rows, so the variance is corrected after Nadeau and Bengio.",
        table(results, effort),
    ]
    return "\n\n".join(parts)


def write_between_marks(path: Path, text: str) -> None:
    """Replace what stands between the marks; what people wrote above stays."""
    begin, end = "<!-- begin of what the script writes -->", "<!-- end -->"
    before = path.read_text().split(begin)[0] if path.exists() else "# Does early stopping help?\n\n"
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}\n")


if __name__ == "__main__":
    main()
