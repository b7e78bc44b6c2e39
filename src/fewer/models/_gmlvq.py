"""Generalized matrix learning vector quantization: prototypes, and a metric that says which features count.

Chen, sections 2.3.2 (model), 4.1 (entropy force), 4.2 (waypoint averaging) and 4.3 (ambiguity removal).
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from fewer.contracts.declaring import Count, Fraction, NonNegative, Positive, Repeats, parameters
from fewer.errors import one_line
from fewer.estimators import ClassScoresMixin
from fewer.kernels.gmlvq import distances_from_products, margin_cost, margin_pull, scaled_sum, squared_lengths
from fewer.parallel import one_blas_thread
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, mask_of
from fewer.validate import stratified_folds

# Relevances below this count as this in logarithms.
FLOOR = 1e-12


@dataclass(frozen=True, eq=False)
class Image:
    """Rows as Ω maps them, (L·M, n), and their squared lengths under each matrix, (L, n)."""

    points: FloatArray
    squares: FloatArray


class Full:
    """Rows, and how they meet prototypes under matrices Ω of shape (L, M, N)."""

    def __init__(self, X: FloatArray, matrix_of: IntArray) -> None:
        missing = np.isnan(X)
        self.matrix_of = matrix_of
        self.n_matrices = int(matrix_of.max()) + 1
        self.incomplete = np.flatnonzero(missing.any(axis=1))
        self.X = np.ascontiguousarray(np.where(missing, X.dtype.type(0), X))
        self.present = ~missing[self.incomplete]

    @cached_property
    def columns(self) -> FloatArray:
        """The rows as columns."""
        return np.ascontiguousarray(self.X.T)

    def matrices(self, prototypes: FloatArray) -> IntArray:
        """Return the matrix of each prototype of one or several sets."""
        return np.tile(self.matrix_of, len(prototypes) // len(self.matrix_of))

    @classmethod
    def normalized(cls, omega: FloatArray) -> FloatArray:
        """Scale each matrix such that its relevances sum to one."""
        return omega / _broadcast(cls.scales(omega), omega)

    @classmethod
    def scales(cls, omega: FloatArray) -> FloatArray:
        """Return the Frobenius norm of each matrix, 1 for one that is zero."""
        return np.array([np.sqrt(np.vdot(matrix, matrix)) or 1.0 for matrix in omega], dtype=omega.dtype)

    @classmethod
    def entropy(cls, omega: FloatArray) -> float:
        """Return −Σ Λᵢᵢ log₂ Λᵢᵢ, summed over the matrices (equation 60)."""
        shares = cls.relevances(omega)
        return float(-(shares * np.log2(np.maximum(shares, FLOOR))).sum())

    @classmethod
    def entropy_gradient(cls, omega: FloatArray) -> FloatArray:
        """Return the gradient of `entropy`: −2 Ωₗᵢ (ln Λᵢᵢ + 1) / ln 2; below the smallest Λᵢᵢ, that of its bound."""
        shares = cls.relevances(omega)
        rise = np.where(shares > FLOOR, np.log(np.maximum(shares, FLOOR)) + 1.0, np.log(FLOOR)) / np.log(2.0)
        return -2.0 * omega * (rise if omega.ndim == 2 else rise[:, None, :])

    def image(self, omega: FloatArray) -> Image:
        """Map the rows."""
        points = omega.reshape(-1, omega.shape[-1]) @ self.columns
        return Image(points, squared_lengths(points, self.n_matrices))

    def mean_image(self, images: Sequence[Image], omegas: Sequence[FloatArray]) -> tuple[Image, FloatArray]:
        """Return the mean of two or more matrices, normalized, and the image under it."""
        omega = sum(omegas[1:], omegas[0])
        shrink = 1.0 / self.scales(omega)
        earlier = sum((image.points for image in images[1:-1]), images[0].points)
        return Image(*scaled_sum(earlier, images[-1].points, shrink)), omega * _broadcast(shrink, omega)

    def distances(self, image: Image, omega: FloatArray, prototypes: FloatArray) -> FloatArray:
        """Return the (K, n) squared distances."""
        targets = self._targets(omega, prototypes)
        squares = np.empty((len(prototypes), len(self.X)), dtype=self.X.dtype)
        for _, block, mine in self._blocks(image, prototypes):
            squares[mine] = targets[mine] @ block
        distances_from_products(squares, image.squares, targets, self.matrix_of)
        if len(self.incomplete):
            for k in range(len(prototypes)):
                gaps = self._incomplete_gaps(image, omega, prototypes, k)
                squares[k, self.incomplete] = np.einsum("mn,mn->n", gaps, gaps)
        return squares

    def gradients(
        self, image: Image, omega: FloatArray, prototypes: FloatArray, pull: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gradients by prototypes and by Ω of Σ pull · distances."""
        targets = self._targets(omega, prototypes)
        incomplete_pull = pull[:, self.incomplete]
        if len(self.incomplete):
            pull = pull.copy()
            pull[:, self.incomplete] = 0.0
        rows = pull @ self.X
        gaps = rows - pull.sum(axis=1)[:, None] * prototypes
        by_prototypes, by_omega = np.empty_like(prototypes), np.empty_like(omega)
        for number, block, mine in self._blocks(image, prototypes):
            mapped = gaps[mine] @ omega[number].T
            by_prototypes[mine] = -2.0 * (mapped @ omega[number])
            by_omega[number] = (block * pull[mine].sum(axis=0)) @ self.X
            by_omega[number] -= targets[mine].T @ rows[mine] + mapped.T @ prototypes[mine]
        if len(self.incomplete):
            for k, number in enumerate(self.matrix_of):
                pulled = incomplete_pull[k] * self._incomplete_gaps(image, omega, prototypes, k)
                by_omega[number] += pulled @ (self.X[self.incomplete] - self.present * prototypes[k])
                by_prototypes[k] -= 2.0 * (self.present.T * (omega[number].T @ pulled)).sum(axis=1)
        by_omega *= 2.0
        return by_prototypes, by_omega

    @staticmethod
    def relevances(omega: FloatArray) -> FloatArray:
        """Return the (L, N) diagonals of Λ = ΩᵀΩ."""
        return np.einsum("lmn,lmn->ln", omega, omega)

    def _targets(self, omega: FloatArray, prototypes: FloatArray) -> FloatArray:
        """Map the prototypes: (K, M)."""
        if self.n_matrices == 1:
            return prototypes @ omega[0].T
        return np.stack([omega[m] @ w for m, w in zip(self.matrices(prototypes), prototypes, strict=True)])

    def _blocks(self, image: Image, prototypes: FloatArray) -> list[tuple[int, FloatArray, Any]]:
        """Return each matrix's number, its part of the image and its prototypes."""
        if self.n_matrices == 1:
            return [(0, image.points, slice(None))]
        matrix_of = self.matrices(prototypes)
        return [
            (number, self._block(image.points, number), np.flatnonzero(matrix_of == number))
            for number in range(self.n_matrices)
        ]

    def _block(self, points: FloatArray, number: int) -> FloatArray:
        width = len(points) // self.n_matrices
        return points[number * width : (number + 1) * width]

    def _incomplete_gaps(self, image: Image, omega: FloatArray, prototypes: FloatArray, k: int) -> FloatArray:
        """Return Ω(x − w) of rows with missing cells, over their present coordinates: one column for each."""
        number = int(self.matrix_of[k % len(self.matrix_of)])
        return self._block(image.points, number)[:, self.incomplete] - omega[number] @ (self.present * prototypes[k]).T


