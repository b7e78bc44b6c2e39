"""Nested evaluation: any selector fitted to the training rows of each fold, its features scored on the test rows."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from fewer import registry
from fewer.contracts import PredictiveScorer, Resources
from fewer.criteria import CrossValidated
from fewer.criteria.cross_validated import CrossValidatedScorer
from fewer.errors import InputError, telling
from fewer.evaluate._heldout import Record, each_part
from fewer.evaluate.grading import Grade, Grader
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, Task, mask_of
from fewer.selectors import SubsetSelector
from fewer.validate import ConfidenceInterval, FixedFolds, Split, assign_folds, forward_splits, nogueira, split_rows


def default_estimators(task: Task) -> dict[str, Any]:
    """Return nearest neighbors and a linear model, on scaled columns."""
    return {name: registry.build("estimator", name, task) for name in ("knn", "linear")}


def choose(selector: Any, rows: Problem, seed: int) -> tuple[BoolArray, float | None]:
    """Fit a fresh copy of a selector to these rows; give its features and the score that its search gave them.

    There is a score only if its criterion predicts rows, so that the same score can be taken on held-out rows.

    Whatever the selector learnt before is forgotten. A selector of `fewer` gets the rows as they are. Any other gets
    `fit(X, y)` with an array of numbers: nominal columns as their level codes, a missing level as one more,
    and missing numbers filled with the median of these rows.
    """
    fresh = _seeded(clone(selector), seed)
    if hasattr(fresh, "fit_problem"):
        fresh.fit_problem(rows)
    else:
        fresh.fit(_filled(rows), rows.y.copy())
    has_score = isinstance(fresh, SubsetSelector) and fresh.answer_.judge is not None and not fresh.cost_weight
    return support_of(fresh, rows.n_features), fresh.answer_.believed if has_score else None


def support_of(selector: Any, n_features: int) -> BoolArray:
    """Find out which features a fitted selector chose, by the names that libraries have for that."""
    last = selector.steps[-1][1] if isinstance(selector, Pipeline) else selector
    if hasattr(last, "get_support"):
        mask = np.asarray(last.get_support(), dtype=bool)
    elif hasattr(last, "support_"):
        mask = np.asarray(last.support_, dtype=bool)
    else:
        # mlxtend's sequential and exhaustive searches
        chosen = vars(last).get("k_feature_idx_", vars(last).get("best_idx_"))
        if chosen is None:
            raise InputError(
                f"{type(last).__name__} does not say which features it chose; it needs get_support() or support_."
            )
        mask = mask_of(np.asarray(chosen, dtype=np.int64), n_features)
    if mask.shape != (n_features,):
        raise InputError(f"{type(last).__name__} chose among {len(mask)} features, but there are {n_features}.")
    return mask


def describe(component: Any) -> str:
    """Write a selector or estimator out in one line that is the same in every process."""
    try:
        text = component.__repr__(N_CHAR_MAX=10**6)
    except TypeError:
        text = repr(component)
    return re.sub(r" at 0x[0-9a-f]+", "", " ".join(text.split()))


def _seeded(component: Any, seed: int) -> Any:
    """Give a seed to every component without one."""
    parameters = component.get_params(deep=True)
    names = [name for name in parameters if name == "random_state" or name.endswith("__random_state")]
    return component.set_params(**{name: seed for name in names if parameters[name] is None})


def _filled(rows: Problem) -> FloatArray:
    """Return the cells, missing numbers at the median, missing levels as one more level."""
    X = rows.X.copy()
    for column in np.flatnonzero(rows.missing.any(axis=0)):
        gone = rows.missing[:, column]
        known = X[~gone, column]
        X[gone, column] = 0.0 if not len(known) else known.max() + 1.0 if rows.nominal[column] else np.median(known)
    return X


# Folds of the score that a report without held-out rows would give.
N_INNER_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Nested:
    """What nested evaluation found of one selector.

    Parameters
    ----------
    interval : ConfidenceInterval
        The held-out score; `interval.estimand` says what it is an estimate of.
    fold_scores : tuple of float
        One a split.
    search_score : float
        The search's own score of its features, if its criterion predicts rows; otherwise what cross-validation of
        the estimator says of them on the very rows that chose them.
    optimism : float
        Search score less held-out score, both of the criterion or both of the estimator: by how much a report without
        held-out rows would exaggerate.
    masks : bool array of shape (n_splits, n_features)
        The features chosen in each split.
    stability : ConfidenceInterval
        Nogueira's measure of the masks.
    seconds : float
        Time of one selection, on average.

    Attributes
    ----------
    frequency : array of shape (n_features,)
        In which share of the splits each feature was chosen.
    consensus : bool array of shape (n_features,)
        The features chosen in more than half of the splits.

    See Also
    --------
    nested : Makes one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> result = nested(SelectKBest(k=2), problem, cv=3)
    >>> result.masks.shape, result.consensus
    ((3, 4), array([False, False,  True,  True]))
    """

    interval: ConfidenceInterval
    fold_scores: tuple[float, ...]
    search_score: float
    optimism: float
    masks: BoolArray
    stability: ConfidenceInterval
    seconds: float

    @property
    def score(self) -> float:
        """Held-out score."""
        return self.interval.estimate

    @property
    def frequency(self) -> FloatArray:
        """In which share of the splits each feature was chosen."""
        return np.asarray(self.masks.mean(axis=0))

    @property
    def consensus(self) -> BoolArray:
        """The features chosen in more than half of the splits."""
        return np.asarray(self.frequency > 0.5)


def nested(
    selector: Any,
    problem: Problem,
    estimator: Any = None,
    *,
    cv: Any = 5,
    scoring: Any = None,
    n_repeats: int = 1,
    random_state: int = 0,
    done: Sequence[Record] | None = None,
    on_fold: Callable[[list[Record]], None] | None = None,
) -> Nested:
    """Repeat a whole selection on the training rows of each split and score its features on the test rows.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    selector : selector or None
        Of `fewer`, or any with `fit(X, y)` and `get_support()` or `support_`; None for all features.
    problem : Problem
        The rows.
    estimator : estimator, optional
        Trained on the chosen columns of the training rows; nearest neighbors by default. Nominal columns become
        one-hot columns and missing cells are filled, within the training rows.
    cv : int, "loo", scikit-learn splitter or list of (train, test), default=5
        The outer folds.
    scoring : str or callable, optional
        As in scikit-learn; accuracy or R² if left out.
    n_repeats : int, default=1
        How often the rows are dealt into folds again.
    random_state : int, default=0
        Seed of all that is random.
    done, on_fold
        As in `heldout`: records of an interrupted call, and what to do after each selection.

    Returns
    -------
    Nested

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> result = nested(SelectKBest(k=2), problem)
    >>> result.frequency, result.score > 0.9
    (array([0., 0., 1., 1.]), True)
    """
    estimators = {"estimator": estimator or default_estimators(problem.task)["knn"]}
    splits = outer_splits(problem, cv, n_repeats, random_state)
    known = {tuple(record["split"]) for record in done or ()}
    left = [("selector", place) for place, split in enumerate(splits) if (split.repeat, split.fold) not in known]
    shared = NestedTask(problem, splits, {"selector": selector}, estimators, scoring, random_state)
    records = each_part(measure, left, Resources(), shared=shared, done=done or (), on_record=on_fold)
    return summarize(records, "estimator", splits, Grader(problem, scoring))


def outer_splits(problem: Problem, cv: Any, n_repeats: int, seed: int) -> list[Split]:
    """Split the rows."""
    return split_rows(problem, cv, np.random.default_rng([seed, 0]), n_repeats=n_repeats)


@dataclass(frozen=True, eq=False)
class NestedTask:
    """What all selections of a nested evaluation or a comparison need; tasks name a method and the place of a split."""

    problem: Problem
    splits: list[Split]
    selectors: Mapping[str, Any]
    estimators: Mapping[str, Any]
    scoring: Any
    seed: int
    with_random: frozenset[str] = frozenset()


@threadpool_limits.wrap(limits=1)  # the same numbers in any process, and no quarrel between processes
def measure(shared: NestedTask, name: str, number: int) -> Record:
    """Select on the training rows of one split and score on its test rows; no selector means all features.

    The record is plain JSON data. It depends on the name, the split and the seed, not on what was measured before.
    """
    problem, split, selector = shared.problem, shared.splits[number], shared.selectors[name]
    scoring, seed, with_random = shared.scoring, shared.seed, name in shared.with_random
    train, test = problem.take(split.train), problem.take(split.test)
    place = (split.repeat, split.fold)
    own_seed = [seed, 1, zlib.crc32(name.encode()), *place]
    began = time.perf_counter()
    if selector is None:
        mask, believed = np.ones(problem.n_features, dtype=bool), None
    else:
        with telling(f"The selection by {name!r} on {train.n_samples} rows"):
            mask, believed = choose(selector, train, int(np.random.default_rng(own_seed).integers(2**31)))
    record: Record = {"method": name, "split": list(place), "chosen": np.flatnonzero(mask).tolist()}
    record |= {"seconds": 0.0 if selector is None else time.perf_counter() - began, "grades": {}, "search_scores": {}}
    if believed is not None:
        record["search"] = [believed, _own_score(selector, mask, train, test)]
    random_mask = np.random.default_rng([*own_seed, 1]).permutation(mask)
    if with_random:
        record["random_grades"] = {}
    grader = Grader(problem, scoring)
    for label, estimator in shared.estimators.items():
        with telling(f"Judging by {label!r} after {train.n_samples} rows"):
            rng = np.random.default_rng([seed, 2, *place])
            folds = _inner_folds(train, rng)
            cv = FixedFolds(folds) if train.time is None else N_INNER_FOLDS
            scorer = CrossValidated(estimator, scoring, cv=cv).bind(train, rng, Resources())
            record["grades"][label] = grader.grade(scorer, scorer.predict(mask, test.X), test).to_json()
            if with_random:
                outputs = scorer.predict(random_mask, test.X)
                record["random_grades"][label] = grader.grade(scorer, outputs, test).to_json()
            record["search_scores"][label] = _search_score(scorer, mask, folds, grader)
    return record


def _inner_folds(train: Problem, rng: np.random.Generator) -> IntArray:
    """Return each training row the split that tests it; the first rows in time are tested by none: -1."""
    if train.time is None:
        return assign_folds(train, N_INNER_FOLDS, rng)
    folds = np.full(train.n_samples, -1, dtype=np.int64)
    for split in forward_splits(train, N_INNER_FOLDS):
        folds[split.test] = split.fold
    return folds


def _own_score(selector: Any, mask: BoolArray, train: Problem, test: Problem) -> float:
    """Score the test rows by the criterion of a selector, in the units of its search."""
    criterion = selector._criterion()
    scorer = criterion.bind(train, np.random.default_rng(0), Resources())
    assert isinstance(scorer, PredictiveScorer)
    return Grader(train, criterion.scoring).score(scorer, scorer.predict(mask, test.X), test)


def _search_score(scorer: CrossValidatedScorer, mask: BoolArray, folds: IntArray, grader: Grader) -> float:
    """Cross-validate chosen features on the rows that chose them."""
    rows, outputs = scorer.problem, scorer.outputs(mask)
    numbers, sizes = np.unique(folds[folds >= 0], return_counts=True)
    scores = [grader.score(scorer, outputs[folds == k], rows.take(folds == k)) for k in numbers]
    return float(np.average(scores, weights=sizes))


def summarize(records: Sequence[Record], estimator: str, splits: Sequence[Split], grader: Grader) -> Nested:
    """Put the records of one method together, for one estimator."""
    records = in_order(records, splits)
    masks = np.zeros((len(records), grader.problem.n_features), dtype=bool)
    for mask, record in zip(masks, records, strict=True):
        mask[record["chosen"]] = True
    grades = grades_of(records, estimator)
    interval = grader.of_scores(splits, grades)
    if all("search" in record for record in records):
        search_score, own_score = np.mean([record["search"] for record in records], axis=0).tolist()
    else:
        search_score = float(np.mean([record["search_scores"][estimator] for record in records]))
        own_score = interval.estimate
    scores, seconds = tuple(grade.score for grade in grades), [record["seconds"] for record in records]
    return Nested(
        interval=interval, fold_scores=scores, search_score=search_score, optimism=search_score - own_score,
        masks=masks, stability=nogueira(masks), seconds=float(np.mean(seconds)),
    )  # fmt: skip


def in_order(records: Sequence[Record], splits: Sequence[Split]) -> list[Record]:
    """Sort records as the splits are."""
    by_place = {tuple(record["split"]): record for record in records}
    return [by_place[split.repeat, split.fold] for split in splits]


def grades_of(records: Sequence[Record], estimator: str) -> list[Grade]:
    """Read the grades of one estimator."""
    return [Grade.from_json(record["grades"][estimator]) for record in records]
