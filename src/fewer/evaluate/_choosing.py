"""Any selector, ours or another library's, fitted to the rows of a part."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from fewer.errors import InputError
from fewer.problem import BoolArray, FloatArray, Problem
from fewer.selectors import SubsetSelector


def choose(selector: Any, rows: Problem, seed: int) -> tuple[BoolArray, float | None]:
    """Fit a fresh copy of a selector to these rows; give its features and the score that its search gave them.

    There is a score only if its criterion predicts rows, so that the same score can be taken on held-out rows.

    Whatever the selector learnt before is forgotten. A selector of `fewer` gets the rows as they are. Any other gets
    `fit(X, y)` with an array of numbers: nominal columns as their level codes, and missing cells filled with the
    median (the most frequent level) of these rows.
    """
    fresh = _seeded(clone(selector), seed)
    if hasattr(fresh, "fit_problem"):
        fresh.fit_problem(rows)
    else:
        fresh.fit(_filled(rows), rows.y.copy())
    believed = None
    if isinstance(fresh, SubsetSelector) and fresh._criterion().predictive and not fresh.cost_weight:
        believed = float(fresh.score_)
    return support_of(fresh, rows.n_features), believed


def support_of(selector: Any, n_features: int) -> BoolArray:
    """Find out which features a fitted selector chose, by the names that libraries have for that."""
    last = selector.steps[-1][1] if isinstance(selector, Pipeline) else selector
    if hasattr(last, "get_support"):
        mask = np.asarray(last.get_support(), dtype=bool)
    elif hasattr(last, "support_"):
        mask = np.asarray(last.support_, dtype=bool)
    else:
        # mlxtend's sequential and exhaustive searches
        chosen = getattr(last, "k_feature_idx_", getattr(last, "best_idx_", None))
        if chosen is None:
            raise InputError(
                f"{type(last).__name__} does not say which features it chose; it needs get_support() or support_."
            )
        mask = np.zeros(n_features, dtype=bool)
        mask[np.asarray(chosen, dtype=np.int64)] = True
    if mask.shape != (n_features,):
        raise InputError(f"{type(last).__name__} chose among {len(mask)} features, but there are {n_features}.")
    return mask


def describe(component: Any) -> str:
    """Write a selector or estimator out in one line that is the same in every process."""
    full = getattr(type(component), "__repr__", None)
    try:
        text = full(component, N_CHAR_MAX=10**6)  # type: ignore[misc]
    except TypeError:
        text = repr(component)
    return re.sub(r" at 0x[0-9a-f]+", "", " ".join(text.split()))


def is_same(one: Any, other: Any) -> bool:
    """Say whether two selectors are the same but for their seeds."""
    return describe(_without_seed(one)) == describe(_without_seed(other))


def _without_seed(component: Any) -> Any:
    return (
        clone(component).set_params(random_state=None)
        if "random_state" in component.get_params(deep=False)
        else component
    )


def _seeded(component: Any, seed: int) -> Any:
    """Return a seed to whatever has none."""
    parameters = component.get_params(deep=True)
    names = [name for name in parameters if name == "random_state" or name.endswith("__random_state")]
    return component.set_params(**{name: seed for name in names if parameters[name] is None})


def _filled(rows: Problem) -> FloatArray:
    X = rows.X.copy()
    for columns, strategy in ((rows.nominal, "most_frequent"), (~rows.nominal, "median")):
        incomplete = columns & rows.missing.any(axis=0)
        if incomplete.any():
            X[:, incomplete] = SimpleImputer(strategy=strategy, keep_empty_features=True).fit_transform(
                X[:, incomplete]
            )
    return X
