"""Scores of held-out rows with their variance, and the verdict on a selection that follows from them, in words.

The words say nothing that is not in the numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import UndefinedMetricWarning

from fewer.contracts import PredictiveScorer
from fewer.criteria.cross_validated import refuse_scoring, score_outputs
from fewer.errors import InputError, quietly
from fewer.problem import FloatArray, Problem
from fewer.text import metric_text, signed
from fewer.validate import ConfidenceInterval, Split, fold_interval

# Scores between 0 and 1 that are counted from rows (also with an ending, such as `f1_macro`).
SHARES = ("accuracy", "balanced_accuracy", "roc_auc", "f1", "precision", "recall", "jaccard", "average_precision")
# Errors, of which less is better: in the unit of the target, or of a probability.
ERRORS = re.compile(r"max_error|neg_")
# How much each part counts in the variance of a difference: rows (of two measurements), folds, the gap between the
# two measurements.
OF_ROWS, OF_FOLDS, OF_GAP = 0.7, 0.5, 0.1
# Rows up to which a score without a formula is taken again without each row.
MAX_JACKKNIFE = 2000


@dataclass(frozen=True, eq=False)
class Grade:
    """A score of test rows and each row's influence on it, whose squares sum to the score's sampling variance."""

    score: float
    influence: FloatArray | None

    def __sub__(self, other: Grade) -> Grade:
        score = self.score - other.score
        if self.influence is None or other.influence is None:
            return Grade(score, None)
        return Grade(score, self.influence - other.influence)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"score": self.score, "influence": None if self.influence is None else self.influence.tolist()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Grade:
        """Read it back."""
        return cls(data["score"], None if data["influence"] is None else np.array(data["influence"]))


class Grader:
    """Grades outputs for test rows.

    R² is taken against the spread of the target in *all* rows: a fold of few rows has a spread of its own that says
    nothing, and this way the mean over the folds is the R² of all held-out rows together. Everything else is
    scored within the fold: outputs of different rules need not have the same scale, and ranking rows across folds
    (as a pooled AUC would) turns the bias of leaving rows out into score.

    Parameters
    ----------
    problem : Problem
        The rows.
    scoring : str or scorer, optional
        scikit-learn's; accuracy or R² if left out.
    own : bool, default=False
        The scoring is that of the criterion that predicts, which is asked to apply it.
    """

    def __init__(self, problem: Problem, scoring: Any = None, *, own: bool = False) -> None:
        self.name = score_name(scoring, problem)
        if scoring is not None:
            refuse_scoring(scoring, problem)
        self._scoring = None if own else scoring
        self.problem = problem
        self._n_units = problem.n_samples if problem.groups is None else len(np.unique(problem.groups))
        # Nothing wrong in n rows still allows 3/n wrong ones; where each class counts the same, 3 of the scarcest one.
        n_seen = self._n_units
        if is_share(self.name) and not re.fullmatch("accuracy|.*_(micro|weighted)", self.name):
            owners = np.unique(np.column_stack([problem.y, problem.row_groups]), axis=0)[:, 0]
            counts = np.unique(owners, return_counts=True)[1]
            n_seen = min(n_seen, len(counts) * int(counts.min()))
        self._resolution = 1.5 / n_seen if is_share(self.name) else 0.0
        center = problem.y - np.average(problem.y, weights=problem.sample_weight)
        self._spread = float(np.average(center**2, weights=problem.sample_weight)) or 1.0

    def grade(self, scorer: PredictiveScorer, outputs: FloatArray, rows: Problem) -> Grade:
        """Score outputs for these rows."""
        grade = self.by_formula(outputs, rows)
        if grade is not None:
            return grade
        score = self._ask(scorer, outputs, rows)
        if self.problem.n_samples > MAX_JACKKNIFE:
            return Grade(score, None)
        return Grade(score, self._jackknife(scorer, outputs, rows))

    def by_formula(self, outputs: FloatArray, rows: Problem) -> Grade | None:
        """Score outputs for these rows where the influences have a formula."""
        if self.name == "accuracy":
            return _mean(outputs.argmax(axis=1) == rows.y, rows.sample_weight)
        if self.name == "r2":
            return _mean(1.0 - (rows.y - outputs) ** 2 / self._spread, rows.sample_weight)
        if self.name == "roc_auc" and rows.sample_weight is None and rows.n_classes == 2:
            return _area(outputs[:, 1], rows)
        if self.name == "balanced_accuracy" and rows.sample_weight is None:
            return _mean_of_classes(outputs.argmax(axis=1) == rows.y, rows.y)
        return None

    def score(self, scorer: PredictiveScorer, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs for these rows, without the influences."""
        grade = self.by_formula(outputs, rows)
        return self._ask(scorer, outputs, rows) if grade is None else grade.score

    def interval(
        self, splits: Sequence[Split], grades: Sequence[Grade], estimand: str = "", correlation: float | None = None
    ) -> ConfidenceInterval:
        """Return the interval of the mean over the splits, for grades or for differences of grades."""
        seen = [self._variance(split, grade) for split, grade in zip(splits, grades, strict=True)]
        variances = [variance for variance in seen if variance is not None]
        ratio = float(np.mean([len(split.test) / len(split.train) for split in splits]))
        interval = fold_interval(
            [grade.score for grade in grades],
            variances if len(variances) == len(seen) else None,
            sizes=self._sizes(splits),
            correlation=ratio if correlation is None else correlation,
            degrees_of_freedom=max(self._n_units - len({split.fold for split in splits}), 1),
            resolution=self._resolution,
            estimand=estimand,
        )
        return interval.within(-1.0, 1.0) if is_share(self.name) else interval

    def difference(
        self, splits: Sequence[Split], grades: Sequence[Grade], tried: Sequence[Grade] | None, estimand: str = ""
    ) -> ConfidenceInterval:
        """Return the interval of a difference from two measurements of it.

        `grades` are of selections without each fold: honest, but of other features than the answer's. `tried` are of
        the answer's own ranking, number and model in the same folds: nearer to it, but it was chosen by them. The
        interval lies around two thirds of the first and one third of the second. Its variance adds up what rows show
        of both, what folds show of the first, and how far the two are apart; the shares were set on tables that judge
        nothing (`experiments/interval_coverage.md`).
        """
        plain = self.interval(splits, grades, estimand)
        if tried is None or any(grade.influence is None for grade in (*grades, *tried)):
            return plain
        first, second = (self.interval(splits, scores, correlation=0.0) for scores in (grades, tried))
        folds = fold_interval([grade.score for grade in grades], sizes=self._sizes(splits), correlation=0.0)
        gap = second.estimate - first.estimate
        rows = first.standard_error**2 + second.standard_error**2
        parts = np.array([OF_ROWS * rows, OF_FOLDS * folds.standard_error**2, OF_GAP * gap**2])
        freedom = np.array([first.degrees_of_freedom, len(splits) - 1, 1])
        variance = float(parts.sum())
        error = max(math.sqrt(variance), self._resolution)
        known = variance**2 / float(parts**2 @ (1.0 / freedom)) if variance > 0 else float(freedom[0])
        center = first.estimate + gap / 3
        made = ConfidenceInterval(
            center, center, center, plain.level, "t of rows and folds", estimand, error, known
        ).at(plain.level)
        return made.within(-1.0, 1.0) if is_share(self.name) else made

    def _sizes(self, splits: Sequence[Split]) -> list[float]:
        return [float(self.problem.row_weights[split.test].sum()) for split in splits]

    def _variance(self, split: Split, grade: Grade) -> float | None:
        """Return the sampling variance of a score: of independent rows, or of row groups; None where it is not seen."""
        influence = grade.influence
        if influence is None or self.problem.groups is None:
            return None if influence is None else float(np.sum(influence**2))
        n_groups = len(np.unique(self.problem.groups[split.test]))
        if n_groups < 2:  # influences sum to 0 in a group that is alone in its fold: only folds show how groups differ
            return None
        by_group = np.bincount(self.problem.groups[split.test], weights=influence)
        return float(np.sum(by_group**2)) * n_groups / (n_groups - 1)

    def of_scores(self, splits: Sequence[Split], grades: Sequence[Grade]) -> ConfidenceInterval:
        """Return the interval of the mean score over the splits, without what a score cannot be."""
        n_train = round(float(np.mean([len(split.train) for split in splits])))
        alike = " and with the same class frequencies" if self.problem.task == "classification" else ""
        estimand = (
            f"{self.name} on new rows from the same source{alike}, for a model built by the whole procedure on these"
            f" {self.problem.n_samples} rows, estimated from {len(splits)} models on about {n_train} rows"
        )
        interval = self.interval(splits, grades, estimand)
        is_bounded = is_share(self.name) or self.name in ("r2", "R²")
        return interval.within(0.0 if is_share(self.name) else -math.inf, 1.0) if is_bounded else interval

    def _ask(self, scorer: PredictiveScorer, outputs: FloatArray, rows: Problem) -> float:
        with quietly(UndefinedMetricWarning):
            score = (
                float(scorer.grade(outputs, rows))
                if self._scoring is None
                else score_outputs(self._scoring, outputs, rows)
            )
        return score if np.isfinite(score) else _refuse(self.name, rows)

    def _jackknife(self, scorer: PredictiveScorer, outputs: FloatArray, rows: Problem) -> FloatArray | None:
        n = rows.n_samples
        if n < 3:
            return None
        try:
            without = np.array([self._ask(scorer, outputs[kept], rows.take(kept)) for kept in ~np.eye(n, dtype=bool)])
        except ValueError:
            return None
        return (without.mean() - without) * np.sqrt((n - 1) / n)


