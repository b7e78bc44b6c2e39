"""The evidence for a selection, as plain data that stays small, so that a page can be drawn without the table.

It is gathered from a sample of the rows: how the values of each feature are distributed, what is lost without each
chosen feature, what was predicted for rows held out, and which rows every model predicts wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import narwhals as nw
import numpy as np
from sklearn.base import clone

from fewer.contracts import Answer, Criterion, PredictiveScorer, Resources
from fewer.contracts._run import LARGEST_SHOWN
from fewer.control._aggregate import draw_rows
from fewer.criteria import CrossValidated
from fewer.errors import InputError, telling
from fewer.evaluate._heldout import HeldOutScores
from fewer.evaluate.distributions import distribution, plain, predictions, shown_classes
from fewer.evaluate.grading import Grade, Grader
from fewer.evaluate.planes import discriminant_plane, plane
from fewer.io.frames import FrameSchema
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, mask_of
from fewer.selectors.auto._standins import stand_ins
from fewer.validate import split_rows

LISTED = 20
# Robust standard deviations from which on a prediction of a quantity counts as wrong.
FAR_OFF = 3.0


def always_wrong(problem: Problem, looks: Sequence[FloatArray]) -> dict[str, Any]:
    """List the rows that every rule that did not see them predicts wrongly: often errors in the table.

    Parameters
    ----------
    problem : Problem
        The rows.
    looks : list of arrays
        Predictions, one array for each way of predicting rows unseen; NaN where a row was not predicted.

    Returns
    -------
    dict
        Plain JSON data: `n_looks`, `n_rows` that all of them predicted, `n_wrong`, and `rows`, the surest first: `row`
        (counted from 1), `truth`, `prediction`, and for classes `membership` that the wrong class was given, on average
        (for a quantity `away`: how many robust standard deviations off).

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((3, 1)), ["a", "a", "b"])
    >>> look = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])
    >>> always_wrong(problem, [look, look])["rows"]
    [{'row': 2, 'truth': 'a', 'prediction': 'b', 'membership': 0.8}]
    """
    if problem.y.ndim > 1 or not looks:
        return {}
    stack = np.array([look.reshape(len(look), -1) for look in looks])
    known = np.flatnonzero(np.isfinite(stack).all(axis=(0, 2)))
    if not len(known):
        return {}
    counts: dict[str, Any] = {"n_looks": len(looks), "n_rows": len(known)}
    list_wrong = _wrong_class if problem.task == "classification" else _far_off
    rows = list_wrong(problem, stack, known)
    return counts | {"n_wrong": len(rows), "rows": rows[:LISTED]}


def _wrong_class(problem: Problem, stack: FloatArray, known: IntArray) -> list[dict[str, Any]]:
    wrong = known[(stack[:, known].argmax(axis=2) != problem.y[known]).all(axis=0)]
    mean = np.clip(stack[:, wrong].mean(axis=0), 0.0, 1.0)
    guess, share = mean.argmax(axis=1), mean.max(axis=1)
    order = np.argsort(-np.round(share, 9), kind="stable")
    return [
        {
            "row": int(wrong[i]) + 1,
            "truth": str(problem.classes[int(problem.y[wrong[i]])]),
            "prediction": str(problem.classes[int(guess[i])]),
            "membership": round(float(share[i]), 4),
        }
        for i in order
    ]


def _far_off(problem: Problem, stack: FloatArray, known: IntArray) -> list[dict[str, Any]]:
    errors = stack[:, known, 0] - problem.y[known]
    spread = 1.4826 * np.median(np.abs(errors - np.median(errors, axis=1, keepdims=True)), axis=1, keepdims=True)
    away = np.abs(errors) / np.maximum(spread, 1e-300)
    far = np.flatnonzero((away > FAR_OFF).all(axis=0) & (np.abs(np.sign(errors).sum(axis=0)) == len(errors)))
    order = far[np.argsort(-away[:, far].mean(axis=0), kind="stable")]
    return [
        {
            "row": int(known[i]) + 1,
            "truth": plain(problem.y[known[i]]),
            "prediction": plain(stack[:, known[i], 0].mean()),
            "away": round(float(away[:, i].mean()), 2),
        }
        for i in order
    ]


def part_of(problem: Problem, columns: IntArray, rows: IntArray) -> Problem:
    """Return some rows and columns; of a sparse table only these become dense.

    Parameters
    ----------
    problem : Problem
        The rows.
    columns, rows : int arrays
        Numbers of the columns and rows that are kept.

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
    part = problem.narrowed(columns)
    part = part if len(rows) == problem.n_samples else part.take(rows)
    schema = None
    if problem.schema is not None and problem.schema.fits(problem):
        head = nw.from_native(problem.schema.head, eager_only=True)
        schema = FrameSchema(head[:, [int(i) for i in columns]].to_native())
    return replace(part, schema=schema, notes=(), suspicions=())


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


