"""The experiments behind Nel's tables: splits, classifiers, criteria and searches, each computed once.

Subsets are strings as the thesis prints them: character j is feature j, "1" means used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from fewer.contracts import Objective, Resources, SearchSpace, gray_states
from fewer.criteria import KNN, RANN, GammaTest
from fewer.models import RANNClassifier
from fewer.models.rann import (
    HIDDEN_SIZES,
    N_PARTITIONS,
    class_targets,
    classes_of,
    draw_weights,
    hidden_size_scores,
    solve,
    with_bias,
)
from fewer.parallel import in_threads, one_blas_thread
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.rankers import MIFS
from fewer.rankers._mutual_information import Kernels
from fewer.search import PBIL
from fewer_papers._core import Rerun

SETS = {
    "LIVER": "liver_bupa",
    "PIMA": "pima",
    "WDBC1": "wdbc1",
    "WDBC2": "wdbc2",
    "ION": "ionosphere",
    "WDBC": "wdbc",
}
COUNTS = tuple(range(20, 51, 5))
"""The numbers of neighbors of the Gamma Test."""

CORRELATION_NEIGHBORS = 30
WRAPPER_HIDDEN = 20
WRAPPER_DRAWS = 2

Pair = list[float]
T = TypeVar("T")


# ------------------------------------------------------------------------------------------------- data


def problem_of(run: Rerun, name: str) -> Problem:
    """Return a set with every feature mapped to [−1, 1] once, before it is split, as the thesis did."""
    problem = run.load(SETS[name]).problem
    low, high = problem.X.min(axis=0), problem.X.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return replace(problem, X=2.0 * (problem.X - low) / span - 1.0)


def splits(run: Rerun, name: str, n_splits: int) -> list[tuple[IntArray, IntArray]]:
    """Return random splits, two thirds to train and one third to test, the same for every method."""
    n_rows = problem_of(run, name).n_samples
    rng = run.rng(f"splits {name}")
    n_train = round(2 * n_rows / 3)
    orders = [rng.permutation(n_rows) for _ in range(n_splits)]
    return [(np.sort(order[:n_train]), np.sort(order[n_train:])) for order in orders]


def n_splits_of(run: Rerun) -> int:
    """Return the number of splits for selection and final tests."""
    return 3 if run.quick else 10


def n_runs_of(run: Rerun) -> int:
    """Return the number of splits for correlations."""
    return 5 if run.quick else 20


def to_mask(subset: str) -> BoolArray:
    """Read a subset."""
    return np.array([character == "1" for character in subset])


def to_text(mask: Any) -> str:
    """Write a subset."""
    return "".join("1" if used else "0" for used in mask)


def single_features(n_features: int) -> list[str]:
    """Return the subsets of one feature."""
    return [to_text(row) for row in np.eye(n_features, dtype=bool)]


# ------------------------------------------------------------------------------------------------- classifiers


def knn(run: Rerun, name: str, subset: str, n_splits: int) -> list[Pair]:
    """Return leave-one-out and test accuracy in percent on each split; k of 1, 3, …, 11 by leave-one-out."""

    def compute() -> list[Pair]:
        problem, mask = problem_of(run, name), to_mask(subset)

        def judge(split: tuple[IntArray, IntArray]) -> Pair:
            train, test = problem.take(split[0]), problem.take(split[1])
            criterion = KNN("auto", cv="loo", voting="neighbors", scaling="none")
            scorer = criterion.bind(train, np.random.default_rng(0), Resources())
            right = scorer.predict(mask, test.X).argmax(axis=1) == test.y
            return [100.0 * float(scorer.score(mask[None])[0]), 100.0 * float(right.mean())]

        return in_threads(judge, splits(run, name, n_splits), run.n_jobs)

    return run.once(f"knn {name} {subset} {n_splits}", compute)


def rann(run: Rerun, name: str, subset: str, n_splits: int) -> list[Pair]:
    """Return training and test accuracy in percent of the network on each split; its size by inner partitions."""

    def compute() -> list[Pair]:
        problem, mask = problem_of(run, name), to_mask(subset)

        def judge(job: tuple[int, tuple[IntArray, IntArray]]) -> Pair:
            number, (train, test) = job
            rng = run.rng(f"rann {name} {subset} {number}")
            inputs = with_bias(problem.X[:, mask])
            targets = class_targets(problem.y, 2)
            partitions = 6 if run.quick else N_PARTITIONS
            inner = hidden_size_scores(
                inputs[train], targets[train], list(HIDDEN_SIZES), partitions, rng, RANNClassifier._is_right
            )
            layer = draw_weights(inputs.shape[1], HIDDEN_SIZES[int(np.argmax(inner))], 0.5, "random", rng)
            hidden = np.tanh(inputs @ layer)
            answers = classes_of(hidden @ solve(hidden[train], targets[train], 1e-9)) == problem.y
            return [100.0 * float(answers[train].mean()), 100.0 * float(answers[test].mean())]

        with one_blas_thread():
            return in_threads(judge, list(enumerate(splits(run, name, n_splits))), run.n_jobs)

    return run.once(f"rann {name} {subset} {n_splits}", compute)


def test_mean(pairs: list[Pair]) -> float:
    """Return the mean test accuracy."""
    return float(np.mean([test for _, test in pairs]))


# ------------------------------------------------------------------------------------------------- criteria


def gamma_test_on(run: Rerun, problem: Problem, n_neighbors: int) -> Any:
    """Bind the Gamma Test to rows."""
    criterion = GammaTest(n_neighbors, ties="index", scaling="none")
    return criterion.bind(problem, np.random.default_rng(0), Resources(run.n_jobs))


def gammas(run: Rerun, name: str, subsets: Sequence[str], counts: Sequence[int], n_splits: int) -> FloatArray:
    """Return γ of subsets: (n_splits, n_counts, n_subsets)."""

    def compute() -> Any:
        problem = problem_of(run, name)
        masks = np.array([to_mask(subset) for subset in subsets])
        results = []
        for train, _ in splits(run, name, n_splits):
            scorer = gamma_test_on(run, problem.take(train), max(counts))
            results.append(scorer.gammas(masks, counts))
        return results

    key = f"gammas {name} {','.join(subsets)} {','.join(map(str, counts))} {n_splits}"
    return np.asarray(run.once(key, compute))


def information(run: Rerun, name: str, n_splits: int) -> FloatArray:
    """Return the mutual information of class and feature on each split's training rows: (n_splits, n_features)."""

    def compute() -> Any:
        problem = problem_of(run, name)
        parts = [problem.take(train) for train, _ in splits(run, name, n_splits)]
        with one_blas_thread():
            return in_threads(lambda rows: Kernels(rows).relevance().tolist(), parts, run.n_jobs)

    return np.asarray(run.once(f"information {name} {n_splits}", compute))


