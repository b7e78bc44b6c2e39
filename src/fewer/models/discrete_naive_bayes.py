"""Naive Bayes on bins and levels (Scott, section 2; specification section 3).

Log-likelihoods are kept in fixed point, multiples of 2⁻²⁴, so that a sum over features is exact in any order: a child's
score is its parent's plus one entry a row, and equal rows tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import metadata_routing
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from fewer.contracts.declaring import NonNegative, parameters
from fewer.estimators import ClassScoresMixin, TableClassifier
from fewer.kernels.naive_bayes import Columns, count_codes
from fewer.models.mdlp import MDLPDiscretizer
from fewer.problem import FloatArray, IntArray, Problem, mask_of

FIXED = 1 << 24  # One unit of log-likelihood.
SPARSE_BLOCK = 1 << 20  # Cells of a sparse table that are made dense at a time.


@dataclass(frozen=True, eq=False)
class LogTables:
    """What naive Bayes learns: for each feature, how much each level speaks for each class.

    Attributes
    ----------
    discretizer : fitted transformer or None
        Gives the numeric columns their bins.
    numeric : bool array of shape (n_features,)
        Columns that need bins; the others hold codes already.
    seen : list of int arrays
        For each feature, the row of its table for code 0, 1, …; codes that no training row has point to the last row.
    tables : list of (levels + 1, n_classes) int64 arrays
        Log-likelihoods in fixed point. The last row, for missing and unseen cells, is 0: such a cell says nothing.
    prior : (n_classes,) int64 array
    """

    discretizer: Any
    numeric: NDArray[np.bool_]
    seen: list[IntArray]
    tables: list[IntArray]
    prior: IntArray

    @classmethod
    def learn(cls, problem: Problem, alpha: float = 1.0, discretizer: Any = None) -> LogTables:
        """Learn from these rows alone."""
        numeric = np.array([kind == "numeric" for kind in problem.kinds], dtype=bool)
        bins = None
        if numeric.any():
            bins = clone(MDLPDiscretizer() if discretizer is None else discretizer)
            weighted = problem.sample_weight is not None and has_fit_parameter(bins, "sample_weight")
            bins.fit(problem.X[:, numeric], problem.y, **({"sample_weight": problem.sample_weight} if weighted else {}))
        weights = problem.row_weights
        mass = np.bincount(problem.y, weights, problem.n_classes).astype(np.float64)
        columns = _codes(problem.X, numeric, bins)
        pairs = [log_table(*_count(column, problem.y, weights, problem.n_classes), alpha) for column in columns]
        return cls(bins, numeric, [seen for seen, _ in pairs], [table for _, table in pairs], log_prior(mass))

    @classmethod
    def learn_folds(
        cls, problem: Problem, splits: Sequence[tuple[IntArray, IntArray]], alpha: float = 1.0, discretizer: Any = None
    ) -> list[LogTables]:
        """Learn from the training rows of each split.

        Where no bins are needed, a training set holds what all rows hold less what its test rows do: one count will do.
        """
        numeric = np.array([kind == "numeric" for kind in problem.kinds], dtype=bool)
        plain = not numeric.any() and problem.sample_weight is None
        if not plain or not all(_is_rest(*split, problem.n_samples) for split in splits):
            return [cls.learn(problem.take(train), alpha, discretizer) for train, _ in splits]
        columns = _codes(problem.X, numeric, None)
        ones, n_classes = np.ones(problem.n_samples), problem.n_classes
        whole = [_count(column, problem.y, ones, n_classes)[0] for column in columns]
        out = []
        for train, test in splits:
            y = problem.y[test]
            pairs = []
            for column, counts in zip(columns, whole, strict=True):
                left = counts - _count(column[test], y, ones, n_classes, len(counts))[0]
                pairs.append(log_table(left, left.sum(axis=1) > 0, alpha))
            mass = np.bincount(problem.y[train], minlength=n_classes).astype(np.float64)
            out.append(cls(None, numeric, [seen for seen, _ in pairs], [table for _, table in pairs], log_prior(mass)))
        return out

    def rows(self, X: FloatArray, features: Sequence[int] | None = None) -> NDArray[np.int32]:
        """Return each cell the row of its feature's table: (n_features, n_rows), other features left out if asked."""
        chosen = range(len(self.tables)) if features is None else features
        out = np.empty((len(chosen), len(X)), dtype=np.int32)
        for place, (feature, column) in enumerate(zip(chosen, self._codes(X, chosen), strict=True)):
            # Missing (−1) and unseen codes point to the entry at the end, the row for all others.
            seen = np.append(self.seen[feature], self.n_levels(feature))
            out[place] = seen[np.minimum(column.view(np.uint64), len(seen) - 1).astype(np.int64)]
        return out

    def _codes(self, X: FloatArray, features: Sequence[int]) -> list[IntArray]:
        """Return the codes of some features; only bins that are asked for are looked up where that is possible."""
        if self.discretizer is None or isinstance(self.discretizer, MDLPDiscretizer):
            place = np.cumsum(self.numeric) - 1
            cuts = [] if self.discretizer is None else self.discretizer.cut_points_
            return [_binned(X[:, f], cuts[place[f]]) if self.numeric[f] else _whole(X[:, f]) for f in features]
        codes = _codes(X, self.numeric, self.discretizer)
        return [codes[f] for f in features]

    def n_levels(self, feature: int) -> int:
        """Count the levels that training rows have; the next row of the table stands for all others."""
        return len(self.tables[feature]) - 1

    def joint(self, X: FloatArray, features: Sequence[int] | None = None) -> IntArray:
        """Sum prior and likelihoods: (n_rows, n_classes) in fixed point."""
        chosen = range(len(self.tables)) if features is None else features
        total = np.repeat(self.prior[None, :], len(X), axis=0)
        for feature, rows in zip(chosen, self.rows(X, chosen), strict=True):
            total += self.tables[feature][rows]
        return total

    def restricted(self, features: Sequence[int]) -> LogTables:
        """Keep what is needed for some features only.

        Parameters
        ----------
        features : sequence of int
            Numbers of the columns that are kept.

        Returns
        -------
        LogTables
        """
        keep = set(features)
        seen = [rows if i in keep else rows[:0] for i, rows in enumerate(self.seen)]
        tables = [table if i in keep else table[-1:] for i, table in enumerate(self.tables)]
        return replace(self, seen=seen, tables=tables)


