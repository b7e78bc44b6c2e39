"""Scores of held-out rows, split by split, with what each row contributes to the score's variance."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer_names

from fewer.contracts import PredictiveScorer
from fewer.criteria.cross_validated import score_outputs
from fewer.errors import InputError, quietly
from fewer.problem import FloatArray, Problem
from fewer.validate import ConfidenceInterval, Split, fold_interval

SHARES = ("accuracy", "balanced_accuracy", "roc_auc", "f1", "precision", "recall", "jaccard", "average_precision")
"""Scores between 0 and 1 that are counted from rows (also with an ending, such as `f1_macro`)."""
QUANTITY_SCORES = re.compile(
    r"r2|explained_variance|max_error|neg_(mean|median|root|max)_|d2_(absolute|pinball|tweedie)"
)
OF_ROWS, OF_FOLDS, OF_GAP = 0.7, 0.5, 0.1
"""How much each part counts in the variance of a difference: rows (of two measurements), folds, the gap between the
two measurements."""
MAX_JACKKNIFE = 2000
"""Rows up to which a score without a formula is taken again without each row."""


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
        if isinstance(scoring, str):
            refuse_scoring(scoring, problem.task)
        self._scoring = None if own else scoring
        self.problem = problem
        # Nothing wrong in n rows still allows 3/n wrong ones.
        self._resolution = 1.5 / self._n_units() if is_share(self.name) else 0.0
        center = problem.y - np.average(problem.y, weights=problem.sample_weight)
        self._spread = float(np.average(center**2, weights=problem.sample_weight)) or 1.0

    def grade(self, scorer: PredictiveScorer, outputs: FloatArray, rows: Problem) -> Grade:
        """Score outputs for these rows."""
        found = self.by_formula(outputs, rows)
        if found is not None:
            return found
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
        found = self.by_formula(outputs, rows)
        return self._ask(scorer, outputs, rows) if found is None else found.score

    def interval(
        self, splits: Sequence[Split], grades: Sequence[Grade], estimand: str = "", correlation: float | None = None
    ) -> ConfidenceInterval:
        """Return the interval of the mean over the splits, for grades or for differences of grades."""
        known = all(grade.influence is not None for grade in grades)
        ratio = float(np.mean([len(split.test) / len(split.train) for split in splits]))
        return fold_interval(
            [grade.score for grade in grades],
            [self._variance(split, grade) for split, grade in zip(splits, grades, strict=True)] if known else None,
            sizes=self._sizes(splits),
            correlation=ratio if correlation is None else correlation,
            degrees_of_freedom=self._freedom(splits),
            resolution=self._resolution,
            estimand=estimand,
        )

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
        first, second = (self.interval(splits, some, correlation=0.0) for some in (grades, tried))
        folds = fold_interval([grade.score for grade in grades], sizes=self._sizes(splits), correlation=0.0)
        gap = second.estimate - first.estimate
        rows = first.standard_error**2 + second.standard_error**2
        parts = np.array([OF_ROWS * rows, OF_FOLDS * folds.standard_error**2, OF_GAP * gap**2])
        freedom = np.array([self._freedom(splits), len(splits) - 1, 1])
        variance = float(parts.sum())
        error = max(math.sqrt(variance), self._resolution)
        known = variance**2 / float(parts**2 @ (1.0 / freedom)) if variance > 0 else float(freedom[0])
        center = first.estimate + gap / 3
        return ConfidenceInterval(
            center, center, center, plain.level, "t of rows and folds", estimand, error, known
        ).at(plain.level)

    def _sizes(self, splits: Sequence[Split]) -> list[float]:
        weights = self.problem.row_weights
        return [float(weights[split.test].sum()) for split in splits]

    def _freedom(self, splits: Sequence[Split]) -> int:
        return max(self._n_units() - len({split.fold for split in splits}), 1)

    def _variance(self, split: Split, grade: Grade) -> float:
        """Return the sampling variance of a score: of independent rows, or of row groups where there are any."""
        influence = grade.influence
        assert influence is not None
        if self.problem.groups is not None:
            by_group = np.bincount(self.problem.groups[split.test], weights=influence)
            n_groups = len(np.unique(self.problem.groups[split.test]))
            return float(np.sum(by_group**2)) * n_groups / max(n_groups - 1, 1)
        return float(np.sum(influence**2))

    def _n_units(self) -> int:
        groups = self.problem.groups
        return self.problem.n_samples if groups is None else len(np.unique(groups))

    def estimand(self, splits: Sequence[Split]) -> str:
        """Say what the mean over the splits estimates."""
        n_train = round(float(np.mean([len(split.train) for split in splits])))
        alike = " and with the same class frequencies" if self.problem.task == "classification" else ""
        return (
            f"{self.name} on new rows from the same source{alike}, for a model built by the whole procedure on these"
            f" {self.problem.n_samples} rows, estimated from {len(splits)} models on about {n_train} rows"
        )

    def bounded(self, interval: ConfidenceInterval) -> ConfidenceInterval:
        """Cut off what a score cannot be."""
        if self.name in ("r2", "R²"):
            return interval.within(-math.inf, 1.0)
        return interval.within(0.0, 1.0) if is_share(self.name) else interval

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


def refuse_scoring(name: str, task: str) -> None:
    """Refuse a score that is not known, or that is for the other task."""
    if name not in get_scorer_names():
        near = difflib.get_close_matches(name, get_scorer_names(), n=1, cutoff=0.5)
        told = f"did you mean {near[0]!r}?" if near else "take one of sklearn.metrics.get_scorer_names()."
        raise InputError(f"Unknown score {name!r}; {told}")
    meant = "regression" if QUANTITY_SCORES.match(name) else "classification"
    if meant != task:
        raise InputError(f"{name} is for {meant}, but the task is {task}; choose another score.")


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
    shares, own = np.bincount(of, right) / counts, counts[of]
    score, n = float(shares.mean()), len(counts)
    off = np.where(own > 1, (right - shares[of]) / n, (right - score) / max(n - 1, 1))
    return Grade(score, off / np.sqrt(own * np.maximum(own - 1, 1)))


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
    own = np.zeros(len(ranks))
    own[rows] = rankdata(ranks[rows])
    return own


def _refuse(name: str, rows: Problem) -> float:
    raise InputError(
        f"{name} is not defined on one of the folds ({rows.n_samples} rows, {len(np.unique(rows.y))} distinct target "
        "value(s)); use fewer folds."
    )
