import numpy as np

from fewer.kernels.trees import random_trees

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


def slow_gains(X, target, weights, *, n_tried, leaf, seed):
    """What one tree's cuts gain, by whole arrays: the same draws, nothing shared between nodes."""
    state, inputs, gains = [(seed * 2654435761 + 88172645463325252) % 2**64], list(range(X.shape[1])), {}

    def draw():
        x = state[0]
        x ^= x >> 12
        x = (x ^ (x << 25)) % 2**64
        state[0] = x ^ (x >> 27)
        return state[0] * 2685821657736338717 % 2**64

    def side(part):
        w, t = weights[part], target[part]
        return ((w @ t) ** 2).sum() / w.sum()

    stack = [np.arange(len(X))]
    while stack:
        rows = stack.pop()
        middle = weights[rows] @ target[rows] / weights[rows].sum()
        if len(rows) < 2 * leaf or np.allclose(target[rows], middle):
            continue
        best, best_input, best_left, tried, last = 0.0, None, None, 0, len(inputs)
        while tried < n_tried and last:
            pick = (draw() >> 33) % last
            last -= 1
            f = inputs[pick]
            inputs[pick], inputs[last] = inputs[last], f
            values = X[rows, f]
            if values.max() <= values.min():
                continue
            tried += 1
            cut = values.min() + (draw() >> 11) / 2**53 * (values.max() - values.min())
            left = values <= cut
            gain = side(rows[left]) + side(rows[~left]) - side(rows)
            if gain > best:
                best, best_input, best_left = gain, f, left
        gains[best_input] = gains.get(best_input, 0.0) + best
        stack += [rows[best_left], rows[~best_left]]
    return np.array([gains.get(f, 0.0) for f in range(X.shape[1])])


def test_gains_are_those_of_a_slow_tree():
    for width in (1, 2, 3, 5):
        target = RNG.normal(size=(60, 1)) if width == 1 else np.eye(width)[RNG.integers(width, size=60)]
        _, gains = grown(target=target, leaf=5, seed=width)
        np.testing.assert_allclose(gains, slow_gains(X, target, WEIGHTS, n_tried=2, leaf=5, seed=width), rtol=1e-9)
