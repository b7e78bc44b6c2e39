"""Are limits, rates and costs kept on fresh rows? With and without Parcel's guarantee.

Each split deals the rows out anew: 40 % to fit (training, validation and calibration rows as `Parcel` splits them),
60 % to judge. The classifier at `max_fpr` is then watched on the fresh rows. Run

    python experiments/parcel_guarantee.py --splits 300 --jobs 2

The result goes to standard output as Markdown; `experiments/parcel_guarantee.md` is what it printed.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import binom, binomtest

from fewer.datasets import load
from fewer.problem import Problem
from fewer.roc import Parcel

TASKS = {"grey": "grey", "adult": 1, "higgs_7500": 1, "brodsat": "man-made"}
MAX_ROWS = 8000
GUARANTEE = 0.95


def one_split(problem: Problem, pos_label: Any, limits: list[float], seed: int) -> list[dict[str, float]]:
    """Fit on some rows and watch the others."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(problem.n_samples)[:MAX_ROWS]
    cut = int(0.4 * len(rows))
    fit, fresh = problem.take(np.sort(rows[:cut])), problem.take(np.sort(rows[cut:]))
    parcel = Parcel(pos_label=pos_label, random_state=seed).fit_problem(fit)
    return [watch(parcel, fresh, pos_label, max_fpr) for max_fpr in limits]


def watch(parcel: Parcel, fresh: Problem, pos_label: Any, max_fpr: float) -> dict[str, float]:
    """See what the classifiers at a limit do on fresh rows."""
    positive = fresh.y == fresh.classes.index(pos_label)
    out = {}
    for name, guarantee in (("plain", None), ("sure", GUARANTEE)):
        point = parcel.operating_point(max_fpr=max_fpr, guarantee=guarantee)
        called = point.predict(fresh.X) == pos_label
        n_false, n_negative = int(called[~positive].sum()), int((~positive).sum())
        out[f"{name} fpr"] = n_false / n_negative
        out[f"{name} tpr"] = float(called[positive].mean())
        out[f"{name} promised"] = point.promised_.fpr
        # Beyond sampling error: the fresh rows alone reject, at 5 %, that the rate is at most the limit.
        out[f"{name} proven above"] = float(binom.sf(n_false - 1, n_negative, max_fpr) < 0.05)
    return out


COSTS = ((1.0, 1.0), (1.0, 10.0), (10.0, 1.0))


def costs_of(problem: Problem, pos_label: Any, seed: int, most: int) -> list[dict[str, float]]:
    """Fit on some rows; see on the others whether intervals and bounds of rates and costs hold."""
    rng = np.random.default_rng([seed, 11])
    rows = rng.permutation(problem.n_samples)
    cut = min(most, int(0.4 * len(rows)))
    fit, fresh = problem.take(np.sort(rows[:cut])), problem.take(np.sort(rows[cut : cut + 5000]))
    parcel = Parcel(pos_label=pos_label, random_state=seed).fit_problem(fit)
    positive = fresh.y == fresh.classes.index(pos_label)
    share = float(positive.mean())
    out = []
    for cost_fp, cost_fn in COSTS:
        point = parcel.operating_point(cost_fp=cost_fp, cost_fn=cost_fn, prevalence=share)
        sure = parcel.operating_point(cost_fp=cost_fp, cost_fn=cost_fn, prevalence=share, guarantee=GUARANTEE)
        found = {"trivial": min(share * cost_fn, (1 - share) * cost_fp)}
        for name, each in (("plain", point), ("sure", sure)):
            called = each.predict(fresh.X) == pos_label
            fpr, tpr = called[~positive].mean(), called[positive].mean()
            found[f"{name} cost"] = float(share * cost_fn * (1 - tpr) + (1 - share) * cost_fp * fpr)
            if name == "plain":
                found["fpr inside"] = float(each.expected_.fpr.low <= fpr <= each.expected_.fpr.high)
                found["tpr inside"] = float(each.expected_.tpr.low <= tpr <= each.expected_.tpr.high)
        found["cost inside"] = float(point.cost_.low - 1e-9 <= found["plain cost"] <= point.cost_.high + 1e-9)
        found["above bound"] = float(found["sure cost"] > sure.guaranteed_.limit + 1e-9)
        found["bound"] = sure.guaranteed_.limit
        out.append(found)
    return out


