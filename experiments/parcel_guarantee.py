"""Is a limit on false positives kept on fresh rows? With and without Parcel's guarantee.

Each split deals the rows out anew: 40 % to fit (training, validation and calibration rows as `Parcel` splits them),
60 % to judge. The classifier at `max_fpr` is then watched on the fresh rows. Run

    python experiments/parcel_guarantee.py --splits 600 --jobs 2

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


def interval(share: float, n: int) -> str:
    """Write a share with its exact 95 % interval."""
    band = binomtest(round(share * n), n).proportion_ci()
    return f"{100 * share:.1f} % ({100 * band.low:.1f} to {100 * band.high:.1f})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=600)
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
    print(f"\n{time.perf_counter() - began:.0f} s.")


if __name__ == "__main__":
    main()
