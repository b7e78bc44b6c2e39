"""What a table takes beside what the reader says beforehand: peak memory of whole commands.

python benchmarks/memory.py [rank] [select] [compare]

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

SHAPES = [
    (200_000, 50, "parquet"),
    (1_000_000, 20, "parquet"),
    (10_000, 1_000, "parquet"),
    (2_000, 5_000, "parquet"),
    (300, 60_000, "parquet"),
    (20_000, 100, "csv"),
    (200_000, 20, "csv"),
    (2_000, 2_000, "csv"),
    (300, 20_000, "csv"),
    (5_000, 400, "csv"),
]
COMMANDS = {
    "rank": ["-m", "fisher"],
    "select": ["--criterion", "least-squares:cv=3", "--search", "forward", "--features", "2", "--folds", "2"],
    "compare": ["-m", "fisher", "-f", "3", "--folds", "2", "-e", "tree"],
}
WIDE = ["-m", "fisher", "--features", "2", "--folds", "2"]
"""Selecting on more columns than rows."""
MOST_ROWS = 5_000
"""Of a comparison: nearest neighbors judge the sizes of its plain filter, which takes the square of the rows."""
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


def peak_of(arguments: list[str]) -> int:
    """Run a command in a process of its own, and return its peak in bytes."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROBE, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(arguments[1]).parent,  # where a comparison keeps its run
    )
    peak = [line for line in done.stderr.splitlines() if line.startswith("PEAK")]
    if done.returncode or not peak:
        raise SystemExit(done.stderr[-1000:])
    return int(peak[0].split()[1]) * 1024


def main() -> None:
    asked = sys.argv[1:] or list(COMMANDS)
    with tempfile.TemporaryDirectory() as name:
        for n, p, ending in SHAPES:
            path = write(Path(name), n, p, ending)
            for command in asked:
                if command == "compare" and n > MOST_ROWS:
                    continue
                more = WIDE if command == "select" and p >= n else COMMANDS[command]
                stream = [] if command == "compare" else ["--no-stream"]
                measured = peak_of([command, str(path), "-t", "y", *stream, "--json", *more])
                told = needed_memory(path, command)
                print(
                    f"{command:8} {n:>9,} x {p:<7,} {ending:8} measured {measured / 1e6:7.0f} MB, "
                    f"told {told / 1e6:7.0f} MB, ratio {told / measured:4.2f}, file {path.stat().st_size / 1e6:6.1f}",
                    flush=True,
                )
            path.unlink()


if __name__ == "__main__":
    main()
