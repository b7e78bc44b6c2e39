"""Exact distances on a device: the kernels' own text, on the CPU, against the CPU's scores; faults are noticed."""

from functools import partial

import numpy as np
import pytest

import cuda_shim
from fewer.contracts import Resources, SearchSpace
from fewer.criteria import KNN, Classifiability, GammaTest
from fewer.errors import FewerWarning, InputError
from fewer.problem import Problem

pytestmark = cuda_shim.needs_gcc
DEVICES = ("cpu", "cuda")


def table(n=60, p=5, n_classes=3, *, weights=False, groups=False, seed=0):
    """Make a table with ties, a nominal column and missing cells."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, p))
    y = rng.integers(0, n_classes, n) if n_classes else X[:, 0] + rng.normal(size=n)
    X[:, 1] = np.round(3.0 * X[:, 1] + y)
    X[:, 2] = rng.integers(0, 3, n)
    X[rng.random((n, p)) < 0.08] = np.nan
    X[:, 0] = rng.random(n)
    return Problem.from_arrays(
        X, y, task="classification" if n_classes else "regression",
        kinds=["numeric", "numeric", "nominal", *["numeric"] * (p - 3)],
        sample_weight=rng.integers(1, 4, n) / 2 if weights else None,
        groups=rng.integers(0, n // 3, n) if groups else None,
    )  # fmt: skip


def bound(criterion, problem, monkeypatch, *shims):
    cuda_shim.use(monkeypatch, *(shims or (cuda_shim.Shim(),)))
    return [criterion.bind(problem, np.random.default_rng(0), Resources(device=name)) for name in DEVICES]


def masks_and_weights(p=5):
    masks = (np.random.default_rng(1).random((4, p)) < 0.6).astype(float)
    masks[0] = 0.0
    masks[3] = 0.3, 0.9, 0.5, 0.1, 0.7
    return masks


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("options", [{}, {"voting": "neighbors", "cv": "loo"}])
@pytest.mark.parametrize("weights", [False, True])
def test_neighbors_vote_as_on_the_cpu(n_classes, options, weights, monkeypatch):
    problem = table(n_classes=n_classes, weights=weights)
    cpu, gpu = bound(KNN((1, 3, 4), **options), problem, monkeypatch)
    masks = masks_and_weights()
    np.testing.assert_array_equal(gpu.score(masks), cpu.score(masks))
    units = [np.array([f]) for f in range(5)] + [np.array([0, 3])]
    values = np.array([1.0, 0.0, 1.0, 0.5, 1.0, 0.0])
    np.testing.assert_array_equal(gpu.flips(masks[1], units, values), cpu.flips(masks[1], units, values))


@pytest.mark.parametrize("options", [{"n_neighbors": (1, 3)}, {"n_neighbors": 1}])
@pytest.mark.parametrize("n_classes", [0, 3])
def test_all_subsets_are_judged_as_on_the_cpu(options, n_classes, monkeypatch):
    monkeypatch.setattr("fewer.criteria._knn_sweep.SAMPLE", 8)
    monkeypatch.setattr("fewer.criteria._knn_sweep.STAGES", (6, 12))
    monkeypatch.setattr("fewer.criteria._knn.SMALLEST", 5)
    cpu, gpu = bound(KNN(cv="loo", **options), table(n=25, n_classes=n_classes, weights=True), monkeypatch)
    monkeypatch.setattr(gpu._sweeper(space := SearchSpace.of(5, sizes=(1, 4))), "judge", None)
    truth = cpu.sweep(space, 0, 32, 10)
    for floor in (-np.inf, float(truth.scores[6])):
        found = gpu.sweep(space, 0, 32, 10, floor)
        kept = truth.scores >= floor
        np.testing.assert_array_equal(found.states[: kept.sum()], truth.states[kept])
        np.testing.assert_array_equal(found.scores[: kept.sum()], truth.scores[kept])
        assert found.n_evaluated == truth.n_evaluated
        assert len(found.scores) < 10 or floor == -np.inf


def test_weighted_columns_of_one_neighbor_stay_on_the_device(monkeypatch):
    cpu, gpu = bound(KNN(), table(), monkeypatch)
    monkeypatch.setattr(gpu, "_coarse_masks", None)
    masks = masks_and_weights() * 0.5
    np.testing.assert_array_equal(gpu.score(masks), cpu.score(masks))


@pytest.mark.parametrize(("n_classes", "n_neighbors"), [(0, 3), (3, 3), (3, 1)])
def test_rows_beyond_the_memory_go_in_tiles(n_classes, n_neighbors, monkeypatch):
    problem = table(n=600, n_classes=n_classes)
    cpu, gpu = bound(KNN(n_neighbors), problem, monkeypatch, cuda_shim.Shim(memory=42_000))
    assert gpu._devices[0]._exact._tile < 600
    masks = masks_and_weights()[1:3]
    np.testing.assert_array_equal(gpu.score(masks), cpu.score(masks))


def test_too_little_memory_is_one_line_and_auto_a_note(monkeypatch):
    problem = table()
    with pytest.raises(InputError, match=r"too little free memory .* use device='cpu'"):
        bound(KNN(3), problem, monkeypatch, cuda_shim.Shim(memory=1000))
    with pytest.warns(FewerWarning, match="Working on the CPU: The GPU has too little free memory"):
        KNN(3).bind(problem, np.random.default_rng(0), Resources(device="auto"))


def test_several_devices_share_the_work(monkeypatch):
    cpu, gpu = bound(KNN((1, 5)), table(), monkeypatch, cuda_shim.Shim(), cuda_shim.Shim())
    assert len(gpu._devices) == 2
    masks = masks_and_weights()
    np.testing.assert_array_equal(gpu.score(masks), cpu.score(masks))


def test_what_lists_cannot_hold_is_said(monkeypatch):
    with pytest.warns(FewerWarning, match=r"KNN runs on the CPU, not on the GPU: n_neighbors=\[63\]"):
        bound(KNN(63), table(n=80), monkeypatch)


def test_a_long_run_of_changes_is_scored_on_the_device(monkeypatch):
    monkeypatch.setattr("fewer.criteria._knn.WORTH_A_DEVICE", 50)
    cpu, gpu = bound(KNN(3), table(), monkeypatch)
    units = [np.array([f]) for f in range(5)]
    walks = [scorer.walk(np.array([1.0, 0, 1, 0, 0]), units) for scorer in (cpu, gpu)]
    assert type(walks[0]) is not type(walks[1])
    assert walks[0].propose(3, 1.0) == walks[1].propose(3, 1.0)


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("options", [{}, {"ties": "index", "n_neighbors": 3}])
def test_the_gamma_test_is_that_of_the_cpu(n_classes, options, monkeypatch):
    problem = table(n_classes=n_classes, weights=True, groups=True)
    cpu, gpu = bound(GammaTest(**options), problem, monkeypatch)
    masks = masks_and_weights()
    np.testing.assert_array_equal(gpu.score(masks), cpu.score(masks))
    units = [np.array([f]) for f in range(5)]
    np.testing.assert_array_equal(gpu.flips(masks[1], units, masks[2] == 0), cpu.flips(masks[1], units, masks[2] == 0))
    space = SearchSpace.of(5)
    one, other = (scorer.sweep(space, 0, 32, 7) for scorer in (cpu, gpu))
    np.testing.assert_array_equal(one.states, other.states)
    np.testing.assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("options", [{}, {"estimate": "soft", "include_self": False}, {"radius": 0.3}])
@pytest.mark.parametrize("weights", [False, True])
def test_classifiability_is_that_of_the_cpu(n_classes, options, weights, monkeypatch):
    cpu, gpu = bound(Classifiability(**options), table(n_classes=n_classes, weights=weights), monkeypatch)
    masks = masks_and_weights()
    exact = n_classes > 0 and not weights  # sums of whole numbers
    compare = np.testing.assert_array_equal if exact else partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-15)
    compare(gpu.score(masks), cpu.score(masks))
    units = [np.array([f]) for f in range(5)]
    compare(gpu.flips(masks[1], units, masks[2] == 0), cpu.flips(masks[1], units, masks[2] == 0))


WITHIN_FAULTS = {
    "an off-by-one tile": ("if (j0 + r >= n_rows || d[r] > limit)", "if (j0 + r >= n_rows - 1 || d[r] > limit)"),
    "a wrong bound": ("d[r] > limit) continue;", "d[r] >= limit) continue;"),
    "a row beside itself": ("if (j == me) d[r] = with_self ? 0. : FAR;", ""),
    "no class": ("codes[j] == codes[me] ? weight", "codes[j] != codes[me] ? weight"),
}


@pytest.mark.parametrize("fault", WITHIN_FAULTS)
def test_a_fault_in_neighborhoods_is_noticed(fault, monkeypatch):
    # Distances from a grid: rows lie exactly at the radius.
    X = np.random.default_rng(0).integers(0, 4, (60, 5)).astype(float)
    X[0, 1] = np.nan
    problem = Problem.from_arrays(X, np.arange(60) % 2)
    cpu, gpu = bound(
        Classifiability(radius=0.4), problem, monkeypatch, cuda_shim.Shim(cuda_shim.planted(*WITHIN_FAULTS[fault]))
    )
    for scorer in (cpu, gpu):
        scorer._limits = lambda squares, n: np.full(len(squares), np.rint(2.0 / 9.0 * 2.0**36) / 2.0**36)
    masks = np.triu(np.ones((5, 5)))
    assert (gpu.score(masks) != cpu.score(masks)).any(), "the fault went unnoticed"


FAULTS = {
    "a missing barrier": (
        "min(j0 + e % ROWS, rows.n_rows - 1)];\n    __syncthreads();",
        "min(j0 + e % ROWS, rows.n_rows - 1)];",
    ),
    "an off-by-one tile": ("j0 + r < n_rows && groups[r] != own", "j0 + r < n_rows - 1 && groups[r] != own"),
    "rows of the own fold": ("&& groups[r] != own ? 0.", "? 0."),
    "a wrong bound": ("if (d[r] < near[CAPACITY - 1]) insert", "if (d[r] < near[0]) insert"),
    "a forgotten column": (
        "for (int q = 0; q < width; q++) {\n      int f",
        "for (int q = 1; q < width; q++) {\n      int f",
    ),
    "ties in the wrong order": ("bool moves = d < near[place - 1]", "bool moves = d <= near[place - 1]"),
    "a forgotten weight": ("(c.weight * square + shift) - shift;  // adding", "(square + shift) - shift;  // adding"),
    "terms not rounded": ("(c.weight * square + shift) - shift;\n    }", "c.weight * square;\n    }"),
    "a list trusted too far": ("if (list.count == room) {", "if (false) {"),
    "a vote without its row weight": (
        "rules.n_classes) tally.votes[rules.codes[j]] += rules.row_weights[j]",
        "rules.n_classes) tally.votes[rules.codes[j]] += 1.",
    ),
    "a level counted twice": ("level++, below = nearest;", "level += 2, below = nearest;"),
    "a tied vote not carried on": ("if (winner < 0 && !exhausted) break;", ""),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(fault, monkeypatch):
    before, after = FAULTS[fault]
    ordered = fault == "ties in the wrong order"
    problem = table(weights="weight" in fault)
    if fault == "terms not rounded":  # 0.1 + 0.2 is not 0.3 unless terms are rounded
        X = np.random.default_rng(0).integers(0, 10, (60, 5)) * 0.1
        problem = Problem.from_arrays(X, problem.y)
    criterion = KNN(1 if "trusted" in fault else 3, voting="neighbors" if ordered else "neighborhood")
    cpu, gpu = bound(criterion, problem, monkeypatch, cuda_shim.Shim(cuda_shim.planted(before, after)))
    masks = np.vstack([np.triu(np.ones((5, 5))), masks_and_weights()[3], np.eye(5)[1:3]])
    masks *= 0.5  # one neighbor, too, is judged exactly if columns have weights
    assert (gpu.score(masks) != cpu.score(masks)).any(), "the fault went unnoticed"
