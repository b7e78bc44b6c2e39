"""Kernels on a GPU: CUDA C++ texts of this package, compiled through CuPy, which is imported only when asked for."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.errors import FewerWarning, InputError

THREADS = 256
"""Threads of a block, in every kernel."""

_TYPES = {
    "int": np.int32, "u32": np.uint32, "u64": np.uint64, "float": np.float32, "double": np.float64, "u8": np.uint8,
}  # fmt: skip


@cache
def text_of(name: str) -> str:
    """Return the text of a file of kernels."""
    return resources.files("fewer.kernels").joinpath("cuda", f"{name}.cu").read_text(encoding="utf-8")


@cache
def signature_of(name: str, kernel: str) -> tuple[tuple[Any, bool], ...]:
    """Return the type of each argument of a kernel, and whether it is an array, as its text says.

    Examples
    --------
    >>> signature_of("neighbors", "verdicts")[:2]
    ((<class 'numpy.float32'>, True), (<class 'numpy.float64'>, True))
    """
    found = re.search(r'extern "C" __global__[^(]*\([^)]*\)\s*' + kernel + r"\(([^)]*)\)", text_of(name))
    assert found is not None, f"no kernel {kernel} in {name}.cu"
    arguments = [argument.replace("const ", "").split() for argument in found.group(1).split(",")]
    return tuple((_TYPES[words[0]], "*" in words[1]) for words in arguments)


class Device(ABC):
    """Where kernels run. Arrays go there once and stay."""

    memory: int
    """Bytes that may be used for arrays."""

    @abstractmethod
    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device."""

    @abstractmethod
    def full(self, shape: Any, value: float, dtype: Any) -> Any:
        """Make an array on the device."""

    @abstractmethod
    def get(self, array: Any) -> NDArray[Any]:
        """Copy an array from the device."""

    @abstractmethod
    def call(self, function: Any, n_blocks: int, arguments: list[Any]) -> None:
        """Run a compiled kernel."""

    @abstractmethod
    def compile(self, name: str, kernel: str, defines: tuple[tuple[str, int], ...]) -> Any:
        """Compile a kernel."""

    def run(self, name: str, kernel: str, n_blocks: int, *arguments: Any, **defines: int) -> None:
        """Run a kernel of a file on so many blocks."""
        signature = signature_of(name, kernel)
        assert len(signature) == len(arguments), f"{kernel} takes {len(signature)} arguments"
        ready = [
            argument if is_array else dtype(argument)
            for argument, (dtype, is_array) in zip(arguments, signature, strict=True)
        ]
        if n_blocks > 0:
            self.call(self.compile(name, kernel, tuple(sorted(defines.items()))), n_blocks, ready)


class Cuda(Device):
    """A GPU of NVIDIA, through CuPy.

    Parameters
    ----------
    number : int, default=0
        Which one, if there are several.
    """

    def __init__(self, number: int = 0) -> None:
        import cupy

        self._cupy, self._device = cupy, cupy.cuda.Device(number)
        with self._device:
            free, _ = cupy.cuda.runtime.memGetInfo()
            self.memory = int(free * 0.8)
            properties = cupy.cuda.runtime.getDeviceProperties(number)
        self.name = properties["name"].decode()
        self._compiled: dict[Any, Any] = {}

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device."""
        with self._device:
            return self._cupy.asarray(np.ascontiguousarray(array))

    def full(self, shape: Any, value: float, dtype: Any) -> Any:
        """Make an array on the device."""
        with self._device:
            return self._cupy.full(shape, value, dtype=dtype)

    def get(self, array: Any) -> NDArray[Any]:
        """Copy an array from the device."""
        with self._device:
            return np.asarray(self._cupy.asnumpy(array))

    def compile(self, name: str, kernel: str, defines: tuple[tuple[str, int], ...]) -> Any:
        """Compile a kernel; CuPy remembers it on disk."""
        key = (name, kernel, defines)
        if key not in self._compiled:
            options = ("--std=c++17", "--fmad=false", *(f"-D{word}={value}" for word, value in defines))
            with self._device:
                module = self._cupy.RawModule(code=text_of(name), options=options)
                self._compiled[key] = module.get_function(kernel)
        return self._compiled[key]

    def call(self, function: Any, n_blocks: int, arguments: list[Any]) -> None:
        """Run a compiled kernel."""
        with self._device:
            function((n_blocks,), (THREADS,), tuple(arguments))


def device_named(name: str) -> Device | None:
    """Open a device: None for `"cpu"`; `"cuda"`, `"cuda:1"`; `"auto"` is a GPU if there is one, with a note if not.

    Examples
    --------
    >>> device_named("cpu") is None
    True
    """
    if name == "cpu":
        return None
    if re.fullmatch(r"auto|cuda(:\d+)?", name) is None:
        raise InputError(f"device={name!r} is not known; choose 'cpu', 'cuda', 'cuda:1' (the second GPU) or 'auto'.")
    try:
        return _opened(int(name.partition(":")[2] or 0))
    except InputError as problem:
        if name != "auto":
            raise
        warnings.warn(f"Working on the CPU: {problem}", FewerWarning, stacklevel=2)
        return None


@cache
def _opened(number: int) -> Device:
    try:
        return Cuda(number)
    except ImportError as error:
        raise InputError("device='cuda' needs CuPy: pip install 'fewer[cuda]'.") from error
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"device='cuda' found no usable GPU ({reason}); use device='cpu'.") from error
