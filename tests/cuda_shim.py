"""CUDA kernels on the CPU: their own text, compiled by g++ with a shim of the CUDA words it uses."""

import ctypes
import hashlib
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from fewer.kernels import _device
from fewer.kernels._device import Device, signature_of, text_of

SHIM = r"""
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <vector>
using std::min; using std::max;
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
static std::vector<char> stacks(256 << 16);
static bool ended[256];
static std::function<void()> body;
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
    names = ", ".join(f"a{i}" for i in range(len(kinds)))
    return f"""
extern "C" void run_{kernel}(int blocks, {given}) {{
  body = [=] {{ {kernel}({names}); }};
  for (int b = 0; b < blocks; b++) {{ blockIdx.x = b; run_block(THREADS); }}
}}
"""


@cache
def folder():
    return tempfile.TemporaryDirectory(prefix="fewer-shim-")


@cache
def library(name, defines, text):
    """Compile a text for the CPU."""
    kernels = re.findall(r'extern "C" __global__[^(]*\([^)]*\)\s*(\w+)\(', text)
    source = "".join(f"#define {word} {value}\n" for word, value in defines) + SHIM + text
    source += "".join(runner(name, kernel) for kernel in kernels)
    place = Path(folder().name) / hashlib.sha256(source.encode()).hexdigest()[:16]
    place.with_suffix(".cpp").write_text(source)
    command = ["g++", "-std=c++20", "-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([*command, str(place.with_suffix(".cpp")), "-o", str(place.with_suffix(".so"))], check=True)
    return ctypes.CDLL(str(place.with_suffix(".so")))


class Shim(Device):
    """A device that is this machine. `change` may plant a fault into the kernels' text."""

    memory = 1 << 28

    def __init__(self, change=lambda text: text, **defines):
        self._change, self._defines = change, tuple(defines.items())

    def put(self, array):
        return np.ascontiguousarray(array).copy()

    def full(self, shape, value, dtype):
        return np.full(shape, value, dtype=dtype)

    def get(self, array):
        return array

    def compile(self, name, kernel, defines):
        loaded = library(name, (*defines, *self._defines), self._change(text_of(name)))
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
        function(n_blocks, *ready)


def use(monkeypatch, device):
    """Let `device="cuda"` be this device."""
    monkeypatch.setattr(_device, "_opened", lambda number: device)