class Diagonal(Full):
    """The same with matrices that are diagonal, as (L, N) arrays: GRLVQ, and GLVQ where they stay as they are."""

    def __init__(self, X: FloatArray, matrix_of: IntArray) -> None:
        super().__init__(X, matrix_of)
        self.X_squared = self.X**2
        self.cells = np.ones_like(self.X)
        self.cells[self.incomplete] = self.present

    def image(self, omega: FloatArray) -> Image:
        """Map nothing: squared lengths are all that is needed."""
        return Image(np.empty((0, len(self.X))), omega**2 @ self.X_squared.T)

    def mean_image(self, images: Sequence[Image], omegas: Sequence[FloatArray]) -> tuple[Image, FloatArray]:
        """Return the mean of two or more matrices, normalized, and the image under it."""
        omega = self.normalized(sum(omegas[1:], omegas[0]))
        return self.image(omega), omega

    def distances(self, image: Image, omega: FloatArray, prototypes: FloatArray) -> FloatArray:
        """Return the (K, n) squared distances."""
        matrix_of = self.matrices(prototypes)
        shares = omega[matrix_of] ** 2
        squares = image.squares[matrix_of] - 2.0 * ((shares * prototypes) @ self.X.T)
        squares += (shares * prototypes**2) @ self.cells.T
        return np.maximum(squares, 0.0, out=squares)

    def gradients(
        self, image: Image, omega: FloatArray, prototypes: FloatArray, pull: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gradients by prototypes and by Ω of Σ pull · distances."""
        rows, cells, squares = pull @ self.X, pull @ self.cells, pull @ self.X_squared
        by_prototypes = -2.0 * omega[self.matrix_of] ** 2 * (rows - prototypes * cells)
        by_share = squares - 2.0 * prototypes * rows + prototypes**2 * cells
        by_omega = np.zeros_like(omega)
        np.add.at(by_omega, self.matrix_of, by_share)
        return by_prototypes, 2.0 * omega * by_omega

    @staticmethod
    def relevances(omega: FloatArray) -> FloatArray:
        """Return the (L, N) diagonals of Λ."""
        return omega**2


class Margins(NamedTuple):
    """Whose prototype is whose: which of the (K, n) pairs share a class, and how much each row counts."""

    same: BoolArray
    weights: FloatArray


def _broadcast(scales: FloatArray, omega: FloatArray) -> FloatArray:
    return scales.reshape(-1, *[1] * (omega.ndim - 1))


MANY_FEATURES = 300
FEW_ROWS_OF_OMEGA = 30
WARM_UP = 3
WINDOW = 3
SHRINK = 2.0 / 3.0
# Rows times cells of Ω beyond which descent works in single precision and on all threads.
LARGE = 20_000_000
RATES = tuple(k / 10 for k in range(10))
LOOK_BACK = 10
# Change of the cost by row, over the last ten steps, below which it is at its end.
FLAT = 1e-6


@parameters
class GMLVQClassifier(ClassifierMixin, ClassScoresMixin, BaseEstimator):
    """Nearest prototype in a learned metric, whose diagonal weighs the features.

    Each class has prototypes w; a row gets the class of the prototype nearest by d(x, w) = |Ω(x − w)|². Prototypes and
    Ω minimize Σ (d₊ − d₋) / (d₊ + d₋), with d₊ the distance to the nearest prototype of the row's class and d₋ to the
    nearest of another, plus `alpha` times the entropy of the relevances. The relevance of a feature is its diagonal
    element of Λ = ΩᵀΩ; they sum to one.

    Batch gradient descent with normalized gradients, one step size for the prototypes and one for Ω. Where the mean of
    the last three positions is better than the next step, it is taken instead and the step shrinks by a third.

    Missing cells (NaN) are allowed: such a row is compared over its present coordinates. Large problems (rows times
    cells of Ω beyond 2·10⁷) are descended in single precision.

    Read more in the guide: :doc:`/methods/chen`.

    Parameters
    ----------
    n_prototypes : int, default=1
        Prototypes of each class (never more than it has rows).
    matrix : {"full", "diagonal", "none"}, default="full"
        What is learned: all of Ω (GMLVQ), its diagonal (GRLVQ), or the prototypes alone (GLVQ).
    n_components : int or "auto", default="auto"
        Rows of a full Ω. Fewer than features make training and memory linear in the number of features. By default as
        many as features up to 300 of them, and 30 beyond. A rectangular Ω starts from the leading principal
        directions, a square one from the identity.
    localized : bool, default=False
        One Ω for each class instead of one for all.
    alpha : float or "auto", default=0.0
        Entropy force: large values push relevance onto few features. "auto" is N² / 10 for N features. The cost is a
        sum over rows, so that the same alpha weighs less with more rows; a force this strong needs early stopping.
    max_iter : int, default=150
        Steps at most.
    step_prototypes, step_matrix : float, default=0.5, 0.1
        First step sizes (lengths, as gradients are normalized; features have unit variance).
    early_stopping : bool, default=False
        Keep the position with the lowest cost, without the entropy force, on rows set aside. Not needed if validation
        rows are given to `fit`.
    validation_fraction : float, default=0.25
        How many rows to set aside.
    n_iter_no_change : int, optional
        Stop after this many steps without a better validation cost.
    delete_rate : float or "auto", default=0.0
        Share of directions, those in which rows and prototypes spread least, that relevances are not to count. "auto"
        is the one of 0, 0.1, …, 0.9 without whose directions the cost on the rows set aside is lowest. Directions
        without any spread are never counted: Ω may do anything there without changing a distance.
    eigenvalue_threshold : float, default=1e-10
        What counts as no spread: an eigenvalue of the scatter below so much of the largest. A larger threshold leaves
        out more, as `delete_rate` does. With 0, and a delete rate of 0, nothing is left out: relevances are the
        diagonal of `lambda_`, as in the thesis before its section 4.3.
    standardize : bool, default=True
        Bring all features to zero mean and unit variance first. Without it relevances are not comparable.
    random_state : int, RandomState or None
        For the rows set aside and, with several prototypes a class, for where they start.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    prototypes_ : array of shape (n_all_prototypes, n_features_in_)
        In units of the standardized features: `mean_ + scale_ * prototypes_` are rows of the table.
    prototype_labels_ : array of shape (n_all_prototypes,)
    omega_ : array of shape (n_components, n_features_in_)
        The matrix that distances use, for standardized features. With a diagonal Ω the diagonal, of shape
        (n_features_in_,); with localized ones, one after the other along a first axis.
    lambda_ : array of shape (n_features_in_, n_features_in_), or one for each class
        ΩᵀΩ, computed when asked for.
    relevances_ : array of shape (n_features_in_,)
        After ambiguity removal; the mean over classes if localized. Features that do not vary have none.
    class_relevances_ : array of shape (n_classes, n_features_in_), only if localized
    loss_curve_ : list of float
        Training cost, with the entropy force, at the start and after each step.
    validation_curve_ : list of float
        Cost on the rows set aside, by row; empty without them.
    n_iter_ : int
        Steps made.
    best_iter_ : int
        The step whose position was kept.
    delete_rate_ : float
        The one given or chosen.
    mean_, scale_ : arrays of shape (n_features_in_,)
    temperature_ : float
        What distances are divided by before they become probabilities.
    n_features_in_, feature_names_in_

    References
    ----------
    P. Schneider, M. Biehl and B. Hammer, Adaptive relevance matrices in learning vector quantization, Neural
    Computation 2009. G. Papari, K. Bunte and M. Biehl, Waypoint averaging and step size control in learning by gradient
    descent, Machine Learning Reports 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GMLVQClassifier().fit(X, y)
    >>> model.score(X, y) > 0.95, model.relevances_.argsort()[::-1][:2]
    (True, array([2, 3]))
    """

    n_prototypes: Repeats = 1
    _: KW_ONLY
    matrix: Literal["full", "diagonal", "none"] = "full"
    n_components: Count | Literal["auto"] = "auto"
    localized: bool = False
    alpha: NonNegative | Literal["auto"] = 0.0
    max_iter: Count = 150
    step_prototypes: Positive = 0.5
    step_matrix: Positive = 0.1
    early_stopping: bool = False
    validation_fraction: Fraction = 0.25
    n_iter_no_change: Count | None = None
    delete_rate: Annotated[float | Literal["auto"], Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})] = 0.0
    eigenvalue_threshold: Annotated[float, Interval(Real, 0, 1, closed="left")] = 1e-10
    standardize: bool = True
    random_state: Annotated[Any, "random_state"] = None

    # ------------------------------------------------------------------------------------------------------ fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_val: Any = None, y_val: Any = None) -> GMLVQClassifier:
        """Learn prototypes and metric.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers; NaN where missing.
        y : array of shape (n_samples,)
            Classes.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts.
        X_val, y_val : optional
            Rows that decide when to stop, instead of some of the others.

        Returns
        -------
        GMLVQClassifier
            Itself.
        """
        with one_line():
            self._validate_params()
            X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        codes = self._learn_classes(y)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        held = self._held_out(X, codes, weights, X_val, y_val, rng)
        X, codes, weights = X[held.kept], codes[held.kept], weights[held.kept]

        self.mean_, self.scale_, varies = _moments(X, weights, self.standardize)
        active = varies if varies.any() else np.ones_like(varies)
        Z = ((X - self.mean_) / self.scale_)[:, active]
        prototypes, labels = self._first_prototypes(Z, codes, weights, rng)
        matrix_of = labels if self.localized else np.zeros_like(labels)
        geometry = Full if self.matrix == "full" else Diagonal
        spread = np.sqrt(weights)[:, None] * Z
        omega = self._first_omega(spread, rng)
        large = len(Z) * omega.size >= LARGE
        precision = np.float32 if large else np.float64
        descent = _Descent(
            geometry(Z.astype(precision), matrix_of),
            Margins(labels[:, None] == codes, weights.astype(precision)),
            alpha=active.sum() ** 2 / 10 if self.alpha == "auto" else float(self.alpha),
            step_prototypes=self.step_prototypes,
            step_matrix=0.0 if self.matrix == "none" else self.step_matrix,
        )
        if len(held.codes):
            Z_val = ((held.X - self.mean_) / self.scale_)[:, active]
            descent.watch(
                geometry(Z_val.astype(precision), matrix_of),
                Margins(labels[:, None] == held.codes, held.weights.astype(precision)),
            )
        with nullcontext() if large else one_blas_thread():  # handing small products out takes longer
            descent.run(prototypes.astype(precision), omega.astype(precision), self.max_iter, self.n_iter_no_change)
            descent.omega, descent.prototypes = (a.astype(np.float64) for a in (descent.omega, descent.prototypes))
            points = np.vstack([np.nan_to_num(spread), descent.prototypes])
            directions = spread_directions(points, tolerance=self.eigenvalue_threshold)
            clear = self._without_ambiguity(descent, directions)

        self._keep(descent, labels, active, varies)
        shares = _widened(geometry.relevances(geometry.normalized(clear)), active)
        shares[:, ~varies] = 0.0
        self.relevances_ = shares.mean(axis=0)
        if self.localized:
            self.class_relevances_ = shares
        self.temperature_ = _temperature(self._class_distances(self._scaled(X)), codes, weights)
        return self

    def _without_ambiguity(self, descent: _Descent, directions: FloatArray) -> FloatArray:
        """Take out of Ω what is not along the leading directions (Chen, section 4.3, corrected: from the right).

        A diagonal Ω has no such freedom and stays.
        """

        def clear(rate: float) -> FloatArray:
            if descent.omega.ndim == 2 or rate == self.eigenvalue_threshold == 0:
                return descent.omega
            kept = _leading_share(directions, rate)
            return (descent.omega @ kept.T) @ kept

        rates = RATES if self.delete_rate == "auto" else (self.delete_rate,)
        self.delete_rate_ = min(rates, key=lambda rate: descent.watched_cost(descent.prototypes, clear(rate)))
        return clear(self.delete_rate_)

    def _held_out(
        self, X: FloatArray, codes: IntArray, weights: FloatArray, X_val: Any, y_val: Any, rng: np.random.Generator
    ) -> _Held:
        """Choose the validation rows: those given, some of the others, or none."""
        if self.delete_rate == "auto" and X_val is None and not self.early_stopping:
            raise InputError(
                "delete_rate='auto' is chosen by validation rows; give X_val and y_val, or early_stopping=True."
            )
        everything = np.ones(len(X), dtype=bool)
        if X_val is not None:
            X_val, y_val = validate_data(
                self, X_val, y_val, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
            )
            known = np.isin(y_val, self.classes_)
            return _Held(everything, X_val[known], np.searchsorted(self.classes_, y_val[known]), np.ones(known.sum()))
        if not self.early_stopping:
            return _Held(everything, X[:0], codes[:0], weights[:0])
        n_folds = max(round(1 / self.validation_fraction), 2)
        held = stratified_folds(codes, n_folds, rng) == 0
        held &= np.isin(codes, codes[~held])
        return _Held(~held, X[held], codes[held], weights[held])

    def _first_prototypes(
        self, Z: FloatArray, codes: IntArray, weights: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, IntArray]:
        """Start at the class means; several of a class, halfway between its mean and rows drawn from it."""
        prototypes, labels = [], []
        for code in np.unique(codes):
            rows = Z[codes == code]
            middle = _mean(rows, weights[codes == code])
            count = min(self.n_prototypes, len(rows))
            starts = [middle]
            if count > 1:
                drawn = rows[rng.choice(len(rows), count, replace=False)]
                starts = list(middle + 0.5 * np.where(np.isnan(drawn), 0.0, drawn - middle))
            prototypes += starts
            labels += [code] * count
        return np.array(prototypes), np.array(labels, dtype=np.int64)

    def _first_omega(self, Z: FloatArray, rng: np.random.Generator) -> FloatArray:
        n_features = Z.shape[1]
        n_matrices = len(self.classes_) if self.localized else 1
        if self.matrix != "full":
            return np.full((n_matrices, n_features), 1.0 / np.sqrt(n_features))
        many = n_features > MANY_FEATURES
        asked = (FEW_ROWS_OF_OMEGA if many else n_features) if self.n_components == "auto" else self.n_components
        size = min(asked, n_features)
        one = np.eye(n_features) if size == n_features else _leading_directions(Z, size, rng)
        return np.repeat(one[None] / np.sqrt(size), n_matrices, axis=0)

    def _keep(self, descent: _Descent, labels: IntArray, active: BoolArray, varies: BoolArray) -> None:
        self.prototypes_ = _widened(descent.prototypes, active)
        self.prototype_labels_ = self.classes_[labels]
        self._labels = labels
        omega = _widened(descent.omega, active)
        omega[..., ~varies] = 0.0
        self.omega_ = omega if self.localized else omega[0]
        self.loss_curve_, self.validation_curve_ = descent.losses, descent.validation_losses
        self.n_iter_, self.best_iter_ = len(descent.losses) - 1, descent.best

    # -------------------------------------------------------------------------------------------------- predict

    def decision_function(self, X: Any) -> FloatArray:
        """Say how near rows are to each class.

        Two classes: distance to the first less distance to the second, (n_rows,). More: minus the distance to each,
        (n_rows, n_classes).

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array
        """
        near = self._class_scores(X)
        return near[:, 1] - near[:, 0] if len(self.classes_) == 2 else near

    def _class_scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return -self._class_distances(self._scaled(self._validated(X)))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities: softmax of −distance / `temperature_`, fitted to the training rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array
        """
        return softmax(self._class_scores(X) / self.temperature_, axis=1)

    def restricted(self, features: Any) -> GMLVQClassifier:
        """Return this model looking at some features only, without training anew (Chen's "original Omega").

        Columns of Ω outside `features` (indices or a mask) are zero; tables keep all their columns.

        Parameters
        ----------
        features : sequence of int
            Numbers of the features that are kept.

        Returns
        -------
        GMLVQClassifier

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> GMLVQClassifier().fit(X, y).restricted([2, 3]).score(X, y) > 0.9
        True
        """
        check_is_fitted(self)
        smaller = copy.copy(self)
        smaller.omega_ = np.where(mask_of(features, self.n_features_in_), self.omega_, 0.0)
        return smaller

    def project(self, X: Any, n_components: int = 2) -> FloatArray:
        """Map rows onto the leading eigenvectors of Λ, scaled such that distances are those of the model.

        Missing cells count as the mean of their feature.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        n_components : int, default=2
            How many directions.

        Returns
        -------
        array
        """
        check_is_fitted(self)
        if self.localized:
            raise InputError("With localized=True each class has a metric of its own: there is no common projection.")
        Z = np.nan_to_num(self._scaled(self._validated(X)))
        if self.omega_.ndim == 1:
            leading = np.argsort(-np.abs(self.omega_), kind="stable")[:n_components]
            return Z[:, leading] * self.omega_[leading]
        _, lengths, directions = np.linalg.svd(self.omega_, full_matrices=False)
        signs = np.sign(directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)])
        return Z @ (directions * (signs * lengths)[:, None])[:n_components].T

    @property
    def lambda_(self) -> FloatArray:
        """Λ = ΩᵀΩ."""
        check_is_fitted(self)
        if self.matrix != "full":
            return self.omega_[..., None] ** 2 * np.eye(self.n_features_in_)
        return np.swapaxes(self.omega_, -1, -2) @ self.omega_

    def _validated(self, X: Any) -> FloatArray:
        return validate_data(self, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=False)

    def _scaled(self, X: FloatArray) -> FloatArray:
        return (X - self.mean_) / self.scale_

    def _class_distances(self, Z: FloatArray) -> FloatArray:
        """Return the distance to the nearest prototype of each class; missing count as the row's other cells do."""
        omega = self.omega_ if self.localized else self.omega_[None]
        kind = Full if self.matrix == "full" else Diagonal
        geometry = kind(Z, self._labels if self.localized else np.zeros_like(self._labels))
        squares = geometry.distances(geometry.image(omega), omega, self.prototypes_)
        if len(geometry.incomplete):
            relevances = kind.relevances(omega).mean(axis=0)
            shares = geometry.present @ relevances
            factors = np.divide(relevances.sum(), shares, out=np.ones_like(shares), where=shares > 0)
            squares[:, geometry.incomplete] *= factors
        out = np.full((len(Z), len(self.classes_)), np.inf)
        for code in range(len(self.classes_)):
            mine = self._labels == code
            if mine.any():
                out[:, code] = squares[mine].min(axis=0)
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


