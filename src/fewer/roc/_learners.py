"""Learning algorithms as Parcel uses them: train on some rows, then score validation rows under many subsets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fewer.kernels import _naive_bayes as bayes
from fewer.kernels import _roc as kernels
from fewer.models import DiscreteNaiveBayes
from fewer.models._discrete_naive_bayes import FIXED, LogTables, ScoreColumns
from fewer.parallel import in_threads
from fewer.problem import BoolArray, FloatArray, IntArray, Problem

CHUNK = 1 << 21
"""Scores held at once."""


@dataclass(frozen=True, eq=False)
class Points:
    """Points of ROC space in counts: who stands there, and with which threshold (at least this is positive)."""

    owner: IntArray
    fp: IntArray
    tp: IntArray
    threshold: FloatArray

    @classmethod
    def joined(cls, parts: list[Points]) -> Points:
        """Put several sets of points together."""
        return cls(
            np.concatenate([np.empty(0, np.int64), *(part.owner for part in parts)]),
            np.concatenate([np.empty(0, np.int64), *(part.fp for part in parts)]),
            np.concatenate([np.empty(0, np.int64), *(part.tp for part in parts)]),
            np.concatenate([np.empty(0), *(part.threshold for part in parts)]),
        )


@dataclass(frozen=True, eq=False)
class Frontier:
    """A hull in counts, as the kernels take it: growing false positives, the highest true positives at each."""

    fp: FloatArray
    tp: FloatArray


class Rule(ABC):
    """What was learnt for one subset: a score for each row, higher for positives."""

    @abstractmethod
    def scores(self, X: FloatArray) -> FloatArray:
        """Score rows of all columns."""


class Learner(ABC):
    """One learning algorithm on given training and validation rows."""

    name: str

    @abstractmethod
    def outside(self, parent: BoolArray, masks: BoolArray, prices: FloatArray, frontier: Frontier) -> Points:
        """Return the validation ROC points of subsets that are not below a hull; owners are rows of `masks`."""

    @abstractmethod
    def rule(self, mask: BoolArray) -> Rule:
        """Return what was learnt for one subset."""

    @abstractmethod
    def validation_scores(self, mask: BoolArray) -> FloatArray:
        """Score the validation rows under one subset, as its rule would."""


class NaiveBayesLearner(Learner):
    """Naive Bayes: learnt once for all columns, a child costs one addition a row and a sort."""

    def __init__(
        self, name: str, model: DiscreteNaiveBayes, train: Problem, validation: Problem, n_jobs: int = 1
    ) -> None:
        self.name = name
        self._tables = LogTables.learn(train, model.alpha, model.discretizer)
        self._columns = ScoreColumns.of([(self._tables, validation.X)])
        self._positive = np.ascontiguousarray(validation.y, dtype=np.int64)
        self._n_jobs = n_jobs
        self._levels = np.array([len(table) for table in self._tables.tables])
        reach = 2 * sum(int(np.abs(table[:, 1] - table[:, 0]).max()) for table in self._tables.tables)
        self._fits = reach < 1 << 38 and len(self._positive) < 1 << kernels.ROW_BITS

    def outside(self, parent: BoolArray, masks: BoolArray, prices: FloatArray, frontier: Frontier) -> Points:
        """Add to the parent's sums, sort, and keep what sticks out."""
        base = self._sums(parent)
        n = len(self._positive)
        if self._fits and len(masks) and (masks != parent).sum(axis=1).max() == 1:
            return self._one_more(base, parent, masks, prices, frontier)

        def run(block: IntArray) -> Points:
            scores = np.empty((len(block), n), dtype=np.int64)
            bayes.fill_children(parent, base, masks[block], *self._columns.arrays(), scores)
            found = kernels.outside_points(scores, self._positive, prices[block], frontier.fp, frontier.tp)
            return Points(block[found[0]], found[1], found[2], found[3] / FIXED)

        n_blocks = max(-(-len(masks) * n // CHUNK), min(2 * self._n_jobs, len(masks)) if self._n_jobs > 1 else 1)
        blocks = [block for block in np.array_split(np.arange(len(masks)), n_blocks) if len(block)]
        return Points.joined(in_threads(run, blocks, self._n_jobs)) if blocks else Points.joined([])

    def validation_scores(self, mask: BoolArray) -> FloatArray:
        """Sum what is at hand."""
        return np.asarray(self._sums(mask)[:, 0] / FIXED)

    def _sums(self, mask: BoolArray) -> IntArray:
        base = self._columns.prior.copy()
        for feature in np.flatnonzero(mask):
            bayes.add_feature(base, feature, 1, *self._columns.arrays())
        return base

    def _one_more(
        self, base: IntArray, parent: BoolArray, masks: BoolArray, prices: FloatArray, frontier: Frontier
    ) -> Points:
        """Sort cells of rows that the parent and the new feature do not tell apart, instead of rows."""
        n = len(self._positive)
        order, ends, values, keys, spare = (np.empty(n, dtype=np.int64) for _ in range(5))
        counts = np.empty(kernels.N_BUCKETS, dtype=np.int64)
        n_groups = kernels.group_equal(base[:, 0], order, ends, values, keys, spare, counts)
        ends, values = ends[:n_groups], values[:n_groups]
        features = (masks != parent).argmax(axis=1)
        signs = np.where(masks[np.arange(len(masks)), features], 1, -1)
        codes, tables, start, _ = self._columns.arrays()

        def run(block: IntArray) -> Points:
            found = kernels.outside_one_more(
                order, ends, values, features[block], signs[block], self._levels, codes, tables, start,
                self._positive, prices[block], frontier.fp, frontier.tp,
            )  # fmt: skip
            return Points(block[found[0]], found[1], found[2], found[3] / FIXED)

        n_blocks = min(2 * self._n_jobs, len(masks)) if self._n_jobs > 1 else 1
        return Points.joined(in_threads(run, np.array_split(np.arange(len(masks)), n_blocks), self._n_jobs))

    def rule(self, mask: BoolArray) -> Rule:
        """Keep the tables of the subset."""
        features = np.flatnonzero(mask).tolist()
        return NaiveBayesRule(self._tables.restricted(features), features)


@dataclass(frozen=True, eq=False)
class NaiveBayesRule(Rule):
    """Log-ratio of the two classes."""

    tables: LogTables
    features: list[int]

    def scores(self, X: FloatArray) -> FloatArray:
        """Sum the log-ratios; multiples of 2⁻²⁴, exact in double precision."""
        joint = self.tables.joint(X, self.features)
        return np.asarray((joint[:, 1] - joint[:, 0]) / FIXED)


class EstimatorLearner(Learner):
    """Any scikit-learn classifier, fitted anew for each subset."""

    def __init__(self, name: str, estimator: Any, train: Problem, validation: Problem, n_jobs: int = 1) -> None:
        self.name = name
        self._estimator = estimator
        self._train, self._validation = train, validation
        self._positive = np.ascontiguousarray(validation.y, dtype=np.int64)
        self._n_jobs = n_jobs

    def outside(self, parent: BoolArray, masks: BoolArray, prices: FloatArray, frontier: Frontier) -> Points:
        """Fit, score, rank, and keep what sticks out."""
        found = Parallel(n_jobs=self._n_jobs)(delayed(self.validation_scores)(mask) for mask in masks)
        parts = []
        for number, scores in enumerate(found):
            values, ranks = np.unique(scores, return_inverse=True)
            _, fp, tp, threshold = kernels.outside_points(
                ranks[None, :].astype(np.int64), self._positive, prices[number : number + 1], frontier.fp, frontier.tp
            )
            parts.append(Points(np.full(len(fp), number), fp, tp, values[threshold]))
        return Points.joined(parts)

    def rule(self, mask: BoolArray) -> Rule:
        """Fit to the training rows."""
        features = np.flatnonzero(mask)
        model = prepared(self._estimator, self._train, features)
        return EstimatorRule(model.fit(self._train.X[:, features], self._train.y), features)

    def validation_scores(self, mask: BoolArray) -> FloatArray:
        """Fit and score."""
        return self.rule(mask).scores(self._validation.X)


@dataclass(frozen=True, eq=False)
class EstimatorRule(Rule):
    """A fitted scikit-learn classifier of classes 0 and 1."""

    model: Any
    features: IntArray

    def scores(self, X: FloatArray) -> FloatArray:
        """Return its decision function, or else its probability of class 1, or else its class."""
        cells = X[:, self.features]
        if hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(cells), dtype=np.float64)
        if hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict_proba(cells)[:, 1], dtype=np.float64)
        return np.asarray(self.model.predict(cells), dtype=np.float64)


