import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gaussian_kde, norm
from sklearn.metrics import mutual_info_score

import fewer
from fewer.contracts import Resources
from fewer.problem import InputError, Problem
from fewer.rankers import CMIM, JMI, MIFS, MRMR
from fewer.rankers._density import Bins, Kernels, class_information, to_codes


def rank(ranker, problem, seed=0, n_jobs=1):
    return ranker.rank(problem, np.random.default_rng(seed), Resources(n_jobs))


def discrete_problem(seed, n=80, p=6, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, 4, (n, p))
    X[:, 1] = (y + rng.integers(0, 2, n)) % 4
    X[:, 3] = X[:, 1] * (rng.random(n) < 0.8)
    return Problem.from_arrays(X, y)


def slow_order(X, y, value):
    """Add the best feature given those before, one after the other; the value is computed from scratch."""
    order, values = [], []
    while len(order) < X.shape[1]:
        left = [f for f in range(X.shape[1]) if f not in order]
        found = [round(value(X, y, f, order), 10) for f in left]
        order.append(left[int(np.argmax(found))])
        values.append(max(found))
    return order, values


def mi(a, b):
    return mutual_info_score(a, b)


def conditional(X, y, f, s):
    pair = X[:, s] * 100 + y
    return mi(X[:, f], pair) - mi(X[:, f], X[:, s])


SLOW = {
    "MIFS sum": (MIFS(0.7), lambda X, y, f, S: mi(X[:, f], y) - 0.7 * sum(mi(X[:, f], X[:, s]) for s in S)),
    "MIFS mean": (
        MIFS(0.7, penalty="mean"),
        lambda X, y, f, S: mi(X[:, f], y) - 0.7 * np.mean([mi(X[:, f], X[:, s]) for s in S] or [0]),
    ),
    "MRMR": (MRMR(), lambda X, y, f, S: mi(X[:, f], y) - np.mean([mi(X[:, f], X[:, s]) for s in S] or [0])),
    "MRMR quotient": (
        MRMR("quotient"),
        lambda X, y, f, S: mi(X[:, f], y) / (np.mean([mi(X[:, f], X[:, s]) for s in S]) if S else 1),
    ),
    "JMI": (
        JMI(),
        lambda X, y, f, S: (
            np.mean([mi(X[:, f] * 100 + X[:, s], y) - mi(X[:, s], y) for s in S]) if S else mi(X[:, f], y)
        ),
    ),
    "CMIM": (CMIM(), lambda X, y, f, S: min([mi(X[:, f], y), *(conditional(X, y, f, s) for s in S)])),
}


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("seed", range(5))
def test_orders_equal_their_slow_twins(name, seed):
    problem = discrete_problem(seed)
    ranker, value = SLOW[name]
    ranking = rank(ranker, problem)
    order, values = slow_order(problem.X.astype(int), problem.y, value)
    assert ranking.order.tolist() == order
    assert ranking.scores[order] == pytest.approx(values, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 60))
def test_binned_information_of_discrete_data_is_scikit_learns(seed, n):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, (n, 3)), rng.integers(0, 3, n)
    y[:2] = [0, 1]
    bins = Bins(Problem.from_arrays(X, y), 10)
    assert bins.relevance() == pytest.approx([mi(X[:, f], y) for f in range(3)], abs=1e-12)
    assert bins.redundancy(1) == pytest.approx([mi(X[:, f], X[:, 1]) for f in range(3)], abs=1e-12)


def test_bins_hold_about_as_many_rows_each():
    codes, n_codes = to_codes(np.random.default_rng(0).normal(size=1000), 10, False)
    assert n_codes == 10
    assert np.bincount(codes).tolist() == [100] * 10
    tied = np.repeat([1.0, 2.0, 3.0, 4.0], [70, 10, 10, 10])
    assert np.bincount(to_codes(tied, 3, False)[0]).tolist() == [70, 30]


def test_kernel_information_of_classes_tends_to_the_integral():
    """Two normals, two apart: the integral of p(c, x) log p(x | c) / p(x)."""

    def density(x):
        a, b = norm.pdf(x), norm.pdf(x, 2)
        return sum(0.5 * d * np.log(d / (0.5 * a + 0.5 * b)) for d in (a, b))

    truth = quad(density, -8, 10)[0]
    rng = np.random.default_rng(0)
    y = np.repeat([0.0, 1.0], 1500)
    found = class_information(rng.normal(size=3000) + 2 * y, y, np.ones(3000))
    assert found == pytest.approx(truth, abs=0.02)


def test_kernel_information_of_two_normals_tends_to_its_closed_form():
    rng = np.random.default_rng(0)
    for correlation in (0.0, 0.6, 0.9):
        x, e = rng.normal(size=(2, 1500))
        X = np.column_stack([x, correlation * x + np.sqrt(1 - correlation**2) * e])
        found = Kernels(Problem.from_arrays(X, np.arange(1500) % 2)).redundancy(0)[1]
        assert found == pytest.approx(-0.5 * np.log(1 - correlation**2), abs=0.03 + 0.06 * correlation)


