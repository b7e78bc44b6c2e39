from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad
from scipy.sparse import csc_array
from scipy.stats import gaussian_kde, multivariate_normal, norm
from sklearn.metrics import mutual_info_score

import fewer
import matrix
from fewer.contracts import Resources
from fewer.io import SparseProblem, to_problem
from fewer.problem import InputError, Problem
from fewer.rankers import CMIM, DISR, JIM, JMI, JMIM, MIFS, MRMR
from fewer.rankers._bins import FeatureBins, to_codes
from fewer.rankers._mutual_information import Kernels, class_information


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


def pair(X, f, s):
    return X[:, f] * 100 + X[:, s]


def entropy(codes):
    shares = np.unique(codes, return_counts=True)[1] / len(codes)
    return -(shares * np.log(shares)).sum()


def impurity(y):
    return 1 - sum(np.mean(y == c) ** 2 for c in np.unique(y))


def impurity_taken(codes, y):
    return impurity(y) - sum(np.mean(codes == a) * impurity(y[codes == a]) for a in np.unique(codes))


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
    "DISR": (
        DISR(),
        lambda X, y, f, S: (
            np.mean([mi(pair(X, f, s), y) / entropy(pair(X, f, s) * 100 + y) for s in S]) if S else mi(X[:, f], y)
        ),
    ),
    "JIM": (
        JIM(),
        lambda X, y, f, S: np.mean([impurity_taken(pair(X, f, s), y) for s in S]) if S else impurity_taken(X[:, f], y),
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
    bins = FeatureBins(Problem.from_arrays(X, y), 10)
    assert bins.relevance() == pytest.approx([mi(X[:, f], y) for f in range(3)], abs=1e-12)
    assert bins.redundancy(1) == pytest.approx([mi(X[:, f], X[:, 1]) for f in range(3)], abs=1e-12)


@pytest.mark.parametrize("ranker", [DISR(), JIM(stop="permutation", n_permutations=20)])
def test_weights_count_as_copies_of_rows(ranker):
    problem = discrete_problem(0)
    weights = np.random.default_rng(0).integers(1, 4, 80)
    copies = np.repeat(np.arange(80), weights)
    weighted = Problem.from_arrays(problem.X, problem.y, sample_weight=weights)
    repeated = Problem.from_arrays(problem.X[copies], problem.y[copies])
    assert rank(ranker, weighted).scores == pytest.approx(rank(ranker, repeated, n_jobs=2).scores, abs=1e-9)
    assert 0 < rank(ranker, problem).extra["n_relevant"] <= 6


def test_bins_hold_about_as_many_rows_each():
    codes, n_codes = to_codes(np.random.default_rng(0).normal(size=1000), 10, False)
    assert n_codes == 10
    assert np.bincount(codes).tolist() == [100] * 10
    tied = np.repeat([1.0, 2.0, 3.0, 4.0], [70, 10, 10, 10])
    assert np.bincount(to_codes(tied, 3, False)[0]).tolist() == [70, 30]


def over_seeds(draw, estimate, truth, n=800, n_seeds=10):
    """Return the mean error over seeds, and the spread from seed to seed."""
    errors = [estimate(draw(np.random.default_rng(seed), n)) - truth for seed in range(n_seeds)]
    return np.mean(errors), np.std(errors, ddof=1)


MIXTURES = {
    "near": ([0.0, 0.7], [1.0, 1.0], [0.5, 0.5]),
    "apart": ([0.0, 2.0], [1.0, 1.0], [0.5, 0.5]),
    "narrow in wide": ([0.0, 0.0], [1.0, 0.2], [0.7, 0.3]),
    "three": ([0.0, 1.0, 4.0], [1.0, 0.5, 2.0], [0.5, 0.3, 0.2]),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_kernel_information_of_classes_is_the_integral(name):
    """The integral of p(c, x) log p(x | c) / p(x), within the spread from seed to seed."""
    means, spreads, priors = (np.array(each) for each in MIXTURES[name])

    def density(x):
        each = norm.pdf(x, means, spreads)
        return float((priors * each * np.log(np.maximum(each, 1e-300) / (priors @ each))).sum())

    def draw(rng, n):
        classes = rng.choice(len(means), n, p=priors)
        return rng.normal(means[classes], spreads[classes]), classes.astype(float)

    truth = quad(density, -9, 14, points=sorted(set(means)), limit=200)[0]
    bias, spread = over_seeds(draw, lambda rows: class_information(*rows, np.full(800, 1 / 800)), truth)
    assert abs(bias) < spread < 0.06


def kernel_pair(X):
    return Kernels(Problem.from_arrays(X, np.arange(len(X)) % 2)).redundancy(0)[1]


@pytest.mark.parametrize("correlation", [0.3, 0.6, 0.9, 0.98])
def test_kernel_information_of_two_normals_is_the_integral(correlation):
    """−½ log (1 − ρ²), the integral of p(x, y) log p(x, y) / p(x) p(y), within the spread from seed to seed."""
    covariance = [[1.0, correlation], [correlation, 1.0]]
    joint = multivariate_normal(cov=covariance)

    def ratio(x, y):
        return joint.pdf((x, y)) * (joint.logpdf((x, y)) - norm.logpdf(x) - norm.logpdf(y))

    truth = -0.5 * np.log(1 - correlation**2)
    if correlation == 0.6:
        assert dblquad(ratio, -6, 6, -6, 6, epsabs=1e-4)[0] == pytest.approx(truth, abs=1e-3)
    bias, spread = over_seeds(lambda rng, n: rng.multivariate_normal([0, 0], covariance, n), kernel_pair, truth)
    assert abs(bias) < spread < 0.06


@pytest.mark.parametrize("draw", [np.random.Generator.normal, np.random.Generator.uniform])
def test_kernel_information_of_independent_columns_is_nothing(draw):
    found = [kernel_pair(draw(np.random.default_rng(seed), size=(800, 2))) for seed in range(10)]
    assert np.mean(found) < 0.008


def test_what_kernels_blur_shrinks_with_the_rows():
    """A curved ridge is not normal: its information, h(y) − h(y | x), is met from below."""
    x, y = np.linspace(-6, 6, 600), np.linspace(-6, 30, 1500)
    density = np.trapezoid(norm.pdf(x) * norm.pdf(y[:, None] - x * x), x, axis=1)
    truth = -np.trapezoid(density * np.log(density), y) - 0.5 * np.log(2 * np.pi * np.e)

    def draw(rng, n):
        x = rng.normal(size=n)
        return np.column_stack([x, x * x + rng.normal(size=n)])

    few, many = (over_seeds(draw, kernel_pair, truth, n, 5)[0] for n in (300, 3000))
    assert 0.55 * few < many < 0.0


def less_own(density, height, share, n_dimensions):
    """Count a row's own kernel 2^(−d/2) / 2 times."""
    excess = (1 - 2 ** (-n_dimensions / 2) / 2) * share
    return (density - excess * height) / (1 - excess)


def test_densities_of_classes_are_scipys():
    rng = np.random.default_rng(0)
    values, classes, weights = rng.normal(size=60), np.repeat([0.0, 1.0], 30), rng.uniform(0.5, 2, 60)
    share = weights / weights.sum()
    own, mixture = np.empty(60), np.zeros(60)
    for code in (0.0, 1.0):
        rows = classes == code
        kde = gaussian_kde(values[rows], bw_method="silverman", weights=weights[rows])
        density = kde(values)
        height = norm.pdf(0, scale=np.sqrt(kde.covariance[0, 0]))
        density[rows] = less_own(density[rows], height, kde.weights, 1)
        own[rows] = density[rows]
        mixture += share[rows].sum() * density
    assert class_information(values, classes, share) == pytest.approx(share @ np.log(own / mixture), rel=1e-9)


def test_densities_of_pairs_are_scipys():
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(70, 2)) @ [[1.0, 0.8], [0.0, 0.6]], rng.uniform(0.5, 2, 70)
    joint = gaussian_kde(X.T, weights=weights)
    logs = np.log(less_own(joint(X.T), multivariate_normal(cov=joint.covariance).pdf([0, 0]), joint.weights, 2))
    for f in (0, 1):
        alone = joint.marginal(f)
        height = norm.pdf(0, scale=np.sqrt(joint.covariance[f, f]))
        logs -= np.log(less_own(alone(X[:, f]), height, joint.weights, 1))
    found = Kernels(Problem.from_arrays(X, np.arange(70) % 2, sample_weight=weights)).redundancy(0)[1]
    assert found == pytest.approx(joint.weights @ logs, rel=1e-9)


def test_columns_that_say_the_same_share_much_and_constants_nothing():
    x = np.random.default_rng(0).normal(size=200)
    X = np.column_stack([x, 3 - 2 * x, np.ones(200)])
    shared = Kernels(Problem.from_arrays(X, np.arange(200) % 2)).redundancy(0)
    assert np.log(200) < shared[1] < 2 * np.log(200)
    assert shared[2] == 0.0


def test_rows_of_weight_zero_do_not_count():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(60, 3)), rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    all_rows = Kernels(Problem.from_arrays(X, y, sample_weight=weights))
    some_rows = Kernels(Problem.from_arrays(X[weights > 0], y[weights > 0]))
    assert np.array_equal(all_rows.relevance(), some_rows.relevance())
    assert np.array_equal(all_rows.redundancy(1), some_rows.redundancy(1))


