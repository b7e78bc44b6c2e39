"""Benchmark rows of Chen's methods: ReliefF and GMLVQ against their peers.

`OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/rows_chen.py [name …]` prints them as
JSON lines. Seconds are those of the processor, the shortest of several runs after one that compiles; a step of GMLVQ is
the difference between a longer and a shorter run. First fits are timed in a process of their own, imports not counted;
our kernels come compiled from the disk there, as they do after the first use of an installation. Peers that are not
installed are said to be absent: `pip install fast-select skrebate "prosemble[jax]"`.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fewer.contracts import Resources
from fewer.datasets import load
from fewer.models import GMLVQClassifier
from fewer.models._gmlvq import LARGE
from fewer.problem import Problem
from fewer.rankers import GMLVQRelevance, ReliefF

Row = dict[str, Any]
HERE = Path(__file__).parent


def cpu_time(work: Callable[[], Any], repeats: int = 3) -> float:
    """Return the processor seconds of the shortest of several runs."""
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
    ours = cpu_time(lambda: ReliefF(k).rank(problem, np.random.default_rng(0), Resources()), 5)
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
    notes = [f"largest difference to {name}: {value:.1g}" for name, value in apart.items()]
    return {"ours_s": ours, "peers_s": peers, "times_faster": ratios, "target": target, "notes": notes}


def gmlvq(n_rows: int, n_features: int, peer_steps: int) -> Row:
    """Steps of GMLVQ: seconds each, against prosemble, and against the matrix products alone; and first fits."""
    X, y = make_table(n_rows, n_features)
    few, more = 20, 40

    def fit(n_steps: int) -> GMLVQClassifier:
        return GMLVQClassifier(max_iter=n_steps).fit(X, y)

    if fit(more).n_iter_ < more:
        raise RuntimeError("descent ended before the last step; take fewer")
    step = (cpu_time(lambda: fit(more), 15) - cpu_time(lambda: fit(few), 15)) / (more - few)
    products = _products(n_rows, n_features)

    def prosemble() -> dict[str, float]:
        from prosemble.models import GMLVQ

        def work(n_steps: int) -> Any:
            model = GMLVQ(n_prototypes_per_class=1, max_iter=n_steps, lr=0.01, epsilon=0.0, random_seed=0)
            return model.fit(X.astype(np.float32), y)

        work(peer_steps)
        long, short = cpu_time(lambda: work(3 * peer_steps), 4), cpu_time(lambda: work(peer_steps), 4)
        return {"step": (long - short) / (2 * peer_steps), "first fit": first_fit(n_rows, n_features, ours=False)}

    peer = attempt(prosemble)
    ours = {"step": step, "first fit": first_fit(n_rows, n_features, ours=True)}
    return {
        "ours_s": ours,
        "peers_s": {"prosemble": peer},
        "times_faster": {} if isinstance(peer, str) else {key: round(peer[key] / ours[key], 2) for key in ours},
        "target": {"step": 1.0, "first fit": 5.0},
        "notes": [f"the matrix products alone take {products / step:.0%} of a step ({products:.2g} s)"],
    }


FIRST_FIT = """
import time, warnings
from rows_chen import make_table
warnings.simplefilter("ignore")
X, y = make_table({n_rows}, {n_features})
if {ours}:
    from fewer.models import GMLVQClassifier
    model = GMLVQClassifier(max_iter=100)
else:
    from prosemble.models import GMLVQ
    model = GMLVQ(n_prototypes_per_class=1, max_iter=100, lr=0.01, epsilon=0.0, random_seed=0)
    X = X.astype("float32")
began = time.process_time()
model.fit(X, y)
print(time.process_time() - began)
"""


def first_fit(n_rows: int, n_features: int, *, ours: bool) -> float:
    """Return the processor seconds of the first fit of at most 100 steps in a new process."""
    code = FIRST_FIT.format(n_rows=n_rows, n_features=n_features, ours=ours)
    done = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def _products(n_rows: int, n_features: int) -> float:
    """Time the matrix products that one step cannot do without: rows by Ω, its gradient, and distances."""
    precision = np.float32 if n_rows * n_features**2 >= LARGE else np.float64
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)).astype(precision)
    omega, targets, pull = X[:n_features].copy(), X[:4].copy(), np.ascontiguousarray(X[:, :2].T)
    columns = np.ascontiguousarray(X.T)
    points = omega @ columns

    def step() -> None:
        omega @ columns  # image under the next Ω
        points @ X  # gradient by Ω
        pull @ X  # both gradients
        for _ in range(3):  # two sets of two prototypes each: candidates for them, for Ω, and its mean
            targets @ points

    def many() -> None:
        for _ in range(20):
            step()

    return cpu_time(many) / 20


def ionosphere(n_rounds: int = 100) -> Row:
    """One hundred rounds of the ranking on Ionosphere."""
    problem = load("ionosphere").problem
    GMLVQRelevance(1).rank(problem, np.random.default_rng(0), Resources())
    seconds = cpu_time(lambda: GMLVQRelevance(n_rounds).rank(problem, np.random.default_rng(0), Resources()), 1)
    return {"ours_s": seconds, "target": "60 s"}


def wide(n_rows: int = 72, n_features: int = 7129) -> Row:
    """72 rows and 7,129 features, 150 steps with an Ω of 30 rows; most memory held by the process."""
    X, y = make_table(n_rows, n_features)
    seconds = cpu_time(lambda: GMLVQClassifier(max_iter=150).fit(X, y), 1)
    steps = GMLVQClassifier(max_iter=150).fit(X, y).n_iter_
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"ours_s": seconds, "target": "60 s, 1 GiB", "notes": [f"{steps} steps, {peak:.2f} GiB at most"]}


ROWS: dict[str, Callable[[], Row]] = {
    "wide": wide,
    "ionosphere": ionosphere,
    "gmlvq-569x30": lambda: gmlvq(569, 30, 3000),
    "gmlvq-2000x200": lambda: gmlvq(2000, 200, 50),
    "relieff": relieff,
}


if __name__ == "__main__":
    for name in sys.argv[1:] or ROWS:
        print(json.dumps({"name": name, **ROWS[name]()}), flush=True)