# ------------------------------------------------------------------------------------------------------- descent


@dataclass(frozen=True, eq=False)
class _Held:
    """Which rows are left to train on, and the validation rows."""

    kept: BoolArray
    X: FloatArray
    codes: IntArray
    weights: FloatArray


@dataclass(eq=False)
class _Descent:
    """Waypoint-averaged batch descent with a controller for the prototypes and one for Ω (Chen, section 4.2)."""

    rows: Full
    margins: Margins
    alpha: float
    step_prototypes: float
    step_matrix: float
    losses: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    best: int = 0
    _watched: tuple[Full, Margins] | None = None

    def watch(self, rows: Full, margins: Margins) -> None:
        """Keep the position that is best for these rows."""
        self._watched = (rows, margins)

    def run(self, prototypes: FloatArray, omega: FloatArray, max_iter: int, patience: int | None) -> None:
        """Descend, and keep the last position or the best for the watched rows."""
        rows, n_prototypes = self.rows, len(prototypes)
        image = rows.image(omega)
        distances, force = rows.distances(image, omega, prototypes), self._force(omega)
        w_history: deque[FloatArray] = deque([prototypes], maxlen=WINDOW)
        omega_history: deque[tuple[Image, FloatArray]] = deque([(image, omega)], maxlen=WINDOW)
        for step in range(max_iter + 1):
            loss, pull = margin_pull(distances, *self.margins)
            self.losses.append(loss + force)
            self._judge(step, prototypes, omega)
            if step == max_iter or self._is_over(step, patience):
                break
            by_prototypes, by_omega = rows.gradients(image, omega, prototypes, pull)
            averaging = step >= WARM_UP
            next_prototypes = prototypes - self.step_prototypes * _unit(by_prototypes)
            if averaging:
                middle = sum(w_history, np.zeros_like(prototypes)) / len(w_history)
                both = rows.distances(image, omega, np.concatenate([next_prototypes, middle]))
                if margin_cost(both[:n_prototypes], *self.margins) > margin_cost(both[n_prototypes:], *self.margins):
                    next_prototypes, self.step_prototypes = middle, SHRINK * self.step_prototypes
            # Distances to the prototypes here judge an Ω, those to the next prototypes begin the next step.
            here_and_next = np.concatenate([prototypes, next_prototypes])
            if self.step_matrix > 0:
                if self.alpha:
                    by_omega = by_omega + self.alpha * rows.entropy_gradient(omega)
                next_omega = rows.normalized(omega - self.step_matrix * _unit(by_omega))
                next_image = rows.image(next_omega)
                both, force = rows.distances(next_image, next_omega, here_and_next), self._force(next_omega)
                if averaging:
                    images, omegas = zip(*omega_history, strict=True)
                    mean_image, mean_omega = rows.mean_image(images, omegas)
                    mean_both = rows.distances(mean_image, mean_omega, here_and_next)
                    mean_force = self._force(mean_omega)
                    mean_cost = margin_cost(mean_both[:n_prototypes], *self.margins) + mean_force
                    if margin_cost(both[:n_prototypes], *self.margins) + force > mean_cost:
                        next_image, next_omega, both, force = mean_image, mean_omega, mean_both, mean_force
                        self.step_matrix *= SHRINK
                image, omega = next_image, next_omega
                omega_history.append((image, omega))
            else:
                both = rows.distances(image, omega, here_and_next)
            distances, prototypes = both[n_prototypes:], next_prototypes
            w_history.append(prototypes)

    def _force(self, omega: FloatArray) -> float:
        return self.alpha * self.rows.entropy(omega) if self.alpha else 0.0

    def _judge(self, step: int, prototypes: FloatArray, omega: FloatArray) -> None:
        """Keep this position if it is the best so far. The start is none: there all features are alike."""
        if self._watched is None:
            self.best, self.prototypes, self.omega = step, prototypes, omega
            return
        loss = self.watched_cost(prototypes, omega)
        if step <= 1 or loss < self.validation_losses[self.best]:
            self.best, self.prototypes, self.omega = step, prototypes, omega
        self.validation_losses.append(loss)

    def watched_cost(self, prototypes: FloatArray, omega: FloatArray) -> float:
        """Return the cost by watched row, without the entropy force; 0 if none is watched."""
        if self._watched is None:
            return 0.0
        rows, margins = self._watched
        omega, prototypes = (a.astype(rows.X.dtype, copy=False) for a in (omega, prototypes))
        cost = margin_cost(rows.distances(rows.image(omega), omega, prototypes), *margins)
        return float(cost) / float(margins.weights.sum())

    def _is_over(self, step: int, patience: int | None) -> bool:
        recent = self.losses[-LOOK_BACK:]
        flat = step >= LOOK_BACK and max(recent) - min(recent) <= FLAT * self.margins.weights.sum()
        return flat or (patience is not None and self._watched is not None and step - self.best >= patience)


