"""The comparison in plain words, and nothing in the words that is not in the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from fewer.criteria.cross_validated import score_outputs
from fewer.evaluate.grading import is_share
from fewer.problem import Problem
from fewer.text import metric_text, signed

TOLERATED = 0.02
"""What may be lost with fewer features that are called as good: 2 points, or 0.02 of R²."""
ONE_SIDED = 1.645 / 1.96
"""The lower end of 95 % that looks at one side alone, as a share of that of the interval, which looks at both."""
SMALL = 0.005
"""A gain below that is not called one: half a point."""

NAMES = {
    "knn": "kNN",
    "linear": "the linear model",
    "svm": "the SVM",
    "tree": "the tree",
    "forest": "the random forest",
}


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
        n_chosen: int, n_features: int, score_name: str, by: str = "", rows_needed: int = 0,
        baseline: float | None = None, one_sided: float = ONE_SIDED,
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
        baseline : float or None
            As in the class.
        one_sided : float
            The distance from the middle to the bound of what may be lost, as a share of that to `low`.

        Returns
        -------
        Verdict
        """
        amount = _Amount("r2" if score_name == "R²" else score_name)
        kept, metric = f"{n_chosen:,} of {n_features:,} features{by}", metric_text(score_name)
        if n_chosen == n_features:
            all_ = f"All {n_features:,} features are" if n_features > 1 else "The only feature is"
            told = f"{all_} kept: with fewer, held-out {metric} is expected to be lower."
            return cls(Kind.AS_GOOD, 0.0, 0.0, 0.0, 0.0, baseline, 0, told)
        if difference is None or low is None or high is None:
            return cls(Kind.NOT_KNOWN, difference, None, None, None, baseline, 0,
                       "Not known: whether this helps was not measured on held-out rows.")  # fmt: skip
        lost = max(one_sided * (high - low) / 2 - (low + high) / 2, 0.0)
        numbers = (difference, low, high, lost, baseline, rows_needed)
        span, of = f"{amount(low)} to {amount(high)}, 95 %", f"of held-out {metric}"
        if low > 0 and difference >= SMALL:
            told = f"Better with {kept}: {amount(difference, unit=True)} {of} ({span})."
            return cls(Kind.BETTER, *numbers, told)
        if lost <= TOLERATED:
            is_seen = amount.plain(lost).strip("0. points")
            most = f"at most {amount.plain(lost)} {of} {amount.verb(lost)} lost" if is_seen else "no loss"
            return cls(Kind.AS_GOOD, *numbers, f"{'Nearly as' if high < 0 else 'As'} good with {kept}: {most} (95 %).")
        if high < 0:
            told = f"Worse with {kept}: {amount.plain(difference)} {of} {amount.verb(difference)} lost ({span})."
            return cls(Kind.WORSE, *numbers, told)
        narrow = f"± {amount.plain(TOLERATED).replace('2.0', '2')}"
        more = f"; about {rows_needed:,} rows would narrow this to {narrow}" if rows_needed else ""
        reach = f"between {amount(low)} and {amount(high, unit=True)} {of} (95 %)"
        told = f"Not known whether {kept} {'is' if n_chosen == 1 else 'are'} as good: {reach}{more}."
        return cls(Kind.NOT_KNOWN, *numbers, told)


@dataclass(frozen=True)
class _Amount:
    """Writes differences in a score's own unit: points of a share, else as they are."""

    scoring: str

    def __call__(self, value: float, *, unit: bool = False) -> str:
        return _number(value, self.scoring, sign=True) + (" points" if unit and is_share(self.scoring) else "")

    def plain(self, value: float) -> str:
        text = self(abs(value), unit=True).removeprefix("+")
        return "1 point" if text == "1.0 points" else text

    def verb(self, value: float) -> str:
        return "are" if is_share(self.scoring) and self.plain(value) != "1 point" else "is"


def baseline_score(problem: Problem, scoring: Any = None) -> float | None:
    """Return the score of knowing nothing: the share of the largest class, the mean of the quantity.

    Parameters
    ----------
    problem : Problem
        The rows.
    scoring : str or callable, optional
        As in scikit-learn; accuracy or R² if left out.

    Returns
    -------
    float or None
        What predicting the classes' shares (or the mean) for every row scores; None where a score cannot be had so.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((4, 1)), ["a", "a", "a", "b"])
    >>> baseline_score(problem), baseline_score(problem, "balanced_accuracy"), baseline_score(problem, "roc_auc")
    (0.75, 0.5, 0.5)
    """
    weights = problem.row_weights
    if problem.y.ndim > 1:
        return None
    if problem.task == "regression":
        outputs = np.full(problem.n_samples, np.average(problem.y, weights=weights))
    else:
        shares = np.bincount(problem.y, weights, minlength=problem.n_classes) / weights.sum()
        outputs = np.tile(shares, (problem.n_samples, 1))
    named = ("accuracy" if problem.task == "classification" else "r2") if scoring is None else scoring
    try:
        return score_outputs(named, outputs, problem)
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


def verdict(scores: Sequence[MethodScore], *, scoring: str, n_features: int) -> str:
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
    said = [_said(row, scoring, n_features) for row in best.values()]
    return " ".join(one.sentence for one in sorted(said, key=lambda one: list(Kind).index(one.kind)))


def name_of(estimator: str) -> str:
    """Return an estimator's name as it stands in a sentence."""
    return NAMES.get(estimator, estimator)


def _said(row: MethodScore, scoring: str, n_features: int) -> Verdict:
    low = row.difference_low if row.joint_low is None else row.joint_low
    high = row.difference_high if row.joint_high is None else row.joint_high
    return Verdict.of(
        row.difference, low, high, n_chosen=round(row.n_features), n_features=n_features, score_name=scoring,
        by=f" for {name_of(row.estimator)} ({row.name})", one_sided=ONE_SIDED if row.joint_low is None else 1.0,
    )  # fmt: skip


def _number(value: float, scoring: str, *, sign: bool = False) -> str:
    if is_share(scoring):
        text = signed(100 * value, 1)
    elif scoring == "r2":
        text = signed(value, 2 if abs(value) >= 0.01 else 3)
    else:
        text = f"{value:+.3g}".replace("-", "−")
    return text if sign else text.lstrip("+")
