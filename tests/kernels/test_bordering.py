import numpy as np

from fewer.kernels import bordering as kernels


def test_two_products_in_one_pass_are_those_of_numpy():
    rng = np.random.default_rng(0)
    X, first, second = rng.normal(size=(11, 5)), rng.normal(size=11), rng.normal(size=11)
    means, out, other = X.mean(axis=0), np.empty(5), np.empty(5)
    kernels.multiply(X, means, first, second, out, other)
    np.testing.assert_allclose(out, first @ (X - means), atol=1e-12)
    np.testing.assert_allclose(other, second @ (X - means), atol=1e-12)


def test_the_first_pass_takes_means_squares_and_products():
    rng = np.random.default_rng(1)
    X, targets = rng.normal(size=(9, 4)) + 3.0, rng.normal(size=(2, 9))
    means, lengths, along = np.empty(4), np.empty(4), np.empty((2, 4))
    kernels.begin(X, means, targets, lengths, along, False)
    centered = X - X.mean(axis=0)
    np.testing.assert_allclose(means, X.mean(axis=0))
    np.testing.assert_allclose(lengths, (centered**2).sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(along, targets @ centered, atol=1e-10)
    kernels.begin(X, means, targets, lengths, along, True)
    assert not means.any()
    np.testing.assert_allclose(lengths, (X**2).sum(axis=0))