def _unit(gradient: FloatArray) -> FloatArray:
    length = float(np.sqrt(np.vdot(gradient, gradient)))
    return gradient / length if length > 0 else gradient


def spread_directions(points: FloatArray, delete_rate: float = 0.0, tolerance: float = 1e-10) -> FloatArray:
    """Return orthonormal directions, as rows, in which points spread about the origin, those of most spread first.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
        Rows, or prototypes.
    delete_rate : float, default=0.0
        Share of the n_features directions to leave out, those of least spread.
    tolerance : float, default=1e-10
        Directions whose eigenvalue of PᵀP is below so much of the largest are left out too: there is no spread.

    Examples
    --------
    >>> (spread_directions(np.array([[1.0, 1.0], [2.0, 2.0]])) ** 2).round(3)
    array([[0.5, 0.5]])
    """
    n_points, n_features = points.shape
    if n_features <= n_points:
        values, vectors = np.linalg.eigh(points.T @ points)
    else:
        values, vectors = np.linalg.eigh(points @ points.T)
        vectors = points.T @ vectors / np.sqrt(np.maximum(values, np.finfo(float).tiny))
    seen = np.flatnonzero(values > tolerance * values[-1])[::-1]
    return _leading_share(vectors[:, seen].T, delete_rate)


def _leading_share(directions: FloatArray, delete_rate: float) -> FloatArray:
    """Leave out the last of N directions in N dimensions (those without spread are already)."""
    n_features = directions.shape[1]
    return directions[: n_features - round(delete_rate * n_features)]


