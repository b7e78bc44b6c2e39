"""Naive Bayes judged on held-out rows (Scott, chapters 4 and 6; specification sections 3 and 7).

Naive Bayes on a table that is read in chunks: one count of bins for each fold, a pass for each step of a search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils._param_validation import HasMethods

from fewer.contracts import ROWS, Criterion, IncompatibleError, Masks, PredictiveScorer, Resources, Walk
from fewer.contracts.declaring import NonNegative, parameters
from fewer.kernels import naive_bayes as kernels
from fewer.kernels.bundles import Units
from fewer.models._discrete_naive_bayes import FIXED, LogTables, _prior, _table, columns_of, sparse_columns_of
from fewer.models.mdlp import MDLPDiscretizer, mdlp_cuts
from fewer.parallel import in_threads
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem, Task
from fewer.statistics import Bins, DealtFolds, FoldCounts, MissingCells, Ranges, RowSample, Statistics, collect
from fewer.validate import assign_folds
from fewer.validate.splits import CV, splits_of

if TYPE_CHECKING:
    from fewer.io import Stream


@parameters
class NaiveBayes(Criterion):
    """Cross-validated accuracy or area under the ROC curve of naive Bayes.

    Numeric columns are cut into bins by the rows that train each fold, see `fewer.models.DiscreteNaiveBayes`.

    Read more in the guide: :doc:`/methods/models`.

    Parameters
    ----------
    scoring : {"accuracy", "auroc"}, default="accuracy"
        The share of rows whose class wins; or, for two classes, the share of pairs of a positive and a negative row
        of the same fold that the log-ratio ranks rightly, ties by half.
    cv : int, "loo" or scikit-learn splitter, default=10
        Stratified folds, fixed once for a run. With a splitter whose test sets leave rows out, such as
        `PredefinedSplit` for one training and one validation set, the rows left out are not judged.
    alpha : float, default=1.0
        Added to the count of every level in every class.
    discretizer : transformer, default=MDLPDiscretizer()
        Cuts numeric columns into bins 0, 1, …

    Notes
    -----
    The log-ratio of a subset is the sum of one table entry for each of its features, in fixed point; so a child costs
    one addition a row, and the score does not depend on the way to a subset. Missing cells take no part.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> components = NaiveBayes("auroc"), fewer.search.Forward()
    >>> selector = fewer.SubsetSelector(*components, n_features_to_select=2, random_state=0).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['worst radius', 'worst concave points']
    """

    command_name = "naive-bayes"
    takes: ClassVar[frozenset[str]] = ROWS - {"time"}
    depends_on: ClassVar[frozenset[str]] = frozenset({"row order"})
    predictive: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    scoring: Literal["accuracy", "auroc"] = "accuracy"
    cv: CV = 10
    alpha: NonNegative = 1.0
    discretizer: Annotated[Any, HasMethods("fit"), HasMethods("fit_transform"), None] = None

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> NaiveBayesScorer:
        if self.scoring == "auroc" and problem.n_classes != 2:
            raise IncompatibleError(
                f"The area under a ROC curve is for two classes, but there are {problem.n_classes}; "
                "use scoring='accuracy', or set one class against the rest."
            )
        return NaiveBayesScorer(self, problem, _splits(problem, self.cv, rng), resources)


class NaiveBayesScorer(PredictiveScorer):
    """`NaiveBayes` bound to rows."""

    def __init__(
        self, criterion: NaiveBayes, problem: Problem, splits: list[tuple[IntArray, IntArray]], resources: Resources
    ) -> None:
        self.problem = problem
        self._criterion = criterion
        self._n_jobs = resources.n_jobs
        self._tested = np.concatenate([test for _, test in splits])
        if problem.sparse is not None:
            self._columns = sparse_columns_of(problem, splits, criterion.alpha, criterion.discretizer)
        else:
            learnt = LogTables.learn_folds(problem, splits, criterion.alpha, criterion.discretizer)
            codes = [tables.rows(problem.X[test]) for tables, (_, test) in zip(learnt, splits, strict=True)]
            self._columns = columns_of(learnt, codes)
        weights = problem.row_weights
        y, w = problem.y[self._tested], weights[self._tested]
        by_rank = criterion.scoring == "auroc"
        self._judge = kernels.Judge(np.ascontiguousarray(y), w, by_rank, problem.sample_weight is not None)
        self._whole = _pair_weight(y, w, self._columns.bounds) if by_rank else float(w.sum())
        if self._whole == 0:
            raise IncompatibleError("No fold holds rows of both classes, so no pair can be ranked; use fewer folds.")

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks."""
        masks = np.ascontiguousarray(masks, dtype=bool)

        def run(block: IntArray) -> FloatArray:
            out = np.empty(len(block))
            kernels.score_masks(masks[block], self._columns, self._judge, out)
            return out

        return self._in_blocks(run, len(masks))

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit: one addition a row each."""
        return self.flips_from(self._base(mask), mask, units, values)

    def flips_from(self, base: IntArray, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Do the same with the sums of the mask at hand."""
        mask, values = np.asarray(mask, dtype=bool), np.asarray(values, dtype=bool)

        def run(block: IntArray) -> FloatArray:
            out = np.empty(len(block))
            packed = Units.of([units[u] for u in block])
            kernels.score_flips(mask, base, packed, values[block], self._columns, self._judge, out)
            return out

        return self._in_blocks(run, len(units))

    def walk(self, mask: Masks, units: Sequence[IntArray]) -> Walk:
        """Stand on one mask with its sums at hand."""
        return NaiveBayesWalk(self, mask, units)

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row without its own fold; rows that no fold tests stay undefined."""
        ratios = self._base(mask) / FIXED
        out = np.full((self.problem.n_samples, self.problem.n_classes), np.nan)
        out[self._tested] = softmax(np.column_stack([np.zeros(len(ratios)), ratios]), axis=1)
        return out

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from all bound rows."""
        features = np.flatnonzero(mask)
        if self.problem.sparse is not None:
            joint = self._learn(cast(Any, self.problem).narrowed(features)).joint(X[:, features])
        else:
            joint = self._learn(self.problem).joint(X, features.tolist())
        return np.asarray(softmax((joint - joint.max(axis=1, keepdims=True)) / FIXED, axis=1))

    def grade(self, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs for rows: accuracy, or the area under their ROC curve."""
        if self._criterion.scoring == "accuracy":
            return super().grade(outputs, rows)
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(rows.y, outputs[:, 1], sample_weight=rows.sample_weight))

    def _learn(self, rows: Problem) -> LogTables:
        return LogTables.learn(rows, self._criterion.alpha, self._criterion.discretizer)

    def _base(self, mask: Masks) -> IntArray:
        base = self._columns.prior.copy()
        for feature in np.flatnonzero(mask):
            kernels.add_feature(base, feature, 1, self._columns)
        return base

    def _in_blocks(self, run: Any, n: int) -> FloatArray:
        n_blocks = 1 if self._n_jobs == 1 else min(4 * self._n_jobs, n)
        blocks = [block for block in np.array_split(np.arange(n), max(n_blocks, 1)) if len(block)]
        return np.concatenate([*in_threads(run, blocks, self._n_jobs), np.empty(0)]) / self._whole


class NaiveBayesWalk(Walk):
    """Sums under one mask; they are exact, so that the way does not show."""

    def __init__(self, scorer: NaiveBayesScorer, mask: Masks, units: Sequence[IntArray]) -> None:
        self._scorer, self._units = scorer, units
        self._mask = np.asarray(mask, dtype=bool).copy()
        self._base = scorer._base(self._mask)
        self._change = (0, False)

    def propose(self, unit: int, value: float) -> float:
        """Score the mask with one unit set to a value."""
        self._change = (unit, bool(value))
        return float(self._scorer.flips_from(self._base, self._mask, [self._units[unit]], np.array([value != 0]))[0])

    def accept(self) -> None:
        """Make the proposed change."""
        unit, value = self._change
        for feature in self._units[unit]:
            if self._mask[feature] != value:
                kernels.add_feature(self._base, feature, 1 if value else -1, self._scorer._columns)
                self._mask[feature] = value

    def reject(self) -> None:
        """Forget the proposed change."""


def _splits(problem: Problem, cv: Any, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    """Return training and test rows, no row tested twice."""
    if cv is None or isinstance(cv, int | np.integer | str):
        folds = assign_folds(problem, cv, rng)
        return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]
    splits = splits_of(cv, problem)
    if not splits:
        raise InputError(f"cv={cv!r} gives no split; at least one is needed.")
    tested = np.concatenate([test for _, test in splits])
    if len(np.unique(tested)) < len(tested):
        raise InputError(f"{cv} tests some row twice; give a splitter whose test sets share no row.")
    return splits


def _pair_weight(y: IntArray, weights: FloatArray, bounds: IntArray) -> float:
    """Sum the weights of all pairs of a positive and a negative row of one fold."""
    parts = [slice(low, high) for low, high in pairwise(bounds)]
    return float(sum(weights[part][y[part] == 1].sum() * weights[part][y[part] == 0].sum() for part in parts))


SAMPLE_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class CountedTable:
    """What two passes over a table leave: where columns are cut, and how often bins and classes meet in each fold.

    A fold is a pair of an outer one (who judges) and an inner one (who scores). `n_cut` rows decided on the cuts.
    """

    stream: Stream
    bins: Bins
    counts: FoldCounts
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
        n_rows = int(min(SAMPLE_ROWS, max(resources.memory // (32 * max(stream.n_features, 1)), 1000)))
        sample = RowSample.of_classes(stream.class_counts, n_rows, folds.seed)
        p = like.n_features
        drawn, ranges, missing = collect(stream, lambda: (sample.empty(), Ranges(p), MissingCells(p)), resources)
        bins = Bins.of(like, [_edges(drawn.rows, column) for column in range(p)])
        counts = collect(stream, partial(FoldCounts, bins, folds), resources)
        varies, seen = ranges.low < ranges.high, (int(missing.counts.sum()), drawn.rows.n_samples)
        return cls(stream, bins, counts, varies, *seen, float(criterion.alpha), resources)

    def learn(self, cells: BoolArray) -> tuple[IntArray, IntArray]:
        """Return the tables, below each other, and the prior that the rows of some folds teach."""
        pieces = []
        for feature, n_codes in enumerate(self.bins.n_codes.tolist()):
            levels = self.counts.table(feature)[:-1, cells].sum(axis=1)
            there = levels.sum(axis=1) > 0
            full = np.zeros((n_codes, levels.shape[1]), dtype=np.int64)
            full[:-1][there] = _table(levels, there, self.alpha)[1][:-1]
            pieces.append(full[:, 1:] - full[:, :1])
        prior = _prior(self.counts.mass[cells].sum(axis=0))
        return np.concatenate(pieces), prior[1:] - prior[:1]

    def rules(self, trains: Sequence[BoolArray], judges: IntArray) -> BayesRules:
        """Learn from some folds each; `judges` says which of these judges the rows of each fold, −1 for none."""
        learnt = [self.learn(train) for train in trains]
        codes = self.bins.n_codes
        start = np.arange(len(trains))[:, None] * codes.sum() + (np.cumsum(codes) - codes)
        tables, prior = np.concatenate([tables for tables, _ in learnt]), np.stack([prior for _, prior in learnt])
        return BayesRules(self.bins, tables, start.astype(np.int64), prior, judges, self.counts.folds)


@dataclass(frozen=True, eq=False)
class BayesRules:
    """Tables that judge rows which they were not learnt from."""

    bins: Bins
    tables: IntArray
    start: IntArray
    prior: IntArray
    judges: IntArray
    folds: DealtFolds

    def lay_out(self, chunk: Problem, part: int, start: int) -> tuple[kernels.Columns, kernels.Judge]:
        """Bring rows into the order of those who judge them."""
        judge = self.judges[self.folds.cells(chunk, part, start)]
        order = np.argsort(judge, kind="stable")[np.count_nonzero(judge < 0) :]
        bounds = np.append(0, np.cumsum(np.bincount(judge[order], minlength=len(self.prior)))).astype(np.int64)
        codes = self.bins.codes(chunk, np.arange(chunk.n_features))[:, order].astype(np.int32)
        prior = np.repeat(self.prior, np.diff(bounds), axis=0)
        told = kernels.Judge(chunk.y[order], chunk.row_weights[order], False, True)
        return kernels.Columns(codes, self.tables, self.start, bounds, prior), told

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


class StreamedNaiveBayesScorer(PredictiveScorer):
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
        cells = np.arange(counted.counts.n_folds)
        n_inner = counted.counts.folds.n_inner
        outer, inner = np.divmod(cells, n_inner)
        used = np.ones(len(cells), dtype=bool) if without is None else outer != without
        trains = [used & (inner != fold) for fold in range(n_inner)]
        self._rules = counted.rules(trains, np.where(used, inner, -1))
        self._whole = float(counted.counts.mass[used].sum())

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

    def outputs(self, mask: Masks) -> FloatArray:
        raise IncompatibleError("The rows of a table in chunks are not in memory.")

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        raise IncompatibleError("The rows of a table in chunks are not in memory.")


def _edges(rows: Problem, column: int) -> FloatArray:
    """Return where a column is cut; a cell's bin is the number of edges that it reaches."""
    if rows.kinds[column] == "boolean":
        return np.array([0.5])
    if rows.nominal[column]:
        return np.empty(0)
    present = ~np.isnan(rows.X[:, column])
    return np.nextafter(mdlp_cuts(rows.X[present, column], rows.y[present]), np.inf)
