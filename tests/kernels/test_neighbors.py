"""Each way to score subsets by neighbors against a slow twin that is too simple to be wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.contracts import Resources, SearchSpace, gray_states, round_scores
from fewer.criteria import KNN
from fewer.criteria._knn import CoarseWalk, ExactWalk
from fewer.problem import Problem

# ------------------------------------------------------------------------------------------------ the twin


def twin_distances(scorer, mask):
    """Sum the quantised terms of a mask for every pair of rows; infinity within a fold."""
    layout, n = scorer._differences, scorer.problem.n_samples
    d = np.where(layout.fold[:, None] == layout.fold[None, :], np.inf, 0.0)
    for f in np.flatnonzero(mask):
        x, hole = layout.columns[f], layout.missing[f].astype(bool)
        scale, gap = layout.scale[layout.fold, f][:, None], layout.gap[layout.fold, f][:, None]
        difference = x[:, None] - x[None, :]
        square = scale * (difference != 0) if layout.nominal[f] else np.minimum(scale * difference * difference, 64.0)
        square = np.where(hole[:, None] | hole[None, :], gap, square)
        d = d + np.rint(mask[f] * square / layout.quantum) * layout.quantum
    assert d.shape == (n, n)
    return d


def twin_vote(d, y, weights, k, by_rows, n_classes):
    """Let the neighbors of one row vote: the class, or the mean (None if no row may be used)."""
    order = [int(j) for j in np.argsort(d, kind="stable") if np.isfinite(d[j])]
    if by_rows:
        voters = order[:k]
        if n_classes == 0:
            return np.average(y[voters], weights=weights[voters]) if voters else None
        tally = np.bincount(y[voters], weights[voters], n_classes)
        leaders = np.flatnonzero(tally == tally.max())
        return next((y[j] for j in voters if y[j] in leaders), 0)
    distances = sorted({d[j] for j in order})
    for level in range(k, max(k, len(distances)) + 1):
        voters = [j for j in order if d[j] in distances[:level]]
        if n_classes == 0:
            return np.average(y[voters], weights=weights[voters]) if voters else None
        tally = np.bincount(y[voters], weights[voters], n_classes)
        if np.sum(tally == tally.max()) == 1:
            return tally.argmax()
    leaders = np.flatnonzero(tally == tally.max())
    return next((y[j] for j in range(len(d)) if np.isfinite(d[j]) and y[j] in leaders), 0)


def twin_score(scorer, mask):
    """Accuracy or R² with the best number of neighbors."""
    problem = scorer.problem
    y, n_classes = problem.y, problem.n_classes
    weights = problem.row_weights
    d = twin_distances(scorer, np.asarray(mask, dtype=float))
    mean = 0.0 if n_classes else np.average(y, weights=weights)
    scores = []
    for k in scorer.ks:
        votes = [twin_vote(row, y, weights, k, scorer._by_rows, n_classes) for row in d]
        if n_classes:
            scores.append(weights[np.array(votes) == y].sum() / weights.sum())
        else:
            errors = np.array([mean if v is None else v for v in votes]) - y
            scores.append(1.0 - weights @ errors**2 / ((weights @ (y - mean) ** 2) or 1.0))
    return max(scores)


# ----------------------------------------------------------------------------------------------- the cases


@st.composite
def scorers(draw, max_features=5, ks=None, n_jobs=1):
    """Small tables full of ties, duplicates, constant columns, missing, nominal values, classes of one row."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(2, 24)), draw(st.integers(1, max_features))
    X = rng.random((n, p)) if draw(st.booleans()) else rng.integers(0, 4, (n, p)).astype(float)
    if draw(st.booleans()):
        X[rng.random((n, p)) < 0.15] = np.nan
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]
    if draw(st.booleans()):
        X[:, 0] = 7.0
    kinds = [draw(st.sampled_from(["numeric", "nominal"])) if X[0, f] == X[0, f] // 1 else "numeric" for f in range(p)]
    task = draw(st.sampled_from(["classification", "classification", "regression"]))
    y = rng.integers(0, draw(st.integers(1, 4)), n) if task == "classification" else rng.integers(0, 9, n) / 4 + 100
    if task == "classification" and draw(st.booleans()):
        y[rng.integers(n)] = 9
    weights = draw(st.sampled_from([None, rng.integers(1, 4, n) / 2.0, rng.integers(0, 2, n) + 0.0]))
    if weights is not None and not weights.any():
        weights = None
    if task == "regression" and weights is not None:
        weights = np.maximum(weights, 0.5)
    criterion = KNN(
        n_neighbors=ks or draw(st.sampled_from([1, 1, 1, 2, 3, (1, 3), (2, 5), "auto"])),
        cv=draw(st.sampled_from(["loo", 2, 3])),
        voting=draw(st.sampled_from(["neighborhood", "neighbors"])),
        scaling=draw(st.sampled_from(["training", "global", "none"])),
    )
    problem = Problem.from_arrays(X, y, task=task, kinds=kinds, sample_weight=weights)
    return criterion.bind(problem, np.random.default_rng(0), Resources(n_jobs=n_jobs))


def random_weights(rng, m, p):
    return rng.integers(0, 5, (m, p)) / 4.0 * (rng.random((m, p)) < 0.7)


# ----------------------------------------------------------------------------------------------- the tests


@settings(deadline=None, max_examples=80)
@given(scorers(), st.integers(0, 2**32 - 1))
def test_masks_and_weights(scorer, seed):
    rng, p = np.random.default_rng(seed), scorer.problem.n_features
    masks = rng.random((20, p)) < 0.5  # more than a table has entries: both ways to score many masks
    weights = random_weights(rng, 3, p)
    for given_masks in (masks, masks[:2], weights):
        truth = [twin_score(scorer, mask) for mask in given_masks]
        np.testing.assert_allclose(scorer.score(given_masks), truth, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(scorers(), st.integers(0, 2**32 - 1))
def test_flips_equal_scores(scorer, seed):
    rng, p = np.random.default_rng(seed), scorer.problem.n_features
    units = [np.array([f]) for f in range(p)] + ([np.array([0, p - 1])] if p > 1 else [])
    mask, values = random_weights(rng, 1, p)[0], rng.integers(0, 5, len(units)) / 4.0
    masks = np.repeat(mask[None], len(units), axis=0)
    for row, unit, value in zip(masks, units, values, strict=True):
        row[unit] = value
    np.testing.assert_array_equal(scorer.flips(mask, units, values), scorer.score(masks))


@settings(deadline=None, max_examples=60)
@given(scorers(max_features=7), st.data())
def test_sweep_equals_scores(scorer, data):
    p = scorer.problem.n_features
    include = [p - 1] if p > 3 and data.draw(st.booleans()) else []
    groups = [[0, 2]] if p > 3 and data.draw(st.booleans()) else []
    space = SearchSpace.of(p, include=include, groups=groups)
    start = data.draw(st.integers(0, 2**space.n_units - 1))
    stop = data.draw(st.integers(start + 1, 2**space.n_units))
    states = gray_states(np.arange(start, stop), space.n_units)
    states = states[space.allows(states)]
    scores = dict(zip(map(bytes, states), round_scores(scorer.score(space.expand(states))), strict=True))
    found = scorer.sweep(space, start, stop, 1000)
    assert found.n_evaluated == len(states)
    assert {bytes(state): score for state, score in zip(found.states, found.scores, strict=True)} == scores
    best = scorer.sweep(space, start, stop, 2)
    np.testing.assert_array_equal(best.scores, found.scores[:2])
    np.testing.assert_array_equal(best.states, found.states[:2])


@settings(deadline=None, max_examples=40)
@given(scorers(), st.integers(0, 2**32 - 1))
def test_walk_equals_scores(scorer, seed):
    rng, p = np.random.default_rng(seed), scorer.problem.n_features
    units = [np.array([f]) for f in range(p)] + ([np.array([0, p - 1])] if p > 1 else [])
    mask = random_weights(rng, 1, p)[0]
    walk = scorer.walk(mask, units)
    for _ in range(25):
        unit, value = int(rng.integers(len(units))), float(rng.integers(0, 5) / 4)
        proposed = mask.copy()
        proposed[units[unit]] = value
        assert walk.propose(unit, value) == scorer.score(proposed[None])[0]
        if rng.random() < 0.5:
            walk.accept()
            mask = proposed
        else:
            walk.reject()


@pytest.mark.parametrize(("n_neighbors", "kind"), [(1, CoarseWalk), (3, ExactWalk)])
@pytest.mark.parametrize("levels", [1, 4])
def test_ten_thousand_moves_leave_no_trace(n_neighbors, kind, levels):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random((30, 4)), rng.integers(0, 3, (30, 4))])  # half of the columns full of ties
    problem = Problem.from_arrays(X, rng.integers(0, 3, 30))
    scorer = KNN(n_neighbors, cv=5).bind(problem, rng, Resources())
    units = [np.array([f]) for f in range(8)]
    mask = np.zeros(8)
    walk = scorer.walk(mask, units)
    assert isinstance(walk, kind)
    for move in range(10_000):
        unit, value = int(rng.integers(8)), float(rng.integers(0, levels + 1) / levels)
        score = walk.propose(unit, value)
        if rng.random() < 0.7:
            walk.accept()
            mask[unit] = value
            if move % 100 == 0:
                assert score == scorer.score(mask[None])[0]
        else:
            walk.reject()
    assert walk.propose(0, mask[0]) == scorer.score(mask[None])[0]


