"""Benchmark rows of the engine: subsets scored by nearest neighbors, against scikit-learn and mlxtend.

`python benchmarks/rows_engine.py [--full] [--memory] [name …]` prints them as JSON lines; `--memory` runs only our part
and prints the peak of the process. Each row asks both sides the same question about the same rows and folds, and
`alike` says whether they gave the same answer. Ours uses two threads, and once more one; peers are held to one. On a
busy machine seconds of the clock say little: the seconds of the processor, one thread against one, are given beside
them.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]
MEMORY_ONLY = "--memory" in sys.argv
FULL = "--full" in sys.argv
REPEATS = 5


@dataclass(frozen=True)
class Taken:
    """Seconds by the clock and of the processor."""

    wall: float
    cpu: float

    def __mul__(self, factor: float) -> Taken:
        return Taken(self.wall * factor, self.cpu * factor)


def measure(work: Callable[[], Any]) -> Taken:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Taken(time.perf_counter() - wall, time.process_time() - cpu)


def median(taken: list[Taken]) -> Taken:
    return Taken(float(np.median([t.wall for t in taken])), float(np.median([t.cpu for t in taken])))


def median_of_runs(work: Callable[[], Any], repeats: int = REPEATS) -> Taken:
    """Return the median of several runs, after one that warms up."""
    work()
    return median([measure(work) for _ in range(repeats)])


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass
class Peer:
    """What a peer needs for the whole job; measured on a part of it if `note` says so."""

    taken: Taken
    alike: bool
    note: str = ""


@dataclass
class Job:
    """One row: our work for a number of threads, peers to run, and what the machine's limit allows."""

    name: str
    ours: Callable[[int], Any]
    peers: Callable[[Any], dict[str, Peer]]
    target: float | None = None
    unit: str = "s"
    divide: Callable[[Any], float] = field(default=lambda answer: 1.0)
    operations: Callable[[Any], float] | None = None  # additions and minima of int32 numbers, counted

    def run(self) -> Row:
        if MEMORY_ONLY:
            before = peak_mb()
            self.ours(2)
            return {"name": self.name, "peak_mb": round(peak_mb()), "before_mb": round(before)}
        answer = self.ours(2)
        pieces = self.divide(answer)
        ours, alone = (median_of_runs(lambda n=n: self.ours(n)) * (1 / pieces) for n in (2, 1))
        # Left to themselves on small data, the threads of their libraries wait for each other more than they work.
        import sklearn.neighbors  # noqa: F401  (loads those libraries)
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            peers = self.peers(answer)
        row: Row = {
            "name": self.name,
            "unit": self.unit,
            "ours_s": ours.wall,
            "ours_cpu_one_thread_s": alone.cpu,
            "peers_s": {name: peer.taken.wall for name, peer in peers.items()},
            "peers_cpu_s": {name: peer.taken.cpu for name, peer in peers.items()},
            "times_faster": {name: round(peer.taken.wall / ours.wall) for name, peer in peers.items()},
            "times_faster_cpu": {name: round(peer.taken.cpu / alone.cpu) for name, peer in peers.items()},
            "target": self.target,
            "alike": all(peer.alike for peer in peers.values()),
            "notes": [f"{name}: {peer.note}" for name, peer in peers.items() if peer.note],
        }
        if self.operations is not None:
            row["share_of_limit"] = self.operations(answer) / pieces / machine_rate() / alone.cpu
        return row


def machine_rate() -> float:
    """Measure what one core does at most: int32 additions and minima a second, on data in the first cache."""
    from numba import njit

    from fewer.kernels.distances import FAR_32
    from fewer.kernels.intrinsics import add_32, least_32

    @njit(nogil=True)
    def repeat(a, b, times):
        total = 0
        for _ in range(times):
            smallest = FAR_32
            for j in range(a.shape[0]):
                smallest = least_32(smallest, add_32(a[j], b[j]))
            total += smallest
            a[0] += 1
        return total

    a, b = np.zeros(2048, np.int32), np.ones(2048, np.int32)
    repeat(a, b, 1)
    return 2 * 2048 * 20_000 / min(measure(lambda: repeat(a, b, 20_000)).cpu for _ in range(5))


