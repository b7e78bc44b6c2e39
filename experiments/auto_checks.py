"""What `auto` says of noise, weak signals, a rare class, seven named tables, quantities; how long it takes.

    python experiments/auto_checks.py fraud | churn | levels [--tables 20]
    python experiments/auto_checks.py noise [--tables 25]
    python experiments/auto_checks.py imbalance [--splits 5]
    python experiments/auto_checks.py named [--splits 5] [--before FILE]
    python experiments/auto_checks.py quantities [--splits 3]
    python experiments/auto_checks.py draws [--tables 10]
    python experiments/auto_checks.py power [--tables 10]
    python experiments/auto_checks.py returns
    python experiments/auto_checks.py speed [--shape 569 30]

Prints what it found; `auto_checks.md` keeps what was printed. All but the last two keep finished cases in FOLDER
(`--out`, default: auto_checks_results beside this file, not committed), so that a stopped run goes on; after
`--minutes` no new case is begun. FILE has a line for each table and split, [table, split, chosen columns]: what other
code chose on the same rows, to be judged beside. The shared tables are looked for in the folder that FEWER_DATA names.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from peers_study import judged
from peers_study_methods import models, prepared
from peers_study_problems import DESIGN, quantity, split, table
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import fewer
from fewer import AutoSelector
from fewer.datasets import load
from fewer.problem import Problem
from fewer.selectors.auto import _answer
from fewer.selectors.auto._selector import LEVEL

SHAPES = ((60, 300), (300, 40))
RARE = {"segment": "sky", "satimage": 2, "wdbc": 1}
SHARE = 0.05
NAMED = ("wdbc", "sonar", "glass", "spectf", "satimage", "madelon", "colon")
ANSWERS = ("all", "fewest", "balanced", "accuracy")
QUANTITIES = (
    "diabetes", "diabetes and 50 noise columns", "friedman 1 in 30", "25 of 100 linear", "8 of 1000 linear",
)  # fmt: skip
TASKS = ("classification", "regression")
ROWS = 500
"""Training rows of the named tables at most."""
WEAK = {"noise": 0, "three signals": 3, "twenty signals": 20}
OTHER_SHAPES = ((60, 300, 0.5), (90, 30, 0.5), (300, 40, 0.5), (400, 300, 0.05))
"""Rows, columns, and the share of the second class."""
WIDER = (1.0, 1.1, 1.2, 1.3, float(np.sqrt(2.0)))
SIZES = ((569, 30), (60, 5_000), (100_000, 20), (300, 200_000))


def run(what: str, cases: list[tuple], measure: Callable[..., dict], asked: argparse.Namespace) -> list[dict]:
    """Measure every case that is not kept yet; return all that are."""
    asked.out.mkdir(parents=True, exist_ok=True)
    path, began = asked.out / f"{what}.jsonl", time.monotonic()
    kept = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {tuple(record["case"]) for record in kept}
    for case in cases:
        if case in done or time.monotonic() - began > 60 * asked.minutes:
            continue
        clock = time.process_time()
        record = {"case": case, **measure(*case), "seconds": round(time.process_time() - clock, 2)}
        with path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        kept.append(record)
    wanted = set(cases)
    return [record for record in kept if tuple(record["case"]) in wanted]


def noise(asked: argparse.Namespace) -> None:
    """Count the tables of pure noise that are called so."""
    kinds = [(task, n, p) for task in TASKS for n, p in SHAPES]
    cases = [(*kind, seed) for seed in range(asked.tables or 25) for kind in kinds]

    def measure(task: str, n: int, p: int, seed: int) -> dict:
        rng = np.random.default_rng([7, seed, n])
        X = rng.normal(size=(n, p))
        y = np.arange(n) % 2 if task == "classification" else rng.normal(size=n)
        problem = Problem.from_arrays(X, y, task=task)
        selector = AutoSelector(random_state=0, standins=False).fit_problem(problem)
        return {"nothing": bool(selector.nothing_found_), "p": float(selector.p_value_)}

    found = run("noise", cases, measure, asked)
    for kind in kinds:
        own = [record for record in found if tuple(record["case"][:3]) == kind]
        said = sum(record["nothing"] for record in own)
        seconds = np.mean([record["seconds"] for record in own]) if own else float("nan")
        print(f"{kind[0]} {kind[1]} × {kind[2]}: nothing found in {said} of {len(own)}, {seconds:.1f} processor s each")
    print(f"all: {sum(record['nothing'] for record in found)} of {len(found)}")


def imbalance(asked: argparse.Namespace) -> None:
    """Compare chosen with all features where one class has 5 % of the rows."""
    found = run("imbalance", [(name, i) for i in range(asked.splits or 5) for name in RARE], rare_class, asked)
    for name in RARE:
        own = [record for record in found if record["case"][0] == name]
        gains = np.array([np.subtract(record["chosen"], record["all"]) for record in own])
        mean, error = gains.mean(axis=0), gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        print(
            f"{name}: {', '.join(str(record['n']) for record in own)} of {own[0]['of']} features; balanced accuracy "
            f"{mean[0]:+.1f} ± {error[0]:.1f}, AUC {mean[1]:+.1f} ± {error[1]:.1f} against all features"
        )


def rare_class(name: str, number: int) -> dict:
    """Make a class rare, choose on 60 % of the rows, and judge on the others."""
    data = load(name).problem
    rare = data.y == data.classes.index(RARE[name])
    rng = np.random.default_rng([11, number])
    others = rng.permutation(np.flatnonzero(~rare))[:570]
    few = rng.permutation(np.flatnonzero(rare))[: round(len(others) * SHARE / (1 - SHARE))]
    rows = rng.permutation(np.concatenate([others, few]))
    problem = Problem.from_arrays(data.X[rows], rare[rows].astype(int))
    half = np.zeros(len(rows), dtype=bool)
    for code in (0, 1):
        own = np.flatnonzero(problem.y == code)
        half[own[: round(0.6 * len(own))]] = True
    train, test = problem.take(half), problem.take(~half)
    selector = AutoSelector(random_state=0, standins=False).fit_problem(train)
    told = {"n": int(selector.support_.sum()), "of": problem.n_features}
    for what, mask in (("chosen", selector.support_), ("all", np.ones(problem.n_features, dtype=bool))):
        scores = []
        for model in models("classification").values():
            fitted = prepared(train, np.flatnonzero(mask), model).fit(train.X[:, mask], train.y)
            outputs = fitted.predict_proba(test.X[:, mask])
            scores.append([
                balanced_accuracy_score(test.y, outputs.argmax(axis=1)),
                roc_auc_score(test.y, outputs[:, 1]),
            ])  # fmt: skip
        told[what] = (100 * np.mean(scores, axis=0)).tolist()
    return told


def named(asked: argparse.Namespace) -> None:
    """Judge what is chosen on seven tables as the study does, for each preference."""
    judge_tables("named", "classification", NAMED, asked.splits or 5, asked)


def quantities(asked: argparse.Namespace) -> None:
    """Judge what is chosen on five problems with a quantity as the study does, for each preference."""
    judge_tables("quantities", "regression", QUANTITIES, asked.splits or 3, asked)


def judge_tables(what: str, task: str, names: tuple[str, ...], n_splits: int, asked: argparse.Namespace) -> None:
    """Judge all features and the three answers by three models on other rows."""
    limits = {**DESIGN, "train_rows": ROWS} if task == "classification" else DESIGN
    lines = [json.loads(line) for line in asked.before.read_text().splitlines()] if asked.before else []
    before = {(name, number): columns for name, number, columns in lines}

    def measure(name: str, number: int) -> dict:
        problem = table(name, task, DESIGN["most_columns"])
        train, test = split(problem, number, limits)
        told = judge_answers(problem, train, test)
        if (name, number) in before:
            mask = np.isin(np.arange(problem.n_features), before[name, number])
            told["before"] = [*judged(problem, train, test, mask).values(), int(mask.sum())]
        return told

    found = run(what, [(name, i) for i in range(n_splits) for name in names], measure, asked)
    for name in names:
        show_answers(name, [record for record in found if record["case"][0] == name])


def judge_answers(problem: Problem, train: np.ndarray, test: np.ndarray) -> dict:
    """Choose on the training rows; judge all features and the three answers on the test rows."""
    selector = AutoSelector(random_state=0, standins=False).fit_problem(problem.take(train))
    masks = {"all": np.ones(problem.n_features, dtype=bool), **selector.choices_}
    return {
        answer: [*judged(problem, train, test, mask).values(), int(mask.sum())] for answer, mask in masks.items()
    }  # fmt: skip


def show_answers(name: str, own: list[dict]) -> None:
    """Print the mean score of each answer, and by how much it is ahead of all features, with its standard error."""
    told = []
    for answer in (*ANSWERS, "before") if own else ():
        if not all(answer in record for record in own):
            continue
        values = np.array([record[answer] for record in own])
        ahead = values[:, :-1].mean(axis=1) - np.array([record["all"][:-1] for record in own]).mean(axis=1)
        error = ahead.std(ddof=1) / np.sqrt(len(own)) if len(own) > 1 else np.nan
        size = f"{values[:, -1].mean():.1f} features"
        told.append(f"{answer} {values[:, :-1].mean():.1f} ({size}; {ahead.mean():+.1f} ± {error:.1f})")
    print(f"{name}, {len(own)} splits", *told, sep="; ")


def draws(asked: argparse.Namespace) -> None:
    """Judge what is chosen of 1,000 columns with eight signals, drawn anew each time."""

    def measure(seed: int) -> dict:
        rng = np.random.default_rng([23, seed])
        problem = Problem.from_arrays(*quantity("8 of 1000 linear", rng), task="regression")
        train, test = split(problem, seed, DESIGN)
        return judge_answers(problem, train, test)

    found = run("draws", [(seed,) for seed in range(asked.tables or 10)], measure, asked)
    for record in found:
        print(record["case"][0], {a: [round(float(np.mean(record[a][:-1])), 1), record[a][-1]] for a in ANSWERS})
    show_answers("8 of 1,000 linear", found)


def power(asked: argparse.Namespace) -> None:
    """Count noise and weak signals called nothing, by how much wider than rows show standard errors are taken."""
    kinds = [(what, task, *shape) for what, task, shape in product(WEAK, TASKS, OTHER_SHAPES)]
    tables = asked.tables or 10
    cases = [(*kind, seed) for seed in range(2 * tables) for kind in kinds if seed < tables or kind[0] == "noise"]
    found = run("power", cases, chances, asked)
    for what, task in product(WEAK, TASKS):
        for n, p, share in OTHER_SHAPES:
            own = [r["p"] for r in found if tuple(r["case"][:5]) == (what, task, n, p, share)]
            said = (np.array(own) > LEVEL).sum(axis=0).tolist() if own else []
            print(f"{what}, {task}, {n} × {p}, {share:.0%}: nothing in {said} of {len(own)} with {WIDER}")
        own = [r["p"] for r in found if tuple(r["case"][:2]) == (what, task)]
        print(f"{what}, {task}: nothing in {(np.array(own) > LEVEL).sum(axis=0).tolist()} of {len(own)}")


def chances(what: str, task: str, n: int, p: int, share: float, seed: int) -> dict:
    """Draw a table of noise, of three weak signals or of twenty, and return how likely luck is, by width.

    Signals explain 18 / n of the spread of a quantity (twenty twice that), at most half, so that the F test of all rows
    sees them about equally well at every size. A class is what lies above the share's quantile of such a quantity.
    """
    rng = np.random.default_rng([13, seed, n, p, *what.encode()])
    X, count = rng.normal(size=(n, p)), WEAK[what]
    explained = min((36 if count > 3 else 18) / n, 0.5) if count else 0.0
    y = rng.normal(size=n) * np.sqrt(1 - explained)
    if count:
        y += X[:, :count].sum(axis=1) * np.sqrt(explained / count)
    if task == "classification":
        y = (y > np.quantile(y, 1 - share)).astype(int)
    kept: list[tuple] = []

    def record(gains, weights, clusters, seed, **_):
        kept.append((gains, weights, clusters, seed))
        return 1.0

    usual, _answer.chance_of = _answer.chance_of, record
    try:
        AutoSelector(random_state=0, standins=False).fit_problem(Problem.from_arrays(X, y, task=task))
    finally:
        _answer.chance_of = usual
    return {"p": [usual(*kept[-1], wider=wider) for wider in WIDER]}


def returns() -> None:
    """Tell how often what is chosen on the demo's table comes back in repetitions: alone (or a stand-in)."""
    problem = load("wdbc").problem
    for seed in range(3):
        selection = fewer.select(problem, random_state=seed)
        told = []
        for name in selection.features:
            alone = selection.frequency.get(name, 0.0)
            told.append(f"{name} {alone:.0%} ({selection.stability.get('returns', {}).get(name, alone):.0%})")
        index, merged = (selection.stability.get(key) for key in ("index", "with_stand_ins"))
        print(f"seed {seed}, stability {index} ({merged}): {', '.join(told)}", flush=True)


