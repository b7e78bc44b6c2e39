import subprocess
import sys

from numba import njit

from fewer.kernels.compiling import inner


@inner()
def twice(x):
    return 2 * x


@njit
def four_times(x):
    return twice(twice(x))


def test_a_function_for_kernels_can_be_called_from_both_sides():
    assert four_times(3) == 12
    assert twice(3) == 6


RECORD = """
from typing import NamedTuple
from numba import njit
import fewer.kernels

class {name}(NamedTuple):
    x: float

@njit(cache=True)
def double(record):
    return 2 * record.x

print(double({name}(1.5)))
"""


def test_a_record_may_be_renamed_although_compiled_code_knows_it(tmp_path):
    for name in ("Before", "After", "After"):
        (tmp_path / "kernel.py").write_text(RECORD.format(name=name))
        (tmp_path / "run.py").write_text("import kernel")
        found = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True)
        assert found.stdout == "3.0\n", found.stderr
