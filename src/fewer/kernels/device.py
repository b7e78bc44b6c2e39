"""Kernels on a GPU: CUDA C++ texts of this package, compiled through CuPy, which is imported only when asked for."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fewer.errors import FewerWarning, InputError
from fewer.parallel import in_threads

# Threads of a block, in every kernel.
THREADS = 256
# Of the compiler: products that are meant to be fused say so.
OPTIONS = ("--std=c++17", "--fmad=false")

Result = TypeVar("Result")

_TYPES = {
    "int": np.int32, "u32": np.uint32, "u64": np.uint64, "float": np.float32, "double": np.float64, "u8": np.uint8,
}  # fmt: skip


@cache
def text_of(name: str) -> str:
    """Return the text of a file of kernels, after what all of them share."""
    folder = resources.files("fewer.kernels").joinpath("cuda")
    return "\n".join(folder.joinpath(file).read_text(encoding="utf-8") for file in ("common.cuh", f"{name}.cu"))


@cache
def signature_of(name: str, kernel: str) -> tuple[tuple[Any, bool], ...]:
    """Return the type of each argument of a kernel, and whether it is an array, as its text says.

    Examples
    --------
    >>> signature_of("neighbors", "verdicts")[:2]
    ((<class 'numpy.float32'>, True), (<class 'numpy.float64'>, True))
    """
    match = re.search(r'extern "C" __global__[^(]*\([^)]*\)\s*' + kernel + r"\(([^)]*)\)", text_of(name))
    assert match is not None, f"no kernel {kernel} in {name}.cu"
    arguments = [argument.replace("const ", "").split() for argument in match.group(1).split(",")]
    return tuple((_TYPES[words[0]], "*" in words[1]) for words in arguments)


class Device(ABC):
    """Where kernels run. Arrays go there once and stay."""

    memory: int
    """Bytes that may be used for arrays."""

    def capacity_for(self, n_bytes: int, of: int, what: str) -> int:
        """Return how many things of so many bytes fit into a part of the memory; one block of them must."""
        fit = int(of // max(n_bytes, 1))
        if fit < THREADS:
            raise InputError(
                f"The GPU has too little free memory ({self.memory / 1e9:.2g} GB) for {THREADS} {what}, "
                f"{n_bytes} bytes each; free some, or use device='cpu'."
            )
        return fit

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

    @contextmanager
    def _here(self) -> Iterator[None]:
        """Work on this GPU; what goes wrong there is one line."""
        try:
            with self._device:
                yield
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            raise InputError(
                f"The GPU ran out of memory ({error}); free some, ask for less at once, or use device='cpu'."
            ) from error
        except self._cupy.cuda.runtime.CUDARuntimeError as error:
            raise InputError(f"The GPU failed ({error}); use device='cpu'.") from error

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device."""
        with self._here():
            return self._cupy.asarray(np.ascontiguousarray(array))

    def full(self, shape: Any, value: float, dtype: Any) -> Any:
        """Make an array on the device."""
        with self._here():
            return self._cupy.full(shape, value, dtype=dtype)

    def get(self, array: Any) -> NDArray[Any]:
        """Copy an array from the device."""
        with self._here():
            return np.asarray(self._cupy.asnumpy(array))

    def compile(self, name: str, kernel: str, defines: tuple[tuple[str, int], ...]) -> Any:
        """Compile a kernel; CuPy remembers it on disk."""
        key = (name, kernel, defines)
        if key not in self._compiled:
            options = (*OPTIONS, *(f"-D{word}={value}" for word, value in defines))
            with self._device:
                module = self._cupy.RawModule(code=text_of(name), options=options)
                self._compiled[key] = module.get_function(kernel)
        return self._compiled[key]

    def call(self, function: Any, n_blocks: int, arguments: list[Any]) -> None:
        """Run a compiled kernel."""
        with self._here():
            function((n_blocks,), (THREADS,), tuple(arguments))


def on_devices(name: str, make: Callable[[Device], Result]) -> list[Result]:
    """Open devices and make something on each: none for `"cpu"`, all GPUs for `"cuda"`, the second for `"cuda:1"`.

    `"auto"` opens all GPUs there are; where there is none, the list is empty. A GPU that cannot be worked on, such as
    one with too little free memory, is a warning.

    Examples
    --------
    >>> on_devices("cpu", lambda device: device)
    []
    """
    if name == "cpu":
        return []
    if re.fullmatch(r"auto|cuda(:\d+)?", name) is None:
        raise InputError(f"device={name!r} is not known; choose 'cpu', 'cuda', 'cuda:1' (the second GPU) or 'auto'.")
    number = name.partition(":")[2]
    try:
        opened = [_opened(which) for which in ([int(number)] if number else range(_n_found()))]
    except InputError:
        if name != "auto":
            raise
        return []
    try:
        return [make(device) for device in opened]
    except InputError as problem:
        if name != "auto":
            raise
        warnings.warn(f"Working on the CPU: {problem}", FewerWarning, stacklevel=3)
        return []


def deal(workers: Sequence[Any], run: Callable[[Any, int, int], Result], n: int) -> list[Result]:
    """Deal out n things to workers on several devices, each a range of them, and return what `run` makes of each.

    Examples
    --------
    >>> deal(["one", "two"], lambda worker, low, high: (worker, low, high), 5)
    [('one', 0, 2), ('two', 2, 5)]
    """
    edges = [n * k // len(workers) for k in range(len(workers) + 1)]
    jobs = [job for job in zip(workers, edges, edges[1:], strict=False) if job[2] > job[1]]
    return in_threads(lambda job: run(*job), jobs, len(jobs))


def tell(device: str, component: str, why: str) -> None:
    """Say that a component works on the CPU where a GPU was asked for by name; `"auto"` leaves it to us."""
    if device.startswith("cuda"):
        warnings.warn(f"{component} runs on the CPU, not on the GPU: {why}.", FewerWarning, stacklevel=4)


@cache
def _n_found() -> int:
    """Count the GPUs; if nobody can say, one, whose opening then says why not."""
    try:
        import cupy

        return max(int(cupy.cuda.runtime.getDeviceCount()), 1)
    except Exception:
        return 1


@cache
def _opened(number: int) -> Device:
    try:
        return Cuda(number)
    except ImportError as error:
        raise InputError("device='cuda' needs CuPy: pip install 'fewer[cuda]'.") from error
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"device='cuda' found no usable GPU ({reason}); use device='cpu'.") from error
