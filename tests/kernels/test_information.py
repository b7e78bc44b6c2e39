import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from fewer.kernels.information import information_with


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 50), levels=st.integers(1, 6), classes=st.integers(1, 4))
def test_it_is_scikit_learns_and_weights_repeat_rows(seed, n, levels, classes):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (3, n)).astype(np.int32)
    target = rng.integers(0, classes, n).astype(np.int32)
    weights = rng.integers(1, 4, n)
    out = np.zeros(3)
    information_with(0, 3, codes, np.full(3, levels), target, classes, weights.astype(float), out)
    again = np.repeat(np.arange(n), weights)
    truth = [mutual_info_score(codes[f][again], target[again]) for f in range(3)]
    assert out == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 47, 256, 257])
def test_few_rows_that_count_once_are_as_many_rows(n):
    rng = np.random.default_rng(n)
    levels = np.array([1, 2, 7, 10, 10])
    codes = np.array([rng.integers(0, most, n) for most in levels], dtype=np.int32)
    target = rng.integers(0, 4, n).astype(np.int32)
    out = np.zeros(5)
    information_with(0, 5, codes, levels, target, 5, np.ones(n), out)
    truth = [mutual_info_score(code, target) for code in codes]
    assert out == pytest.approx(truth, abs=1e-12)
    again = np.zeros(5)
    information_with(0, 5, codes, levels, target, 5, np.full(n, 2.0), again)
    assert again == pytest.approx(out, abs=1e-14)


def test_only_the_features_asked_for_are_written():
    out = np.full(3, -1.0)
    codes = np.array([[0, 1, 0, 1]] * 3, dtype=np.int32)
    information_with(1, 2, codes, np.full(3, 2), np.array([0, 1, 0, 1], dtype=np.int32), 2, np.ones(4), out)
    assert out == pytest.approx([-1.0, np.log(2), -1.0])