def score_name(scoring: Any, problem: Problem) -> str:
    """Name a score as scikit-learn does; left out, it is accuracy or R²."""
    if scoring is None:
        return "accuracy" if problem.task == "classification" else "r2"
    return scoring if isinstance(scoring, str) else str(getattr(scoring, "__name__", "score"))


def is_share(name: str) -> bool:
    """Say whether a score is a number between 0 and 1 that is counted from rows."""
    return any(name == share or name.startswith(f"{share}_") for share in SHARES)


def _mean(values: Any, weights: FloatArray | None) -> Grade:
    """Grade rows by a mean over them."""
    share = np.full(len(values), 1.0 / len(values)) if weights is None else weights / weights.sum()
    mean = float(share @ values)
    lone = 1.0 - float(share @ share)
    return Grade(mean, share * (values - mean) / np.sqrt(lone) if lone > 0 else None)


def _mean_of_classes(right: Any, codes: Any) -> Grade:
    """Grade by the mean over the classes of the share that is right; one row of a class counts as in the jackknife."""
    _, of, counts = np.unique(codes, return_inverse=True, return_counts=True)
    shares, class_counts = np.bincount(of, right) / counts, counts[of]
    score, n = float(shares.mean()), len(counts)
    off = np.where(class_counts > 1, (right - shares[of]) / n, (right - score) / max(n - 1, 1))
    return Grade(score, off / np.sqrt(class_counts * np.maximum(class_counts - 1, 1)))


