"""Rankings of a table that is read in chunks: exact on all rows, given the cuts where bins are needed."""

from __future__ import annotations

from functools import partial, singledispatch
from typing import Any

import numpy as np

from fewer.contracts import IncompatibleError, Ranker, Ranking, Resources
from fewer.io import Stream, refuse_constant
from fewer.problem import BoolArray, FloatArray
from fewer.rankers._by_moments import (
    Chi2,
    Fisher,
    FTest,
    chi2_ranking,
    f_test_of_classes,
    f_test_of_target,
    fisher_scores,
    level_tables,
)
from fewer.rankers._information import InformationGain, bin_edges, entropy
from fewer.rankers._mutual_information import JIM, MIFS, _Greedy
from fewer.statistics import (
    Bins,
    ClassMoments,
    JointCounts,
    LevelMoments,
    PairCounts,
    Ranges,
    RowSample,
    SampledLevels,
    TargetMoments,
    collect,
    information,
)
from fewer.statistics._moments import shift_of

SAMPLE_ROWS = 100_000
PASSES_FOR_PAIRS = 20  # Counting one pair costs a twentieth of reading a cell again: so many pairs are worth a pass.


@singledispatch
def rank_stream(ranker: Ranker, stream: Stream, rng: np.random.Generator, resources: Resources) -> Ranking:
    """Rank the columns of a table that is read in chunks.

    Parameters
    ----------
    ranker : Ranker
        One with `statistics`: `Fisher`, `FTest`, `Chi2`, `InformationGain`, `MIFS`, `MRMR`, `JMI`, `JIM`,
        `CMIM`, `DISR`.
    stream : Stream
        The table in chunks.
    rng : Generator
        Draws all that is random.
    resources : Resources
        Threads, memory and device.

    Returns
    -------
    Ranking
        Where bins were cut, `extra["cuts"]` holds the edges (one row a column, NaN where there are fewer) and
        `extra["rank_error"]` how far a cut may be from the quantile it is meant to be, as a share of the rows.
    """
    raise IncompatibleError(
        f"{type(ranker).__name__} needs all rows in memory; choose one that reads a table in chunks (f-test, fisher, "
        "chi2, information-gain, mifs, mrmr, jmi, jim, cmim, disr), or rank a sample of the rows."
    )


# --------------------------------------------------------------------------------------------------- moments


@rank_stream.register
def _fisher(ranker: Fisher, stream: Stream, rng: np.random.Generator, resources: Resources) -> Ranking:
    moments, counts = _class_statistics(stream, resources)
    return _bare_last(Ranking.by_score(fisher_scores(moments, level_tables(counts), stream.like.nominal)), moments)


def _bare_last(ranking: Ranking, moments: ClassMoments | TargetMoments) -> Ranking:
    """Put mostly missing columns last; rows without a weight are not asked."""
    refuse_constant(moments.constant)
    counts = moments.counts.sum(axis=1) if isinstance(moments, ClassMoments) else moments.counts
    return ranking.bare_last(1.0 - counts / max(moments.n_weighted, 1), moments.constant)


def _class_statistics(stream: Stream, resources: Resources) -> tuple[ClassMoments, JointCounts]:
    """Pass over the table once for class moments, and for counts where there are nominal columns."""
    like = stream.like
    nominal = np.flatnonzero(like.nominal)
    bins, shift = Bins.of(like, [np.empty(0)] * like.n_features), shift_of(like)
    found: tuple[ClassMoments, JointCounts] = collect(
        stream, lambda: (ClassMoments(shift), JointCounts(bins, columns=nominal)), resources
    )
    return found


@rank_stream.register
def _f_test(ranker: FTest, stream: Stream, rng: np.random.Generator, resources: Resources) -> Ranking:
    like = stream.like
    if like.task == "classification":
        moments, counts = _class_statistics(stream, resources)
        return _bare_last(f_test_of_classes(moments, level_tables(counts), like.nominal), moments)
    shift, middle = shift_of(like)[:, 0], float(like.y.mean())
    nominal = np.flatnonzero(like.nominal)
    n_levels = max((len(like.levels[int(column)]) for column in nominal), default=1)
    quantities, levels = collect(
        stream, lambda: (TargetMoments(shift, middle), LevelMoments(nominal, max(n_levels, 1), middle)), resources
    )
    return _bare_last(f_test_of_target(quantities, levels), quantities)