# ------------------------------------------------------------------------------------------------- searches


def best_by_gamma(run: Rerun, name: str) -> dict[str, dict[str, Any]]:
    """Search all subsets on each split with each number of neighbors, and rank the ten best of every search (eq. 7.1).

    Gives, for each subset that ever was among the ten, its rank on each split, how often it was, and its mean γ then.
    """
    n_splits = n_splits_of(run)
    poll: dict[str, dict[str, Any]] = {}
    for number in range(n_splits):
        for subset, gamma in best_gammas(run, name, number):
            entry = poll.setdefault(subset, {"ranks": np.zeros(n_splits), "count": 0.0, "gamma": 0.0})
            entry["ranks"][number] += 1.0 / (0.1 + max(gamma, -0.05))
            entry["count"] += 1
            entry["gamma"] += gamma
    for entry in poll.values():
        entry["gamma"] /= entry["count"]
    return dict(sorted(poll.items(), key=lambda item: -item[1]["ranks"].sum()))


def best_gammas(run: Rerun, name: str, number: int) -> list[list[Any]]:
    """Return the ten best subsets of one split with each number of neighbors, and their γ."""
    train = splits(run, name, n_splits_of(run))[number][0]

    def search() -> list[list[Any]]:
        space = SearchSpace.of(problem_of(run, name).n_features)
        run.report(f"nel: Gamma Test of all {2**space.n_units - 1} subsets of {name}, split {number + 1}")
        scorer = gamma_test_on(run, problem_of(run, name).take(train), max(COUNTS))
        found: list[list[Any]] = []
        for row in scorer.all_gammas(space, COUNTS):
            row[0] = np.inf  # the empty subset
            ten = np.argsort(row, kind="stable")[:10]
            names = [to_text(state) for state in gray_states(ten, space.n_units)]
            found.extend([name, float(gamma)] for name, gamma in zip(names, row[ten], strict=True))
        return found

    return run.once(f"best gammas {name} {number}", search)


