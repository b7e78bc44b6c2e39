"""Random-weight networks as criterion (Nel, chapter 6)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from fewer.contracts import ROWS, Criterion, Masks, PredictiveScorer, Resources
from fewer.contracts.declaring import NonNegative, Positive, Repeats, parameters
from fewer.models.rann import Sampling, class_targets, classes_of, draw_weights
from fewer.parallel import in_threads, one_blas_thread
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.statistics.encoding import coded_inputs, values_of

# Singular values below this share of the largest count as 0 in the pseudo-inverse, as in `numpy.linalg.pinv`.
CUT = 1e-15
CHUNK_CELLS = 150_000  # outputs of hidden units computed together, so that they stay in the cache


@parameters
class RANN(Criterion):
    """How well a random-weight network predicts the target: accuracy, or R² for regression.

    Read more in the guide: :doc:`/methods/nel`.

    Parameters
    ----------
    n_hidden : int, default=20
        Hidden units.
    judge : {"loo", "train"}, default="loo"
        Each row is judged by the network fitted without it, which has a closed form (PRESS); or by the network fitted
        on all rows (the thesis), which likes large subsets.
    n_draws : int, default=5
        Number of hidden layers over which scores are averaged. They are drawn once for a run: a feature has the same
        weights in every subset.
    weight_range : float, default=0.5
        Hidden weights are uniform in ±weight_range, inputs being scaled to [−1, 1].
    sampling : {"random", "quasi"}, default="random"
        Independent weights, or points of a scrambled Halton sequence.
    alpha : float, default=1e-9
        Ridge of the output layer per row. 0 is the pseudo-inverse, as in the thesis; it takes about three times as
        long.

    Notes
    -----
    A nominal column counts as its level indicators, a missing cell as the column's mean. Row weights weigh the rows of
    the least squares and of the score. Rows of one row group are left out together. The empty subset leaves only the
    bias of the hidden layer, and so a constant output.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = fewer.SubsetSelector(RANN(), fewer.search.Forward(), random_state=0).fit(X, y)
    >>> bool(selector.score_ > 0.96)
    True
    """

    command_name = "rann"
    takes: ClassVar[frozenset[str]] = ROWS - {"time"}
    weights_repeat_rows: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = frozenset({"row order", "column order", "sign"})
    predictive: ClassVar[bool] = True

    n_hidden: Repeats = 20
    judge: Literal["loo", "train"] = "loo"
    n_draws: Repeats = 5
    weight_range: Positive = 0.5
    sampling: Sampling = "random"
    alpha: NonNegative = 1e-9

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> RANNScorer:
        return RANNScorer(self, problem, rng, resources)


class RANNScorer(PredictiveScorer):
    """`RANN` bound to rows."""

    def __init__(self, criterion: RANN, problem: Problem, rng: np.random.Generator, resources: Resources) -> None:
        self.problem = problem
        self._judge = criterion.judge
        self._n_jobs = resources.n_jobs
        self._encoder = RannEncoder(problem)
        self._inputs = self._encoder.transform(problem.X)
        self._weights = problem.row_weights
        self._ridge = criterion.alpha * float(self._weights.sum())
        n_inputs = self._inputs.shape[1] + 1
        self._layers = [
            draw_weights(n_inputs, criterion.n_hidden, criterion.weight_range, criterion.sampling, rng)
            for _ in range(criterion.n_draws)
        ]
        self._targets, self._mean = targets_of(problem, self._weights)
        self._rows = self._targets, self._weights, problem.groups
        self._chunk = max(CHUNK_CELLS // max(problem.n_samples * criterion.n_hidden, 1), 1)

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks, chunks of masks in threads."""
        used = np.asarray(masks, dtype=bool)[:, self._encoder.owner]
        chunks = [used[low : low + self._chunk] for low in range(0, len(used), self._chunk)]
        with one_blas_thread():
            scores = in_threads(self._score_chunk, chunks, self._n_jobs)
        return np.concatenate([*scores, np.empty(0)])

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row from all others (or all of other row groups)."""
        used = np.asarray(mask, dtype=bool)[None, self._encoder.owner]
        answers = [left_out(*self._solve(used, layer), *self._rows)[0] for layer in self._layers]
        return readable(np.mean(answers, axis=0), self.problem, self._mean)

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from networks fitted on all bound rows."""
        used = np.asarray(mask, dtype=bool)[None, self._encoder.owner]
        inputs = self._encoder.transform(X)
        answers = [_hidden(inputs, used, layer)[0] @ self._output_weights(used, layer) for layer in self._layers]
        return readable(np.mean(answers, axis=0), self.problem, self._mean)

    def _score_chunk(self, used: BoolArray) -> FloatArray:
        scores = np.zeros(len(used))
        for layer in self._layers:
            hidden, inverse, moment = self._solve(used, layer)
            is_loo = self._judge == "loo"
            answers = left_out(hidden, inverse, moment, *self._rows) if is_loo else hidden @ (inverse @ moment)
            scores += self._grade(answers)
        return scores / len(self._layers)

    def _grade(self, answers: FloatArray) -> FloatArray:
        total = self._weights.sum()
        if self.problem.task == "classification":
            return np.asarray((classes_of(answers) == self.problem.y) @ self._weights / total)
        error = ((answers - self._targets)[:, :, 0] ** 2) @ self._weights
        spread = float(self._weights @ self._targets[:, 0] ** 2)
        return np.asarray(1.0 - error / spread if spread > 0 else -error)

    def _solve(self, used: BoolArray, layer: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the hidden outputs (m, n, h), the inverse Gram matrices, and the moments with the targets."""
        hidden = _hidden(self._inputs, used, layer)
        if not self._ridge:
            # An orthonormal basis of the hidden outputs gives the same fits and leverages, and its Gram matrix is I.
            root = np.sqrt(self._weights)[:, None]
            basis, sizes, _ = np.linalg.svd(root * hidden, full_matrices=False)
            basis *= (sizes > CUT * sizes[:, :1])[:, None]
            one = np.broadcast_to(np.eye(sizes.shape[1]), (len(used), sizes.shape[1], sizes.shape[1]))
            return basis / root, one, basis.transpose(0, 2, 1) @ (root * self._targets)
        scaled = hidden if self.problem.sample_weight is None else hidden * self._weights[:, None]
        weighted = scaled.transpose(0, 2, 1)
        gram = weighted @ hidden + self._ridge * np.eye(layer.shape[1])
        inverse = np.asarray(np.linalg.inv(gram), dtype=np.float64)
        return hidden, inverse, weighted @ self._targets

    def _output_weights(self, used: BoolArray, layer: FloatArray) -> FloatArray:
        """Return the output layer of one subset's network, fitted on all bound rows."""
        if self._ridge:
            _, inverse, moment = self._solve(used, layer)
            return np.asarray((inverse @ moment)[0])
        root = np.sqrt(self._weights)[:, None]
        hidden = _hidden(self._inputs, used, layer)[0]
        return np.asarray(np.linalg.pinv(root * hidden, rcond=CUT) @ (root * self._targets))


def left_out(
    hidden: FloatArray, inverse: FloatArray, moment: FloatArray,
    targets: FloatArray, weights: FloatArray, groups: IntArray | None,
) -> FloatArray:  # fmt: skip
    """Return each row's output from the fit without it (or its group): y − e / (1 − leverage), without fitting again.

    Parameters
    ----------
    hidden : array of shape (m, n, h)
        What the outputs are linear in, for m fits.
    inverse, moment : arrays of shape (m, h, h) and (m, h, c)
        The inverse of each weighted Gram matrix, ridge included, and the weighted products with the targets.
    targets : array of shape (n, c)
        What is to be predicted, a column for each output.
    weights : array of shape (n,)
        How much each row counts.
    groups : array of shape (n,), optional
        Rows of one group stay together.
    """
    residual = targets - hidden @ (inverse @ moment)
    projected = hidden @ inverse
    if groups is None:
        leverage = np.einsum("mnh,mnh->mn", projected, hidden) * weights
        return np.asarray(targets - residual / np.maximum(1.0 - leverage, 1e-12)[:, :, None])
    answers = np.empty_like(residual)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        block = projected[:, rows] @ hidden[:, rows].transpose(0, 2, 1) * weights[rows]
        answers[:, rows] = targets[rows] - np.linalg.solve(np.eye(len(rows)) - block, residual[:, rows])
    return answers


def readable(answers: FloatArray, problem: Problem, mean: float) -> FloatArray:
    """Turn fitted ±1 codes into one column a class, or fitted deviations from the mean into numbers."""
    if problem.task == "regression":
        return answers[:, 0] + mean
    shares = (answers + 1.0) / 2.0
    return np.hstack([1.0 - shares, shares])[:, : problem.n_classes] if shares.shape[1] == 1 else shares


def targets_of(problem: Problem, weights: FloatArray) -> tuple[FloatArray, float]:
    """Code what is to be fitted, (n, c): classes as ±1, quantities as deviations from their mean; and that mean."""
    if problem.task == "classification":
        return class_targets(problem.y, max(problem.n_classes, 2)), 0.0
    mean = float(np.average(problem.y, weights=weights))
    return (problem.y - mean)[:, None], mean


class RannEncoder:
    """Columns scaled to [−1, 1] by the range of these rows; levels of nominal columns as ±1; gaps filled by means."""

    def __init__(self, problem: Problem) -> None:
        self.owner, self._level = coded_inputs(problem.X, problem.nominal)
        values = values_of(problem.X, self.owner, self._level)
        missing = np.isnan(values)
        seen = (~missing).any(axis=0)
        low = np.where(missing, np.inf, values).min(axis=0, initial=np.inf)
        high = np.where(missing, -np.inf, values).max(axis=0, initial=-np.inf)
        self._low = np.where(seen, low, 0.0)
        self._span = np.where(seen & (high > low), high - self._low, 1.0)
        self._mean = np.where(missing, 0.0, values).sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)

    def transform(self, X: FloatArray, columns: Any = slice(None)) -> FloatArray:
        """Encode rows: all inputs, or some of them."""
        values = values_of(X, self.owner[columns], self._level[columns])
        filled = np.where(np.isnan(values), self._mean[columns], values)
        return np.asarray(2.0 * (filled - self._low[columns]) / self._span[columns] - 1.0)


def _hidden(inputs: FloatArray, used: BoolArray, layer: FloatArray) -> FloatArray:
    """Return the hidden outputs (m, n, h) under m masks, by one matrix product."""
    m, (_, h) = len(used), layer.shape
    masked = used.T[:, :, None] * layer[:-1, None, :]
    sums = (inputs @ masked.reshape(len(layer) - 1, m * h)).reshape(len(inputs), m, h)
    # In place: fresh memory costs more than the arithmetic.
    sums += layer[-1]
    np.tanh(sums, out=sums)
    return sums.transpose(1, 0, 2)
