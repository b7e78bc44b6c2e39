"""How kernels are compiled that mostly other kernels call, and how compiled ones outlive an upgrade."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from numba import njit
from numba.core.caching import IndexDataCacheFile


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for other kernels, without an entry for C, which takes time and nobody uses.

    The entry for Python stays: without it a call from Python would crash.

    Parameters
    ----------
    **options
        Further options of numba's.
    """
    return njit(nogil=True, cache=True, no_cfunc_wrapper=True, **options)


def forget_what_cannot_be_read() -> None:
    """Let numba compile again where its cache names classes that are gone.

    It unpickles the index of a function before it looks whether the source has changed, so a record that a new version
    has renamed would end in an AttributeError. Checked with numba 0.68; where the method has another name,
    nothing changes.
    """
    load = vars(IndexDataCacheFile).get("_load_index")
    if load is None or hasattr(load, "__wrapped__"):
        return

    @wraps(load)
    def load_what_can_be_read(self: Any) -> Any:
        try:
            return load(self)
        except (AttributeError, ImportError):
            return {}

    IndexDataCacheFile._load_index = load_what_can_be_read
