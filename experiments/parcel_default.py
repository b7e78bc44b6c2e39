"""Is Parcel worth using? Against its own learner on all features, and with stronger learners in the hull.

Six two-class tables, 20 random halves each (at most 3,000 rows to fit, all others judge): area under the ROC curve of
`Parcel().decision_function` less that of naive Bayes on all features of the same rows; then of Parcel with three
learners less the best of the three on all features. The test is the corrected resampled t. Run

    FEWER_DATA=folder python experiments/parcel_default.py --splits 20 > experiments/parcel_default.md
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fewer.datasets import load
from fewer.models import DiscreteNaiveBayes
from fewer.models._discrete_naive_bayes import LogTables
from fewer.problem import Problem
from fewer.roc import Parcel, auroc
from fewer.roc._learners import EstimatorLearner, Lessons
from fewer.validate import corrected_resampled_t

TABLES = ("adult", "grey", "cotton", "thyroid", "higgs_7500", "pima")
MOST = 3000


def halves(problem: Problem, seed: int, most: int = MOST) -> tuple[Problem, Problem]:
    """Deal rows out: half of them to fit, but no more than some; the others to judge."""
    rows = np.random.default_rng([seed, 7]).permutation(problem.n_samples)
    cut = min(problem.n_samples // 2, most)
    return problem.take(np.sort(rows[:cut])), problem.take(np.sort(rows[cut:]))


def strong() -> list[tuple[str, Any]]:
    """Return three learners: the default one, a linear one, boosting."""
    return [
        ("naive Bayes", DiscreteNaiveBayes()),
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))),
        ("boosting", HistGradientBoostingClassifier(max_iter=40, random_state=0)),
    ]


def alone(name: str, estimator: Any, fit: Problem, judge: Problem) -> float:
    """Return the area of one learner on all features."""
    if name == "naive Bayes":
        joint = LogTables.learn(fit).joint(judge.X)
        return auroc(judge.y, (joint[:, 1] - joint[:, 0]).astype(float))
    learner = EstimatorLearner(name, estimator, Lessons(((fit, judge),), fit))
    return auroc(judge.y, learner.validation_scores(~fit.constant))


def row(name: str, gaps: list[float], n_fit: int, n_judge: int) -> str:
    """Write the mean difference with its test."""
    test = corrected_resampled_t(gaps, n_fit, n_judge)
    return f"{np.mean(gaps):+.4f} | {test.p_value:.3f} | {sum(g > 0 for g in gaps)} of {len(gaps)}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--strong-splits", type=int, default=3)
    parser.add_argument("--part", choices=("default", "strong", "all"), default="all")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    began = time.process_time()
    print("# Is Parcel worth using?\n")
    print(
        f"`python experiments/parcel_default.py --splits {arguments.splits}`: "
        f"{' '.join((__doc__ or '').split('Run')[0].split())}\n"
    )
    print("| table | all features | Parcel | difference | p | ahead | line of the hull | features of the score |")
    print("|---|---|---|---|---|---|---|---|")
    means = []
    for name in TABLES if arguments.part != "strong" else ():
        problem = load(name).problem
        found: list[list[float]] = []
        for seed in range(arguments.splits):
            fit, judge = halves(problem, seed)
            parcel = Parcel(random_state=seed).fit_problem(fit)
            ours = auroc(judge.y, parcel._committee.decision(judge.X))
            line = parcel.held_out_problem(judge).area
            theirs = alone("naive Bayes", None, fit, judge)
            found.append([theirs, ours, line, float(parcel.scoring_support_.sum())])
        table = np.array(found)
        gaps = (table[:, 1] - table[:, 0]).tolist()
        means.append(np.mean(gaps))
        print(
            f"| {name} | {table[:, 0].mean():.4f} | {table[:, 1].mean():.4f} | "
            f"{row(name, gaps, fit.n_samples, judge.n_samples)} | "
            f"{table[:, 2].mean():.4f} | {table[:, 3].mean():.1f} |",
            flush=True,
        )
    print(f"\nMean difference over the tables: {np.mean(means):+.4f}.\n")
    print("With naive Bayes, logistic regression and boosting together (at most 600 rows to fit):\n")
    print("| table | naive Bayes | logistic | boosting | Parcel of the three | less the best | p | ahead |")
    print("|---|---|---|---|---|---|---|---|")
    for name in TABLES if arguments.part != "default" else ():
        problem = load(name).problem
        found = []
        for seed in range(arguments.strong_splits):
            fit, judge = halves(problem, seed, 600)
            parcel = Parcel(strong(), random_state=seed).fit_problem(fit)
            areas = [alone(label, estimator, fit, judge) for label, estimator in strong()]
            found.append([*areas, auroc(judge.y, parcel._committee.decision(judge.X))])
        table = np.array(found)
        best = int(table[:, :3].mean(axis=0).argmax())
        gaps = (table[:, 3] - table[:, best]).tolist()
        areas = " | ".join(f"{value:.4f}" for value in table.mean(axis=0))
        print(f"| {name} | {areas} | {row(name, gaps, fit.n_samples, judge.n_samples)} |", flush=True)
    print(f"\n{time.process_time() - began:.0f} s of processor time.")


if __name__ == "__main__":
    main()
