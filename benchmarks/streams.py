"""Time and memory of tables read in chunks, beside plain reading.

python benchmarks/make_large_table.py /tmp/large.parquet && python benchmarks/streams.py /tmp/large.parquet

Each line is a process of its own: processor seconds, wall seconds and peak memory, and the share of the plain reading
rate that is left, the start of the program (imports) taken off.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

READ = """
import sys, pyarrow.parquet as pq
file = pq.ParquetFile(sys.argv[1], pre_buffer=False)
names = [n for n in file.schema_arrow.names if n != "amount"]
print(sum(b.num_rows for b in file.iter_batches(65536, columns=names, use_threads=False)))
"""
FEWER = "from fewer.cli import main; import sys; main(sys.argv[1:])"
COMMANDS = {
    "rank f-test": ["rank", "-t", "label", "--exclude", "amount", "-m", "f-test"],
    "rank f-test, quantity": ["rank", "-t", "amount", "--exclude", "label", "-m", "f-test"],
    "rank fisher": ["rank", "-t", "label", "--exclude", "amount", "-m", "fisher"],
    "rank mrmr --features 20": ["rank", "-t", "label", "--exclude", "amount", "-m", "mrmr", "--features", "20"],
    "rank jmi --features 20": ["rank", "-t", "label", "--exclude", "amount", "-m", "jmi", "--features", "20"],
    "select least-squares:cv=10 forward": [
        "select", "-t", "label", "--exclude", "amount", "--criterion", "least-squares:cv=10", "--search", "forward",
    ],
    "select least-squares:cv=10 forward, quantity": [
        "select", "-t", "amount", "--exclude", "label", "--criterion", "least-squares:cv=10", "--search", "forward",
    ],
}  # fmt: skip


def measured(code: str, arguments: list[str]) -> dict[str, float]:
    """Run in a process of its own, and report what it took."""
    probe = (
        "import resource, runpy, sys, atexit\n"
        "def tell():\n"
        "    u = resource.getrusage(resource.RUSAGE_SELF)\n"
        "    print('MEASURED', u.ru_utime + u.ru_stime, u.ru_maxrss, file=sys.stderr)\n"
        "atexit.register(tell)\n"
    )
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", probe + code, *arguments], capture_output=True, text=True, check=False)
    wall = time.perf_counter() - began
    line = [line for line in done.stderr.splitlines() if line.startswith("MEASURED")]
    if done.returncode or not line:
        raise SystemExit(done.stderr[-2000:])
    _, cpu, peak = line[0].split()
    return {
        "cpu_s": round(float(cpu), 1),
        "wall_s": round(wall, 1),
        "peak_MB": round(float(peak) / 1024),
        "out": done.stdout,
    }


def _small(path: str) -> Path:
    """Write the first rows beside the table, to measure how long the program takes to start."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    small = Path(path).with_suffix(".small.parquet")
    rows = next(pq.ParquetFile(path).iter_batches(1000))
    pq.write_table(pa.Table.from_batches([rows]), small)
    return small


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--only", help="commands that hold this text")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    start = measured(FEWER, ["rank", str(_small(asked.path)), "-t", "label", "--stream", "--json"])
    print(
        f"{'start of the program':46} {start['cpu_s']:7.1f} s cpu {start['wall_s']:7.1f} s {start['peak_MB']:6.0f} MB"
    )
    plain = measured(READ, [asked.path])
    rows = {"plain reading": plain}
    print(
        f"{'plain reading':46} {plain['cpu_s']:7.1f} s cpu {plain['wall_s']:7.1f} s {plain['peak_MB']:6.0f} MB",
        flush=True,
    )
    for name, arguments in COMMANDS.items():
        if asked.only and asked.only not in name:
            continue
        row = measured(FEWER, [arguments[0], asked.path, *arguments[1:], "--stream", "--json"])
        row["share_of_reading"] = round(plain["cpu_s"] / (row["cpu_s"] - start["cpu_s"]), 2)
        rows[name] = row
        print(
            f"{name:46} {row['cpu_s']:7.1f} s cpu {row['wall_s']:7.1f} s {row['peak_MB']:6.0f} MB "
            f"{row['share_of_reading']:5.2f} of the reading rate",
            flush=True,
        )
    if asked.out is not None:
        asked.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
