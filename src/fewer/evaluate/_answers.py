"""The answers of a selection at other sizes: which features it would take, and what held-out rows say of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewer.evaluate._by_size import best_by_size
from fewer.problem import BoolArray, IntArray
from fewer.selectors import AutoSelector, RankSelector, SubsetSelector

MOST = 60
"""Features up to which the answers of other sizes are told."""


def answers_by_size(selector: Any, support: BoolArray) -> dict[int, BoolArray]:
    """Return the subset that a fitted selector would take at each size that it looked at, up to 60 features.

    Parameters
    ----------
    selector : AutoSelector, SubsetSelector or RankSelector
    support : bool array of shape (n_features,)
        The answer itself, which stands at its own size.

    Returns
    -------
    dict
        Masks by size, in ascending order. Those of a ranking, and of the orders that `AutoSelector` races, nest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), random_state=0).fit(*load_iris(return_X_y=True))
    >>> [int(size) for size in answers_by_size(selector, selector.support_)]
    [1, 2, 3, 4]
    """
    found: dict[int, BoolArray] = {}
    if isinstance(selector, AutoSelector):
        found = _of_auto(selector)
    elif isinstance(selector, RankSelector) and getattr(selector, "curve_", None) is not None:
        found = _prefixes(selector.ranking_, selector.curve_["size"])
    elif isinstance(selector, SubsetSelector):
        found = {size: np.asarray(mask) != 0 for size, (_, mask) in best_by_size(selector.trace_).items()}
    found = {size: mask for size, mask in found.items() if size <= MOST}
    size = int(support.sum())
    if size:
        found[size] = np.asarray(support, dtype=bool)
    return dict(sorted(found.items()))


def _of_auto(selector: AutoSelector) -> dict[int, BoolArray]:
    sizes = np.asarray(selector.curve_["size"], dtype=np.int64)
    masks = [np.asarray(mask, dtype=bool) for mask in selector.choices_.values()]
    if len(sizes) and all(_is_prefix(mask, selector.ranking_) and int(mask.sum()) in sizes for mask in masks):
        return _prefixes(selector.ranking_, sizes)
    return {int(mask.sum()): mask for mask in masks}


def _is_prefix(mask: BoolArray, ranking: IntArray) -> bool:
    return bool(np.array_equal(mask, ranking <= int(mask.sum())))


def _prefixes(ranking: IntArray, sizes: Any) -> dict[int, BoolArray]:
    return {int(size): ranking <= int(size) for size in sizes}


__all__ = ["answers_by_size"]