@pytest.mark.parametrize("n_neighbors", [1, (1, 5)])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_threads_change_nothing(n_neighbors, task, monkeypatch):
    monkeypatch.setattr("fewer.criteria._knn.WORTH_A_THREAD", 0)
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.random((90, 3)), rng.integers(0, 3, (90, 4))])
    y = rng.integers(0, 3, 90) if task == "classification" else rng.normal(size=90)
    problem = Problem.from_arrays(X, y, task=task, sample_weight=rng.random(90) + 0.1)
    one, two = (KNN(n_neighbors).bind(problem, np.random.default_rng(0), Resources(n_jobs=n_jobs)) for n_jobs in (1, 2))
    masks, units = rng.random((40, 7)) < 0.5, [np.array([f]) for f in range(7)]
    np.testing.assert_array_equal(one.score(masks), two.score(masks))
    np.testing.assert_array_equal(one.flips(masks[0], units, ~masks[0]), two.flips(masks[0], units, ~masks[0]))
    space = SearchSpace.of(7)
    np.testing.assert_array_equal(one.sweep(space, 0, 128, 99).scores, two.sweep(space, 0, 128, 99).scores)
    walks = [scorer.walk(masks[0], units) for scorer in (one, two)]
    for unit in (0, 3, 0, 6):
        scores = [walk.propose(unit, float(~masks[0][unit])) for walk in walks]
        assert scores[0] == scores[1]
        for walk in walks:
            walk.accept()


