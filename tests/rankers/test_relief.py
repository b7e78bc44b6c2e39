import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from fewer.contracts import Resources
from fewer.problem import InputError, Problem
from fewer.rankers import SURF, MultiSURF, Relief, ReliefF, RReliefF

# Weights of skrebate 0.8.4.
SKREBATE_TWO_CLASSES = [
    0.112916512088048,
    0.05743230426329016,
    0.11252287685214515,
    0.10192090395480226,
    0.04804901046211872,
    0.06449251127898438,
]
SKREBATE_THREE_CLASSES = [0.12240684392156727, 0.35089835271755293, 0.35501823991253856]


def scores(ranker, X, y, n_jobs=1, seed=0, **options):
    problem = Problem.from_arrays(X, y, **options)
    return ranker.rank(problem, np.random.default_rng(seed), Resources(n_jobs=n_jobs)).scores


def all_differences(X, nominal=()):
    """(n, n, p) differences of cells, NaN where one is missing."""
    gaps = np.abs(X[:, None] - X[None])
    for f in range(X.shape[1]):
        if f in nominal:
            gaps[..., f] = np.where(np.isnan(gaps[..., f]), np.nan, gaps[..., f] != 0)
        else:
            gaps[..., f] /= np.nanmax(X[:, f]) - np.nanmin(X[:, f]) or 1.0
    return gaps


def neighbors(distance, i, allowed, k):
    rows = [j for j in np.flatnonzero(allowed) if j != i and np.isfinite(distance[i, j])]
    return sorted(rows, key=lambda j: (round(distance[i, j], 9), j))[:k]


def present_mean(gaps):
    seen = ~np.isnan(gaps)
    return np.where(seen.any(axis=0), np.nansum(gaps, axis=0) / np.maximum(seen.sum(axis=0), 1), 0.0)


def distances(gaps):
    with np.errstate(invalid="ignore"):
        return np.nansum(gaps, axis=2) / (~np.isnan(gaps)).sum(axis=2)


def slow_relieff(X, y, k, nominal=(), pooled=False, groups=None):
    gaps = all_differences(X, nominal)
    distance, total = distances(gaps), np.zeros(X.shape[1])
    distance[same_group(groups, len(y))] = np.inf
    shares = {c: np.mean(y == c) for c in np.unique(y)}
    for i in range(len(y)):
        total -= present_mean(gaps[i, neighbors(distance, i, y == y[i], k)])
        if pooled:
            total += present_mean(gaps[i, neighbors(distance, i, y != y[i], k)])
            continue
        for c in set(shares) - {y[i]}:
            part = present_mean(gaps[i, neighbors(distance, i, y == c, k)])
            total += shares[c] / (1 - shares[y[i]]) * part
    return total / len(y)


def same_group(groups, n):
    groups = np.arange(n) if groups is None else groups
    return groups[:, None] == groups


def slow_surf(X, y, groups, *, each):
    """SURF (one radius for all rows) or MultiSURF (one for each), of two classes."""
    gaps = all_differences(X)
    distance, apart, total = distances(gaps), ~same_group(groups, len(y)), np.zeros(X.shape[1])
    for i in range(len(y)):
        others = distance[i, apart[i]]
        near = apart[i] & (distance[i] < (others.mean() - others.std() / 2 if each else distance.mean()))
        for sign, kind in ((1, near & (y != y[i])), (-1, near & (y == y[i]))):
            total += sign * (gaps[i, kind].mean(axis=0) if kind.any() else 0.0)
    return total / len(y)


def slow_rrelieff(X, y, k, sigma=None, groups=None):
    gaps = all_differences(X)
    distance, apart = distances(gaps), np.abs(y[:, None] - y) / np.ptp(y)
    distance[same_group(groups, len(y))] = np.inf
    out = []
    for f in range(X.shape[1]):
        dc = da = both = whole = 0.0
        for i in range(len(y)):
            near = neighbors(distance, i, np.ones(len(y), bool), k)
            weights = np.array([1.0 if sigma is None else np.exp(-(((m + 1) / sigma) ** 2)) for m in range(len(near))])
            for j, weight in zip(near, weights / weights.sum(), strict=True):
                if not np.isnan(gaps[i, j, f]):
                    whole += weight
                    dc += weight * apart[i, j]
                    da += weight * gaps[i, j, f]
                    both += weight * apart[i, j] * gaps[i, j, f]
        out.append(both / dc - (da - both) / (whole - dc))
    return np.array(out)


