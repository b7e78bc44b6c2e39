import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.contracts import Resources
from fewer.criteria import Separability
from fewer.problem import InputError, Problem

MEASURES = ("mahalanobis", "bhattacharyya", "scatter")


def bind(problem, *words, **kwargs):
    return Separability(*words, **kwargs).bind(problem, np.random.default_rng(0), Resources())


def two_classes(seed=0, n=80, p=4, n_classes=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + np.outer(y, rng.normal(size=p))
    return X, y


def test_the_formulas():
    X, y = two_classes()
    mask = np.array([[True, False, True, True]])
    a, b = X[y == 0][:, mask[0]], X[y == 1][:, mask[0]]
    gap = a.mean(axis=0) - b.mean(axis=0)
    cov_a, cov_b = np.cov(a.T, bias=True), np.cov(b.T, bias=True)
    pooled = (cov_a + cov_b) / 2
    distance = gap @ np.linalg.inv(pooled) @ gap
    problem = Problem.from_arrays(X, y)
    assert bind(problem, "mahalanobis", 0.0).score(mask)[0] == pytest.approx(distance)
    assert bind(problem, "scatter", 0.0).score(mask)[0] == pytest.approx(distance / 4)
    chaos = np.log(np.linalg.det(pooled) / np.sqrt(np.linalg.det(cov_a) * np.linalg.det(cov_b))) / 2
    assert bind(problem, "bhattacharyya", 0.0).score(mask)[0] == pytest.approx(distance / 8 + chaos)


def test_bhattacharyya_of_two_normals_by_integration():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 1, 4000), rng.normal(2, 1.5, 4000)
    problem = Problem.from_arrays(np.concatenate([a, b])[:, None], np.repeat([0, 1], 4000))
    grid = np.linspace(-15, 20, 200_001)
    density = [np.exp(-0.5 * ((grid - x.mean()) / x.std()) ** 2) / (x.std() * np.sqrt(2 * np.pi)) for x in (a, b)]
    truth = -np.log(np.sqrt(density[0] * density[1]).sum() * (grid[1] - grid[0]))
    assert bind(problem, "bhattacharyya", 0.0).score(np.array([[True]]))[0] == pytest.approx(truth, rel=1e-6)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), measure=st.sampled_from(MEASURES), n_classes=st.integers(2, 4))
def test_adding_a_feature_never_lowers_it(seed, measure, n_classes):
    X, y = two_classes(seed, n=30, p=6, n_classes=n_classes)
    X[:, 5] = X[:, 0] + X[:, 1]
    scorer = bind(Problem.from_arrays(X, y), measure)
    rng = np.random.default_rng(seed)
    small = rng.random((20, 6)) < 0.4
    large = small | (rng.random((20, 6)) < 0.4)
    low, high = scorer.score(small), scorer.score(large)
    assert np.all(high >= low - 1e-9 * np.abs(low))


@pytest.mark.parametrize("measure", MEASURES)
def test_strings_holes_weights_and_lonely_classes_give_numbers(measure):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 4))
    X[:, 1] = rng.integers(0, 3, 40)
    X[rng.random((40, 4)) < 0.2] = np.nan
    X[:, 3] = 1.0
    y = np.array(["a"] * 19 + ["b"] * 20 + ["c"])
    weights = rng.random(40)
    problem = Problem.from_arrays(X, y, kinds=("numeric", "nominal", "numeric", "numeric"), sample_weight=weights)
    masks = np.array([[bool(code >> f & 1) for f in range(4)] for code in range(16)])
    scores = bind(problem, measure).score(masks)
    assert np.isfinite(scores).all()
    assert scores[0] == 0.0


def test_row_weights_count_as_repeated_rows():
    X, y = two_classes(n=20)
    weights = np.arange(20) % 3 + 1
    repeated = np.repeat(np.arange(20), weights)
    masks = np.array([[True, True, False, False], [True, True, True, True]])
    for measure in MEASURES:
        weighted = bind(Problem.from_arrays(X, y, sample_weight=weights), measure).score(masks)
        plain = bind(Problem.from_arrays(X[repeated], y[repeated]), measure).score(masks)
        assert weighted == pytest.approx(plain)


def test_unknown_measures_are_refused():
    X, y = two_classes()
    with pytest.raises(InputError, match="mahalanobis"):
        bind(Problem.from_arrays(X, y), "euclid")
    with pytest.raises(InputError, match="The 'shrinkage' parameter"):
        bind(Problem.from_arrays(X, y), shrinkage=2.0)
