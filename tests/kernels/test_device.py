"""The CUDA kernels' own text, on the CPU, against the CPU's scores; faults planted into it are noticed."""

import builtins

import numpy as np
import pytest

import cuda_shim
from fewer.contracts import Objective, Resources, SearchSpace
from fewer.criteria import KNN, FisherRatio
from fewer.errors import FewerWarning, InputError
from fewer.kernels.device import _opened, on_devices
from fewer.problem import Problem
from fewer.rankers import Fisher, ReliefF
from fewer.run.api import select
from fewer.search import Exhaustive
from fewer.selectors import RankSelector, SubsetSelector

needs_gcc = cuda_shim.needs_gcc


def table(n=70, p=6, n_classes=2, mixed=False, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.random((n, p))
    X[:, 0] += y
    X[:, 1] = np.round(X[:, 1] * 4)  # full of ties
    kinds = ["numeric"] * p
    if mixed:
        X[:, 2] = rng.integers(0, 3, n)
        kinds[2] = "nominal"
        X[rng.random((n, p)) < 0.1] = np.nan
        X[:3, 3] *= 50
    return Problem.from_arrays(X, y, kinds=kinds)


def both(problem, monkeypatch, device, **options):
    monkeypatch.setattr("fewer.criteria._knn_device.DEVICE_SAMPLE", 64)
    cuda_shim.use(monkeypatch, device)
    return [KNN(**options).bind(problem, np.random.default_rng(0), Resources(device=name)) for name in ("cpu", "cuda")]


@needs_gcc
@pytest.mark.parametrize(
    ("n_classes", "mixed", "voting"), [(2, False, "neighborhood"), (3, True, "neighborhood"), (3, True, "neighbors")]
)
@pytest.mark.parametrize("cv", ["loo", 4])
def test_scores_are_those_of_the_cpu(n_classes, mixed, voting, cv, monkeypatch):
    problem = table(n_classes=n_classes, mixed=mixed)
    cpu, gpu = both(problem, monkeypatch, cuda_shim.Shim(), cv=cv, voting=voting)
    masks = np.random.default_rng(1).random((6, 6)) < 0.5
    masks[0] = False
    np.testing.assert_array_equal(gpu.score(masks), cpu.score(masks))
    units = [np.array([f]) for f in range(6)] + [np.array([0, 3])]
    for mask in masks[:2]:
        values = np.append(~mask, True)
        np.testing.assert_array_equal(gpu.flips(mask, units, values), cpu.flips(mask, units, values))
    weights = masks / 2.0
    np.testing.assert_array_equal(gpu.score(weights), cpu.score(weights))


@needs_gcc
@pytest.mark.parametrize("cv", ["loo", 5])
def test_the_best_of_all_subsets_are_those_of_the_cpu(cv, monkeypatch):
    cpu, gpu = both(table(n=45, p=14), monkeypatch, cuda_shim.Shim(TILE=32), cv=cv)
    space = SearchSpace.of(14)
    truth = cpu.sweep(space, 0, 2**14, 60)
    found = gpu.sweep(space, 0, 2**14, 60, float(truth.scores[40]))
    kept = truth.scores >= truth.scores[40]
    np.testing.assert_array_equal(found.states[: kept.sum()], truth.states[kept])
    np.testing.assert_array_equal(found.scores[: kept.sum()], truth.scores[kept])
    assert found.n_evaluated == truth.n_evaluated == 2**14 - 1


@needs_gcc
def test_a_search_of_all_subsets_on_a_device(monkeypatch):
    cpu, gpu = both(table(n=40, p=13, mixed=True), monkeypatch, cuda_shim.Shim(TILE=32))
    space = SearchSpace.of(13, include=[2], groups=[[0, 5]], sizes=(1, 9))
    one, other = (
        Exhaustive(top=9).run(Objective(scorer, space), space, np.random.default_rng(0)) for scorer in (cpu, gpu)
    )
    np.testing.assert_array_equal(one.top_masks[:9], other.top_masks[:9])
    assert gpu.sweep_limit > cpu.sweep_limit == 1 << 30


FAULTS = {
    "a missing barrier": ("        __syncthreads();\n        int width", "        int width"),
    "a wrong bound": ("0xffff) <= bound) {", "0xffff) < bound) {"),
    "a wrong tolerance": ("near[1][q] + tol < near[0][q]", "near[1][q] < near[0][q] + (1 << 26)"),
    "an off-by-one tile": ("int width = min(TILE, end - j0)", "int width = min(TILE, end - j0) - 1"),
    "rows of the own fold": ("out |= fold[j] == k;", ""),
    "a forgotten column": ("for (int u = share; u <= m; u += SHARES)", "for (int u = share; u < m - 1; u += SHARES)"),
}


GIVEN_FAULTS = {
    "nearest: a missing barrier": (
        "columns[(size_t)used[a + e / ROWS] * n + min(j0 + e % ROWS, n - 1)];\n      __syncthreads();",
        "columns[(size_t)used[a + e / ROWS] * n + min(j0 + e % ROWS, n - 1)];",
    ),
    "nearest: an off-by-one tile": ("d[r] = j0 + r < end && folds", "d[r] = j0 + r < end - 1 && folds"),
    "nearest: rows of the own fold": ("&& folds[r] != k ? 0.f", "? 0.f"),
    "nearest: a forgotten column": ("int width = min(STAGE, first[b + 1] - a);", "int width = first[b + 1] - a - 1;"),
    "verdicts: a wrong bound": ("return a + error_of(a, doubt) + error_of(b, doubt) < b;", "return a < b;"),
    "verdicts: a tie of others forgotten": ("by_rows || another >= FAR_FLOAT", "true || another >= FAR_FLOAT"),
    "verdicts: a row too few": ("(long long)n_subsets * n) return", "(long long)n_subsets * n - 40) return"),
    "decide: a missing barrier": ("room[t] = mine;\n  __syncthreads();", "room[t] = mine;"),
    "decide: rows of the own fold": ("if (fold[j] == k) continue;", ""),
    "decide: votes of nearer rows forgotten": ("total[c] += over_block(", "total[c] = over_block("),
    "decide: votes without weights": ("codes[j] == c ? weights[j] : 0.", "codes[j] == c ? 1. : 0."),
    "decide: an off-by-one tile": (
        "for (int j = t; j < n; j += THREADS) {\n      if (fold",
        "for (int j = t; j < n - 9; j += THREADS) {\n      if (fold",
    ),
}


@needs_gcc
@pytest.mark.parametrize("fault", GIVEN_FAULTS)
def test_a_fault_in_given_subsets_is_noticed(fault, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (70, 6)) * 0.1  # ties that float32 takes for small differences
    y = np.clip(np.round(X[:, 0] * 5 + rng.random(70)), 0, 2).astype(int)
    if "tie of others" in fault:  # two other classes tie for the nearest; then two rows of the own class vote
        X, y = np.tile([[0.0], [1.0], [-1.0], [2.0], [-2.0]], (1, 6)), np.array([0, 1, 2, 0, 0])
    problem = Problem.from_arrays(X, y, sample_weight=rng.integers(1, 4, 70) if len(y) == 70 else None)
    cpu, gpu = both(problem, monkeypatch, cuda_shim.Shim(cuda_shim.planted(*GIVEN_FAULTS[fault])), cv="loo")
    masks = rng.random((12, 6)) < 0.5
    assert (gpu.score(masks) != cpu.score(masks)).any(), "the fault went unnoticed"


@needs_gcc
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_sweep_is_noticed(fault, monkeypatch):
    shim = cuda_shim.Shim(cuda_shim.planted(*FAULTS[fault]), TILE=32)
    cpu, gpu = both(table(n=45, p=14), monkeypatch, shim, cv="loo")
    space = SearchSpace.of(14)
    truth = cpu.sweep(space, 0, 2**14, 400)
    floor = float(truth.scores[100])
    sweeper = gpu._sweeper(space)
    tree = next(cuda_trees(sweeper))
    bound = int(sweeper._bound(floor))
    survivors = gpu._devices[0].neighbor.survivors(tree, space.units, space.base.astype(float), bound)
    wanted = truth.states[truth.scores >= floor]
    found = set() if survivors is None else set(map(bytes, tree.states(survivors, 14)))
    # All of the best are among the survivors, and few others: a kernel that keeps everything passes no test.
    assert not (set(map(bytes, wanted)) <= found and len(found) < 4 * len(wanted)), "the fault went unnoticed"


def cuda_trees(sweeper):
    from fewer.criteria._knn_sweep import trees_of

    return trees_of(0, 2**14, 14, sweeper.typical)


@needs_gcc
def test_survivors_are_few(monkeypatch):
    cpu, gpu = both(table(n=45, p=14), monkeypatch, cuda_shim.Shim(TILE=32), cv="loo")
    space = SearchSpace.of(14)
    truth = cpu.sweep(space, 0, 2**14, 400)
    floor = float(truth.scores[100])
    sweeper = gpu._sweeper(space)
    tree = next(cuda_trees(sweeper))
    survivors = gpu._devices[0].neighbor.survivors(
        tree, space.units, space.base.astype(float), int(sweeper._bound(floor))
    )
    wanted = set(map(bytes, truth.states[truth.scores >= floor]))
    found = set(map(bytes, tree.states(survivors, 14)))
    assert wanted <= found
    assert len(found) < 4 * len(wanted)


def test_a_criterion_without_kernels_says_so(monkeypatch):
    cuda_shim.use(monkeypatch, cuda_shim.Shim())
    problem = table()
    with pytest.warns(FewerWarning, match="FisherRatio runs on the CPU, not on the GPU: it has no kernels"):
        SubsetSelector(FisherRatio(), device="cuda").fit(problem.X, problem.y)


def test_no_gpu_is_one_line_and_auto_says_nothing(monkeypatch):
    real = builtins.__import__

    def without_cupy(name, *rest, **more):
        if name.partition(".")[0] == "cupy":
            raise ImportError(name)
        return real(name, *rest, **more)

    _opened.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without_cupy)
    with pytest.raises(InputError, match=r"needs CuPy: pip install 'fewer\[cuda\]'"):
        on_devices("cuda", str)
    assert on_devices("auto", str) == []  # warnings are errors here
    problem = table()
    for component in (FisherRatio(), KNN(3), KNN(63)):
        SubsetSelector(component, device="auto").fit(problem.X, problem.y)
    for ranker in (Fisher(), ReliefF(), ReliefF(100)):
        RankSelector(ranker, device="auto", n_features_to_select=2).fit(problem.X, problem.y)
    assert select(problem.X, problem.y, device="auto", cv=0).features
    with pytest.raises(InputError, match="device='gpu' is not known"):
        on_devices("gpu", str)
