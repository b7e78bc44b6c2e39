"""Search with noise, so that training rows are not overfitted, as much as given or as folds choose.

Loughrey, sections 4.2 and 7.3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Annotated, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fewer.contracts import Control, Criterion, Masks, PredictiveScorer, Resources, Run, Scorer
from fewer.contracts.declaring import NonNegative, Share, parameters
from fewer.contracts.trace import Trace
from fewer.control._one_standard_error import JudgedFolds, Record, loss_curve, search_all, squared_loss
from fewer.criteria import KNN
from fewer.criteria._knn import KNNScorer
from fewer.kernels.differences import unit_columns
from fewer.kernels.distances import CLIPPED, NOMINAL, PLAIN
from fewer.kernels.noise import POOL_BITS, NoisyRows, score_noisy
from fewer.kernels.votes import make_ballot
from fewer.problem import FloatArray, InputError, Problem
from fewer.validate import Split
from fewer.validate.splits import CV, count_splits

TABLE_SIZE = 4096


@parameters
class Noise(Control):
    """Score every subset with fresh noise added; a score that depends on a few rows does not survive.

    Read more in the guide: :doc:`/methods/loughrey`.

    Parameters
    ----------
    sd : float, default=0.25
        Standard deviation of the noise, in ranges of a feature (after min–max scaling).
    probability : float, default=0.8
        How likely a value gets noise.
    shape : {"normal", "uniform"}, default="normal"
        `"uniform"`: between −sd and sd, as chapter 4 of the thesis has it.
    control : Control, optional
        Runs inside.

    Notes
    -----
    Only the search sees noise, and only in numeric and boolean columns. With the criterion `KNN`, every distance
    between two rows draws anew for each feature, as in the thesis; with any other criterion, every cell is drawn once
    for each subset. A subset that is asked about again gets the same noise, so that runs can be resumed and scores
    kept. The score of the trace is the one with noise.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Forward(), control=Noise(), random_state=0)
    >>> bool(selector.fit(X, y).score_ < 0.95)
    True
    """

    command_name = "noise"

    sd: NonNegative = 0.25
    probability: Share = 0.8
    shape: Literal["normal", "uniform"] = "normal"
    control: Control | None = None

    def run(self, run: Run) -> Trace:
        # Search with a criterion that adds noise.
        noisy = Noisy(run.criterion, noise_table(self.sd, self.probability, self.shape))
        return replace(run, criterion=noisy).under(self.control)


def noise_table(sd: float, probability: float, shape: str = "normal") -> FloatArray:
    """List noise values so that each is as likely as the other: quantiles, and zeros for values without noise.

    Examples
    --------
    >>> table = noise_table(0.25, 0.8)
    >>> len(table), round(float(np.mean(table != 0)), 3), round(float(table[table != 0].std()), 3)
    (4096, 0.8, 0.25)
    """
    table = np.zeros(TABLE_SIZE)
    n = round(probability * len(table))
    places = (np.arange(n) + 0.5) / max(n, 1)
    table[:n] = sd * (ndtri(places) if shape == "normal" else 2.0 * places - 1.0)
    return table


def noise_pool(table: FloatArray, n_rows: int, seed: int) -> NDArray[np.float32]:
    """Shuffle copies of the table; its beginning follows once more, so that a run of n_rows may start anywhere."""
    pool = np.random.default_rng(seed).permutation(np.resize(table, 1 << POOL_BITS))
    return np.concatenate([pool, np.resize(pool, n_rows)]).astype(np.float32)


class Noisy(Criterion):
    """A criterion that judges each subset with noise of its own."""

    def __init__(self, criterion: Criterion, table: FloatArray) -> None:
        self.criterion = criterion
        self.table = table
        for name in ("supports_weights", "predictive", "takes", "tasks"):
            setattr(self, name, getattr(criterion, name))

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        seed = int(rng.integers(2**63))
        if isinstance(self.criterion, KNN):
            return NoisyNeighbors(self.criterion.bind(problem, rng, resources), self.table, seed)
        return NoisyRun(self.criterion, problem, self.table, seed, resources)


class _Clean(PredictiveScorer):
    """Predicts without noise."""

    clean: Any

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row without its own fold, and without noise."""
        return self.clean.outputs(mask)

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from all bound rows, without noise."""
        return self.clean.predict(mask, X)

    def grade(self, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs as the criterion does."""
        return float(self.clean.grade(outputs, rows))


class NoisyNeighbors(_Clean):
    """Nearest neighbors with noise in every distance."""

    def __init__(self, clean: KNNScorer, table: FloatArray, seed: int) -> None:
        self.clean, self._seed = clean, seed
        exact = clean._exact
        columns, span = unit_columns(exact)
        self._pool = noise_pool(table, clean.problem.n_samples, seed)
        self._rows = NoisyRows(
            columns.astype(np.float32),
            np.where(exact.nominal, NOMINAL, np.where(exact.holes, CLIPPED, PLAIN)).astype(np.uint8),
            (np.sqrt(exact.scale) * span).astype(np.float32),
            exact.scale.astype(np.float32),
            exact.gap.astype(np.float32),
            exact.fold,
        )

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks or weights."""
        n, rules = self.clean.problem.n_samples, self.clean._rules
        gains = np.zeros((len(masks), len(self.clean.ks)))
        room = np.empty(n, dtype=np.float32), np.empty(n), make_ballot(rules)
        for mask, row in zip(np.ascontiguousarray(masks, dtype=np.float64), gains, strict=True):
            seed, used = np.uint64(_seed_of(mask, self._seed)), np.flatnonzero(mask).astype(np.uint64)
            score_noisy(mask, used, seed, self._pool, self._rows, rules, room, row)
        return self.clean._best(gains)


class NoisyRun(_Clean):
    """Any criterion, bound anew to noisy rows for each subset."""

    def __init__(
        self, criterion: Criterion, problem: Problem, table: FloatArray, seed: int, resources: Resources
    ) -> None:
        self.problem, self._criterion, self._table, self._seed = problem, criterion, table, seed
        self._resources = resources
        low, high = problem.extremes
        self._span = np.where(problem.nominal | problem.constant, 0.0, high - low)
        self.clean = self._bind(problem)

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks, each on rows with noise of its own."""
        return np.array([self._bind(self._noisy(mask)).score(mask[None])[0] for mask in masks])

    def _noisy(self, mask: Masks) -> Problem:
        rng = np.random.default_rng(_seed_of(np.asarray(mask, dtype=np.float64), self._seed))
        noise = rng.choice(self._table, size=self.problem.X.shape)
        return replace(self.problem.as_dense(), X=self.problem.X + noise * self._span)

    def _bind(self, problem: Problem) -> Scorer:
        # The same folds each time.
        return self._criterion.bind(problem, np.random.default_rng(self._seed), self._resources)


