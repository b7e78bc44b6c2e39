"""The Python script that repeats a run: imports, reading, every option that was not left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from fewer.budget import Budget
from fewer.evaluate import HeldOutScores
from fewer.planning import Plan

PUBLIC = ("fewer.criteria", "fewer.search", "fewer.control", "fewer.rankers", "fewer.models")


def script_for(plan: Plan, outcome: HeldOutScores | None = None) -> str:
    """Write the script that repeats a run.

    Parameters
    ----------
    plan : Plan
        `reading` holds the lines that read the table into `problem`; without them the script expects X and y.
    outcome : HeldOutScores, optional
        Tells how many folds a budget had room for.

    Returns
    -------
    str
        Python source; the same features come out of it.
    """
    request, options = plan.request, plan.request.changed()
    options.pop("method", None)
    options["random_state"] = options.pop("seed", 0)
    if plan.budget is not None:
        options["budget"] = plan.budget
        if outcome is not None and isinstance(request.cv, int) and outcome.n_folds < request.cv:
            options["cv"] = request.cv
    arguments = [repr(request.method)] if request.method != "auto" else []
    arguments += [f"{name}={_source(value)}" for name, value in options.items()]
    imports = sorted({line for value in options.values() for line in _imports(value)})
    if plan.reading:
        call = f"selection = fewer.api.select_problem(problem, {', '.join(arguments)})"
        reading = plan.reading
    else:
        call = f"selection = fewer.select(X, y, {', '.join([*arguments, *_row_arguments(plan)])})"
        reading = "# X, y: your table and its target, as they were given"
    return "\n".join([*imports, "import fewer", "", reading, call, "print(selection)"])


def _row_arguments(plan: Plan) -> list[str]:
    return [f"{name}={name}" for name in plan.rows]


def _source(value: Any) -> str:
    if isinstance(value, Budget):
        return value.source
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, BaseEstimator):
        return " ".join(value.__repr__(N_CHAR_MAX=10**6).split())
    return repr(value)


def _imports(value: Any) -> list[str]:
    """Return the import lines that the source of a value needs."""
    if isinstance(value, Budget):
        return ["from fewer.budget import Budget"] if value.n_subsets is None else []
    if not isinstance(value, BaseEstimator):
        parts = value if isinstance(value, list | tuple) else ()
        return [line for part in parts for line in _imports(part)]
    own = type(value)
    package = next((name for name in PUBLIC if own.__module__.startswith(name + ".")), None)
    module = package or ".".join(part for part in own.__module__.split(".") if not part.startswith("_"))
    inner = [line for part in value.get_params(deep=False).values() for line in _imports(part)]
    return [f"from {module} import {own.__name__}", *inner]