def test_more_masks_than_a_batch(monkeypatch):
    monkeypatch.setattr("fewer.criteria._knn.BATCH", 32)
    rng = np.random.default_rng(2)
    problem = Problem.from_arrays(rng.random((40, 9)), rng.integers(0, 2, 40))
    scorer = KNN().bind(problem, rng, Resources())
    masks = rng.random((100, 9)) < 0.5
    np.testing.assert_array_equal(scorer.score(masks), [scorer.score(mask[None])[0] for mask in masks])


def test_a_walk_that_does_not_fit_into_memory_scores_alike():
    rng = np.random.default_rng(3)
    problem = Problem.from_arrays(rng.random((40, 5)), rng.integers(0, 2, 40))
    units = [np.array([f]) for f in range(5)]
    mask = np.array([1.0, 0, 1, 0, 0])
    for n_neighbors in (1, 3):
        roomy, tight = (
            KNN(n_neighbors).bind(problem, np.random.default_rng(0), Resources(memory=memory))
            for memory in (1 << 30, 1000)
        )
        walks = roomy.walk(mask, units), tight.walk(mask, units)
        assert type(walks[0]) is not type(walks[1])
        assert walks[0].propose(3, 1.0) == walks[1].propose(3, 1.0)


def test_coarse_distances_leave_hard_cases_to_exact_ones():
    """Values that float32 cannot tell apart, outliers that hit the clip, training rows much narrower than the rest."""
    rng = np.random.default_rng(4)
    near = 1.0 + rng.integers(0, 50, (40, 1)) * 1e-9
    near[0] = 2.0
    far = rng.normal(size=(40, 1))
    far[:2] = 1e7
    offset = 1e9 + rng.integers(0, 9, (40, 1))
    problem = Problem.from_arrays(np.hstack([near, far, offset]), rng.integers(0, 2, 40))
    for cv in ("loo", 4):
        scorer = KNN(cv=cv).bind(problem, np.random.default_rng(0), Resources())
        masks = gray_states(np.arange(8), 3)
        np.testing.assert_allclose(scorer.score(masks), [twin_score(scorer, mask) for mask in masks], atol=1e-12)
