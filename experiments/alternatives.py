"""Are features that are called necessary needed, and are copies found? Planted problems with a known answer.

    python experiments/alternatives.py --draws 200

n = 500 rows, y = [x₀ + x₁ + x₂ + x₃ + 1.15 ε > 0], an exact and a .99 copy of x₀ and of x₁, 12 columns of noise;
15 nearest neighbors, subsets of up to four features. Without copies each of the four costs about three standard errors
of 500 rows when it is left out; the first line says how many, by discriminant analysis on 100,000 fresh rows. Only
x₂ and x₃ are necessary: x₀ and x₁ can be replaced.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from fewer.criteria import KNN
from fewer.evaluate import good_subsets
from fewer.problem import Problem

NAMES = ["x0", "x1", "x2", "x3", "copy0", "copy1", "near0", "near1", *(f"noise{i}" for i in range(12))]


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows."""
    signal = rng.normal(size=(n, 4))
    near = 0.99 * signal[:, :2] + np.sqrt(1 - 0.99**2) * rng.normal(size=(n, 2))
    X = np.hstack([signal, signal[:, :2], near, rng.normal(size=(n, 12))])
    return X, (signal.sum(axis=1) + 1.15 * rng.normal(size=n) > 0).astype(int)


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


def main() -> None:
    """Draw and count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--max-features", type=int, default=4)
    asked = parser.parse_args()
    print(f"leaving one of the four out costs {cost_of_one():.2f} standard errors of 500 rows")
    called = needed = noise = copies = 0
    began = time.process_time()
    for seed in range(asked.draws):
        X, y = draw(500, np.random.default_rng(seed))
        problem = Problem.from_arrays(X, y, names=NAMES)
        found = good_subsets(KNN(15, cv="loo"), problem, max_features=asked.max_features, seed=seed)
        called += len(found.necessary)
        needed += len({"x2", "x3"} & set(found.necessary))
        noise += any(name.startswith("noise") for name in found.necessary)
        partners = found.exchangeable
        copies += all(f"copy{i}" in partners.get(f"x{i}", []) for i in range(2))
    print(f"{asked.draws} draws: {needed} of {called} features called necessary are; of {2 * asked.draws} that are, ")
    print(f"{needed} were called so; noise called necessary in {noise}; both exact copies found in {copies}")
    print(f"{time.process_time() - began:.0f} s of processor time")


if __name__ == "__main__":
    main()
