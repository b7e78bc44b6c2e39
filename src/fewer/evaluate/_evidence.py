"""Some rows and columns of a problem, dense, whatever its size.

What is lost without each chosen feature, row by row, with an interval.

What a page shows of a selection, as plain data that stays small: pictures can be drawn without the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import narwhals as nw
import numpy as np
from scipy import linalg
from sklearn.base import clone

from fewer.contracts import Answer, Criterion, Masks, PredictiveScorer, Resources, Run, best_by_size
from fewer.contracts._run import LARGEST_SHOWN
from fewer.contracts.trace import Trace
from fewer.control._aggregate import draw_rows
from fewer.criteria import CrossValidated
from fewer.errors import InputError, quietly, telling
from fewer.evaluate._heldout import HeldOutScores
from fewer.evaluate.distributions import distribution, plain, predictions, shown_classes
from fewer.evaluate.grading import Grade, Grader
from fewer.io.frames import FrameSchema
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, mask_of
from fewer.selectors import RankSelector, SubsetSelector
from fewer.selectors.auto._encoding import Encoder
from fewer.selectors.auto._standins import stand_ins
from fewer.validate import assign_folds, split_rows

SHOWN = 300
WIDE, HIGH = 48, 32
LISTED = 20
# Robust standard deviations from which on a prediction of a quantity counts as wrong.
FAR = 3.0


def plane(problem: Problem, columns: Sequence[int], judge: Criterion, seed: int) -> dict[str, Any]:
    """Place rows in two features, with what the judge, fitted to these two alone, would say everywhere.

    Parameters
    ----------
    problem : Problem
        The rows.
    columns : two ints
        The two features that are drawn.
    judge : Criterion
        A predictive one.
    seed : int
        Of all that is random.

    Returns
    -------
    dict
        Plain JSON data: `names`; for each of up to 300 rows (classes as in the table) `row`, `x`, `y` and `target` (the
        class code, or the quantity); `x_ends` and `y_ends`; `grid`, 32 rows of 48 class codes from the bottom up, or
        quantities; `missing`, rows that lack one of the two. Levels are codes, shaken by up to 0.3. Empty
        where nothing can be placed.
    """
    part = problem.narrowed(np.asarray(columns, dtype=np.int64))
    seen = np.flatnonzero(~np.isnan(part.X).any(axis=1))
    if len(seen) < 4 or problem.y.ndim > 1:
        return {}
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(seen)[:SHOWN])
    jitter = rng.uniform(-0.3, 0.3, size=(len(rows), 2)) * [kind != "numeric" for kind in part.kinds]
    shown = part.X[rows] + jitter
    ends = [_ends(part.X[seen, i], part.kinds[i]) for i in range(2)]
    across, up = (np.linspace(*end, n) for end, n in zip(ends, (WIDE, HIGH), strict=True))
    across, up = (
        values if kind == "numeric" else np.round(values) for values, kind in zip((across, up), part.kinds, strict=True)
    )
    grid = np.column_stack([np.tile(across, HIGH), np.repeat(up, WIDE)])
    known = part.take(seen)
    scorer = cast(PredictiveScorer, judge.bind(known, rng, Resources()))
    said = scorer.predict(np.ones(2, dtype=bool), grid)
    codes = said.argmax(axis=1).tolist() if problem.task == "classification" else [plain(v) for v in said.ravel()]
    return {
        "names": list(part.names),
        "row": (rows + 1).tolist(),
        "x": [plain(v) for v in shown[:, 0]],
        "y": [plain(v) for v in shown[:, 1]],
        "target": [int(v) if problem.task == "classification" else plain(v) for v in problem.y[rows]],
        "x_ends": [plain(v) for v in ends[0]],
        "y_ends": [plain(v) for v in ends[1]],
        "levels": [[str(v)[:40] for v in part.levels[i]] if i in part.levels else [] for i in range(2)],
        "grid": [codes[i * WIDE : (i + 1) * WIDE] for i in range(HIGH)],
        "missing": problem.n_samples - len(seen),
    }


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
    told: dict[str, Any] = {"n_looks": len(looks), "n_rows": len(known)}
    found = _wrong_class if problem.task == "classification" else _far_off
    rows = found(problem, stack, known)
    return told | {"n_wrong": len(rows), "rows": rows[:LISTED]}


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
    far = np.flatnonzero((away > FAR).all(axis=0) & (np.abs(np.sign(errors).sum(axis=0)) == len(errors)))
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


def _ends(values: FloatArray, kind: str) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin = 0.5 if kind != "numeric" else 0.04 * (high - low) or 0.5
    return low - margin, high + margin


# Parts of equal size that a quantity is cut into.
SLICES = 6
# The share of a number's variance that is added within classes, so that copies and few rows do no harm.
RIDGE = 0.02
# Features that are named for a direction, at most.
TOLD = 3


def discriminant_plane(problem: Problem, judge: Criterion, seed: int) -> dict[str, Any]:
    """Place rows in two discriminant directions of all features, with what the judge says of these two everywhere.

    Parameters
    ----------
    problem : Problem
        The chosen features; at least three.
    judge : Criterion
        A predictive one, fitted to the two directions.
    seed : int
        Of all that is random.

    Returns
    -------
    dict
        As `plane` returns it, and `weights`: for each direction the features that weigh most in it, and how much, for
        features of equal spread. Empty where nothing can be placed.

    Examples
    --------
    >>> from fewer.criteria import KNN
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> told = discriminant_plane(Problem.from_arrays(X, y, names=["a", "b", "c", "d"]), KNN(5), 0)
    >>> told["names"], [name for name, _ in told["weights"][0]]
    (['direction 1', 'direction 2'], ['c', 'd', 'b'])
    """
    if problem.n_features < 3 or problem.y.ndim > 1 or problem.n_samples < 4:
        return {}
    encoder = Encoder.of(problem.X, np.arange(problem.n_features), problem.nominal, problem.row_weights)
    inputs = encoder.transform(problem.X)
    axes = two_directions(inputs, _parts(problem), problem.row_weights)
    if axes.shape[1] < 2:
        return {}
    names = ("direction 1", "direction 2")
    placed = replace(problem, X=inputs @ axes, names=names, kinds=("numeric", "numeric"), levels={}, schema=None)
    told = plane(placed, [0, 1], judge, seed)
    return told and told | {"weights": [_weights(axis, encoder.columns, problem) for axis in axes.T]}


def two_directions(inputs: FloatArray, parts: IntArray, weights: FloatArray) -> FloatArray:
    """Return directions in which parts lie far apart for their spread; the second of two parts is their widest one.

    Parameters
    ----------
    inputs : array of shape (n_rows, n_inputs)
        Of mean 0 and equal spread.
    parts : int array of shape (n_rows,)
        The class of each row, or the slice of a quantity.
    weights : array of shape (n_rows,)
        How much each row counts.

    Returns
    -------
    array of shape (n_inputs, 2)
        Fewer columns where the rows have no two directions. Rows have a variance of one within parts along each, and
        the largest entry of each is positive.
    """
    means = np.zeros((parts.max(initial=0) + 1, inputs.shape[1]))
    mass = np.bincount(parts, weights)
    np.add.at(means, parts, inputs * weights[:, None])
    means /= np.maximum(mass, 1e-300)[:, None]
    middle = np.average(inputs, axis=0, weights=weights)
    apart = (inputs - means[parts]) * np.sqrt(weights / weights.sum())[:, None]
    away = (means - middle) * np.sqrt(mass / mass.sum())[:, None]
    within, between = apart.T @ apart, away.T @ away
    within += RIDGE * np.eye(len(within))
    values, vectors = linalg.eigh(between, within)
    order = np.argsort(values)[::-1]
    n_telling = int((values > 1e-9 * max(values.max(initial=0.0), 1e-300)).sum())
    found = vectors[:, order[: min(n_telling, 2)]]
    if found.shape[1] == 1 and len(within) > 1:
        found = np.column_stack([found, _widest(within, found[:, 0])])
    signs = np.sign(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])])
    return np.asarray(found * np.where(signs == 0, 1.0, signs))


def _widest(within: FloatArray, first: FloatArray) -> FloatArray:
    """Return the direction along which rows of a part spread most, uncorrelated with the first one within parts."""
    along = within @ first
    rest = np.eye(len(within)) - np.outer(along, along) / (along @ along)
    _, vectors = linalg.eigh(rest @ within @ rest)
    second = rest @ vectors[:, -1]
    return np.asarray(second / np.sqrt(max(second @ within @ second, 1e-300)))


def _parts(problem: Problem) -> IntArray:
    if problem.task == "classification":
        return problem.y.astype(np.int64)
    order = np.argsort(problem.y, kind="stable")
    cuts = problem.y[order[[len(order) * i // SLICES for i in range(1, SLICES)]]]
    return np.unique(np.searchsorted(cuts, problem.y, side="right"), return_inverse=True)[1].astype(np.int64)


def _weights(axis: FloatArray, columns: IntArray, problem: Problem) -> list[tuple[str, float]]:
    """Name the features that weigh most; of one with levels, what its levels weigh together."""
    together = np.sqrt(np.bincount(columns, axis**2, minlength=problem.n_features))
    alone = np.bincount(columns, minlength=problem.n_features) == 1
    signed = np.where(alone, np.bincount(columns, axis, minlength=problem.n_features), together)
    order = np.argsort(-together, kind="stable")[:TOLD]
    return [(problem.names[i], round(float(signed[i]), 3)) for i in order]


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


# Rows that judges are fitted to, and that distributions are counted in, at most.
ROWS, COUNTED = 2000, 20_000
# Chosen features of which it is measured what is lost without them: by a criterion with closed forms, by a model that
# is fitted for each; the latter as long as fits times rows are no more than the third number.
LEFT_OUT, FITTED, FITS = 40, 10, 60_000
# Folds of such a model, and trees of a forest, at most.
FOLDS, TREES = 3, 30
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
            best = part_of(self.problem, order[:2], rows)
            self._try(told, "plane", "The rows in two features",
                      lambda: _numbered(plane(best, [0, 1], self.judge, self.seed), rows))  # fmt: skip
        if len(self.chosen) >= 3:
            first = part_of(self.problem, self.chosen[:DIRECTED], rows)
            self._try(told, "directions", "The rows in two directions",
                      lambda: _numbered(discriminant_plane(first, self.judge, self.seed), rows))  # fmt: skip
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
    try:
        parts = assign_folds(replace(rows, time=None), n_parts, rng)  # parts are left out, not predicted
    except InputError:  # the judged rows are of one group
        return None
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
