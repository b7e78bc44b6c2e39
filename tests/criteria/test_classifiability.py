"""Classifiability against its definition written out, its limits, and itself by other routes."""

import tracemalloc
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from fewer import SubsetSelector
from fewer.contracts import Objective, Resources, SearchSpace, round_scores
from fewer.criteria import Classifiability, classifiability
from fewer.problem import InputError, Problem
from fewer.search import Annealing, Exhaustive, Floating, Forward


def mixed_problem(seed=0, n_rows=50, task="classification", missing=0.1, weights=False, n_classes=3, grouped=False):
    """Numbers with and without repeats, levels, missing, a class that leans on two columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows) if task == "classification" else rng.normal(size=n_rows)
    X = np.column_stack(
        [
            rng.normal(size=n_rows) + y,
            rng.integers(0, 4, n_rows),
            rng.integers(0, 3, n_rows),
            rng.random(n_rows) * (1 + y),
            rng.random(n_rows),
        ]
    ).astype(float)
    X[:, 3:][rng.random((n_rows, 2)) < missing] = np.nan
    X[:, 2][rng.random(n_rows) < missing] = np.nan
    kinds = ("numeric", "nominal", "nominal", "numeric", "numeric")
    groups = rng.integers(0, 20, n_rows) if grouped else None
    sample_weight = rng.integers(1, 4, n_rows) if weights else None
    return Problem.from_arrays(X, y, task=task, kinds=kinds, sample_weight=sample_weight, groups=groups)


def squared_distances(problem, mask, coding="kinds"):
    """Range-scaled differences, 0/1 for levels, the average squared difference for missing."""
    n = problem.n_samples
    total = np.zeros((n, n))
    for f in np.flatnonzero(mask):
        x = problem.X[:, f]
        here = ~np.isnan(x)
        if problem.kinds[f] == "nominal" and coding == "kinds":
            square = (x[:, None] != x[None, :]).astype(float)
        else:
            square = ((x[:, None] - x[None, :]) / np.ptp(x[here])) ** 2
        known = here[:, None] & here[None, :]
        total += float(mask[f]) * np.where(known, square, square[np.ix_(here, here)].mean())
    return total


def plain_classifiability(
    problem, mask, factor=3.0, typical="rms", radius=None, weighting="size", include_self=True, estimate="hard",
    coding="kinds",
):  # fmt: skip
    """The paper's definitions row by row; a hair of slack at the radius."""
    n = problem.n_samples
    w = problem.row_weights
    D2 = squared_distances(problem, mask, coding)
    np.fill_diagonal(D2, 0.0)
    mates = problem.row_groups[:, None] == problem.row_groups
    nearest = np.where(mates, np.inf, D2).min(axis=1)
    r = np.sqrt(w @ nearest / w.sum()) if typical == "rms" else w @ np.sqrt(nearest) / w.sum()
    d = factor * r if radius is None else radius
    C, size = np.zeros(n), np.zeros(n)
    spread = np.average((problem.y - np.average(problem.y, weights=w)) ** 2, weights=w)
    spread *= w.sum() / (w.sum() - w @ w / w.sum())
    for i in range(n):
        inside = D2[i] <= d**2 * (1 + 1e-9)
        inside[mates[i]] = include_self and D2[i, mates[i]] == 0  # copies in the group count as the row itself
        size[i] = w[inside].sum()
        if not size[i]:
            continue
        near, weight = problem.y[inside], w[inside] / size[i]
        if problem.task == "classification":
            q = np.array([weight[near == c].sum() for c in range(problem.n_classes)])
            C[i] = 2 * (q[problem.y[i]] if estimate == "hard" else (q**2).sum()) - 1
        elif estimate == "hard":
            C[i] = 1 - weight @ (near - problem.y[i]) ** 2 / (2 * spread)
        else:
            C[i] = 1 - (weight @ near**2 - (weight @ near) ** 2) / spread
    share = w * size / (w @ size) if weighting == "size" else w / w.sum()
    return share @ C, C


def bind(problem, n_jobs=1, **options):
    return Classifiability(**options).bind(problem, np.random.default_rng(0), Resources(n_jobs))