# ----------------------------------------------------------------------------------------------- the data


def wdbc(n_features: int = 30) -> tuple[Any, Any]:
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import minmax_scale

    X, y = load_breast_cancer(return_X_y=True)
    return minmax_scale(X)[:, :n_features], y


def sonar() -> tuple[Any, Any, str]:
    """Return sonar if its file is at hand, else noise of the same shape with some signal."""
    from fewer.datasets import load

    try:
        problem = load("sonar").problem
        return problem.X / np.ptp(problem.X, axis=0), problem.y, "sonar"
    except Exception:
        rng = np.random.default_rng(0)
        X = rng.random((208, 60))
        return X, (X[:, :5].sum(axis=1) + 0.3 * rng.normal(size=208) > 2.5).astype(int), "generated 208 × 60"


def split_of(y: Any) -> Any:
    from sklearn.model_selection import PredefinedSplit

    from fewer.validate import stratified_folds

    return PredefinedSplit(stratified_folds(np.asarray(y, dtype=np.int64), 10, np.random.default_rng(0)))


def scorer_of(X: Any, y: Any, n_neighbors: int, n_jobs: int) -> Any:
    from fewer.contracts import Resources
    from fewer.criteria import KNN
    from fewer.problem import Problem

    criterion = KNN(n_neighbors, cv=split_of(y), voting="neighbors", scaling="none")
    return criterion.bind(Problem.from_arrays(X, y), np.random.default_rng(0), Resources(n_jobs=n_jobs))


def count_right(model: Any, X: Any, y: Any) -> float:
    """Score for peers: counts, not shares, so that their mean over folds orders subsets as the whole accuracy does."""
    return float(np.sum(model.predict(X) == y))


def search(scorer: Any, method: Any) -> Any:
    from fewer.contracts import Objective, SearchSpace

    space = SearchSpace.of(scorer.problem.n_features)
    return method.run(Objective(scorer, space), space, np.random.default_rng(1))


def time_masks(X: Any, y: Any, masks: Any, n_neighbors: int) -> tuple[Taken, list[float]]:
    """Cross-validate masks with scikit-learn: what one takes in the median, and the accuracies."""
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    split, model, times, scores = split_of(y), KNeighborsClassifier(n_neighbors), [], []
    for mask in masks:
        counts: list[float] = []

        def work(m: Any = mask, into: list[float] = counts) -> None:
            into.extend(cross_val_score(model, X[:, m], y, cv=split, scoring=count_right))

        times.append(measure(work))
        scores.append(float(np.sum(counts)) / len(y))
    return median(times), scores


# ------------------------------------------------------------------------------------------------ the rows


def all_subsets(n_neighbors: int, target: float) -> Job:
    X, y = wdbc(15)

    def ours(n_jobs: int) -> Any:
        from fewer.search import Exhaustive

        return search(scorer_of(X, y, n_neighbors, n_jobs), Exhaustive())

    def peers(trace: Any) -> dict[str, Peer]:
        from mlxtend.feature_selection import ExhaustiveFeatureSelector
        from sklearn.neighbors import KNeighborsClassifier

        masks = np.random.default_rng(3).random((60 if FULL else 30, 15)) < 0.5
        masks = masks[masks.any(axis=1)]
        scorer = scorer_of(X, y, n_neighbors, 1)
        each, scores = time_masks(X, y, masks, n_neighbors)
        alike = bool(np.allclose(scores, scorer.score(masks), atol=1e-12)) and trace.best_score >= max(scores)
        efs = ExhaustiveFeatureSelector(
            KNeighborsClassifier(n_neighbors), min_features=14, max_features=15, scoring=count_right,
            cv=split_of(y), print_progress=False,
        )  # fmt: skip
        efs_taken = measure(lambda: efs.fit(X, y))
        found = np.zeros(15, dtype=bool)
        found[list(efs.best_idx_)] = True
        candidates = np.vstack([~np.eye(15, dtype=bool), np.ones((1, 15), dtype=bool)])
        same = scorer.score(found[None])[0] == scorer.score(candidates).max()
        return {
            "scikit-learn": Peer(each * 32767, alike, f"median of {len(masks)} random subsets × 32,767"),
            "mlxtend EFS": Peer(efs_taken * (32767 / 16), bool(same), "the 16 subsets of 14 and 15 features, scaled"),
        }

    return Job(
        f"all 32,767 subsets of WDBC1 (569 × 15), {n_neighbors}-NN, 10 folds",
        ours, peers, target, operations=lambda trace: 2.0 * 32767 * 569 * 569,
    )  # fmt: skip


