"""What a table takes beside what the reader says beforehand: peak memory of whole commands.

python benchmarks/memory.py [--tables others] [--only rank] [--shape 300x60000] [--kept peaks.json]

Each line is a process of its own: what was told, what was measured, and the ratio, which should be within 1.3 either
way. Peaks that `--kept` holds are not measured again. How many tables each command holds was chosen on ten tables of
plain numbers (`first`) and ten of other cells (`others`); `fresh` ones had no part in it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from fewer.io.memory import needed_memory

Shape = tuple[int, int, str, str]
SHAPES: list[Shape] = [
    (200_000, 50, "parquet", "numbers"),
    (1_000_000, 20, "parquet", "numbers"),
    (10_000, 1_000, "parquet", "numbers"),
    (2_000, 5_000, "parquet", "numbers"),
    (300, 60_000, "parquet", "numbers"),
    (20_000, 100, "csv", "numbers"),
    (200_000, 20, "csv", "numbers"),
    (2_000, 2_000, "csv", "numbers"),
    (300, 20_000, "csv", "numbers"),
    (5_000, 400, "csv", "numbers"),
]
OTHERS: list[Shape] = [
    (400_000, 40, "parquet", "single precision"),
    (1_000, 20_000, "parquet", "single precision"),
    (1_000_000, 30, "parquet", "bytes"),
    (100_000, 30, "parquet", "a third words"),
    (150_000, 60, "parquet", "a tenth missing"),
    (3_000_000, 6, "parquet", "numbers"),
    (100_000, 40, "csv", "digits"),
    (60_000, 40, "csv", "all decimals"),
    (50_000, 40, "csv", "a third words, a tenth missing"),
    (50_000, 30, "csv.gz", "numbers"),
]
FRESH: list[Shape] = [
    (700_000, 12, "parquet", "bytes"),
    (30_000, 300, "parquet", "numbers"),
    (30_000, 80, "csv", "a third words"),
    (8_000, 500, "csv", "digits"),
    (800, 3_000, "csv", "numbers"),
    (120_000, 25, "csv.gz", "a tenth missing"),
]
TABLES = {"first": SHAPES, "others": OTHERS, "fresh": FRESH}
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


def cells_of(n: int, p: int, what: str) -> dict[str, pl.Series]:
    """Make the columns of a table; the first one carries the target."""
    rng = np.random.default_rng(0)
    columns = {}
    for i in range(p):
        numbers = rng.standard_normal(n)
        if "words" in what and i % 3 == 2:
            column = pl.Series(np.array(["red", "green", "a longer level"])[np.digitize(numbers, [-0.5, 0.5])])
        elif what == "single precision":
            column = pl.Series(numbers.astype(np.float32))
        elif what in ("bytes", "digits"):
            column = pl.Series(np.clip(np.floor(5 + 2 * numbers), 0, 9).astype(np.int8))
        else:
            column = pl.Series(numbers)
        if "missing" in what:
            column = column.set(pl.Series(rng.random(n) < 0.1), None)
        columns[f"x{i}"] = column
    return columns


def write(folder: Path, shape: Shape) -> Path:
    n, p, ending, what = shape
    columns = cells_of(n, p, what)
    lead = columns["x0"].cast(pl.Float64).fill_null(0.0).to_numpy()
    label = lead - lead.mean() + np.random.default_rng(1).normal(size=n) > 0
    frame = pl.DataFrame(columns | {"y": label.astype(int)})
    path = folder / f"t{n}x{p}.{ending}"
    if ending == "parquet":
        frame.write_parquet(path)
        return path
    text = frame.write_csv(float_precision=None if what == "all decimals" else 6).encode()
    path.write_bytes(gzip.compress(text, 6) if ending == "csv.gz" else text)
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


def measure(path: Path, shape: Shape, command: str) -> int:
    """Run a command on a table, and return its peak in bytes."""
    more = WIDE if command == "select" and shape[1] >= shape[0] else COMMANDS[command]
    stream = [] if command == "compare" else ["--no-stream"]
    return peak_of([command, str(path), "-t", "y", *stream, "--json", *more])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", choices=list(TABLES), default="first")
    parser.add_argument("--only", choices=list(COMMANDS))
    parser.add_argument("--shape", help="rows x columns, such as 300x60000")
    parser.add_argument("--kept", type=Path, help="a JSON file of peaks, to go on from and to add to")
    asked = parser.parse_args()
    kept = json.loads(asked.kept.read_text()) if asked.kept and asked.kept.exists() else {}
    print(f"{'':8} {'rows x columns':>19} {'':39} {'told':>9} {'measured':>9} {'ratio':>6}")
    for shape in TABLES[asked.tables]:
        n, p, ending, what = shape
        if asked.shape not in (None, f"{n}x{p}"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder), shape)
            for command in [asked.only] if asked.only else list(COMMANDS):
                key = f"{command} {n}x{p} {ending} {what}"
                if key not in kept:
                    kept[key] = measure(path, shape, command)
                    if asked.kept:
                        asked.kept.write_text(json.dumps(kept, indent=1))
                told, measured = needed_memory(path, command), kept[key]
                print(
                    f"{command:8} {n:>9,} x {p:<7,} {ending:8} {what:30} {told / 1e6:6.0f} MB {measured / 1e6:6.0f} MB "
                    f"{told / measured:6.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
