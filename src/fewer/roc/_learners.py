"""Learning algorithms as Parcel uses them, and the rows that they get: training, validation and calibration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import has_fit_parameter

from fewer.contracts import Resources
from fewer.kernels import naive_bayes as bayes
from fewer.kernels import roc as kernels
from fewer.models import DiscreteNaiveBayes
from fewer.models.discrete_naive_bayes import FIXED, LogTables, columns_of
from fewer.parallel import Shared, in_threads, run_tasks
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem
from fewer.validate import assign_folds, split_rows

# Scores held at once.
SCORES_AT_ONCE = 1 << 20

NOBODY = -1

# A hull as the kernels take it: growing false positives, and what the highest point at each is worth.
Line = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Front:
    """Points of ROC space in counts of validation rows, such as the vertices of a hull.

    Attributes
    ----------
    fp, tp : float arrays
    worth : float array
        True positives less the price of the features: what a hull is made of.
    threshold : float array
        Scores of at least this are positive.
    member : int array
        Who stands at each point; NOBODY at the corners, which need no feature.
    """

    fp: FloatArray
    tp: FloatArray
    worth: FloatArray
    threshold: FloatArray
    member: IntArray

    @classmethod
    def diagonal(cls, n_negative: float, n_positive: float) -> Front:
        """Guessing: the two corners."""
        fp, tp = np.array([0.0, n_negative]), np.array([0.0, n_positive])
        return cls(fp, tp, tp, np.array([np.inf, -np.inf]), np.array([NOBODY, NOBODY]))

    @classmethod
    def stacked(cls, parts: Sequence[Front]) -> Front:
        """Put the points of several one after the other."""
        return cls(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(cls)))

    def take(self, points: Any) -> Front:
        """Return some of the points."""
        return Front(*(getattr(self, column.name)[points] for column in fields(self)))

    @property
    def area(self) -> float:
        """Area under the hull, between 0 and 1."""
        return float(np.trapezoid(self.worth, self.fp) / (self.fp[-1] * self.tp[-1]))

    @property
    def line(self) -> Line:
        """The hull as the kernels take it."""
        highest = np.append(self.fp[1:] != self.fp[:-1], True)
        return self.fp[highest], self.worth[highest]


class LearnedRule(ABC):
    """What was learnt for one subset: a score for each row, higher for positives."""

    @abstractmethod
    def scores(self, X: FloatArray) -> FloatArray:
        """Score rows of all columns."""


@dataclass(frozen=True, eq=False)
class Lessons:
    """Rows as learning algorithms get them. Folds are numbers of rows: copies would take many times the table.

    Attributes
    ----------
    rows : Problem
        All rows that train or judge.
    splits : tuple of (int array, int array)
        Training rows, and rows that judge what was learnt from them: one pair, or the folds of a cross-validation.
    in_folds : bool
        Whether every row trains and judges in turn.
    repeats : int
        How often each row is among those that judge, in folds dealt anew each time.
    """

    rows: Problem
    splits: tuple[tuple[IntArray, IntArray], ...]
    in_folds: bool = True
    repeats: int = 1

    @classmethod
    def of_parts(cls, train: Problem, validation: Problem) -> Lessons:
        """Let some rows judge what is learnt from others of the same columns."""
        X, y, weight = (
            np.concatenate([getattr(part, name) for part in (train, validation)]) for name in ("X", "y", "row_weights")
        )
        weights = None if train.sample_weight is None and validation.sample_weight is None else weight
        rows = replace(train, X=X, y=y, sample_weight=weights, groups=None, time=None, row_numbers=None)
        ends = np.arange(train.n_samples), np.arange(train.n_samples, rows.n_samples)
        return cls(rows, (ends,), in_folds=False)

    @property
    def pairs(self) -> Iterator[tuple[Problem, Problem]]:
        """Training rows and their judges, one pair at a time."""
        return ((self.rows.take(train), self.rows.take(held)) for train, held in self.splits)

    @cached_property
    def whole(self) -> Problem:
        """Rows that the classifiers on the hull learn from in the end."""
        return self.rows if self.in_folds else self.rows.take(self.splits[0][0])

    @cached_property
    def judges(self) -> IntArray:
        """Numbers of the validation rows, pair after pair."""
        return np.concatenate([held for _, held in self.splits])

    @cached_property
    def positive(self) -> IntArray:
        """Class codes of the validation rows."""
        return np.ascontiguousarray(self.rows.y[self.judges], dtype=np.int64)

    @cached_property
    def weight(self) -> FloatArray | None:
        """What each validation row counts; None if all count alike."""
        return None if self.rows.sample_weight is None else self.rows.row_weights[self.judges]

    @property
    def once(self) -> slice:
        """The validation rows of the folds dealt first: each row once."""
        return slice(len(self.positive) // self.repeats)

    def dealt_once(self) -> Lessons:
        """Return the folds dealt first alone."""
        return replace(self, splits=self.splits[: len(self.splits) // self.repeats], repeats=1)

    @cached_property
    def totals(self) -> tuple[float, float]:
        """What all negative and all positive validation rows count."""
        weight = np.ones(len(self.positive)) if self.weight is None else self.weight
        return float(weight[self.positive == 0].sum()), float(weight[self.positive == 1].sum())

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """How many negative and positive validation rows of equal weight would tell as much (Kish)."""
        codes = self.positive[self.once]
        if self.weight is None:
            return int((codes == 0).sum()), int((codes == 1).sum())
        sides = [self.weight[self.once][codes == code] for code in (0, 1)]
        negative, positive = (max(1, round(float(w.sum() ** 2 / (w**2).sum()))) for w in sides)
        return negative, positive


class Learner(ABC):
    """One learning algorithm on given lessons."""

    name: str
    slow: bool = False
    """Whether each subset is fitted anew, so that not every child can be tried."""

    @abstractmethod
    def outside(self, parent: BoolArray, masks: BoolArray, prices: FloatArray, hull: Line) -> Front:
        """Return the validation ROC points of subsets that are not below a hull; members are rows of `masks`."""

    @abstractmethod
    def rule(self, mask: BoolArray, rows: Problem | None = None) -> LearnedRule:
        """Return what is learnt for one subset from the rows of the end, or from others."""

    @abstractmethod
    def validation_scores(self, mask: BoolArray) -> FloatArray:
        """Score the validation rows under one subset, as its rule would."""


class NaiveBayesLearner(Learner):
    """Naive Bayes: learnt once for all columns, a child costs one addition a row and a sort."""

    def __init__(self, name: str, model: DiscreteNaiveBayes, lessons: Lessons, n_jobs: int = 1) -> None:
        self.name = name
        self._model = model
        self._others: tuple[Problem, LogTables] | None = None
        pairs = ((self._learn(train), held) for train, held in lessons.pairs)
        learnt, codes = zip(*((tables, tables.rows(held.X)) for tables, held in pairs), strict=True)
        self._tables = self._learn(lessons.whole) if lessons.in_folds else learnt[0]
        self._columns = columns_of(learnt, codes)
        self._positive, self._weight = lessons.positive, lessons.weight
        self._n_jobs = n_jobs
        self._levels = np.array([len(table) for table in learnt[0].tables])
        reach = 2 * sum(int(np.abs(table[:, 1] - table[:, 0]).max()) for table in learnt[0].tables)
        small = reach < 1 << 38 and len(self._positive) < 1 << kernels.ROW_BITS
        self._fits = small and len(learnt) == 1 and self._weight is None

    def outside(self, parent: BoolArray, masks: BoolArray, prices: FloatArray, hull: Line) -> Front:
        """Add to the parent's sums, sort, and keep what sticks out."""
        base, n = self._sums(parent), len(self._positive)
        if self._fits and (masks != parent).sum(axis=1).max() == 1:
            return self._one_more(base, parent, masks, prices, hull)

        def run(block: IntArray) -> Front:
            scores = np.empty((len(block), n), dtype=np.int64)
            bayes.fill_children(parent, base, masks[block], self._columns, scores)
            if self._weight is not None:
                return weighted_points(block, scores / FIXED, self._positive, self._weight, prices[block], hull)
            return _front(block, prices, *kernels.outside_points(scores, self._positive, prices[block], *hull))

        return self._in_blocks(run, len(masks), -(-len(masks) * n // SCORES_AT_ONCE))

    def _in_blocks(self, run: Callable[[IntArray], Front], n_masks: int, least: int = 1) -> Front:
        """Deal subsets out to the threads, in at least the given number of blocks."""
        n_blocks = max(least, min(2 * self._n_jobs, n_masks) if self._n_jobs > 1 else 1)
        blocks = [block for block in np.array_split(np.arange(n_masks), n_blocks) if len(block)]
        return Front.stacked(in_threads(run, blocks, self._n_jobs))

    def validation_scores(self, mask: BoolArray) -> FloatArray:
        """Sum what is at hand."""
        return np.asarray(self._sums(mask)[:, 0] / FIXED)

    def _sums(self, mask: BoolArray) -> IntArray:
        base = self._columns.prior.copy()
        for feature in np.flatnonzero(mask):
            bayes.add_feature(base, feature, 1, self._columns)
        return base

    def _one_more(self, base: IntArray, parent: BoolArray, masks: BoolArray, prices: FloatArray, hull: Line) -> Front:
        """Sort cells of rows that the parent and the new feature do not tell apart, instead of rows."""
        n = len(self._positive)
        order, ends, values, keys, spare = (np.empty(n, dtype=np.int64) for _ in range(5))
        counts = np.empty(kernels.N_BUCKETS, dtype=np.int64)
        n_groups = kernels.group_equal(base[:, 0], order, ends, values, keys, spare, counts)
        ends, values = ends[:n_groups], values[:n_groups]
        features = (masks != parent).argmax(axis=1)
        signs = np.where(masks[np.arange(len(masks)), features], 1, -1)
        groups = kernels.Groups(order, ends, values)

        def run(block: IntArray) -> Front:
            points = kernels.outside_one_more(
                groups, features[block], signs[block], self._levels, self._columns, self._positive,
                prices[block], *hull,
            )  # fmt: skip
            return _front(block, prices, *points)

        return self._in_blocks(run, len(masks))

    def rule(self, mask: BoolArray, rows: Problem | None = None) -> LearnedRule:
        """Keep the tables of the subset."""
        features = np.flatnonzero(mask).tolist()
        tables = self._tables if rows is None else self._learnt_from(rows)
        return NaiveBayesRule(tables.restricted(features), features)

    def _learnt_from(self, rows: Problem) -> LogTables:
        """Learn from other rows, once for all subsets."""
        if self._others is None or self._others[0] is not rows:
            self._others = rows, self._learn(rows)
        return self._others[1]

    def _learn(self, rows: Problem) -> LogTables:
        return LogTables.learn(rows, self._model.alpha, self._model.discretizer)


@dataclass(frozen=True, eq=False)
class NaiveBayesRule(LearnedRule):
    """Log-ratio of the two classes."""

    tables: LogTables
    features: list[int]

    def scores(self, X: FloatArray) -> FloatArray:
        """Sum the log-ratios; multiples of 2⁻²⁴, exact in double precision."""
        joint = self.tables.joint(X, self.features)
        return np.asarray((joint[:, 1] - joint[:, 0]) / FIXED)


class EstimatorLearner(Learner):
    """Any scikit-learn classifier, fitted anew for each subset."""

    slow = True

    def __init__(self, name: str, estimator: Any, lessons: Lessons, n_jobs: int = 1) -> None:
        self.name = name
        self._estimator = estimator
        self._lessons = lessons
        self._sent = Shared((estimator, lessons))
        self._positive, self._weight = lessons.positive, lessons.weight
        self._n_jobs = n_jobs

    def outside(self, parent: BoolArray, masks: BoolArray, prices: FloatArray, hull: Line) -> Front:
        """Fit, score, rank, and keep what sticks out."""
        tasks = [(mask,) for mask in masks]
        scores = np.array(list(run_tasks(_validation_scores, tasks, Resources(self._n_jobs), shared=self._sent)))
        weight = np.ones(len(self._positive)) if self._weight is None else self._weight
        return weighted_points(np.arange(len(masks)), scores, self._positive, weight, prices, hull)

    def rule(self, mask: BoolArray, rows: Problem | None = None) -> LearnedRule:
        """Fit to the rows of the end, or to others."""
        rows = self._lessons.whole if rows is None else rows
        return _fitted(self._estimator, rows, np.arange(rows.n_samples), np.flatnonzero(mask))

    def validation_scores(self, mask: BoolArray) -> FloatArray:
        """Fit to each pair's training rows and score its validation rows."""
        return _validation_scores(self._sent.value, mask)


def _validation_scores(shared: tuple[Any, Lessons], mask: BoolArray) -> FloatArray:
    estimator, lessons = shared
    rows, features = lessons.rows, np.flatnonzero(mask)
    models = ((_fitted(estimator, rows, train, features).model, held) for train, held in lessons.splits)
    return np.concatenate([FittedModel(model, 1).scores(_cells(rows, held, features)) for model, held in models])


def _cells(rows: Problem, some: IntArray, features: IntArray) -> FloatArray:
    """Return some rows in some columns, column by column as NumPy lays out `X[:, features]`: a fit may depend on it."""
    return np.asfortranarray(rows.X[np.ix_(some, features)])


def _fitted(estimator: Any, rows: Problem, train: IntArray, features: IntArray) -> FittedModel:
    """Fit to some of the rows and features."""
    X = _cells(rows, train, features)
    model = prepared(estimator, X, rows.nominal[features])
    weight = {}
    if rows.sample_weight is not None and has_fit_parameter(estimator, "sample_weight"):
        weight = {f"{model.steps[-1][0]}__sample_weight": rows.sample_weight[train]}
    return FittedModel(model.fit(X, rows.y[train], **weight), 1, features)


@dataclass(frozen=True, eq=False)
class FittedModel(LearnedRule):
    """A fitted scikit-learn classifier of two classes; on rows as they are if it has no features."""

    model: Any
    positive: int
    features: IntArray | None = None

    def scores(self, X: Any) -> FloatArray:
        """Return its decision function, or else its probability of the positive class, or else its decisions."""
        X = X if self.features is None else X[:, self.features]
        if hasattr(self.model, "decision_function"):
            decisions = np.asarray(self.model.decision_function(X), dtype=np.float64)
            return decisions if self.positive == 1 else -decisions
        if hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict_proba(X), dtype=np.float64)[:, self.positive]
        return np.asarray(np.asarray(self.model.predict(X)) == self.model.classes_[self.positive], dtype=np.float64)


@dataclass(frozen=True)
class ConstantRule(LearnedRule):
    """No feature: every row scores 0."""

    def scores(self, X: FloatArray) -> FloatArray:
        """Return 0 for every row."""
        return np.zeros(len(X))


def prepared(estimator: Any, X: FloatArray, nominal: BoolArray) -> Any:
    """Return a pipeline of filled numbers, levels (a missing one too) as one-hot columns, and the estimator."""
    if not nominal.any() and not np.isnan(X).any():
        return make_pipeline(SimpleImputer(strategy="median"), clone(estimator))
    steps: list[tuple[str, Any, Any]] = []
    if (~nominal).any():
        steps.append(("fill", SimpleImputer(strategy="median", keep_empty_features=True), ~nominal))
    if nominal.any():
        steps.append(("encode", OneHotEncoder(handle_unknown="ignore", sparse_output=False), nominal))
    return make_pipeline(ColumnTransformer(steps), clone(estimator))


def named_models(given: Any, parameter: str) -> list[tuple[str, Any]]:
    """Return models with their names, from one model, one (name, model), or a list of either; names need not differ."""
    listed = list(given) if isinstance(given, list | tuple) and not _is_pair(given) else [given]
    if not listed:
        raise InputError(f"{parameter} is empty; give at least one classifier.")
    named = [item if _is_pair(item) else (type(item).__name__, item) for item in listed]
    for _, model in named:
        if not hasattr(model, "fit"):
            raise InputError(f"{parameter} holds {model!r}, which is no classifier.")
    return named


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)