def sweep_1nn() -> Row:
    return all_subsets(1, 1000.0).run()


def sweep_5nn() -> Row:
    return all_subsets(5, 200.0).run()


def forward(name: str, X: Any, y: Any, target: float) -> Job:
    def ours(n_jobs: int) -> Any:
        from fewer.search import Forward

        return search(scorer_of(X, y, 1, n_jobs), Forward())

    def peers(trace: Any) -> dict[str, Peer]:
        from mlxtend.feature_selection import SequentialFeatureSelector as Mlxtend
        from sklearn.feature_selection import SequentialFeatureSelector
        from sklearn.neighbors import KNeighborsClassifier

        model, split, mask = KNeighborsClassifier(1), split_of(y), trace.best
        sfs = SequentialFeatureSelector(model, n_features_to_select="auto", tol=1e-6, scoring=count_right, cv=split)
        sfs_taken = measure(lambda: sfs.fit(X, y))
        other = Mlxtend(model, k_features=int(mask.sum()), scoring=count_right, cv=split)
        other_taken = measure(lambda: other.fit(X, y))
        return {
            "scikit-learn SFS": Peer(sfs_taken, bool((sfs.get_support() == mask).all())),
            "mlxtend SFS": Peer(
                other_taken,
                list(other.k_feature_idx_) == np.flatnonzero(mask).tolist(),
                "told the size, so it need not look for the stop",
            ),
        }

    n, p = X.shape
    return Job(
        f"forward selection to the stop, {name} ({n} × {p}), 1-NN, 10 folds",
        ours, peers, target, operations=lambda trace: 2.0 * trace.n_evaluations * n * n,
    )  # fmt: skip


def forward_wdbc() -> Row:
    return forward("WDBC", *wdbc(), 200.0).run()


def forward_sonar() -> Row:
    X, y, name = sonar()
    return forward(name, X, y, 500.0).run()


def annealing() -> Row:
    X, y, name = sonar()

    def ours(n_jobs: int) -> Any:
        from fewer.search import Annealing

        return search(scorer_of(X, y, 1, n_jobs), Annealing(levels=81))

    def peers(trace: Any) -> dict[str, Peer]:
        masks = [*(np.random.default_rng(4).random((20, 60)) < 0.5), trace.best]
        each, scores = time_masks(X, y, masks, 1)
        alike = abs(scores[-1] - trace.best_score) < 1e-9
        alike &= bool(np.allclose(scores, scorer_of(X, y, 1, 1).score(np.array(masks)), atol=1e-12))
        return {"scikit-learn": Peer(each, alike, "cross_val_score of one mask")}

    return Job(
        f"one move of annealing, {name}, 1-NN, 10 folds", ours, peers, 1000.0, "s a move",
        divide=lambda trace: trace.n_evaluations, operations=lambda trace: 2.0 * trace.n_evaluations * 208 * 208,
    ).run()  # fmt: skip


def walk() -> Row:
    """The move itself, without the search around it."""
    X, y, name = sonar()
    units = [np.array([f]) for f in range(60)]
    start = np.random.default_rng(5).random(60) < 0.5

    def ours(n_jobs: int) -> Any:
        cursor, rng, mask = scorer_of(X, y, 1, n_jobs).walk(start, units), np.random.default_rng(6), start.copy()
        score = 0.0
        for unit in rng.integers(0, 60, 5000).tolist():
            proposed = cursor.propose(unit, float(not mask[unit]))
            if proposed >= score - 0.01:
                cursor.accept()
                mask[unit], score = not mask[unit], proposed
        return mask, score

    def peers(answer: Any) -> dict[str, Peer]:
        each, scores = time_masks(X, y, [answer[0]] * 10, 1)
        return {"scikit-learn": Peer(each, abs(scores[0] - answer[1]) < 1e-9, "cross_val_score of one mask")}

    return Job(
        f"one random single move, {name}, 1-NN, 10 folds", ours, peers, 1000.0, "s a move",
        divide=lambda answer: 5000, operations=lambda answer: 2.0 * 5000 * 208 * 208,
    ).run()  # fmt: skip


