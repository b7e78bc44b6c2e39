"""Benchmark rows of Nel's methods: each function times ours and a peer on the same work and gives one dictionary.

`python benchmarks/rows_nel.py [name …]` prints them as JSON lines. Times are seconds of the processor with one thread
on our side, so that a busy machine spoils them less. Peers that are not installed are said to be absent.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import fewer.contracts as contracts
from fewer.criteria import RANN, GammaTest
from fewer.datasets import load
from fewer.problem import Problem
from fewer.rankers import MIFS, MRMR
from fewer.rankers._bins import FeatureBins

Row = dict[str, Any]


def best_time(work: Callable[[], Any], repeats: int = 3, warm: bool = True) -> float:
    """Return the processor time of the shortest of several runs, after one that compiles."""
    if warm:
        work()
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def row(name: str, ours: float, peers: dict[str, float | str], target: dict[str, float], **more: Any) -> Row:
    """Lay a result out: seconds, and how many times longer each peer takes."""
    ratios = {peer: round(t / ours, 2) for peer, t in peers.items() if isinstance(t, float)}
    return {"name": name, "ours_s": ours, "peers_s": peers, "times_faster_cpu": ratios, "target": target, **more}


def attempt(work: Callable[[], float]) -> float | str:
    """Time a peer, or say why it could not be."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except Exception as error:
        return f"absent: {type(error).__name__}: {error}"


def gamma_subsets(n_jobs: int = 1, n_blocks: int = 4) -> Row:
    """Gamma Test with 50 neighbors for subsets of WDBC1, against scikit-learn's neighbors a subset and NumPy.

    Ours takes blocks of 1,024 subsets, evenly spread over all 32,768; the peer 16 subsets of each block. They take
    turns, so that whatever else the machine does meets both.
    """
    from sklearn.neighbors import NearestNeighbors

    problem = load("wdbc1").problem
    space = contracts.SearchSpace.of(15)
    resources = contracts.Resources(n_jobs)
    scorer = GammaTest(50).bind(problem, np.random.default_rng(0), resources)
    firsts = np.linspace(0, 31, n_blocks + 1)[1:].astype(int) * 1024
    low, high = problem.X.min(axis=0), problem.X.max(axis=0)
    Z, y = (problem.X - low) / (high - low), problem.y
    masks = contracts.gray_states((firsts[:, None] + np.arange(0, 1024, 64)).ravel(), 15)

    def ours() -> None:
        for first in firsts.tolist():
            scorer.sweep(space, first, first + 1024, 10)

    def peer() -> list[float]:
        gammas = []
        order = np.arange(1, 51)
        for mask in masks:
            near = NearestNeighbors(n_neighbors=50, n_jobs=n_jobs).fit(Z[:, mask])
            distances, rows = near.kneighbors()
            delta = np.cumsum((distances**2).mean(axis=0)) / order
            gamma = np.cumsum((y[rows] != y[:, None]).mean(axis=0)) / order / 2
            gammas.append(float(np.polyfit(delta, gamma, 1)[1]))
        return gammas

    gap = float(np.abs(np.array(peer()) + scorer.score(masks)).max())
    ours()
    turns = [(best_time(ours, 1, warm=False), best_time(peer, 1, warm=False)) for _ in range(3)]
    time_ours, time_peer = (min(times) for times in zip(*turns, strict=True))
    return row(
        "Gamma Test, 50 neighbors, subsets of WDBC1 (569 × 15)", time_ours / (1024 * n_blocks),
        {"scikit-learn + NumPy": time_peer / len(masks)}, {"scikit-learn + NumPy": 40.0}, unit="s a subset",
        largest_difference=gap, alike=gap < 1e-5, n_jobs=n_jobs,
    )  # fmt: skip


