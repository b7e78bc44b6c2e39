"""How often `race="surrogate"` ends at the subset that all fits choose, and how far behind it is on fresh folds.

`OMP_NUM_THREADS=1 python experiments/surrogate.py [n_seeds [file]]` prints one JSON line a seed and a summary: LightGBM
of 100 trees, four of 15 random columns of WDBC or sonar, three folds; both subsets are scored by LightGBM on ten other
folds. With a file, lines are added to it, and a run that was ended goes on after the last of them.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score

from fewer.contracts import Objective, Resources, SearchSpace
from fewer.criteria import CrossValidated
from fewer.datasets import load
from fewer.io import to_problem
from fewer.search import Forward

SIZE, COLUMNS, FOLDS = 4, 15, 3


def run(seed: int) -> dict[str, object]:
    """Search with all fits and with the surrogate."""
    if seed % 2:
        table = load("sonar")
        X, y = np.asarray(table.X), np.unique(np.asarray(table.y), return_inverse=True)[1]
    else:
        X, y = load_breast_cancer(return_X_y=True)
    X = X[:, np.random.default_rng(seed).choice(X.shape[1], COLUMNS, replace=False)]
    model = LGBMClassifier(n_estimators=100, n_jobs=1, verbose=-1, random_state=0)
    cv = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
    took, found = {}, {}
    for race in (None, "surrogate"):
        scorer = CrossValidated(model, cv=cv, race=race).bind(to_problem(X, y), np.random.default_rng(0), Resources())
        space = SearchSpace.of(COLUMNS, sizes=(SIZE, SIZE))
        began = time.process_time()
        found[race] = Forward().run(Objective(scorer, space), space, np.random.default_rng(0)).best
        took[race] = time.process_time() - began
    fresh = StratifiedKFold(10, shuffle=True, random_state=1000 + seed)
    scores = {race: cross_val_score(model, X[:, mask], y, cv=fresh).mean() for race, mask in found.items()}
    return {
        "seed": seed,
        "same": bool(np.array_equal(found[None], found["surrogate"])),
        "behind": 100 * float(scores[None] - scores["surrogate"]),
        "times_faster": took[None] / took["surrogate"],
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    n_seeds, file = int((sys.argv[1:] or ["100"])[0]), Path(sys.argv[2] if len(sys.argv) > 2 else os.devnull)
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    for seed in range(len(lines), n_seeds):
        lines.append(run(seed))
        print(json.dumps(lines[-1]), flush=True)
        with file.open("a") as kept:
            kept.write(json.dumps(lines[-1]) + "\n")
    behind = np.array([line["behind"] for line in lines])
    error, faster = behind.std(ddof=1) / np.sqrt(len(behind)), np.median([line["times_faster"] for line in lines])
    print(f"{len(lines)} seeds: the same subset in {sum(line['same'] for line in lines)}; {faster:.1f} times faster;")
    print(f"{behind.mean():.2f} points behind on average (standard error {error:.2f}); by table:")
    for name, some in (("WDBC", behind[::2]), ("sonar", behind[1::2])):
        print(f"{name}: {some.mean():.2f} points behind (standard error {some.std(ddof=1) / np.sqrt(len(some)):.2f})")
