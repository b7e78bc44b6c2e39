"""Is Parcel worth using? Against its own learner on all features, and with stronger learners in the hull.

Six two-class tables, 20 random halves each (at most 3,000 rows to fit, all others judge): area under the ROC curve of
`Parcel().decision_function` less that of naive Bayes on all features of the same rows; then of Parcel with three
learners less the best of the three on all features. The test is the corrected resampled t. Run

    FEWER_DATA=folder python experiments/parcel_default.py --splits 20 > experiments/parcel_default.md
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from fewer.datasets import load
from fewer.io import read_table
from fewer.models import DiscreteNaiveBayes
from fewer.models.discrete_naive_bayes import LogTables
from fewer.problem import Problem, mask_of
from fewer.roc import Parcel, auroc
from fewer.roc._committee import CommitteeBallot, elect
from fewer.roc._curve import hull_vertices
from fewer.roc._learners import EstimatorLearner, Lessons, deal_out, learner_of
from fewer.validate import corrected_resampled_t

CHOSEN_ON = ("pima", "sonar", "cotton", "biodeg", "spectf", "thyroid", "crx")
JUDGED_ON = (
    "adult", "grey", "wdbc", "ionosphere", "higgs_7500", "brodsat", "GlaucomaM", "oil_spill", "jm1", "bank_churn",
    "promotergene", "cylinder_bands",
)  # fmt: skip
LIMITS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
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
    learner = EstimatorLearner(name, estimator, Lessons.of_parts(fit, judge))
    return auroc(judge.y, learner.validation_scores(~fit.constant))


def row(gaps: list[float], n_fit: int, n_judge: int) -> str:
    """Write the mean difference with its test."""
    test = corrected_resampled_t(gaps, n_fit, n_judge)
    return f"{np.mean(gaps):+.4f} | {test.p_value:.3f} | {sum(g > 0 for g in gaps)} of {len(gaps)}"


def default_part(n_splits: int) -> None:
    """Compare the default with its own learner on all features."""
    print("| table | all features | Parcel | difference | p | ahead | line of the hull | features of the score |")
    print("|---|---|---|---|---|---|---|---|")
    means = []
    for name in TABLES:
        problem = load(name).problem
        found: list[list[float]] = []
        for seed in range(n_splits):
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
            f"{row(gaps, fit.n_samples, judge.n_samples)} | "
            f"{table[:, 2].mean():.4f} | {table[:, 3].mean():.1f} |",
            flush=True,
        )
    print(f"\nMean difference over the tables: {np.mean(means):+.4f}.\n")


def read(name: str) -> Problem:
    """Load a table of the package, or one that lies in the folder `fresh` of FEWER_DATA."""
    file = Path(os.environ["FEWER_DATA"]) / "fresh" / f"{name}.csv.gz"
    return read_table(file, "target", task="classification") if file.exists() else load(name).problem


def parts_of_sizes(problem: Problem, seed: int) -> tuple[Problem, Problem]:
    """Deal rows out: at most 1,500 to fit, at most 5,000 to judge."""
    fit, judge = halves(problem, seed, 1500)
    return fit, judge.take(np.arange(min(judge.n_samples, 5000)))


def area_and_need(problem: Problem, seed: int, **settings: Any) -> tuple[float, float]:
    """Return the area of a Parcel's line on other rows, and the median of features needed at some limits."""
    fit, judge = parts_of_sizes(problem, seed)
    parcel = Parcel(random_state=seed, **settings).fit_problem(fit)
    needed = [len(parcel.operating_point(max_fpr=limit).features_) for limit in LIMITS]
    return parcel.held_out_problem(judge).area, float(np.median(needed))