@pytest.mark.parametrize("k", [1, 3, 10, 100])
def test_relieff_equals_the_slow_twin(k):
    X, y = load_wine(return_X_y=True)
    assert scores(ReliefF(k), X, y) == pytest.approx(slow_relieff(X, y, k), abs=1e-12)


def test_relieff_equals_scikit_rebate_on_two_classes():
    """On every 8th row and the first six columns of breast cancer, with 10 neighbors."""
    X, y = load_breast_cancer(return_X_y=True)
    assert scores(ReliefF(10), X[::8, :6], y[::8]) == pytest.approx(SKREBATE_TWO_CLASSES, abs=1e-9)


def test_relieff_equals_scikit_rebate_on_three_classes_of_equal_shares():
    """It gives the other classes equal weights whatever their shares. Noise parts equally near rows of iris."""
    X, y = load_iris(return_X_y=True)
    X = X[:, [0, 2, 3]] + 1e-3 * np.random.default_rng(0).random((150, 3))
    assert scores(ReliefF(5), X, y) == pytest.approx(SKREBATE_THREE_CLASSES, abs=1e-9)


def test_many_rows_and_columns_equal_the_slow_twin():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 41)), rng.integers(0, 2, 700)
    X[:, :3] += y[:, None]
    assert scores(ReliefF(7), X, y) == pytest.approx(slow_relieff(X, y, 7), abs=1e-12)


def test_ties_go_to_the_earlier_row_of_the_table():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, size=(300, 5)).astype(float), rng.integers(0, 3, 300)
    for k in (1, 3, 20):  # fewer than a class has stretches, and more
        assert scores(ReliefF(k), X, y) == pytest.approx(slow_relieff(X, y, k), abs=1e-12)
    assert scores(Relief(), X, y) == pytest.approx(slow_relieff(X, y, 1, pooled=True), abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0, 0.6), st.booleans())
def test_nominal_and_missing_cells_equal_the_slow_twin(seed, k, share, pooled):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 4)), rng.integers(0, 3, 25)
    X[:, 1], X[:, 3] = rng.integers(0, 3, 25), rng.integers(0, 2, 25)
    X[rng.random(X.shape) < share] = np.nan
    X[0], X[1] = [0, 0, 0, 0], [1, 1, 1, 1]
    kinds = ["numeric", "nominal", "numeric", "nominal"]
    ranker = Relief() if pooled else ReliefF(k)
    expected = slow_relieff(X, y, 1 if pooled else k, nominal=(1, 3), pooled=pooled)
    assert scores(ranker, X, y, kinds=kinds) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("sigma", [None, 4.0])
def test_rrelieff_equals_the_slow_twin(sigma):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2
    ours = scores(RReliefF(8, sigma), X, y, task="regression")
    assert ours == pytest.approx(slow_rrelieff(X, y, 8, sigma), abs=1e-12)
    assert np.argmax(ours) == 0
    X[rng.random(X.shape) < 0.2] = np.nan
    ours = scores(RReliefF(8, sigma), X, y, task="regression")
    assert ours == pytest.approx(slow_rrelieff(X, y, 8, sigma), abs=1e-12)


@pytest.mark.parametrize("holes", [False, True])
def test_rows_of_one_group_are_never_neighbors(holes):
    rng = np.random.default_rng(7)
    X, y, groups = rng.normal(size=(90, 4)), rng.integers(0, 2, 90), rng.integers(0, 30, 90)
    X[:, 0] += y
    X[45:] = X[:45] + 0.01 * rng.normal(size=(45, 4))  # near copies that would be everyone's neighbors
    groups[45:] = groups[:45]
    if holes:
        X[rng.random(X.shape) < 0.1] = np.nan
    for ranker, twin in (
        (ReliefF(5), slow_relieff(X, y, 5, groups=groups)),
        (Relief(), slow_relieff(X, y, 1, pooled=True, groups=groups)),
    ):
        assert scores(ranker, X, y, groups=groups) == pytest.approx(twin, abs=1e-12)
        assert scores(ranker, X, y) != pytest.approx(twin, abs=1e-3)
    target = np.nan_to_num(X[:, 0])
    ours = scores(RReliefF(5), X, target, task="regression", groups=groups)
    assert ours == pytest.approx(slow_rrelieff(X, target, 5, groups=groups), abs=1e-12)
    if not holes:
        for ranker in (SURF(), MultiSURF()):
            twin = slow_surf(X, y, groups, each=isinstance(ranker, MultiSURF))
            assert scores(ranker, X, y, groups=groups) == pytest.approx(twin, abs=1e-12)
            kinds = ["numeric", "numeric", "numeric", "nominal"]
            mixed = np.column_stack([X[:, :3], np.arange(90)])  # the kernel for nominal columns, one that never agrees
            plain = scores(ranker, mixed, y, groups=groups, kinds=kinds)[:3]
            assert np.isfinite(plain).all()


