"""Forward selection that takes a feature only if a test shows that it helps (asked for by Loughrey, chapter 8)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, cast

import numpy as np
from scipy import stats
from sklearn.utils._param_validation import Interval, StrOptions

from fewer.contracts import Objective, PredictiveScorer
from fewer.problem import FloatArray, Problem
from fewer.search._sequential import Forward


class SignificantForward(Forward):
    """Forward selection that stops where the next feature is not significantly better on the predicted rows.

    The criterion predicts every row without its own fold, before and after the best feature joins. For classes, the
    rows that only one of the two gets right are compared by the exact test of McNemar; for quantities, squared errors
    by a paired t test; both one-sided. As the feature is the best of all that were tried, its p-value is multiplied by
    their number (Bonferroni).

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    alpha : float, default=0.05
        A feature enters if its corrected p-value is at most this.
    correction : {"bonferroni", "none"}, default="bonferroni"
        `"none"` believes the best of many as if it were the only one: on noise it goes on and on.

    See Also
    --------
    Forward : Takes whatever raises the score by more than a number.
    fewer.control.OneStandardError : Judges sizes by rows that the search did not see.

    Notes
    -----
    Folds share rows, and earlier features were chosen by the same rows, so that the level holds for one step and only
    nearly. A size that was asked for comes first: features enter untested until it is reached.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> plain = fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Forward(), random_state=0).fit(X, y)
    >>> tested = fewer.SubsetSelector(fewer.criteria.KNN(), SignificantForward(), random_state=0).fit(X, y)
    >>> int(plain.support_.sum()), int(tested.support_.sum())
    (3, 2)
    """

    command_name = "significant-forward"
    needs: ClassVar[frozenset[str]] = frozenset({"predictive"})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "correction": [StrOptions({"bonferroni", "none"})],
    }
    min_gain = 0.0

    def __init__(self, alpha: float = 0.05, correction: Literal["bonferroni", "none"] = "bonferroni") -> None:
        self.alpha = alpha
        self.correction = correction

    def _is_shown(self, scorer: Objective, before: Any, after: Any, n_tried: int) -> bool:
        p_value = p_value_of_move(scorer, before, after)
        corrected = min(p_value * (n_tried if self.correction == "bonferroni" else 1), 1.0)
        if corrected <= self.alpha:
            return True
        scorer.note(
            f"Stopped at {int(before.sum())} features: the best of {n_tried} others is not significantly better "
            f"(p = {corrected:.2g}{', corrected' if self.correction == 'bonferroni' else ''})."
        )
        return False


def p_value_of_move(scorer: Objective, before: Any, after: Any) -> float:
    """Return the one-sided p-value of a move: how likely rows agree as well with the new subset if it is no better."""
    problem = scorer.problem
    old, new = (_losses(scorer, state, problem) for state in (before, after))
    if problem.task == "classification":
        won, lost = int((new < old).sum()), int((new > old).sum())
        return float(stats.binom.sf(won - 1, won + lost, 0.5)) if won + lost else 1.0
    gaps = old - new
    spread = float(gaps.std(ddof=1))
    if spread == 0.0:
        return 1.0
    return float(stats.t.sf(gaps.mean() / (spread / np.sqrt(len(gaps))), len(gaps) - 1))


def _losses(scorer: Objective, state: Any, problem: Problem) -> FloatArray:
    """Return each row's loss: 0 or 1 for classes, squared errors for quantities; without features, of a constant."""
    if state.any():
        outputs = cast(PredictiveScorer, scorer.scorer).outputs(scorer.space.expand(state[None])[0])
        answers = outputs.argmax(axis=1) if problem.task == "classification" else outputs
    elif problem.task == "classification":
        answers = np.full(problem.n_samples, np.bincount(problem.y, weights=problem.row_weights).argmax())
    else:
        answers = np.full(problem.n_samples, np.average(problem.y, weights=problem.row_weights))
    wrong = answers != problem.y if problem.task == "classification" else (answers - problem.y) ** 2
    return np.asarray(wrong, dtype=np.float64)
