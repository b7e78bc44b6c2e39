"""Recursive feature elimination by the importances of the criterion's own model (Guyon et al. 2002)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fewer.contracts import Count, Fraction, Objective, Search, SearchSpace, parameters, round_scores
from fewer.contracts.trace import Step
from fewer.problem import BoolArray, IntArray
from fewer.search._sequential import State


@parameters
class Elimination(Search):
    """Fit the criterion's model, drop what is least important to it, fit again: recursive feature elimination.

    With a given number of features the answer is that of scikit-learn's `RFE`. Where the number is free, the
    elimination is repeated on the training rows of each split of the criterion, the test rows score every size on the
    way, and the size of the highest mean (the smallest of equals) is eliminated to on all rows: `RFECV` on the same
    splits. A criterion without splits scores the subsets on the way itself.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    step : int or float, default=1
        How many units to drop at a time: a number, or a share of all units.
    importance : str or callable, default="auto"
        `"auto"`: coefficients or `feature_importances_`. `"gain"`: what splits gained (LightGBM's, too). For any model,
        measured on a quarter of its training rows, to which it was not fitted: `"permutation"`, what is lost when a
        column is shuffled; `"drop"`, what is lost when the model is fitted without it; `"shap"`, the mean size of its
        SHAP values. The name of an attribute of the model, such as `"named_steps.svc.coef_"`; or a function that takes
        the fitted model and returns a number for each column, as `importance_getter` of scikit-learn.

    Notes
    -----
    Importances are squared coefficients, summed over classes, or squared `feature_importances_`; coefficients speak of
    columns in their own units, so scale them in the estimator's pipeline. A feature group counts with the sum of its
    columns, and so do the indicators of a nominal column. Of equally unimportant units the first column goes first, as
    in `RFE`. `trace_.state["sizes"]` and `["curve"]` hold the mean score of each size.

    A model of LightGBM, XGBoost or CatBoost with `early_stopping_rounds` gets a quarter of its training rows as
    `eval_set`, anew for each fold and subset; rows that score it never stop it.

    See Also
    --------
    Backward : Drops what the score misses least, at the price of a fit for each feature and step.
    fewer.rankers.Importance : The importances of one model on all features.

    References
    ----------
    I. Guyon, J. Weston, S. Barnhill and V. Vapnik, Gene selection for cancer classification using support vector
    machines, Machine Learning 46, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> criterion = fewer.criteria.CrossValidated(make_pipeline(StandardScaler(), LogisticRegression()))
    >>> selector = fewer.SubsetSelector(criterion, Elimination(), n_features_to_select=3, random_state=0).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['worst radius', 'worst area', 'worst concave points']
    """

    command_name = "rfe"

    step: Count | Fraction = 1
    importance: Annotated[Any, str, callable] = "auto"
    needs: ClassVar[frozenset[str]] = frozenset({"has_importances"})
    ordered: ClassVar[bool] = True

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Eliminate on each split to find the size, then on all rows.
        full = space.full() if space.start is None else space.start.astype(bool)
        sizes = self._sizes(int(full.sum()), space)
        n_parts = scorer.scorer.n_parts if len(sizes) > 1 and space.min_units < space.max_units else 0
        if not state:
            score = float(scorer.score(full[None])[0])
            state.update(part=0, place=0, mask=full, full_score=score, sizes=sizes)
            state.update(scores=np.full((n_parts, len(sizes)), np.nan), phase="parts" if n_parts else "all")
            if space.allows(full) and not n_parts:
                state.update(best=full, best_score=score)
            yield Step(full, score, full, score)
        while state["phase"] == "parts":
            self._examine_part(scorer, full, state)
            if state["part"] == n_parts:
                state.update(phase="all", place=0, mask=full, curve=round_scores(state["scores"].mean(axis=0)))
            yield Step(state["mask"], state["full_score"], full, state["full_score"])
        yield from self._eliminate(scorer, space, state)

    def _sizes(self, n_units: int, space: SearchSpace) -> IntArray:
        """Return the sizes on the way from all units to the fewest allowed."""
        step = int(max(1, self.step * space.n_units)) if self.step < 1 else int(self.step)
        fewest = min(space.min_units, n_units)
        return np.unique(np.append(np.arange(n_units, fewest, -step), fewest))[::-1]

    def _examine_part(self, scorer: Objective, full: BoolArray, state: State) -> None:
        """Take one step down on the training rows of one split, and score it on the test rows."""
        part, place, sizes = state["part"], state["place"], state["sizes"]
        importances, score = scorer.examine(state["mask"], part, self.importance)
        state["scores"][part, place] = score
        if place + 1 < len(sizes):
            state.update(mask=without_least(state["mask"], importances, int(sizes[place + 1])), place=place + 1)
        else:
            state.update(part=part + 1, place=0, mask=full)

    def _eliminate(self, scorer: Objective, space: SearchSpace, state: State) -> Iterator[Step]:
        """Step down on all rows: to the size that the splits chose, or past all allowed sizes, to choose by score."""
        sizes = state["sizes"]
        allowed = sizes <= space.max_units
        reached = sizes[allowed][_last_best(state["curve"][allowed])] if "curve" in state else sizes[-1]
        while int(state["mask"].sum()) > reached:
            importances, _ = scorer.examine(state["mask"], None, self.importance)
            following = max(int(sizes[sizes < state["mask"].sum()][0]), int(reached))
            mask = without_least(state["mask"], importances, following)
            score = float(scorer.score(mask[None])[0])
            best, best_score = mask, score
            if "curve" not in state and space.allows(mask):
                known = state.get("best_score", -np.inf)
                if score < known:
                    best, best_score = state["best"], known
                state.update(best=best, best_score=best_score)
            state.update(mask=mask)
            yield Step(mask, score, best, best_score)


def without_least(mask: NDArray[Any], importances: Any, size: int) -> BoolArray:
    """Drop the least important units of a state until a number is left; of equals the first go.

    Examples
    --------
    >>> without_least(np.array([True, True, False, True]), np.array([3.0, 1.0, 0.0, 1.0]), 2)
    array([ True, False, False,  True])
    """
    units = np.flatnonzero(mask)
    order = units[np.argsort(np.asarray(importances)[units], kind="stable")]
    kept = np.asarray(mask, dtype=bool).copy()
    kept[order[: len(units) - size]] = False
    return kept


def _last_best(curve: Any) -> int:
    """Return the place of the highest number, the last of equals: the fewest features."""
    return len(curve) - 1 - int(np.argmax(curve[::-1]))