def columns_of(learnt: Sequence[LogTables], codes: Sequence[NDArray[np.int32]]) -> Columns:
    """Put parts of the rows one after the other, as `LogTables.rows` has them by the tables that judge each part."""
    start = np.empty((len(learnt), len(learnt[0].tables)), dtype=np.int64)
    counts = [part.shape[1] for part in codes]
    pieces, height = [], 0
    for part, tables in enumerate(learnt):
        for feature, table in enumerate(tables.tables):
            start[part, feature] = height
            pieces.append(table[:, 1:] - table[:, :1])
            height += len(table)
    prior = np.repeat([tables.prior[1:] - tables.prior[:1] for tables in learnt], counts, axis=0)
    bounds = np.cumsum([0, *counts], dtype=np.int64)
    return Columns(np.concatenate(codes, axis=1), np.concatenate(pieces), start, bounds, prior)


def sparse_columns_of(
    problem: Problem, splits: Sequence[tuple[IntArray, IntArray]], alpha: float = 1.0, discretizer: Any = None
) -> Columns:
    """Learn from the training rows of each split and lay out its test rows, for a table that stays sparse.

    Some columns at a time are made dense; of each, the cells are kept that do not say what a zero says.
    """
    width = max(SPARSE_BLOCK // max(problem.n_samples, 1), 1)
    blocks: list[Columns] = []
    zeros, rows, stored, counts = [], [], [], []
    for low in range(0, problem.n_features, width):
        part = cast(Any, problem).narrowed(np.arange(low, min(low + width, problem.n_features)))
        learnt = LogTables.learn_folds(part, splits, alpha, discretizer)
        codes = [tables.rows(part.X[test]) for tables, (_, test) in zip(learnt, splits, strict=True)]
        block = columns_of(learnt, codes)
        zero = np.stack([tables.rows(np.zeros((1, part.n_features)))[:, 0] for tables in learnt])
        other = block.codes != np.repeat(zero.T, np.diff(block.bounds), axis=1)
        zeros.append(zero)
        rows.append(np.nonzero(other)[1].astype(np.int32))
        stored.append(block.codes[other])
        counts.append(other.sum(axis=1))
        blocks.append(block._replace(codes=block.codes[:0]))
    heights = np.cumsum([0, *(len(block.tables) for block in blocks)])
    return Columns(
        codes=np.empty((0, int(blocks[0].bounds[-1])), dtype=np.int32),
        tables=np.concatenate([block.tables for block in blocks]),
        start=np.concatenate([block.start + h for block, h in zip(blocks, heights, strict=False)], axis=1),
        bounds=blocks[0].bounds,
        prior=blocks[0].prior,
        zero=np.concatenate(zeros, axis=1),
        ends=np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64),
        rows=np.concatenate(rows),
        stored=np.concatenate(stored),
    )


