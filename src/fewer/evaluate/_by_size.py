"""The score of each number of features that a search or a ranking met, and the standard error of the best."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from fewer.contracts import Answer, Masks, PredictiveScorer, best_by_size
from fewer.contracts.trace import Trace
from fewer.errors import InputError, quietly
from fewer.problem import Problem
from fewer.selectors import RankSelector, SubsetSelector
from fewer.validate import assign_folds

N_PARTS = 10
AS_SEARCHED = "the search's own score"
CURVED = "cross-validated"
HELDOUT = "on rows that the search did not see"


def scores_by_size(found: Answer | SubsetSelector | RankSelector, problem: Problem) -> dict[str, Any]:
    """Return the best score of each number of features that a selector met.

    For a subset search: the best subset of each size, scored as the search scored it; under `OneStandardError`, the R²
    (of class memberships) on the rows that its validation runs held out. For a ranking with
    `n_features_to_select="auto"`: its cross-validated curve, as accuracy or R². For a ranking cut at a given number
    there is none.

    Read more in the guide: :doc:`/guide/how-many`.

    Parameters
    ----------
    found : Answer, SubsetSelector or RankSelector
        A selector fitted to the problem, or the answer that its fit ended in.
    problem : Problem
        The rows.

    Returns
    -------
    dict
        Plain JSON data: `sizes` and `scores`, in ascending order of size; `standard_error` of the best score, or a list
        with that of each size's difference from it, or None where the criterion does not predict rows; `measured`,
        words that say how; `name` of the score, where it is not the criterion's own. Empty if there is no curve.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> curve = scores_by_size(SubsetSelector(random_state=0).fit_problem(problem), problem)
    >>> curve["sizes"], round(curve["standard_error"], 3)
    ([1, 2, 3], 0.015)
    """
    answer = found if isinstance(found, Answer) else found.answer_
    if answer.search is not None and "loss" in answer.trace.extra:
        return _held_out(answer.trace, problem)
    if answer.search is not None:
        best = best_by_size(answer.trace)
        if not best:
            return {}
        _, mask = max(best.values(), key=lambda pair: pair[0])
        run = found.prepare(problem) if isinstance(found, SubsetSelector) else answer.run
        error = None
        if run is not None and run.criterion.predictive and run.problem.n_outputs == 1:
            error = standard_error(cast(PredictiveScorer, run.scorer), mask, run.problem, np.random.default_rng(0))
        return {
            "sizes": list(best),
            "scores": [score for score, _ in best.values()],
            "standard_error": error,
            "measured": AS_SEARCHED,
        }
    curve = answer.curve
    if not curve or answer.choices:
        return {}
    # The curve holds losses below zero; they are shown as accuracy or R².
    unit = 1.0 if problem.task == "classification" else float(np.cov(problem.y, ddof=0, aweights=problem.sample_weight))
    return {
        "sizes": curve["size"].tolist(),
        "scores": (1.0 + curve["score"] / unit).tolist(),
        "standard_error": float(curve["standard_error"][np.argmax(curve["score"])] / unit),
        "measured": CURVED,
    }


def _held_out(trace: Trace, problem: Problem) -> dict[str, Any]:
    """Return the losses of `OneStandardError` as shares of the loss that class frequencies or the mean alone have."""
    weights = problem.row_weights
    if problem.task == "classification":
        unit = float(1.0 - ((np.bincount(problem.y, weights=weights) / weights.sum()) ** 2).sum())
    else:
        unit = float(np.cov(problem.y, ddof=0, aweights=weights))
    return {
        "sizes": trace.extra["sizes"].tolist(),
        "scores": (1.0 - trace.extra["loss"] / (unit or 1.0)).tolist(),
        "standard_error": (trace.extra["loss_error"] / (unit or 1.0)).tolist(),
        "measured": HELDOUT,
        "name": "R²" if problem.task == "regression" else "R² of probabilities",
    }


def standard_error(scorer: PredictiveScorer, mask: Masks, problem: Problem, rng: np.random.Generator) -> float | None:
    """Return the standard error of a subset's cross-validated score, over ten parts of the rows.

    The held-out predictions are graded again without each stratified part of the rows in turn (the delete-a-group
    jackknife). For accuracy and parts of equal size this is the standard error of the mean over the parts; it serves
    grades that are no means of rows too, such as R² and the area under a ROC curve. None if a grade is not defined.

    Parameters
    ----------
    scorer : PredictiveScorer
        A criterion bound to the rows.
    mask : array of shape (n_features,)
        The subset.
    problem : Problem
        The same rows.
    rng : Generator
        Draws the parts.

    Returns
    -------
    float or None
        In the units of the score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.contracts import Resources
    >>> from fewer.criteria import KNN
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> scorer = KNN(5).bind(problem, np.random.default_rng(0), Resources())
    >>> error = standard_error(scorer, np.array([False, False, True, True]), problem, np.random.default_rng(0))
    >>> 0.005 < error < 0.05
    True
    """
    outputs = scorer.outputs(mask)
    judged = np.isfinite(outputs.reshape(len(outputs), -1)).all(axis=1)
    rows, outputs = problem.take(np.flatnonzero(judged)), outputs[judged]
    try:
        parts = assign_folds(replace(rows, time=None), N_PARTS, rng)  # parts are left out, not predicted
    except InputError:  # the judged rows are of one group
        return None
    others = [parts != part for part in np.unique(parts)]
    if any(rows.row_weights[other].sum() == 0 for other in others):
        return None
    with quietly():  # an undefined grade leaves a NaN
        grades = [scorer.grade(outputs[other], rows.take(other)) for other in others]
    error = float(np.sqrt((len(grades) - 1) * np.var(grades)))
    return error if np.isfinite(error) else None
