import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from fewer.contracts import Resources, Run, SearchSpace
from fewer.contracts.trace import Trace
from fewer.control import EarlyStopping, Noise
from fewer.control._noise import Noisy, NoisyRun, noise_pool, noise_table
from fewer.criteria import KNN, CrossValidated
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.search import Annealing, Forward
from making import make_problem

MASKS = np.array([[1, 1, 0, 0], [1, 0, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1]], dtype=bool)


def bound(criterion, problem, table, seed=0):
    return Noisy(criterion, table).bind(problem, np.random.default_rng(seed), Resources())


def same_folds(criterion, problem):
    """The noisy scorer draws one number before it binds."""
    rng = np.random.default_rng(0)
    rng.integers(2**63)
    return criterion.bind(problem, rng, Resources())


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("k", [1, (1, 3)])
def test_noise_of_nothing_changes_nothing(task, k):
    problem = make_problem(n_rows=50, n_features=4, task=task)
    problem.X[3, 1] = np.nan
    masks = MASKS * np.array([0.25, 1, 0.5, 1])
    clean = same_folds(KNN(k), problem).score(masks)
    assert np.allclose(bound(KNN(k), problem, np.zeros(4096)).score(masks), clean, atol=1e-9)


def test_every_distance_has_its_own_noise():
    """A slow twin with independent noise has the same mean accuracy; noise on rows would not (rows keep theirs)."""
    problem = make_problem(n_rows=30, n_features=4, n_informative=1, seed=1)
    scorer = bound(KNN(cv="loo"), problem, noise_table(0.25, 0.8))
    span = np.ptp(problem.X, axis=0)
    scaled = problem.X / span
    rng = np.random.default_rng(0)
    mask = np.array([1.0, 0, 1, 0])
    theirs = []
    for _ in range(400):
        noise = rng.normal(0, 0.25, (30, 30, 4)) * (rng.random((30, 30, 4)) < 0.8)
        distance = (mask * (scaled[:, None] - scaled + noise) ** 2).sum(axis=2)
        np.fill_diagonal(distance, np.inf)
        theirs.append(np.mean(problem.y[distance.argmin(axis=1)] == problem.y))
    ours = [
        bound(KNN(cv="loo", scaling="global"), problem, noise_table(0.25, 0.8), s).score(mask[None])[0]
        for s in range(400)
    ]
    error = np.hypot(np.std(theirs), np.std(ours)) / np.sqrt(400)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error
    assert np.std(ours) == pytest.approx(np.std(theirs), rel=0.2)
    assert scorer.score(mask[None]) == scorer.score(mask[None])


def test_the_pool_holds_every_value_as_often_and_runs_go_around():
    table = noise_table(0.25, 0.8)
    for n_rows in (50, 70_000):
        pool = noise_pool(table, n_rows, 3)
        n = len(pool) - n_rows
        values, counts = np.unique(pool[:n], return_counts=True)
        assert np.array_equal(values, np.unique(table.astype(np.float32)))
        assert set(counts[values != 0]) == {n // len(table)}
        assert np.array_equal(pool[n:], np.resize(pool[:n], n_rows))
    assert not np.array_equal(noise_pool(table, 50, 3), noise_pool(table, 50, 4))


def test_nominal_columns_and_predictions_are_without_noise():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=(60, 4)).astype(float)
    problem = Problem.from_arrays(codes, (codes[:, 0] > 0).astype(int), kinds=("nominal",) * 4)
    noisy, clean = bound(KNN(), problem, noise_table(0.5, 1.0)), same_folds(KNN(), problem)
    assert np.array_equal(noisy.score(MASKS), clean.score(MASKS))
    numeric = make_problem(n_features=4)
    noisy, clean = bound(KNN(), numeric, noise_table(0.5, 1.0)), same_folds(KNN(), numeric)
    assert not np.array_equal(noisy.score(MASKS), clean.score(MASKS))
    assert np.array_equal(noisy.predict(MASKS[0], numeric.X[:9]), clean.predict(MASKS[0], numeric.X[:9]))
    assert np.array_equal(noisy.outputs(MASKS[0]), clean.outputs(MASKS[0]))


