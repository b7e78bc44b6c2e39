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
