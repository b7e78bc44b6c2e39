"""Parcel for the command line: what was found, as plain objects."""

from __future__ import annotations

from typing import Any

from fewer.problem import Problem
from fewer.roc._operating_point import OperatingPoint
from fewer.roc._parcel import Parcel


def fit_parcel(problem: Problem, seed: int | None = 0, **question: Any) -> tuple[Parcel, OperatingPoint]:
    """Fit a Parcel to a problem and go to the operating point that is asked for.

    Parameters
    ----------
    problem : Problem
        Several classes need a `pos_label`.
    seed : int
    **question
        What `Parcel.operating_point` takes, such as `max_fpr=0.1, guarantee=0.95`; equal costs if nothing is asked.
        Parameters of `Parcel`, such as `pos_label`, may be given too.

    Returns
    -------
    (Parcel, OperatingPoint)

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewer.io import to_problem
    >>> problem = to_problem(*load_breast_cancer(return_X_y=True, as_frame=True))
    >>> parcel, point = fit_parcel(problem, 0, cost_fn=5.0)
    >>> len(point.subsets_) <= 2
    True
    """
    own = Parcel().get_params(deep=False)
    settings = {key: question.pop(key) for key in list(question) if key in own}
    parcel = Parcel(**{"random_state": seed, **settings}).fit_problem(problem)
    parcel = parcel._detector(settings.get("pos_label"))
    asked = {key: value for key, value in question.items() if value is not None}
    if not set(asked) & {"max_fpr", "cost_fp", "cost_fn"}:
        asked["cost_fp"] = asked["cost_fn"] = 1.0
    return parcel, parcel.operating_point(**asked)


def parcel_selection(problem: Problem, seed: int | None = 0, **question: Any) -> dict[str, Any]:
    """Fit a Parcel to a problem and say what it found.

    Parameters
    ----------
    problem : Problem
    seed : int
    **question
        As for `fit_parcel`.

    Returns
    -------
    dict
        See `describe`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewer.io import to_problem
    >>> problem = to_problem(*load_breast_cancer(return_X_y=True, as_frame=True))
    >>> found = parcel_selection(problem, 0, max_fpr=0.1)
    >>> set(found["features"]) <= set(found["all_features"]), round(found["area"], 1)
    (True, 1.0)
    """
    return describe(*fit_parcel(problem, seed, **question))


def describe(parcel: Parcel, point: OperatingPoint) -> dict[str, Any]:
    """Say what a Parcel found, as plain objects.

    Parameters
    ----------
    parcel : Parcel
        Of two classes.
    point : OperatingPoint
        One of the Parcel's.

    Returns
    -------
    dict
        `features`: the columns that the operating point needs; `operating_point`: its rates; `all_features`: those that
        some vertex needs; `area` of the hull, `area_expected` of its line on calibration rows; `vertices`, `passes`,
        `n_evaluated`, `positive`, `prevalence`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewer.roc import Parcel
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> parcel = Parcel(max_passes=1, random_state=0).fit(X[:, :4], y)
    >>> sorted(describe(parcel, parcel.operating_point(max_fpr=0.1)))[:3]
    ['all_features', 'area', 'area_expected']
    """
    names = parcel.reader_.names
    return {
        "method": "parcel",
        "features": list(point.features_),
        "all_features": [name for name, used in zip(names, parcel.support_, strict=True) if used],
        "operating_point": point.to_json(),
        "summary": point.summary(),
        "area": parcel.hull_.area,
        "area_expected": parcel.area_,
        "positive": parcel.classes_[parcel.mrroc_.positive].item(),
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
