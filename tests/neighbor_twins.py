"""Slow twins of the neighbor kernels, too simple to be wrong, and small tables to try both on."""

import numpy as np
from hypothesis import strategies as st

from fewer.contracts import Resources
from fewer.criteria import KNN
from fewer.problem import Problem

# ------------------------------------------------------------------------------------------------ the twin


def twin_distances(scorer, mask):
    """Sum the quantised terms of a mask for every pair of rows; infinity within a fold."""
    layout, n = scorer._exact, scorer.problem.n_samples
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
    numbers = ks or draw(st.sampled_from([1, 1, 1, 2, 3, (1, 3), (2, 5), "auto"]))
    fewest = 2 if numbers == "auto" else max(2, int(np.min(numbers)))  # more neighbors than rows are refused
    n, p = draw(st.integers(fewest, 24)), draw(st.integers(1, max_features))
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
        n_neighbors=numbers,
        cv=draw(st.sampled_from(["loo", 2, 3])),
        voting=draw(st.sampled_from(["neighborhood", "neighbors"])),
        scaling=draw(st.sampled_from(["training", "global", "none"])),
    )
    problem = Problem.from_arrays(X, y, task=task, kinds=kinds, sample_weight=weights)
    return criterion.bind(problem, np.random.default_rng(0), Resources(n_jobs=n_jobs))


def random_weights(rng, m, p):
    return rng.integers(0, 5, (m, p)) / 4.0 * (rng.random((m, p)) < 0.7)
