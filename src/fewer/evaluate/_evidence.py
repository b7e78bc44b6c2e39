"""Some rows and columns of a problem, dense, whatever its size.

What is lost without each chosen feature, row by row, with an interval.

What a page shows of a selection, as plain data that stays small: pictures can be drawn without the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import narwhals as nw
import numpy as np
from sklearn.base import clone

from fewer.contracts import Answer, Criterion, Masks, PredictiveScorer, Resources, Run, best_by_size
from fewer.contracts._run import LARGEST_SHOWN
from fewer.contracts.trace import Trace
from fewer.control._aggregate import draw_rows
from fewer.criteria import CrossValidated
from fewer.errors import InputError, quietly, telling
from fewer.evaluate._heldout import HeldOutScores
from fewer.evaluate._row_views import always_wrong, discriminant_plane, plane
from fewer.evaluate.distributions import distribution, predictions, shown_classes
from fewer.evaluate.grading import Grade, Grader
from fewer.io.frames import FrameSchema
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, mask_of
from fewer.selectors import RankSelector, SubsetSelector
from fewer.selectors.auto._standins import stand_ins
from fewer.validate import assign_folds, split_rows


def part_of(problem: Problem, columns: IntArray, rows: IntArray) -> Problem:
    """Return some rows and columns; of a sparse table only these become dense.

    Parameters
    ----------
    problem : Problem
        The rows.
    columns, rows : int arrays
        Numbers of those that are kept.

    Returns
    -------
    Problem

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], [0, 1, 0])
    >>> part = part_of(problem, np.array([1]), np.array([0, 2]))
    >>> part.X.tolist(), part.names
    ([[1.0], [5.0]], ('x1',))
    """
    place = {int(column): i for i, column in enumerate(columns)}
    whole = len(rows) == problem.n_samples
    if problem.sparse is None:
        table = problem.X[:, columns] if whole else problem.X[np.ix_(rows, columns)]
    else:
        table = problem.sparse[:, columns].toarray()[rows]
    return Problem(
        X=np.ascontiguousarray(table, dtype=np.float64),
        task=problem.task,
        names=tuple(problem.names[i] for i in columns),
        kinds=tuple(problem.kinds[i] for i in columns),
        classes=problem.classes,
        levels={place[i]: levels for i, levels in problem.levels.items() if i in place},
        schema=_schema(problem, columns),
        **problem.beside(rows),
    )


def _schema(problem: Problem, columns: IntArray) -> FrameSchema | None:
    if problem.schema is None or not problem.schema.fits(problem):
        return None
    head = nw.from_native(problem.schema.head, eager_only=True)
    return FrameSchema(head[:, [int(i) for i in columns]].to_native())


def sample_of(problem: Problem, most: int, rng: np.random.Generator) -> IntArray:
    """Draw about this number of rows, balanced by class and with whole groups; all if there are no more.

    Parameters
    ----------
    problem : Problem
        The rows.
    most : int
        How many rows at most.
    rng : Generator
        Draws all that is random.

    Returns
    -------
    int array
        In the order of the table.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((100, 1)), [0] * 90 + [1] * 10)
    >>> rows = sample_of(problem, 20, np.random.default_rng(0))
    >>> len(rows), (rows >= 90).sum()
    (20, np.int64(2))
    """
    n = problem.n_samples
    if n <= most:
        return np.arange(n)
    if problem.groups is not None:
        names, counts = np.unique(problem.groups, return_counts=True)
        order = rng.permutation(len(names))
        kept = order[: max(int(np.searchsorted(np.cumsum(counts[order]), most, side="right")), 1)]
        return np.flatnonzero(np.isin(problem.groups, names[kept]))
    if problem.task == "classification" and problem.y.ndim == 1:
        return draw_rows(problem, "subsample", rng, most / n)
    return np.sort(rng.choice(n, most, replace=False))


SEEN = 1.96


def losses_without(
    scorer: PredictiveScorer, problem: Problem, mask: BoolArray, scoring: Any = None, *, most: int | None = None
) -> tuple[FloatArray, dict[int, dict[str, float]]]:
    """Compare out-of-fold predictions with the chosen features and without each of them.

    Parameters
    ----------
    scorer : PredictiveScorer
        The judge, bound to these rows: it predicts each of them without its own fold.
    problem : Problem
        The rows.
    mask : bool array of shape (n_features,)
        The chosen features. Those that are left out are fitted without, not shuffled.
    scoring : str, optional
        `"roc_auc"` is measured by that; everything else by accuracy or R², which every row has a share in.
    most : int, optional
        Number of features to leave out, one at a time, from the first; all by default.

    Returns
    -------
    outputs : array
        The predictions with all chosen features.
    losses : dict
        For each chosen column its `loss` and the `low` and `high` end of its 95 % interval.

    Examples
    --------
    >>> from fewer.contracts import Resources
    >>> from fewer.criteria import KNN
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> problem = Problem.from_arrays(X, X[:, 0] > 0)
    >>> scorer = KNN(5).bind(problem, rng, Resources())
    >>> _, losses = losses_without(scorer, problem, np.array([True, True]))
    >>> losses[0]["low"] > 0, losses[1]["low"] > 0
    (True, False)
    """
    grader = Grader(problem, "roc_auc" if score_of(problem, scoring) == "roc_auc" else None)
    outputs = scorer.outputs(mask)
    whole = _grade(grader, scorer, outputs, problem)
    losses: dict[int, dict[str, float]] = {}
    for column in np.flatnonzero(mask)[:most]:
        rest = mask.copy()
        rest[column] = False
        if not rest.any():
            continue
        loss = whole - _grade(grader, scorer, scorer.outputs(rest), problem)
        error = _error(loss, problem)
        if error is not None:
            losses[int(column)] = {
                "loss": loss.score, "low": loss.score - SEEN * error, "high": loss.score + SEEN * error
            }  # fmt: skip
    return outputs, losses


def score_of(problem: Problem, scoring: Any = None) -> str:
    """Name the score that the losses are in.

    Parameters
    ----------
    problem : Problem
        The rows.
    scoring : str, callable or None
        The metric; None is accuracy or R².

    Returns
    -------
    str
    """
    if problem.task == "regression":
        return "R²"
    return (
        "roc_auc" if scoring == "roc_auc" and problem.n_classes == 2 and problem.sample_weight is None else "accuracy"
    )


def _grade(grader: Grader, scorer: PredictiveScorer, outputs: FloatArray, problem: Problem) -> Grade:
    judged = np.isfinite(outputs.reshape(len(outputs), -1)).all(axis=1)
    rows = problem if judged.all() else problem.take(np.flatnonzero(judged))
    grade = grader.grade(scorer, outputs[judged], rows)
    if grade.influence is None or judged.all():
        return grade
    influence = np.zeros(len(outputs))
    influence[judged] = grade.influence
    return Grade(grade.score, influence)


def _error(grade: Grade, problem: Problem) -> float | None:
    if grade.influence is None:
        return None
    parts = grade.influence
    if problem.groups is not None:
        parts = np.bincount(np.unique(problem.groups, return_inverse=True)[1], weights=parts).astype(np.float64)
    return float(np.sqrt(np.sum(parts**2)))


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
    answer : Answer
        What a fit to these rows ended in.
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
    >>> told = Evidence(problem, selector.answer_, np.array([2, 3]), KNN(5), None).gather()
    >>> told["features"], told["distributions"]["c"]["medians"]
    (['c', 'd'], [1.5, 4.35, 5.55])
    """

    problem: Problem
    answer: Answer
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
        answers = self.answer.by_size()
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

    def _order(self, answers: dict[int, BoolArray]) -> IntArray:
        """Put the chosen features first, then those of larger answers, each in the order of the ranking."""
        ranking = self.answer.ranking
        if not len(self.chosen):
            return np.argsort(ranking, kind="stable")[: min(5, len(ranking))]
        chosen = mask_of(self.chosen, self.problem.n_features)
        others = [
            int(i)
            for mask in answers.values()
            for i in sorted(np.flatnonzero(mask & ~chosen), key=lambda i: ranking[i])
        ]
        most = min(max(LARGEST_SHOWN, len(self.chosen)), 200)
        return np.array(list(dict.fromkeys([*self.chosen.tolist(), *others]))[:most])

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
        if not self.answer.stand_ins or self.problem.n_samples > ROWS:
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
        preferred = [int(np.sum(mask)) for mask in self.answer.choices.values()]
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
    if quick.estimator.get_params().get("n_estimators", 0) > TREES:
        quick.set_params(estimator__n_estimators=TREES)
    return quick


