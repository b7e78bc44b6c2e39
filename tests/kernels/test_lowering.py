"""Functions that mean the same in Python, as numba writes them, and as `fewer.kernels.lowering` does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numba.core.caching import NullCache
from numba.core.codegen import CPUCodeLibrary

from fewer.kernels.compiling import MAKES_PARTS, inner, kernel


def from_both_ends(rows, cube, flags, places, out):
    n, p = rows.shape
    for i in range(n):
        at, row = places[i], rows[i]
        out[i] = rows[at, -1] + row[p - 1 - i % p] - cube[at, i % 2][-1] + cube[-1, 0, i % cube.shape[2]]
        if flags[at]:
            out[i] *= -2
        flags[at] = i % 3 == 0


def assigned_on_some_ways(rows, cube, flags, places, out):
    total = 0.0
    for i in range(rows.shape[0]):
        at = places[i]
        if at < 0:
            at += rows.shape[0]
        if not flags[i]:
            continue
        kept = total
        for f in range(rows.shape[1]):
            value = rows[at, f]
            if value > 0.9:
                break
            total += value * (f + 1)
        else:
            total -= kept / 2
        while total > 1.0:
            half = total / 2
            total = half - rows[i, 0] * 0.1
        out[i], out[at] = total, out[i] + at
    out[0] += total


def swapped_and_narrowed(rows, cube, flags, places, out):
    n = np.uint64(rows.shape[0])
    first = rows[0]
    for i in range(n):
        j = n - np.uint64(1) - np.uint64(i)
        rows[i, 0], rows[j, 0] = rows[j, 0], rows[i, 0]
        places[i] = int(rows[i, 0] * 10) % 3
        first[0] += 0.5
        flags[i] = places[i]
        out[places[i]] = cube[np.int8(-1), np.uint8(1), places[i]] + i
    for i in range(2):
        plane = cube[i]
        line = plane[1]
        line[0] = plane[0, 0] + 1
        column = plane[:, 1]
        out[i] += column[1]
        out[i] += line.shape[0] + plane.shape[1] + line[0]


def copied(function, arrays):
    """Call a function with copies of some arrays; return what it leaves in them."""
    copies = [array.copy(order="K") for array in arrays]
    function(*copies)
    return copies


def compiled_here(function, counted):
    compiled = kernel(counted)(function)
    compiled._cache = NullCache()  # which would take one for the other
    return compiled


WRITTEN = [
    (function, [compiled_here(function, True), compiled_here(function, False)], njit(function))
    for function in (from_both_ends, assigned_on_some_ways, swapped_and_narrowed)
]


@pytest.mark.parametrize(("function", "ours", "numbas"), WRITTEN)
@settings(max_examples=25, deadline=None)
@given(n=st.integers(3, 7), p=st.integers(2, 4), order=st.sampled_from("CF"), seed=st.integers(0, 2**32 - 1))
def test_kernels_do_what_python_and_numba_do(function, ours, numbas, n, p, order, seed):
    rng = np.random.default_rng(seed)
    rows, cube, flags = rng.random((n, p)).copy(order=order), rng.random((n, 2, 3)), rng.random(n) < 0.5
    low = 0 if function is swapped_and_narrowed else -n  # where places are codes
    arrays = rows, cube, flags, rng.integers(low, 3, n), np.zeros(n)
    expected = copied(function, arrays)
    for compiled in (*ours, numbas):
        for one, other in zip(copied(compiled, arrays), expected, strict=True):
            np.testing.assert_array_equal(one, other)


@inner(counted=False)
def least_of(row, found):
    for i in range(row.shape[0]):
        if row[i] < found[0]:
            found[0], found[1] = row[i], i
    return found[1]


def test_rows_and_pairs_go_to_other_functions():
    @kernel(counted=False)
    def all_least(rows, found, out):
        for i in range(rows.shape[0]):
            found[0] = np.inf
            out[i] = least_of(rows[i], found)

    rows, out = np.random.default_rng(0).random((5, 4)), np.zeros(5)
    all_least(rows, np.zeros(2), out)
    np.testing.assert_array_equal(out, rows.argmin(axis=1))


@pytest.mark.skipif(not MAKES_PARTS, reason="other versions of numba write what they do")
@pytest.mark.parametrize("function", [from_both_ends, assigned_on_some_ways])
def test_fewer_instructions_are_written(monkeypatch, function):
    lines, add = {}, CPUCodeLibrary.add_ir_module

    def counted(self, module):
        lines[who].append(str(module).count("\n"))
        add(self, module)

    monkeypatch.setattr(CPUCodeLibrary, "add_ir_module", counted)
    for who, compiler in (("numba", njit), ("ours", inner(counted=False))):
        lines[who] = []
        compiler(function).compile("(float64[:, ::1], float64[:, :, ::1], boolean[::1], int64[::1], float64[::1])")
    assert max(lines["ours"]) < 0.6 * max(lines["numba"]), lines
