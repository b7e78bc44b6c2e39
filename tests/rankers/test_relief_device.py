"""Relief and MultiSURF on a device: the kernels' own text, on the CPU, against the CPU's scores; faults are noticed."""

import numpy as np
import pytest

import cuda_shim
from fewer import RankSelector
from fewer.contracts import Resources
from fewer.errors import FewerWarning, InputError
from fewer.problem import Problem
from fewer.rankers import SURF, MultiSURF, Relief, ReliefF, RReliefF

pytestmark = cuda_shim.needs_gcc


def table(task="classification", *, mixed=False, n=70, p=9, weights=False):
    rng = np.random.default_rng(0)
    X = rng.random((n, p))
    X[:, 1] = np.round(4 * X[:, 1])
    kinds = ["numeric"] * p
    y = rng.integers(0, 3, n) if task == "classification" else X[:, 0] + rng.normal(size=n)
    X[:, 0] += 0.2 * y
    if mixed:
        X[:, 2], kinds[2] = rng.integers(0, 3, n), "nominal"
        X[rng.random((n, p)) < 0.1] = np.nan
    given = rng.integers(1, 4, n) / 2 if weights else None
    return Problem.from_arrays(X, y, task=task, kinds=kinds, sample_weight=given)


def scores(ranker, problem, device):
    return ranker.rank(problem, np.random.default_rng(0), Resources(device=device)).scores


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("ranker", [ReliefF(), ReliefF(3, n_rows=20), Relief(), RReliefF(), RReliefF(5, sigma=2.0)])
def test_relief_is_that_of_the_cpu_to_the_bit(ranker, mixed, monkeypatch):
    cuda_shim.use(monkeypatch, cuda_shim.Shim(), cuda_shim.Shim())
    problem = table(ranker.tasks[0], mixed=mixed, weights=True)
    np.testing.assert_array_equal(scores(ranker, problem, "cuda"), scores(ranker, problem, "cpu"))


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("ranker", [MultiSURF(), SURF()])
def test_surf_is_that_of_the_cpu(ranker, task, mixed, monkeypatch):
    cuda_shim.use(monkeypatch, cuda_shim.Shim(), cuda_shim.Shim())
    problem = table(task, mixed=mixed, weights=True)
    np.testing.assert_allclose(scores(ranker, problem, "cuda"), scores(ranker, problem, "cpu"), rtol=1e-12, atol=1e-15)


def test_rows_at_the_radius_are_settled_on_the_cpu(monkeypatch):
    # The four corners of a square and its middle: many distances are exactly the mean.
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0.5, 0.5], [0, 0.5]] * 3, dtype=float)
    problem = Problem.from_arrays(X, np.arange(18) % 2)
    cuda_shim.use(monkeypatch, cuda_shim.Shim())
    for ranker in (SURF(), MultiSURF()):
        np.testing.assert_allclose(scores(ranker, problem, "cuda"), scores(ranker, problem, "cpu"), atol=1e-15)


def test_distances_beyond_the_memory_go_in_tiles(monkeypatch):
    problem = table(n=300)
    cuda_shim.use(monkeypatch, cuda_shim.Shim(memory=1_300_000))
    np.testing.assert_array_equal(scores(ReliefF(), problem, "cuda"), scores(ReliefF(), problem, "cpu"))


def test_too_little_memory_and_too_many_neighbors_are_said(monkeypatch):
    cuda_shim.use(monkeypatch, cuda_shim.Shim(memory=10_000))
    with pytest.raises(InputError, match="too little free memory"):
        scores(ReliefF(), table(), "cuda")
    with pytest.warns(FewerWarning, match="Working on the CPU: The GPU has too little"):
        scores(MultiSURF(), table(), "auto")
    with pytest.warns(FewerWarning, match="Relief runs on the CPU, not on the GPU: n_neighbors=100"):
        scores(ReliefF(100), table(n=120), "cuda")


def test_a_selector_takes_a_device(monkeypatch):
    cuda_shim.use(monkeypatch, cuda_shim.Shim())
    problem = table(weights=False)
    one, other = (
        RankSelector(ReliefF(), n_features_to_select=3, device=device).fit(problem.X, problem.y)
        for device in ("cuda", "cpu")
    )
    np.testing.assert_array_equal(one.scores_, other.scores_)
    with pytest.warns(FewerWarning, match="Fisher runs on the CPU, not on the GPU: it has no kernels for one"):
        RankSelector(device="cuda", n_features_to_select=3).fit(problem.X, problem.y)


FAULTS = {
    "a missing barrier": ("min(j0 + e % ROWS, n - 1)];\n      __syncthreads();", "min(j0 + e % ROWS, n - 1)];"),
    "an off-by-one tile": ("i < n_asked && j0 + r < end", "i < n_asked && j0 + r < end - 1"),
    "a forgotten feature": ("for (int q = 0; q < width; q++) {", "for (int q = 1; q < width; q++) {"),
    "a row beside itself": ("next < d[CAPACITY - 1] && j != from + i", "next < d[CAPACITY - 1]"),
    "a wrong bound": ("j < bounds[c + 1]; j++", "j < bounds[c + 1] - 1; j++"),
    "missing cells counted": (
        "else if (gap == gap) d[r] += gap, seen[r]++;",
        "else d[r] += gap == gap ? gap : 0., seen[r]++;",
    ),
    "a radius without its spread": ("mean - 0.5 * sqrt(square / seen)", "mean"),
    "a row beside itself, in the mean": (
        "if (j != me && d < FAR) total += d, seen++;",
        "if (d < FAR) total += d, seen++;",
    ),
    "a missing barrier in the sums": (
        "columns[(size_t)min(f0 + e / ROWS, p - 1) * n + min(j0 + e % ROWS, n - 1)];\n      __syncthreads();",
        "columns[(size_t)min(f0 + e / ROWS, p - 1) * n + min(j0 + e % ROWS, n - 1)];",
    ),
    "a feature group too few": ("if (f0 + q < p)\n", "if (f0 + q < p - 1)\n"),
    "misses that weigh alike": ("miss[q] += shares[r] * sum[q]", "miss[q] += 0.5 * sum[q]"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(fault, monkeypatch):
    cuda_shim.use(monkeypatch, cuda_shim.Shim(cuda_shim.planted(*FAULTS[fault])))
    problem = table(mixed="missing cells" in fault)
    pairs = [(scores(ranker, problem, "cuda"), scores(ranker, problem, "cpu")) for ranker in (ReliefF(4), MultiSURF())]
    assert not all(np.allclose(one, other, rtol=1e-12, atol=1e-15) for one, other in pairs), "the fault went unnoticed"
