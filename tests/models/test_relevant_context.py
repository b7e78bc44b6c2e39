import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewer.models import RelevantContextClassifier
from fewer.models._neighborhood import distances_to


@parametrize_with_checks([RelevantContextClassifier()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def slow(Z, y, tolerance):
    """All distances anew after every try."""
    n, p = Z.shape
    masks, final = np.ones((n, p), dtype=bool), [sum(y == c) < 2 for c in y]

    def distance(i, e, mask):
        return sum((Z[i, f] - Z[e, f]) ** 2 for f in range(p) if mask[f])

    def n_right(masks):
        found = 0
        for i in range(n):
            nearest = min((e for e in range(n) if e != i), key=lambda e: (distance(i, e, masks[e]), e))
            found += y[nearest] == y[i]
        return found

    while not all(final):
        for e in range(n):
            if final[e]:
                continue
            same = [i for i in range(n) if i != e and y[i] == y[e]]
            friend = min(same, key=lambda i: (distance(i, e, masks[e]), i))
            tried = masks.copy()
            tried[e] = [m and abs(Z[e, f] - Z[friend, f]) <= tolerance for f, m in enumerate(masks[e])]
            if not tried[e].any() or (tried[e] == masks[e]).all() or n_right(tried) < n_right(masks):
                final[e] = True
            else:
                masks = tried
    return masks, n_right(masks) / n


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=18)
    X = rng.normal(size=(18, 4)) + y[:, None] * [1.0, 0.0, 0.5, 0.0]
    model = RelevantContextClassifier(0.6).fit(X, y)
    masks, accuracy = slow((X - X.mean(axis=0)) / X.std(axis=0), y, 0.6)
    np.testing.assert_array_equal(model.masks_, masks)
    assert model.accuracy_[1] == pytest.approx(accuracy)
    assert 0 < masks.mean() < 1


def test_distances_and_predictions_are_those_of_the_masks():
    rng = np.random.default_rng(4)
    rows, new = rng.normal(size=(12, 5)), rng.normal(size=(7, 5))
    masks = rng.random((12, 5)) < 0.6
    truth = [[((q - r)[m] ** 2).sum() for r, m in zip(rows, masks, strict=True)] for q in new]
    np.testing.assert_allclose(distances_to(new, rows, masks), truth, atol=1e-12)
    X, y = load_iris(return_X_y=True)
    # Nothing differs by a hundred standard deviations: plain nearest neighbors.
    plain = RelevantContextClassifier(100.0).fit(X[::2], y[::2])
    Z = (X - X[::2].mean(axis=0)) / X[::2].std(axis=0)
    truth = KNeighborsClassifier(1).fit(Z[::2], y[::2]).predict(Z[1::2])
    assert plain.masks_.all()
    assert np.mean(plain.predict(X[1::2]) == truth) > 0.98


def test_features_that_matter_in_one_region_are_kept_there():
    """The made problem of the docstring, other rows: better than one metric for all, and the regions are found."""
    gains, regions = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 10))
        X[:, 1] = np.where(np.arange(400) % 2, 4.0, -4.0)
        y = np.where(X[:, 1] < 0, X[:, 0] > 0, X[:, 2] > 0)
        model = RelevantContextClassifier().fit(X[:200], y[:200])
        plain = RelevantContextClassifier(100.0).fit(X[:200], y[:200])
        gains.append(model.score(X[200:], y[200:]) - plain.score(X[200:], y[200:]))
        low = X[:200, 1] < 0
        inside, outside = model.masks_[low].mean(axis=0), model.masks_[~low].mean(axis=0)
        regions.append([inside[0] - outside[0], outside[2] - inside[2]])
        assert {mask.tobytes() for mask in model.used_features(X[200:])} <= {m.tobytes() for m in model.masks_}
        assert model.accuracy_[1] >= model.accuracy_[0]
    assert np.mean(gains) > 0.02
    assert np.mean(regions, axis=0).min() > 0.03


def test_wrong_values_are_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="tolerance"):
        RelevantContextClassifier(-1.0).fit(X, y)


def test_the_layout_of_the_table_does_not_matter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)) + 1e7, rng.integers(0, 3, 200)
    one, other = (RelevantContextClassifier().fit(np.asarray(X, order=order), y) for order in "CF")
    assert (one._mean == other._mean).all()
    assert (one.predict(X) == other.predict(np.asfortranarray(X))).all()
