"""Benchmark rows of Loughrey's methods: an annealing move, and the whole protocol of early stopping on one data set.

`python benchmarks/rows_loughrey.py [annealing_move] [protocol:NAME …]` prints them as JSON lines; without names, the
move and the protocol of sonar, ionosphere, glass, spectf, pima and colon.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from fewer.contracts import Objective, Resources, SearchSpace
from fewer.contracts.trace import Trace
from fewer.criteria import KNN
from fewer.datasets import load
from fewer.search import Annealing
from fewer_papers import Rerun
from fewer_papers._loughrey_work import MAX_TRIES, study

Row = dict[str, Any]
SECONDS = {"sonar": 120, "ionosphere": 120, "glass": 120, "spectf": 120, "pima": 120, "colon": 300}


def annealing_move() -> Row:
    """A move of simulated annealing on sonar, ten-fold 1-NN, against scikit-learn's cross-validation of one mask."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import minmax_scale

    problem = load("sonar").problem
    space = SearchSpace.of(60)
    scorer = KNN().bind(problem, np.random.default_rng(0), Resources())

    def anneal(levels: int) -> Trace:
        search = Annealing(levels=levels, answer="final")
        return search.run(Objective(scorer, space), space, np.random.default_rng(1), trace=Trace(keep=1))

    anneal(2)
    began = time.perf_counter()
    moves = anneal(81).n_evaluations
    ours = (time.perf_counter() - began) / moves
    X, rng = minmax_scale(problem.X), np.random.default_rng(2)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    masks = rng.random((20, 60)) < 0.5
    began = time.perf_counter()
    for mask in masks:
        cross_val_predict(KNeighborsClassifier(1), X[:, mask], problem.y, cv=folds)
    theirs = (time.perf_counter() - began) / len(masks)
    return {
        "name": "annealing on sonar (208 × 60), ten-fold 1-NN",
        "unit": "s a move",
        "ours_s": ours,
        "peers_s": {"scikit-learn": theirs},
        "times_faster": {"scikit-learn": round(theirs / ours, 1)},
        "target": {"scikit-learn": 1000.0},
        "moves": moves,
    }


def protocol(name: str, n_jobs: int = 2) -> Row:
    """The whole protocol of SAES on one data set: 100 validation searches and 10 outer ones, 81 levels each."""
    run = Rerun(n_jobs=n_jobs)
    run.load(name)
    began = time.perf_counter()
    found = study(run, name, "SAES")
    seconds = time.perf_counter() - began
    evaluations = sum(record["n_evaluations"] for record in found)
    return {
        "name": f"SAES protocol on {name}, 110 searches of 81 levels",
        "unit": "s",
        "ours_s": seconds,
        "target_s": SECONDS.get(name),
        "evaluations": evaluations,
        "evaluations_per_s": round(evaluations / seconds),
        "effort": f"K = 1, at most {MAX_TRIES} tries a level",
        "n_jobs": n_jobs,
    }


def main() -> None:
    """Print rows as JSON lines."""
    asked = sys.argv[1:] or ["annealing_move", *(f"protocol:{name}" for name in SECONDS)]
    for name in asked:
        result = annealing_move() if name == "annealing_move" else protocol(name.partition(":")[2])
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
