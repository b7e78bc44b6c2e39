"""The kernels on a real card, against the CPU: `make test-cuda`. Skipped where there is none."""

import numpy as np
import pytest

from fewer.contracts import Objective, Resources, SearchSpace
from fewer.criteria import KNN, Classifiability, GammaTest
from fewer.problem import Problem
from fewer.rankers import SURF, MultiSURF, Relief, ReliefF, RReliefF
from fewer.search import Exhaustive

cupy = pytest.importorskip("cupy")
try:
    cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError:
    pytest.skip("no GPU", allow_module_level=True)


def scorers(problem, **options):
    return bound(KNN(**options), problem)


def bound(criterion, problem):
    return [
        criterion.bind(problem, np.random.default_rng(0), Resources(n_jobs=8, device=name)) for name in ("cpu", "cuda")
    ]


def table(n, p, n_classes=2, mixed=False, weights=False):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n) if n_classes else rng.normal(size=n)
    X = rng.random((n, p))
    X[:, 0] += 0.4 * y
    X[:, 1] = np.round(X[:, 1] * 9)
    kinds = ["numeric"] * p
    if mixed:
        X[:, 2], kinds[2] = rng.integers(0, 4, n), "nominal"
        X[rng.random((n, p)) < 0.05] = np.nan
    given = rng.integers(1, 4, n) / 2 if weights else None
    task = "classification" if n_classes else "regression"
    return Problem.from_arrays(X, y, kinds=kinds, task=task, sample_weight=given)


@pytest.mark.parametrize(("n_classes", "mixed", "voting"), [(2, False, "neighborhood"), (4, True, "neighbors")])
@pytest.mark.parametrize("cv", ["loo", 10])
def test_scores_and_flips(n_classes, mixed, voting, cv):
    cpu, gpu = scorers(table(1500, 40, n_classes, mixed), cv=cv, voting=voting)
    masks = np.random.default_rng(1).random((200, 40)) < 0.3
    np.testing.assert_array_equal(gpu.score(masks), cpu.score(masks))
    units = [np.array([f]) for f in range(40)]
    for mask in masks[:5]:
        np.testing.assert_array_equal(gpu.flips(mask, units, ~mask), cpu.flips(mask, units, ~mask))


@pytest.mark.parametrize("cv", ["loo", 10])
def test_all_subsets(cv):
    cpu, gpu = scorers(table(300, 18), cv=cv)
    space = SearchSpace.of(18)
    one, other = (
        Exhaustive(top=100).run(Objective(scorer, space), space, np.random.default_rng(0)) for scorer in (cpu, gpu)
    )
    np.testing.assert_array_equal(one.top_masks, other.top_masks)
    np.testing.assert_array_equal(one.top_scores, other.top_scores)


@pytest.mark.parametrize("n_classes", [0, 2, 5])
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("options", [{"n_neighbors": (1, 3, 7)}, {"n_neighbors": 5, "voting": "neighbors"}, {}])
def test_any_number_of_neighbors_and_weighted_columns(n_classes, mixed, options):
    cpu, gpu = scorers(table(1200, 20, n_classes, mixed, weights=True), **options)
    rng = np.random.default_rng(1)
    masks = (rng.random((40, 20)) < 0.3) * rng.integers(1, 5, (40, 20)) / 4
    masks[:20] = masks[:20] > 0
    masks[0] = np.arange(20) == 1  # full of ties
    np.testing.assert_array_equal(gpu.score(masks), cpu.score(masks))
    units = [np.array([f]) for f in range(20)]
    np.testing.assert_array_equal(gpu.flips(masks[1], units, masks[1] == 0), cpu.flips(masks[1], units, masks[1] == 0))


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("mixed", [False, True])
def test_gamma_and_classifiability(n_classes, mixed):
    problem = table(1200, 12, n_classes, mixed)
    masks = (np.random.default_rng(1).random((10, 12)) < 0.4).astype(float)
    masks[0] = np.arange(12) == 1
    cpu, gpu = bound(GammaTest(), problem)
    np.testing.assert_array_equal(gpu.score(masks), cpu.score(masks))
    for estimate in ("hard", "soft"):
        cpu, gpu = bound(Classifiability(estimate=estimate), problem)
        np.testing.assert_allclose(gpu.score(masks), cpu.score(masks), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize(
    "ranker", [ReliefF(), Relief(), RReliefF(), SURF(), MultiSURF()], ids=lambda r: type(r).__name__
)
def test_rankings(ranker, mixed):
    problem = table(1500, 30, 3 if "classification" in ranker.tasks else 0, mixed)
    one, other = (
        ranker.rank(problem, np.random.default_rng(0), Resources(n_jobs=8, device=name)).scores
        for name in ("cpu", "cuda")
    )
    np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-15)
    if "SURF" not in type(ranker).__name__:
        np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("n_classes", [0, 2])
def test_rows_in_tiles(n_classes, monkeypatch):
    from fewer.kernels import device

    small = device.Cuda()
    small.memory = 200_000
    monkeypatch.setattr(device, "_opened", lambda number: small)
    cpu, gpu = scorers(table(3000, 10, n_classes), n_neighbors=3)
    assert gpu._devices[0]._exact._tile < 3000
    masks = np.random.default_rng(1).random((4, 10)) < 0.5
    np.testing.assert_array_equal(gpu.score(masks), cpu.score(masks))
