import numpy as np

from fewer.kernels.bundles import Units


def test_units_lie_end_to_end():
    units = Units.of([np.array([3]), np.array([0, 2])])
    assert units.members.tolist() == [3, 0, 2]
    assert units.offsets.tolist() == [0, 1, 3]
    assert Units.of([]).offsets.tolist() == [0]
