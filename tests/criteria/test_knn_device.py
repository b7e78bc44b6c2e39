"""What runs without a device: when one is asked for, and that none is needed."""

import inspect

import numpy as np
import pytest

from fewer.contracts import Resources
from fewer.criteria import KNN
from fewer.criteria._knn_device import NeighborDevice
from fewer.errors import InputError
from making import make_problem


def test_a_device_that_is_not_there_is_refused_or_done_without():
    problem = make_problem()
    plain = KNN().bind(problem, np.random.default_rng(0), Resources())
    auto = KNN().bind(problem, np.random.default_rng(0), Resources(device="auto"))
    masks = np.eye(6, dtype=bool)
    assert np.array_equal(auto.score(masks), plain.score(masks))
    assert inspect.isclass(NeighborDevice)
    try:
        import cupy  # noqa: F401
    except ImportError:
        with pytest.raises(InputError, match=r"CuPy|GPU|CUDA|cuda"):
            KNN().bind(problem, np.random.default_rng(0), Resources(device="cuda")).score(masks)
