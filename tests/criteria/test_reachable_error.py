import numpy as np
import pytest
from scipy.stats import norm

from fewer.criteria import gamma_test, intrinsic_dimension, reachable_error
from fewer.problem import InputError


@pytest.mark.parametrize("distance", [0.5, 1.0, 2.0])
def test_the_best_error_of_two_normal_classes_lies_inside(distance):
    """Closed form: the best error is Φ(−d / 2)."""
    rng = np.random.default_rng(0)
    y = np.arange(6000) % 2
    X = rng.normal(size=(6000, 1)) + distance * y[:, None]
    low, high = reachable_error(gamma_test(X, y, n_neighbors=20, scaling="none").gamma)
    assert low - 0.01 <= norm.cdf(-distance / 2) <= high + 0.01
    assert high - low < 0.2


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_edges_are_attained(n_classes):
    """Labels without any relation: R = (K − 1) / K, and nothing is better; labels that repeat: no error."""
    most = (n_classes - 1) / n_classes
    assert reachable_error(most / 2, n_classes) == pytest.approx((most, most))
    assert reachable_error(0.0, n_classes) == (0.0, 0.0)
    assert reachable_error(-0.01) == (0.0, 0.0)
    # Equal noise everywhere (a share e goes to the other classes alike): the lower edge is e itself.
    e = 0.15
    rate = 1 - (1 - e) ** 2 - e**2 / (n_classes - 1)
    assert reachable_error(rate / 2, n_classes)[0] == pytest.approx(e)


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_rows_on_a_surface_know_its_dimension(dimension):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, dimension)) @ rng.normal(size=(dimension, 12))
    assert intrinsic_dimension(X) == pytest.approx(dimension, rel=0.1)
    assert intrinsic_dimension(np.repeat(X[:500], 2, axis=0)) == pytest.approx(dimension, rel=0.15)


def test_what_cannot_be_said():
    with pytest.raises(InputError, match="too few"):
        intrinsic_dimension(np.zeros((50, 3)))
    with pytest.raises(InputError, match="missing"):
        intrinsic_dimension([[np.nan], [1.0]])
    with pytest.raises(InputError, match="at least two classes"):
        reachable_error(0.1, 1)