def _seed_of(mask: FloatArray, seed: int) -> int:
    """Assign each subset a seed of its own."""
    digest = hashlib.blake2b(mask.tobytes(), digest_size=8, key=seed.to_bytes(8, "little"))
    return int.from_bytes(digest.digest(), "little")


@parameters
class ChosenNoise(JudgedFolds):
    """Search with several levels of noise without each fold; take the level whose subsets predict the folds best.

    The thesis tunes the noise of `Noise` by hand for each table. Here the whole search is repeated without each fold
    and with each level, its subset predicts that fold without noise, and the level with the least squared loss of all
    rows is used for the search on all rows. Of equal levels the first is taken.

    Read more in the guide: :doc:`/methods/loughrey`.

    Parameters
    ----------
    levels : sequence of float, default=(0.0, 0.05, 0.1, 0.25, 0.5)
        Standard deviations of the noise to choose from, in ranges of a feature; 0 is no noise.
    cv : int or splitter, default=5
        Folds on which the levels are scored.
    probability : float, default=0.8
        How likely a value gets noise.
    shape : {"normal", "uniform"}, default="normal"
        As in `Noise`.
    control : Control, optional
        Runs inside.

    See Also
    --------
    Noise : One level, given.

    Notes
    -----
    The trace's `extra` holds the `levels`, the mean loss of each as `level_loss`, the standard error of its difference
    from the best as `level_loss_error`, and `chosen_level`. What the folds say of the chosen level is flattered by the
    choice; to judge the answer, hold rows back from all of it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> control = ChosenNoise((0.0, 0.25), cv=3)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Forward(), control=control, random_state=0)
    >>> float(selector.fit(X, y).trace_.extra["chosen_level"][0])
    0.0
    """

    command_name = "chosen-noise"

    levels: Annotated[Sequence[float], list, tuple] = (0.0, 0.05, 0.1, 0.25, 0.5)
    cv: CV = 5
    probability: Share = 0.8
    shape: Literal["normal", "uniform"] = "normal"
    control: Control | None = None

    def run(self, run: Run) -> Trace:
        # Refuse levels that cannot be before anything runs.
        self._controls()
        return super().run(run)

    def n_searches(self, n_samples: int) -> int:
        # Each level without each fold, and one on all rows.
        return Control.n_searches(self, n_samples) * (1 + len(self.levels) * count_splits(self.cv, n_samples))

    def _controls(self) -> list[Control | None]:
        """Return the control of each level."""
        are_fine = all(isinstance(level, Real) and 0 <= level < float("inf") for level in self.levels)
        if not len(self.levels) or not are_fine:
            raise InputError(f"levels={list(self.levels)!r}: give numbers from 0 up, such as (0.0, 0.1, 0.25).")
        return [
            Noise(level, self.probability, self.shape, self.control) if level else self.control for level in self.levels
        ]

    def _choose(self, records: list[Record], problem: Problem, trace: Trace) -> int:
        """Put the losses of the folds into one table and choose the level."""
        rows = np.concatenate([record["rows"] for record in records])
        curve = loss_curve(np.concatenate([record["losses"] for record in records]), problem.row_weights[rows])
        place = int(np.argmin(np.round(curve["loss"], 12)))
        trace.extra.update(
            levels=np.asarray(self.levels, dtype=np.float64),
            level_loss=curve["loss"],
            level_loss_error=curve["error"],
            chosen_level=np.array([self.levels[place]], dtype=np.float64),
        )
        return place

    def _search_all(self, run: Run, records: list[Record], rng: np.random.Generator) -> None:
        trace = run.trace
        search_all(run, self._controls()[self._choose(records, run.problem, trace)], rng)
        level = float(trace.extra["chosen_level"][0])
        trace.note(
            f"Of {len(self.levels)} levels of noise, held-out rows are predicted best by searches with {level:g} of a "
            "feature's range."
            if level
            else "Held-out rows are predicted best by searches without noise."
        )

    def judged(self, run: Run, split: Split, held: Problem, rng: np.random.Generator) -> Record:
        # The subset of each level; the trace shows the best of them.
        controls = self._controls()
        losses, traces = [], []
        for control, generator in zip(controls, rng.spawn(len(controls)), strict=True):
            part = run.on(split.train, generator)
            traces.append(part.under(control))
            losses.append(squared_loss(cast(PredictiveScorer, part.scorer).predict(traces[-1].best, held.X), held))
        best = traces[int(np.argmin([loss.mean() for loss in losses]))]
        return {
            "losses": np.array(losses).T,
            "best": best.best,
            "score": best.best_score,
            "n_evaluations": sum(trace.n_evaluations for trace in traces),
        }