def learner_of(name: str, estimator: Any, lessons: Lessons, n_jobs: int) -> Learner:
    """Choose the fast way for naive Bayes, the general way for anything else."""
    kind = NaiveBayesLearner if isinstance(estimator, DiscreteNaiveBayes) else EstimatorLearner
    return kind(name, estimator, lessons, n_jobs)


def _front(block: IntArray, prices: FloatArray, owner: IntArray, fp: IntArray, tp: IntArray, cut: IntArray) -> Front:
    """Return what a kernel found for a block of subsets, with fixed-point scores."""
    member = block[owner]
    return Front(fp.astype(np.float64), tp.astype(np.float64), tp - prices[member], cut / FIXED, member)


def weighted_points(
    members: IntArray, scores: FloatArray, positive: IntArray, weight: FloatArray, prices: FloatArray, hull: Line
) -> Front:
    """Return the ROC points of several scorings of weighted rows that are not below a hull."""
    parts = []
    for member, row, price in zip(members, scores, prices, strict=True):
        values, ranks = np.unique(row, return_inverse=True)
        fp, tp = (
            np.append(0.0, np.cumsum(np.bincount(ranks, weight * (positive == code), len(values))[::-1]))
            for code in (0, 1)
        )
        chain = kernels.upper_chain(fp, tp)[1:-1]
        worth = tp[chain] - price
        front = Front(fp[chain], tp[chain], worth, values[::-1][chain - 1], np.full(len(chain), member))
        parts.append(front.take(worth >= np.interp(front.fp, *hull)))
    return Front.stacked(parts)