def _area(outputs: FloatArray, rows: Problem) -> Grade:
    """Grade by the area under the ROC curve, with DeLong's components as influences."""
    ranks, positive = rankdata(outputs), rows.y == 1
    m, n = int(positive.sum()), int((~positive).sum())
    if not m or not n:
        _refuse("roc_auc", rows)
    place = np.where(positive, (ranks - _within(ranks, positive)) / n, 1.0 - (ranks - _within(ranks, ~positive)) / m)
    area = float(place[positive].mean())
    if min(m, n) < 2:
        return Grade(area, None)
    return Grade(area, (place - area) / np.sqrt(np.where(positive, m * (m - 1), n * (n - 1))))


def _within(ranks: FloatArray, rows: Any) -> FloatArray:
    within = np.zeros(len(ranks))
    within[rows] = rankdata(ranks[rows])
    return within


def _refuse(name: str, rows: Problem) -> float:
    raise InputError(
        f"{name} is not defined on one of the folds ({rows.n_samples} rows, {len(np.unique(rows.y))} distinct target "
        "value(s)); use fewer folds."
    )


# What may be lost with fewer features that are called as good: 2 points, or 0.02 of R²; of an error in the unit of the
# target, 2 % of what the better of the two predicts nearer than knowing nothing does.
TOLERATED = 0.02
# The lower end of 95 % that looks at one side alone, as a share of that of the interval, which looks at both.
ONE_SIDED = 1.645 / 1.96
# A gain below that is not called one: half a point, or that share.
SMALL_GAIN = 0.005
# An interval of a difference that is so wide says nothing.
SAYS_NOTHING = 1.0
# So many rows or groups are the fewest whose interval can reach 10 points to either side: 1.5 of them times t.
LEAST_FOR_TEN = 30

NAMES = {
    "knn": "kNN", "linear": "the linear model", "svm": "the SVM", "tree": "the tree", "forest": "the random forest"
}  # fmt: skip


class Kind(StrEnum):
    """The five things that can be said of a selection."""

    BETTER = "better"
    AS_GOOD = "as good"
    WORSE = "worse"
    NOT_KNOWN = "not known"
    NOTHING = "nothing found"


