"""Interchangeable features: which others could stand in for a chosen one at no measurable loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy import stats

from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.selectors.auto._curve import Loss, balanced_weights, mean_and_error, targets
from fewer.selectors.auto._encoding import constant_columns, encoded, f_scores
from fewer.selectors.auto._judges import BOOSTING, FOREST, LINEAR, NEIGHBORS, Judge, NodeSplit, neighbors, ridge, trees
from fewer.statistics.encoding import ScaledInputs
from fewer.validate import Split as Rows

# Stand-ins that are named for one feature.
MOST_STANDINS = 5
# Largest number of chosen features for which substitutes are searched; of more, the first.
MOST_CHOSEN = 40
STANDIN_TREES = 30
# The share of a feature's spread that a stand-in must explain, at least.
ALIKE = 0.3
N_ERRORS = 0.5


def stand_ins(
    problem: Problem, support: BoolArray, splits: list[Rows], *, seed: int = 0, model: str = ""
) -> dict[int, list[int]]:
    """Find the features that can stand in for each chosen one.

    A stand-in must be like the feature: alone it explains at least three tenths of its spread, and more than chance
    would in so many columns. Put in its place, it must raise the loss of held-out rows by less than half a standard
    error of that very difference, for the model that is named (trees for boosting), or in the mean of neighbors, a
    ridge and trees.

    Parameters
    ----------
    problem : Problem
        The rows.
    support : bool array of shape (n_features,)
        The chosen features.
    splits : list of Split
        Rows to fit on and rows to judge by.
    seed : int, default=0
        Of all that is random.
    model : str, optional
        Which of them predicts; the mean of the three if left out.

    Returns
    -------
    dict
        For chosen features that have any, up to five others, the most alike first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 3))
    >>> X = np.column_stack([x, x[:, 0] + 0.01 * rng.normal(size=200)])
    >>> from fewer.validate import split_rows
    >>> problem = Problem.from_arrays(X, x[:, 0] + x[:, 1] + rng.normal(size=200) > 0)
    >>> stand_ins(problem, np.array([True, True, False, False]), split_rows(problem, 5, rng))
    {0: [3]}
    """
    chosen = np.flatnonzero(support)
    others = np.flatnonzero(~support & ~constant_columns(problem.X))
    if not len(chosen) or not len(others):
        return {}
    candidates = {int(j): _alike(problem, int(j), others) for j in chosen[:MOST_CHOSEN]}
    wanted = np.unique(np.concatenate([chosen, *candidates.values()])).astype(np.int64)
    if len(wanted) == len(chosen):
        return {}
    part = problem.narrowed(wanted)
    loss, _ = Loss.of(part, splits)
    parts = [_encoded(part, rows, seed) for rows in splits]
    who = _models(model)
    held = np.sort(np.concatenate([rows.test for rows in splits]))
    place = {int(column): i for i, column in enumerate(wanted)}
    base_columns = [place[int(j)] for j in chosen]
    base = _losses(parts, splits, base_columns, loss, held, who)
    clusters = np.arange(len(held)) if loss.problem.groups is None else loss.problem.groups
    substitutes: dict[int, list[int]] = {}
    for j, names in candidates.items():
        for k in names:
            swapped = [place[int(k)] if i == place[j] else i for i in base_columns]
            behind, error = mean_and_error(
                (_losses(parts, splits, swapped, loss, held, who) - base)[:, None], loss.weights, clusters
            )
            if behind[0] <= N_ERRORS * error[0]:
                substitutes.setdefault(j, []).append(int(k))
    return substitutes


def with_stand_ins(masks: BoolArray, stand_ins: Mapping[int, Sequence[int]]) -> BoolArray:
    """Put each chosen feature that a repetition lacks in the place of its first stand-in there, each of them once.

    Parameters
    ----------
    masks : bool array of shape (n_repetitions, n_features)
        What each repetition chose.
    stand_ins : dict
        For features, those that can stand in for them.

    Returns
    -------
    bool array of shape (n_repetitions, n_features)

    Examples
    --------
    >>> with_stand_ins(np.array([[True, False, True], [False, True, True]]), {0: [1, 2]}).astype(int)
    array([[1, 0, 1],
           [1, 0, 1]])
    """
    merged = np.array(masks, dtype=bool)
    for mask in merged:
        for feature, others in stand_ins.items():
            used = next((other for other in others if mask[other] and not mask[feature]), None)
            if used is not None:
                mask[feature], mask[used] = True, False
    return merged


def _alike(problem: Problem, feature: int, others: IntArray) -> IntArray:
    """Return the features that explain most of a feature, if that is more than chance and enough."""
    rows = np.arange(problem.n_samples)
    weights = problem.row_weights
    inputs = ScaledInputs.of(problem.X, problem.nominal, weights, np.array([feature])).encode(problem.X)
    share = f_scores(problem, rows, inputs, weights)[others]
    chance = stats.chi2.isf(1e-3 / len(others), 1) / max(len(rows), 1)
    order = np.argsort(-np.round(share, 12), kind="stable")[:MOST_STANDINS]
    return others[order[share[order] >= max(ALIKE, min(chance, 0.95))]]


def _encoded(part: Problem, rows: Rows, seed: int) -> tuple[NodeSplit, IntArray]:
    train = part.take(rows.train)
    weights, target = balanced_weights(train), targets(train)
    inputs, others, columns = encoded(train.X, part.X[rows.test], part.nominal, target, weights)
    return NodeSplit(inputs, others, target, weights, train.sample_weight, part.task == "classification", seed), columns


def _models(name: str) -> list[Judge]:
    def grown(split: NodeSplit, steps: Sequence[IntArray]) -> Iterator[FloatArray]:
        yield trees(split, steps[0], STANDIN_TREES, split.plain)[0]

    by_name: dict[str, Judge] = {NEIGHBORS: neighbors, LINEAR: ridge, FOREST: grown, BOOSTING: grown}
    return [by_name[name]] if name in by_name else [neighbors, ridge, grown]


def _losses(
    parts: list[tuple[NodeSplit, IntArray]], splits: list[Rows], features: list[int], loss: Loss, held: IntArray,
    who: list[Judge],
) -> FloatArray:  # fmt: skip
    """Return the mean loss of some models for each held-out row."""
    out = np.full((int(held.max()) + 1, loss.target.shape[1], len(who)), np.nan)
    for (split, columns), rows in zip(parts, splits, strict=True):
        inputs = np.flatnonzero(np.isin(columns, features))
        out[rows.test] = np.stack([next(iter(model(split, [inputs]))) for model in who], axis=2)
    return loss.squared(out[held].transpose(0, 2, 1)).mean(axis=1)
