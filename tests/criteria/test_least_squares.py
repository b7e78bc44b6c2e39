import numpy as np
import polars as pl
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression

import fewer
from fewer.contracts import Resources, gray_states
from fewer.criteria import LeastSquares
from fewer.io import to_problem
from fewer.problem import InputError, Problem


def bind(problem, n_jobs=1, **kwargs):
    return LeastSquares(**kwargs).bind(problem, np.random.default_rng(0), Resources(n_jobs))


def data(n_classes=0, n=40):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    y = np.arange(n) % n_classes if n_classes else 3 * X[:, 0] + rng.normal(size=n) + 7
    X[:, 2] += y
    return X, y


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_closed_form_equals_fits_without_the_rows(n_classes, grouped, weighted):
    X, y = data(n_classes)
    groups = np.arange(40) // 3 if grouped else None
    weights = np.random.default_rng(3).uniform(0.5, 2, 40) if weighted else None
    problem = Problem.from_arrays(
        X, y, task="classification" if n_classes else "regression", groups=groups, sample_weight=weights
    )
    w = np.ones(40) if weights is None else weights
    codes = y[:, None] if n_classes == 0 else np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)
    for mask in gray_states(np.arange(16), 4):
        answers = np.empty(codes.shape)
        for part in np.unique(np.arange(40) if groups is None else groups):
            rows = np.arange(40) == part if groups is None else groups == part
            if mask.any():
                model = LinearRegression().fit(X[~rows][:, mask], codes[~rows], w[~rows])
                answers[rows] = model.predict(X[rows][:, mask])
            else:
                answers[rows] = np.average(codes[~rows], axis=0, weights=w[~rows])
        mean = np.average(codes, axis=0, weights=w)
        truth = 1 - (w @ (codes - answers) ** 2).sum() / (w @ (codes - mean) ** 2).sum()
        scorer = bind(problem, alpha=1e-12)
        assert scorer.score(mask[None])[0] == pytest.approx(truth, abs=1e-6)
        shown = answers[:, 0] if n_classes == 0 else (answers + 1) / 2
        assert scorer.outputs(mask) == pytest.approx(shown, abs=1e-6)


def test_two_classes_are_told_apart_as_by_the_linear_discriminant():
    X, y = data(2, n=60)
    mask = np.array([True, False, True, True])
    scorer = bind(Problem.from_arrays(X, y), alpha=1e-12)
    fresh = np.random.default_rng(5).normal(size=(200, 4)) * 2
    ours = scorer.predict(mask, fresh).argmax(axis=1)
    truth = LinearDiscriminantAnalysis().fit(X[:, mask], y).predict(fresh[:, mask])
    assert np.array_equal(ours, truth)
    assert scorer.grade(scorer.predict(mask, X), scorer.problem) > 0.6


def test_batches_and_threads_change_nothing():
    problem = Problem.from_arrays(*data(3))
    masks = gray_states(np.arange(16), 4)
    one_by_one = [bind(problem).score(mask[None])[0] for mask in masks]
    assert bind(problem).score(masks) == pytest.approx(one_by_one, abs=1e-12)
    assert np.array_equal(bind(problem, n_jobs=2).score(masks), bind(problem).score(masks))
    assert bind(problem).score(masks[:0]).shape == (0,)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_change_at_a_time_scores_like_the_whole(n_classes, weighted):
    rng = np.random.default_rng(4)
    X, y = data(n_classes)
    frame = pl.DataFrame(
        {**{f"x{i}": X[:, i] for i in range(4)}, "level": rng.choice(["a", "b", "c"], 40), "copy": X[:, 0]}
    )
    weights = rng.uniform(0.5, 2, 40) if weighted else None
    problem = to_problem(frame, y, task="classification" if n_classes else "regression", sample_weight=weights)
    scorer = bind(problem)
    units = [np.array([i]) for i in range(6)] + [np.array([1, 3])]
    for state in (0, 1, 9, 37):
        mask = (state >> np.arange(6)) & 1 == 1
        values = np.array([not mask[unit].all() for unit in units])
        masks = np.repeat(mask[None], len(units), axis=0)
        for row, unit, value in zip(masks, units, values, strict=True):
            row[unit] = value
        assert scorer.flips(mask, units, values) == pytest.approx(scorer.score(masks), abs=1e-9)


def test_copies_holes_and_levels_do_no_harm():
    rng = np.random.default_rng(0)
    level = rng.choice(["a", "b", "c"], 80)
    x = rng.normal(size=80)
    frame = pl.DataFrame({"x": x, "copy": x, "incomplete": [None, *x[1:]], "level": level})
    problem = to_problem(frame, (level == "b") * 4.0 + x + 0.1 * rng.normal(size=80))
    scores = bind(problem).score(np.array([[1, 0, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1]], dtype=bool))
    assert np.all(scores > 0.99)


def test_forward_search_finds_the_columns_of_a_sum():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 30))
    y = X[:, [3, 11, 20]].sum(axis=1) + rng.normal(size=200)
    selector = fewer.SubsetSelector(LeastSquares(), fewer.search.Forward(), n_features_to_select=3, random_state=0)
    assert np.flatnonzero(selector.fit(X, y).support_).tolist() == [3, 11, 20]


def test_a_ridge_of_zero_is_refused():
    with pytest.raises(InputError, match="'alpha' parameter of LeastSquares"):
        bind(Problem.from_arrays(*data(2)), alpha=0)


