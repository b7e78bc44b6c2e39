"""The tables of the peers' study: shared sets, the same with columns that should not be there, quantities."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from peers_study_packages import SOURCES, packaged
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3, make_sparse_uncorrelated

from fewer.datasets import load
from fewer.problem import Problem

DESIGN = json.loads((Path(__file__).parent / "peers_study_design.json").read_text())


def tables(part: str) -> dict[str, str]:
    """Name the tables of a part, each with its kind."""
    own = DESIGN[part]
    added = {f"{name} + {kind}": "classification" for name in own["contaminated"] for kind in DESIGN["contaminations"]}
    return {
        **dict.fromkeys(own["classification"], "classification"),
        **added,
        **dict.fromkeys(own["regression"], "regression"),
    }


def table(name: str, kind: str, most_columns: int) -> Problem:
    """Load or draw a table; of very many columns some, by a fixed seed."""
    rng = np.random.default_rng([DESIGN["seed"], *name.encode()])
    if name.split(" + ")[0] in SOURCES:
        problem = packaged(name.split(" + ")[0], kind)
        if " + " in name:
            problem = contaminated(problem, name.split(" + ")[1], rng)
    elif kind == "regression":
        problem = Problem.from_arrays(*quantity(name, rng), task="regression")
    elif " + " in name:
        source, added = name.split(" + ")
        problem = contaminated(load(source).problem, added, rng)
    else:
        problem = load(name).problem
    if problem.n_features <= most_columns:
        return problem
    return columns_of(problem, np.sort(rng.permutation(problem.n_features)[:most_columns]))


def columns_of(problem: Problem, columns: np.ndarray) -> Problem:
    """Keep some columns."""
    place = {int(column): i for i, column in enumerate(columns)}
    return replace(
        problem,
        X=np.ascontiguousarray(problem.X[:, columns]),
        names=tuple(problem.names[i] for i in columns),
        kinds=tuple(problem.kinds[i] for i in columns),
        levels={place[i]: levels for i, levels in problem.levels.items() if i in place},
    )


def contaminated(problem: Problem, kind: str, rng: np.random.Generator) -> Problem:
    """Add as many columns as there are: random, corrupted copies, or products of two (Cherepanova et al., 2023)."""
    X, (n, p) = problem.X, problem.X.shape
    scaled = (X - np.nanmean(X, axis=0)) / np.where(np.nanstd(X, axis=0) > 0, np.nanstd(X, axis=0), 1.0)
    if kind == "random":
        added = rng.normal(size=(n, p))
    elif kind == "corrupted":
        added = scaled + rng.normal(size=(n, p))
    else:
        one, other = rng.integers(p, size=(2, p))
        added = scaled[:, one] * scaled[:, other]
    return replace(
        problem,
        X=np.column_stack([X, added]),
        names=(*problem.names, *(f"added{i}" for i in range(p))),
        kinds=(*problem.kinds, *(["numeric"] * p)),
    )


def quantity(name: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw or load a problem with a quantity to predict."""
    seed = int(rng.integers(2**31))
    if name.startswith("diabetes"):
        X, y = load_diabetes(return_X_y=True)
        return (np.column_stack([X, 0.05 * rng.normal(size=(len(X), 50))]) if "noise" in name else X), y
    if name.endswith(" column"):
        source, target = {"wdbc": ("wdbc", 26), "higgs": ("higgs_7500", 27), "mfeat": ("mfeat_digits", 100),
                          "usps": ("usps", 120)}[name.split()[0]]  # fmt: skip
        X = load(source).problem.X
        return np.delete(X, target, axis=1), X[:, target]
    if name == "friedman 1 in 30":
        return make_friedman1(600, 30, noise=1.0, random_state=seed)
    if name in ("friedman 2 in 24", "friedman 3 in 24"):
        make, noise = (make_friedman2, 100.0) if "2" in name[:10] else (make_friedman3, 0.1)
        X, y = make(600, noise=noise, random_state=seed)
        return np.column_stack([X, rng.normal(size=(600, 20))]), y
    if name == "sparse uncorrelated in 60":
        return make_sparse_uncorrelated(600, 60, random_state=seed)
    if name == "correlated blocks":
        hidden = rng.normal(size=(600, 10))
        X = np.repeat(hidden, 6, axis=1) + 0.5 * rng.normal(size=(600, 60))
        return X, hidden[:, :5] @ np.array([2.0, -1.5, 1.0, 1.0, -0.5]) + rng.normal(size=600)
    if name == "products":
        X = rng.normal(size=(600, 30))
        return X, X[:, 0] * X[:, 1] + X[:, 2] ** 2 + X[:, 3] + 0.5 * rng.normal(size=600)
    rows, columns, signals = {"25 of 100 linear": (300, 100, 25), "8 of 1000 linear": (300, 1000, 8)}[name]
    X = rng.normal(size=(rows, columns))
    return X, X[:, :signals] @ rng.normal(size=signals) + np.sqrt(signals) / 2 * rng.normal(size=rows)


def split(problem: Problem, number: int, limits: dict) -> tuple[np.ndarray, np.ndarray]:
    """Draw training and test rows, classes alike; classes with fewer than four rows are left out."""
    rng = np.random.default_rng([DESIGN["seed"], number])
    rows = rng.permutation(problem.n_samples)
    share = min(0.7, limits["train_rows"] / len(rows))
    tested = min(0.3, limits["test_rows"] / len(rows))
    if problem.task == "regression":
        return rows[: int(share * len(rows))], rows[len(rows) - int(tested * len(rows)) :]
    train, test = [], []
    for code in range(problem.n_classes):
        own = rows[problem.y[rows] == code]
        if len(own) >= 4:
            train.append(own[: max(round(share * len(own)), 2)])
            test.append(own[len(own) - max(round(tested * len(own)), 1) :])
    return np.concatenate(train), np.concatenate(test)