@rank_stream.register
def _chi2(ranker: Chi2, stream: Stream, rng: np.random.Generator, resources: Resources) -> Ranking:
    moments, counts = _class_statistics(stream, resources)
    return _bare_last(chi2_ranking(moments, level_tables(counts), stream.like), moments)


# ---------------------------------------------------------------------------------------------------- counts


@rank_stream.register
def _information_gain(
    ranker: InformationGain, stream: Stream, rng: np.random.Generator, resources: Resources
) -> Ranking:
    like = stream.like
    sample = new_sample(stream, rng, resources)
    drawn, ranges = collect(stream, lambda: (sample.empty(), Ranges(like.n_features)), resources)
    refuse_constant(~(ranges.low < ranges.high))
    cuts = []
    for column in range(like.n_features):
        if like.nominal[column]:
            cuts.append(np.empty(0))
        elif ranker.binning == "equal-width":
            ends = ranges.low[column], ranges.high[column]
            inner = np.linspace(*ends, ranker.n_bins + 1)[1:-1] if np.isfinite(ends).all() else np.empty(0)
            cuts.append(_above(np.unique(inner)))
        else:
            present = ~np.isnan(drawn.rows.X[:, column])
            cuts.append(_above(ranker.cuts(drawn.rows.X[present, column], drawn.rows.y[present])))
    bins = Bins.of(like, cuts)
    counts = collect(stream, partial(JointCounts, bins), resources)
    scores = np.array([ranker.of_counts(counts.table(f)[:-1]) for f in range(like.n_features)])
    n_bins = np.array([int((counts.table(f)[:-1].sum(axis=1) > 0).sum()) for f in range(like.n_features)])
    error = 0.0 if ranker.binning == "equal-width" else drawn.error_in(stream.n_samples)
    ranking = Ranking.by_score(scores, n_bins=n_bins, cuts=bins.table, rank_error=np.array(error))
    return ranking.bare_last(counts.missing, ~(ranges.low < ranges.high))


def _above(cuts: FloatArray) -> FloatArray:
    """Turn cuts whose own value lies below them into edges that are reached by their own value."""
    return np.nextafter(cuts, np.inf)


@rank_stream.register
def _greedy(ranker: _Greedy, stream: Stream, rng: np.random.Generator, resources: Resources) -> Ranking:
    if ranker.stop == "permutation":
        raise IncompatibleError("stop='permutation' shuffles the target of all rows; in chunks use stop='share'.")
    if isinstance(ranker, MIFS) and ranker.density == "kernel":
        raise IncompatibleError("density='kernel' needs all rows in memory; in chunks use density='bins'.")
    bins, constant, error = quantile_bins(stream, ranker.n_bins, rng, resources)
    refuse_constant(constant)
    kind = CountedImpurity if isinstance(ranker, JIM) else CountedInformation
    known = kind(stream, bins, resources, ranker.n_ranked)
    ranking = ranker._rank_by(known, ~constant, rng)
    ranking.extra.update(cuts=bins.table, rank_error=np.array(error))
    return ranking.bare_last(known.missing, constant)


def quantile_bins(
    stream: Stream, n_bins: int, rng: np.random.Generator, resources: Resources
) -> tuple[Bins, BoolArray, float]:
    """Cut columns of many values into bins of about as many rows each, by a pass; also say which are constant.

    Columns with at most `n_bins` values keep them. Edges come from a sample of the rows, all of them if they are few.
    """
    like = stream.like
    sample = new_sample(stream, rng, resources)
    drawn, levels = collect(stream, lambda: (sample.empty(), SampledLevels(like.n_features, n_bins)), resources)
    rows = drawn.rows
    edges, constant = [], np.zeros(like.n_features, dtype=bool)
    for column in range(like.n_features):
        values = levels.values(column)
        if values is not None:
            constant[column] = len(values) < 2
        own = rows.X[:, column] if values is None or like.nominal[column] else values
        edges.append(np.empty(0) if like.nominal[column] else bin_edges(own, n_bins, False)[0])
    target = bin_edges(rows.y, n_bins, False)[0] if like.task == "regression" else None
    return Bins.of(like, edges, target), constant, drawn.error_in(stream.n_samples)


