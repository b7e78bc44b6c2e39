"""Write a Parquet table that does not fit into memory several times over: 20,000,000 rows of 60 features, 5 GB.

python benchmarks/make_large_table.py /tmp/large.parquet --rows 20000000

Twelve features carry the two targets (`label`, yes or no, and `amount`, a number), twelve are noisy copies of them, one
has few values, one has empty cells, the others are noise.
"""

from __future__ import annotations

import argparse

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_FEATURES = 60
BLOCK = 250_000


def block(n_rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_FEATURES, n_rows), dtype=np.float32)
    weights = np.linspace(1.0, 0.1, 12, dtype=np.float32)
    X[12:24] = 0.8 * X[:12] + 0.6 * X[12:24]
    X[30] = np.floor(np.abs(X[30]) * 2)
    signal = weights @ X[:12] + 0.3 * X[0] * X[1]
    label = signal + 1.5 * rng.standard_normal(n_rows, dtype=np.float32) > 0
    amount = signal + 2.0 * rng.standard_normal(n_rows, dtype=np.float32)
    X[5, rng.random(n_rows) < 0.01] = np.nan
    columns = {f"x{i:02d}": X[i] for i in range(N_FEATURES)}
    columns["label"] = np.where(label, 1, 0).astype(np.int8)
    columns["amount"] = amount.astype(np.float64)
    return pa.table(columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--rows", type=int, default=20_000_000)
    asked = parser.parse_args()
    writer = None
    for number, low in enumerate(range(0, asked.rows, BLOCK)):
        table = block(min(BLOCK, asked.rows - low), number)
        if writer is None:
            writer = pq.ParquetWriter(asked.path, table.schema, compression="snappy", use_dictionary=["x30", "label"])
        writer.write_table(table)
    assert writer is not None
    writer.close()


if __name__ == "__main__":
    main()
