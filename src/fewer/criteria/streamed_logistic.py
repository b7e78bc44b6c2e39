"""Logistic regression scored by k folds on a table that is read in chunks: every step of Newton's method is one pass.

A pass sums the loss, its gradient and its Hessian of all subsets at hand in all folds, each at its own coefficients,
and scores the rows held out there. Subsets begin at the coefficients of the nearest one that was fitted before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from fewer.contracts import Masks, Resources, Scorer
from fewer.criteria.cross_validated import CrossValidated
from fewer.errors import InputError
from fewer.kernels import newton, softmax
from fewer.kernels.bundles import HeldOut, Training
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.statistics import DealtFolds, RowSample, Statistics, collect

if TYPE_CHECKING:
    from fewer.errors import InputError
from fewer.io import Stream

BLOCK_ROWS = 4096  # Rows that are laid out at a time: a few of their columns fit into the cache.
MOST_SUMS = 1 << 24  # Numbers that one pass sums at most; more subsets take turns.
MOST_INPUTS = 1000
MEDIAN_ROWS = 100_000  # Rows that decide on the medians by which missing numbers are filled.
STARTS_REMEMBERED = 2000  # Subsets whose coefficients others may begin at.
MOST_HALVINGS = 20


@dataclass(frozen=True)
class LogisticModel:
    """What a `CrossValidated` criterion says of its logistic regression."""

    ridge: float
    scaled: bool
    balanced: bool

    @classmethod
    def of(cls, criterion: CrossValidated, like: Problem) -> LogisticModel | str:
        """Read it off, or say why it cannot be fitted in chunks; nothing where it is another model."""
        model, scaled = criterion.estimator, False
        steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
        if [type(step) for step in steps] == [StandardScaler, LogisticRegression]:
            scaler, model = steps
            scaled = bool(scaler.with_mean and scaler.with_std)
            if not scaled:
                return "its StandardScaler leaves out a step"
        if type(model) is not LogisticRegression:
            return ""
        given = {"penalty": "deprecated", **model.get_params(deep=False)}
        squared = {"l2": True, "deprecated": not given["l1_ratio"]}.get(given["penalty"], False)
        if not squared or given["solver"] != "lbfgs" or not given["fit_intercept"] or not np.isfinite(given["C"]):
            return "another penalty or solver than squared coefficients by lbfgs, with a constant"
        if given["class_weight"] not in (None, "balanced"):
            return "class_weight of your own"
        if criterion.scoring not in (None, "accuracy"):
            return f"scoring={criterion.scoring!r} is not accuracy"
        if criterion.preprocess != "auto":
            return "preprocess='none'"
        if (n_inputs := like.n_features + sum(map(len, like.levels.values()))) > MOST_INPUTS:
            return f"{n_inputs:,} columns and levels are more than {MOST_INPUTS:,}"
        return cls(1.0 / float(given["C"]), scaled, given["class_weight"] == "balanced")


@dataclass(frozen=True, eq=False)
class Inputs:
    """Columns as numbers: a number as it is, a level and a missing level as 0 and 1, less a middle, over a spread.

    `level` is −1 for a number and −2 for a missing level. A missing number stays missing.
    """

    owner: IntArray
    level: IntArray
    middle: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, like: Problem) -> Inputs:
        """Make inputs of all columns, less their means in the first rows."""
        pairs = []
        for column, nominal in enumerate(like.nominal.tolist()):
            levels = [*range(len(like.levels[column])), -2] if nominal else [-1]
            pairs += [(column, level) for level in levels]
        owner, level = np.array(pairs, dtype=np.int64).T
        whole = cls(owner, level, np.zeros(len(owner)), np.ones(len(owner)))
        cells = whole.cells(like.X)
        there = np.maximum((~np.isnan(cells)).sum(axis=1), 1)
        return replace(whole, middle=np.nansum(cells, axis=1) / there)

    def __len__(self) -> int:
        return len(self.owner)

    def take(self, places: Any) -> Inputs:
        """Return some of them."""
        return Inputs(self.owner[places], self.level[places], self.middle[places], self.spread[places])

    def cells(self, X: FloatArray) -> FloatArray:
        """Return (n_inputs, n_rows) numbers."""
        cells = np.ascontiguousarray(X[:, self.owner].T)
        for place in np.flatnonzero(self.level != -1):
            level = self.level[place]
            cells[place] = np.isnan(cells[place]) if level == -2 else cells[place] == level
        cells -= self.middle[:, None]
        cells /= self.spread[:, None]
        return cells


class CellMoments(Statistics):
    """Of each input in each cell of the folds: rows, missing ones, sum, sum of squares, least and most.

    Parameters
    ----------
    inputs : Inputs
        What is summed.
    folds : DealtFolds
        The cell of each row.
    n_classes : int
        Classes whose rows' weights are summed.
    """

    summed, has_ends = ("n_rows", "mass", "missing", "total", "square"), True

    def __init__(self, inputs: Inputs, folds: DealtFolds, n_classes: int) -> None:
        self._inputs, self._folds = inputs, folds
        self.n_rows = np.zeros(folds.n_cells)
        self.mass = np.zeros((folds.n_cells, n_classes))
        self.missing, self.total, self.square = np.zeros((3, folds.n_cells, len(inputs)))
        self.low = np.full((folds.n_cells, len(inputs)), np.inf)
        self.high = -self.low

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        """Add rows."""
        cells = self._folds.cells(chunk, part, start)
        for cell in np.unique(cells):
            rows = np.flatnonzero(cells == cell)
            values = self._inputs.cells(chunk.X[rows])
            missing = np.isnan(values)
            self.n_rows[cell] += len(rows)
            self.mass[cell] += np.bincount(chunk.y[rows], chunk.row_weights[rows], minlength=self.mass.shape[1])
            self.missing[cell] += missing.sum(axis=1)
            self.low[cell] = np.minimum(self.low[cell], np.where(missing, np.inf, values).min(axis=1))
            self.high[cell] = np.maximum(self.high[cell], np.where(missing, -np.inf, values).max(axis=1))
            values[missing] = 0.0
            self.total[cell] += values.sum(axis=1)
            self.square[cell] += np.einsum("pn,pn->p", values, values)

    def spreads(self, cells: BoolArray, fill: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means (from the inputs' middles) and deviations over some cells, missing numbers filled.

        Parameters
        ----------
        cells : bool array
            Which cells.
        fill : array of shape (n_inputs,)
            What stands for a missing number.

        Returns
        -------
        mean, deviation : arrays of shape (n_inputs,)
            A deviation is 1 where nothing varies.
        """
        n, missing = self.n_rows[cells].sum(), self.missing[cells].sum(axis=0)
        mean = (self.total[cells].sum(axis=0) + missing * fill) / n
        square = (self.square[cells].sum(axis=0) + missing * fill**2) / n
        low, high = self.low[cells].min(axis=0), self.high[cells].max(axis=0)
        filled = missing > 0
        low, high = np.where(filled, np.minimum(low, fill), low), np.where(filled, np.maximum(high, fill), high)
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        return mean, np.where((high > low) & (deviation > 0.0), deviation, 1.0)