def test_kernel_densities_are_scipys():
    rng = np.random.default_rng(0)
    values, classes = rng.normal(size=60), np.repeat([0.0, 1.0], 30)
    own, mixture = np.empty(60), np.zeros(60)
    for code in (0.0, 1.0):
        mine = values[classes == code]
        density = gaussian_kde(mine, bw_method=(4 / (3 * 30)) ** 0.2)(values)
        own[classes == code] = density[classes == code]
        mixture += 0.5 * density
    assert class_information(values, classes, np.ones(60)) == pytest.approx(np.log(own / mixture).mean())


def test_all_pairs_equal_one_pair_at_a_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 4))
    X[:, 2] = rng.integers(0, 3, 70)
    X[3, 0] = np.nan
    problem = Problem.from_arrays(X, rng.integers(0, 2, 70), kinds=("numeric", "numeric", "nominal", "numeric"))
    kernels = Kernels(problem)
    for f in range(4):
        for g in range(4):
            nominal = kernels._nominal[g]
            assert kernels.redundancy(f)[g] == pytest.approx(kernels._pair(f, kernels._columns[g], nominal), abs=1e-10)


def test_backward_takes_away_the_least_valuable():
    problem = discrete_problem(1)
    X, y = problem.X.astype(int), problem.y
    left, removed = list(range(6)), []
    while left:
        values = [mi(X[:, f], y) - 0.5 * sum(mi(X[:, f], X[:, s]) for s in left if s != f) for f in left]
        removed.append(left.pop(int(np.argmin(np.round(values, 10)))))
    assert rank(MIFS(direction="backward"), problem).order.tolist() == removed[::-1]


@pytest.mark.parametrize("density", ["bins", "kernel"])
def test_constant_features_never_enter(density):
    """A constant has no information and no penalty: it would rank third in the ionosphere data of the thesis."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    signal = y + rng.normal(scale=0.3, size=60)
    X = np.column_stack([np.ones(60), signal, signal + 0.01 * rng.normal(size=60), rng.normal(size=60)])
    ranking = rank(MIFS(1.0, density=density), Problem.from_arrays(X, y))
    assert ranking.order[-1] == 0
    assert ranking.scores[0] == -np.inf
    assert np.isfinite(ranking.scores[1:]).all()


@pytest.mark.parametrize("ranker", [MIFS(), MIFS(density="kernel"), MRMR(), JMI(), CMIM(), MIFS(direction="backward")])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_strings_holes_and_both_tasks_give_numbers(ranker, task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    X[:, 1] = rng.integers(0, 3, 60)
    X[rng.random((60, 5)) < 0.1] = np.nan
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)] if task == "classification" else rng.normal(size=60)
    kinds = ("numeric", "nominal", "numeric", "numeric", "numeric")
    problem = Problem.from_arrays(X, y, task=task, kinds=kinds)
    ranking = rank(ranker, problem)
    assert np.isfinite(ranking.scores).all()
    assert sorted(ranking.order.tolist()) == [0, 1, 2, 3, 4]
    assert np.array_equal(rank(ranker, problem, n_jobs=2).order, ranking.order)


def test_regression_finds_a_curved_relation():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 4))
    y = X[:, 2] ** 2 + 0.05 * rng.normal(size=400)
    for density in ("bins", "kernel"):
        assert rank(MIFS(density=density), Problem.from_arrays(X, y, task="regression")).order[0] == 2


@pytest.mark.parametrize("stop", ["share", "permutation"])
def test_stopping_rules_keep_the_signal_and_not_the_noise(stop):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = rng.normal(size=(500, 12))
    X[:, 4] += 1.5 * y
    X[:, 7] -= 1.0 * y
    ranking = rank(MRMR(stop=stop, n_permutations=50), Problem.from_arrays(X, y))
    assert int(ranking.extra["n_relevant"]) == 2
    assert set(ranking.order[:2].tolist()) == {4, 7}
    noise = rank(MIFS(stop="permutation"), Problem.from_arrays(rng.normal(size=(200, 8)), np.arange(200) % 2))
    assert int(noise.extra["n_relevant"]) <= 1


def test_row_weights_count_as_repeated_rows():
    problem = discrete_problem(3)
    weights = np.arange(80) % 3 + 1
    repeated = np.repeat(np.arange(80), weights)
    weighted = Problem.from_arrays(problem.X, problem.y, weights=weights)
    plain = problem.take(repeated)
    for ranker in (MIFS(), JMI()):
        assert rank(ranker, weighted).scores == pytest.approx(rank(ranker, plain).scores)


@pytest.mark.parametrize("ranker", [MIFS, MRMR, JMI, CMIM])
def test_ranking_only_the_first_gives_the_same_first(ranker):
    problem = discrete_problem(2, p=9)
    whole, part = rank(ranker(), problem), rank(ranker(n_ranked=4), problem)
    assert np.array_equal(part.order[:4], whole.order[:4])
    assert sorted(part.order.tolist()) == list(range(9))
    assert np.all(np.diff(part.scores[part.order[4:]]) <= 0)


def test_a_selector_takes_them():
    problem = discrete_problem(0)
    selector = fewer.RankSelector(CMIM(), n_features_to_select=2).fit(problem.X, problem.y)
    assert selector.support_.sum() == 2


def test_unknown_words_are_refused():
    problem = discrete_problem(0)
    for wrong in (
        MIFS(penalty="x"), MIFS(density="x"), MIFS(direction="x"), MIFS(stop="x"), MIFS(n_bins=1), MRMR("x"),
    ):  # fmt: skip
        with pytest.raises(InputError):
            rank(wrong, problem)
