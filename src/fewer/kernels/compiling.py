"""How kernels are compiled that mostly other kernels call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for other kernels, without an entry for C, which takes time and nobody uses.

    The entry for Python stays: without it a call from Python would crash.

    Parameters
    ----------
    **options
        Further options of numba's.
    """
    return njit(nogil=True, cache=True, no_cfunc_wrapper=True, **options)
