"""How long a plain filter takes on many rows: its fit, and a whole selection with held-out folds.

python benchmarks/filters.py 100000 100 --cv 5

Processor seconds; the first fit of a process loads compiled code, so a small one goes before.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import fewer
from fewer.errors import FewerWarning
from fewer.rankers import Fisher


def made(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return X, (X[:, 0] + X[:, 1] + rng.standard_normal(n) > 0).astype(int)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int)
    parser.add_argument("columns", type=int)
    parser.add_argument("--cv", type=int, default=0, help="folds of a whole selection; none by default")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", FewerWarning)
    small = made(3000, asked.columns)
    fewer.select(*small, "fisher", cv=2, random_state=0)
    X, y = made(asked.rows, asked.columns)
    began = time.process_time()
    fewer.RankSelector(Fisher(), random_state=0).fit(X, y)
    print(f"RankSelector(Fisher()).fit on {asked.rows:,} x {asked.columns}: {time.process_time() - began:.1f} s")
    if asked.cv:
        began = time.process_time()
        chosen = fewer.select(X, y, "fisher", cv=asked.cv, random_state=0)
        seconds = time.process_time() - began
        print(f"fewer.select(X, y, 'fisher', cv={asked.cv}): {seconds:.1f} s, {len(chosen.features)} features")


if __name__ == "__main__":
    main()
