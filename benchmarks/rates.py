"""The rate of one pass of statistics beside polars' own, on one thread.

python benchmarks/rates.py FOLDER

FOLDER is one of `benchmarks/planted.py`. Each line is a process of its own, which reads the same columns of the same
files: the least processor seconds of three passes, after one that is not counted. Polars gives count, missing cells,
mean, standard deviation, least and most of numbers, and missing cells and how many levels of words; fewer's pass is
that of `rank -m f-test`: the same of numbers in each class, and how many rows of each class each level has.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

POLARS = """
import glob, sys, time
import polars as pl
names = sys.argv[2].split(",")
table = pl.scan_parquet(sorted(glob.glob(sys.argv[1] + "/*.parquet"))).select(names)
kinds, asked = table.collect_schema(), []
for name in names:
    own = pl.col(name)
    found = [own.n_unique()] if kinds[name] == pl.String else [own.count(), own.mean(), own.std(), own.min(), own.max()]
    asked += [one.alias(f"{name} {i}") for i, one in enumerate([own.null_count(), *found])]
run = lambda: table.select(asked).collect(engine="streaming")
"""
FEWER = """
import sys, time
from fewer import streaming
from fewer.contracts import Resources
from fewer.io import open_source, open_stream
names = sys.argv[2].split(",")
others = [name for name in open_source(sys.argv[1]).columns if name not in names]
stream = open_stream(sys.argv[1], "label", exclude=others)
run = lambda: streaming.rank(stream, "f-test", resources=Resources(1))
"""
MEASURED = """
seconds = []
for _ in range(4):
    began = time.process_time()
    run()
    seconds.append(time.process_time() - began)
print(min(seconds[1:]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["numbers", "mixed"])
    asked = parser.parse_args()
    numbers = [f"x{i:02d}" for i in range(38)]
    one = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for what, names in (("numbers", [*numbers, "label"]), ("mixed", [*numbers[:10], "city", "shop", "label"])):
        if asked.only not in (None, what):
            continue
        least = {}
        for _ in range(asked.rounds):
            for who, code in (("polars", POLARS), ("fewer", FEWER)):
                words = [sys.executable, "-c", code + MEASURED, asked.folder, ",".join(names)]
                done = subprocess.run(words, capture_output=True, text=True, check=True, env=os.environ | one)
                least[who] = min(float(done.stdout.split()[-1]), least.get(who, 1e9))
        ratio = least["polars"] / least["fewer"]
        print(f"{what:8} polars {least['polars']:.2f} s, fewer {least['fewer']:.2f} s, rate {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