def batches() -> Row:
    rng = np.random.default_rng(0)
    X = rng.random((1000, 60))
    y = (X[:, :8].sum(axis=1) + 0.5 * rng.normal(size=1000) > 4).astype(int)
    masks = rng.random((400, 60)) < 0.5
    shared = {n_jobs: scorer_of(X, y, 1, n_jobs) for n_jobs in (1, 2)}

    def peers(scores: Any) -> dict[str, Peer]:
        each, truth = time_masks(X, y, masks[:20], 1)
        return {"scikit-learn": Peer(each, bool(np.allclose(truth, scores[:20], atol=1e-12)), "median of 20 masks")}

    return Job(
        "a random mask, 400 at a time, 1,000 × 60, 1-NN, 10 folds", lambda n_jobs: shared[n_jobs].score(masks), peers,
        100.0, "s a mask", divide=lambda scores: 400, operations=lambda scores: float(masks.sum() + 400) * 1e6,
    ).run()  # fmt: skip


DEMO = """
import time
began = time.perf_counter()
import numpy as np, fewer
from sklearn.datasets import load_breast_cancer
X, y = load_breast_cancer(return_X_y=True)
imported = time.perf_counter() - began
def use():
    wall, cpu = time.perf_counter(), time.process_time()
    for search, width in ((fewer.search.Exhaustive(), 10), (fewer.search.Forward(), 30), (fewer.search.Floating(), 30)):
        fewer.SubsetSelector(fewer.criteria.KNN(), search, random_state=0).fit(X[:, :width], y)
    return np.array([time.perf_counter() - wall, time.process_time() - cpu])
print(*(use() - use()), imported)
"""