def _leading_directions(Z: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return orthonormal rows: the leading principal directions, then random ones where the rows have no more."""
    leading = spread_directions(np.nan_to_num(Z))[:size]
    rest = rng.normal(size=(size - len(leading), Z.shape[1]))
    return np.linalg.qr(np.vstack([leading, rest]).T)[0].T


def _moments(X: FloatArray, weights: FloatArray, standardize: bool) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return mean and standard deviation of each feature, over present cells, and which features vary."""
    mean = _mean(X, weights)
    deviation = np.sqrt(_mean((X - mean) ** 2, weights))
    varies = deviation > 1e-12 * np.maximum(np.abs(mean), np.finfo(float).tiny)
    if not standardize:
        return np.zeros_like(mean), np.ones_like(mean), varies
    return mean, np.where(varies, deviation, 1.0), varies


def _mean(X: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted mean of each column over its present cells, 0 where there is none."""
    present = ~np.isnan(X)
    mass = weights @ present
    return np.divide(weights @ np.where(present, X, 0.0), mass, out=np.zeros(X.shape[1]), where=mass > 0)


def _widened(array: FloatArray, active: BoolArray) -> FloatArray:
    """Put zeros where features were left out."""
    wide = np.zeros((*array.shape[:-1], len(active)))
    wide[..., active] = array
    return wide


def _temperature(distances: FloatArray, codes: IntArray, weights: FloatArray) -> float:
    """Find what to divide distances by such that their softmax fits the classes best.

    The likelihood is concave in 1 / temperature: its slope is the mean distance less the expected one, and has one
    root. A row of prior doubt about all rows together (as Platt scaling has it) keeps it finite where classes are
    told apart without error.
    """
    there = np.isfinite(distances).all(axis=0)
    distances = distances[:, there]
    doubt = 1.0 / (weights.sum() + 2.0)
    targets = np.where(np.flatnonzero(there) == codes[:, None], 1.0 - doubt, doubt / (there.sum() - 1))
    expected = (targets * distances).sum(axis=1)
    unit = float(weights @ distances.mean(axis=1)) / weights.sum() or 1.0

    def slope(sharpness: float) -> float:
        return float(weights @ ((softmax(-sharpness / unit * distances, axis=1) * distances).sum(axis=1) - expected))

    low, high = 1e-3, 1e3
    if slope(high) >= 0:
        return unit / high
    return unit / (brentq(slope, low, high, xtol=1e-14) if slope(low) > 0 else low)
