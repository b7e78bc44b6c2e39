import numpy as np
import pytest

from fewer.kernels._bordering import multiply


@pytest.mark.parametrize("n", [4, 7, 30])
def test_products_of_two_vectors_with_columns_about_their_means(n):
    rng = np.random.default_rng(0)
    X = np.ascontiguousarray(rng.normal(size=(n, 5)))
    means = X.mean(axis=0)
    first, second = rng.normal(size=(2, n))
    out, other = np.empty(5), np.empty(5)
    multiply(X, means, first, second, out, other)
    assert out == pytest.approx((X - means).T @ first)
    assert other == pytest.approx((X - means).T @ second)
