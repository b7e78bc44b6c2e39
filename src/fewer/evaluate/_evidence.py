"""What a page shows of a selection, as plain data that stays small: pictures can be drawn without the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from fewer.contracts import Criterion, PredictiveScorer, Resources
from fewer.criteria import CrossValidated
from fewer.errors import InputError
from fewer.evaluate._answers import MOST, answers_by_size
from fewer.evaluate._distributions import distribution, shown_classes
from fewer.evaluate._grading import telling
from fewer.evaluate._heldout import HeldOutScores
from fewer.evaluate._parts import part_of, sample_of
from fewer.evaluate._predictions import predictions
from fewer.evaluate._row_views import always_wrong, plane
from fewer.evaluate._without import losses_without, score_of
from fewer.problem import BoolArray, FloatArray, IntArray, Problem

ROWS, COUNTED = 2000, 20_000
"""Rows that judges are fitted to, and that distributions are counted in, at most."""
LEFT_OUT, FITTED, FITS = 40, 10, 60_000
"""Chosen features of which it is measured what is lost without them: by a criterion with closed forms, by a model that
is fitted for each; the latter as long as fits times rows are no more than the third number."""
FOLDS, TREES = 3, 30
"""Folds of such a model, and trees of a forest, at most."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What evidence is gathered from.

    Parameters
    ----------
    problem : Problem
        The rows.
    selector : fitted selector
        The one that answered.
    chosen : int array
        Columns of the answer, the best first; none where nothing was found.
    judge : Criterion
        Who predicts with the chosen features.
    outcome : HeldOutScores or None
        Predictions of rows held out from the whole selection.
    seed : int, default=0
        Draws rows and permutations.
    scoring : str, callable or None
        The user's metric, if there is one.

    Examples
    --------
    >>> from fewer.criteria import KNN
    >>> from fewer.rankers import Fisher
    >>> from fewer.selectors import RankSelector
    >>> from sklearn.datasets import load_iris
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True), names=["a", "b", "c", "d"])
    >>> selector = RankSelector(Fisher(), n_features_to_select=2).fit_problem(problem)
    >>> told = Evidence(problem, selector, np.array([2, 3]), KNN(5), None).gather()
    >>> told["features"], told["distributions"]["c"]["medians"]
    (['c', 'd'], [1.5, 4.35, 5.55])
    """

    problem: Problem
    selector: Any
    chosen: IntArray
    judge: Criterion
    outcome: HeldOutScores | None
    seed: int = 0
    scoring: Any = None

    def gather(self) -> dict[str, Any]:
        """Return everything as plain JSON data.

        Returns
        -------
        dict
            `features` (the order of the rows of the page), `answers` (for each size, places in it), `classes`,
            `distributions` by feature, `judge` as code, `without` by feature (in `without_score`), `predictions`
            (`chosen`, `all`), `plane`, `wrong`, `untold` (sentences on what could not be measured) and, where
            distributions come from some of the rows, `n_counted`.
        """
        answers = answers_by_size(self.selector, self._mask())
        order = self._order(answers)
        place = {int(column): i for i, column in enumerate(order)}
        rng = np.random.default_rng([self.seed, 2])
        part = part_of(self.problem, order, sample_of(self.problem, COUNTED, rng))
        told: dict[str, Any] = {
            "features": list(part.names),
            "answers": [
                {"size": size, "places": sorted(place[int(i)] for i in np.flatnonzero(mask) if int(i) in place)}
                for size, mask in answers.items()
            ],
            "classes": shown_classes(self.problem),
            "distributions": {name: distribution(part, i) for i, name in enumerate(part.names)},
            "judge": " ".join(repr(self.judge).split()),
            "without_score": score_of(self.problem, self.scoring),
            "untold": [],
        }
        if part.n_samples < self.problem.n_samples:
            told["n_counted"] = part.n_samples
        rows = sample_of(self.problem, ROWS, rng)
        looks: list[FloatArray] = []
        if self.outcome is not None:
            told["predictions"] = {
                "chosen": predictions(self.problem, self.outcome.outputs),
                "all": predictions(self.problem, self.outcome.outputs_all),
            }
            looks = [self.outcome.outputs, self.outcome.outputs_all]
            self._try(told, "without", "What is lost without each feature", lambda: self._without(rows, looks))
            told["wrong"] = always_wrong(self.problem, looks)
        if len(order) >= 2 and len(self.chosen):
            self._try(told, "plane", "The rows in two features", lambda: self._plane(order[:2], rows))
        return told

    def _mask(self) -> BoolArray:
        mask = np.zeros(self.problem.n_features, dtype=bool)
        mask[self.chosen] = True
        return mask

    def _order(self, answers: dict[int, BoolArray]) -> IntArray:
        """Put the chosen features first, then those of larger answers, each in the order of the ranking."""
        ranking = np.asarray(self.selector.ranking_)
        if not len(self.chosen):
            return np.argsort(ranking, kind="stable")[: min(5, len(ranking))]
        others = [
            int(i)
            for mask in answers.values()
            for i in sorted(np.flatnonzero(mask), key=lambda i: ranking[i])
            if not self._mask()[i]
        ]
        return np.array(list(dict.fromkeys([*self.chosen.tolist(), *others]))[: max(MOST, len(self.chosen))])[:200]

    def _without(self, rows: IntArray, looks: list[FloatArray]) -> dict[str, dict[str, float]]:
        """Measure the losses; what the judge predicts on the way is one more look at the rows."""
        most = LEFT_OUT
        if isinstance(self.judge, CrossValidated):
            most = min(FITTED, FITS // (FOLDS * len(rows)) - 1)
        if not len(self.chosen) or most < 1:
            return {}
        if self.problem.y.ndim > 1 or self.problem.time is not None:
            return {}
        sample = part_of(self.problem, self.chosen, rows)
        judge = _quicker(self.judge) if isinstance(self.judge, CrossValidated) else self.judge
        scorer = cast(PredictiveScorer, judge.bind(sample, np.random.default_rng([self.seed, 3]), Resources()))
        mask = np.ones(len(self.chosen), dtype=bool)
        outputs, losses = losses_without(scorer, sample, mask, self.scoring, most=most)
        if len(rows) == self.problem.n_samples:
            looks.append(outputs)
        return {sample.names[i]: {key: round(value, 6) for key, value in loss.items()} for i, loss in losses.items()}

    def _plane(self, columns: IntArray, rows: IntArray) -> dict[str, Any]:
        told = plane(part_of(self.problem, columns, rows), [0, 1], self.judge, self.seed)
        if told:
            told["row"] = (rows[np.array(told["row"]) - 1] + 1).tolist()
        return told

    def _try(self, told: dict[str, Any], key: str, what: str, measure: Callable[[], Any]) -> None:
        """Measure; a judge that cannot do with fewer columns or rows must not end a run that has its answer."""
        try:
            with telling(what):
                found = measure()
        except InputError as error:
            told["untold"].append(str(error))
        else:
            told[key] = found


def _quicker(judge: CrossValidated) -> CrossValidated:
    """Let a model that is fitted for each feature have few folds, and a forest few trees."""
    quick = clone(judge).set_params(cv=FOLDS)
    if getattr(quick.estimator, "n_estimators", 0) > TREES:
        quick.set_params(estimator__n_estimators=TREES)
    return quick


__all__ = ["Evidence"]