def deal_out(
    problem: Problem,
    calibration: float,
    cv: Any,
    validation: float,
    rng: np.random.Generator,
    *,
    in_folds: bool = True,
    repeats: int = 1,
) -> tuple[Lessons, Problem | None]:
    """Keep rows aside for calibration and make lessons of the others.

    Where rows have a time, the latest calibrate, and judges are always later than what they judge was learnt from.

    Parameters
    ----------
    problem : Problem
        Of two classes.
    calibration : float
        The share kept aside.
    cv : int, "loo", splitter or list of (train, test)
        Folds; the row numbers of a list are those of the problem, and rows kept aside are left out of it.
    validation : float
        The share of the others that judges where there are no folds.
    rng : Generator
        Draws all that is random.
    in_folds : bool, default=True
        Whether every row trains and judges in turn; a class too small for it, or in too few groups, gets one split.
    repeats : int, default=1
        How often to deal the folds, where `cv` is a number and rows have no time.

    Returns
    -------
    (Lessons, Problem or None)
        The second holds the calibration rows, if there are any.
    """
    kept = _latest(problem, calibration) if problem.time is not None else kept_aside(problem, calibration, rng)
    rest, aside = _without_groups_of(problem, ~kept, kept), problem.take(kept) if kept.any() else None
    if aside is not None and problem.time is not None and len(np.unique(aside.y)) < 2:
        raise InputError(f"The latest {aside.n_samples} rows, kept for calibration, hold one class; change the share.")
    if len(np.unique(problem.y[rest])) < 2:
        raise InputError("The rows kept for calibration, and their groups, leave no row of one class to train with.")
    rows = problem.take(rest)
    if in_folds and (first := _folds(problem, rest, rows, cv, rng)):
        repeats = repeats if isinstance(cv, Integral) and problem.time is None else 1
        more = [_folds(problem, rest, rows, cv, rng) for _ in range(repeats - 1)]
        more = more if all(more) else []
        return Lessons(rows, sum(more, first), repeats=1 + len(more)), aside
    return Lessons(rows, (_one_split(rows, validation, rng),), in_folds=False), aside