def print_costs(n: int, jobs: int, most: int) -> None:
    """Measure costs and print them."""
    print(f"\n## Rates and costs, at most {most} rows to fit, at most 5,000 others fresh, {n} splits\n")
    print("*Inside*: how often the fresh rate or cost lies in the 95 % interval of the point. *Above the bound*: how ")
    print(
        f"often the fresh cost is above what `guarantee={GUARANTEE:g}` promises. *Constant*: the cost of the better "
        "constant answer.\n"
    )
    print(
        "| task | costs | mean cost | constant | false positives inside | true positives inside | cost inside | with a "
        "guarantee: mean cost | mean bound | above the bound |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for task, pos_label in TASKS.items():
        problem = load(task).problem
        splits = Parallel(n_jobs=jobs)(delayed(costs_of)(problem, pos_label, seed, most) for seed in range(n))
        for number, (cost_fp, cost_fn) in enumerate(COSTS):
            found = {key: float(np.mean([split[number][key] for split in splits])) for key in splits[0][number]}
            print(
                f"| {task} | {cost_fp:g} : {cost_fn:g} | {found['plain cost']:.4f} | {found['trivial']:.4f} | "
                f"{interval(found['fpr inside'], n)} | {interval(found['tpr inside'], n)} | "
                f"{interval(found['cost inside'], n)} | {found['sure cost']:.4f} | {found['bound']:.4f} | "
                f"{interval(found['above bound'], n)} |",
                flush=True,
            )


def interval(share: float, n: int) -> str:
    """Write a share with its exact 95 % interval."""
    band = binomtest(round(share * n), n).proportion_ci()
    return f"{100 * share:.1f} % ({100 * band.low:.1f} to {100 * band.high:.1f})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--max-fpr", type=float, nargs="+", default=[0.1, 0.05])
    arguments = parser.parse_args()
    n = arguments.splits
    print("# Is a limit on false positives kept on fresh rows?\n")
    print(f"`python experiments/parcel_guarantee.py --splits {n}`: {n} random splits of each task, at most {MAX_ROWS}")
    print("rows, 40 % to fit and 60 % fresh. *Above* is the share of splits whose fresh false positive rate is above")
    print("the limit; *proven above* those in which it is so beyond sampling error of the fresh rows (one-sided exact")
    print(f"binomial test at 5 %). With the guarantee ({GUARANTEE:g}) the true rate may be above the limit in 5 % of")
    print("splits. Intervals are exact 95 % binomial ones.\n")
    print("| task | limit | guarantee | mean rate | above | proven above | mean true positive rate |")
    print("|---|---|---|---|---|---|---|")
    began = time.perf_counter()
    for task, pos_label in TASKS.items():
        problem = load(task).problem
        splits = Parallel(n_jobs=arguments.jobs)(
            delayed(one_split)(problem, pos_label, arguments.max_fpr, seed) for seed in range(n)
        )
        for number, max_fpr in enumerate(arguments.max_fpr):
            found = [split[number] for split in splits]
            for name, words in (("plain", "none"), ("sure", f"{GUARANTEE:g}")):
                rates = np.array([split[f"{name} fpr"] for split in found])
                proven = np.mean([split[f"{name} proven above"] for split in found])
                tpr = np.mean([split[f"{name} tpr"] for split in found])
                print(
                    f"| {task} | {max_fpr:g} | {words} | {rates.mean():.4f} | "
                    f"{interval(np.mean(rates > max_fpr), n)} | {interval(proven, n)} | {tpr:.4f} |",
                    flush=True,
                )
    print_costs(n, arguments.jobs, 400)
    print(f"\n{time.perf_counter() - began:.0f} s.")


if __name__ == "__main__":
    main()
