"""Parcel for the command line: what was found, as plain objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fewer.problem import Problem
from fewer.roc._page import write_hull_page
from fewer.roc._parcel import Parcel


def parcel_selection(
    problem: Problem,
    seed: int | None = 0,
    *,
    page: Path | str | None = None,
    title: str = "Choose an operating point",
    command: str | None = None,
    **question: Any,
) -> dict[str, Any]:
    """Fit a Parcel to a problem and say what it found.

    Parameters
    ----------
    problem : Problem
        Two classes.
    seed : int
    page : path, optional
        Where to write the page with the sliders; `title` and `command` are for it.
    **question
        What `Parcel.operating_point` takes, such as `max_fpr=0.1, guarantee=0.95`; equal costs if nothing is asked.
        Parameters of `Parcel`, such as `pos_label`, may be given too.

    Returns
    -------
    dict
        `features`: the columns that the operating point needs; `operating_point`: its rates; `all_features`: those that
        some vertex needs; `area`, `vertices`, `passes`, `n_evaluated`, `positive`, `prevalence`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewer.io import to_problem
    >>> problem = to_problem(*load_breast_cancer(return_X_y=True, as_frame=True))
    >>> found = parcel_selection(problem, 0, max_fpr=0.1)
    >>> set(found["features"]) <= set(found["all_features"]), round(found["area"], 2)
    (True, 1.0)
    """
    own = Parcel().get_params(deep=False)
    settings = {key: question.pop(key) for key in list(question) if key in own}
    parcel = Parcel(**{"random_state": seed, **settings}).fit_problem(problem)
    asked = {key: value for key, value in question.items() if value is not None}
    point = parcel.operating_point(**(asked or {"cost_fp": 1.0, "cost_fn": 1.0}))
    if page is not None:
        write_hull_page(parcel, page, title=title, command=command)
    return {
        "method": "parcel",
        "features": list(point.features_),
        "all_features": [name for name, used in zip(problem.names, parcel.support_, strict=True) if used],
        "operating_point": point.to_json(),
        "summary": point.summary(),
        "area": parcel.hull_.area,
        "positive": parcel.classes_[parcel._positive].item(),
        "prevalence": parcel.prevalence_,
        "n_evaluated": parcel.n_evaluated_,
        "vertices": [
            {"algorithm": v.algorithm, "features": list(v.names), "threshold": v.threshold if v.features else None,
             "fpr": v.fpr, "tpr": v.tpr}
            for v in parcel.vertices_
        ],
        "passes": [
            {"n_evaluated": s.n_evaluated, "area": s.area, "z": s.z, "significant": s.significant}
            for s in parcel.passes_
        ],
    }  # fmt: skip