def _folds(
    problem: Problem, rest: BoolArray, rows: Problem, cv: Any, rng: np.random.Generator
) -> tuple[tuple[IntArray, IntArray], ...]:
    """Return training rows and judges of each fold; none if some training rows would be of one class."""
    if not (isinstance(cv, Integral | str) or cv is None or hasattr(cv, "split")):
        # A list is for the rows of the whole table.
        place = np.where(rest, np.cumsum(rest) - 1, -1)
        splits = [(place[split.train], place[split.test]) for split in split_rows(problem, cv, rng)]
        pairs = [(train[train >= 0], test[test >= 0]) for train, test in splits]
        return _of_both_classes(rows, [pair for pair in pairs if all(map(len, pair))])
    if rows.time is not None:
        return _of_both_classes(rows, [(split.train, split.test) for split in split_rows(rows, cv, rng)])
    folds = assign_folds(rows, _fewest(cv, rows), rng)
    pairs = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]
    return tuple(pairs) if all(len(np.unique(rows.y[train])) == 2 for train, _ in pairs) else ()


def _of_both_classes(rows: Problem, pairs: list[tuple[IntArray, IntArray]]) -> tuple[tuple[IntArray, IntArray], ...]:
    """Leave out splits whose training rows are of one class, such as the earliest; judges must be of both together."""
    able = [pair for pair in pairs if len(np.unique(rows.y[pair[0]])) == 2]
    if not able or len(np.unique(rows.y[np.concatenate([held for _, held in able])])) < 2:
        raise InputError("The splits leave no row of one class to train or to judge; give other splits, or more rows.")
    return tuple(able)


