"""One self-contained page to choose an operating point: the hull, its vertices, sliders for the limit and the costs."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fewer.problem import InputError
from fewer.report._page import in_script, render, write_page
from fewer.roc import OperatingPoint, Parcel
from fewer.roc._rates import error_bounds, smoothed
from fewer.text import cut

LIMITS = np.round(np.linspace(0.005, 0.995, 199), 3)


def parcel_report(
    parcel: Parcel,
    *,
    point: OperatingPoint | None = None,
    title: str = "Choose an operating point",
    guarantee: float = 0.95,
    command: str | None = None,
    rows: str | None = None,
) -> str:
    """Return the page of a fitted Parcel as HTML. It asks nothing of the network.

    Parameters
    ----------
    parcel : Parcel
        Of two classes; with several, one of its `parcels_`.
    point : OperatingPoint, optional
        Where the page opens; at a false positive rate of 10 % if left out.
    title : str
        Of the page.
    guarantee : float, default=0.95
        The probability that the page offers to keep limits and bounds on the cost with, if rows were kept for
        calibration; that of `point` if it has one.
    command : str, optional
        A command line that ends where `--max-fpr 0.1` or `--cost-fp 1 --cost-fn 5` can follow.
    rows : str, optional
        Python that makes `problem`, the rows that it was fitted to; the code on the page takes `X` and `y` if left
        out.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> page = parcel_report(Parcel(random_state=0).fit(X, y))
    >>> page.startswith("<!DOCTYPE html>"), "http-equiv" in page
    (True, True)
    """
    check_is_fitted(parcel)
    if hasattr(parcel, "parcels_"):
        raise InputError(
            f"The page is for one class against the rest: give parcels_[label], of {list(parcel.parcels_)}."
        )
    data = page_data(parcel, guarantee, command, point, rows)
    return render("parcel.html", title=title, data=in_script(data), versions=data["versions"])


def write_parcel_report(path: str | Path, parcel: Parcel, **options: Any) -> Path:
    """Write the page to a file.

    Parameters
    ----------
    path : path
        Where to write.
    parcel : Parcel
        Fitted.
    **options
        Those of `parcel_report`.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> parcel = Parcel(max_passes=1, random_state=0).fit(X[:200, :2], y[:200])
    >>> write_parcel_report(tempfile.mkdtemp() + "/page.html", parcel).name
    'page.html'
    """
    return write_page(path, parcel_report(parcel, **options))


def page_data(
    parcel: Parcel, guarantee: float, command: str | None, point: OperatingPoint | None = None, rows: str | None = None
) -> dict[str, Any]:
    """Return everything that the page shows, as plain objects.

    Parameters
    ----------
    parcel : Parcel
        Fitted.
    guarantee : float
        How sure the promise is: 0.95 keeps it in 95 of 100 samples.
    command : str or None
        That repeats the run.
    point : OperatingPoint, optional
        The one that is marked first.
    rows : str, optional
        What the rows are called.

    Returns
    -------
    dict
    """
    witness = parcel.mrroc_.witnesses
    calibrated = witness.rows == "calibration"
    can = calibrated and witness.weight is None
    if point is not None and point.guaranteed_ is not None:
        guarantee = point.guaranteed_.probability
    return {
        "intro": _intro(parcel, calibrated),
        "names": [cut(name) for name, used in zip(parcel.reader_.names, parcel.support_, strict=True) if used],
        "vertices": _vertices(parcel),
        "sizes": list(witness.sizes),
        "prevalence": parcel.prevalence_,
        "calibrated": calibrated,
        "n_calibration": len(witness.positive) if calibrated else 0,
        "guarantee": _guaranteed(parcel, guarantee) if can else None,
        "asked": _asked(parcel, point),
        "code": _code(parcel, rows),
        "command": command,
        "versions": f"Made with {', '.join(f'{name} {version(name)}' for name in ('fewer', 'numpy', 'scikit-learn'))}.",
    }


def _intro(parcel: Parcel, calibrated: bool) -> str:
    subsets = {vertex.features for vertex in parcel.vertices_ if vertex.features}
    positive = parcel.classes_[parcel.mrroc_.positive]
    where = "on rows not used to build it" if calibrated else "on the rows used to build it, so it is optimistic"
    many = "s" * (len(subsets) != 1)
    return (
        f"{parcel.n_evaluated_:,} subsets were tried. The hull has {len(parcel.vertices_) - 2} vertices; they use "
        f"{len(subsets)} subset{many}, with {int(parcel.support_.sum())} of {parcel.n_features_in_} features in all. "
        f"Area under their line, {where}: {parcel.area_:.2f}. Positive: {cut(positive)}, "
        f"{100 * parcel.prevalence_:.1f}\N{NO-BREAK SPACE}% of the rows."
    )


def _vertices(parcel: Parcel) -> list[dict[str, Any]]:
    fpr_new, tpr_new = parcel.mrroc_.witnesses.vertex_rates
    fpr_soft, tpr_soft = smoothed(parcel.hull_.fpr, parcel.hull_.tpr, parcel.mrroc_.sizes)
    rates = {"fpr_new": fpr_new, "tpr_new": tpr_new, "fpr_soft": fpr_soft, "tpr_soft": tpr_soft}
    return [
        {
            "algorithm": vertex.algorithm,
            "features": [cut(name) for name in vertex.names],
            "threshold": vertex.threshold if np.isfinite(vertex.threshold) else None,
            "fpr": vertex.fpr,
            "tpr": vertex.tpr,
            **{name: float(values[i]) for name, values in rates.items()},
        }
        for i, vertex in enumerate(parcel.vertices_)
    ]


def _asked(parcel: Parcel, point: OperatingPoint | None) -> dict[str, Any]:
    """Say where the page opens."""
    base: dict[str, Any] = {"mode": "limit", "limit": 0.1, "costs": None, "guaranteed": None, "point": None}
    base["prevalence"] = parcel.prevalence_
    if point is None:
        return base
    where, kept = point.promised_, point.guaranteed_
    base["prevalence"] = point.prevalence_
    base["point"] = {"low": where.low, "high": where.high, "share": where.share, "price": kept.price if kept else 0.0}
    if kept is not None:
        base["guaranteed"] = {"probability": kept.probability, "limit": kept.limit}
    if point.costs_ is not None:
        return {**base, "mode": "cost", "costs": {"fp": point.costs_.cost_fp, "fn": point.costs_.cost_fn}}
    return {**base, "limit": where.fpr if kept is None else kept.limit}


def _code(parcel: Parcel, rows: str | None) -> str:
    """Write Python that fits the same Parcel; the page puts the question where QUESTION stands."""
    homes = {
        ("fewer" if kind is Parcel else kind.__module__.partition("._")[0], kind.__name__)
        for kind in _classes_in(parcel)
    }
    lines = [f"from {home} import {name}" for home, name in sorted(homes)]
    fit = "fit_problem(problem)" if rows else "fit(X, y)"
    before = [*lines, *(["", rows] if rows else [""])]
    made = " ".join(BaseEstimator.__repr__(parcel, 10**9).split())
    asked = "classifier = parcel.operating_point(QUESTION)"
    return "\n".join([*before, f"parcel = {made}.{fit}", asked, "print(classifier.summary())"])


def _classes_in(value: Any) -> set[type]:
    """Return the classes of all estimators in a parameter."""
    if isinstance(value, list | tuple):
        return set().union(*(_classes_in(item) for item in value))
    if not isinstance(value, BaseEstimator):
        return set()
    return {type(value)}.union(*(_classes_in(item) for item in value.get_params(deep=False).values()))


def _guaranteed(parcel: Parcel, guarantee: float) -> dict[str, Any]:
    """Return what the page needs to keep limits and bounds on the cost with a probability.

    The bound on a cost is made of bounds of the two rates that know no costs, so that the page can choose for any.
    """
    mrroc = parcel.mrroc_
    n_negative, n_positive = (int(size) for size in mrroc.witnesses.sizes)
    sides = {
        "hull": (mrroc.hull.fpr, mrroc.hull.tpr, mrroc.sizes),
        "new": (*mrroc.witnesses.vertex_rates, (n_negative, n_positive)),
    }
    bounds = {
        name: [
            error_bounds((fp * sizes[0], (1 - tp) * sizes[1]), sizes, guarantee)
            for fp, tp in zip(fpr.tolist(), tpr.tolist(), strict=True)
        ]
        for name, (fpr, tpr, sizes) in sides.items()
    }
    return {"probability": guarantee, "points": _kept_points(parcel, guarantee), "bounds": bounds}


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