def speed(shapes: tuple[tuple[int, int], ...]) -> None:
    """Measure the processor seconds and the peak memory of one answer with its five folds, one shape a process."""
    for n, p in shapes:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, p))
        y = (X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=n) > 0).astype(int)
        fewer.select(X[:60, :10], y[:60], random_state=0)  # compiles
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        clock = time.process_time()
        selection = fewer.select(X, y, random_state=0)
        seconds = time.process_time() - clock
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / X.nbytes
        print(
            f"{n:,} × {p:,}: {seconds:.1f} processor s, peak memory grew by {grown:.2f} times the table, "
            f"{len(selection.features)} features", flush=True,
        )  # fmt: skip


def fraud(asked: argparse.Namespace) -> None:
    """Count what is kept of two columns that tell a rare class together (area .88; .80 each alone)."""

    def measure(seed: int) -> dict:
        rng = np.random.default_rng([31, seed])
        p, share = int(rng.integers(12, 41)), float(rng.uniform(0.01, 0.03))
        X, y = rng.normal(size=(3000, p)), np.arange(3000) < round(3000 * share)
        needed = rng.permutation(p)[:2]
        X[np.ix_(y, needed)] += 1.175
        rows = rng.permutation(3000)
        selector = AutoSelector(random_state=0, standins=False).fit_problem(Problem.from_arrays(X[rows], y[rows]))
        told = {"of": p, "share": share, "nothing": bool(selector.nothing_found_), "model": selector.judge_name_}
        for prefer, mask in selector.choices_.items():
            told[prefer] = [int(mask[needed].sum()), int(mask.sum() - mask[needed].sum())]
        return told

    found = run("fraud", [(seed,) for seed in range(asked.tables or 20)], measure, asked)
    for prefer in ("fewest", "balanced", "accuracy"):
        both = np.mean([record[prefer][0] == 2 for record in found])
        others = np.mean([record[prefer][1] for record in found])
        print(f"{prefer}: both kept in {both:.0%} of {len(found)}, {others:.1f} others on average")


