"""Train with noise, so that the search cannot learn its rows by heart (Loughrey, sections 4.2 and 7.3)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from fewer.contracts import (
    Control,
    Criterion,
    Masks,
    PredictiveScorer,
    Resources,
    Run,
    Scorer,
)
from fewer.criteria import KNN
from fewer.criteria._knn import KNNScorer
from fewer.kernels._distances import CLIPPED, NOMINAL, PLAIN
from fewer.kernels._noise import POOL_BITS, score_noisy
from fewer.kernels._noise import NoisyRows as LaidOut
from fewer.problem import FloatArray, Problem, Task
from fewer.trace import Trace

TABLE_SIZE = 4096


class Noise(Control):
    """Judge every subset on values with fresh noise; a subset that owes its score to a few rows does not keep it.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sd": [Interval(Real, 0, None, closed="left")],
        "probability": [Interval(Real, 0, 1, closed="both")],
        "shape": [StrOptions({"normal", "uniform"})],
        "control": [HasMethods("run"), None],
    }

    def __init__(
        self,
        sd: float = 0.25,
        probability: float = 0.8,
        shape: Literal["normal", "uniform"] = "normal",
        control: Control | None = None,
    ) -> None:
        self.sd = sd
        self.probability = probability
        self.shape = shape
        self.control = control

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
        self.monotone = False  # type: ignore[misc]
        self.supports_weights = criterion.supports_weights  # type: ignore[misc]
        self.predictive = criterion.predictive  # type: ignore[misc]

    @property
    def tasks(self) -> tuple[Task, ...]:  # type: ignore[override]
        """Those of the criterion."""
        return self.criterion.tasks

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        seed = int(rng.integers(2**63))
        if isinstance(self.criterion, KNN):
            return NoisyNeighbors(self.criterion.bind(problem, rng, resources), self.table, seed)
        return NoisyRows(self.criterion, problem, self.table, seed, resources)


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
        exact = clean._differences
        missing, nominal = exact.missing.astype(bool), exact.nominal.astype(bool)
        low = np.where(missing, np.inf, exact.columns).min(axis=1)
        high = np.where(missing, -np.inf, exact.columns).max(axis=1)
        varies = ~nominal & (high > low)
        low, span = np.where(varies, low, 0.0), np.where(varies, high - low, 1.0)
        columns = np.where(missing, np.nan, (exact.columns - low[:, None]) / span[:, None])
        self._pool = noise_pool(table, clean.problem.n_samples, seed)
        self._rows = LaidOut(
            columns.astype(np.float32),
            np.where(nominal, NOMINAL, np.where(missing.any(axis=1), CLIPPED, PLAIN)).astype(np.uint8),
            (np.sqrt(exact.scale) * span).astype(np.float32),
            exact.scale.astype(np.float32),
            exact.gap.astype(np.float32),
            exact.fold,
        )

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks or weights."""
        gains = np.zeros((len(masks), len(self.clean.ks)))
        for mask, own in zip(np.ascontiguousarray(masks, dtype=np.float64), gains, strict=True):
            score_noisy(mask, np.uint64(_seed_of(mask, self._seed)), self._pool, self._rows, self.clean._rules, own)
        return self.clean._best(gains)


class NoisyRows(_Clean):
    """Any criterion, bound anew to noisy rows for each subset."""

    def __init__(
        self, criterion: Criterion, problem: Problem, table: FloatArray, seed: int, resources: Resources
    ) -> None:
        self.problem, self._criterion, self._table, self._seed = problem, criterion, table, seed
        self._resources = resources
        span = np.fmax.reduce(problem.X, axis=0) - np.fmin.reduce(problem.X, axis=0)
        self._span = np.where(problem.nominal | problem.constant, 0.0, span)
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