def compilation() -> Row:
    """First use after install, and later ones: exhaustive, forward and floating searches with kNN."""
    name = "first use after install (compilation), and later first uses in a process"
    if MEMORY_ONLY:
        return {"name": name}
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for _ in range(3):
            out = subprocess.run(
                [sys.executable, "-c", DEMO], env={**os.environ, "NUMBA_CACHE_DIR": folder},
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            runs.append([float(x) for x in out.stdout.split()])
    later = np.median(runs[1:], axis=0)
    return {
        "name": name,
        "unit": "s beyond a repeated use",
        "ours_s": runs[0][0],
        "later_s": float(later[0]),
        "target": "under 15 s, later under 1.5 s",
        "notes": [
            f"processor time: first {runs[0][1]:.1f} s, later {later[1]:.2f} s; "
            f"import of fewer, NumPy and scikit-learn {later[2]:.1f} s"
        ],
    }


def first_use() -> Row:
    """The demo with an empty cache and with a filled one."""
    name = "first use (`fewer demo`): compilation, and loading in later starts"
    if MEMORY_ONLY:
        return {"name": name}
    script = Path(__file__).with_name("first_use.py")
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for _ in range(4):
            out = subprocess.run(
                [sys.executable, str(script), "demo"], env={**os.environ, "NUMBA_CACHE_DIR": folder},
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            runs.append(json.loads(out.stderr.strip().splitlines()[-1]))
    later = {key: np.median([run[key] for run in runs[1:]], axis=0) for key in runs[0]}
    return {
        "name": name,
        "unit": "s of compilation by the clock",
        "ours_s": runs[0]["compiling"][0],
        "later_s": float(later["loading"][0]),
        "target": "at most 6 s, later at most 0.5 s",
        "notes": [
            f"processor time: compilation {runs[0]['compiling'][1]:.1f} s, loading later {later['loading'][1]:.2f} s; "
            f"imports {later['imports'][1]:.1f} s; the whole demo {runs[0]['whole'][0]:.1f} s by the clock "
            f"({runs[0]['whole'][1]:.1f} of the processor), later {later['whole'][0]:.1f} ({later['whole'][1]:.1f})"
        ],
    }


def wide_memory() -> Row:
    """60 × 5,000, forward, 20 steps."""
    return only_ours("forward, 20 steps, 60 × 5,000, 1-NN", 60, 5000, 20)


def long_memory() -> Row:
    """50,000 × 20, forward: one step, or five with --full."""
    steps = 5 if FULL else 1
    return only_ours(f"forward, {steps} step(s), 50,000 × 20, 1-NN", 50_000, 20, steps)


def only_ours(name: str, n: int, p: int, steps: int) -> Row:
    import fewer

    rng = np.random.default_rng(0)
    X = rng.random((n, p))
    y = X[:, :5].sum(axis=1) + 0.3 * rng.normal(size=n) > 2.5
    data = X.nbytes / 2**20
    fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Forward(), n_features_to_select=1).fit(X[:40, :3], y[:40])
    before = peak_mb()
    selector = fewer.SubsetSelector(
        fewer.criteria.KNN(), fewer.search.Forward(), n_features_to_select=steps, n_jobs=2, random_state=0
    )
    took = measure(lambda: selector.fit(X, y)).wall
    return {
        "name": name, "unit": "s", "ours_s": took, "peak_mb": round(peak_mb()), "before_mb": round(before),
        "notes": [f"the table itself {data:.0f} MB; budget 1,024 MB"],
    }  # fmt: skip


def growth() -> Row:
    """Time of one forward step against rows and columns, of a sweep against columns, with fitted exponents."""
    if MEMORY_ONLY:
        return {"name": "growth"}
    from fewer.contracts import SearchSpace

    rng = np.random.default_rng(0)

    def step(n: int, p: int) -> float:
        X = rng.random((n, p))
        scorer = scorer_of(X, X[:, 0] + 0.5 * rng.random(n) > 0.75, 1, 1)
        mask, units = np.zeros(p), [np.array([f]) for f in range(p)]
        mask[:3] = 1.0
        return median_of_runs(lambda: scorer.flips(mask, units[3:], np.ones(p - 3)), 3).cpu

    def sweep(n: int, q: int) -> float:
        X = rng.random((n, q))
        scorer = scorer_of(X, X[:, 0] + 0.5 * rng.random(n) > 0.75, 1, 1)
        return median_of_runs(lambda: scorer.sweep(SearchSpace.of(q), 0, 2**q, 10), 3).cpu

    def fit(sizes: list[int], times: list[float]) -> str:
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        steps = ", ".join(f"{size}: {1000 * t:.1f} ms" for size, t in zip(sizes, times, strict=True))
        return f"exponent {exponent:.2f} ({steps})"

    rows, columns, bits = [500, 1000, 2000, 4000], [20, 40, 80, 160], [10, 12, 14]
    wide = [sweep(500, q) for q in bits]
    each = np.polyfit(bits, np.log2(wide), 1)[0]
    return {
        "name": "growth, one thread",
        "notes": [
            "forward step against n at p = 20: " + fit(rows, [step(n, 20) for n in rows]),
            "forward step against p at n = 1,000: " + fit(columns, [step(1000, p) for p in columns]),
            "all subsets of 12 against n: " + fit(rows, [sweep(n, 12) for n in rows]),
            f"all subsets against p at n = 500: times {2**each:.2f} for each feature more; subsets double",
        ],
    }


ROWS = {
    row.__name__: row
    for row in (
        sweep_1nn,
        sweep_5nn,
        forward_wdbc,
        forward_sonar,
        annealing,
        walk,
        batches,
        compilation,
        first_use,
        wide_memory,
        long_memory,
        growth,
    )
}


if __name__ == "__main__":
    for name in [argument for argument in sys.argv[1:] if not argument.startswith("-")] or list(ROWS):
        print(json.dumps(ROWS[name]()), flush=True)