@pytest.mark.parametrize("ranker", [Relief(), ReliefF(), RReliefF(), SURF(), MultiSURF()])
def test_groups_that_leave_no_neighbor_are_refused(ranker):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    task = ranker.tasks[0]
    with pytest.raises(InputError, match=f"{type(ranker).__name__} .* rows are of one group"):
        scores(ranker, X, y, task=task, groups=np.zeros(30))
    if task == "classification":
        with pytest.raises(InputError, match="each class is one group"):
            scores(ranker, X, y, groups=y)


def test_threads_change_nothing():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(600, 9)), rng.integers(0, 3, 600)
    assert (scores(ReliefF(), X, y) == scores(ReliefF(), X, y, n_jobs=2)).all()
    assert (
        scores(RReliefF(), X, X[:, 0], task="regression") == scores(RReliefF(), X, X[:, 0], n_jobs=2, task="regression")
    ).all()


def test_names_of_classes_order_of_columns_and_units_do_not_matter():
    X, y = load_wine(return_X_y=True)
    expected = scores(ReliefF(), X, y)
    assert scores(ReliefF(), X, np.array(["z", "m", "a"])[y]) == pytest.approx(expected, abs=1e-12)
    assert scores(ReliefF(), X[:, ::-1], y) == pytest.approx(expected[::-1], abs=1e-12)
    assert scores(ReliefF(), 7.0 * X - 3.0, y) == pytest.approx(expected, abs=1e-12)


def test_what_cannot_tell_scores_nothing():
    X = np.column_stack([np.full(12, 3.0), np.arange(12) % 2, np.full(12, np.nan)])
    for ranker in (Relief(), ReliefF(50)):
        assert scores(ranker, X, np.arange(12) % 2).tolist() == [0.0, 1.0, 0.0]
    assert scores(ReliefF(), X, np.zeros(12)).tolist() == [0.0, 0.0, 0.0]
    assert scores(RReliefF(), X, np.zeros(12), task="regression").tolist() == [0.0, 0.0, 0.0]
    tiny = np.array([0] * 11 + [1])
    assert np.isfinite(scores(ReliefF(), np.random.default_rng(0).normal(size=(12, 3)), tiny)).all()


def test_a_sample_of_rows_comes_near_all_of_them():
    X, y = load_breast_cancer(return_X_y=True)
    some, everything = scores(ReliefF(n_rows=200), X, y), scores(ReliefF(), X, y)
    assert np.corrcoef(some, everything)[0, 1] > 0.95
    assert (some != everything).any()
    assert (some == scores(ReliefF(n_rows=200), X, y)).all()


def test_the_nine_features_of_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.argsort(-scores(ReliefF(), X, y))
    assert {23, 21, 28, 24, 8, 3, 1, 4, 7} <= set((order[:10] + 1).tolist())


@pytest.mark.parametrize("ranker", [ReliefF(0), ReliefF(2.5), ReliefF(n_rows=0), Relief(0)])
def test_numbers_below_one_are_refused(ranker):
    with pytest.raises(InputError, match="must be an int in the range \\[1, 1000000000\\]"):
        scores(ranker, np.random.default_rng(0).normal(size=(6, 2)), [0, 1] * 3)
    with pytest.raises(InputError, match="The 'sigma' parameter of RReliefF"):
        scores(RReliefF(sigma=0), np.ones((4, 1)), np.arange(4.0), task="regression")