class CellSample(RowSample):
    """A sample of the rows that knows their cells, as `groups`."""

    def __init__(self, quota: IntArray, seed: int, folds: DealtFolds) -> None:
        super().__init__(quota, seed)
        self._folds = folds

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        """Add rows."""
        super().add(replace(chunk, groups=self._folds.cells(chunk, part, start)), part, start)


class Splits(NamedTuple):
    """Who trains and who is held out: trains (f, n_cells), and the split that tests each cell, −1 for none."""

    trains: BoolArray
    judges: IntArray

    @classmethod
    def of(cls, folds: DealtFolds, without: int | None) -> Splits:
        """Take the inner folds in turn; in time, each span but the first is tested by those before it."""
        parts = folds.parts(without)
        judges = np.full(folds.n_cells, -1)
        trains = np.zeros((len(parts), folds.n_cells), dtype=bool)
        for number, part in enumerate(parts):
            judges[part] = number - folds.forward
            before = parts[:number] if folds.forward else [*parts[:number], *parts[number + 1 :]]
            trains[number, np.concatenate([part[:0], *before])] = True
        return cls(trains[int(folds.forward) :], judges)

    @classmethod
    def whole(cls, folds: DealtFolds, without: int | None) -> Splits:
        """Fit to all rows that train an outer fold."""
        trains = np.zeros((1, folds.n_cells), dtype=bool)
        trains[0, folds.trains(without)] = True
        return cls(trains, np.full(folds.n_cells, -1))


