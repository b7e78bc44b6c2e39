"""The kernels on a real card, against the CPU: `make test-cuda`. Skipped where there is none."""

import numpy as np
import pytest

from fewer.contracts import Objective, Resources, SearchSpace
from fewer.criteria import KNN
from fewer.problem import Problem
from fewer.search import Exhaustive

cupy = pytest.importorskip("cupy")
try:
    cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError:
    pytest.skip("no GPU", allow_module_level=True)


def scorers(problem, **options):
    return [
        KNN(**options).bind(problem, np.random.default_rng(0), Resources(n_jobs=8, device=name))
        for name in ("cpu", "cuda")
    ]


def table(n, p, n_classes=2, mixed=False):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    X = rng.random((n, p))
    X[:, 0] += 0.4 * y
    X[:, 1] = np.round(X[:, 1] * 9)
    kinds = ["numeric"] * p
    if mixed:
        X[:, 2], kinds[2] = rng.integers(0, 4, n), "nominal"
        X[rng.random((n, p)) < 0.05] = np.nan
    return Problem.from_arrays(X, y, kinds=kinds)


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
