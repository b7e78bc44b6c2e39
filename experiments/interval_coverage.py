"""Does the interval of the held-out score hold what it says it estimates? Draws from two larger tables tell.

The estimand is printed with every answer: the mean score, on new rows from the same source, of the rules that the whole
procedure gives without each fold. The rows of the table that were not drawn stand for the new ones.

    FEWER_DATA=folder python experiments/interval_coverage.py
"""

import argparse
import time

import numpy as np

from fewer.contracts import Resources
from fewer.criteria import KNN
from fewer.datasets import load
from fewer.evaluate import Choice, heldout
from fewer.problem import Problem
from fewer.rankers import Fisher
from fewer.validate import wilson_interval

TABLES = ("satimage", "higgs_7500")


def one_draw(X, y, seed, n_rows, n_features):
    """Return whether the interval holds the estimand, by how much the estimate is off, and the interval's width."""
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(len(y))
    rows, rest = drawn[:n_rows], drawn[n_rows : n_rows + 3000]
    rules = []

    def choose(part, own):
        mask = np.zeros(part.n_features, dtype=bool)
        mask[Fisher().rank(part, own, Resources()).order[:n_features]] = True
        rules.append((KNN(5).bind(part, own, Resources()), mask))
        return Choice(mask, scorer=rules[-1][0])

    problem = Problem.from_arrays(X[rows], y[rows])
    found = heldout(choose, problem, KNN(5), cv=5, rng=rng, resources=Resources())
    codes = np.searchsorted(problem.classes, y[rest])
    right = [np.mean(scorer.predict(mask, X[rest]).argmax(axis=1) == codes) for scorer, mask in rules]
    return found.low <= np.mean(right) <= found.high, found.score - np.mean(right), found.high - found.low


def main():
    """Draw, measure, tell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--features", type=int, default=5)
    asked = parser.parse_args()
    for name in TABLES:
        data = load(name)
        X = np.asarray(data.X, dtype=np.float64)
        X, y = np.where(np.isnan(X), np.nanmedian(X, axis=0), X), np.asarray(data.y)
        began = time.process_time()
        drawn = np.array([one_draw(X, y, seed, asked.rows, asked.features) for seed in range(asked.draws)])
        share = wilson_interval(drawn[:, 0].sum(), len(drawn))
        print(
            f"{name}: {100 * share.estimate:.1f} % of {len(drawn)} intervals hold it ({100 * share.low:.1f} to "
            f"{100 * share.high:.1f}); estimate off by {100 * drawn[:, 1].mean():+.2f} points on average, interval "
            f"{100 * drawn[:, 2].mean():.1f} points wide; {time.process_time() - began:.0f} s of processor",
            flush=True,
        )


if __name__ == "__main__":
    main()