class Design(NamedTuple):
    """How rows become inputs: what fills missing numbers (f, n_inputs), class weights (f, c), splits, cells."""

    inputs: Inputs
    fills: FloatArray
    class_weights: FloatArray
    splits: Splits
    folds: DealtFolds


class Fits(NamedTuple):
    """Subsets of equally many inputs: members (m, k), theta (m, f, c, k + 1), asked (m, f)."""

    members: IntArray
    theta: FloatArray
    asked: BoolArray


class SlopeSums(Statistics):
    """Loss, gradient, Hessian and the weight of held-out rows that are right, of many fits in many folds.

    Parameters
    ----------
    design : Design
        How rows are laid out.
    fits : list of Fits
        At which coefficients.
    """

    def __init__(self, design: Design, fits: Sequence[Fits]) -> None:
        needed = np.unique(np.concatenate([fit.members.ravel() for fit in fits]))
        self._design = design._replace(inputs=design.inputs.take(needed), fills=design.fills[:, needed])
        self._fits = [fit._replace(members=np.searchsorted(needed, fit.members)) for fit in fits]
        self.sums = []
        for members, theta, asked in fits:
            size = theta.shape[2] * (members.shape[1] + 1)
            shapes = ((), (size,), (size, size), ())
            self.sums.append(tuple(np.zeros((*asked.shape, *shape)) for shape in shapes))

    def add(self, chunk: Problem, part: int = 0, start: int = 0) -> None:
        """Add rows, the kernel's block by block."""
        design = self._design
        cells = design.folds.cells(chunk, part, start)
        used = np.flatnonzero(design.splits.trains[:, cells].any(axis=0) | (design.splits.judges[cells] >= 0))
        for low in range(0, len(used), BLOCK_ROWS):
            self._add_block(chunk, cells, used[low : low + BLOCK_ROWS])

    def _add_block(self, chunk: Problem, cells: IntArray, rows: IntArray) -> None:
        design, (trains, judges) = self._design, self._design.splits
        rows = rows[np.argsort(judges[cells[rows]], kind="stable")]
        judge, table = judges[cells[rows]], design.inputs.cells(chunk.X[rows])
        n_folds, gaps = len(trains), np.isnan(table)
        trained = trains[:, cells[rows]]
        sizes = trained.sum(axis=1)
        shape = (n_folds, max(int(sizes.max()), 1))
        columns, y, weights = np.zeros((n_folds, len(table), shape[1])), np.zeros(shape), np.zeros(shape)
        held = table[:, judge >= 0]
        for fold, mine in enumerate(trained):
            filled = np.where(gaps, design.fills[fold][:, None], table) if gaps.any() else table
            columns[fold, :, : sizes[fold]] = filled[:, mine]
            y[fold, : sizes[fold]] = chunk.y[rows[mine]]
            weights[fold, : sizes[fold]] = (chunk.row_weights[rows] * design.class_weights[fold][chunk.y[rows]])[mine]
            held[:, judge[judge >= 0] == fold] = filled[:, judge == fold]
        bounds = np.searchsorted(judge[judge >= 0], np.arange(n_folds + 1))
        tested = rows[judge >= 0]
        judged = chunk.y[tested].astype(np.float64), chunk.row_weights[tested]
        fit, test = Training(columns, sizes, y, weights, np.zeros(n_folds), 0.0), HeldOut(held, bounds)
        for fits, sums in zip(self._fits, self.sums, strict=True):
            n_classes, size = fits.theta.shape[2], sums[1].shape[2]
            kernel, n_lines, n_outputs = (newton, 3, 2) if n_classes == 1 else (softmax, n_classes + 2, n_classes)
            scratch = (
                np.empty(size), np.empty((size, size)), np.empty((n_lines, shape[1])),
                np.empty((len(tested), n_outputs)), np.empty(len(tested), dtype=bool),
            )  # fmt: skip
            kernel.add_slopes(fit, test, judged, *fits, scratch, sums)

    def merge(self, other: SlopeSums) -> None:
        """Add what another one has summed over other rows."""
        for mine, theirs in zip(self.sums, other.sums, strict=True):
            for into, more in zip(mine, theirs, strict=True):
                into += more


