"""Naive Bayes on a table that is read in chunks: one count of bins for each fold, a pass for each step of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import IncompatibleError, Masks, Resources, Scorer
from fewer.criteria.streamed_logistic import Splits
from fewer.kernels import naive_bayes as kernels
from fewer.kernels.bundles import Units
from fewer.models.discrete_naive_bayes import log_prior, log_table
from fewer.models.mdlp import MDLPDiscretizer, mdlp_cuts
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.statistics import Bins, DealtFolds, JointCounts, MissingCells, Ranges, RowSample, Statistics, collect

if TYPE_CHECKING:
    from fewer.criteria._naive_bayes import NaiveBayes
    from fewer.io import Stream

BINNING_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class CountedTable:
    """What two passes over a table leave: where columns are cut, and how often bins and classes meet in each fold.

    A fold is a pair of an outer one (who judges) and an inner one (who scores). `n_cut` rows decided on the cuts.
    """

    stream: Stream
    bins: Bins
    folds: DealtFolds
    counts: JointCounts
    varies: BoolArray
    n_missing: int
    n_cut: int
    alpha: float
    resources: Resources

    @classmethod
    def of(cls, stream: Stream, criterion: NaiveBayes, folds: DealtFolds, resources: Resources) -> CountedTable:
        """Cut columns by MDLP on a sample of the rows, and count."""
        if criterion.scoring != "accuracy":
            raise IncompatibleError("scoring='auroc' ranks all rows of a fold; in chunks use scoring='accuracy'.")
        if not isinstance(criterion.discretizer, MDLPDiscretizer | None):
            raise IncompatibleError("A discretizer of your own needs all rows in memory; in chunks, omit it.")
        like = stream.like
        n_rows = int(min(BINNING_ROWS, max(resources.memory // (32 * max(stream.n_features, 1)), 1000)))
        sample = RowSample.of_classes(stream.class_counts, n_rows, folds.seed)
        p = like.n_features
        drawn, ranges, missing = collect(stream, lambda: (sample.empty(), Ranges(p), MissingCells(p)), resources)
        bins = Bins.of(like, [_edges(drawn.rows, column) for column in range(p)])
        counts = collect(stream, partial(JointCounts, bins, folds), resources)
        varies, seen = ranges.low < ranges.high, (int(missing.counts.sum()), drawn.rows.n_samples)
        return cls(stream, bins, folds, counts, varies, *seen, float(criterion.alpha), resources)

    @property
    def mass(self) -> FloatArray:
        """The weight of the rows of each fold and class."""
        return self.counts.tables_given(0).sum(axis=0)

    def learn(self, cells: BoolArray) -> tuple[IntArray, IntArray]:
        """Return the tables, below each other, and the prior that the rows of some folds teach."""
        pieces = []
        for feature, n_codes in enumerate(self.bins.n_codes.tolist()):
            levels = self.counts.tables_given(feature)[:-1, cells].sum(axis=1)
            there = levels.sum(axis=1) > 0
            full = np.zeros((n_codes, levels.shape[1]), dtype=np.int64)
            full[:-1][there] = log_table(levels, there, self.alpha)[1][:-1]
            pieces.append(full[:, 1:] - full[:, :1])
        prior = log_prior(self.mass[cells].sum(axis=0))
        return np.concatenate(pieces), prior[1:] - prior[:1]

    def rules(self, trains: Sequence[BoolArray], judges: IntArray) -> BayesRules:
        """Learn from some folds each; `judges` says which of these predicts the rows of each fold, −1 for none."""
        learnt = [self.learn(train) for train in trains]
        codes = self.bins.n_codes
        start = np.arange(len(trains))[:, None] * codes.sum() + (np.cumsum(codes) - codes)
        tables, prior = np.concatenate([tables for tables, _ in learnt]), np.stack([prior for _, prior in learnt])
        return BayesRules(self.bins, tables, start.astype(np.int64), prior, judges, self.folds)


@dataclass(frozen=True, eq=False)
class BayesRules:
    """Tables that predict rows which they were not learnt from."""

    bins: Bins
    tables: IntArray
    start: IntArray
    prior: IntArray
    judges: IntArray
    folds: DealtFolds

    def lay_out(self, chunk: Problem, part: int, start: int) -> tuple[kernels.Columns, kernels.Judge]:
        """Sort rows by the table that predicts them."""
        judge = self.judges[self.folds.cells(chunk, part, start)]
        order = np.argsort(judge, kind="stable")[np.count_nonzero(judge < 0) :]
        bounds = np.append(0, np.cumsum(np.bincount(judge[order], minlength=len(self.prior)))).astype(np.int64)
        codes = self.bins.codes(chunk, np.arange(chunk.n_features))[:, order].astype(np.int32)
        prior = np.repeat(self.prior, np.diff(bounds), axis=0)
        truth = kernels.Judge(chunk.y[order], chunk.row_weights[order], False, True)
        return kernels.Columns(codes, self.tables, self.start, bounds, prior), truth

    def right(self, rows: Problem, mask: BoolArray) -> FloatArray:
        """Say which rows the first rule gets right with some features: 1 or 0."""
        codes = self.bins.codes(rows, np.arange(rows.n_features)).astype(np.int32)
        sums = np.repeat(self.prior, rows.n_samples, axis=0)
        columns = kernels.Columns(codes, self.tables, self.start, np.array([0, rows.n_samples]), sums)
        for feature in np.flatnonzero(mask):
            kernels.add_feature(sums, feature, 1, columns)
        winner = np.argmax(np.column_stack([np.zeros(len(sums), dtype=np.int64), sums]), axis=1)
        return (winner == rows.y).astype(np.float64)


class RightSums(Statistics):
    """The weight of the rows that many subsets get right.

    Parameters
    ----------
    rules : Rules
        What is counted as right.
    mask : bool array of shape (n_features,)
        A subset.
    units : list of int arrays
        What changes in it, one after the other.
    values : bool array
        To what; without units, subsets of their own, one a row.
    """

    summed = ("right",)

    def __init__(self, rules: BayesRules, mask: BoolArray, units: Sequence[IntArray], values: BoolArray) -> None:
        self._rules, self._mask, self._units, self._values = rules, mask, list(units), values
        self.right = np.zeros(len(values))

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        """Add rows."""
        columns, judge = self._rules.lay_out(chunk, part, start)
        out = np.empty(len(self.right))
        if self._values.ndim == 2:
            kernels.score_masks(self._values, columns, judge, out)
        else:
            for feature in np.flatnonzero(self._mask):
                kernels.add_feature(columns.prior, feature, 1, columns)
            kernels.score_flips(self._mask, columns.prior, Units.of(self._units), self._values, columns, judge, out)
        self.right += out


class StreamedNaiveBayesScorer(Scorer):
    """`NaiveBayes` by accuracy, given the cuts: every call is a pass over the table.

    Parameters
    ----------
    counted : CountedTable
        How often each value meets each class, fold by fold.
    without : int, optional
        The outer fold whose rows take no part.
    """

    def __init__(self, counted: CountedTable, without: int | None = None) -> None:
        self._counted = counted
        trains, judges = Splits.of(counted.folds, without)
        self._rules = counted.rules(list(trains), judges)
        self._whole = float(counted.mass[judges >= 0].sum())

    def score(self, masks: Masks) -> FloatArray:
        masks = np.ascontiguousarray(masks, dtype=bool)
        return self._passed(masks[0], [], masks) if len(masks) else np.empty(0)

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        if not len(units):
            return np.empty(0)
        return self._passed(np.asarray(mask, dtype=bool), units, np.asarray(values, dtype=bool))

    def _passed(self, mask: BoolArray, units: Sequence[IntArray], values: BoolArray) -> FloatArray:
        make = partial(RightSums, self._rules, mask, units, values)
        return np.asarray(collect(self._counted.stream, make, self._counted.resources).right / self._whole)


def _edges(rows: Problem, column: int) -> FloatArray:
    """Return where a column is cut; a cell's bin is the number of edges that it reaches."""
    if rows.kinds[column] == "boolean":
        return np.array([0.5])
    if rows.nominal[column]:
        return np.empty(0)
    present = ~np.isnan(rows.X[:, column])
    return np.nextafter(mdlp_cuts(rows.X[present, column], rows.y[present]), np.inf)
