"""How often do ordinary tables draw a warning? `FEWER_DATA=folder python experiments/false_alarms.py`."""

import os
import sys
from pathlib import Path

from fewer.io import read_table
from fewer.io._suspicions import suspicions


def main() -> None:
    """Count the warnings."""
    folder = Path(os.environ.get("FEWER_DATA", ""))
    files = sorted(folder.glob("*.csv.gz"))
    if not os.environ.get("FEWER_DATA") or not files:
        sys.exit("Name a folder of tables (NAME.csv.gz, the target last) in the variable FEWER_DATA.")
    n_columns = n_told = 0
    for file in files:
        problem = read_table(file, -1)
        told = suspicions(problem)
        n_columns, n_told = n_columns + problem.n_features, n_told + len(told)
        print(f"{file.name:<28} {problem.n_samples:>7,} rows {problem.n_features:>7,} columns {len(told):>4} warnings")
        for line in told:
            print(f"    {line.kind}: {line.evidence}")
    print(f"{len(files)} tables, {n_columns:,} columns, {n_told} warnings")


if __name__ == "__main__":
    main()