@dataclass(frozen=True)
class Verdict:
    """Whether the chosen features do as well as all of them, with the numbers, and in one sentence.

    Parameters
    ----------
    kind : Kind
        Better; as good (at most `at_most_lost` is lost); worse; not known; nothing found.
    difference, low, high : float or None
        Held-out score with the chosen features less that with all, and its interval, whose middle may be another.
    at_most_lost : float or None
        What may be lost at most, with a confidence of 95 %: a bound on one side, nearer than that of the interval.
    baseline : float or None
        The score of knowing nothing (`baseline_score`).
    rows_needed : int
        Rows needed to narrow the interval to ± 2 points; 0 where that is not known.
    sentence : str
        All of it in plain words.

    Examples
    --------
    >>> made = Verdict.of(-0.002, -0.011, 0.007, n_chosen=8, n_features=30, score_name="accuracy")
    >>> made.kind.value, round(made.at_most_lost, 4)
    ('as good', 0.0096)
    >>> print(made)
    As good with 8 of 30 features: at most 1 point of held-out accuracy is lost (95 %).
    """

    kind: Kind
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    at_most_lost: float | None = None
    baseline: float | None = None
    rows_needed: int = 0
    sentence: str = ""

    def __str__(self) -> str:
        return self.sentence

    @classmethod
    def of(
        cls, difference: float | None, low: float | None, high: float | None, *,
        n_chosen: int, n_features: int, score_name: str, by: str = "", rows_needed: int = 0, unit: str = "rows",
        score: float | None = None, baseline: float | None = None, one_sided: float = ONE_SIDED,
        tried_fewer: bool = False,
    ) -> Verdict:  # fmt: skip
        """Decide which of the kinds it is, other than that nothing was found.

        Parameters
        ----------
        difference, low, high : float or None
            As in the class.
        n_chosen, n_features : int
            Features chosen, and all.
        score_name : str
            scikit-learn's, or R².
        by : str
            Who predicted, put behind the number of features.
        rows_needed : int
            How many rows would settle it; 0 if that is not known.
        unit : str
            What is counted: rows, or groups where rows belong to them.
        score : float or None
            The held-out score with the chosen features: what errors in the target's own unit are compared with.
        baseline : float or None
            As in the class.
        one_sided : float
            The distance from the middle to the bound of what may be lost, as a share of that to `low`.
        tried_fewer : bool
            Whether smaller sizes were measured before all features were kept.

        Returns
        -------
        Verdict
        """
        amount = _Amount("r2" if score_name == "R²" else score_name)
        kept, metric = f"{n_chosen:,} of {n_features:,} features{by}", metric_text(score_name)
        where, whether = f"with {kept}", f"{kept} {'is' if n_chosen == 1 else 'are'}"
        if not n_chosen:
            where = f"without {f'any of the {n_features:,} features' if n_features > 1 else 'the only feature'}{by}"
            whether = f"doing {where} is"
        if n_chosen == n_features:
            all_ = f"All {n_features:,} features are" if n_features > 1 else "The only feature is"
            sentence = f"{all_} selected{by}, so there is nothing to compare."
            if tried_fewer:
                sentence = f"{all_} kept: with fewer, held-out {metric} is expected to be lower."
            return cls(Kind.AS_GOOD, 0.0, 0.0, 0.0, 0.0, baseline, 0, sentence)
        if difference is None or low is None or high is None:
            return cls(Kind.NOT_KNOWN, difference, None, None, None, baseline, 0,
                       "Not known: whether this helps was not measured on held-out rows.")  # fmt: skip
        lost = max(one_sided * (high - low) / 2 - (low + high) / 2, 0.0)
        numbers = (difference, low, high, lost, baseline, rows_needed)
        span, of = f"{amount(low)} to {amount(high)}, 95 %", f"of held-out {metric}"
        if ERRORS.match(score_name):
            gained = 0.0 if score is None or baseline is None else max(score, score - difference) - baseline
            return cls._of_errors(numbers, where, whether, metric, max(gained, 0.0))
        if low > 0 and difference >= SMALL_GAIN:
            sentence = f"Better {where}: {amount(difference, unit=True)} {of} ({span})."
            return cls(Kind.BETTER, *numbers, sentence)
        if lost <= TOLERATED:
            is_seen = amount.plain(lost).strip("0. points")
            most = f"at most {amount.plain(lost)} {of} {amount.verb(lost)} lost" if is_seen else "no loss"
            return cls(Kind.AS_GOOD, *numbers, f"{'Nearly as' if high < 0 else 'As'} good {where}: {most} (95 %).")
        if high < 0:
            sentence = f"Worse {where}: {amount.plain(difference)} {of} {amount.verb(difference)} lost ({span})."
            return cls(Kind.WORSE, *numbers, sentence)
        narrow = f"± {amount.plain(TOLERATED).replace('2.0', '2')}"
        more = f"; about {rows_needed:,} {unit} would narrow this to {narrow}" if rows_needed else ""
        reach = f"between {amount(low)} and {amount(high, unit=True)} {of} (95 %)"
        if high - low >= SAYS_NOTHING:
            reach = f"too few {unit} to tell"
            if is_share(score_name):
                more = f". At least {LEAST_FOR_TEN} {unit} are needed to see a difference of 10 points"
        return cls(Kind.NOT_KNOWN, *numbers, f"Not known whether {whether} as good: {reach}{more}.")

    @classmethod
    def _of_errors(
        cls, numbers: tuple[float, float, float, float, float | None, int], where: str, whether: str, metric: str,
        gained: float,
    ) -> Verdict:  # fmt: skip
        """Decide by errors in the unit of the target; knowing nothing is wrong by `gained` more."""
        difference, low, high, lost = numbers[:4]
        subject = f"held-out {metric.removeprefix('negative ')}"
        size = _Amount("").plain
        if low > 0 and difference >= SMALL_GAIN * gained:
            span = f"{size(low)} to {size(high)}, 95 %"
            return cls(Kind.BETTER, *numbers, f"Better {where}: {subject} is {size(difference)} lower ({span}).")
        if lost <= TOLERATED * gained:
            share = f", {100 * lost / gained:.2g} % of what is gained over knowing nothing" if lost else ""
            most = f"at most {size(lost)} higher" if lost else "not higher"
            start = "Nearly as" if high < 0 else "As"
            return cls(Kind.AS_GOOD, *numbers, f"{start} good {where}: {subject} is {most} (95 %){share}.")
        if high < 0:
            span = f"{size(high)} to {size(low)}, 95 %"
            return cls(Kind.WORSE, *numbers, f"Worse {where}: {subject} is {size(difference)} higher ({span}).")
        reach = f"{subject} is between {size(low)} higher and {size(high)} lower (95 %)"
        return cls(Kind.NOT_KNOWN, *numbers, f"Not known whether {whether} as good: {reach}.")


