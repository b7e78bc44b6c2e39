"""What a table takes beside what the reader says beforehand: peak memory of whole commands.

python benchmarks/memory.py [--only rank] [--shape 300x60000] [--kept peaks.json]

Each line is a process of its own: what was told, what was measured, and the ratio, which should be within 1.3 either
way. Peaks that `--kept` holds are not measured again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from fewer.io._memory import needed_memory, parquet_bytes, text_bytes

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
    "compare": ["-m", "fisher", "-f", "3", "--folds", "2", "-e", "linear"],
}
WIDE = ["-m", "fisher", "--features", "2", "--folds", "2"]
"""Selecting on more columns than rows."""
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


def measure(folder: Path, shape: tuple[int, int, str], command: str) -> dict[str, int]:
    """Make a table, say what a command on it takes, and measure it."""
    n, p, ending = shape
    path = write(folder, n, p, ending)
    more = WIDE if command == "select" and p >= n else COMMANDS[command]
    stream = [] if command == "compare" else ["--no-stream"]
    peak = peak_of([command, str(path), "-t", "y", *stream, "--json", *more])
    found = {"size": path.stat().st_size, "measured": peak}
    assert needed_memory(path, command) > 0
    path.unlink()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(COMMANDS))
    parser.add_argument("--shape", help="rows x columns, such as 300x60000")
    parser.add_argument("--kept", type=Path, help="a JSON file of peaks, to go on from and to add to")
    asked = parser.parse_args()
    kept = json.loads(asked.kept.read_text()) if asked.kept and asked.kept.exists() else {}
    print(f"{'':8} {'rows x columns':>19} {'':8} {'told':>9} {'measured':>9} {'ratio':>6}")
    for command in [asked.only] if asked.only else list(COMMANDS):
        for n, p, ending in SHAPES:
            if asked.shape not in (None, f"{n}x{p}"):
                continue
            key = f"{command} {n}x{p} {ending}"
            if key not in kept:
                with tempfile.TemporaryDirectory() as folder:
                    kept[key] = measure(Path(folder), (n, p, ending), command)
                if asked.kept:
                    asked.kept.write_text(json.dumps(kept, indent=1))
            size = kept[key]["size"]
            told = parquet_bytes(size, n, p + 1, command) if ending == "parquet" else text_bytes(size, command)
            measured = kept[key]["measured"]
            print(
                f"{command:8} {n:>9,} x {p:<7,} {ending:8} {told / 1e6:6.0f} MB {measured / 1e6:6.0f} MB "
                f"{told / measured:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
