"""Rankings by the bins of one feature: how much they say about the class (Chen, section 3.1), or get right."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal, cast

import numpy as np

from fewer.contracts import ROWS, Ranker, Ranking, Resources
from fewer.contracts.declaring import Count, Repeats, parameters
from fewer.io import Stream, refuse_constant
from fewer.models.mdlp import bin_numbers, mdlp_cuts
from fewer.problem import FloatArray, IntArray, Problem, Task
from fewer.rankers._bins import entropy, joint_counts, new_sample
from fewer.statistics import Bins, JointCounts, Ranges, collect, information

Binning = Literal["equal-width", "equal-frequency", "mdlp"]


@parameters
class InformationGain(Ranker):
    """Mutual information of each feature with the class, H(X) − H(X|Y), in bits.

    Numeric features are put into bins first; a nominal feature's levels are its bins. Missing cells are left out, row
    weights count (but not where bins are cut). A feature that does not vary scores 0.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    binning : {"mdlp", "equal-width", "equal-frequency"}, default="mdlp"
        How numeric features are cut: where the classes call for it (`fewer.models.MDLPDiscretizer`; a feature without
        a cut scores 0), into equal stretches of their range, or into equally full bins (equal values stay together).
    n_bins : int, default=10
        How many bins the last two make.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = fewer.RankSelector(InformationGain(), n_features_to_select=2).fit(X, y)
    >>> selector.scores_.round(3)
    array([0.652, 0.386, 1.357, 1.378])
    """

    command_name = "information-gain"
    takes: ClassVar[frozenset[str]] = ROWS
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)
    unit: ClassVar[str] = "bits"
    statistics: ClassVar[tuple[str, ...]] = ("counts",)

    binning: Binning = "mdlp"
    n_bins: Repeats = 10

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        scores, bins = np.zeros(problem.n_features), np.zeros(problem.n_features, dtype=np.int64)
        n_rows, total = np.bincount(problem.y), np.bincount(problem.y, problem.row_weights).astype(np.float64)
        for feature, nominal in enumerate(problem.nominal):
            column, classes, copies, weights = self._present(problem, feature, n_rows, total)
            codes = column.astype(np.int64) if nominal else bin_numbers(column, self.cuts(column, classes, copies))
            scores[feature] = self.of_counts(joint_counts(codes, classes, weights))
            bins[feature] = len(np.unique(codes))
        return Ranking.by_score(scores, n_bins=bins)

    def rank_stream(self, stream: Stream, rng: np.random.Generator, resources: Resources) -> Ranking:
        like = stream.like
        sample = new_sample(stream, rng, resources)
        drawn, ranges = collect(stream, lambda: (sample.empty(), Ranges(like.n_features)), resources)
        refuse_constant(~(ranges.low < ranges.high))
        cuts = []
        for column in range(like.n_features):
            if like.nominal[column]:
                cuts.append(np.empty(0))
            elif self.binning == "equal-width":
                ends = ranges.low[column], ranges.high[column]
                inner = np.linspace(*ends, self.n_bins + 1)[1:-1] if np.isfinite(ends).all() else np.empty(0)
                cuts.append(np.unique(inner))
            else:
                present = ~np.isnan(drawn.rows.X[:, column])
                cuts.append(self.cuts(drawn.rows.X[present, column], drawn.rows.y[present]))
        # A value lies below a cut at it, and reaches an edge at it.
        bins = Bins.of(like, [np.nextafter(edges, np.inf) for edges in cuts])
        counts = collect(stream, partial(JointCounts, bins), resources)
        scores = np.array([self.of_counts(counts.table(f)[:-1]) for f in range(like.n_features)])
        n_bins = np.array([int((counts.table(f)[:-1].sum(axis=1) > 0).sum()) for f in range(like.n_features)])
        error = 0.0 if self.binning == "equal-width" else drawn.error_in(stream.n_samples)
        ranking = Ranking.by_score(scores, n_bins=n_bins, cuts=bins.table, rank_error=np.array(error))
        return ranking.bare_last(counts.missing, ~(ranges.low < ranges.high))

    def of_counts(self, counts: FloatArray) -> float:
        """Return the score of a feature from its table of counts.

        Parameters
        ----------
        counts : array of shape (n_bins, n_classes)
            Rows of each class in each bin.

        Returns
        -------
        float
            The score.
        """
        return information(counts) / np.log(2.0)

    def _present(
        self, problem: Problem, feature: int, n_rows: IntArray, total: FloatArray
    ) -> tuple[FloatArray, IntArray, IntArray | None, FloatArray | None]:
        """Return the cells of a column that are not missing, their classes, for how many rows each stands, weights.

        Zeros that a sparse table does not store are one cell for each class, of which there are `n_rows` rows.
        """
        if problem.sparse is None or self.binning == "equal-frequency":
            cells = problem.column(feature)
            present = ~np.isnan(cells)
            weights = None if problem.sample_weight is None else problem.sample_weight[present]
            return cells[present], problem.y[present], None, weights
        table, mass = cast(Any, problem).by_column, problem.row_weights
        stored = slice(*table.indptr[feature : feature + 2])
        rows, cells = table.indices[stored], table.data[stored]
        counts = n_rows - np.bincount(problem.y[rows], minlength=len(n_rows))
        zeros = np.flatnonzero(counts)
        rest = (total - np.bincount(problem.y[rows], mass[rows], minlength=len(n_rows)))[zeros]
        present = ~np.isnan(cells)
        rows = rows[present]
        column = np.concatenate([cells[present], np.zeros(len(zeros))])
        classes = np.concatenate([problem.y[rows], zeros])
        copies = np.concatenate([np.ones(len(rows), dtype=np.int64), counts[zeros]])
        return column, classes, copies, np.concatenate([mass[rows], rest])

    def cuts(self, column: FloatArray, classes: IntArray, copies: IntArray | None = None) -> FloatArray:
        """Return where numbers are cut.

        Parameters
        ----------
        column : array of shape (n,)
            Numbers, none of them missing.
        classes : int array of shape (n,)
            The classes of their rows.
        copies : int array of shape (n,), optional
            For how many rows each stands.

        Returns
        -------
        array
        """
        if len(column) == 0:
            return np.empty(0)
        if self.binning == "mdlp":
            return mdlp_cuts(column, classes, copies)
        if self.binning == "equal-width":
            return np.unique(np.linspace(column.min(), column.max(), self.n_bins + 1)[1:-1])
        return np.unique(np.quantile(column, np.arange(1, self.n_bins) / self.n_bins))


class GainRatio(InformationGain):
    """Information gain as a share of the feature's own entropy: I(X; Y) / H(X).

    Quinlan's correction of `InformationGain`, which prefers features of many levels. A feature that does not vary, or
    that has one bin, scores 0.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    binning, n_bins
        As in `InformationGain`.

    References
    ----------
    J. R. Quinlan, C4.5: programs for machine learning, Morgan Kaufmann 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(GainRatio(), n_features_to_select=2).fit(X, y).scores_.round(3)
    array([0.42 , 0.247, 0.858, 0.871])
    """

    command_name = "gain-ratio"
    unit: ClassVar[str] = ""

    def of_counts(self, counts: FloatArray) -> float:
        own_entropy = entropy(counts.sum(axis=1))
        return information(counts) / own_entropy if own_entropy > 0 else 0.0


class SymmetricalUncertainty(InformationGain):
    """Information gain as a share of the mean entropy of feature and class: 2 I(X; Y) / (H(X) + H(Y)).

    Between 0, independent, and 1, each known from the other. A feature that does not vary, or has one bin, scores 0.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    binning, n_bins
        As in `InformationGain`.

    See Also
    --------
    FCBF : Leaves out features that are closer to a better feature than to the class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(SymmetricalUncertainty(), n_features_to_select=2).fit(X, y).scores_.round(3)
    array([0.416, 0.245, 0.857, 0.871])
    """

    command_name = "symmetrical-uncertainty"
    unit: ClassVar[str] = ""

    def of_counts(self, counts: FloatArray) -> float:
        both = entropy(counts.sum(axis=1)) + entropy(counts.sum(axis=0))
        return 2.0 * information(counts) / both if both > 0 else 0.0


@parameters
class OneR(Ranker):
    """Share of rows that a rule on this feature alone gets right: the most frequent class in each of its bins.

    Holte's 1R. Numbers are cut from the lowest on: a bin is closed once one class has `min_bucket` rows in it, at the
    next value where that class ends; neighboring bins of the same class are joined. Missing cells are a bin of their
    own, a nominal feature's levels are its bins.

    Read more in the guide: :doc:`/methods/information`.

    Parameters
    ----------
    min_bucket : int, default=6
        Rows of its most frequent class that a bin has at least; Holte found 6 to be enough on most tables.

    Notes
    -----
    The rows that make the rule also score it, so that the share is optimistic, most for nominal features of many levels
    and for a small `min_bucket`. Row weights count in the shares and in the buckets.

    References
    ----------
    R. C. Holte, Very simple classification rules perform well on most commonly used datasets, Machine Learning 11,
    1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(OneR(), n_features_to_select=2).fit(X, y).scores_.round(3)
    array([0.747, 0.6  , 0.953, 0.96 ])
    """

    command_name = "one-r"
    takes: ClassVar[frozenset[str]] = ROWS
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    min_bucket: Count = 6

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        scores, weights = np.zeros(problem.n_features), problem.row_weights
        for feature, nominal in enumerate(problem.nominal):
            cells = problem.column(feature)
            present = ~np.isnan(cells)
            codes = np.zeros(problem.n_samples, dtype=np.int64)
            if nominal:
                codes[present] = cells[present].astype(np.int64)
            else:
                values, place = np.unique(cells[present], return_inverse=True)
                counts = joint_counts(place, problem.y[present], weights[present]) if len(values) else np.zeros((1, 1))
                codes[present] = one_r_bins(counts, self.min_bucket)[place]
            codes[~present] = codes.max(initial=0) + 1
            scores[feature] = joint_counts(codes, problem.y, weights).max(axis=1).sum() / weights.sum()
        scores[problem.constant & ~problem.missing.any(axis=0)] = 0.0
        return Ranking.by_score(scores)


def one_r_bins(counts: FloatArray, min_bucket: float) -> IntArray:
    """Return the bin of each value in Holte's 1R, from the class counts of the values in ascending order.

    Parameters
    ----------
    counts : array of shape (n_values, n_classes)
        How often each value meets each class.
    min_bucket : float
        Weight of the most frequent class at which a bin may end.

    Returns
    -------
    int array of shape (n_values,)

    Examples
    --------
    >>> one_r_bins(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), 2)
    array([0, 0, 1, 1])
    """
    bins = np.zeros(len(counts), dtype=np.int64)
    inside, most = counts[0].copy(), []
    for value in range(1, len(counts)):
        best = int(np.argmax(inside))
        bins[value] = bins[value - 1]
        # A run of the bin's own class goes on; another class ends it once enough rows of its own are inside.
        if inside[best] >= min_bucket and int(np.argmax(counts[value])) != best:
            most.append(best)
            bins[value] += 1
            inside[:] = 0.0
        inside += counts[value]
    most.append(int(np.argmax(inside)))
    joined = np.cumsum(np.append(0, np.diff(most) != 0))
    return np.asarray(joined[bins], dtype=np.int64)
