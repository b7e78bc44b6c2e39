"""What a table takes beside what the reader says beforehand: peak memory of whole commands.

python benchmarks/memory.py

Each line is a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from fewer.io._memory import needed_memory

SHAPES = [(20_000, 50), (200_000, 50), (1_000_000, 20), (2_000_000, 10), (5_000, 2_000), (300, 20_000), (300, 100_000)]
TEXTS = [(20_000, 50), (200_000, 20), (2_000, 2_000)]
COMMANDS = {
    "rank": ["-m", "fisher"],
    "select": ["--criterion", "least-squares:cv=3", "--search", "forward", "--features", "2", "--folds", "2"],
    "compare": ["-m", "fisher", "-f", "3", "--folds", "2", "-e", "linear"],
}
PROBE = """
import atexit, sys
def tell():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print("PEAK", line.split()[1], file=sys.stderr)
atexit.register(tell)
from fewer.cli import main
main(sys.argv[1:])
"""


def write(folder: Path, n: int, p: int, ending: str) -> Path:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    frame = pl.DataFrame({f"x{i}": X[:, i] for i in range(p)} | {"y": (X[:, 0] + rng.normal(size=n) > 0).astype(int)})
    path = folder / f"t{n}x{p}.{ending}"
    frame.write_parquet(path) if ending == "parquet" else frame.write_csv(path, float_precision=6)
    return path


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        for n, p, ending in [(*s, "parquet") for s in SHAPES] + [(*s, "csv") for s in TEXTS]:
            path = write(Path(name), n, p, ending)
            for command, more in COMMANDS.items():
                if (command == "select" and p > 2_000) or (command == "compare" and n * p > 12_000_000):
                    continue
                arguments = [command, str(path), "-t", "y", "--no-stream", "--json", *more]
                if command == "compare":
                    arguments.remove("--no-stream")
                done = subprocess.run(
                    [sys.executable, "-W", "ignore", "-c", PROBE, *arguments],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                peak = [line for line in done.stderr.splitlines() if line.startswith("PEAK")]
                if done.returncode or not peak:
                    print(command, n, p, ending, done.stderr[-300:])
                    continue
                measured, told = int(peak[0].split()[1]) * 1024, needed_memory(path)
                print(
                    f"{command:8} {n:>9,} x {p:<7,} {ending:8} measured {measured / 1e6:7.0f} MB, "
                    f"told {told / 1e6:7.0f} MB, ratio {told / measured:4.2f}, per cell {measured / n / p:6.1f} B",
                    flush=True,
                )
            path.unlink()


if __name__ == "__main__":
    main()
