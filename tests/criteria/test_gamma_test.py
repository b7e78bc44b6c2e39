import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor

import fewer
from fewer.contracts import Resources, SearchSpace, gray_states
from fewer.criteria import GammaTest, gamma_test, training_stop
from fewer.problem import InputError, Problem
from fewer.search import Forward


def bind(problem, n_jobs=1, **kwargs):
    return GammaTest(**kwargs).bind(problem, np.random.default_rng(0), Resources(n_jobs))


def twin(X, y, k, discrete, ties="share"):
    """The thesis's section 5.2 with plain loops."""
    n, scale = len(X), 1.0 / np.ptp(X, axis=0) ** 2
    near, apart = np.empty((n, k)), np.empty((n, k))
    for i in range(n):
        d = np.rint(scale * (X - X[i]) * (X - X[i]) * 2.0**36).sum(axis=1) / 2.0**36
        gap = (y != y[i]).astype(float) if discrete else (y - y[i]) ** 2
        others = np.delete(np.arange(n), i)
        order = others[np.argsort(d[others], kind="stable")]
        gaps = np.array([gap[others[d[others] == d[j]]].mean() for j in order]) if ties == "share" else gap[order]
        near[i], apart[i] = d[order][:k], gaps[:k]
    p = np.arange(1, k + 1)
    return near.mean(axis=0).cumsum() / p, apart.mean(axis=0).cumsum() / p / 2


@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_it_equals_its_slow_twin(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    n, p, k = data.draw(st.integers(12, 40)), data.draw(st.integers(1, 4)), data.draw(st.integers(2, 11))
    discrete, ties = data.draw(st.booleans()), data.draw(st.sampled_from(["share", "index"]))
    X = rng.integers(0, 4, (n, p)).astype(float) if data.draw(st.booleans()) else rng.normal(size=(n, p))
    X[:2] = [[0.0] * p, [3.0] * p]
    y = rng.integers(0, 3, n) if discrete else rng.normal(size=n)
    problem = Problem.from_arrays(X, y, task="classification" if discrete else "regression")
    scorer = bind(problem, n_neighbors=k, ties=ties)
    delta, gamma = twin(X, y, k, discrete, ties)
    ours = scorer.points(scorer.sums(np.ones(p, dtype=bool)))
    assert ours[0] == pytest.approx(delta, abs=1e-8)
    assert ours[1] == pytest.approx(gamma, abs=1e-12)
    if np.ptp(delta) > 1e-4:
        lines = scorer.lines(np.ones((1, p), dtype=bool))
        slope, intercept = np.polyfit(delta, gamma, 1)
        assert lines.gamma[0] == pytest.approx(intercept, rel=1e-3, abs=1e-4)
        assert lines.slope[0] == pytest.approx(slope, rel=1e-3, abs=1e-4)


def mixed_problem(task="classification", n=60):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 6))
    X[:, 4] = rng.integers(0, 3, n)
    X[rng.random((n, 6)) < 0.1] = np.nan
    y = rng.integers(0, 3, n) if task == "classification" else rng.normal(size=n)
    kinds = ("numeric",) * 4 + ("nominal", "numeric")
    return Problem.from_arrays(X, y, task=task, kinds=kinds)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_route_gives_the_same_bits_and_no_nan(task, n_jobs):
    scorer = bind(mixed_problem(task), n_jobs, n_neighbors=7)
    space = SearchSpace.of(6, sizes=(0, 6), groups=[[1, 2]])
    states = gray_states(np.arange(32), 5)
    truth = bind(mixed_problem(task), n_neighbors=7).score(space.expand(states))
    assert np.isfinite(truth).all()
    assert np.array_equal(scorer.score(space.expand(states)), truth)
    found = scorer.sweep(space, 3, 30, 100)
    by_state = {state.tobytes(): score for state, score in zip(states, space.objective(truth, states), strict=True)}
    assert len(found.scores) == 27
    assert all(by_state[state.tobytes()] == score for state, score in zip(found.states, found.scores, strict=True))
    mask = space.expand(states[11:12])[0]
    flipped = np.array([not mask[unit[0]] for unit in space.units])
    scores = scorer.flips(mask, space.units, flipped)
    for unit, value, score in zip(space.units, flipped, scores, strict=True):
        other = mask.copy()
        other[unit] = value
        assert scorer.score(other[None])[0] == score
    assert np.array_equal(scorer.all_gammas(space, [7])[0], -truth)


