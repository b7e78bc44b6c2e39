"""Orders in which `auto` takes features: rankings and searches that see differently, on the rows of one part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import lars_path_gram
from sklearn.pipeline import Pipeline

from fewer.contracts import Resources
from fewer.errors import quietly, telling
from fewer.problem import FloatArray, InputError, IntArray, Problem
from fewer.rankers import ReliefF, RReliefF
from fewer.selectors.auto._judges import NodeSplit, ridge_fit, seeded, trees

PATH_TREES = 100
MOST_FORWARD = 60
HALVED_ABOVE = 150

TREES, LINEAR, RELIEF, MEAN = "forest importance", "ridge elimination", "ReliefF", "mean of rankings"
FORWARD, OWN = "forward linear fit", "elimination by the given model"
LASSO = "L1 path"
DISTINCT = "forest importance without near-duplicates"
# The share of a feature's spread from which on one that explains it counts as a copy.
COPY = 0.8
# Features before it that a feature is compared with.
LOOKED_BACK = 100
# Rankings that are averaged over the parts; a search keeps the order that it found on all rows, since of two copies
# it takes one, and an average would take both.
COMBINED = {TREES, LINEAR, RELIEF, MEAN, OWN}
# Orders that look at many subsets of the same rows.
SEARCHED = {FORWARD, LASSO}


def ranks_of(order: IntArray, n: int) -> FloatArray:
    """Return the place of each of n features in an order, 1 for the first; those that are not in it share the end."""
    places = np.full(n, (len(order) + n + 1) / 2 if len(order) < n else float(n))
    places[order] = np.arange(1, len(order) + 1)
    return places


def order_by(places: FloatArray) -> IntArray:
    """Order features by their places; ties keep the order of the table."""
    return np.argsort(np.round(places, 9), kind="stable").astype(np.int64)


def forest_order(split: NodeSplit, owner: IntArray, n: int) -> IntArray:
    """Order features by how much they lower impurity in a forest."""
    _, gains = trees(split, np.arange(split.train.shape[1]), PATH_TREES)
    share = np.bincount(owner, gains / max(gains.sum(), 1e-300), minlength=n)
    return order_by(-share.astype(np.float64))


def elimination_order(split: NodeSplit, owner: IntArray, n: int) -> IntArray:
    """Order features by when a ridge that drops its least ones, a quarter at a time (of many half), lets go."""
    kept, dropped = np.unique(owner), []
    while len(kept):
        used = np.isin(owner, kept)
        _, coefficients, _ = ridge_fit(split.train[:, used], split.target, split.weights)
        size = np.bincount(owner[used], (coefficients**2).sum(axis=1), minlength=n)[kept]
        order = np.argsort(np.round(size, 12), kind="stable")
        out = kept[order[: max(len(kept) // (2 if len(kept) > HALVED_ABOVE else 4), 1)]]
        dropped.append(out)
        kept = np.setdiff1d(kept, out)
    return np.concatenate(dropped)[::-1].astype(np.int64)


def forward_order(split: NodeSplit, owner: IntArray, n: int) -> IntArray:
    """Order features by a forward selection for a linear fit: each explains most of what those before leave over."""
    root = np.sqrt(split.weights)[:, None]
    total = split.weights.sum()
    Z = root * (split.train - split.weights @ split.train / total)
    T = root * (split.target - split.weights @ split.target / total)
    order: list[int] = []
    # What z, a column less all before it, explains is taken off sizes and products; Z itself stays as it is.
    size, moment, before = (Z**2).sum(axis=0), Z.T @ T, np.empty((0, len(Z)))
    for _ in range(min(MOST_FORWARD, len(np.unique(owner)), max(len(Z) // 4, 1))):
        gain = (moment**2).sum(axis=1) / (size + 0.01 * total)
        gain[np.isin(owner, order) | (size <= 1e-9 * total)] = -1.0
        best = int(np.argmax(np.round(gain, 9)))
        if gain[best] <= 0:
            break
        order.append(int(owner[best]))
        for column in np.flatnonzero(owner == owner[best]):
            if size[column] > 1e-9 * total:
                z = Z[:, column] - (before @ Z[:, column]) @ before
                z /= np.sqrt(z @ z)
                before, shares = np.vstack([before, z]), z @ Z
                size, moment = size - shares**2, moment - np.outer(shares, z @ T)
    return np.array(order, dtype=np.int64)


def lasso_order(split: NodeSplit, owner: IntArray) -> IntArray:
    """Order features by when an L1 penalty that falls lets them in; for one target (two classes are one)."""
    root, total = np.sqrt(split.weights)[:, None], split.weights.sum()
    Z = root * (split.train - split.weights @ split.train / total)
    T = (root * (split.target - split.weights @ split.target / total))[:, -1]
    most = min(MOST_FORWARD, Z.shape[1], max(len(Z) // 4, 1))
    with quietly():  # copies of columns end a path early; others complete it
        _, _, path = lars_path_gram(Z.T @ T, Z.T @ Z, n_samples=len(Z), max_iter=most, method="lasso")
    entered = np.where((path != 0).any(axis=1), (path != 0).argmax(axis=1), path.shape[1])
    owners = owner[np.argsort(entered, kind="stable")][: int((entered < path.shape[1]).sum())]
    return np.asarray(list(dict.fromkeys(owners.tolist())), dtype=np.int64)


def relief_order(rows: Problem, seed: int) -> IntArray:
    """Order features by ReliefF, classes weighing the same; it sees what features tell together."""
    ranker = ReliefF() if rows.task == "classification" else RReliefF()
    try:
        rows.check_neighbors("ReliefF")
    except InputError:  # groups that leave no row a neighbor: the order alone may see rows of its own group
        rows = replace(rows, groups=None)
    return ranker.rank(rows, np.random.default_rng(seed), Resources()).order


def own_order(split: NodeSplit, owner: IntArray, n: int, estimator: Any) -> IntArray | None:
    """Order features by a model's importances, or by when one with coefficients drops them, a third at a time."""
    kept, dropped = np.unique(owner), []
    codes = split.target.argmax(axis=1) if split.classes else split.target[:, 0] * split.scale
    while len(kept):
        used = np.isin(owner, kept)
        with telling("The given estimator"):
            model = seeded(estimator, split.seed).fit(split.train[:, used], codes)
        last = model.steps[-1][1] if isinstance(model, Pipeline) else model
        size = getattr(last, "feature_importances_", None)
        if size is None and hasattr(last, "coef_"):
            size = (np.atleast_2d(np.asarray(last.coef_, dtype=np.float64)) ** 2).sum(axis=0)
        if size is None or len(np.ravel(size)) != int(used.sum()):
            return None
        sizes = np.bincount(owner[used], np.ravel(size), minlength=n)[kept]
        share = 1 if hasattr(last, "feature_importances_") else 3
        shares = sizes / max(float(sizes.max()), 1e-300)
        out = kept[np.argsort(np.round(shares, 12), kind="stable")[: max(len(kept) // share, 1)]]
        dropped.append(out)
        kept = np.setdiff1d(kept, out)
    return np.concatenate(dropped)[::-1].astype(np.int64)


def all_orders(split: NodeSplit, owner: IntArray, rows: Problem, estimator: Any = None) -> dict[str, IntArray]:
    """Return every order of the features of some rows, best first, each of them complete."""
    n = rows.n_features
    orders: dict[str, IntArray] = {
        TREES: forest_order(split, owner, n),
        LINEAR: elimination_order(split, owner, n),
        RELIEF: relief_order(rows, split.seed),
    }
    orders[MEAN] = order_by(np.asarray(sum(np.log(ranks_of(order, n)) for order in orders.values())))
    orders[DISTINCT] = distinct_order(orders[TREES], split, owner)
    orders[FORWARD] = completed(forward_order(split, owner, n), orders[MEAN])
    if split.target.shape[1] <= 2:
        orders[LASSO] = completed(lasso_order(split, owner), orders[MEAN])
    order_of_model = None if estimator is None else own_order(split, owner, n, estimator)
    if order_of_model is not None:
        orders[OWN] = completed(order_of_model, orders[MEAN])
    return {name: completed(order, orders[MEAN]) for name, order in orders.items()}


def completed(order: IntArray, others: IntArray) -> IntArray:
    """Put the features that an order lacks behind it, as another order has them."""
    return np.concatenate([order, others[~np.isin(others, order)]]).astype(np.int64)


def distinct_order(order: IntArray, split: NodeSplit, owner: IntArray) -> IntArray:
    """Move features that are nearly copies of an earlier one to the end of an order; levels are left as they are."""
    Z = np.sqrt(split.weights)[:, None] * (split.train - split.weights @ split.train / split.weights.sum())
    Z = Z / np.maximum(np.sqrt((Z**2).sum(axis=0)), 1e-300)
    inputs, counts = np.unique(owner, return_counts=True)
    single = {int(feature): int(np.searchsorted(owner, feature)) for feature in inputs[counts == 1]}
    Z, kept, n_kept = np.ascontiguousarray(Z.T), np.empty((LOOKED_BACK, len(Z))), 0
    first, copies = [], []
    for feature in order.tolist():
        place = single.get(feature)
        if place is not None and n_kept and float(((kept[:n_kept] @ Z[place]) ** 2).max()) >= COPY:
            copies.append(feature)
            continue
        first.append(feature)
        if place is not None and n_kept < LOOKED_BACK:
            kept[n_kept] = Z[place]
            n_kept += 1
    return np.array(first + copies, dtype=np.int64)
