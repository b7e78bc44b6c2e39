"""Networks with a random hidden layer and a least-squares output (Nel, chapter 6; extreme learning machines)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from fewer.contracts.declaring import NonNegative, Positive, Repeats, parameters
from fewer.errors import one_line
from fewer.estimators import ClassScoresMixin
from fewer.problem import FloatArray, IntArray

HIDDEN_SIZES = tuple(range(5, 51, 5))
N_PARTITIONS = 30

Sampling = Literal["random", "quasi"]


@parameters
class _RANN(BaseEstimator):
    """What classifier and regressor share."""

    _is_right: ClassVar[Any]  # Scores each row's outputs beside its targets.

    n_hidden: Repeats | Literal["auto"] = "auto"
    _: KW_ONLY
    weight_range: Positive = 0.5
    sampling: Sampling = "random"
    alpha: NonNegative = 1e-9
    random_state: Annotated[Any, "random_state"] = None

    def _fit(self, X: FloatArray, targets: FloatArray) -> None:
        """Scale the inputs, choose the hidden size if asked to, draw the hidden layer and solve for the output."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self._low, self._span = scale_of(X)
        inputs = with_bias(self._scaled(X))
        if self.n_hidden == "auto":
            sizes = [size for size in HIDDEN_SIZES if size <= max(len(X) // 3, HIDDEN_SIZES[0])]
            self.size_scores_ = hidden_size_scores(
                inputs, targets, sizes, N_PARTITIONS, rng, self._is_right,
                weight_range=self.weight_range, sampling=self.sampling, alpha=self.alpha,
            )  # fmt: skip
            self.n_hidden_ = sizes[int(np.argmax(self.size_scores_))]
        else:
            self.n_hidden_ = int(self.n_hidden)
        self.hidden_weights_ = draw_weights(inputs.shape[1], self.n_hidden_, self.weight_range, self.sampling, rng)
        self.output_weights_ = solve(np.tanh(inputs @ self.hidden_weights_), targets, self.alpha)

    def _outputs(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        return np.asarray(np.tanh(with_bias(self._scaled(X)) @ self.hidden_weights_) @ self.output_weights_)

    def _scaled(self, X: FloatArray) -> FloatArray:
        return 2.0 * (X - self._low) / self._span - 1.0


class RANNClassifier(ClassifierMixin, ClassScoresMixin, _RANN):
    """Random-weight network: a tanh hidden layer that is drawn, an output layer that is solved for.

    Read more in the guide: :doc:`/methods/nel`.

    Parameters
    ----------
    n_hidden : int or "auto", default="auto"
        Hidden units. `"auto"` is the thesis's protocol: for 5, 10, …, 50 units, the mean accuracy on the last third
        of 30 random partitions of the training rows; the best size is fitted on all of them.
    weight_range : float, default=0.5
        Hidden weights are uniform in ±weight_range, inputs being scaled to [−1, 1].
    sampling : {"random", "quasi"}, default="random"
        Independent weights, or points of a scrambled Halton sequence.
    alpha : float, default=1e-9
        Ridge of the output layer per row, against the near-collinear outputs of small hidden weights. 0 is the
        pseudo-inverse.
    random_state : int, RandomState or None
        Seed of all that is random.

    Attributes
    ----------
    classes_ : array
    n_hidden_ : int
    size_scores_ : array, only with "auto"
        Mean accuracy of each size.
    hidden_weights_, output_weights_ : arrays

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RANNClassifier(20, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any) -> RANNClassifier:
        """Fit to rows and their classes.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their target.

        Returns
        -------
        RANNClassifier
            Itself.
        """
        with one_line():
            self._validate_params()
            X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        codes = self._learn_classes(y)
        self._fit(X, class_targets(codes, len(self.classes_)))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the network's outputs: one for two classes, else one a class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    @staticmethod
    def _is_right(outputs: FloatArray, targets: FloatArray) -> FloatArray:
        return (classes_of(outputs) == classes_of(targets)).astype(np.float64)


class RANNRegressor(RegressorMixin, MultiOutputMixin, _RANN):
    """Random-weight network for quantities: a tanh hidden layer that is drawn, an output layer that is solved for.

    Read more in the guide: :doc:`/methods/nel`.

    Parameters
    ----------
    n_hidden : int or "auto", default="auto"
        Hidden units; `"auto"` chooses as `RANNClassifier` does, by R².
    weight_range : float, default=0.5
        Hidden weights are uniform in ±weight_range, inputs being scaled to [−1, 1].
    sampling : {"random", "quasi"}, default="random"
        Independent weights, or points of a scrambled Halton sequence.
    alpha : float, default=1e-9
        Ridge of the output layer per row.
    random_state : int, RandomState or None
        Draws the hidden weights.

    See Also
    --------
    RANNClassifier : The same for classes, with the details.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> y = X[:, 0] ** 2 + X[:, 1]
    >>> RANNRegressor(30, random_state=0).fit(X, y).score(X, y) > 0.999
    True
    """

    def fit(self, X: Any, y: Any) -> RANNRegressor:
        """Fit to rows and their numbers.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their target.

        Returns
        -------
        RANNRegressor
            Itself.
        """
        with one_line():
            self._validate_params()
            X, y = validate_data(self, X, y, dtype=np.float64, order="C", multi_output=True, y_numeric=True)
        self._flat = y.ndim == 1
        targets = y.reshape(len(y), -1).astype(np.float64)
        self._mean = targets.mean(axis=0)
        self._fit(X, targets - self._mean)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the network's outputs.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array
        """
        outputs = self._outputs(X) + self._mean
        return outputs[:, 0] if self._flat else outputs

    @staticmethod
    def _is_right(outputs: FloatArray, targets: FloatArray) -> FloatArray:
        return -((outputs - targets) ** 2).sum(axis=-1)


def draw_weights(
    n_inputs: int, n_hidden: int, weight_range: float, sampling: Sampling, rng: np.random.Generator
) -> FloatArray:
    """Draw (n_inputs, n_hidden) weights, uniform in ±weight_range."""
    if sampling == "random":
        return rng.uniform(-weight_range, weight_range, (n_inputs, n_hidden))
    points = qmc.Halton(n_inputs, scramble=True, seed=int(rng.integers(2**31))).random(n_hidden)
    return np.ascontiguousarray(weight_range * (2.0 * points.T - 1.0))


def solve(hidden: FloatArray, targets: FloatArray, alpha: float) -> FloatArray:
    """Solve hidden @ V ≈ targets by least squares, with a ridge of alpha per row."""
    if alpha == 0:
        return np.asarray(np.linalg.pinv(hidden) @ targets)
    gram = hidden.T @ hidden + alpha * len(hidden) * np.eye(hidden.shape[1])
    return np.asarray(np.linalg.solve(gram, hidden.T @ targets), dtype=np.float64)


def hidden_size_scores(
    inputs: FloatArray, targets: FloatArray, sizes: list[int], n_partitions: int, rng: np.random.Generator,
    is_right: Any, *, weight_range: float = 0.5, sampling: Sampling = "random", alpha: float = 1e-9,
) -> FloatArray:  # fmt: skip
    """Return the mean score of each hidden size on the last third of random partitions (Nel, section 7.1).

    Every partition draws one hidden layer of the largest size; a smaller size uses its first units. The Cholesky
    factor of the largest Gram matrix then holds those of all smaller ones.
    """
    n, largest = len(inputs), max(sizes)
    n_train = max(n - n // 3, 1)
    orders = np.array([rng.permutation(n) for _ in range(n_partitions)])
    layers = [draw_weights(inputs.shape[1], largest, weight_range, sampling, rng) for _ in range(n_partitions)]
    n_outputs = targets.shape[1]
    grams, moments = np.empty((n_partitions, largest, largest)), np.empty((n_partitions, largest, n_outputs))
    tests = np.empty((n_partitions, n - n_train, largest))
    for place, (order, layer) in enumerate(zip(orders, layers, strict=True)):
        hidden = inputs[order] @ layer
        np.tanh(hidden, out=hidden)
        train = hidden[:n_train]
        grams[place], moments[place] = train.T @ train, train.T @ targets[order[:n_train]]
        tests[place] = hidden[n_train:]
    answers = targets[orders[:, n_train:]]
    inverse = np.linalg.inv(np.linalg.cholesky(grams + max(alpha, 1e-12) * n_train * np.eye(largest)))
    rotated = inverse @ moments
    scores = np.empty(len(sizes))
    for place, size in enumerate(sizes):
        output = inverse[:, :size, :size].transpose(0, 2, 1) @ rotated[:, :size]
        scores[place] = is_right(tests[:, :, :size] @ output, answers).mean()
    return scores


def class_targets(codes: IntArray, n_classes: int) -> FloatArray:
    """Code classes as ±1: one column for two classes, else one a class."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def classes_of(outputs: FloatArray) -> IntArray:
    """Read classes from outputs: the sign of one column, or the largest of several."""
    if outputs.shape[-1] == 1:
        return (outputs[..., 0] > 0).astype(np.int64)
    return np.asarray(outputs.argmax(axis=-1))


def with_bias(X: FloatArray) -> FloatArray:
    """Add a column of ones."""
    return np.column_stack([X, np.ones(len(X))])


def scale_of(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each column's minimum and range; a constant column's range counts as 1."""
    low, high = X.min(axis=0), X.max(axis=0)
    return low, np.where(high > low, high - low, 1.0)