NORMAL_95 = 1.96


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
        The chosen features. The model is fitted without each one; it is not shuffled.
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
        without = mask.copy()
        without[column] = False
        if not without.any():
            continue
        loss = whole - _grade(grader, scorer, scorer.outputs(without), problem)
        error = _error(loss, problem)
        if error is not None:
            losses[int(column)] = {
                "loss": loss.score, "low": loss.score - NORMAL_95 * error, "high": loss.score + NORMAL_95 * error
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


# Rows that judges are fitted to, and that distributions are counted in, at most.
FITTED_ROWS, COUNTED = 2000, 20_000
# Chosen features of which it is measured what is lost without them: by a criterion with closed forms, by a model that
# is fitted for each; the latter as long as fits times rows are no more than the third number.
LEFT_OUT, FITTED, FITS = 40, 10, 60_000
# Folds of such a model, and trees of a forest, at most.
FOLDS, MOST_TREES = 3, 30
# What the answers of other sizes may take: fits of a model; pairs of rows of a criterion with closed forms.
OTHER_FITS, OTHER_PAIRS = 24, 3e8
# Chosen features that two directions are sought in, at most.
DIRECTED = 200
# Features of answers of other sizes that stand-ins are looked for, at most.
REPLACED = 16


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
        evidence: dict[str, Any] = {
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
            evidence["n_counted"] = part.n_samples
        rows = sample_of(self.problem, FITTED_ROWS, rng)
        looks: list[FloatArray] = []
        if self.outcome is not None:
            evidence["predictions"] = {
                "chosen": predictions(self.problem, self.outcome.outputs),
                "all": predictions(self.problem, self.outcome.outputs_all),
            }
            looks = [self.outcome.outputs, self.outcome.outputs_all]
        if self.outcome is not None or self.n_total:
            self._try(evidence, "without", "What is lost without each feature", lambda: self._without(rows, looks))
        if self.outcome is not None:
            evidence["wrong"] = always_wrong(self.problem, looks)
        if self.thorough and evidence.get("without"):
            what = "What is lost without each feature of another size"
            self._try(evidence, "without_at", what, lambda: self._without_at(answers, rows))
            self._try(evidence, "stand_ins_at", "Stand-ins at another size", lambda: self._stand_ins_at(answers))
        if len(order) >= 2 and len(self.chosen):
            best = part_of(self.problem, order[:2], rows)
            self._try(evidence, "plane", "The rows in two features",
                      lambda: _numbered(plane(best, [0, 1], self.judge, self.seed), rows))  # fmt: skip
        if len(self.chosen) >= 3:
            first = part_of(self.problem, self.chosen[:DIRECTED], rows)
            self._try(evidence, "directions", "The rows in two directions",
                      lambda: _numbered(discriminant_plane(first, self.judge, self.seed), rows))  # fmt: skip
        return evidence

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
        """Measure the losses; the predictions made on the way are one more look at the rows."""
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
        losses = {}
        for size in self._others(answers):
            left -= size + 1
            if left < 0:
                break
            if size > 1:
                losses[str(size)] = self._losses(np.flatnonzero(answers[size]), rows, LEFT_OUT)[1]
        return losses

    def _stand_ins_at(self, answers: dict[int, BoolArray]) -> dict[str, dict[str, list[str]]]:
        """Look for stand-ins in answers of other sizes, where the selector looked for them in its own."""
        if not self.answer.stand_ins or self.problem.n_samples > FITTED_ROWS:
            return {}
        names, left = self.problem.names, REPLACED
        splits = split_rows(self.problem, 5, np.random.default_rng([self.seed, 4]))
        by_size = {}
        for size in self._others(answers):
            left -= size
            if left < 0:
                break
            substitutes = stand_ins(self.problem, answers[size], splits, seed=self.seed)
            by_size[str(size)] = {names[i]: [names[j] for j in others] for i, others in substitutes.items()}
        return by_size

    def _others(self, answers: dict[int, BoolArray]) -> list[int]:
        """Return the sizes beside the answer's: first what other preferences would take, then from the smallest on."""
        preferred = [int(np.sum(mask)) for mask in self.answer.choices.values()]
        n_chosen = len(self.chosen)
        return [
            size
            for size in sorted(answers, key=lambda size: (size not in preferred, size))
            if size != n_chosen and 0 < size < self.problem.n_features
        ]

    def _try(self, evidence: dict[str, Any], key: str, what: str, measure: Callable[[], Any]) -> None:
        """Measure; a model that fails with fewer columns or rows must not end a run that has its answer."""
        try:
            with telling(what):
                value = measure()
        except InputError as error:
            evidence["untold"].append(str(error))
        else:
            evidence[key] = value


def _numbered(drawn: dict[str, Any], rows: IntArray) -> dict[str, Any]:
    """Number the rows of a part as the table does, from 1."""
    return drawn and drawn | {"row": (rows[np.array(drawn["row"]) - 1] + 1).tolist()}


def _quicker(judge: CrossValidated) -> CrossValidated:
    """Let a model that is fitted for each feature have few folds, and a forest few trees."""
    quick = clone(judge).set_params(cv=FOLDS)
    if quick.estimator.get_params().get("n_estimators", 0) > MOST_TREES:
        quick.set_params(estimator__n_estimators=MOST_TREES)
    return quick