def churn(asked: argparse.Namespace) -> None:
    """Look whether usual models answer one class alone on what is kept of 400 rows of which 27 % leave."""

    def measure(seed: int) -> dict:
        rng = np.random.default_rng([37, seed])
        X = rng.normal(size=(2400, 19))
        effects = np.r_[np.array([1.0, 0.7, 0.6, 0.5, 0.4, 0.4, 0.3, 0.3]), np.zeros(11)]
        y = X @ effects + float(rng.uniform(0.8, 2.0)) * rng.normal(size=2400)
        problem = Problem.from_arrays(X, y > np.quantile(y, 0.73))
        train, test = problem.take(np.arange(400)), problem.take(np.arange(400, 2400))
        selector = AutoSelector(random_state=0, standins=False).fit_problem(train)
        told = {}
        for name, mask in {"all": np.ones(19, dtype=bool), **selector.choices_}.items():
            columns = np.flatnonzero(mask)
            scores = []
            for model in models("classification").values():
                fitted = prepared(train, columns, model).fit(train.X[:, mask], train.y)
                scores.append(balanced_accuracy_score(test.y, fitted.predict(test.X[:, mask])))
            told[name] = [round(float(score), 3) for score in scores] + [len(columns)]
        return told

    found = run("churn", [(seed,) for seed in range(asked.tables or 10)], measure, asked)
    for name in ("all", "fewest", "balanced", "accuracy"):
        values = np.array([record[name] for record in found])
        means = values[:, :-1].mean(axis=0).round(3).tolist()
        size, least = values[:, -1].mean(), values[:, :-1].min()
        print(f"{name}: {size:.1f} features, balanced accuracy of the models {means}, least {least:.3f}")