def test_many_neighbor_counts_from_one_sweep():
    problem = mixed_problem()
    space = SearchSpace.of(6)
    wide = bind(problem, n_neighbors=20).all_gammas(space, [5, 12, 20])
    masks = gray_states(np.arange(64), 6)
    for row, count in zip(wide, [5, 12, 20], strict=True):
        assert row == pytest.approx(-bind(problem, n_neighbors=count).score(masks), rel=1e-9, abs=1e-12)


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (50, 3)).astype(float)
    y = (X[:, 0] + rng.integers(0, 2, 50)).astype(int)
    order = np.argsort(y)
    masks = gray_states(np.arange(8), 3)
    one = bind(Problem.from_arrays(X, y), n_neighbors=5).score(masks)
    other = bind(Problem.from_arrays(X[order], y[order]), n_neighbors=5).score(masks)
    assert one == pytest.approx(other, abs=1e-12)


SURFACES = {
    1: lambda X: np.sin(2 * np.pi * X[:, 0]),
    2: lambda X: np.sin(3 * X[:, 0]) * X[:, 1],
    3: lambda X: np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2],
    4: lambda X: X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3],
    5: lambda X: X @ np.array([1.0, 0.5, 0.5, 0.3, 0.2]) + X[:, 0] * X[:, 1],
}


@pytest.mark.parametrize("dimension", SURFACES)
@pytest.mark.parametrize("variance", [0.01, 0.1])
def test_the_planted_noise_lies_in_the_interval(dimension, variance):
    inside = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(400, dimension))
        y = SURFACES[dimension](X) + rng.normal(scale=np.sqrt(variance), size=400)
        low, high = gamma_test(X, y).interval
        inside += low <= variance <= high
    assert inside >= 18


def test_a_known_posterior_lies_in_the_interval():
    truth = quad(lambda x: (0.1 + 0.8 * x) * (0.9 - 0.8 * x), 0, 1)[0]
    inside = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(600, 2))
        y = (rng.random(600) < 0.1 + 0.8 * X[:, 0]).astype(int)
        low, high = gamma_test(X, y, n_neighbors=20).interval
        inside += low <= truth <= high
    assert inside >= 18


def test_two_normal_classes_tend_to_their_limit():
    """Table 5.1: two normal classes, shifted by (s, s)."""
    rng = np.random.default_rng(0)
    for shift in (1.0, 3.0):
        gap = shift * np.sqrt(2)

        def overlap(t, gap=gap):
            a, b = norm.pdf(t), norm.pdf(t, gap)
            return a * b / (2 * (a + b)) if a + b > 0 else 0.0

        limit = quad(overlap, -10, 20)[0]
        gammas = []
        for _ in range(20):
            X = rng.normal(size=(400, 2))
            X[200:] += shift
            gammas.append(gamma_test(X, np.repeat([0, 1], 200), n_neighbors=20).gamma)
        error = np.std(gammas) / np.sqrt(20)
        assert abs(np.mean(gammas) - limit) < 4 * error


