"""One self-contained page to choose an operating point: the hull, its vertices, sliders for the limit and the costs."""

from __future__ import annotations

import html
import json
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewer.files import write_atomically
from fewer.problem import InputError
from fewer.roc._parcel import Parcel

LIMITS = np.round(np.linspace(0.005, 0.995, 199), 3)


def hull_page(
    parcel: Parcel, *, title: str = "Choose an operating point", guarantee: float = 0.95, command: str | None = None
) -> str:
    """Return the page of a fitted Parcel as HTML. It asks nothing of the network.

    Parameters
    ----------
    parcel : Parcel
    title : str
    guarantee : float, default=0.95
        The probability that the page offers to keep limits with, if rows were kept for calibration.
    command : str, optional
        A command line that ends where `--max-fpr 0.1` or `--cost-fp 1 --cost-fn 5` can follow.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> page = hull_page(Parcel(random_state=0).fit(X, y))
    >>> page.startswith("<!doctype html>"), "http-equiv" in page
    (True, True)
    """
    check_is_fitted(parcel)
    data = page_data(parcel, guarantee, command)
    template = files("fewer.roc").joinpath("_page.html").read_text(encoding="utf-8")
    parts = {"TITLE": html.escape(title), "DATA": _in_script(data)}
    # One pass over the template: what is put in is never searched for marks.
    pieces = template.split("@@")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def write_hull_page(parcel: Parcel, path: str | Path, **options: Any) -> Path:
    """Write the page to a file; see `hull_page` for the options."""
    target = Path(path)
    write_atomically(target, hull_page(parcel, **options).encode("utf-8", "replace"))
    return target


def page_data(parcel: Parcel, guarantee: float, command: str | None) -> dict[str, Any]:
    """Return everything that the page shows, as plain objects."""
    witness = parcel._witness
    calibrated = witness.rows == "calibration"
    fpr_new, tpr_new = (witness.called[:, rows].mean(axis=1) for rows in (~witness.positive, witness.positive))
    vertices = [
        {
            "algorithm": vertex.algorithm,
            "features": [_cut(name) for name in vertex.names],
            "threshold": vertex.threshold if np.isfinite(vertex.threshold) else None,
            "fpr": vertex.fpr,
            "tpr": vertex.tpr,
            "fpr_new": float(fpr_new[i]),
            "tpr_new": float(tpr_new[i]),
        }
        for i, vertex in enumerate(parcel.vertices_)
    ]
    subsets = {vertex.features for vertex in parcel.vertices_ if vertex.features}
    positive = parcel.classes_[parcel._positive]
    return {
        "intro": (
            f"{parcel.n_evaluated_} classifiers were tried; {len(vertices) - 2} stand on the hull, with "
            f"{len(subsets)} subsets of {int(parcel.support_.sum())} among {parcel.n_features_in_} features. "
            f"Area under the hull: {parcel.hull_.area:.4f}. Positive: {positive}, "
            f"{100 * parcel.prevalence_:.1f}\N{NO-BREAK SPACE}% of the rows."
        ),
        "names": [_cut(name) for name, used in zip(parcel.reader_.names, parcel.support_, strict=True) if used],
        "vertices": vertices,
        "prevalence": parcel.prevalence_,
        "calibrated": calibrated,
        "n_calibration": len(witness.positive) if calibrated else 0,
        "guarantee": {"probability": guarantee, "points": _kept_points(parcel, guarantee)} if calibrated else None,
        "code": " ".join(repr(parcel).split()),
        "command": command,
        "versions": f"Made with {', '.join(f'{name} {version(name)}' for name in ('fewer', 'numpy', 'scikit-learn'))}.",
    }


def _kept_points(parcel: Parcel, guarantee: float) -> list[dict[str, float]]:
    """Say where each limit is kept with the probability; limits too low for the calibration rows are left out."""
    points = []
    for limit in LIMITS.tolist():
        try:
            point = parcel.operating_point(max_fpr=limit, guarantee=guarantee)
        except InputError:
            continue
        where, kept = point.promised_, point.guaranteed_
        price = 0.0 if kept is None else kept.price
        points.append({"limit": limit, "low": where.low, "high": where.high, "share": where.share, "price": price})
    return points


def _cut(name: str, length: int = 200) -> str:
    """Return a name at a length that people read."""
    return name if len(name) <= length else name[: length - 1] + "…"


def _in_script(data: dict[str, Any]) -> str:
    """Write JSON that cannot end the script that it stands in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return (
        text.replace("&", "\\u0026")
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
