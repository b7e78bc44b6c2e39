import numpy as np
import pytest

from fewer.kernels.information import impurity_with


def test_it_is_what_a_split_by_both_columns_takes_from_the_gini_impurity():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (4, 60)).astype(np.int32)
    other, target = rng.integers(0, 2, 60).astype(np.int32), rng.integers(0, 3, 60).astype(np.int32)
    weights = rng.random(60)
    out = np.zeros(4)
    impurity_with((1, 4), (codes, np.full(4, 3)), (other, 2), (target, 3), weights, out)

    def impurity(rows):
        shares = np.array([weights[rows & (target == c)].sum() for c in range(3)]) / weights[rows].sum()
        return 1 - (shares**2).sum()

    everyone = np.ones(60, dtype=bool)
    for f in range(1, 4):
        left = 0.0
        for a in range(3):
            for b in range(2):
                rows = (codes[f] == a) & (other == b)
                if rows.any():
                    left += weights[rows].sum() / weights.sum() * impurity(rows)
        assert out[f] == pytest.approx(impurity(everyone) - left)
    assert out[0] == 0