ALL_MASKS = np.array(list(product([False, True], repeat=5)))[1:]


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("typical", ["rms", "mean"])
@pytest.mark.parametrize("weighting", ["size", "uniform"])
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("estimate", ["hard", "soft"])
def test_equals_the_definition(task, typical, weighting, include_self, estimate):
    options = {"typical": typical, "weighting": weighting, "include_self": include_self, "estimate": estimate}
    for seed, weights, radius in ((0, False, None), (1, True, None), (2, False, 0.4)):
        problem = mixed_problem(seed, task=task, weights=weights)
        ours = bind(problem, radius=radius, **options).score(ALL_MASKS)
        truth = [plain_classifiability(problem, mask, radius=radius, **options)[0] for mask in ALL_MASKS]
        np.testing.assert_allclose(ours, truth, atol=1e-9)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rows_of_one_group_are_no_neighbors(task, include_self):
    problem = mixed_problem(4, task=task, grouped=True, weights=True)
    for radius in (None, 0.4):
        ours = bind(problem, radius=radius, include_self=include_self).score(ALL_MASKS)
        twin = [plain_classifiability(problem, m, radius=radius, include_self=include_self)[0] for m in ALL_MASKS]
        np.testing.assert_allclose(ours, twin, atol=1e-9)


@pytest.mark.parametrize("options", [{}, {"estimate": "soft"}, {"include_self": False}, {"weighting": "uniform"}])
def test_a_twin_of_every_row_changes_nothing(options):
    alone = mixed_problem(6, n_rows=60, missing=0.0)
    rows = np.repeat(np.arange(60), 2)
    twins = replace(alone.take(rows), groups=rows)
    np.testing.assert_allclose(bind(twins, **options).score(ALL_MASKS), bind(alone, **options).score(ALL_MASKS))
    unmarked = bind(alone.take(rows), **options).score(ALL_MASKS)
    assert unmarked[-1] == pytest.approx(1.0) or not options.get("include_self", True)  # without groups: too good


def test_groups_that_leave_no_neighbor_are_refused():
    problem = mixed_problem(0)
    with pytest.raises(InputError, match="Classifiability .* rows are of one group"):
        bind(replace(problem, groups=np.zeros(50, dtype=np.int64)))
    with pytest.raises(InputError, match="Classifiability .* each class is one group"):
        bind(replace(problem, groups=problem.y))


@pytest.mark.parametrize("factor", [1.0, 2.5, 8.0])
def test_integer_coding_and_factors(factor):
    problem = mixed_problem(3, missing=0.0)
    ours = bind(problem, factor=factor, coding="integer").score(ALL_MASKS)
    truth = [plain_classifiability(problem, mask, factor=factor, coding="integer")[0] for mask in ALL_MASKS]
    np.testing.assert_allclose(ours, truth, atol=1e-9)


def test_rows_beyond_one_chunk_are_found_too():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 700)
    X = np.column_stack([rng.normal(size=700) + y, rng.normal(size=700).round(1), rng.integers(0, 3, 700)])
    problem = Problem.from_arrays(X, y, kinds=("numeric", "numeric", "nominal"))
    masks = np.array(list(product([False, True], repeat=3)))[1:]
    for factor in (3.0, 12.0):
        truth = [plain_classifiability(problem, mask, factor=factor)[0] for mask in masks]
        np.testing.assert_allclose(bind(problem, factor=factor).score(masks), truth, atol=1e-9)


def test_per_row_tells_which_rows_are_hard():
    problem = mixed_problem(5, missing=0.0)
    frame = pl.DataFrame(problem.X, schema=[f"x{i}" for i in range(5)]).with_columns(
        pl.col("x1", "x2").cast(pl.Int64).cast(pl.String)
    )
    result = classifiability(frame, problem.y)
    value, local = plain_classifiability(problem, np.ones(5))
    assert result.value == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(result.per_row, local, atol=1e-9)
    assert result.n_neighbors.min() >= 1


def test_dropped_rows_take_no_part():
    problem = mixed_problem(6)
    complete = ~problem.missing.any(axis=1)
    mask = np.ones(5, dtype=bool)
    ours = bind(problem, missing="drop").score(mask[None])[0]
    assert ours == pytest.approx(plain_classifiability(problem.take(complete), mask)[0], abs=1e-9)
    result = classifiability(problem.X, problem.y, missing="drop")
    np.testing.assert_array_equal(np.isnan(result.per_row), ~complete)


# --------------------------------------------------------------------------------------- routes to one score


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"weighting": "uniform", "typical": "mean"}, {"estimate": "soft"}])
def test_flips_equal_scores_to_the_last_bit(options, weighted):
    problem = mixed_problem(7, n_rows=150)
    scorer = bind(problem, **options)
    rng = np.random.default_rng(1)
    units = [np.array([0]), np.array([1, 4]), np.array([2]), np.array([3])]
    for _ in range(12):
        state = rng.integers(0, 3, 4) / 2 if weighted else rng.integers(0, 2, 4).astype(bool)
        mask = np.zeros(5, dtype=state.dtype)
        for unit, value in zip(units, state, strict=True):
            mask[unit] = value
        values = np.where(state == 0, 1, rng.choice([0.0, 0.25], 4) if weighted else 0).astype(state.dtype)
        masks = np.repeat(mask[None], 4, axis=0)
        for row, unit, value in zip(masks, units, values, strict=True):
            row[unit] = value
        np.testing.assert_array_equal(scorer.flips(mask, units, values), scorer.score(masks))


