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
from fewer.evaluate._directions import discriminant_plane
from fewer.evaluate._distributions import distribution, shown_classes
from fewer.evaluate._grading import telling
from fewer.evaluate._heldout import HeldOutScores
from fewer.evaluate._parts import part_of, sample_of
from fewer.evaluate._predictions import predictions
from fewer.evaluate._row_views import always_wrong, plane
from fewer.evaluate._without import losses_without, score_of
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.selectors._standins import stand_ins
from fewer.validate import split_rows

ROWS, COUNTED = 2000, 20_000
"""Rows that judges are fitted to, and that distributions are counted in, at most."""
LEFT_OUT, FITTED, FITS = 40, 10, 60_000
"""Chosen features of which it is measured what is lost without them: by a criterion with closed forms, by a model that
is fitted for each; the latter as long as fits times rows are no more than the third number."""
FOLDS, TREES = 3, 30
"""Folds of such a model, and trees of a forest, at most."""
OTHER_FITS, OTHER_PAIRS = 24, 3e8
"""What the answers of other sizes may take: fits of a model; pairs of rows of a criterion with closed forms."""
DIRECTED = 200
"""Chosen features that two directions are sought in, at most."""
REPLACED = 16
"""Features of answers of other sizes that stand-ins are looked for, at most."""


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
    thorough : bool, default=True
        Whether losses and stand-ins are also measured for answers of other sizes.
    n_total : int, default=0
        Rows of the table, where the rows here are a sample of one that is read in chunks.

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
    thorough: bool = True
    n_total: int = 0

    def gather(self) -> dict[str, Any]:
        """Return everything as plain JSON data.

        Returns
        -------
        dict
            `features` (the order of the rows of the page), `answers` (for each size, places in it), `classes`,
            `distributions` by feature, `judge` as code, `without` by feature (in `without_score`), `without_at` and
            `stand_ins_at`: the same and stand-ins for answers of other sizes, by size, `predictions` (`chosen`, `all`),
            `plane`, `directions` (the rows in two discriminant directions), `wrong`, `untold` (sentences on what could
            not be measured) and, where distributions come from some of the rows, `n_counted`.
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
        if part.n_samples < max(self.problem.n_samples, self.n_total):
            told["n_counted"] = part.n_samples
        rows = sample_of(self.problem, ROWS, rng)
        looks: list[FloatArray] = []
        if self.outcome is not None:
            told["predictions"] = {
                "chosen": predictions(self.problem, self.outcome.outputs),
                "all": predictions(self.problem, self.outcome.outputs_all),
            }
            looks = [self.outcome.outputs, self.outcome.outputs_all]
        if self.outcome is not None or self.n_total:
            self._try(told, "without", "What is lost without each feature", lambda: self._without(rows, looks))
        if self.outcome is not None:
            told["wrong"] = always_wrong(self.problem, looks)
        if self.thorough and told.get("without"):
            what = "What is lost without each feature of another size"
            self._try(told, "without_at", what, lambda: self._without_at(answers, rows))
            self._try(told, "stand_ins_at", "Stand-ins at another size", lambda: self._stand_ins_at(answers))
        if len(order) >= 2 and len(self.chosen):
            self._try(told, "plane", "The rows in two features", lambda: self._plane(order[:2], rows))
        if len(self.chosen) >= 3:
            self._try(told, "directions", "The rows in two directions", lambda: self._directions(rows))
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
        chosen = self._mask()
        others = [
            int(i)
            for mask in answers.values()
            for i in sorted(np.flatnonzero(mask & ~chosen), key=lambda i: ranking[i])
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
        outputs, losses = self._losses(self.chosen, rows, most)
        if len(rows) == self.problem.n_samples:
            looks.append(outputs)
        return losses

    def _losses(self, columns: IntArray, rows: IntArray, most: int) -> tuple[FloatArray, dict[str, dict[str, float]]]:
        sample = part_of(self.problem, columns, rows)
        judge = _quicker(self.judge) if isinstance(self.judge, CrossValidated) else self.judge
        scorer = cast(PredictiveScorer, judge.bind(sample, np.random.default_rng([self.seed, 3]), Resources()))
        outputs, losses = losses_without(scorer, sample, np.ones(len(columns), dtype=bool), self.scoring, most=most)
        return outputs, {
            sample.names[i]: {key: round(value, 6) for key, value in loss.items()} for i, loss in losses.items()
        }

    def _without_at(self, answers: dict[int, BoolArray], rows: IntArray) -> dict[str, dict[str, dict[str, float]]]:
        """Measure the losses for answers of other sizes, as many as are cheap."""
        left = OTHER_PAIRS / max(len(rows), 1) ** 2
        if isinstance(self.judge, CrossValidated):
            left = min(OTHER_FITS, FITS // (FOLDS * len(rows)))
        told = {}
        for size in self._others(answers):
            left -= size + 1
            if left < 0:
                break
            if size > 1:
                told[str(size)] = self._losses(np.flatnonzero(answers[size]), rows, LEFT_OUT)[1]
        return told

    def _stand_ins_at(self, answers: dict[int, BoolArray]) -> dict[str, dict[str, list[str]]]:
        """Look for stand-ins in answers of other sizes, where the selector looked for them in its own."""
        if not getattr(self.selector, "standins_", None) or self.problem.n_samples > ROWS:
            return {}
        names, left = self.problem.names, REPLACED
        splits = split_rows(self.problem, 5, np.random.default_rng([self.seed, 4]))
        told = {}
        for size in self._others(answers):
            left -= size
            if left < 0:
                break
            found = stand_ins(self.problem, answers[size], splits, seed=self.seed)
            told[str(size)] = {names[i]: [names[j] for j in others] for i, others in found.items()}
        return told

    def _others(self, answers: dict[int, BoolArray]) -> list[int]:
        """Return the sizes beside the answer's: first what other preferences would take, then from the smallest on."""
        preferred = [int(np.sum(mask)) for mask in getattr(self.selector, "choices_", {}).values()]
        own = len(self.chosen)
        return [
            size
            for size in sorted(answers, key=lambda size: (size not in preferred, size))
            if size != own and 0 < size < self.problem.n_features
        ]

    def _plane(self, columns: IntArray, rows: IntArray) -> dict[str, Any]:
        return _numbered(plane(part_of(self.problem, columns, rows), [0, 1], self.judge, self.seed), rows)

    def _directions(self, rows: IntArray) -> dict[str, Any]:
        part = part_of(self.problem, self.chosen[:DIRECTED], rows)
        return _numbered(discriminant_plane(part, self.judge, self.seed), rows)

    def _try(self, told: dict[str, Any], key: str, what: str, measure: Callable[[], Any]) -> None:
        """Measure; a judge that cannot do with fewer columns or rows must not end a run that has its answer."""
        try:
            with telling(what):
                found = measure()
        except InputError as error:
            told["untold"].append(str(error))
        else:
            told[key] = found


def _numbered(told: dict[str, Any], rows: IntArray) -> dict[str, Any]:
    """Number the rows of a part as the table does, from 1."""
    return told and told | {"row": (rows[np.array(told["row"]) - 1] + 1).tolist()}


def _quicker(judge: CrossValidated) -> CrossValidated:
    """Let a model that is fitted for each feature have few folds, and a forest few trees."""
    quick = clone(judge).set_params(cv=FOLDS)
    if getattr(quick.estimator, "n_estimators", 0) > TREES:
        quick.set_params(estimator__n_estimators=TREES)
    return quick


__all__ = ["Evidence"]
