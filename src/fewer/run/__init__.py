"""From a request to an answer: the plan, the run with its budget and folder, the selection. For `fewer.select`."""

import importlib
from typing import Any

__all__ = ["api", "budget", "folder", "planning", "request", "running", "selection", "streaming"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"fewer.run.{name}")
    raise AttributeError(f"module 'fewer.run' has no attribute {name!r}")
