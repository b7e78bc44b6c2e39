"""Benchmark rows of Chen's methods: ReliefF and GMLVQ against their peers.

`OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/rows_chen.py [name …]` prints them as
JSON lines. Seconds are those of the processor, the shortest of several runs after one that compiles. Peers that are not
installed are said to be absent: `pip install fast-select skrebate "prosemble[jax]"`.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from fewer.contracts import Resources
from fewer.datasets import load
from fewer.models import GMLVQClassifier
from fewer.models._gmlvq import LARGE
from fewer.problem import Problem
from fewer.rankers import GMLVQRelevance, ReliefF

Row = dict[str, Any]


def cpu_time(work: Callable[[], Any], repeats: int = 3) -> float:
    """Give the processor seconds of the shortest of several runs."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def attempt(work: Callable[[], Any]) -> Any:
    """Time a peer, or say why it could not be."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except Exception as error:
        return f"absent: {type(error).__name__}: {error}"


def make_table(n_rows: int, n_features: int) -> tuple[Any, Any]:
    """Two classes, shifted in the first five features."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, n_features)), np.arange(n_rows) % 2
    X[:, :5] += y[:, None]
    return X, y


def relieff(n_rows: int = 5000, n_features: int = 200, k: int = 10) -> Row:
    """ReliefF with ten neighbors, all rows."""
    X, y = make_table(n_rows, n_features)
    problem = Problem.from_arrays(X, y)
    scores = ReliefF(k).rank(problem, np.random.default_rng(0), Resources()).scores
    ours = cpu_time(lambda: ReliefF(k).rank(problem, np.random.default_rng(0), Resources()))
    apart: dict[str, float] = {}

    def fast_select() -> float:
        from fast_select import ReliefF as Peer

        def work() -> Any:
            return Peer(n_features_to_select=10, n_neighbors=k, backend="cpu", n_jobs=1).fit(X, y)

        apart["fast-select"] = float(np.abs(work().feature_importances_ - scores).max())
        return cpu_time(work)

    def skrebate() -> float:
        from skrebate import ReliefF as Peer

        began = time.process_time()
        found = Peer(n_features_to_select=10, n_neighbors=k).fit(X.copy(), y)
        apart["skrebate"] = float(np.abs(found.feature_importances_ - scores).max())
        return time.process_time() - began

    peers = {"fast-select": attempt(fast_select), "skrebate": attempt(skrebate)}
    ratios = {name: round(t / ours, 2) for name, t in peers.items() if isinstance(t, float)}
    target = {"fast-select": 1.0, "skrebate": 100.0}
    return {"ours_s": ours, "peers_s": peers, "times_faster": ratios, "target": target, "largest_difference": apart}


def gmlvq(n_rows: int, n_features: int, steps: int) -> Row:
    """Steps of GMLVQ: seconds each, against prosemble, and against the matrix products alone."""
    X, y = make_table(n_rows, n_features)

    def fit(n_steps: int) -> GMLVQClassifier:
        return GMLVQClassifier(max_iter=n_steps).fit(X, y)

    whole = cpu_time(lambda: fit(steps))
    step = whole / fit(steps).n_iter_  # with all that comes before and after
    products = _products(n_rows, n_features)

    def prosemble() -> dict[str, float]:
        from prosemble.models import GMLVQ

        def work(n_steps: int) -> Any:
            model = GMLVQ(n_prototypes_per_class=1, max_iter=n_steps, lr=0.01, epsilon=0.0, random_seed=0)
            return model.fit(X.astype(np.float32), y)

        began = time.process_time()
        work(steps)
        first = time.process_time() - began
        return {
            "step_s": (cpu_time(lambda: work(2 * steps)) - cpu_time(lambda: work(steps))) / steps,
            "first_fit_s": first,
        }

    peer = attempt(prosemble)
    ratios = {} if isinstance(peer, str) else {"step": peer["step_s"] / step, "first_fit": peer["first_fit_s"] / whole}
    return {
        "step_s": step,
        "products_s": products,
        "share_of_products": round(products / step, 3),
        "fit_s": whole,
        "prosemble": peer,
        "times_faster": {name: round(ratio, 2) for name, ratio in ratios.items()},
        "target": {"step": 1.0, "first_fit": 5.0, "share_of_products": 0.7},
    }


def _products(n_rows: int, n_features: int) -> float:
    """Time the matrix products that one step cannot do without: rows by Ω, its gradient, and distances."""
    precision = np.float32 if n_rows * n_features**2 >= LARGE else np.float64
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(precision)
    omega, targets, pull = X[:n_features].copy(), X[:4].copy(), np.ascontiguousarray(X[:, :2].T)
    points = X @ omega.T

    def step() -> None:
        X @ omega.T  # image under the next Ω
        points.T @ X  # gradient by Ω
        pull @ X  # both gradients
        pull @ points
        for _ in range(3):  # two sets of two prototypes each: candidates for them, for Ω, and its mean
            targets @ points.T

    def many() -> None:
        for _ in range(20):
            step()

    return cpu_time(many) / 20


def ionosphere(n_rounds: int = 100) -> Row:
    """One hundred rounds of the ranking on Ionosphere."""
    problem = load("ionosphere").problem
    GMLVQRelevance(1).rank(problem, np.random.default_rng(0), Resources())
    seconds = cpu_time(lambda: GMLVQRelevance(n_rounds).rank(problem, np.random.default_rng(0), Resources()), 1)
    return {"ours_s": seconds, "target_s": 60.0}


def wide(n_rows: int = 72, n_features: int = 7129) -> Row:
    """72 rows and 7,129 features, 150 steps with an Ω of 30 rows; most memory held by the process."""
    X, y = make_table(n_rows, n_features)
    seconds = cpu_time(lambda: GMLVQClassifier(max_iter=150).fit(X, y), 1)
    steps = GMLVQClassifier(max_iter=150).fit(X, y).n_iter_
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"ours_s": seconds, "steps": steps, "peak_GiB": round(peak, 3), "target": {"s": 60.0, "GiB": 1.0}}


ROWS: dict[str, Callable[[], Row]] = {
    "wide": wide,
    "ionosphere": ionosphere,
    "gmlvq-569x30": lambda: gmlvq(569, 30, 100),
    "gmlvq-2000x200": lambda: gmlvq(2000, 200, 100),
    "relieff": relieff,
}


if __name__ == "__main__":
    for name in sys.argv[1:] or ROWS:
        print(json.dumps({"name": name, **ROWS[name]()}), flush=True)
