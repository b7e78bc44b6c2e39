"""How kernels are compiled, what they are made of, and how compiled ones outlive an upgrade.

Most of what a first use waits for is compilation. What Python calls is a `kernel`; what only kernels call is an `inner`
function, which needs no entry for Python, and is optimised and made machine code once, as a part of each kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numba
from numba import njit, types
from numba.core.caching import IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.event import Listener, register
from numba.core.registry import CPUDispatcher

from fewer import undisturbed

# Numba has no public way to leave a function to its callers; this was checked with these versions. With others, numba
# also compiles each inner function by itself: the same answers, and a first use takes an eighth longer.
MAKES_PARTS = numba.__version__.startswith("0.68.")

# No entry for C, which nobody uses, and no check of divisors: both take time to compile.
COMMON = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}


def kernel(counted: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that Python calls, and keep it on disk.

    Parameters
    ----------
    counted : bool, default=True
        Whether references to arrays are counted: up to a third of the time, where many arrays go to short functions.
        Functions that do not count them can neither make arrays nor return them.
    **options
        Further options of numba's.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        result = njit(cache=True, _nrt=counted, **COMMON, **options)(function)
        result.__class__ = Kernel
        return result

    return compiled


def inner(counted: bool = True, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function that only kernels call, without an entry for Python.

    Parameters
    ----------
    counted : bool, default=True
        As for `kernel`.
    **options
        Further options of numba's.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        how = {"pipeline_class": PartCompiler} if MAKES_PARTS else {"cache": True}
        result = njit(no_cpython_wrapper=True, _nrt=counted, **how, **COMMON, **options)(function)
        result.__class__ = Inner
        return result

    return compiled


class KernelPart(JITCodeLibrary):
    """Instructions that wait for the kernel that they become part of, which is optimised and compiled as a whole."""

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        return 0

    @property
    def codegen(self) -> KernelPart:
        """Who is told of constants of Python's."""
        return self

    def set_env(self, *_: Any) -> None:
        """Forget them: kernels have none."""


class PartCompiler(Compiler):
    """Numba's compiler, for a part."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Compile a function up to the instructions for LLVM."""
        self.state.library = KernelPart(self.state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)


class Kernel(CPUDispatcher):
    """A compiled function, which must not give away a reference that it has not counted."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Say what a call returns. Numba would compile a function once for a constant and once more for a variable."""
        plain = [types.unliteral(kind) if isinstance(kind, types.IntegerLiteral) else kind for kind in args]
        return super().get_call_template(plain, kws)

    def compile(self, signature: Any) -> Any:
        """Compile it for arguments of some types."""
        entry = undisturbed(super().compile, signature)
        models = self.targetdescr.target_context.data_model_manager
        returned = {compiled.signature.return_type for compiled in self.overloads.values()}
        if not self.targetoptions["_nrt"] and any(models[kind].contains_nrt_meminfo() for kind in returned):
            raise TypeError(f"{self.__name__}(counted=False) returns {returned}.")
        return entry


class Inner(Kernel):
    """A function for kernels. A call from Python, as in tests, compiles it once more, with an entry for Python."""

    def __call__(self, *args: Any) -> Any:
        """Return what it returns."""
        if "for_python" not in vars(self):
            self.for_python = njit(**COMMON)(self.py_func)
        return self.for_python(*args)


@inner(counted=False)
def copy(source, target):
    """Copy numbers to the first places of a target; `target[:] = source` compiles a check of shapes for a second."""
    for i in range(source.shape[0]):
        target[i] = source[i]


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


class FirstUse(Listener):
    """Says once that kernels are being compiled, where somebody waits."""

    announced = False

    def on_start(self, event: Any) -> None:
        """Print a line before the first kernel of ours that no cache has, in a terminal or a notebook."""
        from fewer.logs import is_watched  # not needed by kernels

        if not self.announced and event.data["dispatcher"].py_func.__module__.startswith("fewer.") and is_watched():
            self.announced = True
            clear = "\r\x1b[K" if sys.stderr.isatty() else ""
            print(f"{clear}fewer: first use, compiling; later runs start faster", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Say nothing more."""


FIRST_USE = FirstUse()
register("numba:compile", FIRST_USE)