def test_threads_and_batches_change_nothing():
    problem = mixed_problem(8, n_rows=400)
    mask = np.array([True, False, False, True, False])
    units = [np.array([i]) for i in range(5)]
    one = bind(problem)
    two = Classifiability().bind(problem, np.random.default_rng(0), Resources(2, memory=1))
    np.testing.assert_array_equal(one.flips(mask, units, ~mask), two.flips(mask, units, ~mask))
    np.testing.assert_array_equal(one.score(ALL_MASKS), two.score(ALL_MASKS))


def test_walk_and_sweep_agree_with_score():
    problem = mixed_problem(9)
    space = SearchSpace.of(5)
    scorer = bind(problem)
    walk = scorer.walk(np.zeros(5, dtype=bool), space.units)
    rng = np.random.default_rng(0)
    mask = np.zeros(5, dtype=bool)
    for _ in range(60):
        unit = int(rng.integers(5))
        proposed = mask.copy()
        proposed[unit] = ~mask[unit]
        assert walk.propose(unit, proposed[unit]) == scorer.score(proposed[None])[0]
        if rng.random() < 0.5:
            walk.accept()
            mask = proposed
        else:
            walk.reject()
    sweep = Objective(scorer, space).sweep(0, 32, 1)
    assert sweep.scores[0] == round_scores(scorer.score(ALL_MASKS)).max()


def test_works_with_other_searches():
    problem = mixed_problem(10)
    best = round_scores(bind(problem).score(ALL_MASKS)).max()
    exhaustive = SubsetSelector(Classifiability(), Exhaustive(), random_state=0).fit_problem(problem)
    assert exhaustive.score_ == best
    for search in (Forward(), Floating(), Annealing()):
        assert SubsetSelector(Classifiability(), search, random_state=0).fit_problem(problem).score_ <= best


# --------------------------------------------------------------------------------------------------- limits


def test_empty_subset_scores_zero():
    assert bind(mixed_problem()).score(np.zeros((1, 5), dtype=bool)) == [0.0]


def test_separated_classes_score_one():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.random((300, 2)) + 20 * y[:, None]
    assert classifiability(X, y).value == 1.0
    overlapping_a_little = rng.normal(size=(300, 2)) + 5 * y[:, None]
    assert classifiability(overlapping_a_little, y).value > 0.95


@pytest.mark.parametrize(("include_self", "limit"), [(True, -1 / 7), (False, -1 / 3)])
def test_alternating_labels_are_below_zero(include_self, limit):
    """Within three steps along a line: four of the other class, two of the own, and the row itself."""
    n = 2000
    value = classifiability(np.arange(n)[:, None], np.arange(n) % 2, include_self=include_self).value
    assert value == pytest.approx(limit, abs=2e-3)


@pytest.mark.parametrize("include_self", [True, False])
def test_random_labels_score_their_exact_expectation(include_self):
    """Averaged over every way to place the labels, a pair agrees with chance Σ n_c (n_c − 1) / (n (n − 1))."""
    X = np.array([0.0, 0.1, 0.15, 0.4, 0.45, 0.5, 1.0])[:, None]
    values = []
    for chosen in combinations(range(7), 3):
        y = np.isin(np.arange(7), chosen).astype(int)
        values.append(bind(Problem.from_arrays(X, y), radius=0.3, include_self=include_self).score(np.ones((1, 1)))[0])
    pairs = np.abs(X - X.T) <= 0.3 + 1e-12
    n_pairs = pairs.sum() - 7
    agree = 2 * (3 * 2 + 4 * 3) / (7 * 6) - 1
    selves = 7 * include_self
    assert np.mean(values) == pytest.approx((selves + n_pairs * agree) / (selves + n_pairs), abs=1e-12)


def test_unrelated_numbers_score_zero_on_average():
    """Regression without the row itself: over all orders of the target the mean is 0, exactly."""
    from itertools import permutations

    X = np.array([0.0, 0.1, 0.15, 0.4, 0.45])[:, None]
    target = np.array([1.0, 2.0, 5.0, 7.0, 7.5])
    values = [
        bind(Problem.from_arrays(X, np.array(y), task="regression"), radius=0.3, include_self=False).score(
            np.ones((1, 1), dtype=bool)
        )[0]
        for y in permutations(target)
    ]
    assert np.mean(values) == pytest.approx(0.0, abs=1e-12)