def levels(asked: argparse.Namespace) -> None:
    """Count tables in which a permuted column of many levels comes before a planted number."""

    def measure(seed: int) -> dict:
        rng = np.random.default_rng([41, seed])
        n, task = int(rng.integers(150, 1200)), TASKS[seed % 2]
        numbers = rng.normal(size=(n, 8))
        many = np.column_stack([rng.integers(int(rng.integers(20, 301)), size=n) for _ in range(4)])
        y = numbers[:, 0] + 0.8 * numbers[:, 1] + 0.7 * numbers[:, 2] + 0.7 * rng.normal(size=n)
        kinds = ["numeric"] * 8 + ["nominal"] * 4
        target = y > 0 if task == "classification" else y
        problem = Problem.from_arrays(np.column_stack([numbers, many]), target, task=task, kinds=kinds)
        selector = AutoSelector(random_state=0, standins=False).fit_problem(problem)
        ranking = selector.ranking_
        return {"before": bool(ranking[8:].min() < ranking[:3].max()), "kept": int(selector.support_[8:].sum())}

    found = run("levels", [(seed,) for seed in range(asked.tables or 50)], measure, asked)
    print(f"before a planted number in {sum(r['before'] for r in found)} of {len(found)} tables; "
          f"kept in {sum(r['kept'] > 0 for r in found)}")  # fmt: skip


CHECKS = {
    "fraud": fraud, "churn": churn, "levels": levels, "noise": noise, "power": power, "imbalance": imbalance,
    "named": named, "quantities": quantities, "draws": draws,
}  # fmt: skip

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*CHECKS, "returns", "speed"])
    parser.add_argument("--tables", type=int)
    parser.add_argument("--before", type=Path, metavar="FILE")
    parser.add_argument("--splits", type=int)
    parser.add_argument("--shape", type=int, nargs=2, metavar=("ROWS", "COLUMNS"))
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "auto_checks_results")
    asked = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if asked.what in CHECKS:
            CHECKS[asked.what](asked)
        elif asked.what == "returns":
            returns()
        else:
            speed((tuple(asked.shape),) if asked.shape else SIZES)