def test_kinds_are_told_apart_and_threads_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 4))
    X[:, 2] = rng.integers(0, 3, 70)
    X[3, 0] = np.nan
    problem = Problem.from_arrays(X, rng.integers(0, 2, 70), kinds=("numeric", "numeric", "nominal", "numeric"))
    kernels, threaded = Kernels(problem), Kernels(problem, n_jobs=3)
    table = np.array([kernels.redundancy(f) for f in range(4)])
    assert np.array_equal(table, table.T)
    assert np.array_equal(table, [threaded.redundancy(f) for f in range(4)])
    share = np.full(70, 1 / 70)
    assert table[1, 2] == class_information(X[:, 1], X[:, 2], share)
    assert table[2, 2] == pytest.approx(mi(X[:, 2], X[:, 2]))
    filled = np.where(np.isnan(X[:, 0]), np.nanmean(X[:, 0]), X[:, 0])
    assert table[0, 1] == kernel_pair(np.column_stack([filled, X[:, 1]]))


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
    weighted = Problem.from_arrays(problem.X, problem.y, sample_weight=weights)
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


@pytest.mark.parametrize("ranker", [JMI(), JMIM()], ids=repr)
def test_of_columns_that_are_equally_good_the_first_is_added_however_the_table_lies(ranker):
    X, y = matrix.table("classification", seed=3)
    problem = to_problem(X, y)
    dense = ranker.rank(problem, np.random.default_rng(0), Resources())
    sparse = SparseProblem.of(replace(problem, X=np.zeros((len(X), 1))), csc_array(X))
    assert ranker.rank(sparse, np.random.default_rng(0), Resources()).order.tolist() == dense.order.tolist()
    assert dense.order.tolist()[:3] == [0, 1, 3]  # 1 and 3 are worth the same beside 0
