"""What 10^9 rows of 10^3 columns would take on 100 machines: measured on one core, the rest computed.

python benchmarks/simulation.py

Measured here, on one thread, with a table of 1,000 columns: processor seconds of a row in one pass of each kind, bytes
of a part's result as it travels, seconds to merge two. Computed from these: parts of a million rows are dealt out to
machines in turn and wait for a core and for the bytes of their columns, which a machine reads one part after the
other; then neighbors are merged pairwise, round by round, each round as long as one result takes on the network and
in the merge. Not in it: other users, lost workers, a scheduler's own time.
"""

from __future__ import annotations

import argparse
import heapq
import pickle
import time
from functools import partial

import numpy as np
import polars as pl

from fewer.contracts import Resources
from fewer.io import open_stream
from fewer.parallel import one_blas_thread
from fewer.statistics import ClassMoments, GramSums, collect
from fewer.statistics._moments import shift_of


def measured(make, stream) -> tuple[float, int, float]:
    """Return the seconds of a row, the bytes of a result, and the seconds of a merge."""
    collect(stream, make, Resources())
    began = time.process_time()
    one = collect(stream, make, Resources())
    seconds = (time.process_time() - began) / stream.n_samples
    packed = pickle.dumps(one, protocol=5)
    other = pickle.loads(packed)
    began = time.process_time()
    one.merge(other)
    return seconds, len(packed), time.process_time() - began


def simulated(rows: float, cells: int, one: tuple[float, int, float], asked: argparse.Namespace) -> tuple[float, float]:
    """Return the seconds until the last part is summed, and until the last merge."""
    per_row, n_bytes, merge = one
    n_parts = int(rows // asked.part)
    ends = []
    for machine in range(asked.machines):
        cores, read = [0.0] * asked.cores, 0.0
        for _ in range(machine, n_parts, asked.machines):
            read += asked.part * cells * 4 / asked.read  # float32
            heapq.heappush(cores, max(heapq.heappop(cores), read) + asked.part * per_row)
        ends.append(max(cores))
    rounds = int(np.ceil(np.log2(n_parts)))
    return max(ends), max(ends) + rounds * (n_bytes / asked.network + merge)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e9)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--part", type=float, default=1e6, help="rows of a part")
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--read", type=float, default=1e9, help="bytes a machine reads in a second")
    parser.add_argument("--network", type=float, default=1e9, help="bytes between two machines in a second")
    parser.add_argument("--measured", type=int, default=8192, help="rows that are measured")
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((asked.measured, asked.columns), dtype=np.float32)
    columns = {f"x{i}": X[:, i] for i in range(asked.columns)}
    stream = open_stream(pl.LazyFrame(columns | {"y": (X[:, 0] > 0).astype(np.int8)}), "y")
    kinds = {
        "moments (F test)": partial(ClassMoments, shift_of(stream.like)),
        "Gram matrices, 5 folds": partial(GramSums, stream.like, 5),
        "Gram matrices, 50 cells": partial(GramSums, stream.like, 50),
    }
    with one_blas_thread():
        for name, make in kinds.items():
            found = measured(make, stream)
            summed, merged = simulated(asked.rows, asked.columns, found, asked)
            per_row, n_bytes, merge = found[0] * 1e6, found[1] / 1e6, found[2]
            print(
                f"{name:24} measured: {per_row:7.2f} µs a row, {n_bytes:6.2f} MB, merge {merge:.3f} s; "
                f"computed: summed after {summed:.0f} s, merged after {merged:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
