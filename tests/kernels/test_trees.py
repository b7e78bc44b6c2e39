import numpy as np

from fewer.kernels._trees import random_trees

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
TARGET = np.eye(3)[RNG.integers(3, size=60)]
WEIGHTS = RNG.uniform(0.5, 2.0, size=60)


def grown(X=X, target=TARGET, weights=WEIGHTS, **options):
    return random_trees(X, X, target, weights, **{"n_trees": 1, "n_tried": 2, "leaf": 1, "seed": 3, **options})


def test_what_the_cuts_gain_is_what_the_leaves_explain():
    for leaf in (1, 4, 10):
        outputs, gains = grown(leaf=leaf)
        middle = WEIGHTS @ TARGET / WEIGHTS.sum()
        total = WEIGHTS @ ((TARGET - middle) ** 2).sum(axis=1)
        left = WEIGHTS @ ((TARGET - outputs) ** 2).sum(axis=1)
        assert np.isclose(gains.sum(), total - left)
        assert leaf > 1 or np.isclose(left, 0.0)


def test_without_a_cut_the_weighted_mean_is_predicted():
    outputs, gains = grown(leaf=31)
    assert np.allclose(outputs, WEIGHTS @ TARGET / WEIGHTS.sum())
    assert not gains.any()
    outputs, gains = grown(np.ones((60, 2)))
    assert np.allclose(outputs, WEIGHTS @ TARGET / WEIGHTS.sum())


def test_two_values_are_cut_apart_exactly():
    x = (np.arange(60) % 2)[:, None].astype(float)
    y = x + RNG.normal(size=(60, 1))
    outputs, _ = random_trees(x, np.array([[0.0], [1.0]]), y, WEIGHTS, n_trees=5, n_tried=1, leaf=1, seed=0)
    expected = [np.average(y[x[:, 0] == value, 0], weights=WEIGHTS[x[:, 0] == value]) for value in (0, 1)]
    assert np.allclose(outputs[:, 0], expected)


def test_seeds_repeat_and_the_telling_input_gains_most():
    target = (X[:, [2]] > 0) * 1.0
    one, gains = grown(target=target, n_trees=40)
    again, _ = grown(target=target, n_trees=40)
    other, _ = grown(target=target, leaf=6, seed=4)
    more, _ = grown(target=target, leaf=6)
    assert np.array_equal(one, again)
    assert not np.array_equal(more, other)
    assert gains.argmax() == 2