@dataclass(frozen=True)
class _Amount:
    """Writes differences in a score's own unit: points of a share, else as they are."""

    scoring: str

    def __call__(self, value: float, *, unit: bool = False) -> str:
        if is_share(self.scoring):
            return signed(100 * value, 1) + " points" * unit
        if self.scoring == "r2":
            return signed(value, 2 if abs(value) >= 0.01 else 3)
        return f"{value:+.3g}".replace("-", "−")

    def plain(self, value: float) -> str:
        text = self(abs(value), unit=True).removeprefix("+")
        return "1 point" if text == "1.0 points" else text

    def verb(self, value: float) -> str:
        return "are" if is_share(self.scoring) and self.plain(value) != "1 point" else "is"


def baseline_score(problem: Problem, scoring: Any = None) -> float | None:
    """Return the score of knowing nothing: of the best answer that is the same for every row.

    Parameters
    ----------
    problem : Problem
        The rows.
    scoring : str or callable, optional
        As in scikit-learn; accuracy or R² if left out.

    Returns
    -------
    float or None
        The best of what predicting the classes' shares, one class, or the mean or median of the quantity for every row
        scores; None where a score cannot be had so.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((4, 1)), ["a", "a", "a", "b"])
    >>> baseline_score(problem), baseline_score(problem, "balanced_accuracy"), baseline_score(problem, "roc_auc")
    (0.75, 0.5, 0.5)
    >>> baseline_score(problem, "f1_macro"), baseline_score(Problem.from_arrays(np.zeros((4, 1)), [0, 0, 0, 1]), "f1")
    (0.42..., 0.4)
    """
    weights = problem.row_weights
    if problem.y.ndim > 1:
        return None
    if problem.task == "regression":
        if scoring is None:
            return 0.0  # the mean explains nothing of the variance
        order = np.argsort(problem.y)
        median = problem.y[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]
        answers = np.array([np.average(problem.y, weights=weights), median])
    else:
        shares = np.bincount(problem.y, weights, minlength=problem.n_classes) / weights.sum()
        if scoring is None:
            return float(np.average(problem.y == shares.argmax(), weights=weights))
        # Of several classes the largest is the best one for all rows; of two, it may be the positive one.
        answers = np.vstack([shares, np.eye(2)]) if problem.n_classes == 2 else shares[None]
    try:
        with quietly(UndefinedMetricWarning):
            return max(
                score_outputs(scoring, np.repeat(answer[None], problem.n_samples, axis=0), problem)
                for answer in answers
            )
    except (ValueError, TypeError, AttributeError):
        return None


