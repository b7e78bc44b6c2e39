"""Does `auto` find planted signals? Runs `planted_problems_design.json` and writes `planted_problems.md`.

    python experiments/planted_problems.py [--only METHOD …] [--seeds 5] [--minutes 60] [--out FOLDER]

Finished cases are kept in FOLDER (default: planted_problems_results beside the report, not committed), so that a
stopped run goes on; after `--minutes` no new case is begun and the report says what is missing. Peers that are not
installed are left out and named.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewer import AutoSelector
from fewer.errors import InputError
from fewer.io import to_problem
from fewer.run.budget import USABLE
from fewer.run.planning import make_plan

HERE = Path(__file__).parent
DESIGN = json.loads((HERE / "planted_problems_design.json").read_text())
FOLDS = 5
MAX_EXTRA = 3


def draw(kind: str, noise: str, rows: int, columns: int, seed: int):
    """Draw a table: X, y and the groups of columns of which one each must be found."""
    design = DESIGN["problems"][kind]
    rng = np.random.default_rng([seed, rows, columns, list(DESIGN["problems"]).index(kind), noise == "high"])
    k = design["signals"]
    groups = [[i] for i in range(k)]
    if kind.startswith("linear"):
        signal = rng.normal(size=(rows, k))
        target = signal @ (-1.0) ** np.arange(k) + design["noise_sd"][noise] * rng.normal(size=rows)
        y = target if kind == "linear quantity" else (target > 0).astype(int)
    elif kind == "redundant copies":
        hidden = rng.normal(size=(rows, k))
        y = (hidden.sum(axis=1) + design["noise_sd"][noise] * rng.normal(size=rows) > 0).astype(int)
        copies = design["copies"]
        signal = np.repeat(hidden, copies, axis=1) + design["copy_sd"] * rng.normal(size=(rows, k * copies))
        groups = [list(range(copies * i, copies * (i + 1))) for i in range(k)]
    elif kind == "XOR":
        signal = rng.uniform(-1, 1, size=(rows, k))
        y = (signal.prod(axis=1) > 0).astype(int) ^ (rng.random(rows) < design["flipped"][noise])
    else:
        y = np.arange(rows) % 2
        angle = rng.uniform(0, 2 * np.pi, size=rows)
        circle = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(y == 1, 0.5, 1.0)[:, None]
        signal = circle + design["noise_sd"][noise] * rng.normal(size=(rows, k))
    X = np.column_stack([signal, rng.normal(size=(rows, columns - signal.shape[1]))])
    order = rng.permutation(columns)
    place = np.argsort(order)
    return X[:, order], y, [[int(place[i]) for i in group] for group in groups]


def found(chosen, groups) -> dict[str, int]:
    """Count the signals that were found, and the other features that were taken along."""
    chosen = {int(column) for column in chosen}
    n_found = sum(bool(chosen & set(group)) for group in groups)
    return {"found": n_found, "signals": len(groups), "extra": len(chosen) - n_found}


def ours(method: str, X, y) -> tuple[np.ndarray, list[int]]:
    """Select with a method of fewer; return the mask and the features that are given a stand-in.

    `auto` is laid out for the budget with five held-out folds.
    """
    problem = to_problem(X, y)
    if method == "auto":
        share = USABLE * DESIGN["budget_seconds"] / (1 + FOLDS)
        selector = AutoSelector(budget=share, random_state=0).fit_problem(problem)
        return selector.support_, list(selector.standins_)
    return make_plan(problem, method, seed=0).selector.fit_problem(problem).support_, []


def peers(task: str) -> dict[str, Callable[[], Any]]:
    """Return the peers that are installed, by their names in the design, each as a function that builds it."""
    classes = task == "classification"
    near = make_pipeline(StandardScaler(), (KNeighborsClassifier if classes else KNeighborsRegressor)(5))
    linear = LogisticRegression(max_iter=1000) if classes else Ridge()
    forest = partial(RandomForestClassifier if classes else RandomForestRegressor, random_state=0)
    names = iter(DESIGN["peers"])
    step_by_step = partial(SequentialFeatureSelector, n_features_to_select="auto", tol=0.001)
    built: dict[str, Callable[[], Any]] = {
        next(names): lambda: step_by_step(near),
        next(names): lambda: step_by_step(linear),
        next(names): lambda: RFECV(linear),
        next(names): lambda: RFECV(forest(n_estimators=100), step=0.1),
    }
    floating, boruta = next(names), next(names)
    with suppress(ImportError):
        from mlxtend.feature_selection import SequentialFeatureSelector as Sequential

        built[floating] = lambda: _Indexed(Sequential(near, k_features=(1, 12), floating=True, cv=5), "k_feature_idx_")
    with suppress(ImportError):
        from boruta import BorutaPy

        built[boruta] = lambda: BorutaPy(forest(max_depth=5), n_estimators="auto", random_state=0)
    return built


class _Indexed:
    """A selector that names its features by an attribute."""

    def __init__(self, selector: Any, name: str) -> None:
        self.selector, self.name = selector, name

    def fit(self, X, y):
        self.selector.fit(X, y)
        self.support_ = np.isin(np.arange(X.shape[1]), getattr(self.selector, self.name))
        return self


def theirs(peer: str, X, y) -> np.ndarray:
    """Select with a peer, on standardized columns."""
    task = "classification" if len(np.unique(y)) == 2 else "regression"
    selector = peers(task)[peer]().fit(StandardScaler().fit_transform(X), y)
    return np.asarray(selector.support_ if hasattr(selector, "support_") else selector.get_support())


def cases():
    """List the cases in an order that spreads kinds, so that a run cut short has seen them all."""
    for seed, noise, table, kind in product(DESIGN["seeds"], DESIGN["noise"], DESIGN["tables"], DESIGN["problems"]):
        yield kind, noise, table["rows"], table["columns"], seed


def run(methods: list[str], n_seeds: int, folder: Path, minutes: float) -> dict[str, dict[str, dict[str, float]]]:
    """Run every method on every case that is not kept yet."""
    began = time.monotonic()
    results = {method: _read(folder / f"{_file(method)}.json") for method in methods}
    for method, kept in results.items():
        for case in cases():
            name = "/".join(map(str, case))
            if name in kept or case[-1] not in DESIGN["seeds"][:n_seeds] or time.monotonic() - began > 60 * minutes:
                continue
            X, y, groups = draw(*case)
            clock, own = time.perf_counter(), time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                replaced: list[int] = []
                try:
                    if method in DESIGN["peers"]:
                        mask = theirs(method, X, y)
                    else:
                        mask, replaced = ours(method, X, y)
                except InputError:  # a method for classes only
                    mask = np.zeros(X.shape[1], dtype=bool)
            kept[name] = {
                **found(np.flatnonzero(mask), groups),
                "stand_ins": sum(len(group) == 1 and group[0] in replaced for group in groups),
                "seconds": round(time.perf_counter() - clock, 3),
                "processor": round(time.process_time() - own, 3),
            }
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{_file(method)}.json").write_text(json.dumps(kept, indent=0))
        print(f"{method}: {len(kept)} cases", flush=True)
    return results


def _file(method: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in method)


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def is_success(case: dict[str, float]) -> bool:
    """All signals, and at most three others."""
    return case["found"] == case["signals"] and case["extra"] <= MAX_EXTRA


def report(results: dict[str, dict[str, dict[str, float]]]) -> str:
    """Write the tables. A method that has not run on all cases is counted on those that it has."""
    results = {method: kept for method, kept in results.items() if kept}
    names = ["/".join(map(str, case)) for case in cases()]
    seen = [name for name in names if name in results["auto"]]
    solvable = {name for name in seen if any(name in kept and is_success(kept[name]) for kept in results.values())}
    auto = sum(is_success(results["auto"][name]) for name in solvable)
    lines = [
        "# Does `auto` find planted signals?",
        "",
        f"In {auto} of the {len(solvable)} cases ({auto / max(len(solvable), 1):.0%}) in which any method does.",
        "",
        "Written by `python experiments/planted_problems.py` from `planted_problems_design.json`, which was fixed",
        f"before any of these numbers was seen. {len(seen)} cases; a method succeeds if it chooses every planted",
        f"signal (one of each redundant group) and at most {MAX_EXTRA} other features. `auto` is laid out as for",
        f"`--budget {DESIGN['budget_seconds']}s` with its {FOLDS} held-out folds; named methods have their defaults",
        "and choose the number of features themselves, and so do the peers. A method for classes only counts as",
        "failing on quantities. Slow methods ran on the cases of the first seeds only, and are counted on those.",
        "",
        *stand_ins(results["auto"]),
        "## Success, of the cases that some method solves",
        "",
    ]
    kinds = list(DESIGN["problems"])
    lines += [
        "| method | " + " | ".join(kinds) + " | all | extra features, mean | seconds of the processor, mean |",
        "| --- |" + " --- |" * (len(kinds) + 3),
    ]
    order = sorted(results, key=lambda m: (m != "auto", m in DESIGN["peers"], -_share(results[m], solvable)))
    for method in order:
        kept = results[method]
        shares = []
        for kind in [*kinds, ""]:
            own = [name for name in kept if name in solvable and (name.startswith(kind + "/") or not kind)]
            shares.append(f"{sum(is_success(kept[name]) for name in own)} of {len(own)}")
        extra = np.mean([case["extra"] for case in kept.values()])
        seconds = np.mean([case["processor"] for case in kept.values()])
        lines.append(f"| {method} | " + " | ".join(shares) + f" | {extra:.1f} | {seconds:.1f} |")
    lines += [
        "",
        "## By problem",
        "",
        "Successes, and for `auto` the signals found and the mean number of extra features; the other method and the",
        "peer with the highest share of successes on the cases that they ran on.",
        "",
        "| problem | noise | rows × columns | auto | signals found | extra | best other method | best peer |",
        "| --- |" + " --- |" * 7,
    ]
    for kind, noise, table in product(kinds, DESIGN["noise"], DESIGN["tables"]):
        own = [n for n in seen if n.startswith(f"{kind}/{noise}/{table['rows']}/{table['columns']}/")]
        ran = [results["auto"][name] for name in own]
        best = [_best(results, own, group) for group in (DESIGN["methods"], DESIGN["peers"])]
        lines.append(
            f"| {kind} | {noise} | {table['rows']} × {table['columns']} | {sum(map(is_success, ran))} of {len(own)} | "
            f"{sum(c['found'] for c in ran):.0f} of {sum(c['signals'] for c in ran):.0f} | "
            f"{np.mean([c['extra'] for c in ran]):.1f} | {best[0]} | {best[1]} |"
        )
    missing = [name for name in (*DESIGN["methods"], *DESIGN["peers"]) if name not in results]
    if missing:
        lines += ["", "Left out, since not installed or not run: " + "; ".join(missing) + "."]
    return "\n".join(lines) + "\n"


def stand_ins(kept: dict[str, dict[str, float]]) -> list[str]:
    """Tell how many planted features that stand alone were said to have a stand-in."""
    own = [case for name, case in kept.items() if not name.startswith("redundant") and "stand_ins" in case]
    if not own:
        return []
    n_found, n_replaced = sum(case["found"] for case in own), sum(case["stand_ins"] for case in own)
    told = f"{n_replaced} of {n_found} ({n_replaced / max(n_found, 1):.1%})"
    return [f"Of the planted features that have no copy and were chosen, {told} are given a stand-in.", ""]


def _share(kept, names) -> float:
    own = [name for name in kept if name in names]
    return sum(is_success(kept[name]) for name in own) / max(len(own), 1)


def _best(results, names, group) -> str:
    """Name the method of a group with the highest share of successes."""
    ran = {m: [n for n in names if n in results[m]] for m in group if m in results}
    shares = {m: _share(results[m], own) for m, own in ran.items() if own}
    if not shares:
        return "–"
    best = max(shares, key=lambda m: (shares[m], len(ran[m])))
    return f"{best}: {round(shares[best] * len(ran[best]))} of {len(ran[best])}" if shares[best] else "none"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = ["auto", *DESIGN["methods"], *DESIGN["peers"]]
    parser.add_argument("--only", nargs="+", choices=everything, default=everything, metavar="METHOD")
    parser.add_argument("--seeds", type=int, default=len(DESIGN["seeds"]), help="only the first so many")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=HERE / "planted_problems_results")
    asked = parser.parse_args()
    run(asked.only, asked.seeds, asked.out, asked.minutes)
    kept = {method: _read(asked.out / f"{_file(method)}.json") for method in everything}
    (HERE / "planted_problems.md").write_text(report(kept))
