"""How kernels are compiled, what they are made of, and how compiled ones outlive an upgrade.

Most of what a first use waits for is compilation. What Python calls is a `kernel`; what only kernels call is an `inner`
function, which needs no entry for Python, and is optimised and made machine code once, as a part of each kernel.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numba
from numba import njit, types
from numba.core.caching import IndexDataCacheFile
from numba.core.event import Listener, register
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing.templates import _OverloadFunctionTemplate

from fewer import undisturbed

# Numba has no public way to leave a function to its callers, or to write fewer instructions; this was checked with
# these versions. Others compile each function by itself, as numba does: the same answers, and a longer first use.
MAKES_PARTS = numba.__version__.startswith("0.68.")
if MAKES_PARTS:
    from fewer.kernels.lowering import BriefCompiler, PartCompiler

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
        how = {"pipeline_class": BriefCompiler} if MAKES_PARTS else {}
        result = njit(_nrt=counted, **how, **COMMON, **options)(function)
        result.__class__ = Kernel
        result.enable_caching()
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
        how = {"pipeline_class": PartCompiler} if MAKES_PARTS else {}
        result = njit(no_cpython_wrapper=True, _nrt=counted, **how, **COMMON, **options)(function)
        result.__class__ = Inner
        return result

    return compiled


class KernelFile(IndexDataCacheFile):
    """Where the machine code of a kernel is kept. What cannot be read or written is compiled anew, not an error.

    Numba unpickles the index of a function before it looks whether the source has changed, so a record that a new
    version has renamed would end in an AttributeError.
    """

    def load(self, key: Any) -> Any:
        """Return the code for arguments of some types, or None."""
        try:
            return super().load(key)
        except Exception:  # whatever half a file, or pickles of another version, lead to
            with suppress(OSError):
                self.flush()
            return None

    def save(self, key: Any, data: Any) -> None:
        """Keep the code, unless the disk is full or the folder is gone."""
        with suppress(OSError):
            super().save(key, data)


@cache
def stamp() -> bytes:
    """Tell the sources of all kernels apart from those of other versions.

    A kernel holds functions of other modules, whose changes numba, which looks at its own module alone, does not see.
    """
    sources = sorted(file.name for file in files(__package__).iterdir() if file.name.endswith(".py"))
    return sha256(b"".join(files(__package__).joinpath(name).read_bytes() for name in sources)).digest()


class Kernel(CPUDispatcher):
    """A compiled function, which must not give away a reference that it has not counted."""

    def enable_caching(self) -> None:
        """Keep it on disk where there is a folder to write to; else every process compiles for itself."""
        with suppress(RuntimeError):
            super().enable_caching()
            file = self._cache._cache_file
            file.__class__, file._source_stamp = KernelFile, (file._source_stamp, stamp())

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


@cache
def look_among_arrays_first() -> None:
    """Have numba ask what an index means for arrays before it asks for lists and texts: a twelfth of the time."""
    context = cpu_target.typing_context
    context.refresh()
    for operation in (operator.getitem, operator.setitem):
        asked: Any = context.resolve_value_type(operation)
        asked.templates = tuple(sorted(asked.templates, key=lambda one: issubclass(one, _OverloadFunctionTemplate)))


class FirstUse(Listener):
    """Says once that kernels are being compiled, where somebody waits."""

    announced = False

    def on_start(self, event: Any) -> None:
        """Print a line before the first kernel of ours that no cache has, in a terminal or a notebook."""
        from fewer.logs import is_watched  # not needed by kernels

        kernel = event.data["dispatcher"]
        if not isinstance(kernel, Kernel):
            return
        if MAKES_PARTS:
            look_among_arrays_first()
        if not self.announced and is_watched():
            self.announced = True
            clear = "\r\x1b[K" if sys.stderr.isatty() else ""
            text = "first use, compiling; later runs start faster"
            if kernel._cache.cache_path is None:
                text = "compiling; with NUMBA_CACHE_DIR set to a folder that can be written to, later runs start faster"
            print(f"{clear}fewer: {text}", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Say nothing more."""


FIRST_USE = FirstUse()
register("numba:compile", FIRST_USE)
