"""Feature selection that people trust: the fewest features that carry the signal, and whether that helped.

Every method has three components, criterion × search × control:

>>> import fewer
>>> from sklearn.datasets import load_breast_cancer
>>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
>>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Forward(), random_state=0)
>>> selector.set_output(transform="pandas").fit_transform(X, y).shape
(569, 5)

Names are loaded when they are first used, so that `import fewer` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOMES = {
    "fewer.contracts.trace": ("Trace",),
    "fewer.errors": ("FewerWarning", "InputError"),
    "fewer.evaluate": ("Comparison",),
    "fewer.problem": ("Problem",),
    "fewer.roc": ("Parcel",),
    "fewer.run.api": ("alternatives", "compare", "select"),
    "fewer.run.selection": ("Selection",),
    "fewer.selectors": ("AutoSelector", "FeatureWeighter", "RankSelector", "SubsetEnsemble", "SubsetSelector"),
}

# Loaded when first used, as the public ones are, so that a command waits for nothing that it does not need.
_INTERNAL = ("io", "parallel", "registry", "report", "run", "streaming")

__all__ = [
    "AutoSelector",
    "Comparison",
    "FeatureWeighter",
    "FewerWarning",
    "InputError",
    "Parcel",
    "Problem",
    "RankSelector",
    "Selection",
    "SubsetEnsemble",
    "SubsetSelector",
    "Trace",
    "alternatives",
    "compare",
    "contracts",
    "control",
    "criteria",
    "datasets",
    "evaluate",
    "models",
    "plots",
    "rankers",
    "roc",
    "search",
    "select",
    "selectors",
    "validate",
]

if TYPE_CHECKING:
    from fewer import (
        contracts,
        control,
        criteria,
        datasets,
        evaluate,
        models,
        plots,
        rankers,
        roc,
        search,
        selectors,
        validate,
    )
    from fewer import report as report
    from fewer.contracts.trace import Trace
    from fewer.errors import FewerWarning, InputError
    from fewer.evaluate import Comparison
    from fewer.problem import Problem
    from fewer.roc import Parcel
    from fewer.run.api import alternatives, compare, select
    from fewer.run.selection import Selection
    from fewer.selectors import AutoSelector, FeatureWeighter, RankSelector, SubsetEnsemble, SubsetSelector


def __getattr__(name: str) -> Any:
    if home := next((module for module, names in _HOMES.items() if name in names), None):
        globals()[name] = getattr(importlib.import_module(home), name)  # asked for once
        return globals()[name]
    if name in (*__all__, *_INTERNAL):
        return importlib.import_module(f"fewer.{name}")
    raise AttributeError(f"module 'fewer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
