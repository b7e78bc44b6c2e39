"""The comparison in plain words, and nothing in the words that is not in the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fewer.evaluate._grading import is_share

TOO_WIDE = 0.10
"""An undecided interval that reaches further than this to either side is put down to too few rows."""
FEW_ROWS = 30
"""The same for scores without a natural unit, by the number of rows."""

NAMES = {
    "knn": "kNN",
    "linear": "the linear model",
    "svm": "the SVM",
    "tree": "the tree",
    "forest": "the random forest",
}


@dataclass(frozen=True)
class MethodScore:
    """One method judged by one estimator.

    Parameters
    ----------
    name, estimator : str
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
        As in `Nested`: what the search believed, and by how much that exaggerates.
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


def verdict(scores: Sequence[MethodScore], *, scoring: str, n_rows: int, n_features: int) -> str:
    """Say for each estimator whether selection helps it: one sentence each, the clearest first.

    Of several methods the one with the best held-out score is spoken of, and its interval is the joint one, which
    allows for the choice.

    Parameters
    ----------
    scores : sequence of MethodScore
        Of all methods, baselines and estimators.
    scoring : str
        What scores are measured in.
    n_rows, n_features : int
        The size of the table.

    Returns
    -------
    str
        A sentence for each estimator.

    Examples
    --------
    >>> row = MethodScore("forward", "knn", "method", 0.9, 0.85, 0.95, 4.0, 0.8, 0.02, 1.5, 0.03, 0.01, 0.05, 0.01)
    >>> verdict([row], scoring="accuracy", n_rows=200, n_features=20)
    'Selection helps kNN by 3.0 points (1.0 to 5.0) with 4 of 20 features (forward).'
    """
    best: dict[str, MethodScore] = {}
    for row in scores:
        if row.role == "method" and (row.estimator not in best or row.score > best[row.estimator].score):
            best[row.estimator] = row
    lines = [_said(row, scoring, n_rows, n_features) for row in best.values()]
    order = sorted(range(len(lines)), key=lambda i: lines[i][0])
    return " ".join(lines[i][1] for i in order)


def name_of(estimator: str) -> str:
    """Return an estimator's name as it stands in a sentence."""
    return NAMES.get(estimator, estimator)


def in_points(scoring: str) -> bool:
    """Say whether a hundredth of the score is a point."""
    return is_share(scoring)


def _said(row: MethodScore, scoring: str, n_rows: int, n_features: int) -> tuple[int, str]:
    low = row.difference_low if row.joint_low is None else row.joint_low
    high = row.difference_high if row.joint_high is None else row.joint_high
    who = name_of(row.estimator)
    subset = f"{row.n_features:.0f} of {n_features} features ({row.name})"
    if low > 0:
        amount = _range(row.difference, low, high, scoring)
        return 0, f"Selection helps {who} by {amount} with {subset}."
    if high < 0:
        amount = _range(-row.difference, -high, -low, scoring)
        return 1, f"Selection costs {who} {amount}: all {n_features} features do better than {subset}."
    span = f"{_number(low, scoring, sign=True)} to {_number(high, scoring, sign=True)}{_unit(scoring)}"
    if max(-low, high) > TOO_WIDE if in_points(scoring) else n_rows < FEW_ROWS:
        return 3, f"For {who} {n_rows} rows are too few to tell: {subset} may do anything from {span} against all."
    return 2, f"For {who} no difference was found between all features and {subset}: {span}."


def _range(difference: float, low: float, high: float, scoring: str) -> str:
    numbers = [_number(value, scoring) for value in (difference, low, high)]
    return f"{numbers[0]}{_unit(scoring)} ({numbers[1]} to {numbers[2]})"


def _number(value: float, scoring: str, *, sign: bool = False) -> str:
    text = f"{100 * value:+.1f}" if in_points(scoring) else f"{value:+.3g}"
    text = text if sign else text.lstrip("+")
    return text.replace("-", "−")


def _unit(scoring: str) -> str:
    return " points" if in_points(scoring) else f" of {'R²' if scoring == 'r2' else scoring}"
