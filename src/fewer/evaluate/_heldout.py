"""Does one selection help? The whole of it is repeated without each fold, which then judges it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Criterion, PredictiveScorer, Resources
from fewer.criteria import KNN
from fewer.errors import InputError
from fewer.evaluate._grading import Grader, is_share
from fewer.evaluate._parts import Part, estimand_of, interval_over_parts, n_parts, parts_of
from fewer.problem import FloatArray, IntArray, Problem
from fewer.validate import Interval, folds_of, split_rows

Choose = Callable[[Problem, np.random.Generator], NDArray[Any]]
Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Heldout:
    """The score of a selection on rows that it never saw.

    Attributes
    ----------
    interval : Interval
        The held-out score; `interval.estimand` says what it is an estimate of.
    interval_all : Interval
        The same without selection.
    interval_of_difference : Interval
        Selection less all features.
    masks : tuple of arrays
        What was selected without each fold.
    folds : int array of shape (n_rows,)
    outputs, outputs_all : arrays
        What was predicted for each row by the rule that did not see it, with selected and with all features.
    """

    interval: Interval
    interval_all: Interval
    interval_of_difference: Interval
    masks: tuple[NDArray[Any], ...]
    folds: IntArray
    outputs: FloatArray
    outputs_all: FloatArray

    @property
    def n_folds(self) -> int:
        """How many folds judged."""
        return len(self.masks)

    @property
    def score(self) -> float:
        """Held-out score with the selected features."""
        return self.interval.estimate

    @property
    def score_all(self) -> float:
        """Held-out score with all features."""
        return self.interval_all.estimate

    @property
    def low(self) -> float:
        """Lower end of the interval of `score`."""
        return self.interval.low

    @property
    def high(self) -> float:
        """Upper end of the interval of `score`."""
        return self.interval.high

    @property
    def difference(self) -> float:
        """Score with the selected features less that with all."""
        return self.interval_of_difference.estimate

    @property
    def difference_low(self) -> float:
        """Lower end of the interval of `difference`."""
        return self.interval_of_difference.low

    @property
    def difference_high(self) -> float:
        """Upper end of the interval of `difference`."""
        return self.interval_of_difference.high

    @property
    def p_value(self) -> float:
        """P-value of the claim that selection makes no difference."""
        return self.interval_of_difference.p_value


def n_selections(n_folds: int, *, pairs: bool = True) -> int:
    """Say how often `heldout` repeats the selection, which is also how many records it ends with.

    Examples
    --------
    >>> n_selections(5), n_selections(5, pairs=False), n_selections(10)
    (15, 5, 10)
    """
    return n_parts(n_folds, pairs)


def heldout(
    choose: Choose,
    problem: Problem,
    criterion: Criterion,
    *,
    n_folds: int,
    rng: np.random.Generator,
    resources: Resources,
    done: Sequence[Record] | None = None,
    on_fold: Callable[[list[Record]], None] | None = None,
    pairs: bool = True,
) -> Heldout:
    """Measure a selection on rows that it never saw.

    Parameters
    ----------
    choose : callable (Problem, Generator) -> mask
        The whole selection; it gets the rows outside the fold only.
    problem : Problem
    criterion : Criterion
        Judges the held-out rows by its own predictions if it is predictive; otherwise nearest neighbors do.
    n_folds : int
    rng : Generator
    resources : Resources
    done : list of dict, optional
        Records of an interrupted call with the same arguments; what they hold is not computed again.
    on_fold : callable, optional
        Called with all records so far, which are plain JSON data, after each selection.
    pairs : bool, default=True
        With up to six folds, also leave out each pair of folds: n_folds (n_folds − 1) / 2 more selections that
        measure how far the folds depend on each other, without which intervals are too narrow where selection
        is unstable.

    Returns
    -------
    Heldout

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.rankers import Fisher
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> def choose(rows, rng):
    ...     return Fisher().rank(rows, rng, Resources()).scores > 10
    >>> result = heldout(choose, problem, KNN(5), n_folds=5, rng=np.random.default_rng(0), resources=Resources())
    >>> result.masks[0], result.score > 0.9
    (array([False, False,  True,  True]), True)
    """
    judge = criterion if criterion.predictive else KNN(n_neighbors="auto")
    grader = Grader(problem, getattr(judge, "scoring", None))
    splits = split_rows(problem, n_folds, rng)
    parts = parts_of(splits, problem.n_rows, pairs=pairs)
    seed = int(rng.integers(2**63))
    records = list(done or [])
    known = {tuple(record["part"]) for record in records}
    for part in parts:
        if part.key not in known:
            records.append(_measure(part, choose, problem, judge, grader, seed, resources))
            if on_fold is not None:
                on_fold(records)
    folds = folds_of(splits, problem.n_rows)
    assert folds is not None
    return _summarize(records, parts, problem, folds, grader)


def _measure(
    part: Part,
    choose: Choose,
    problem: Problem,
    judge: Criterion,
    grader: Grader,
    seed: int,
    resources: Resources,
) -> Record:
    rng = np.random.default_rng([seed, *part.key])
    train = problem.take(part.train)
    mask = np.asarray(choose(train, rng))
    if mask.shape != (problem.n_features,):
        raise InputError(f"A selection gave a mask of shape {mask.shape}, but there are {problem.n_features} features.")
    scorer = judge.bind(train, rng, resources)
    assert isinstance(scorer, PredictiveScorer)
    everything = np.ones(problem.n_features, dtype=bool)
    record: Record = {"part": list(part.key), "mask": mask.tolist(), "scores": [], "scores_all": []}
    for rows in part.tests:
        test = problem.take(rows)
        outputs, outputs_all = scorer.predict(mask, test.X), scorer.predict(everything, test.X)
        record["scores"].append(grader.grade(scorer, outputs, test))
        record["scores_all"].append(grader.grade(scorer, outputs_all, test))
    if part.is_single:
        record.update(outputs=outputs.tolist(), outputs_all=outputs_all.tolist())
    return record


def _summarize(
    records: Sequence[Record], parts: Sequence[Part], problem: Problem, folds: IntArray, grader: Grader
) -> Heldout:
    by_key = {tuple(record["part"]): record for record in records}
    singles = [by_key[part.key] for part in parts if part.is_single]

    def interval(scores: Callable[[Record], FloatArray]) -> Interval:
        return interval_over_parts(
            parts,
            {key: scores(record).tolist() for key, record in by_key.items()},
            problem,
            resolution=grader.resolution,
            estimand=estimand_of(parts, problem, grader.name),
        )

    score = interval(lambda record: np.array(record["scores"]))
    score_all = interval(lambda record: np.array(record["scores_all"]))
    if is_share(grader.name):
        score, score_all = score.within(0.0, 1.0), score_all.within(0.0, 1.0)
    return Heldout(
        interval=score,
        interval_all=score_all,
        interval_of_difference=interval(lambda record: np.array(record["scores"]) - np.array(record["scores_all"])),
        masks=tuple(np.array(record["mask"]) for record in singles),
        folds=folds,
        outputs=_rows_in_order(singles, "outputs", folds),
        outputs_all=_rows_in_order(singles, "outputs_all", folds),
    )


def _rows_in_order(singles: Sequence[Record], key: str, folds: IntArray) -> FloatArray:
    parts = [np.asarray(record[key], dtype=np.float64) for record in singles]
    out = np.empty((len(folds), *parts[0].shape[1:]))
    for fold, part in enumerate(parts):
        out[folds == fold] = part
    return out