@dataclass(frozen=True)
class ConstantRule(Rule):
    """No feature: every row scores 0."""

    def scores(self, X: FloatArray) -> FloatArray:
        """Return 0 for every row."""
        return np.zeros(len(X))


def prepared(estimator: Any, train: Problem, features: IntArray) -> Any:
    """Return a pipeline that fills missing cells, turns levels into one-hot columns, and ends in the estimator."""
    nominal = train.nominal[features]
    if not nominal.any() and not train.missing[:, features].any():
        fill: Any = SimpleImputer(strategy="median")
        return make_pipeline(fill, clone(estimator))
    steps: list[tuple[str, Any, Any]] = []
    if (~nominal).any():
        steps.append(("fill", SimpleImputer(strategy="median", keep_empty_features=True), ~nominal))
    if nominal.any():
        encode = make_pipeline(
            SimpleImputer(strategy="most_frequent", keep_empty_features=True),
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        )
        steps.append(("encode", encode, nominal))
    return make_pipeline(ColumnTransformer(steps), clone(estimator))


def learner_of(name: str, estimator: Any, train: Problem, validation: Problem, n_jobs: int) -> Learner:
    """Choose the fast way for naive Bayes, the general way for anything else."""
    kind = NaiveBayesLearner if isinstance(estimator, DiscreteNaiveBayes) else EstimatorLearner
    return kind(name, estimator, train, validation, n_jobs)