def _one_split(rows: Problem, share: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    judges = kept_aside(rows, share, rng, least=1) if rows.time is None else _latest(rows, share)
    split = np.flatnonzero(_without_groups_of(rows, ~judges, judges)), np.flatnonzero(judges)
    for part, name in zip(split, ("training", "validation"), strict=True):
        if len(np.unique(rows.y[part])) < 2:
            what = "groups leave" if rows.time is None else "times leave"
            raise InputError(f"The {what} no row of one class for {name}; give more of them, or none.")
    return split


def _latest(problem: Problem, share: float) -> BoolArray:
    """Mark about this share of the rows, the latest; rows of one time stay together, and the earliest stay."""
    time = np.asarray(problem.time)
    if share == 0.0:
        return np.zeros(len(time), dtype=bool)
    moments, counts = np.unique(time, return_counts=True)
    later = np.append(np.cumsum(counts[::-1])[::-1][1:], 0)  # rows after each moment
    nearest = int(np.argmin(np.abs(later - share * len(time))))
    return np.asarray(time > moments[nearest])


def _without_groups_of(problem: Problem, wanted: BoolArray, others: BoolArray) -> BoolArray:
    """Leave out rows whose group is among other rows."""
    if problem.groups is None or problem.time is None:
        return wanted
    return np.asarray(wanted & ~np.isin(problem.groups, problem.groups[others]))


def _fewest(cv: Any, problem: Problem) -> Any:
    """Return the folds, no more than the rows of the smaller class."""
    if isinstance(cv, Integral) and problem.groups is None:
        return max(2, min(int(cv), int(np.bincount(problem.y).min())))
    return cv


def kept_aside(problem: Problem, share: float, rng: np.random.Generator, least: int = 0) -> BoolArray:
    """Draw rows to keep aside, class by class, groups together; at least two rows of a class stay."""
    kept = np.zeros(problem.n_samples, dtype=bool)
    if problem.groups is None:
        stay = 1 if least else 2
        for code in range(problem.n_classes):
            rows = rng.permutation(np.flatnonzero(problem.y == code))
            if len(rows) < 2:
                raise InputError(f"Class {problem.classes[code]!r} has {len(rows)} row, but at least two are needed.")
            kept[rows[: min(max(round(share * len(rows)), least), len(rows) - stay)]] = True
        return kept
    if share == 0.0:
        return kept
    n_folds = min(30, len(np.unique(problem.groups)))
    folds = assign_folds(problem, n_folds, rng)
    return np.asarray(folds < max(round(share * n_folds), least))
