"""Are features that are called necessary needed, and are copies found? Planted problems with a known answer.

    python experiments/alternatives.py --draws 200        # writes experiments/alternatives.md

n = 500 rows, y = [x₀ + x₁ + x₂ + x₃ + 1.43 ε > 0], an exact and a .99 copy of x₀ and of x₁, 12 columns of noise.
Subsets of up to five features are scored by leave-one-out accuracy of a least-squares line through ±1. Without copies
each of the four costs about three standard errors of 500 rows when it is left out; the page says how many, by
discriminant analysis on 100,000 fresh rows. Only x₂ and x₃ are necessary: x₀ and x₁ can be replaced.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from fewer.contracts import Criterion, PredictiveScorer, Resources
from fewer.evaluate import good_subsets
from fewer.problem import Problem

NAMES = ["x0", "x1", "x2", "x3", "copy0", "copy1", "near0", "near1", *(f"noise{i}" for i in range(12))]
PAGE = Path(__file__).with_suffix(".md")


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows."""
    signal = rng.normal(size=(n, 4))
    near = 0.99 * signal[:, :2] + np.sqrt(1 - 0.99**2) * rng.normal(size=(n, 2))
    X = np.hstack([signal, signal[:, :2], near, rng.normal(size=(n, 12))])
    return X, (signal.sum(axis=1) + 1.43 * rng.normal(size=n) > 0).astype(int)


class Line(Criterion):
    """Leave-one-out accuracy of a least-squares line for two classes, many subsets at once."""

    predictive = True

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> LineScorer:
        """Center the columns."""
        return LineScorer(problem)


class LineScorer(PredictiveScorer):
    """`Line` bound to rows. With h the leverages, the value at a row left out is y − (y − ŷ) / (1 − h)."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._X, self._sign = problem.X - problem.X.mean(axis=0), 2.0 * problem.y - 1.0
        # A touch of ridge: exact copies side by side leave the line what it is.
        self._gram = self._X.T @ self._X + 1e-6 * np.eye(problem.n_features)

    def _left_out(self, columns: np.ndarray) -> np.ndarray:
        """Return the values of the rows left out, (m, n), for m subsets of one size."""
        n, mean = len(self._sign), self._sign.mean()
        inverse = np.linalg.inv(self._gram[columns[:, :, None], columns[:, None, :]])
        cells = self._X.T[columns]
        spread = inverse @ cells
        hat = 1.0 / n + np.einsum("mkn,mkn->mn", cells, spread)
        fitted = mean + np.einsum("mk,mkn->mn", cells @ (self._sign - mean), spread)
        return self._sign - (self._sign - fitted) / (1.0 - hat)

    def score(self, masks: np.ndarray) -> np.ndarray:
        """Score subsets, those of one size together."""
        scores, sizes = np.full(len(masks), np.nan), (masks != 0).sum(axis=1)
        for size in np.unique(sizes[sizes > 0]):
            rows = np.flatnonzero(sizes == size)
            for some in np.array_split(rows, -(-len(rows) // 1000)):
                values = self._left_out(np.nonzero(masks[some])[1].reshape(len(some), size))
                scores[some] = (values * self._sign > 0).mean(axis=1)
        return scores

    def outputs(self, mask: np.ndarray) -> np.ndarray:
        """Predict each row from the others."""
        value = self._left_out(np.flatnonzero(mask)[None])[0]
        return np.column_stack([value <= 0, value > 0]).astype(float)

    def predict(self, mask: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Predict new rows."""
        raise NotImplementedError


def cost_of_one() -> float:
    """Return what leaving one of the four out costs, in standard errors of 500 rows, on 100,000 fresh rows."""
    X, y = draw(100_000, np.random.default_rng(10**6))
    train, labels = draw(100_000, np.random.default_rng(10**6 + 1))
    right = [
        LinearDiscriminantAnalysis().fit(train[:, columns], labels).predict(X[:, columns]) == y
        for columns in ([0, 1, 2, 3], [0, 1, 2])
    ]
    apart = right[0].astype(float) - right[1]
    return float(apart.mean() / (apart.std() / np.sqrt(500)))


def page(draws: int, cost: float, counts: dict[str, int], seconds: float) -> str:
    """Write the result."""
    called, needed, noise, copies = (counts[name] for name in ("called", "needed", "noise", "copies"))
    return f"""# Planted problems: what the good subsets say of each feature

Written by `python experiments/alternatives.py --draws {draws}`; its text says how the rows are drawn. Leaving one of
the four features out costs {cost:.2f} standard errors of 500 rows (100,000 fresh rows).

| | |
| --- | ---: |
| draws | {draws} |
| features called necessary | {called} |
| of these, features that are | {needed} ({needed / max(called, 1):.1%}) |
| features that are necessary ({2 * draws}) and were called so | {needed / (2 * draws):.1%} |
| draws in which a noise column was called necessary | {noise} |
| exact copies ({4 * draws}: each of x₀, x₁ and their copies) named as exchangeable | {copies} |
| good subsets, mean | {counts["good"] / draws:,.0f} |
| processor seconds | {seconds:,.0f} |
"""


def main() -> None:
    """Draw and count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--max-features", type=int, default=5)
    asked = parser.parse_args()
    cost, began = cost_of_one(), time.process_time()
    counts = dict.fromkeys(("called", "needed", "noise", "copies", "good"), 0)
    for seed in range(asked.draws):
        X, y = draw(500, np.random.default_rng(seed))
        problem = Problem.from_arrays(X, y, names=NAMES)
        found = good_subsets(Line(), problem, max_features=asked.max_features, seed=seed)
        partners = found.exchangeable
        pairs = [(f"x{i}", f"copy{i}") for i in range(2)]
        copies = sum((b in partners.get(a, [])) + (a in partners.get(b, [])) for a, b in pairs)
        counts["called"] += len(found.necessary)
        counts["needed"] += len({"x2", "x3"} & set(found.necessary))
        counts["noise"] += any(name.startswith("noise") for name in found.necessary)
        counts["copies"] += copies
        counts["good"] += found.n_good
        print(seed, found.n_good, found.n_undecided, found.necessary, copies, flush=True)
        PAGE.write_text(page(seed + 1, cost, counts, time.process_time() - began), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
