"""What Chen's text reads off its figures, beside what our curves say.

A reading of a curve is compared at the sizes that are measured: it matches within one step of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fewer.evaluate import PlantedCounts
from fewer.problem import FloatArray
from fewer_papers import _chen
from fewer_papers._chen import (
    ADRENAL,
    FISHER,
    GAIN,
    GMLVQ,
    RELIEFF,
    SVM,
    Case,
    counts_of,
    curves_of,
    sizes_of,
)
from fewer_papers._chen import at_sizes as _at
from fewer_papers._core import Absent, Cell, Rerun, judge, read_printed
from fewer_papers._curves import ORIGINAL, Curves

METHODS = {"gmlvq": GMLVQ, "relieff": RELIEFF, "ig": GAIN, "fisher": FISHER}
SKIPPED = ("top3_feature", "common_in_top", "AUC")
"""Readings that stand in tables of their own, `rankings` and `areas`."""


def table(run: Rerun) -> list[Cell]:
    """Set each stored reading of a figure beside ours."""
    cells = []
    cases = {case.name: case for case in _chen.CASES}
    for record in read_printed("chen")["records"]:
        if record["table"] != "figure_quotes" or record["column"].startswith(SKIPPED):
            continue
        about = " ".join(str(record[key]) for key in ("method", "evaluator") if key in record)
        words = f"figure {record['figure']}, {record['column'].replace('_', ' ')} {about}".strip()
        if record["row"] not in cases:
            row = f"{words} ({record['value']})" if isinstance(record["value"], int) else words
            cells.append(judge("figures", record["row"], row, record["value"], ADRENAL))
            continue
        case = cases[record["row"]]
        ours = run.attempt(partial(_ours, run, case, record))
        reason = record.get("note", "")
        tolerance = _tolerance(run, case, record)
        if isinstance(record["value"], list) and isinstance(ours, list) and len(ours) == 2:
            near = all(abs(a - b) <= tolerance for a, b in zip(ours, record["value"], strict=True))
            ours = record["value"] if near else ours
        cells.append(judge("figures", case.name, words, record["value"], ours, tolerance=tolerance, reason=reason))
    return cells


def _tolerance(run: Rerun, case: Case, record: dict[str, Any]) -> float:
    if "n_features" in record["column"] or isinstance(record["value"], list):
        return float(np.max(np.diff(sizes_of(run, case))))
    return 1.0


def _ours(run: Rerun, case: Case, record: dict[str, Any]) -> Any:
    column, figure = record["column"], record["figure"]
    if "redundant" in column or figure in (22, 27, 32):
        return _of_counts(counts_of(run, case, "redundant"), record)
    if "irrelevant" in column:
        return _of_counts(counts_of(run, case, "irrelevant"), record)
    curves = _at(curves_of(run, case), sizes_of(run, case))
    return _of_curves(curves, record)


def _of_curves(curves: Curves, record: dict[str, Any]) -> Any:
    """Read a curve of AUC by the number of features."""
    column, evaluator = record["column"], record.get("evaluator", GMLVQ)
    by = SVM if evaluator == SVM else GMLVQ
    areas = curves.mean(by)
    if column.startswith("original_omega"):
        own = curves.mean(ORIGINAL)[GMLVQ]
        best = own >= np.max(list(areas.values()), axis=0)
    else:
        method = METHODS[column.split("_")[0]]
        own = areas[method]
        best = own >= np.max(list(areas.values()), axis=0)
    return _reading(column, curves.sizes, best, own)


def _of_counts(counts: PlantedCounts, record: dict[str, Any]) -> Any:
    """Read a curve of planted features kept by the number of features kept."""
    column = record["column"]
    kept = {name: counts.kept[place].mean(axis=0) for place, name in enumerate(counts.names)}
    sizes = np.arange(1, counts.kept.shape[2] + 1)
    if "_in_top" in column:
        size = int(column.rsplit("top", 1)[1])
        if column.startswith("best_method"):
            return float(min(kept[name][size - 1] for name in METHODS.values()))
        return float(kept[record["method"]][size - 1])
    if column == "irrelevant_filtered_stated":
        return float(counts.n_added - kept[GMLVQ][counts.n_original - 1])
    if column == "gmlvq_irrelevant_growth":
        fit = np.polyfit(sizes, kept[GMLVQ], 1)
        left = kept[GMLVQ] - np.polyval(fit, sizes)
        share = 1.0 - left.var() / kept[GMLVQ].var()
        return "linear" if share > 0.97 else f"bent (a line explains {share:.0%})"
    method = METHODS[column.split("_")[0]]
    others = [kept[name] for name in METHODS.values()]
    best = kept[method] <= np.min(others, axis=0)
    inside = sizes <= counts.n_original
    return _reading(column, sizes[inside], best[inside], -kept[method][inside])


def _reading(column: str, sizes: Any, best: Any, own: FloatArray) -> Any:
    """Turn where a method is best into what the text says of it."""
    readings: dict[str, Callable[[], Any]] = {
        "best_up_to": lambda: int(sizes[np.cumprod(best).astype(bool)].max(initial=0)),
        "best_below": lambda: int(sizes[np.cumprod(best).astype(bool)].max(initial=0)),
        "best_above": lambda: int(sizes[~np.cumprod(best[::-1])[::-1].astype(bool)].max(initial=0)),
        "better_above": lambda: int(sizes[~np.cumprod(best[::-1])[::-1].astype(bool)].max(initial=0)),
        "max_at": lambda: int(sizes[int(np.argmax(own))]),
        "better_range": lambda: [int(sizes[best].min()), int(sizes[best].max())] if best.any() else [],
    }
    for key, read in readings.items():
        if key in column:
            return read()
    return Absent(f"What figure says of {column.replace('_', ' ')} cannot be measured.")
