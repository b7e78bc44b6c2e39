"""Held-out evaluation: one selection repeated without each fold, then scored on that fold; and the loop over parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Criterion, PredictiveScorer, Resources, Stopped
from fewer.criteria import KNN
from fewer.errors import InputError, telling
from fewer.evaluate.grading import Grade, Grader
from fewer.parallel import leaves_machine, run_tasks
from fewer.problem import FloatArray, Problem
from fewer.validate import ConfidenceInterval, Split, split_rows, stratified_sample

# What was measured on one part: plain JSON data, so that it can be kept and read again.
Record = dict[str, Any]
# Parts that are measured at least, whoever has seen enough: one has no spread.
LEAST_PARTS = 2


def each_part(
    measure: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    resources: Resources,
    *,
    shared: Any,
    done: Iterable[Any] = (),
    on_record: Callable[[list[Any]], None] | None = None,
    ordered: bool = True,
) -> list[Any]:
    """Measure the parts that are left, and hand each record on as soon as it is there.

    Parameters
    ----------
    measure : callable
        `measure(shared, *task)` returns the record of one part. It depends on the task alone, never on what was
        measured before, so that records are the same in any order and on any machine.
    tasks : sequence of tuples
        The tasks that are not done yet.
    resources : Resources
        With one job they run in this process, one after the other; otherwise wherever the resources say.
    shared : object
        What every task needs: the rows, the splits, the selection.
    done : iterable of records, default=()
        Of an interrupted call.
    on_record : callable, optional
        Called with all records so far after each of them: keeps them, reports them. If it raises `Stopped`, the
        records so far are the answer, but two at least.
    ordered : bool, default=True
        Whether records come in the order of the tasks.

    Returns
    -------
    list of records
        The records that were done, then the others.

    Examples
    --------
    >>> each_part(lambda shared, k: shared[k], [(1,), (2,)], Resources(), shared="abc", done=["a"])
    ['a', 'b', 'c']
    """
    records = list(done)
    for record in run_tasks(measure, tasks, resources, shared=shared, ordered=ordered):
        records.append(record)
        try:
            if on_record is not None:
                on_record(records)
        except Stopped:
            if len(records) >= LEAST_PARTS:
                break
    return records


@dataclass(frozen=True, eq=False)
class Choice:
    """What a selection without a fold gives.

    Parameters
    ----------
    mask : array of shape (n_features,)
        The chosen features.
    judge : Criterion, optional
        Who predicts with the chosen features, if the selection chose that too.
    judge_all : Criterion, optional
        Who predicts with all features; the same one if left out.
    scorer : PredictiveScorer, optional
        `judge`, bound to these rows already.
    judge_rows : int, optional
        Models are fitted to a stratified sample of this many rows where there are more; to all by default.

    Examples
    --------
    >>> Choice(np.array([True, False])).mask
    array([ True, False])
    """

    mask: NDArray[Any]
    judge: Criterion | None = None
    judge_all: Criterion | None = None
    scorer: PredictiveScorer | None = None
    judge_rows: int | None = None


class Chooser(ABC):
    """A whole selection that shares work between the folds that it is repeated without.

    Examples
    --------
    >>> class Everything(Chooser):
    ...     def without(self, fold, rows, rng):
    ...         return Choice(np.ones(rows.n_features, dtype=bool))
    >>> rows = Problem.from_arrays([[0.0, 1.0], [2.0, 0.0]], [0, 1])
    >>> Everything().without(0, rows, np.random.default_rng(0)).mask.tolist()
    [True, True]
    """

    @abstractmethod
    def without(self, fold: int, rows: Problem, rng: np.random.Generator) -> Choice:
        """Select without one fold.

        Parameters
        ----------
        fold : int
            Its number.
        rows : Problem
            The others.
        rng : Generator
            For whatever is drawn.

        Returns
        -------
        Choice
            The features, and which model predicts with them.
        """


Choose = Chooser | Callable[[Problem, np.random.Generator], NDArray[Any] | Choice]


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """The score of a selection on rows that it never saw.

    Parameters
    ----------
    interval : ConfidenceInterval
        The held-out score; `interval.estimand` says what it is an estimate of.
    interval_all : ConfidenceInterval
        The same without selection.
    interval_of_difference : ConfidenceInterval
        Selection less all features.
    masks : tuple of arrays
        What was selected without each fold.
    outputs, outputs_all : arrays
        What was predicted for each row by the rule that did not see it, with selected and with all features.

    See Also
    --------
    heldout : Makes one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> def choose(rows, rng):
    ...     return np.array([False, False, True, True])
    >>> result = heldout(choose, problem, KNN(5), cv=3, rng=np.random.default_rng(0), resources=Resources())
    >>> result.interval.low < result.score < result.interval.high, len(result.masks)
    (True, 3)
    """

    interval: ConfidenceInterval
    interval_all: ConfidenceInterval
    interval_of_difference: ConfidenceInterval
    masks: tuple[NDArray[Any], ...]
    outputs: FloatArray
    outputs_all: FloatArray

    @property
    def n_folds(self) -> int:
        """How many folds were scored."""
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
        """Score with the selected features less that with all; the interval need not have it in its middle."""
        return self.interval.estimate - self.interval_all.estimate

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


def heldout(
    choose: Choose,
    problem: Problem,
    criterion: Criterion,
    *,
    cv: Any,
    rng: np.random.Generator,
    resources: Resources,
    scoring: Any = None,
    tried: tuple[FloatArray, FloatArray] | None = None,
    done: Sequence[Record] | None = None,
    on_fold: Callable[[list[Record]], None] | None = None,
) -> HeldOutScores:
    """Measure a selection on rows that it never saw.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    choose : callable (Problem, Generator) -> mask or Choice
        The whole selection; it gets the rows outside the fold only. If it also chooses who predicts, that one judges.
    problem : Problem
        The rows.
    criterion : Criterion
        Judges the held-out rows by its own predictions if it is predictive; otherwise nearest neighbors do.
    cv : int, "loo", splitter or list of (train, test)
        Five folds keep the intervals honest also where selection is unstable; see `fewer.validate.fold_interval`.
    rng : Generator
        Draws all that is random.
    resources : Resources
        Threads, memory and device.
    scoring : str or scorer, optional
        scikit-learn's metric for the held-out rows; that of the criterion if left out.
    tried : (array, array), optional
        What was predicted for each row, in the same folds, with the features of the answer and with all while the
        answer was chosen (`Answer.tried`): the interval of the difference leans on it too.
    done : list of dict, optional
        Records of an interrupted call with the same arguments; what they hold is not computed again.
    on_fold : callable, optional
        Called with all records so far, which are plain JSON data, after each fold. If it raises `Stopped`, the folds
        so far are the answer (two at least are run).

    Returns
    -------
    HeldOutScores

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.rankers import Fisher
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> def choose(rows, rng):
    ...     return Fisher().rank(rows, rng, Resources()).scores > 10
    >>> result = heldout(choose, problem, KNN(5), cv=5, rng=np.random.default_rng(0), resources=Resources())
    >>> result.masks[0], result.score > 0.9
    (array([False, False,  True,  True]), True)
    """
    judge = criterion if criterion.predictive else KNN(n_neighbors="auto")
    grader = Grader(problem, judge.scoring if scoring is None else scoring, own=scoring is None)
    splits = split_rows(problem, cv, rng)
    shared = HeldOutTask(choose, problem, judge, grader, splits, int(rng.integers(2**63)))
    known = {record["fold"] for record in done or ()}
    left = [number for number in range(len(splits)) if number not in known]
    away = leaves_machine(resources)  # whole folds go to a cluster; here the threads of one fold share its work
    tasks = [(number, resources.alone() if away else resources) for number in left]
    where = resources if away else Resources()
    records = each_part(measure_fold, tasks, where, shared=shared, done=done or (), on_record=on_fold)
    return _summarize(records, splits, problem, grader, tried)


@dataclass(frozen=True, eq=False)
class HeldOutTask:
    """What the repetitions of a selection need, wherever they run."""

    choose: Choose
    problem: Problem
    judge: Criterion
    grader: Grader
    splits: list[Split]
    seed: int


def measure_fold(shared: HeldOutTask, number: int, resources: Resources) -> Record:
    """Select without one fold, and predict it with the chosen features and with all."""
    try:
        return _measured(shared, number, resources)
    except InputError as error:
        if shared.problem.groups is None:
            raise
        # The others may be too few groups, where all are enough.
        where = f"Without the rows of fold {number + 1} of {len(shared.splits)}"
        raise type(error)(
            f"{where}: {str(error).rstrip('.')}. To do without a held-out score: cv=0, --folds 0."
        ) from error


def _measured(shared: HeldOutTask, number: int, resources: Resources) -> Record:
    split, problem, grader = shared.splits[number], shared.problem, shared.grader
    rng = np.random.default_rng([shared.seed, number])
    train, test = problem.take(split.train), problem.take(split.test)
    choose = shared.choose
    chosen = choose.without(number, train, rng) if isinstance(choose, Chooser) else choose(train, rng)
    choice = chosen if isinstance(chosen, Choice) else Choice(np.asarray(chosen))
    if choice.mask.shape != (problem.n_features,):
        raise InputError(
            f"A selection gave a mask of shape {choice.mask.shape}, but there are {problem.n_features} features."
        )
    judge = choice.judge or shared.judge
    with telling("Judging by {!r} after {} rows", judge, train.n_samples):
        if choice.judge_rows is not None and train.n_samples > choice.judge_rows:
            train = train.take(stratified_sample(train, choice.judge_rows, rng))
        if train.time is not None:  # all are earlier than those tested: to predict these, no order among them is needed
            train = replace(train, time=None)
        scorer = choice.scorer or cast(PredictiveScorer, judge.bind(train, rng, resources))
        other = scorer
        if choice.judge_all is not None:
            other = cast(PredictiveScorer, choice.judge_all.bind(train, rng, resources))
        outputs = scorer.predict(choice.mask, test.X)
        outputs_all = other.predict(np.ones(problem.n_features, dtype=bool), test.X)
    return {
        "fold": number,
        "mask": choice.mask.tolist(),
        "grade": grader.grade(scorer, outputs, test).to_json(),
        "grade_all": grader.grade(other, outputs_all, test).to_json(),
        "outputs": outputs.tolist(),
        "outputs_all": outputs_all.tolist(),
    }


def _summarize(
    records: Sequence[Record], splits: Sequence[Split], problem: Problem, grader: Grader,
    tried: tuple[FloatArray, FloatArray] | None,
) -> HeldOutScores:  # fmt: skip
    records = sorted(records, key=itemgetter("fold"))
    splits = [splits[record["fold"]] for record in records]
    grades = [Grade.from_json(record["grade"]) for record in records]
    grades_all = [Grade.from_json(record["grade_all"]) for record in records]
    differences = [one - other for one, other in zip(grades, grades_all, strict=True)]
    interval = grader.of_scores(splits, grades)
    also_tried = tried and _tried(tried, splits, problem, grader)
    return HeldOutScores(
        interval,
        interval_all=grader.of_scores(splits, grades_all),
        interval_of_difference=grader.difference(splits, differences, also_tried, f"difference in {interval.estimand}"),
        masks=tuple(np.array(record["mask"]) for record in records),
        outputs=_rows_in_order(records, "outputs", splits, problem.n_samples),
        outputs_all=_rows_in_order(records, "outputs_all", splits, problem.n_samples),
    )


def _tried(
    tried: tuple[FloatArray, FloatArray], splits: Sequence[Split], problem: Problem, grader: Grader
) -> list[Grade] | None:
    """Grade what was predicted while the answer was chosen, fold by fold: chosen features less all."""
    differences: list[Grade] = []
    for split in splits:
        rows = problem.take(split.test)
        chosen, whole = (grader.by_formula(outputs[split.test], rows) for outputs in tried)
        if chosen is None or whole is None:
            return None
        differences.append(chosen - whole)
    return differences


def _rows_in_order(records: Sequence[Record], key: str, splits: Sequence[Split], n_rows: int) -> FloatArray:
    parts = [np.asarray(record[key], dtype=np.float64) for record in records]
    out = np.full((n_rows, *parts[0].shape[1:]), np.nan)  # rows that no split tests stay unknown
    for split, part in zip(splits, parts, strict=True):
        out[split.test] = part
    return out
