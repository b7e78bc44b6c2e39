"""What a statistical race can save, and how often it gives the winner up, by simulation (seconds; no model is fitted).

`python benchmarks/race.py`: 20 candidates in 10 folds of 21 rows, as a step of a forward search on 208 rows has them.
The true accuracies of candidates differ by a standard deviation of `spread`; folds differ by 4 points besides what
counting 21 rows leaves to chance. Each line: how far behind (in standard errors) a candidate is given up, how many
times fewer fits are made, how often the candidate that all folds would have chosen is lost, and how often what is kept
is worse by more than a fifth of the winner's standard error.
"""

from __future__ import annotations

import numpy as np

from fewer.criteria import _racing

N, FOLDS, ROWS, DRAWS = 20, 10, 21, 1000


def run(rng: np.random.Generator, spread: float) -> tuple[int, bool, bool]:
    """Race once; return the fits, whether the winner was lost, and whether by more than 0.2 standard errors."""
    chance = 0.75 + spread * rng.normal(size=(N, 1)) + 0.04 * rng.normal(size=FOLDS)
    scores = rng.binomial(ROWS, np.clip(chance, 0.3, 0.98)) / ROWS
    fits = 0

    def score(i: int, fold: int) -> float:
        nonlocal fits
        fits += 1
        return float(scores[i, fold])

    _, means = _racing.race(score, N, FOLDS, None)
    winner = int(np.argmax(scores.mean(axis=1)))
    behind = scores[winner].mean() - means.max()
    return fits, behind > 1e-12, behind > 0.2 * scores[winner].std(ddof=1) / np.sqrt(FOLDS)


if __name__ == "__main__":
    for spread in (0.02, 0.04):
        for _racing.FAR_BEHIND in (3.0, 2.0, 1.5, 1.0):
            rng = np.random.default_rng(0)
            fits, lost, far = np.mean([run(rng, spread) for _ in range(DRAWS)], axis=0)
            print(
                f"spread {spread:.2f}, {_racing.FAR_BEHIND:.1f} standard errors: {N * FOLDS / fits:.2f} times fewer "
                f"fits, winner lost {100 * lost:.1f} %, by more than 0.2 standard errors {100 * far:.1f} %"
            )