def test_the_local_fit_follows_a_bend():
    """Section 5.4.3: one class between two lumps of the other bends the curve."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-3, 0.5, 60), rng.normal(0, 0.5, 120), rng.normal(3, 0.5, 60)])[:, None]
    y = np.repeat([0, 1, 0], [60, 120, 60])
    line, local = (gamma_test(X, y, n_neighbors=100, fit=fit).gamma for fit in ("line", "local"))
    assert abs(local) < abs(line)


def test_the_empty_subset_leaves_the_variance_of_the_target():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    empty = np.zeros((1, 2), dtype=bool)
    assert bind(Problem.from_arrays(X, y, task="regression")).score(empty)[0] == pytest.approx(-y.var(ddof=1))
    labels = np.array(["a", "b", "c"])[np.arange(30) % 3]
    pairs = labels[:, None] != labels
    truth = pairs.sum() / (30 * 29) / 2
    assert bind(Problem.from_arrays(X, labels)).score(empty)[0] == pytest.approx(-truth)


def test_options_change_the_score_as_they_say():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0).astype(int)
    problem = Problem.from_arrays(X, y)
    masks = gray_states(np.arange(1, 8), 3)
    plain = bind(problem, n_neighbors=10)
    lines = plain.lines(masks)
    assert (lines.gamma < 0).any()
    assert np.array_equal(bind(problem, n_neighbors=10, negative="zero").score(masks), -np.maximum(lines.gamma, 0))
    tilted = bind(problem, n_neighbors=10, slope_weight=0.5).score(masks)
    assert tilted == pytest.approx(-(lines.gamma + 0.5 * lines.slope * lines.reach))
    first = bind(problem, n_neighbors=1).lines(masks)
    assert np.array_equal(first.slope, np.zeros(7))


def test_weights_between_0_and_1_stretch_the_distance():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    X[:2] = [[-5, -5], [5, 5]]
    weighted = bind(Problem.from_arrays(X, y), n_neighbors=5).score(np.array([[1.0, 0.25]]))
    halved = X * [1.0, 0.5]
    truth = bind(Problem.from_arrays(halved, y), n_neighbors=5, scaling="none").score(np.ones((1, 2), dtype=bool))
    assert weighted == pytest.approx(truth, rel=1e-9)


def test_rows_of_one_group_are_not_neighbors():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    twins = np.repeat(np.arange(40), 2)
    plain = Problem.from_arrays(X[twins], y[twins], task="regression")
    grouped = Problem.from_arrays(X[twins], y[twins], task="regression", groups=twins)
    mask = np.ones((1, 2), dtype=bool)
    assert bind(plain, n_neighbors=1).score(mask)[0] == 0.0
    single = bind(Problem.from_arrays(X, y, task="regression"), n_neighbors=1).score(mask)
    assert bind(grouped, n_neighbors=1).score(mask) == pytest.approx(single)


def test_the_m_test_ends_at_gamma():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = X.sum(axis=1) + rng.normal(scale=0.1, size=300)
    result = gamma_test(X, y)
    curve = result.m_test(8)
    assert curve.shape == (8, 3)
    assert curve[-1, 0] == 300
    assert curve[-1, 1] == pytest.approx(result.gamma)
    assert np.all(np.diff(curve[:, 0]) > 0)
    assert curve[0, 2] > curve[-1, 2]
    assert result.v_ratio == pytest.approx(result.gamma / y.var(ddof=1))
    assert len(result.delta) == len(result.Gamma) == 10


def test_it_finds_the_features_that_matter():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 6))
    y = np.sin(6 * X[:, 1]) + X[:, 4] ** 2 + rng.normal(scale=0.02, size=300)
    selector = fewer.SubsetSelector(GammaTest(10), Forward(), n_features_to_select=2).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [1, 4]


def test_unknown_words_and_too_few_rows_are_refused():
    problem = mixed_problem()
    for wrong in ({"negative": "x"}, {"fit": "x"}, {"ties": "x"}, {"scaling": "x"}, {"n_neighbors": 0}):
        with pytest.raises(InputError):
            bind(problem, **wrong)
    with pytest.raises(InputError, match="GammaTest .* of one group"):
        bind(Problem.from_arrays([[1.0], [2.0]], [0, 1], groups=[0, 0]))
    with pytest.raises(InputError, match="two rows"):
        bind(Problem.from_arrays([[1.0]], [0]))


def wave(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, np.sin(6 * X[:, 0]) + X[:, 1], rng


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_training_stops_where_the_training_error_has_come_down_to_the_noise(task):
    """The step is the first in scikit-learn's own stages, and fresh rows are predicted better there than at the end."""
    X, clean, rng = wave(600, 0)
    fresh, truth, _ = wave(3000, 1)
    if task == "regression":
        y, word = clean + rng.normal(scale=0.4, size=600), "staged_predict"
        model = HistGradientBoostingRegressor(max_iter=200, early_stopping=False, random_state=0)
        floor = 0.16
    else:
        chance = 1 / (1 + np.exp(-3 * (clean - 0.5)))
        y, word = (rng.random(600) < chance).astype(int), "staged_predict_proba"
        model = HistGradientBoostingClassifier(max_iter=200, early_stopping=False, random_state=0)
        floor, truth = (chance * (1 - chance)).mean(), 1 / (1 + np.exp(-3 * (truth - 0.5)))
    stop = training_stop(X, y)
    assert stop.gamma == pytest.approx(floor, rel=0.15)
    stages = [p[:, 1] if p.ndim == 2 else p for p in getattr(model.fit(X, y), word)(X)]
    errors = np.array([((p - y) ** 2).mean() for p in stages])
    assert stop.errors == pytest.approx(errors)
    assert stop.reached
    assert stop.step == 1 + int(np.argmax(errors <= stop.gamma))
    on_fresh = [((p[:, 1] if p.ndim == 2 else p) - truth) ** 2 for p in getattr(model, word)(fresh)]
    assert on_fresh[stop.step - 1].mean() < on_fresh[-1].mean()


def test_training_stops_for_a_network_too_and_other_models_are_refused():
    X, clean, rng = wave(300, 0)
    y = clean + rng.normal(scale=0.4, size=300)
    network = MLPRegressor(hidden_layer_sizes=(20,), learning_rate_init=0.02, random_state=0)
    stop = training_stop(X, y, network, n_steps=40)
    again = clone(network)
    errors = [((again.partial_fit(X, y).predict(X) - y) ** 2).mean() for _ in range(40)]
    assert stop.errors == pytest.approx(np.array(errors))
    assert not training_stop(X, y, network, n_steps=1).reached
    with pytest.raises(InputError, match="trains in one step"):
        training_stop(X, y, LinearRegression())