PARTS = 10
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
        return {
            "sizes": list(best),
            "scores": [score for score, _ in best.values()],
            "standard_error": None if run is None else _error_of(run, mask),
            "measured": AS_SEARCHED,
        }
    curve = answer.curve
    if not curve or answer.choices:
        return {}
    # The curve holds losses below zero; they are told as accuracy or R².
    unit = 1.0 if problem.task == "classification" else float(np.cov(problem.y, ddof=0, aweights=problem.sample_weight))
    return {
        "sizes": curve["size"].tolist(),
        "scores": (1.0 + curve["score"] / unit).tolist(),
        "standard_error": float(curve["standard_error"][np.argmax(curve["score"])] / unit),
        "measured": CURVED,
    }


def _held_out(trace: Trace, problem: Problem) -> dict[str, Any]:
    """Tell the losses of `OneStandardError` as shares of the loss that class frequencies or the mean alone have."""
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


def standard_error(
    scorer: PredictiveScorer, mask: Masks, problem: Problem, rng: np.random.Generator, *, n_parts: int = PARTS
) -> float | None:
    """Return the standard error of a subset's cross-validated score, over parts of the rows.

    The rows' out-of-fold predictions are graded without each of so many stratified parts (the delete-a-group
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
    n_parts : int, default=10
        How many parts.

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
    parts = assign_folds(replace(rows, time=None), n_parts, rng)  # parts are left out, not predicted
    others = [parts != part for part in np.unique(parts)]
    if any(rows.row_weights[other].sum() == 0 for other in others):
        return None
    with quietly():  # an undefined grade is told by the NaN that it leaves
        grades = [scorer.grade(outputs[other], rows.take(other)) for other in others]
    error = float(np.sqrt((len(grades) - 1) * np.var(grades)))
    return error if np.isfinite(error) else None


def _error_of(run: Run, mask: Masks) -> float | None:
    if not run.criterion.predictive or run.problem.n_outputs > 1:
        return None
    return standard_error(cast(PredictiveScorer, run.scorer), mask, run.problem, np.random.default_rng(0))
