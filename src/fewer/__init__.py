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

import ast
import gc
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"


def undisturbed(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that makes much that stays: Python neither looks for garbage nor stops to get room for its calls.

    CPython keeps calls in pieces of 16 KB, and takes a piece from the system and gives it back whenever a call passes
    the end of the last one. Where many calls do, deep in a compiler, they take half again as long. A function that
    needs a large stack gets a large piece, and its calls have the rest: so this one claims to need one.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return function(*arguments)
    finally:
        if collecting:
            gc.enable()


undisturbed.__code__ = undisturbed.__code__.replace(co_stacksize=2**16)  # 512 KB of a piece of 1 MB


def on_demand(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose names are imported when they are first used.

    Where they are is read from the imports that its source has for type checkers alone.
    """
    spec: Any = sys.modules[package].__spec__
    nodes = [node for node in ast.walk(ast.parse(spec.loader.get_source(package))) if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: str(node.module) for node in nodes if node.module != package for alias in node.names}

    def load(name: str) -> Any:
        home = homes.get(name, f"{package}.{name}")
        if name not in homes and (name.startswith("__") or find_spec(home) is None):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = undisturbed(import_module, home)
        if name not in homes:
            return module
        vars(sys.modules[package])[name] = value = getattr(module, name)  # asked for once
        return value

    def names() -> list[str]:
        given = vars(sys.modules[package])
        return sorted([*given["__all__"], *(name for name in given if name.startswith("__"))])

    return load, names


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
    from fewer import streaming as streaming
    from fewer.contracts.trace import Trace
    from fewer.errors import FewerWarning, InputError
    from fewer.evaluate import Comparison
    from fewer.problem import Problem
    from fewer.roc import Parcel
    from fewer.run.api import alternatives, compare, select
    from fewer.run.selection import Selection
    from fewer.selectors import AutoSelector, FeatureWeighter, RankSelector, SubsetEnsemble, SubsetSelector
else:
    __getattr__, __dir__ = on_demand(__name__)
