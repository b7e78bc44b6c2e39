"""Benchmark rows of the methods that people know from elsewhere: MultiSURF, mutual information, Boruta, best subset.

`OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/rows_field.py [name …]` prints them as JSON lines. Seconds
are those of the processor, the shortest of several runs after one that compiles, one thread. Peers that are not
installed are said to be absent: `pip install skrebate Boruta`.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import fewer
from fewer.contracts import Resources
from fewer.control import Shadow
from fewer.criteria import LeastSquares
from fewer.problem import Problem
from fewer.rankers import Importance, MultiSURF, MutualInformation
from fewer.search import BestSubset, Exhaustive

Row = dict[str, Any]


def cpu_time(work: Callable[[], Any], repeats: int = 3) -> float:
    """Return the processor seconds of the shortest of several runs."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def ranked(ranker: Any, X: Any, y: Any, task: str = "classification") -> Any:
    """Rank the columns of plain arrays."""
    return ranker.rank(Problem.from_arrays(X, y, task=task), np.random.default_rng(0), Resources()).scores


def multisurf(n_rows: int = 1500, n_features: int = 100) -> Row:
    """MultiSURF beside scikit-rebate, and how far the weights are apart."""
    from skrebate import MultiSURF as Peer

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, n_features)), np.arange(n_rows) % 2
    X[:, :5] += y[:, None]
    scores = ranked(MultiSURF(), X, y)
    began = time.process_time()
    peer = Peer().fit(X.copy(), y).feature_importances_
    theirs = time.process_time() - began
    ours = cpu_time(lambda: ranked(MultiSURF(), X, y))
    return {"rows": n_rows, "features": n_features, "ours": ours, "skrebate": theirs, "times": theirs / ours,
            "apart": float(np.abs(scores - peer).max())}  # fmt: skip


def mutual_information(n_rows: int = 10_000, n_features: int = 20) -> Row:
    """Mutual information by neighbors beside scikit-learn, for classes and for quantities."""
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    quantity = X[:, 0] + rng.normal(size=n_rows)
    row: Row = {"rows": n_rows, "features": n_features}
    for name, y, task, peer in (
        ("classes", (quantity > 0).astype(int), "classification", mutual_info_classif),
        ("quantities", quantity, "regression", mutual_info_regression),
    ):
        ranker = MutualInformation(random_state=0)
        apart = float(np.abs(ranked(ranker, X, y, task) - peer(X, y, random_state=0)).max())
        ours = cpu_time(lambda ranker=ranker, y=y, task=task: ranked(ranker, X, y, task))
        theirs = cpu_time(lambda peer=peer, y=y: peer(X, y, random_state=0), 1)
        row[name] = {"ours": ours, "scikit-learn": theirs, "times": theirs / ours, "apart": apart}
    return row


def boruta(n_trees: int = 30) -> Row:
    """Trees that Shadow and BorutaPy grow on planted problems, the same forest and at most 100 runs, and who agrees."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    rows = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(150, 10)), rng.integers(0, 2, 150)
        X[:, [1, 4, 7]] += 1.5 * y[:, None]
        counted = _Counted(n_trees, max_depth=5)
        _Counted.trees = 0
        theirs = BorutaPy(counted, n_estimators=n_trees, max_iter=100, random_state=0).fit(X, y)
        their_trees, _Counted.trees = _Counted.trees, 0
        ours = fewer.RankSelector(Importance(counted, cv=None), control=Shadow(), random_state=0).fit(X, y)
        our_trees = _Counted.trees
        same = bool((theirs.support_ == ours.support_).all())
        rows.append({"ours": our_trees, "BorutaPy": their_trees, "same": same})
    assert issubclass(_Counted, RandomForestClassifier)
    return {"trees": rows, "default of BorutaPy": "1000 trees a run"}


def best_subset(n_features: int = 20, n_rows: int = 200) -> Row:
    """BestSubset beside Exhaustive: the best linear fit of every size, and all subsets by leave-one-out scores."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features)) + rng.normal(size=(n_rows, 1))
    y = X[:, :6] @ rng.normal(size=6) + 3 * rng.normal(size=n_rows)

    def work(search: Any, columns: int = n_features) -> Any:
        return fewer.SubsetSelector(LeastSquares(), search, random_state=0).fit(X[:, :columns], y)

    found = work(BestSubset())
    ours = cpu_time(lambda: work(BestSubset()))
    work(Exhaustive(), 8)
    theirs = cpu_time(lambda: work(Exhaustive()), 1)
    return {
        "features": n_features, "rows": n_rows, "ours": ours, "fits": int(found.trace_.state["progress"][1]),
        "Exhaustive": theirs, "times": theirs / ours,
    }  # fmt: skip


def _counted() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    class Counted(RandomForestClassifier):
        """A forest that counts the trees it grows."""

        trees = 0

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            _Counted.trees += self.n_estimators
            return super().fit(X, y, sample_weight)

    return Counted


_Counted = _counted()
ROWS = {"multisurf": multisurf, "mutual_information": mutual_information, "boruta": boruta, "best_subset": best_subset}


if __name__ == "__main__":
    for name in sys.argv[1:] or ROWS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                print(json.dumps({"row": name, **ROWS[name]()}), flush=True)
            except ImportError as error:
                print(json.dumps({"row": name, "absent": str(error)}), flush=True)
