"""How well `auto` finds planted columns in a table in chunks.

python benchmarks/planted.py --rows 4000000 --columns 49 --seeds 5 --folder /tmp

The odds of the label depend on x00, x01, x02, the product of x03 and x04, and a city of 12; `shop` has 300 levels that
say nothing, the other columns are noise, and 2 % of x01 are missing. For each seed: processor seconds, the features in
order, and whether they are the planted ones with no other before them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import polars as pl

import fewer

PLANTED = {"x00", "x01", "x02", "x03", "x04", "city"}
BLOCK = 500_000


def block(n_rows: int, n_columns: int, seed: int, number: int) -> pl.DataFrame:
    rng = np.random.default_rng([seed, number])
    X = rng.standard_normal((n_columns - 2, n_rows), dtype=np.float32)
    city, shop = rng.integers(0, 12, n_rows), rng.integers(0, 300, n_rows)
    odds = X[0] + 0.8 * X[1] + 0.6 * X[2] + 0.8 * X[3] * X[4]
    odds += np.random.default_rng(seed).normal(0.0, 0.8, 12)[city]
    label = rng.random(n_rows) < 1.0 / (1.0 + np.exp(-odds))
    X[1, rng.random(n_rows) < 0.02] = np.nan
    words = {"city": pl.Series(city).cast(pl.String) + "th", "shop": pl.Series(shop).cast(pl.String) + "st"}
    return pl.DataFrame({f"x{i:02d}": own for i, own in enumerate(X)} | words | {"label": np.where(label, "yes", "no")})


def write(folder: Path, n_rows: int, n_columns: int, seed: int) -> Path:
    """Write the table as files of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, low in enumerate(range(0, n_rows, BLOCK)):
        part = block(min(BLOCK, n_rows - low), n_columns, seed, number)
        part.write_parquet(folder / f"part-{number:02d}.parquet", compression="lz4", row_group_size=BLOCK)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=22)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path("/tmp"))
    asked = parser.parse_args()
    for seed in range(asked.seeds):
        path = write(asked.folder / f"planted-{asked.rows}-{seed}", asked.rows, asked.columns, seed)
        began = time.process_time()
        found = fewer.select(path, "label", random_state=seed, n_jobs=1)
        seconds = time.process_time() - began
        first = found.curve["order"][: len(PLANTED)]
        good = set(found.features) == PLANTED
        print(f"seed {seed}: {seconds:.1f} s, {found.features}, planted and no other: {good}, "
              f"planted first: {set(first) == PLANTED}, {found.verdict} {found.warnings[-1]}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
