"""CUDA kernels on the CPU: their own text, compiled by g++ with a shim of the CUDA words it uses."""

import ctypes
import hashlib
import platform
import re
import shutil
import subprocess
import tempfile
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fewer.kernels import device
from fewer.kernels.device import Device, signature_of, text_of

needs_gcc = pytest.mark.skipif(
    shutil.which("g++") is None or platform.machine() != "x86_64", reason="g++ compiles the kernels for the CPU"
)
ONE_AT_A_TIME = threading.Lock()
SHIM = r"""
#include <math.h>
#include <stddef.h>
#include <string.h>
template <class T> static T min(T a, T b) { return b < a ? b : a; }  // small headers: each fault is a compilation
template <class T> static T max(T a, T b) { return a < b ? b : a; }
struct int4 { int x, y, z, w; };
struct alignas(16) float4 { float x, y, z, w; };
struct Index { unsigned x; };
static Index threadIdx, blockIdx;
// The threads of a block take turns: each runs to its next barrier, forwards in one round and backwards in the next,
// so that what one writes and another reads without a barrier between them is seen in the wrong order.
static void *home, *own[256];
extern "C" void swap_stacks(void **from, void *to);
asm(".globl swap_stacks\nswap_stacks:\npushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n");
static char stacks[256 << 16];
static bool ended[256];
static void (*body)();
static void __syncthreads() { swap_stacks(&own[threadIdx.x], home); }
static int votes[2], turn[256];
static int __syncthreads_or(int v) {  // two vote boxes in turn
  int me = turn[threadIdx.x]++ & 1;
  votes[me] |= v; __syncthreads(); int r = votes[me]; __syncthreads(); votes[me] = 0; __syncthreads();
  return r; }
static void enter() { body(); ended[threadIdx.x] = true; swap_stacks(&own[threadIdx.x], home); }
static void run_block(int n_threads) {
  for (int t = 0; t < n_threads; t++) {
    ended[t] = false; turn[t] = 0;
    void **top = (void **)(((size_t)&stacks[(size_t)t << 16] + (1 << 16)) & ~(size_t)63) - 1;
    top[-1] = (void *)enter;  // where the first switch returns to
    own[t] = top - 7; }
  bool busy = true;
  for (int round = 0; busy; round++) {
    busy = false;
    for (int s = 0; s < n_threads; s++) {
      int t = round % 2 ? n_threads - 1 - s : s;
      if (ended[t]) continue;
      busy = true; threadIdx.x = t; swap_stacks(&home, own[t]); } } }
static unsigned atomicAdd(unsigned *p, unsigned v) { unsigned old = *p; *p += v; return old; }
static void atomicAdd(double *p, double v) { *p += v; }
static void atomicMin(int *p, int v) { *p = min(*p, v); }
static int __float_as_int(float x) { int i; memcpy(&i, &x, 4); return i; }
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
"""
C_TYPES = {
    np.int32: ("int", ctypes.c_int32), np.uint32: ("u32", ctypes.c_uint32), np.uint64: ("u64", ctypes.c_uint64),
    np.float32: ("float", ctypes.c_float), np.float64: ("double", ctypes.c_double), np.uint8: ("u8", ctypes.c_uint8),
}  # fmt: skip


def runner(name, kernel):
    """Write a C function that runs a kernel block by block."""
    kinds = [C_TYPES[dtype][0] + ("*" if is_array else "") for dtype, is_array in signature_of(name, kernel)]
    given = ", ".join(f"{kind} a{i}" for i, kind in enumerate(kinds))
    kept = "".join(f"static {kind} {kernel}_{i};\n" for i, kind in enumerate(kinds))
    keep = "".join(f"{kernel}_{i} = a{i}; " for i in range(len(kinds)))
    names = ", ".join(f"{kernel}_{i}" for i in range(len(kinds)))
    return f"""
{kept}static void once_{kernel}() {{ {kernel}({names}); }}
extern "C" void run_{kernel}(int blocks, {given}) {{
  {keep}
  body = once_{kernel};
  for (int b = 0; b < blocks; b++) {{ blockIdx.x = b; run_block(THREADS); }}
}}
"""


@cache
def folder():
    return tempfile.TemporaryDirectory(prefix="fewer-shim-")


def alone(text, kernel):
    """Leave the other kernels out, so that a fault in one of them compiles that one alone."""
    return re.sub(
        r'extern "C" __global__[^(]*\([^)]*\)\s*(\w+)\(.*?\n}\n',
        lambda found: found.group(0) if found.group(1) == kernel else "",
        text,
        flags=re.DOTALL,
    )


@cache
def library(name, kernel, defines, text):
    """Compile a text with one kernel for the CPU."""
    source = "".join(f"#define {word} {value}\n" for word, value in defines) + SHIM + text + runner(name, kernel)
    place = Path(folder().name) / hashlib.sha256(source.encode()).hexdigest()[:16]
    place.with_suffix(".cpp").write_text(source)
    command = ["g++", "-std=c++20", "-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([*command, str(place.with_suffix(".cpp")), "-o", str(place.with_suffix(".so"))], check=True)
    return ctypes.CDLL(str(place.with_suffix(".so")))


def planted(before, after):
    """Return a change of a text that puts a fault into it."""

    def change(text):
        assert before in text
        return text.replace(before, after, 1)

    return change


class Shim(Device):
    """A device that is this machine. `change` may plant a fault into the kernels' text."""

    def __init__(self, change=lambda text: text, memory=1 << 28, **defines):
        self._change, self._defines, self.memory = change, tuple(defines.items()), memory

    def put(self, array):
        return self._kept(np.ascontiguousarray(array).copy())

    def full(self, shape, value, dtype):
        return self._kept(np.full(shape, value, dtype=dtype))

    def _kept(self, array):
        assert array.nbytes <= self.memory, f"{array.nbytes} bytes at once on a device that has {self.memory}"
        return array

    def get(self, array):
        return array

    def compile(self, name, kernel, defines):
        with ONE_AT_A_TIME:
            text = alone(self._change(text_of(name)), kernel)
            used = [(word, value) for word, value in (*defines, *self._defines) if re.search(rf"\b{word}\b", text)]
            loaded = library(name, kernel, tuple(used), text)
        function = getattr(loaded, f"run_{kernel}")
        function.argtypes = [
            ctypes.c_int,
            *(ctypes.c_void_p if is_array else C_TYPES[dtype][1] for dtype, is_array in signature_of(name, kernel)),
        ]
        function.signature = signature_of(name, kernel)
        return function

    def call(self, function, n_blocks, arguments):
        ready = []
        for argument, (dtype, is_array) in zip(arguments, function.signature, strict=True):
            if is_array:
                assert argument.flags.c_contiguous
                assert argument.dtype.itemsize == np.dtype(dtype).itemsize, (argument.dtype, dtype)
                ready.append(argument.ctypes.data)
            else:
                ready.append(argument.item())
        with ONE_AT_A_TIME:  # blocks and threads are global variables of the shim
            function(n_blocks, *ready)


def use(monkeypatch, *devices):
    """Let `device="cuda"` be this device, or these several."""
    monkeypatch.setattr(device, "_opened", lambda number: devices[number])
    monkeypatch.setattr(device, "_n_found", lambda: len(devices))
