"""Peak memory of wide tables, as a multiple of the table itself.

python benchmarks/wide.py 300 200000 fisher,f-test,mrmr,relieff,auto

Each line is a process of its own that makes the table as an array; what the program takes before it is taken off.
"""

from __future__ import annotations

import subprocess
import sys

CODE = """
import resource, sys, time
import numpy as np
import fewer, fewer.run.api
from fewer import registry
n, p, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
small = np.random.default_rng(0).normal(size=(60, 8))
labels = (small[:, 0] > 0).astype(int)
def work(X, y):
    if name == "auto":
        fewer.AutoSelector(random_state=0).fit(X, y)
    else:
        ranker = registry.build("ranker", name, "classification")
        if "n_ranked" in ranker.get_params():
            ranker.set_params(n_ranked=5)
        fewer.RankSelector(ranker, n_features_to_select=5).fit(X, y)
work(small, labels)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
rng = np.random.default_rng(0)
X = np.empty((n, p))
for row in X:
    row[:] = rng.standard_normal(p)
y = (X[:, 0] + X[:, 1] > 0).astype(int)
began = time.process_time()
work(X, y)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(f"{name:18} {n} x {p:,}: {X.nbytes / 1e6:8.0f} MB, peak {(peak - before) / X.nbytes:5.2f} times the table, "
      f"{time.process_time() - began:7.1f} s of processor time")
"""


def main() -> None:
    n, p, names = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
    for name in names:
        subprocess.run([sys.executable, "-c", CODE, n, p, name], check=False)


if __name__ == "__main__":
    main()