def sizes_part(n_splits: int, tables: tuple[str, ...]) -> None:
    """Compare the default price of size with none; where more than a quarter is needed, with a quarter at most."""
    print("| table | columns | area, no price | with a price | difference | needed, no price | with | share |")
    print("|---|---|---|---|---|---|---|---|")
    gaps, above = [], []
    for name in tables:
        problem = read(name)
        settings: list[dict[str, Any]] = [{"size_penalty": 0.0}, {}]
        areas, needed = zip(*(_mean_and_median(name, n_splits, **each) for each in settings), strict=True)
        gaps.append(areas[1] - areas[0])
        share = needed[1] / problem.n_features
        print(
            f"| {name} | {problem.n_features} | {areas[0]:.4f} | {areas[1]:.4f} | {gaps[-1]:+.4f} | "
            f"{needed[0]:.1f} | {needed[1]:.1f} | {share:.2f} |",
            flush=True,
        )
        if share > 0.25:
            few = {"max_features": max(1, problem.n_features // 4)}
            area, need = _mean_and_median(name, n_splits, **few)
            above.append((name, few["max_features"], area - areas[0], need))
    print(f"\nMean difference {np.mean(gaps):+.4f}, the lowest {min(gaps):+.4f}.\n")
    for name, most, gap, need in above:
        print(f"- {name} with `max_features={most}`: difference {gap:+.4f}, needed {need:.1f}.")
    print()


def prices_part(n_splits: int) -> None:
    """Try prices of size on the tables that the price is chosen on; then finer bins with a quarter of the columns."""
    without = {name: _mean_and_median(name, n_splits, size_penalty=0.0) for name in CHOSEN_ON}
    print("| price | mean difference | the lowest | within a quarter | crx needs | pima needs |")
    print("|---|---|---|---|---|---|")
    for price in (0.05, 0.06, 0.075, 0.09, 0.1, 0.2, 0.3):
        found = {name: _mean_and_median(name, n_splits, size_penalty=price) for name in CHOSEN_ON}
        gaps = [found[name][0] - without[name][0] for name in CHOSEN_ON]
        few = sum(found[name][1] <= read(name).n_features / 4 for name in CHOSEN_ON)
        needed = f"{found['crx'][1]:.2f} | {found['pima'][1]:.2f}"
        print(f"| {price} | {np.mean(gaps):+.4f} | {min(gaps):+.4f} | {few} of 7 | {needed} |", flush=True)
    print("\n| table | a quarter | whole hull | default bins | five equal bins | needed |\n|---|---|---|---|---|---|")
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
    for name in ("pima", "adult", "bank_churn"):
        most = read(name).n_features // 4
        whole, _ = _mean_and_median(name, n_splits, size_penalty=0.0)
        coarse, _ = _mean_and_median(name, n_splits, max_features=most)
        fine, needed = _mean_and_median(
            name, n_splits, max_features=most, estimators=DiscreteNaiveBayes(discretizer=bins)
        )
        print(f"| {name} | {most} | {whole:.4f} | {coarse:.4f} | {fine:.4f} | {needed:.1f} |", flush=True)
    print()


def _mean_and_median(name: str, n_splits: int, **settings: Any) -> tuple[float, float]:
    """Return the mean area over splits and the median of features needed."""
    found = np.array([area_and_need(read(name), seed, **settings) for seed in range(n_splits)])
    return float(found[:, 0].mean()), float(np.median(found[:, 1]))


def quarter_part(n_splits: int, tables: tuple[str, ...], n_again: int = 60) -> None:
    """Ask what a quarter of the columns has at best, chosen with hindsight by the rows that judge.

    Naive Bayes tries every subset of that size; its best ones are fitted by logistic regression and by boosting too.
    *Any* takes another subset or learner wherever its mean curve is higher: the hull of all these curves.
    """
    print("| table | columns | of them | whole hull | naive Bayes | logistic | boosting | best less | any | any less |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    grid = np.linspace(0.0, 1.0, 1001)
    for name in tables:
        problem = read(name)
        size = max(1, problem.n_features // 4)
        masks = [mask_of(each, problem.n_features) for each in combinations(range(problem.n_features), size)]
        hull = np.mean([area_and_need(problem, seed, size_penalty=0.0)[0] for seed in range(n_splits)])
        lessons = [Lessons.of_parts(*parts_of_sizes(problem, seed)) for seed in range(n_splits)]
        best, found, top = list(range(len(masks))), [], np.zeros(len(grid))
        for label, estimator in strong():
            areas, curves = np.zeros(len(best)), np.zeros((len(best), len(grid)))
            for each in lessons:
                learner = learner_of(label, estimator, each, 1)
                for place, number in enumerate(best):
                    scores = learner.validation_scores(masks[number])
                    areas[place] += auroc(each.positive, scores) / n_splits
                    curves[place] += np.interp(grid, *roc_curve(each.positive, scores)[:2]) / n_splits
            found.append(areas.max())
            top = np.maximum(top, curves.max(axis=0))
            if label == "naive Bayes":
                best = np.argsort(-areas, kind="stable")[:n_again].tolist()
        corners = np.append([0.0], grid), np.append([0.0], top)
        points = hull_vertices(*corners)
        envelope = float(np.trapezoid(corners[1][points], corners[0][points]))
        cells = " | ".join(f"{area:.4f}" for area in (hull, *found))
        print(
            f"| {name} | {problem.n_features} | {size} | {cells} | {max(found) - hull:+.4f} | "
            f"{envelope:.4f} | {envelope - hull:+.4f} |",
            flush=True,
        )
    print()


def strong_split(name: str, seed: int, most: int, out: Path | None) -> list[float]:
    """Return the areas of the three learners, of Parcel, and the numbers of rows; kept in a folder if there is one."""
    path = None if out is None else out / f"{name}-{most}-{seed}.json"
    if path is not None and path.exists():
        return list(json.loads(path.read_text()))
    fit, judge = halves(load(name).problem, seed, most)
    parcel = Parcel(strong(), random_state=seed).fit_problem(fit)
    areas = [alone(label, estimator, fit, judge) for label, estimator in strong()]
    found = [*areas, auroc(judge.y, parcel._committee.decision(judge.X)), fit.n_samples, judge.n_samples]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found))
    return found


def strong_part(n_splits: int, most: int, out: Path | None) -> None:
    """Compare Parcel of three learners with the best of them on all features, known only afterwards."""
    print(
        f"With naive Bayes, logistic regression and boosting together (at most {most} rows to fit, {n_splits} splits;"
    )
    print("*the best* is that of the three whose mean area is highest, which nobody knows before):\n")
    print("| table | naive Bayes | logistic | boosting | Parcel of the three | less the best | p | ahead |")
    print("|---|---|---|---|---|---|---|---|")
    means = []
    for name in TABLES:
        table = np.array([strong_split(name, seed, most, out) for seed in range(n_splits)])
        best = int(table[:, :3].mean(axis=0).argmax())
        gaps = (table[:, 3] - table[:, best]).tolist()
        means.append(np.mean(gaps))
        areas = " | ".join(f"{value:.4f}" for value in table[:, :4].mean(axis=0))
        print(f"| {name} | {areas} | {row(gaps, int(table[0, 4]), int(table[0, 5]))} |", flush=True)
    print(f"\nMean difference over the tables: {np.mean(means):+.4f}.\n")


def votes_part(n_splits: int, most: int, tables: tuple[str, ...]) -> None:
    """Compare the votes of the three learners without a hull, as Parcel stacks them, with the best of them."""
    print(f"The three learners with all features alone, their votes shared by stacking (at most {most} rows to fit,")
    print(f"{n_splits} splits): the score of Parcel wherever calibration rows do not speak for the hull.\n")
    print("| table | naive Bayes | logistic | boosting | stacked | less the best | p | ahead | votes |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in tables:
        problem, found, shares = load(name).problem, [], []
        for seed in range(n_splits):
            fit, judge = halves(problem, seed, most)
            lessons, calibration = deal_out(fit, 0.2, 5, 1 / 3, np.random.default_rng(seed), in_folds=True)
            usable = ~lessons.whole.constant
            learners = [learner_of(label, estimator, lessons, 1) for label, estimator in strong()]
            ballot = CommitteeBallot(
                (), tuple(each.validation_scores(usable) for each in learners), lessons.positive, None
            )
            seen = tuple(each.rule(usable).scores(calibration.X) for each in learners)
            votes = elect(ballot, np.zeros(0), CommitteeBallot((), seen, calibration.y, None))
            committee = replace(votes, rules=tuple(each.rule(usable, fit) for each in learners))
            areas = [auroc(judge.y, rule.scores(judge.X)) for rule in committee.rules]
            found.append([*areas, auroc(judge.y, committee.decision(judge.X))])
            shares.append(votes.votes)
        table = np.array(found)
        best = int(table[:, :3].mean(axis=0).argmax())
        areas = " | ".join(f"{value:.4f}" for value in table.mean(axis=0))
        gaps = (table[:, 3] - table[:, best]).tolist()
        held = " ".join(f"{value:.2f}" for value in np.mean(shares, axis=0))
        print(f"| {name} | {areas} | {row(gaps, fit.n_samples, judge.n_samples)} | {held} |", flush=True)
    print()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--strong-splits", type=int, default=3)
    parser.add_argument("--strong-rows", type=int, default=600)
    parser.add_argument(
        "--part", choices=("default", "votes", "strong", "sizes", "prices", "quarter", "all"), default="all"
    )
    parser.add_argument("--tables", nargs="+", default=TABLES, help="of the part votes")
    parser.add_argument("--quarter-tables", nargs="+", default=("pima", "crx", "adult", "bank_churn"))
    parser.add_argument("--out", type=Path, help="folder that keeps finished splits of the strong part")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    began = time.process_time()
    print("# Is Parcel worth using?\n")
    print(f"`python experiments/parcel_default.py`: {' '.join((__doc__ or '').split('Run')[0].split())}\n")
    if arguments.part in ("default", "all"):
        default_part(arguments.splits)
    if arguments.part in ("votes", "all"):
        votes_part(arguments.splits, arguments.strong_rows, tuple(arguments.tables))
    if arguments.part in ("strong", "all"):
        strong_part(arguments.strong_splits, arguments.strong_rows, arguments.out)
    if arguments.part in ("sizes", "all"):
        print("Tables that the price was chosen on:\n")
        sizes_part(arguments.splits, CHOSEN_ON)
        print("Tables that had no say in the price:\n")
        sizes_part(arguments.splits, JUDGED_ON)
    if arguments.part in ("prices", "all"):
        prices_part(arguments.splits)
    if arguments.part in ("quarter", "all"):
        quarter_part(arguments.splits, tuple(arguments.quarter_tables))
    print(f"{time.process_time() - began:.0f} s of processor time.")


if __name__ == "__main__":
    main()
