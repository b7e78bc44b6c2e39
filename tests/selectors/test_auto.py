from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fewer
from fewer import AutoSelector
from fewer.problem import Problem
from fewer.selectors._auto_quantities import (
    FEWEST_COLUMNS,
    FEWEST_ROWS,
    INNER_FOLDS,
    STEPS,
    lay_out,
    sample_rows,
    seconds_a_subset,
)
from making import make_problem


@settings(deadline=None, max_examples=200)
@given(st.integers(2, 5_000), st.integers(1, 20_000), st.floats(0.2, 600.0))
def test_a_layout_fits_its_budget_and_gets_wider_with_it(n_rows, n_features, seconds):
    layout = lay_out(n_rows, n_features, seconds)
    n = layout.n_near
    subsets = sum(comb(n, k) for k in range(1, layout.exhaust + 1)) if layout.exhaust > 2 else comb(n, 2)
    cost = (subsets + STEPS * n) * seconds_a_subset(layout.n_rows) * (1 + INNER_FOLDS)
    assert cost <= seconds or layout.n_rows <= FEWEST_ROWS  # very little time is overdrawn rather than useless
    assert layout.n_near <= n_features
    assert min(n_rows, FEWEST_ROWS) <= layout.n_rows <= n_rows
    assert min(n_features, FEWEST_COLUMNS) <= layout.n_linear <= n_features
    assert layout.exhaust == 2 or layout.n_near == n_features
    wider = lay_out(n_rows, n_features, 2 * seconds)
    assert wider.n_rows >= layout.n_rows
    assert wider.n_linear >= layout.n_linear


def planted(kind, seed, n_rows=200, n_features=15):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, n_features))
    if kind == "product":
        return X, X[:, 2] * X[:, 9] > 0, [2, 9]
    if kind == "circle":
        return X, X[:, 4] ** 2 + X[:, 7] ** 2 < 0.5, [4, 7]
    signal = X[:, 1] + X[:, 5] - X[:, 11] + 0.3 * rng.normal(size=n_rows)
    return X, signal if kind == "quantity" else signal > 0, [1, 5, 11]


@pytest.mark.parametrize("kind", ["product", "circle", "sum", "quantity"])
def test_it_finds_what_was_planted_and_little_else(kind):
    for seed in range(3):
        X, y, signal = planted(kind, seed)
        selector = AutoSelector(random_state=0).fit(X, y)
        chosen = np.flatnonzero(selector.support_)
        assert set(signal) <= set(chosen)
        assert len(chosen) <= len(signal) + 2
        winner = max(selector.candidates_, key=lambda c: c["heldout"])
        assert winner["name"].capitalize() in selector.reason_
        if kind in ("product", "circle", "quantity"):
            assert winner["name"] == ("a linear fit" if kind == "quantity" else "nearest neighbors")


def test_threads_and_repetition_change_nothing():
    X, y, _ = planted("circle", 0)
    one = AutoSelector(random_state=3).fit(X, y)
    other = AutoSelector(random_state=3, n_jobs=2).fit(X, y)
    assert np.array_equal(one.support_, other.support_)
    assert one.candidates_ == other.candidates_
    assert one.n_evaluations_ == other.n_evaluations_


def test_features_forced_in_and_out_and_a_size_asked_for():
    X, y, _ = planted("sum", 0)
    selector = AutoSelector(n_features_to_select=4, include=[0], exclude=[5], random_state=0).fit(X, y)
    assert selector.support_.sum() == 4
    assert selector.support_[0]
    assert not selector.support_[5]


def test_rows_are_sampled_alike_by_class_and_whole_by_group():
    problem = make_problem(n_rows=400)
    sample = sample_rows(problem, 100, np.random.default_rng(0))
    assert sample.n_samples == 100
    assert np.bincount(sample.y).tolist() == [50, 50]
    assert sample_rows(problem, 400, np.random.default_rng(0)) is problem
    grouped = Problem.from_arrays(problem.X, problem.y, groups=np.arange(400) // 10)
    sample = sample_rows(grouped, 100, np.random.default_rng(0))
    assert all((sample.groups == group).sum() == 10 for group in np.unique(sample.groups))


def test_an_interrupted_race_keeps_the_best_so_far():
    X, y, _ = planted("sum", 0)

    def stop(trace):
        if trace.done or trace.n_steps > 3:
            raise KeyboardInterrupt

    selector = AutoSelector(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        selector.fit_problem(fewer.Problem.from_arrays(X, y), stop)
    assert selector.support_.any()
    assert len(selector.candidates_) == 1


def test_few_rows_are_answered_without_validation():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    selector = AutoSelector(random_state=0).fit(X, ["a", "a", "b", "b"])
    assert selector.support_.tolist() == [True, False]
    assert "too few rows" in selector.reason_ or "did best" in selector.reason_
    with pytest.raises(fewer.InputError):
        AutoSelector(random_state=0).fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])


def test_a_ranking_takes_part_where_searches_learn_rows_by_heart():
    rng = np.random.default_rng(6)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 1000))
    X[:, :4] += 1.3 * y[:, None]
    selector = AutoSelector(random_state=0).fit(X, y)
    assert [c["name"] for c in selector.candidates_] == ["a ranking", "a linear fit", "nearest neighbors"]
    assert isinstance(selector.selector_, fewer.RankSelector)
    assert selector.support_[:4].sum() >= 3
    assert selector.score_ == max(c["heldout"] for c in selector.candidates_)
    found = fewer.select(X, y, folds=2, random_state=0)
    assert found.criterion == "Fisher()"
    assert found.sizes["measured"] == "cross-validated"
    asked = AutoSelector(include=[5], random_state=0).fit(X[:40], y[:40])
    assert len(asked.candidates_) == 2