def test_any_other_criterion_sees_noisy_rows():
    problem = make_problem(n_rows=60, n_features=4, seed=2)
    criterion = CrossValidated(GaussianNB(), cv=3)
    scorer = bound(criterion, problem, noise_table(0.25, 0.8))
    assert isinstance(scorer, NoisyRun)
    noise = (scorer._noisy(MASKS[0]).X - problem.X) / np.ptp(problem.X, axis=0)
    assert np.mean(noise != 0) == pytest.approx(0.8, abs=0.1)
    assert noise[noise != 0].std() == pytest.approx(0.25, rel=0.15)
    assert np.array_equal(scorer._noisy(MASKS[0]).X, scorer._noisy(MASKS[0]).X)
    assert not np.array_equal(scorer._noisy(MASKS[0]).X, scorer._noisy(MASKS[1]).X)
    still = bound(criterion, problem, np.zeros(4096))
    assert np.array_equal(still.score(MASKS), still.clean.score(MASKS))


@pytest.mark.parametrize("control", [Noise(), EarlyStopping(cv=3, control=Noise(shape="uniform"))])
def test_interrupted_and_resumed_ends_the_same(control, tmp_path):
    problem = make_problem(n_rows=40, n_features=5, seed=3)

    def run(trace=None, on_step=None):
        return Run(
            KNN(),
            problem,
            Annealing(levels=6, effort=0.3),
            SearchSpace.of(5, weight_levels=2),
            np.random.default_rng(0),
            resources=Resources(),
            trace=Trace() if trace is None else trace,
            follower=on_step,
        ).under(control)

    whole = run()

    def stop(trace):
        if trace.n_steps == 3:
            trace.save(tmp_path / "t.npz")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(on_step=stop)
    again = run(Trace.load(tmp_path / "t.npz"))
    assert np.array_equal(again.best, whole.best)
    assert again.best_score == whole.best_score


def test_noise_leaves_few_features_by_chance():
    """On pure noise a forward search keeps fewer false features if it trains with noise."""
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.normal(size=(60, 20)), np.arange(60) % 2)
    scores = {}
    for control in (None, Noise()):
        trace = Run(
            KNN(), problem, Forward(), SearchSpace.of(20), np.random.default_rng(1), resources=Resources()
        ).under(control)
        scores[control is None] = trace.best_score
    assert scores[False] < scores[True]


def test_tables_and_refusals():
    uniform = noise_table(0.25, 1.0, "uniform")
    assert uniform.std() == pytest.approx(0.25 / np.sqrt(3), rel=1e-3)
    assert np.abs(uniform).max() <= 0.25
    with pytest.raises(InputError, match="The 'shape' parameter of Noise must be"):
        Noise(shape="cauchy").check_parameters()
    with pytest.raises(InputError, match="The 'sd' parameter of Noise must be"):
        Noise(sd=-1).check_parameters()


def test_uniform_noise_goes_as_far_to_either_side():
    table = noise_table(0.5, 1.0, "uniform")
    assert table.mean() == pytest.approx(0.0, abs=1e-12)
    assert (table.min(), table.max()) == pytest.approx((-0.5, 0.5), abs=1e-3)
    assert np.diff(np.sort(table)) == pytest.approx(np.full(len(table) - 1, 1.0 / len(table)))
    normal = noise_table(0.5, 1.0)
    assert normal.mean() == pytest.approx(0.0, abs=1e-12)
    assert np.abs(normal).max() > 1.5
    assert not noise_table(0.5, 0.0).any()


def test_every_subset_has_noise_of_its_own_and_keeps_it():
    problem = make_problem()
    for criterion in (KNN(3), CrossValidated(GaussianNB(), cv=3)):
        scorer = Noisy(criterion, noise_table(0.5, 1.0)).bind(problem, np.random.default_rng(0), Resources())
        masks = np.eye(6, dtype=bool)
        assert np.array_equal(scorer.score(masks), scorer.score(masks))
        other = Noisy(criterion, noise_table(0.5, 1.0)).bind(problem, np.random.default_rng(1), Resources())
        assert not np.array_equal(scorer.score(masks), other.score(masks))


def test_rows_for_any_other_criterion_keep_their_nominal_and_constant_cells():
    rng = np.random.default_rng(0)
    X = np.c_[rng.integers(3, size=60), np.ones(60), rng.normal(size=(60, 2))]
    problem = Problem.from_arrays(X, (X[:, 0] > 0).astype(int), kinds=("nominal", "numeric", "numeric", "numeric"))
    noisy = bound(CrossValidated(GaussianNB(), cv=3), problem, noise_table(0.25, 1.0))._noisy(MASKS[3]).X
    assert np.array_equal(noisy[:, :2], X[:, :2])
    assert (noisy[:, 2:] != X[:, 2:]).mean() > 0.9