def test_regression_on_two_coded_classes_is_classification():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 3)) + y[:, None]
    for estimate in ("hard", "soft"):
        classes = bind(Problem.from_arrays(X, y), estimate=estimate).score(np.tri(3, dtype=bool))
        numbers = bind(Problem.from_arrays(X, y, task="regression"), estimate=estimate).score(np.tri(3, dtype=bool))
        np.testing.assert_allclose(1 - numbers, (1 - classes) * 79 / 80, atol=1e-12)


@pytest.mark.parametrize(("weighting", "spec"), [("uniform", 0.550), ("size", 0.462)])
def test_two_gaussians_reach_the_closed_form_limit(weighting, spec):
    """L → mean of (2η − 1)², weighted by the density for neighborhood sizes; unit normals two apart."""
    density = lambda x: (norm.pdf(x) + norm.pdf(x - 2)) / 2  # noqa: E731
    smooth = lambda x: ((norm.pdf(x) - norm.pdf(x - 2)) / (norm.pdf(x) + norm.pdf(x - 2))) ** 2  # noqa: E731
    power = 1 if weighting == "uniform" else 2
    limit = quad(lambda x: density(x) ** power * smooth(x), -8, 10)[0] / quad(lambda x: density(x) ** power, -8, 10)[0]
    assert limit == pytest.approx(spec, abs=6e-4)
    rng = np.random.default_rng(0)
    y = np.arange(20_000) % 2
    X = rng.normal(size=(20_000, 1)) + 2 * y[:, None]
    value = bind(Problem.from_arrays(X, y), radius=0.008, weighting=weighting, include_self=False).score(
        np.ones((1, 1))
    )
    assert value[0] == pytest.approx(limit, abs=0.012)


# ---------------------------------------------------------------------------------------------- invariances


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(5, 60), decimals=st.integers(0, 2))
def test_labels_rows_and_columns_have_no_names(seed, n_rows, decimals):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(decimals)
    y = np.concatenate([[0, 1], rng.integers(0, 3, n_rows - 2)])
    scores = bind(Problem.from_arrays(X, y)).score(np.tri(3, dtype=bool))
    renamed = bind(Problem.from_arrays(X, np.array(["u", "a", "k"])[y])).score(np.tri(3, dtype=bool))
    np.testing.assert_array_equal(scores, renamed)
    rows, columns = rng.permutation(n_rows), rng.permutation(3)
    moved = bind(Problem.from_arrays(X[rows][:, columns], y[rows])).score(np.tri(3, dtype=bool)[:, columns])
    np.testing.assert_array_equal(round_scores(scores), round_scores(moved))
    shifted = bind(Problem.from_arrays(4.0 * X + 64.0, y)).score(np.tri(3, dtype=bool))
    np.testing.assert_allclose(scores, shifted, atol=1e-9)
    assert np.all((scores >= -1) & (scores <= 1))


# ------------------------------------------------------------------------------------------------- the rest


def test_strings_holes_and_three_classes_in_a_frame():
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes", "perhaps"])[np.arange(90) % 3]
    frame = pl.DataFrame(
        {
            "number": [None if rng.random() < 0.1 else rng.normal() + i % 3 for i in range(90)],
            "word": [str(v) if rng.random() > 0.1 else None for v in y],
            "flag": rng.random(90) < 0.5,
        }
    )
    selector = SubsetSelector(Classifiability(), Forward(min_gain=0.0)).fit(frame, y)
    assert "word" in selector.get_feature_names_out()
    assert np.isfinite(selector.score_)


@pytest.mark.parametrize(
    "options",
    [{"typical": "median"}, {"weighting": "n"}, {"estimate": 1}, {"factor": 0.0}, {"radius": -1.0}, {"coding": "x"}],
)
def test_refuses_options_that_mean_nothing(options):
    with pytest.raises(InputError, match=next(iter(options))):
        bind(mixed_problem(), **options)


def test_twenty_thousand_rows_stay_within_the_budget():
    rng = np.random.default_rng(0)
    y = np.arange(20_000) % 2
    problem = Problem.from_arrays(rng.normal(size=(20_000, 20)) + 0.5 * y[:, None], y)
    budget = 16 << 20
    scorer = Classifiability().bind(problem, rng, Resources(2, memory=budget))
    mask = np.arange(20) < 2
    scorer.flips(mask[:], [np.array([5])], np.array([True]))
    tracemalloc.start()
    try:
        scores = scorer.flips(mask, [np.array([i]) for i in range(2, 20)], np.ones(18, dtype=bool))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.isfinite(scores).all()
    assert peak < budget
