"""Go down a ranking and keep what helps: a filter followed by a greedy search (Loughrey, chapter 8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods

from fewer.contracts import Objective, Ranker, Resources, Search, SearchSpace
from fewer.trace import Step


class InOrder(Search):
    """Take features in the order of a ranking, and keep each one that raises the score of those kept before it.

    One subset for each feature: the cheapest search there is. The ranking finds what is relevant, the criterion leaves
    out what says nothing new.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    ranker : Ranker
        Such as `InformationGain()`; it ranks the rows that the criterion is bound to.

    See Also
    --------
    fewer.control.Prefilter : Keeps the leading features of a ranking for another search.
    fewer.RankSelector : Follows the ranking alone.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = InOrder(fewer.rankers.InformationGain())
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(5), search, random_state=0).fit(X, y)
    >>> selector.trace_.n_evaluations <= 5
    True
    """

    command_name = "in-order"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"ranker": [HasMethods("rank")]}
    ordered: ClassVar[bool] = True

    def __init__(self, ranker: Ranker) -> None:
        self.ranker = ranker

    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
        # Try one unit after the other.
        if not state:
            place = np.argsort(self.ranker.rank(scorer.problem, rng, Resources()).order)
            start = space.empty().astype(bool)
            score = float(scorer.score(start[None])[0]) if space.allows(start) else -np.inf
            order = np.argsort([place[unit].min() for unit in space.units], kind="stable")
            state.update(order=order, place=0, mask=start, score=score)
            yield Step(start, score, start, score)
        while state["place"] < len(state["order"]) and state["mask"].sum() < space.max_units:
            tried = state["mask"].copy()
            tried[state["order"][state["place"]]] = True
            score = float(scorer.score(tried[None])[0])
            if score > state["score"] or tried.sum() <= space.min_units:
                state.update(mask=tried, score=score)
            state["place"] += 1
            yield Step(state["mask"], state["score"], state["mask"], state["score"])