def best_by_rann(run: Rerun, name: str) -> list[str]:
    """Return the ten subsets with the highest training accuracy of small networks, averaged over the training sets."""

    def compute() -> list[str]:
        total = np.sum([network_scores(run, name, number) for number in range(n_splits_of(run))], axis=0)
        masks = all_subsets(problem_of(run, name).n_features)
        return [to_text(masks[place]) for place in np.argsort(-np.round(total, 9), kind="stable")[:10]]

    return run.once(f"best networks {name}", compute)


def network_scores(run: Rerun, name: str, number: int) -> list[float]:
    """Return the training accuracy of small networks on all subsets, on one split."""
    train = splits(run, name, n_splits_of(run))[number][0]

    def compute() -> list[float]:
        rows = problem_of(run, name).take(train)
        masks, rng = all_subsets(rows.n_features), run.rng(f"networks {name} {number}")
        run.report(f"nel: networks on all {len(masks)} subsets of {name}, split {number + 1}")
        scorer = RANN(WRAPPER_HIDDEN, "train", WRAPPER_DRAWS).bind(rows, rng, Resources(run.n_jobs))
        return np.round(scorer.score(masks), 6).tolist()

    return run.once(f"networks {name} {number}", compute)


def all_subsets(n_features: int) -> BoolArray:
    """Return all subsets but the empty one, in the order of the Gray code."""
    return gray_states(np.arange(1, 2**n_features), n_features)


def best_by_information(run: Rerun, name: str) -> list[str]:
    """Return the union over the training sets of the leading 2 … p − 1 features in the order of MIFS."""

    def compute() -> list[str]:
        problem = problem_of(run, name)
        run.report(f"nel: ranking {name} by mutual information")
        parts = [problem.take(train) for train, _ in splits(run, name, n_splits_of(run))]

        def order(rows: Problem) -> IntArray:
            return MIFS(0.5, density="kernel").rank(rows, np.random.default_rng(0), Resources()).order

        subsets: dict[str, None] = {}
        with one_blas_thread():
            orders = in_threads(order, parts, run.n_jobs)
        for ranked in orders:
            for size in range(2, problem.n_features):
                mask = np.zeros(problem.n_features, dtype=bool)
                mask[ranked[:size]] = True
                subsets[to_text(mask)] = None
        return list(subsets)

    return run.once(f"prefixes {name}", compute)


def best_by_pbil(run: Rerun, name: str, judge: Literal["gamma", "RANN"]) -> list[str]:
    """Give, for each training set, the best subset of ten runs of population-based incremental learning."""
    return in_threads(partial(pbil_best, run, name, judge), range(n_splits_of(run)), run.n_jobs)


def pbil_best(run: Rerun, name: str, judge: Literal["gamma", "RANN"], number: int) -> str:
    """Return the best subset of ten runs on one split."""
    criterion = (
        GammaTest(CORRELATION_NEIGHBORS, ties="index", scaling="none")
        if judge == "gamma"
        else RANN(WRAPPER_HIDDEN, "train", 1)
    )

    def search() -> str:
        run.report(f"nel: PBIL by {judge} on {name}, split {number + 1}")
        rng = run.rng(f"pbil {name} {judge} {number}")
        rows = problem_of(run, name).take(splits(run, name, n_splits_of(run))[number][0])
        space = SearchSpace.of(rows.n_features).without(rows.constant)
        scorer = criterion.bind(rows, rng, Resources(run.n_jobs))
        return to_text(PBIL(50, 100, runs=10).run(Objective(scorer, space), space, rng).best)

    return run.once(f"pbil {name} {judge} {number}", search)