@dataclass(eq=False)
class LogisticTable:
    """What one pass over a table leaves: how columns become inputs, and how much these vary in each cell of the folds.

    Attributes
    ----------
    stream : Stream
        The table.
    folds : DealtFolds
        Pairs of an outer fold (held out) and an inner one (who scores).
    model : LogisticModel
        What is fitted.
    resources : Resources
        Who reads the table.
    inputs : Inputs
        Less their means, over their deviations.
    moments : CellMoments
        Of the same before that, less `shift`.
    sample : Problem
        Rows with their cells as groups, for medians; all rows of a small table.
    moves : bool array of shape (n_inputs,)
        Inputs that are not the same in all rows.
    """

    stream: Stream
    folds: DealtFolds
    model: LogisticModel
    resources: Resources
    inputs: Inputs
    shift: FloatArray
    moments: CellMoments
    sample: Problem
    moves: BoolArray
    n_passes: int = 1
    known: dict[bytes, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, stream: Stream, model: LogisticModel, folds: DealtFolds, resources: Resources) -> LogisticTable:
        """Pass over the table once."""
        like = stream.like
        inputs = Inputs.of(like)
        n_rows = int(min(MEDIAN_ROWS, max(resources.memory // (32 * max(stream.n_features, 1)), 1000)))
        quota = RowSample.of_classes(stream.class_counts, n_rows, folds.seed).quota
        makes = partial(CellMoments, inputs, folds, like.n_classes), partial(CellSample, quota, folds.seed, folds)
        moments, drawn = collect(stream, lambda: tuple(make() for make in makes), resources)
        moves = moments.high.max(axis=0) > moments.low.min(axis=0)
        table = cls(stream, folds, model, resources, inputs, inputs.middle, moments, drawn.rows, moves)
        everyone = np.ones(folds.n_cells, dtype=bool)
        mean, deviation = moments.spreads(everyone, table.medians(everyone))
        table.inputs = replace(inputs, middle=inputs.middle + mean, spread=deviation)
        return table

    @property
    def n_missing(self) -> int:
        """How many cells of the table are missing."""
        ones = self.moments.total + self.moments.n_rows[:, None] * self.shift
        absent = self.inputs.level == -2
        return round(float(self.moments.missing[:, ~absent].sum() + ones[:, absent].sum()))

    def medians(self, trains: BoolArray) -> FloatArray:
        """Return the median of each input with missing numbers, less its shift, in the sample of some cells."""
        fill, moments = np.zeros(len(self.shift)), self.moments
        gappy = np.flatnonzero((self.inputs.level == -1) & (moments.missing.sum(axis=0) > 0))
        assert self.sample.groups is not None
        cells = self.sample.X[trains[self.sample.groups]][:, self.inputs.owner[gappy]]
        there = ~np.isnan(cells).all(axis=0)
        fill[gappy[there]] = np.nanmedian(cells[:, there], axis=0)
        fill[gappy] -= self.shift[gappy]
        return fill

    def varies(self, splits: Splits) -> BoolArray:
        """Say which columns have two values in the rows that splits use."""
        used = splits.trains.any(axis=0) | (splits.judges >= 0)
        low, high = self.moments.low[used].min(axis=0), self.moments.high[used].max(axis=0)
        level = self.inputs.level
        values = np.where(level == -1, 2 * (high > low), (level >= 0) & (high + self.shift > 0.5))
        return np.asarray(np.bincount(self.inputs.owner, values, minlength=self.stream.n_features) >= 2)

    def design(self, splits: Splits) -> tuple[Design, FloatArray, FloatArray]:
        """Return how rows become inputs in each split, with the ridges (f, n_inputs) and the training weights (f,)."""
        moments, inputs = self.moments, self.inputs
        fills = np.array([self.medians(trains) for trains in splits.trains])
        ridges = np.full_like(fills, self.model.ridge)
        if self.model.scaled:
            ridges *= np.array([moments.spreads(*split)[1] for split in zip(splits.trains, fills, strict=True)]) ** 2
        mass = np.array([moments.mass[trains].sum(axis=0) for trains in splits.trains])
        if (alone := (mass > 0.0).sum(axis=1) < 2).any():
            name = self.stream.like.classes[mass[alone][0].argmax()]
            what = "time" if self.folds.forward else "groups"
            raise InputError(f"The training rows of a fold are all of class {name}: use auto, or omit {what}.")
        weights = np.ones_like(mass)
        if self.model.balanced:
            weights = mass.sum(axis=1, keepdims=True) / np.maximum(mass, 1e-300) / mass.shape[1]
        fills = (fills + self.shift - inputs.middle) / inputs.spread
        design = Design(inputs, fills, weights, splits, self.folds)
        return design, ridges / inputs.spread**2, (mass * weights).sum(axis=1)

    def places(self, mask: Masks) -> IntArray:
        """Return the inputs of a subset."""
        return np.flatnonzero(mask[self.inputs.owner] & self.moves)

    def start(self, mask: BoolArray, members: IntArray, n_classes: int) -> FloatArray:
        """Return the coefficients (c, k + 1) of the nearest subset that was fitted before, zeros where it has none."""
        theta = np.zeros((n_classes, len(members) + 1))
        if self.known:
            names = np.array([np.frombuffer(name, dtype=bool) for name in self.known])
            nearest = int(np.argmin((names != mask).sum(axis=1)))
            known = list(self.known.values())[nearest]
            theirs = self.places(names[nearest])
            theta[:, 0] = known[:, 0]
            theta[:, 1:][:, np.isin(members, theirs)] = known[:, 1:][:, np.isin(theirs, members)]
        return theta

    def fit(self, masks: BoolArray, splits: Splits) -> tuple[list[FloatArray], FloatArray]:
        """Fit subsets in all splits.

        Parameters
        ----------
        masks : bool array of shape (m, n_features)
            The subsets.
        splits : Splits
            Who trains, who is held out.

        Returns
        -------
        thetas : list of arrays of shape (f, c, k + 1)
            Coefficients of the inputs, the constant first; c is 1 for two classes.
        right : array of shape (m, f)
            Weights of held-out rows that are predicted rightly; NaN where Newton's method did not converge.
        """
        n_folds, n_classes = len(splits.trains), self.stream.like.n_classes
        n_classes = 1 if n_classes == 2 else n_classes
        places = [self.places(mask) for mask in masks]
        sizes = np.array([len(inputs) for inputs in places])
        design = self.design(splits)
        thetas: list[FloatArray] = [np.empty(0)] * len(masks)
        right = np.empty((len(masks), n_folds))
        for turn in self._turns(n_folds * (n_classes * (sizes + 1)) ** 2):
            begun = [self.start(masks[i], places[i], n_classes) for i in turn]
            climbs = []
            for size in np.unique(sizes[turn]).tolist():
                alike = [place for place, i in enumerate(turn) if sizes[i] == size]
                start = np.repeat(np.stack([begun[place] for place in alike])[:, None], n_folds, axis=1)
                members = np.stack([places[turn[place]] for place in alike]).astype(np.int64).reshape(len(alike), size)
                climbs.append((np.array(turn)[alike], Climb(members, start, design[1], design[2])))
            while any(climb.asked.any() for _, climb in climbs):
                make = partial(SlopeSums, design[0], [climb.fits for _, climb in climbs])
                self.n_passes += 1
                for (_, climb), sums in zip(climbs, collect(self.stream, make, self.resources).sums, strict=True):
                    climb.move(*sums)
            for numbers, climb in climbs:
                right[numbers] = climb.right
                for number, theta in zip(numbers.tolist(), climb.theta, strict=True):
                    thetas[number] = theta
                    self._remember(masks[number], theta.mean(axis=0))
        return thetas, right

    @staticmethod
    def _turns(costs: IntArray) -> Iterator[list[int]]:
        """Cut subsets into those that one pass has room for."""
        turn = np.cumsum(costs) // MOST_SUMS
        for number in np.unique(turn):
            yield np.flatnonzero(turn == number).tolist()

    def _remember(self, mask: BoolArray, theta: FloatArray) -> None:
        if np.isfinite(theta).all():
            self.known.pop(mask.tobytes(), None)
            self.known[mask.tobytes()] = theta
        while len(self.known) > STARTS_REMEMBERED:
            self.known.pop(next(iter(self.known)))


class Climb:
    """Newton's method for many fits at once, steps halved where the loss would rise.

    Parameters
    ----------
    members : int array of shape (m, k)
        Inputs of each fit.
    theta : array of shape (m, f, c, k + 1)
        Where it begins.
    ridges : array of shape (f, n_inputs)
        What a squared coefficient costs.
    totals : array of shape (f,)
        Weights of the training rows.
    """

    def __init__(self, members: IntArray, theta: FloatArray, ridges: FloatArray, totals: FloatArray) -> None:
        self.members, self.theta, self._totals = members, theta, totals
        m, n_folds = theta.shape[:2]
        self.asked = np.ones((m, n_folds), dtype=bool)
        self.right = np.full((m, n_folds), np.nan)
        ridge = np.concatenate([np.zeros((m, n_folds, 1)), np.moveaxis(ridges[:, members], 0, 1)], axis=2)
        self._ridge = np.repeat(ridge[:, :, None], theta.shape[2], axis=2).reshape(m, n_folds, -1)
        self._step = np.zeros_like(self._ridge)
        self._loss = np.full((m, n_folds), np.inf)
        self._n_halved, self._n_steps = np.zeros((2, m, n_folds), dtype=np.int64)

    @property
    def fits(self) -> Fits:
        """What is asked of the next pass."""
        return Fits(self.members, self.theta, self.asked)

    def move(self, loss: FloatArray, gradient: FloatArray, hessian: FloatArray, right: FloatArray) -> None:
        """Take the sums of a pass, and make a step where there is something left to gain."""
        flat = self.theta.reshape(self._ridge.shape)
        loss = loss + 0.5 * (self._ridge * flat**2).sum(axis=2)
        gradient = gradient + self._ridge * flat
        worse = self.asked & (loss > self._loss + 1e-10 * np.abs(self._loss) + 1e-14 * self._totals)
        worse &= self._n_halved < MOST_HALVINGS
        done = self.asked & ~worse & (np.abs(gradient).max(axis=2) <= newton.EXACT * self._totals)
        self.right[done] = right[done]
        self.asked = self.asked & ~done
        self._n_steps += 1
        self.asked &= self._n_steps < newton.MOST_STEPS
        self._n_halved = np.where(worse, self._n_halved + 1, 0)
        halved, stepping = worse & self.asked, self.asked & ~worse
        self._step[halved] *= 0.5
        flat[halved] += self._step[halved]
        self._loss[stepping] = loss[stepping]
        if stepping.any():
            lower = np.tril(hessian[stepping])
            whole = lower + np.tril(lower, -1).swapaxes(1, 2)
            places = np.arange(whole.shape[1])
            whole[:, places, places] += self._ridge[stepping]
            if (n_classes := self.theta.shape[2]) > 1:  # the loss does not change when all constants grow alike
                constants = np.arange(n_classes) * self.theta.shape[3]
                more = 0.25 * np.broadcast_to(self._totals, stepping.shape)[stepping]
                whole[:, constants[:, None], constants] += more[:, None, None]
            self._step[stepping] = np.linalg.solve(whole, gradient[stepping][:, :, None])[:, :, 0]
            flat[stepping] -= self._step[stepping]
        self.theta = flat.reshape(self.theta.shape)


class StreamedLogisticScorer(Scorer):
    """Logistic regression by accuracy: every call is a handful of passes over the table.

    Parameters
    ----------
    table : LogisticTable
        The table, after its first pass.
    without : int, optional
        The outer fold whose rows take no part.
    """

    def __init__(self, table: LogisticTable, without: int | None = None) -> None:
        self._table = table
        self.splits, self._whole = Splits.of(table.folds, without), Splits.whole(table.folds, without)
        judges = self.splits.judges
        mass = table.moments.mass.sum(axis=1)
        self._held = np.array([mass[judges == fold].sum() for fold in range(len(self.splits.trains))])

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks: the mean accuracy over the folds."""
        masks = np.asarray(masks, dtype=bool)
        if not len(masks):
            return np.empty(0)
        return np.asarray((self._table.fit(masks, self.splits)[1] / self._held).mean(axis=1))

    def coefficients(self, masks: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Fit subsets to all rows of the scorer.

        Parameters
        ----------
        masks : bool array of shape (m, n_features)
            The subsets.

        Returns
        -------
        coefficients : array of shape (1 + n_inputs, m, c)
            Of the constant and the inputs; c is 1 for two classes.
        fill : array of shape (n_inputs,)
            What stands for a missing number.
        """
        table = self._table
        thetas, _ = table.fit(masks, self._whole)
        out = np.zeros((1 + len(table.inputs), len(masks), thetas[0].shape[1]))
        for number, (mask, theta) in enumerate(zip(masks, thetas, strict=True)):
            out[0, number] = theta[0, :, 0]
            out[1 + table.places(mask), number] = theta[0, :, 1:].T
        return out, table.design(self._whole)[0].fills[0]