@dataclass(frozen=True)
class MethodScore:
    """One method judged by one estimator.

    Parameters
    ----------
    name, estimator : str
        The method, and the model that scored its features.
    name : str
        Of the method or baseline.
    estimator : str
        Who predicted with its features.
    role : {"method", "baseline"}
        What it is compared as.
    score, low, high : float
        Held-out score and its interval.
    n_features, stability, seconds : float
        Mean size, Nogueira's stability and mean time of the selections without each fold.
    optimism, search_score : float or None
        As in `Nested`: the search's own score, and by how much it is too high.
    difference, difference_low, difference_high, p_value : float
        Score less that of all features, with its interval.
    p_holm : float or None
        P-value adjusted for the number of methods compared for this estimator.
    joint_low, joint_high : float or None
        Interval of the difference that holds for all methods of this estimator together, also for the best.
    fold_scores : tuple of float
        One a split.

    See Also
    --------
    verdict : Says in words what several of them mean.

    Examples
    --------
    >>> score = MethodScore("forward", "knn", "method", 0.9, 0.85, 0.95, 4.0, 0.8, 0.02, 1.5, 0.03, 0.01, 0.05, 0.01)
    >>> score.score - score.difference
    0.87
    """

    name: str
    estimator: str
    role: str
    score: float
    low: float
    high: float
    n_features: float
    stability: float | None
    optimism: float | None
    seconds: float
    difference: float
    difference_low: float
    difference_high: float
    p_value: float
    p_holm: float | None = None
    joint_low: float | None = None
    joint_high: float | None = None
    search_score: float | None = None
    fold_scores: tuple[float, ...] = ()


def verdict(
    scores: Sequence[MethodScore], *, scoring: str, n_features: int, baseline: float | None = None, unit: str = "rows"
) -> str:
    """Say for each estimator which of the kinds of verdict it is: one sentence each, the best first.

    Of several methods the one with the best held-out score is spoken of, and its interval is the joint one, which
    allows for the choice.

    Parameters
    ----------
    scores : sequence of MethodScore
        Of all methods, baselines and estimators.
    scoring : str
        What scores are measured in.
    n_features : int
        Columns of the table.
    baseline : float, optional
        The score of knowing nothing (`baseline_score`).
    unit : {"rows", "groups"}, default="rows"
        What there may be too few of.

    Returns
    -------
    str
        A sentence for each estimator.

    Examples
    --------
    >>> row = MethodScore("forward", "knn", "method", 0.9, 0.85, 0.95, 4.0, 0.8, 0.02, 1.5, 0.03, 0.01, 0.05, 0.01)
    >>> verdict([row], scoring="accuracy", n_features=20)
    'Better with 4 of 20 features for kNN (forward): +3.0 points of held-out accuracy (+1.0 to +5.0, 95 %).'
    """
    best: dict[str, MethodScore] = {}
    for row in scores:
        if row.role == "method" and (row.estimator not in best or row.score > best[row.estimator].score):
            best[row.estimator] = row
    verdicts = [_said(row, scoring, n_features, baseline, unit) for row in best.values()]
    return " ".join(one.sentence for one in sorted(verdicts, key=lambda one: list(Kind).index(one.kind)))


def name_of(estimator: str) -> str:
    """Return an estimator's name as it stands in a sentence."""
    return NAMES.get(estimator, estimator)


def _said(row: MethodScore, scoring: str, n_features: int, baseline: float | None, unit: str) -> Verdict:
    low = row.difference_low if row.joint_low is None else row.joint_low
    high = row.difference_high if row.joint_high is None else row.joint_high
    low, high = (max(low, -1.0), min(high, 1.0)) if is_share(scoring) else (low, high)
    n_chosen = n_features if row.n_features >= n_features else min(round(row.n_features), n_features - 1)
    return Verdict.of(
        row.difference, low, high, n_chosen=n_chosen, n_features=n_features, score_name=scoring,
        by=f" for {name_of(row.estimator)} ({row.name})", one_sided=ONE_SIDED if row.joint_low is None else 1.0,
        score=row.score, baseline=baseline, unit=unit,
    )  # fmt: skip
