"""Nested evaluation: the whole selection on the training rows of each fold, its features judged on the test rows."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.errors import InputError
from fewer.evaluate._baselines import default_estimators, random_like
from fewer.evaluate._choosing import choose
from fewer.evaluate._grading import Grader, is_share
from fewer.evaluate._parts import Key, Part, estimand_of, interval_over_parts, parts_of
from fewer.problem import BoolArray, FloatArray, Problem
from fewer.validate import FixedFolds, Interval, assign_folds, nogueira, split_rows

N_INNER_FOLDS = 5
"""Folds of the score that a report without held-out rows would give."""

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Nested:
    """What nested evaluation found of one selector.

    Attributes
    ----------
    interval : Interval
        The held-out score; `interval.estimand` says what it is an estimate of.
    search_score : float
        What cross-validation says of the chosen features on the very rows that chose them.
    optimism : float
        Search score less held-out score: by how much a report without held-out rows would exaggerate.
    believed : float or None
        What the search itself said of its features, in its criterion's units.
    masks : bool array of shape (n_splits, n_features)
        The features chosen in each split.
    frequency : array of shape (n_features,)
        In which share of the splits each feature was chosen.
    consensus : bool array of shape (n_features,)
        The features chosen in more than half of the splits.
    stability : Interval
        Nogueira's measure of the masks.
    seconds : float
        Time of one selection, on average.
    """

    interval: Interval
    search_score: float
    optimism: float
    believed: float | None
    masks: BoolArray
    stability: Interval
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
    pairs: bool = True,
    done: Sequence[Record] | None = None,
    on_fold: Callable[[list[Record]], None] | None = None,
) -> Nested:
    """Repeat a whole selection on the training rows of each split and judge its features on the test rows.

    Parameters
    ----------
    selector : selector
        Of `fewer`, or any with `fit(X, y)` and `get_support()` or `support_`.
    problem : Problem
    estimator : estimator, optional
        Trained on the chosen columns of the training rows; nearest neighbors by default. Nominal columns become
        one-hot columns and missing cells are filled, within the training rows.
    cv : int, "loo", scikit-learn splitter or list of (train, test), default=5
    scoring : str or callable, optional
        As in scikit-learn; accuracy or R² if left out.
    n_repeats : int, default=1
    random_state : int, default=0
    pairs : bool, default=True
        Also leave out pairs of folds, as `heldout` does, to get the width of the interval right.
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
    parts = outer_parts(problem, cv, n_repeats, random_state, pairs)
    records = list(done or [])
    known = {tuple(record["part"]) for record in records}
    for part in parts:
        if part.key not in known:
            records.append(measure("selector", selector, part, problem, estimators, scoring, random_state))
            if on_fold is not None:
                on_fold(records)
    return summarize(records, "estimator", parts, problem, scoring)


def outer_parts(problem: Problem, cv: Any, n_repeats: int, seed: int, pairs: bool) -> list[Part]:
    """Split the rows."""
    splits = split_rows(problem, cv, np.random.default_rng([seed, 0]), n_repeats=n_repeats)
    return parts_of(splits, problem.n_rows, pairs=pairs)


def measure(
    name: str,
    selector: Any,
    part: Part,
    problem: Problem,
    estimators: Mapping[str, Any],
    scoring: Any,
    seed: int,
    *,
    with_random: bool = False,
) -> Record:
    """Select on the training rows of one part and judge on its test rows; no selector means all features.

    The record is plain JSON data. It depends on the name, the part and the seed, not on what was measured before.
    """
    train = problem.take(part.train)
    own_seed = [seed, 1, zlib.crc32(name.encode()), *part.key]
    began = time.perf_counter()
    if selector is None:
        mask, believed = np.ones(problem.n_features, dtype=bool), None
    else:
        mask, believed = choose(selector, train, int(np.random.default_rng(own_seed).integers(2**31)))
    record: Record = {
        "method": name,
        "part": list(part.key),
        "chosen": np.flatnonzero(mask).tolist(),
        "seconds": time.perf_counter() - began if selector is not None else 0.0,
        "believed": believed,
        "scores": {},
        "search_scores": {},
    }
    random_mask = random_like(mask, np.random.default_rng([*own_seed, 1])) if with_random else None
    if with_random:
        record["random_scores"] = {}
    grader = Grader(problem, scoring)
    for label, estimator in estimators.items():
        rng = np.random.default_rng([seed, 2, *part.key])
        folds = assign_folds(train, N_INNER_FOLDS, rng)
        scorer = CrossValidated(estimator, scoring, cv=FixedFolds(folds)).bind(train, rng, Resources())

        def heldout(columns: BoolArray, scorer: Any = scorer) -> list[float]:
            tests = [problem.take(rows) for rows in part.tests]
            return [grader.grade(scorer, scorer.predict(columns, test.X), test) for test in tests]

        record["scores"][label] = heldout(mask)
        if random_mask is not None:
            record["random_scores"][label] = heldout(random_mask)
        if part.is_single:
            outputs = scorer.outputs(mask)
            inner = [grader.grade(scorer, outputs[folds == k], train.take(folds == k)) for k in np.unique(folds)]
            record["search_scores"][label] = float(np.average(inner, weights=np.bincount(folds)))
    return record


def summarize(
    records: Sequence[Record],
    estimator: str,
    parts: Sequence[Part],
    problem: Problem,
    scoring: Any,
    *,
    key: str = "scores",
) -> Nested:
    """Put the records of one method together, for one estimator."""
    by_key = {tuple(record["part"]): record for record in records}
    singles = [by_key[part.key] for part in parts if part.is_single]
    masks = np.zeros((len(singles), problem.n_features), dtype=bool)
    for mask, record in zip(masks, singles, strict=True):
        mask[record["chosen"]] = True
    interval = score_interval({k: by_key[k][key][estimator] for k in by_key}, parts, problem, scoring)
    if is_share(Grader(problem, scoring).name):
        interval = interval.within(0.0, 1.0)
    searched = [record["search_scores"].get(estimator) for record in singles]
    believed = [record["believed"] for record in singles]
    search_score = float(np.mean(searched)) if None not in searched else float("nan")
    return Nested(
        interval=interval,
        search_score=search_score,
        optimism=search_score - interval.estimate,
        believed=None if None in believed else float(np.mean(believed)),
        masks=masks,
        stability=nogueira(masks),
        seconds=float(np.mean([record["seconds"] for record in singles])),
    )


def score_interval(
    scores: Mapping[Key, Sequence[float]], parts: Sequence[Part], problem: Problem, scoring: Any
) -> Interval:
    """Give the interval of scores, or of differences of scores, over the parts."""
    grader = Grader(problem, scoring)
    missing = [part.key for part in parts if part.key not in scores]
    if missing:
        raise InputError(f"The evaluation is not complete: {len(missing)} of {len(parts)} parts are missing.")
    return interval_over_parts(
        parts,
        scores,
        problem,
        resolution=grader.resolution,
        estimand=estimand_of(parts, problem, grader.name),
    )
