"""Rules written a second time, slowly, and the public training rows where there are some."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score

from fewer.datasets import (
    load,
    make_corral,
    make_m_of_n,
    make_monk,
    make_nel_shifted,
    make_nel_surrounded,
    make_nel_three_features,
    make_rdg1,
    make_scott_bimodal,
)
from fewer.problem import InputError


def rule(number, row):
    if number == 1:
        return row[0] == row[1] or row[4] == "1"
    if number == 2:
        return list(row).count("1") == 2
    return (row[4] == "3" and row[3] == "1") or (row[4] != "4" and row[1] != "3")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_monk_by_its_rule_and_by_the_public_training_rows(number):
    X, y = make_monk(number)
    domain = list(product("123", "123", "12", "123", "1234", "12"))
    assert X.rows() == domain
    assert y.tolist() == [int(rule(number, row)) for row in domain]
    known = dict(zip(domain, y.tolist(), strict=True))
    public = load(f"monk{number}_train")
    wrong = sum(known[row] != label for row, label in zip(public.X.rows(), public.y.tolist(), strict=True))
    assert wrong == (6 if number == 3 else 0)


def test_monk_has_three_problems():
    with pytest.raises(InputError, match="Unknown MONK's problem 4; choose 1, 2 or 3."):
        make_monk(4)


def test_corral():
    X, y = make_corral()
    cells = X.to_numpy().astype(int)
    assert y.tolist() == [int((r[0] and r[1]) or (r[2] and r[3])) for r in cells]
    combinations, counts = np.unique(cells[:, :5], axis=0, return_counts=True)
    assert (len(combinations), set(counts)) == (32, {4})
    for combination in combinations:
        rows = (cells[:, :5] == combination).all(axis=1)
        assert (cells[rows, 5] == y[rows]).sum() == 3


def test_m_of_n():
    X, y = make_m_of_n()
    cells = X.to_numpy()
    assert len(np.unique(cells, axis=0)) == 1024
    assert y.tolist() == [int(sum(row[2:9]) >= 3) for row in cells.astype(int).tolist()]
    drawn, labels = make_m_of_n(2, [0, 1, 2], 5, n_rows=300, random_state=1)
    assert drawn.shape == (300, 5)
    assert labels.tolist() == [int(sum(row[:3]) >= 2) for row in drawn.to_numpy().astype(int).tolist()]
    assert drawn.equals(make_m_of_n(2, [0, 1, 2], 5, n_rows=300, random_state=1)[0])
    with pytest.raises(InputError):
        make_m_of_n(3, [0, 1], 30)


def test_nels_three_features():
    X, y = make_nel_three_features(2000)
    cells = X.to_numpy()
    means = np.array([cells[y == label].mean(axis=0) for label in (0, 1)])
    np.testing.assert_allclose(means[:, :2], [[0, 0], [3, 3]], atol=0.1)
    np.testing.assert_allclose(means[0, 2], means[1, 2], atol=0.5)
    assert cells[:, 2].min() >= cells[:, :2].min()
    assert cells[:, 2].max() <= cells[:, :2].max()
    # Almost linearly separable by the first two, hopeless by the third.
    assert LogisticRegression().fit(cells[:, :2], y).score(cells[:, :2], y) > 0.97
    assert LogisticRegression().fit(cells[:, 2:], y).score(cells[:, 2:], y) < 0.55


def test_nels_shifted_and_surrounded_classes():
    X, y = make_nel_shifted(2.0, 2000)
    difference = X.to_numpy()[y == 1].mean(axis=0) - X.to_numpy()[y == 0].mean(axis=0)
    np.testing.assert_allclose(difference, [2, 2], atol=0.1)
    X, y = make_nel_surrounded(2000)
    across = X["f1"].to_numpy()
    assert abs(across[y == 1].mean()) < 0.1
    assert abs(across[y == 2].mean()) < 0.2
    assert abs(np.abs(across[y == 2]).mean() - 4) < 0.1
    assert LogisticRegression().fit(X.to_numpy(), y).score(X.to_numpy(), y) < 0.7


def test_scotts_modes_alternate():
    X, y = make_scott_bimodal()
    x = X["x"].to_numpy()
    near = np.array([-3, -1, 1, 3])[np.abs(x[:, None] - [-3, -1, 1, 3]).argmin(axis=1)]
    # Half a spread of 1 lies two standard deviations away, so about 1 in 40 strays to each neighbor.
    assert (np.isin(near, [-1, 3]) == y).mean() > 0.95
    model = LinearRegression().fit(x[:, None], y)
    # The specification's numeric check gives 0.749.
    assert roc_auc_score(y, model.predict(x[:, None])) == pytest.approx(0.75, abs=0.01)


def test_rdg1_depends_on_relevant_features_alone():
    X, y, relevant = make_rdg1(random_state=3)
    assert X.shape == (200, 100)
    assert len(relevant) == 50
    assert set(np.unique(y)) == {0, 1}
    again = make_rdg1(random_state=3)
    assert X.equals(again[0])
    assert y.tolist() == again[1].tolist()
    assert y.tolist() != make_rdg1(random_state=4)[1].tolist()
    # The class is a function of the relevant cells: rows that agree on them agree on the class.
    X, y, relevant = make_rdg1(5000, 10, 6, max_literals=3, random_state=0)
    cells = X.to_numpy()[:, relevant]
    for row in np.unique(cells, axis=0):
        assert len(np.unique(y[(cells == row).all(axis=1)])) == 1
    with pytest.raises(InputError):
        make_rdg1(10, 5, 5)