def new_sample(stream: Stream, rng: np.random.Generator, resources: Resources) -> RowSample:
    """Return an empty sample as large as is useful and as memory allows."""
    n_rows = min(SAMPLE_ROWS, max(resources.memory // (32 * max(stream.n_features, 1)), 1000))
    return RowSample.of_classes(stream.class_counts, n_rows, int(rng.integers(2**63)))


class CountedInformation:
    """The information between columns and target, from joint counts over all rows.

    All pairs are counted in one pass where the counts fit; otherwise each column that is asked about costs a pass.
    """

    def __init__(self, stream: Stream, bins: Bins, resources: Resources, n_ranked: int | None) -> None:
        self._stream, self._bins, self._resources = stream, bins, resources
        p = len(bins.edges)
        n_asked = p if n_ranked is None else min(n_ranked, p)
        fits = 8 * int(PairCounts.sizes(bins).sum()) <= resources.memory // 2
        self._pairs: PairCounts | None = None
        if fits and (p - 1) / 2 <= PASSES_FOR_PAIRS * n_asked:
            self._counts, self._pairs = collect(stream, lambda: (JointCounts(bins), PairCounts(bins)), resources)
        else:
            self._counts = collect(stream, partial(JointCounts, bins), resources)
        self._given: dict[int, list[FloatArray]] = {}

    @property
    def missing(self) -> FloatArray:
        """The share of missing cells of each column."""
        return self._counts.missing

    @property
    def _columns(self) -> range:
        return range(len(self._bins.edges))

    def relevance(self, target: Any = None) -> FloatArray:
        """Return I(C; f) of every feature."""
        return np.array([information(self._counts.table(f)) for f in self._columns])

    def redundancy(self, feature: int) -> FloatArray:
        """Return I(f; s) of every feature f with one feature s."""
        return np.array([information(table.sum(axis=2)) for table in self._tables(feature)])

    def conditional(self, feature: int) -> FloatArray:
        """Return I(f; C | s) = I(f; (s, C)) − I(f; s) of every feature f, given one feature s."""
        tables = self._tables(feature)
        both = np.array([information(table.reshape(len(table), -1)) for table in tables])
        return np.maximum(both - np.array([information(table.sum(axis=2)) for table in tables]), 0.0)

    def entropy(self, feature: int) -> FloatArray:
        """Return H(f, s, C) of every feature f, with one feature s."""
        return np.array([entropy(table) for table in self._tables(feature)])

    def _tables(self, given: int) -> list[FloatArray]:
        """Return (codes of f, codes of s, codes of the target) for every f and one s; a feature with itself has one."""
        if given not in self._given:
            self._given.clear()
            own = self._counts.table(given)
            if self._pairs is not None:
                tables = [own[:, None, :] if f == given else self._pairs.tables_given(f, given) for f in self._columns]
            else:
                counts = collect(self._stream, partial(JointCounts, self._bins, given), self._resources)
                tables = [own[:, None, :] if f == given else counts.tables_given(f) for f in self._columns]
            self._given[given] = tables
        return self._given[given]


class CountedImpurity(CountedInformation):
    """The impurity that columns take from the target, from joint counts over all rows."""

    def relevance(self, target: Any = None) -> FloatArray:
        """Return what every feature takes by itself."""
        return np.array([_taken(self._counts.table(f)) for f in self._columns])

    def impurity(self, feature: int) -> FloatArray:
        """Return what every feature takes together with one feature."""
        return np.array([_taken(table.reshape(-1, table.shape[2])) for table in self._tables(feature)])


def _taken(table: FloatArray) -> float:
    """Return Σ p(f, c)² / p(f) − Σ p(c)² of a table of counts (f, c)."""
    mass = table.sum(axis=1)
    after = ((table[mass > 0] ** 2).sum(axis=1) / mass[mass > 0]).sum() / table.sum()
    return max(float(after - ((table.sum(axis=0) / table.sum()) ** 2).sum()), 0.0)