def discrete_ranking(n_rows: int = 2000, n_features: int = 500, n_selected: int = 50) -> Row:
    """MRMR on discrete data, against the packages that rank by mutual information."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    X = rng.integers(0, 5, (n_rows, n_features))
    X[:, :20] = (X[:, :20] + y[:, None] * rng.integers(0, 3, (n_rows, 20))) % 5
    problem = Problem.from_arrays(X, y)
    resources = contracts.Resources(1)
    orders = {}

    def ours(ranker: Any) -> float:
        orders[type(ranker).__name__] = ranker.rank(problem, rng, resources).order
        return best_time(lambda: ranker.rank(problem, rng, resources))

    def fast_select() -> float:
        from fast_select import mRMR

        model = mRMR(n_features_to_select=n_selected, backend="cpu")
        return best_time(lambda: model.fit(X, y))

    def skfeature() -> float:
        from skfeature.function.information_theoretical_based import MIFS as peer  # noqa: N811

        # Pure Python: three features stand for all, each costs the same pass over the others.
        return best_time(lambda: peer.mifs(X, y, n_selected_features=3), 1, warm=False) * n_selected / 3

    def mrmr_selection() -> float:
        import pandas as pd
        from mrmr import mrmr_classif

        frame, target = pd.DataFrame(X.astype(float)), pd.Series(y)
        return best_time(
            lambda: mrmr_classif(X=frame, y=target, K=n_selected, show_progress=False, n_jobs=1), 1, warm=False
        )

    time_ours = ours(MRMR(n_ranked=n_selected))
    return row(
        f"MRMR, discrete {n_rows} × {n_features}, the first {n_selected}", time_ours,
        {"fast-select": attempt(fast_select), "skfeature-chappers": attempt(skfeature),
         "mrmr_selection": attempt(mrmr_selection)},
        {"fast-select": 1.0, "skfeature-chappers": 50.0, "mrmr_selection": 20.0},
        mifs_s=ours(MIFS(n_ranked=n_selected)), all_features_s=ours(MRMR()),
    )  # fmt: skip


def target_information(n_rows: int = 10_000, n_features: int = 500) -> Row:
    """Mutual information of every feature and the target, against scikit-learn's nearest-neighbor estimate."""
    from scipy.stats import spearmanr
    from sklearn.feature_selection import mutual_info_classif

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, n_features)) + np.outer(y, np.linspace(0, 1, n_features))
    problem = Problem.from_arrays(X, y)
    ours = best_time(lambda: FeatureBins(problem, 10).relevance())
    some = np.arange(0, n_features, 10)
    began = time.process_time()
    theirs = mutual_info_classif(X[:, some], y, random_state=0)
    seconds = (time.process_time() - began) * n_features / len(some)
    agreement = float(spearmanr(FeatureBins(problem, 10).relevance()[some], theirs)[0])
    return row(
        f"mutual information with the target, {n_rows} × {n_features}", ours, {"scikit-learn": seconds},
        {"scikit-learn": 50.0}, rank_agreement=agreement, note="scikit-learn timed on every tenth feature",
    )  # fmt: skip


def rann_subsets(n_subsets: int = 2048) -> Row:
    """Networks with 20 hidden units on subsets of WDBC1, against hpelm."""
    problem = load("wdbc1").problem
    masks = contracts.gray_states(np.arange(8192, 8192 + n_subsets), 15)
    scorer = RANN(20, "train", 1).bind(problem, np.random.default_rng(0), contracts.Resources(1))
    ours = best_time(lambda: scorer.score(masks)) / n_subsets

    def hpelm() -> float:
        from hpelm import ELM

        targets = np.eye(2)[problem.y]

        def work() -> None:
            for mask in masks[:16]:
                model = ELM(int(mask.sum()), 2, classification="c")
                model.add_neurons(20, "tanh")
                model.train(problem.X[:, mask], targets, "c")
                model.predict(problem.X[:, mask])

        return best_time(work, 2) / 16

    return row(
        "random networks, 20 hidden units, subsets of WDBC1 (569 × 15)", ours, {"hpelm": attempt(hpelm)}, {},
        unit="s a subset", subsets_per_second=1.0 / ours,
    )  # fmt: skip


ROWS = {
    "gamma": gamma_subsets,
    "discrete": discrete_ranking,
    "information": target_information,
    "rann": rann_subsets,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or ROWS:
        print(json.dumps(ROWS[name]()))
