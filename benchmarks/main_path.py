"""The path that everybody walks, in processor seconds, beside scikit-learn's RFECV and SelectFromModel on each table.

    python benchmarks/main_path.py [NAME ...] [--folder FOLDER]

Each row is a command or call in a process of its own, compiled code and byte code cached (run it twice); tables are
drawn once into FOLDER. A benchmark, not a test: `NOTES.md` keeps what was seen, and what limits the rest.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer, make_classification

SHAPES = {"5000x20": (5_000, 20), "500x2000": (500, 2_000), "60x5000": (60, 5_000), "100000x20": (100_000, 20)}
COMMAND = [sys.executable, "-m", "fewer", "select"]
PEERS = ("RFECV(LogisticRegression(max_iter=500), step=0.1)", "SelectFromModel(RandomForestClassifier(random_state=0))")
PEER = """
import polars as pl
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
frame = pl.read_{suffix}({path!r})
X = StandardScaler().fit_transform(frame.drop("target").to_numpy())
{peer}.fit(X, frame["target"].to_numpy())
"""
AUTO = """
import time, fewer
from sklearn.datasets import load_breast_cancer
X, y = load_breast_cancer(return_X_y=True)
selector = fewer.AutoSelector(random_state=0).fit(X, y)
began = time.process_time()
selector.fit(X, y)
print(round(time.process_time() - began, 2))
"""
FISHER = """
import numpy as np, fewer
fewer.select(np.random.default_rng(0).normal(size=(100, 5)), np.arange(100) % 2, "fisher", cv=0)
"""
LIGHTGBM = """
import fewer
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer
fewer.select(*load_breast_cancer(return_X_y=True), estimator=LGBMClassifier(verbose=-1, n_jobs=1), random_state=0)
"""


def seconds(command: list[str], folder: Path) -> float:
    """Run a command; return the processor seconds that it took, or what it printed where that is one number."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Byte code is kept, as where the package is installed, and not beside the sources.
    cached = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "byte-code")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=cached)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        return float(done.stdout)
    except ValueError:
        return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def table(name: str, folder: Path) -> Path:
    """Draw a table, once."""
    path = folder / (f"{name}.parquet" if name == "200x60000" else f"{name}.csv")
    if path.exists():
        return path
    if name == "wdbc":
        data = load_breast_cancer(as_frame=True).frame
        pl.DataFrame({column: data[column].to_numpy() for column in data.columns}).write_csv(path)
        return path
    n, p = SHAPES.get(name, (200, 60_000))
    X, y = make_classification(n, p, n_informative=min(8, p), n_redundant=2, random_state=0)
    frame = pl.DataFrame({f"x{i}": X[:, i] for i in range(p)}).with_columns(target=pl.Series(y.astype(np.int64)))
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)
    return path


def beside(path: Path, folder: Path) -> str:
    """Run the peers on a table."""
    told = []
    for peer in PEERS:
        code = PEER.format(peer=peer, path=str(path), suffix=path.suffix[1:])
        told.append(f"; {peer.partition('(')[0]} {seconds([sys.executable, '-c', code], folder):.1f}")
    return "".join(told)


def rows(folder: Path) -> dict[str, tuple[list[str], Path | None]]:
    """Name the rows: the command, and the table on which peers run beside it."""
    found: dict[str, tuple[list[str], Path | None]] = {}
    for name in ("wdbc", *SHAPES, "200x60000"):
        path = table(name, folder)
        found[name] = ([*COMMAND, str(path), "--target", "target"], path)
    wdbc = [*found["wdbc"][0]]
    found["report"] = ([*wdbc, "--report", str(folder / "page.html")], None)
    found["forest"] = ([*wdbc, "--estimator", "forest"], None)
    for name, code in (("auto", AUTO), ("fisher", FISHER), ("lightgbm", LIGHTGBM)):
        found[name] = ([sys.executable, "-c", code], None)
    found["imports"] = ([sys.executable, "-c", "import sklearn.base, numba, polars"], None)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "fewer-main-path")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name, (command, path) in rows(asked.folder).items():
        if asked.names and name not in asked.names:
            continue
        peers = "" if path is None else beside(path, asked.folder)
        print(f"{name}: {seconds(command, asked.folder):.2f}{peers}", flush=True)
