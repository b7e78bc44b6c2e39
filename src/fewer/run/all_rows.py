"""What `auto` asks all rows of a table in chunks, beside the sample on which it compares models.

One pass looks for products of two inputs that explain what a linear fit leaves; a second sums the products of all
inputs for each fold, from which features are eliminated one by one, on all rows and without each fold; a third scores
the nested subsets on the fold left out. Rows of the sample take no part: they decided how inputs are made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from fewer.contracts import Resources, SearchSpace
from fewer.criteria.folded_least_squares import FoldedLeastSquaresScorer
from fewer.io import Stream
from fewer.kernels.statistics import gather_scaled
from fewer.problem import BoolArray, FloatArray, IntArray, Kind, Problem
from fewer.selectors.auto import MARGIN
from fewer.statistics import DealtFolds, GramSums, RowSample, Statistics, collect
from fewer.statistics.encoding import drawn_means
from fewer.validate import ConfidenceInterval, fold_interval

N_FOLDS = 5
EVEN = ("balanced_accuracy", "roc_auc")
# Spreads from the middle beyond which an input is cut off, so that no single cell decides on a product.
CLIPPED = 4.0
# Products that join the fit at most, and the standard errors by which each must differ from zero.
MOST_PRODUCTS, SURE = 40, 5.0
PRODUCTS_RIDGE = 1e-7
ROW_FIELDS = ("y", "sample_weight", "groups", "time")
# Sums of groups that a fold keeps where groups are many: some groups together count as one.
GROUP_CELLS = 500
# Rows whose inputs are there at a time: they fit into the cache, and beside the table into little memory.
CACHED_ROWS = 8192
# Sizes that are scored, beside all features.
SCORED_SIZES = 40
# Bins of answers from -2 to 2, within which rows tie where they are ranked.
RANK_BINS = 8192


@dataclass(frozen=True, eq=False)
class Terms:
    """The inputs of a fit of second order, as a sample of the rows defines them.

    A number is taken in robust spreads from its median and cut off at four; a level becomes the mean target of its rows
    in the sample, drawn to the mean of all. A missing cell is the middle.

    Parameters
    ----------
    owner : int array of shape (n_inputs,)
        The feature of each input.
    tables : tuple
        For each input the value of each level, or None for a number.
    middle, spread : arrays of shape (n_inputs,)
        Which become 0 and 1.
    pairs : int array of shape (n_products, 2)
        Inputs whose product is one more input.

    Examples
    --------
    >>> rows = Problem.from_arrays([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> Terms.of(rows, np.array([0])).inputs(np.array([[1.5], [np.nan], [1e9]])).ravel()
    array([0., 0., 4.])
    """

    owner: IntArray
    tables: tuple[FloatArray | None, ...]
    middle: FloatArray
    spread: FloatArray
    pairs: IntArray

    @classmethod
    def of(cls, rows: Problem, features: IntArray) -> Terms:
        """Define the inputs by some rows, without products.

        Parameters
        ----------
        rows : Problem
            A sample of the table.
        features : int array
            The columns that become inputs.

        Returns
        -------
        Terms
            One input for a number; for levels one for each target.
        """
        target, weights = memberships(rows), rows.row_weights
        total = weights @ target / weights.sum()
        owner: list[int] = []
        tables: list[FloatArray | None] = []
        ends: list[tuple[float, float]] = []
        for feature in features.tolist():
            there = ~np.isnan(rows.X[:, feature])
            cells, w = rows.X[there, feature], weights[there]
            if not rows.nominal[feature]:
                owner.append(feature)
                tables.append(None)
                ends.append(_middle_and_spread(cells))
                continue
            codes, n_levels = cells.astype(np.int64), len(rows.levels[feature])
            mass = np.bincount(codes, w, minlength=n_levels)
            for column, mean in zip(target[there].T, total, strict=True):
                table = drawn_means(np.bincount(codes, w * column, minlength=n_levels), mass, mean)
                spread = float(table[codes].std()) if len(codes) else 0.0
                owner.append(feature)
                tables.append(table)
                ends.append((float(mean), spread if spread > 1e-12 else np.inf))
        middle, spread_of = np.array(ends).T
        return cls(np.array(owner), tuple(tables), middle, spread_of, np.empty((0, 2), dtype=np.int64))

    def inputs(self, X: FloatArray, rows: IntArray | None = None) -> FloatArray:
        """Turn rows into inputs.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Cells; levels are codes.
        rows : int array, optional
            Which rows; all by default.

        Returns
        -------
        array of shape (n_rows, n_inputs + n_products)
            Column by column.
        """
        rows, n = np.arange(len(X)) if rows is None else rows, len(self.owner)
        out = np.empty((len(rows), n + len(self.pairs)), order="F")
        gather_scaled(X, rows, self.owner, self.middle, self.spread, CLIPPED, *self._levels, out)
        for place, (i, j) in enumerate(self.pairs.tolist(), n):
            np.multiply(out[:, i], out[:, j], out=out[:, place])
        return out

    @cached_property
    def _levels(self) -> tuple[IntArray, FloatArray]:
        """The values of all levels one after the other, and where those of each input begin; -1 for a number."""
        lengths = np.array([0 if table is None else len(table) for table in self.tables])
        starts = np.where([table is None for table in self.tables], -1, np.cumsum(lengths) - lengths)
        return starts, np.concatenate([np.empty(0), *(table for table in self.tables if table is not None)])

    def of_features(self, features: IntArray) -> IntArray:
        """Return the inputs that some features take part in, products too.

        Parameters
        ----------
        features : int array
            Numbers of features.

        Returns
        -------
        int array
            Places among the inputs.
        """
        taken = np.isin(self.owner, features)
        return np.flatnonzero(np.concatenate([taken, taken[self.pairs].any(axis=1)]))

    def problem(self, rows: Problem, chosen: IntArray | None = None) -> Problem:
        """Return rows with their inputs as columns.

        Parameters
        ----------
        rows : Problem
            With the features as columns.
        chosen : int array, optional
            Which of them; all by default.

        Returns
        -------
        Problem
            All columns are numbers.
        """
        X = self.inputs(rows.X, chosen)
        if chosen is not None:
            about = {name: values[chosen] for name in ROW_FIELDS if (values := vars(rows)[name]) is not None}
            rows = replace(rows, **about)
        names = tuple(map(str, range(X.shape[1])))
        kinds: list[Kind] = ["numeric"] * len(names)
        return replace(rows, X=X, names=names, kinds=tuple(kinds), levels={})


def memberships(rows: Problem) -> FloatArray:
    """Return what is predicted, one column each: a quantity, the second of two classes, or every class."""
    if rows.task == "regression":
        return rows.y[:, None].astype(np.float64)
    indicators = rows.class_indicators
    return indicators[:, 1:] if rows.n_classes == 2 else indicators


def _middle_and_spread(cells: FloatArray) -> tuple[float, float]:
    """Return the median and the spread of numbers; the spread is infinite where they do not vary."""
    if not len(cells):
        return 0.0, np.inf
    low, middle, high = np.quantile(cells, (0.25, 0.5, 0.75))
    spread = float(high - low) / 1.349 or float(cells.std())
    return float(middle), spread if spread > 1e-12 * (1.0 + abs(middle)) else np.inf


@dataclass(frozen=True, eq=False)
class OtherRows:
    """The rows of a stream that are not in a sample, as inputs; where classes count the same, by weight.

    Parameters
    ----------
    stream : Stream
        The table.
    sample : RowSample
        What was drawn from it; its rows need not be there.
    terms : Terms
        What rows become.
    shares : array of shape (n_classes,), optional
        By what each class's rows are weighted.
    before : DealtFolds, optional
        Only rows are read that are earlier than all that are held out.
    """

    stream: Stream
    sample: RowSample
    terms: Terms
    shares: FloatArray | None = None
    before: DealtFolds | None = None

    def sent(self) -> OtherRows:
        """Return the same without its source.

        Returns
        -------
        OtherRows
            For whoever gets the frames of a part.
        """
        return replace(self, stream=self.stream.sent())

    def problems(self, part: int, frames: Iterator[Any]) -> Iterator[Problem]:
        """Turn frames of a part into inputs.

        Parameters
        ----------
        part : int
            Which part.
        frames : iterator of polars.DataFrame
            Its rows.

        Yields
        ------
        Problem
            Some rows, in order.
        """
        start = 0
        for chunk in self.stream.problems(part, frames):
            wanted = ~self.sample.holds(chunk, part, start)
            if self.before is not None:
                wanted &= self.before.judges(self.before.cells(chunk, part, start)) < 0
            others = np.flatnonzero(wanted)
            start += chunk.n_samples
            for low in range(0, len(others), CACHED_ROWS):
                yield self.weighted(self.terms.problem(chunk, others[low : low + CACHED_ROWS]))

    def weighted(self, rows: Problem) -> Problem:
        """Weigh rows by their classes, where these count the same.

        Parameters
        ----------
        rows : Problem
            Any rows of the table.

        Returns
        -------
        Problem
            The same rows.
        """
        return rows if self.shares is None else replace(rows, sample_weight=rows.row_weights * self.shares[rows.y])


class ProductSums(Statistics):
    """How much the product of each two inputs explains of what a linear fit leaves.

    Parameters
    ----------
    fit : array of shape (1 + n_inputs, n_targets)
        The constant and the coefficients of the linear fit.
    """

    summed = ("mass", "lone", "gram", "cross", "spread")

    def __init__(self, fit: FloatArray) -> None:
        n, n_targets = len(fit) - 1, fit.shape[1]
        self._fit = fit
        self.mass, self.lone = 0.0, np.zeros(n_targets)
        self.gram = np.zeros((n, n))
        self.cross, self.spread = np.zeros((n_targets, n, n)), np.zeros((n_targets, n, n))

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        """Add rows."""
        Z, w = chunk.X, chunk.row_weights
        left = (memberships(chunk) - self._fit[0] - Z @ self._fit[1:]) * w[:, None]
        self.mass += float(w.sum())
        self.lone += left.sum(axis=0)
        self.gram += Z.T @ (Z * w[:, None])
        squares = Z**2
        for t, residuals in enumerate(left.T):
            self.cross[t] += Z.T @ (Z * residuals[:, None])
            self.spread[t] += squares.T @ (squares * (residuals**2)[:, None])

    @property
    def strength(self) -> FloatArray:
        """By how many standard errors each product's sum differs from zero, for the target where it is most."""
        centered = self.cross - (self.lone / self.mass)[:, None, None] * self.gram
        return np.asarray(np.max(np.abs(centered) / np.sqrt(np.maximum(self.spread, 1e-300)), axis=0))

    def strongest(self) -> IntArray:
        """Return the pairs (an input with itself too) that are surely there, the strongest first."""
        first, second = np.triu_indices(len(self.gram))
        strengths = self.strength[first, second]
        order = np.argsort(-strengths, kind="stable")[:MOST_PRODUCTS]
        order = order[strengths[order] > SURE]
        return np.column_stack([first[order], second[order]])


def eliminated(products: FloatArray, n_inputs: int, units: Sequence[IntArray]) -> list[int]:
    """Take units out of a least-squares fit one by one, always the one whose loss costs least; the first comes first.

    With P the inverse of the inputs' products and B the coefficients, taking the inputs J out adds
    B_J' (P_JJ)⁻¹ B_J to the squared error, and P − P_·J (P_JJ)⁻¹ P_J· is the inverse without them.

    Parameters
    ----------
    products : array
        Of the constant, the inputs (centered) and the targets.
    n_inputs : int
        How many inputs.
    units : sequence of int arrays
        The inputs that leave together; one that is in two units leaves with the first of them.

    Returns
    -------
    list of int
        Units, in the order in which they left.
    """
    first = 1 + n_inputs
    P = np.linalg.inv(products[1:first, 1:first] + PRODUCTS_RIDGE * products[0, 0] * np.eye(n_inputs))
    B = P @ products[1:first, first:]
    there = np.ones(n_inputs, dtype=bool)
    left, order = list(range(len(units))), []
    while left:
        costs = []
        for unit in left:
            J = units[unit][there[units[unit]]]
            costs.append(float(np.sum(B[J] * np.linalg.solve(P[np.ix_(J, J)], B[J]))) if len(J) else -1.0)
        unit = left.pop(int(np.argmin(costs)))
        order.append(unit)
        J = units[unit][there[units[unit]]]
        if len(J):
            change = np.linalg.solve(P[np.ix_(J, J)], np.column_stack([P[J], B[J]]))
            B = B - P[:, J] @ change[:, n_inputs:]
            P = P - P[:, J] @ change[:, :n_inputs]
            there[J] = False
    return order


def group_cells(stream: Stream) -> int:
    """Return for how many groups of rows scores are summed: for each, or for many together."""
    return 0 if stream.groups is None else stream.n_groups or GROUP_CELLS


class FoldRule(ABC):
    """What predicts one held-out fold."""

    @abstractmethod
    def grades(self, rows: Problem) -> FloatArray:
        """Grade each row with each subset, all features last.

        Parameters
        ----------
        rows : Problem
            Rows that the rule was not found on.

        Returns
        -------
        array of shape (n_rows, n_subsets)
            1 is right.
        """


@dataclass(frozen=True, eq=False)
class LinearRule(FoldRule):
    """Linear fits of subsets; the sums that they come from stay where they are."""

    gram: GramSums
    coefficients: FloatArray  # (n_base, n_subsets, n_targets)
    y_mean: float
    spread: float

    @classmethod
    def of(
        cls, gram: GramSums, scorer: FoldedLeastSquaresScorer, masks: Sequence[BoolArray], spread: float
    ) -> LinearRule:
        """Fit each subset to the rows of a scorer."""
        fits = np.stack([scorer.coefficients(mask) for mask in masks], axis=1)
        return cls(gram.outline(), fits, scorer.system.y_mean, spread)

    def answers(self, rows: Problem) -> FloatArray:
        """Return what each subset's fit says of each row: (n_rows, n_subsets, n_targets)."""
        n_base, n_subsets, n_targets = self.coefficients.shape
        return (self.gram.base(rows) @ self.coefficients.reshape(n_base, -1)).reshape(-1, n_subsets, n_targets)

    def grades(self, rows: Problem) -> FloatArray:
        answers, n_targets = self.answers(rows), self.coefficients.shape[2]
        if rows.task == "regression":
            return np.asarray(1.0 - (rows.y[:, None] - self.y_mean - answers[:, :, 0]) ** 2 / self.spread)
        predicted = answers.argmax(axis=2) if n_targets > 1 else answers[:, :, 0] > 0.0
        return (predicted == rows.y[:, None]).astype(np.float64)


class RankCounts(Statistics):
    """The weight of the held-out rows of two classes along what each subset's fit says of them, in narrow bins.

    Parameters
    ----------
    rules : sequence of LinearRule
        One for each fold that is held out.
    n_subsets : int
        How many subsets they fit.
    folds : DealtFolds
        Who is held out.

    Attributes
    ----------
    weights : array of shape (n_folds, n_subsets, 2, RANK_BINS)
    """

    summed = ("weights",)

    def __init__(self, rules: Sequence[LinearRule], n_subsets: int, folds: DealtFolds) -> None:
        self._rules, self._folds = rules, folds
        self.weights = np.zeros((len(rules), n_subsets, 2, RANK_BINS))

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        """Add rows."""
        outer = self._folds.judges(self._folds.cells(chunk, part, start))
        for weights, (fold, rule) in zip(self.weights, enumerate(self._rules), strict=True):
            rows = chunk.take(np.flatnonzero(outer == fold))
            places = (2 * np.arange(len(weights)) + rows.y[:, None]) * RANK_BINS + rank_bins(rule, rows)
            counts = np.bincount(places.ravel(), np.repeat(rows.row_weights, len(weights)), minlength=weights.size)
            weights += counts.reshape(weights.shape)

    def graded(self) -> list[RankRule]:
        """Return rules whose mean grade is the area under the ROC curve."""
        return [RankRule.of(rule, weights) for rule, weights in zip(self._rules, self.weights, strict=True)]


def rank_bins(rule: LinearRule, rows: Problem) -> IntArray:
    """Return the bin of each row's answer by each subset: answers lie about -1 and 1, those beyond 2 share a bin."""
    answers = rule.answers(rows)[:, :, 0]
    return np.clip((answers + 2.0) * (RANK_BINS / 4.0), 0, RANK_BINS - 1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class RankRule(FoldRule):
    """Grades rows such that their mean is the area under the ROC curve, and their spread gives its error.

    A row's place V is the share of the other class that it is ranked rightly against, ties by half. The area A is the
    mean of V over either class; A + (V − A) W / W_c, with W_c the weight of the row's class, has the variance of
    DeLong, DeLong and Clarke-Pearson (1988).
    """

    rule: LinearRule
    places: FloatArray  # (n_subsets, 2, RANK_BINS)
    areas: FloatArray
    factors: FloatArray

    @classmethod
    def of(cls, rule: LinearRule, weights: FloatArray) -> RankRule:
        """Read places off the weights (n_subsets, 2, RANK_BINS) of the fold."""
        mass = weights[0].sum(axis=1)
        if not mass.all():  # one class alone ranks nothing
            return cls(rule, np.full_like(weights, 0.5), np.full(len(weights), 0.5), np.ones(2))
        middle = (np.cumsum(weights, axis=2) - 0.5 * weights) / mass[:, None]
        places = np.stack([1.0 - middle[:, 1], middle[:, 0]], axis=1)
        areas = np.einsum("mb,mb->m", weights[:, 1], places[:, 1]) / mass[1]
        return cls(rule, places, areas, mass.sum() / mass)

    def grades(self, rows: Problem) -> FloatArray:
        places = self.places[np.arange(len(self.areas)), rows.y[:, None], rank_bins(self.rule, rows)]
        return np.asarray(self.areas + (places - self.areas) * self.factors[rows.y][:, None])


class HeldoutSums(Statistics):
    """How well each fold's rows are predicted by the rule that was found without them.

    Parameters
    ----------
    rules : sequence of FoldRule
        One for each fold that is held out.
    n_subsets : int
        How many subsets they grade.
    folds : DealtFolds
        Who is held out.
    n_groups : int, default=0
        Groups of the rows, if there are any; more than these are put together.

    Attributes
    ----------
    sums : array of shape (n_folds, 2 n_subsets - 1, 4)
        For each subset, and the difference of each but the last from the last: the weighted sum of the rows' grades;
        and of squared weights, of these times grades and times squared grades.
    groups : array of shape (n_folds, n_groups, 2 n_subsets)
        The first of these for each group, and last the sum of weights.
    n_before : int
        Rows that are earlier than all that are held out.
    """

    summed = ("mass", "rows", "sums", "groups", "n_before")

    def __init__(self, rules: Sequence[FoldRule], n_subsets: int, folds: DealtFolds, n_groups: int = 0) -> None:
        self._rules, self._folds = rules, folds
        self.mass = np.zeros(len(rules))
        self.rows = np.zeros(len(rules), dtype=np.int64)
        self.sums = np.zeros((len(rules), 2 * n_subsets - 1, 4))
        self.groups = np.zeros((len(rules), n_groups, 2 * n_subsets))
        self.n_before = 0

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        """Add rows."""
        outer = self._folds.judges(self._folds.cells(chunk, part, start))
        self.n_before += int((outer < 0).sum())
        for fold, rule in enumerate(self._rules):
            rows = chunk.take(np.flatnonzero(outer == fold))
            w = rows.row_weights
            grades = rule.grades(rows)
            self.mass[fold] += w.sum()
            self.rows[fold] += rows.n_samples
            v = np.hstack([grades, grades[:, :-1] - grades[:, -1:]])
            self.sums[fold] += np.stack([w @ v, np.full(v.shape[1], w @ w), w**2 @ v, w**2 @ v**2], axis=1)
            if (n_groups := self.groups.shape[1]) and rows.groups is not None:
                places = rows.groups % n_groups, np.arange(len(w))
                members = sparse.csr_array((w, places), shape=(n_groups, len(w)))
                self.groups[fold] += members @ np.column_stack([v, np.ones(len(w))])

    def interval(self, place: int, is_share: bool) -> ConfidenceInterval:
        """Return the mean over the folds, with its interval, of a subset or, after these, of a difference.

        Parameters
        ----------
        place : int
            Which one.
        is_share : bool
            Grades are 0 or 1.

        Returns
        -------
        ConfidenceInterval
            Of scores of a subset within 0 and 1 where grades are.
        """
        total, square, first, second = self.sums[:, place].T
        mean = total / self.mass
        lone = 1.0 - square / self.mass**2
        variance = (second - 2.0 * mean * first + mean**2 * square) / self.mass**2 / lone
        n_rows = n_units = int(self.rows.sum())
        if self.groups.shape[1]:  # rows of one group are alike: each group is one draw
            sums, weight = self.groups[:, :, place], self.groups[:, :, -1]
            n_groups = (weight > 0.0).sum(axis=1)
            squares = ((sums - mean[:, None] * weight) ** 2).sum(axis=1) / self.mass**2
            variance, n_units = squares * n_groups / np.maximum(n_groups - 1, 1), int(n_groups.sum())
        trained = self.n_before + np.cumsum(self.rows) - self.rows if self._folds.forward else n_rows - self.rows
        interval = fold_interval(
            mean.tolist(),
            np.maximum(variance, 0.0).tolist(),
            sizes=self.mass.tolist(),
            correlation=float(np.mean(self.rows / trained)),
            degrees_of_freedom=n_units - len(mean),
            resolution=1.5 / n_units if is_share else 0.0,
        )
        return interval.within(0.0, 1.0) if is_share and 2 * place < self.sums.shape[1] else interval


@dataclass(frozen=True, eq=False)
class EliminationOrder:
    """The order in which features leave a fit on all rows, or on those outside a fold.

    Attributes
    ----------
    scorer : FoldedLeastSquaresScorer
        Bound to these rows; a mask is one of inputs.
    terms : Terms
        The inputs.
    space : SearchSpace
        What may be chosen.
    left : list of int
        Units, the one that left last first.
    """

    scorer: FoldedLeastSquaresScorer
    terms: Terms
    space: SearchSpace
    left: list[int]

    @classmethod
    def of(cls, gram: GramSums, terms: Terms, space: SearchSpace, used: IntArray) -> EliminationOrder:
        """Eliminate on the rows that train a fold, or on all.

        Parameters
        ----------
        gram : GramSums
            Of the inputs, for each fold.
        terms : Terms
            The inputs.
        space : SearchSpace
            What may be chosen.
        used : int array
            The folds of these rows.

        Returns
        -------
        EliminationOrder
        """
        scorer = FoldedLeastSquaresScorer(gram, [used], PRODUCTS_RIDGE)
        units = [terms.of_features(unit) for unit in space.units]
        left = eliminated(scorer.system.parts.sum(axis=0), gram.n_inputs, units)
        return cls(scorer, terms, space, left[::-1])

    def features(self, size: int) -> IntArray:
        """Return the features forced in and those of the units that left last, the last first.

        Parameters
        ----------
        size : int
            How many units.

        Returns
        -------
        int array
            Numbers of features.
        """
        units = [self.space.units[unit] for unit in self.left[:size]]
        return np.concatenate([np.flatnonzero(self.space.base), *units]).astype(np.int64)

    def mask(self, size: int) -> BoolArray:
        """Return the inputs of some units: products need both of theirs.

        Parameters
        ----------
        size : int
            How many units.

        Returns
        -------
        bool array
            One for each input.
        """
        taken = np.isin(self.terms.owner, self.features(size))
        return np.concatenate([taken, taken[self.terms.pairs].all(axis=1)])


@dataclass(frozen=True, eq=False)
class AllRows:
    """What all rows outside a sample say of the subsets along an elimination.

    Attributes
    ----------
    whole : EliminationOrder
        On all these rows.
    folds : list of EliminationOrder
        Without each fold.
    sizes : list of int
        Numbers of units, beside the features forced in, that were scored; the last is all of them.
    sums : HeldoutSums
        Their scores on held-out rows.
    pairs : list of (int, int)
        The features of the products that joined the fit, the strongest first.
    is_share : bool
        Scores are shares of rows.
    """

    whole: EliminationOrder
    folds: list[EliminationOrder]
    sizes: list[int]
    sums: HeldoutSums
    pairs: list[tuple[int, int]]
    is_share: bool

    @classmethod
    def of(
        cls, stream: Stream, sample: RowSample, space: SearchSpace, scoring: str, seed: int, resources: Resources
    ) -> AllRows:
        """Pass over the table three times, four for areas under the ROC curve.

        Parameters
        ----------
        stream : Stream
            The table.
        sample : RowSample
            Rows that define the inputs, and are not used again.
        space : SearchSpace
            What may be chosen.
        scoring : {"accuracy", "balanced_accuracy", "roc_auc", "r2"}
            By the second and third, classes count the same, whatever their size.
        seed : int
            Deals rows out to folds.
        resources : Resources
            Who reads.

        Returns
        -------
        AllRows
        """
        rows, light = sample.rows, sample.outline()
        deal = DealtFolds.of(stream, N_FOLDS, 1, seed)
        early = deal if deal.forward else None
        if early is not None:  # what is later decides nothing about inputs
            rows = rows.take(deal.judges(deal.cells(rows, 0, 0)) < 0)
        terms = Terms.of(rows, np.concatenate([np.flatnonzero(space.base), *space.units]))
        counts = stream.class_counts
        shares = counts.sum() / (len(counts) * np.maximum(counts, 1.0)) if scoring in EVEN else None
        others = OtherRows(stream, light, terms, shares, early)
        like = others.weighted(terms.problem(rows))
        root = np.sqrt(like.row_weights)[:, None]
        plain = np.column_stack([np.ones(len(like.X)), like.X])
        fit = np.linalg.lstsq(plain * root, memberships(rows) * root)[0]
        pairs = collect(others, partial(ProductSums, fit), resources).strongest()
        terms = replace(terms, pairs=pairs)
        others = replace(others, terms=terms, before=None)
        like = others.weighted(terms.problem(rows))
        gram = collect(others, partial(GramSums, like, deal), resources)
        used = [deal.trains(without) for without in (None, *range(len(deal.held)))]
        whole, *folds = (EliminationOrder.of(gram, terms, space, cells) for cells in used)
        n_units = len(space.units)
        sizes = [*range(0 if space.base.any() else 1, min(n_units, SCORED_SIZES)), n_units]
        products = whole.scorer.system.parts.sum(axis=0)
        spread = float(products[-1, -1] / products[0, 0]) or 1.0
        fits = [LinearRule.of(gram, one.scorer, [one.mask(size) for size in sizes], spread) for one in folds]
        rules: Sequence[FoldRule] = fits
        if scoring == "roc_auc":
            rules = collect(others, partial(RankCounts, fits, len(sizes), deal), resources).graded()
        sums = collect(others, partial(HeldoutSums, rules, len(sizes), deal, group_cells(stream)), resources)
        named = [(int(terms.owner[i]), int(terms.owner[j])) for i, j in pairs.tolist()]
        return cls(whole, folds, sizes, sums, named, rows.task == "classification")

    @cached_property
    def intervals(self) -> list[ConfidenceInterval]:
        """The score of each size."""
        return [self.sums.interval(place, self.is_share) for place in range(len(self.sizes))]

    @cached_property
    def differences(self) -> list[ConfidenceInterval]:
        """The difference of each size from all features, which have none."""
        n, whole = len(self.sizes), self.intervals[-1]
        none = replace(whole, estimate=0.0, low=0.0, high=0.0, standard_error=0.0)
        return [*(self.sums.interval(n + place, self.is_share) for place in range(n - 1)), none]

    def size_for(self, prefer: str, low: int, high: int) -> int:
        """Return the smallest size within limits that loses no more than a preference allows, or rows can see.

        Parameters
        ----------
        prefer : {"fewest", "balanced", "accuracy"}
            What the user prefers.
        low, high : int
            The fewest and the most units.

        Returns
        -------
        int
            One of `sizes`.
        """
        sizes, scores = np.array(self.sizes), np.array([interval.estimate for interval in self.intervals])
        errors = np.array([interval.standard_error for interval in self.differences])
        free = (sizes >= low) & (sizes <= high)
        free = free if free.any() else sizes == sizes[-1]
        behind = scores[free].max() - scores
        return int(sizes[np.argmax(free & (behind <= MARGIN[prefer] + errors + 1e-12))])
