"""Benchmark rows of Scott's methods: Parcel, and naive Bayes forward selection.

`python benchmarks/rows_scott.py [name …]` prints them as JSON lines. Adult is read from the folder FEWER_DATA or from
OpenML. Seconds are those of the processor, the shortest of several runs after one that compiles; both sides use one
thread, start from the same bins, and end at the same hull or subset.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.metrics import roc_curve
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB

from fewer import SubsetSelector
from fewer.criteria import NaiveBayes
from fewer.roc import Parcel, critical_ratio, roc_hull
from fewer.search import Forward
from fewer_papers import Rerun
from fewer_papers._scott import Parts, _joined, _parts

Row = dict[str, Any]


def cpu_time(work: Callable[[], Any], repeats: int) -> float:
    """Return the processor seconds of the shortest of several runs."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def plain_parcel(parts: Parts) -> tuple[float, int]:
    """Run the report's loop with CategoricalNB and `roc_curve`; give the area and the number of subsets."""
    train, validation = parts.train.X.astype(int), parts.validation.X.astype(int)
    y_train, y = parts.train.y, parts.validation.y
    n_positive = int(y.sum())
    levels = np.maximum(train.max(axis=0), validation.max(axis=0)) + 1
    points: list[tuple[float, float, tuple[int, ...]]] = []
    seen: set[tuple[int, ...]] = set()
    parents: list[tuple[int, ...]] = [()]
    area = 0.5
    while True:
        for parent in parents:
            for feature in set(range(train.shape[1])) - set(parent):
                child = tuple(sorted((*parent, feature)))
                if child in seen:
                    continue
                seen.add(child)
                columns = list(child)
                model = CategoricalNB(min_categories=levels[columns]).fit(train[:, columns], y_train)
                joint = model.predict_joint_log_proba(validation[:, columns])
                fpr, tpr, _ = roc_curve(y, joint[:, 1] - joint[:, 0])
                points += [(a, b, child) for a, b in zip(fpr, tpr, strict=True)]
        hull = roc_hull([p[0] for p in points], [p[1] for p in points])
        kept = [points[i] for i in hull.points if i >= 0]
        if critical_ratio(hull.area, area, n_positive, len(y) - n_positive) <= 1.96:
            return hull.area, len(seen)
        area, points, parents = hull.area, list(kept), sorted({p[2] for p in kept})


def parcel(task: str) -> Row:
    """Parcel against the same loop with scikit-learn."""
    parts = _parts(Rerun(), task, 0)

    def ours() -> Parcel:
        return Parcel(edge_points=0).fit_parts(parts.train, parts.validation)

    fitted = ours()
    seconds = cpu_time(ours, 7)
    theirs: dict[str, Any] = {}

    def peer() -> None:
        theirs["area"], theirs["n"] = plain_parcel(parts)

    peer_seconds = cpu_time(peer, 1)
    per_subset, peer_per_subset = seconds / fitted.n_evaluated_, peer_seconds / theirs["n"]
    return {
        "name": f"Parcel on {task} ({parts.train.n_samples} + {parts.validation.n_samples} × {parts.train.n_features})",
        "ours_s": seconds, "peers_s": {"CategoricalNB + roc_curve": peer_seconds},
        "times_faster_cpu": {"CategoricalNB + roc_curve": round(peer_seconds / seconds, 1)},
        "target": {"CategoricalNB + roc_curve": 100.0}, "subsets": [fitted.n_evaluated_, theirs["n"]],
        "subsets_a_second": [round(1 / per_subset), round(1 / peer_per_subset)],
        "area": [fitted.hull_.area, theirs["area"]], "alike": abs(fitted.hull_.area - theirs["area"]) < 1e-9,
        "unit": "s of processor time",
    }  # fmt: skip


def forward() -> Row:
    """Naive Bayes forward selection of five features on Adult, ten folds, against CategoricalNB + SFS."""
    parts = _parts(Rerun(), "Adult", 0)
    both = _joined((parts.train, parts.validation))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    codes = both.X.astype(int)
    n_features = 5

    def ours() -> SubsetSelector:
        words = NaiveBayes(cv=folds), Forward()
        return SubsetSelector(*words, n_features_to_select=n_features).fit_problem(both)

    chosen = np.flatnonzero(ours().support_).tolist()
    seconds = cpu_time(ours, 5)
    theirs: dict[str, Any] = {}

    def peer() -> None:
        model = CategoricalNB(min_categories=int(codes.max()) + 1)
        selector = SequentialFeatureSelector(model, n_features_to_select=n_features, cv=folds)
        theirs["chosen"] = np.flatnonzero(selector.fit(codes, both.y).get_support()).tolist()

    peer_seconds = cpu_time(peer, 1)
    return {
        "name": f"naive Bayes forward selection of {n_features} on Adult ({both.n_rows} × {both.n_features}), 10 folds",
        "ours_s": seconds, "peers_s": {"CategoricalNB + SFS": peer_seconds},
        "times_faster_cpu": {"CategoricalNB + SFS": round(peer_seconds / seconds, 1)},
        "target": {"CategoricalNB + SFS": 100.0}, "chosen": [chosen, theirs["chosen"]],
        "alike": chosen == theirs["chosen"], "unit": "s of processor time",
    }  # fmt: skip


ROWS: dict[str, Callable[[], Row]] = {
    "parcel_adult": lambda: parcel("Adult"),
    "parcel_grey": lambda: parcel("Grey"),
    "forward_adult": forward,
}


if __name__ == "__main__":
    for name in sys.argv[1:] or ROWS:
        print(json.dumps(ROWS[name]()), flush=True)