def wide(n_classes, correlated, n=60, p=90):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, p)) + (2.0 * rng.normal(size=(n, 1)) if correlated else 0.0)
    X[:, 40] = X[:, 3]  # a copy
    X[:, 41] = 1000.0 + 0.1 * X[:, 5]  # far from zero
    y = X[:, [3, 5, 20]].sum(axis=1) + rng.normal(size=n)
    return X, np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes)) if n_classes else y


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("correlated", [False, True])
def test_the_best_column_is_found_without_scoring_all(n_classes, weighted, correlated):
    X, y = wide(n_classes, correlated)
    weights = np.random.default_rng(3).uniform(0.5, 2, len(y)) if weighted else None
    problem = Problem.from_arrays(X, y, task="classification" if n_classes else "regression", sample_weight=weights)
    scorer, slow = bind(problem), bind(problem)
    mask, n_scored = np.zeros(90, dtype=bool), 0
    for step in range(14):
        columns = np.flatnonzero(~mask)
        places, scores = scorer.best_flip(mask, columns)
        every = slow.flips(mask, [np.array([c]) for c in columns], np.ones(len(columns), dtype=bool))
        assert scores == pytest.approx(every[places], abs=1e-9)
        assert scores.max() >= every.max() - 1e-9
        n_scored += len(places)
        mask[columns[places[np.argmax(scores)]]] = True
        if step == 9:
            mask[np.flatnonzero(mask)[0]] = False  # as a floating search does
    assert n_scored < 14 * 90 / 2


def test_dropping_one_after_the_other_drifts_nowhere():
    X, y = wide(0, True, n=80, p=70)
    scorer = bind(Problem.from_arrays(X, y, task="regression"))
    mask = np.ones(70, dtype=bool)
    for _ in range(60):
        units = [np.array([c]) for c in np.flatnonzero(mask)]
        scores = scorer.flips(mask, units, np.zeros(len(units), dtype=bool))
        masks = np.repeat(mask[None], len(units), axis=0)
        masks[np.arange(len(units)), np.flatnonzero(mask)] = False
        assert scores == pytest.approx(scorer.score(masks), abs=1e-7)
        mask[np.flatnonzero(mask)[int(np.argmax(scores))]] = False


def test_several_quantities_count_alike():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = np.column_stack([X[:, 1] + 0.5 * rng.normal(size=80), 1000 * (X[:, 3] + rng.normal(size=80))])
    problem = Problem.from_arrays(X, y, task="regression")
    alone = [Problem.from_arrays(X, column, task="regression") for column in y.T]
    masks = gray_states(np.arange(32), 5)
    assert bind(problem).score(masks) == pytest.approx(np.mean([bind(p).score(masks) for p in alone], axis=0), abs=1e-9)
    selector = fewer.SubsetSelector(LeastSquares(), fewer.search.Forward(), n_features_to_select=2)
    assert selector.fit(X, y).get_support(indices=True).tolist() == [1, 3]


def test_several_labels_and_where_several_targets_are_refused():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 5))
    y = (X[:, [1, 3]] + 0.3 * rng.normal(size=(80, 2)) > 0).astype(int)
    selector = fewer.SubsetSelector(LeastSquares(), fewer.search.Forward(), n_features_to_select=2)
    assert selector.fit(X, y).get_support(indices=True).tolist() == [1, 3]
    with pytest.raises(InputError, match="The target has 2 columns, but SubsetSelector works with one here"):
        fewer.SubsetSelector(fewer.criteria.KNN()).fit(X, y)
    with pytest.raises(InputError, match="The target has 2 columns, but RankSelector works with one here"):
        fewer.RankSelector().fit(X, y)
    with pytest.raises(InputError, match="OneStandardError works with one target, but there are 2"):
        selector.set_params(control=fewer.control.OneStandardError()).fit(X, y)


def test_changes_of_a_saturated_fit_score_as_from_the_beginning():
    """With as many inputs as rows, residuals are what the penalty leaves of them."""
    rng = np.random.default_rng(0)
    for n_rows in (3, 4, 6):
        problem = Problem.from_arrays(rng.normal(size=(n_rows, 5)), rng.normal(size=n_rows), task="regression")
        scorer = LeastSquares().bind(problem, rng, Resources())
        for _ in range(20):
            mask = rng.random(5) < 0.6
            units, values = [np.array([i]) for i in range(5)], ~mask
            changed = np.tile(mask, (5, 1))
            np.fill_diagonal(changed, values)
            np.testing.assert_allclose(scorer.flips(mask, units, values), scorer.score(changed), rtol=1e-9)


def test_a_forward_step_needs_no_copy_of_the_table():
    rng = np.random.default_rng(0)
    scorer = bind(to_problem(rng.normal(size=(60, 30)), rng.normal(size=60)))
    mask = np.zeros(30, dtype=bool)
    mask[3] = True
    assert scorer.best_flip(mask, np.flatnonzero(~mask)) is not None
    assert "_inputs" not in vars(scorer)


@pytest.mark.parametrize("seed", range(5))
def test_levels_lose_no_digits(seed):
    """The indicators of a nominal column add up to a constant: only the ridge holds the matrix in that direction."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(24, 3)), rng.integers(0, 3, 24), rng.integers(0, 4, 24)])
    problem = to_problem(X, X[:, 0] + rng.normal(size=24), task="regression", nominal=[3, 4])
    scorer = LeastSquares().bind(problem, np.random.default_rng(0), Resources())
    for mask, change in ((np.ones(5, dtype=bool), range(5)), (np.array([0, 0, 0, 1, 1], dtype=bool), range(3))):
        children = np.repeat(mask[None], len(change), axis=0)
        children[np.arange(len(change)), list(change)] ^= True
        found = scorer.flips(mask, [np.array([c]) for c in change], children[np.arange(len(change)), list(change)])
        assert found == pytest.approx(scorer.score(children), abs=1e-9)