@parameters
class DiscreteNaiveBayes(ClassScoresMixin, TableClassifier):
    """Naive Bayes on levels: nominal columns as they are, numeric columns cut into bins.

    A row belongs to the class with the largest P(class) · Π P(level of feature | class). Missing cells, and levels
    that no training row has, take no part.

    Read more in the guide: :doc:`/methods/scott`.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to the count of every level in every class.
    discretizer : transformer, default=MDLPDiscretizer()
        Cuts numeric columns into bins 0, 1, …

    Attributes
    ----------
    classes_ : array
    tables_ : LogTables
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> DiscreteNaiveBayes().fit(X, y).score(X, y)
    0.9466666666666667
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = dict.fromkeys(("groups", "time"), metadata_routing.UNUSED)

    alpha: NonNegative = 1.0
    discretizer: Annotated[Any, HasMethods(["fit", "transform"]), None] = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DiscreteNaiveBayes:
        """Learn the frequencies of levels in each class.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Text, categories and truth values are levels, numbers are cut into bins; cells may be missing.
        y : array of shape (n_samples,)
            Their target.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts, in the frequencies and where numbers are cut.

        Returns
        -------
        DiscreteNaiveBayes
            Itself.
        """
        self._validate_params()
        problem = self._learn_table(X, y, sample_weight=sample_weight)
        if sample_weight is not None:  # a weight counts as that many copies of the row beside `alpha`, so not relative
            copies = np.asarray(sample_weight, dtype=np.float64)
            copies = copies[copies > 0] if copies.ndim else np.full(problem.n_samples, copies)
            problem = replace(problem, sample_weight=copies)
        self.classes_ = np.asarray(problem.classes)
        self.tables_ = LogTables.learn(problem, self.alpha, self.discretizer)
        return self

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of each class's posterior probability.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array
        """
        joint = self._class_scores(X) / FIXED
        top = joint.max(axis=1, keepdims=True)
        return np.asarray(joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return each class's posterior probability.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array
        """
        return np.exp(self.predict_log_proba(X))

    def _class_scores(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return self.tables_.joint(self.reader_.read(self, X))


def _codes(X: FloatArray, numeric: NDArray[np.bool_], bins: Any) -> list[IntArray]:
    """Return whole-number codes, −1 where missing."""
    out = [np.empty(0, dtype=np.int64) if binned else _whole(X[:, j]) for j, binned in enumerate(numeric)]
    if bins is not None:
        table = np.asarray(bins.transform(X[:, numeric]))
        for place, feature in enumerate(np.flatnonzero(numeric)):
            out[feature] = np.where(np.isnan(X[:, feature]), -1, table[:, place]).astype(np.int64)
    return out


def _whole(column: FloatArray) -> IntArray:
    # A sum shows at once whether there is a missing cell at all.
    return (np.where(np.isnan(column), -1.0, column) if np.isnan(column.sum()) else column).astype(np.int64)


def _binned(column: FloatArray, cuts: FloatArray) -> IntArray:
    return np.where(np.isnan(column), -1, np.searchsorted(cuts, column, side="left")).astype(np.int64)


def _is_rest(train: IntArray, test: IntArray, n_rows: int) -> bool:
    """Say whether the training rows are all but the test rows."""
    return len(train) + len(test) == n_rows and not mask_of(test, n_rows)[train].any()


def _count(
    codes: IntArray, y: IntArray, weights: FloatArray, n_classes: int, n_codes: int | None = None
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Sum the weights of each code in each class, and say which codes occur."""
    n_codes = int(codes.max(initial=-1)) + 1 if n_codes is None else n_codes
    counts, there = np.zeros((n_codes, n_classes)), np.zeros(n_codes, dtype=bool)
    count_codes(codes, y, weights, counts, there)
    return counts, there


def log_prior(mass: FloatArray) -> IntArray:
    """Return the logarithms of the shares of the classes, in fixed point."""
    with np.errstate(divide="ignore"):
        return _fixed(np.log(mass / mass.sum()))


def log_table(counts: FloatArray, there: NDArray[np.bool_], alpha: float) -> tuple[IntArray, IntArray]:
    """Return the row of each code, and the log-likelihoods of the levels that occur."""
    levels = np.flatnonzero(there)
    n_levels, n_classes = len(levels), counts.shape[1]
    mass = counts[levels] + alpha
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = np.log(mass / mass.sum(axis=0))
    table = np.zeros((n_levels + 1, n_classes), dtype=np.int64)
    table[:n_levels] = _fixed(likelihood)
    seen = np.full(int(levels[-1]) + 1 if n_levels else 0, n_levels, dtype=np.int64)
    seen[levels] = np.arange(n_levels)
    return seen, table


def _fixed(logs: FloatArray) -> IntArray:
    """Turn logarithms into fixed point; an impossible level counts as e⁻¹⁰⁰⁰."""
    return np.round(np.fmax(logs, -1000.0) * FIXED).astype(np.int64)
