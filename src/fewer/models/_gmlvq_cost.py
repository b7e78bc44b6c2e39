"""The cost of generalized matrix LVQ and its gradients, in matrix products (Chen, sections 2.3.2 and 4.1).

For prototypes w with classes, and distances d(x, w) = |Ω(x − w)|², a row x with weight s costs s (d₊ − d₋) / (d₊ + d₋),
where d₊ is the distance to the nearest prototype of its class and d₋ to the nearest of another. Negative is correct.

A *geometry* holds rows and knows one kind of Ω: `Full` (M × N, one for all prototypes or one for each class) or
`Diagonal`. Its *image* of the rows under Ω is what distances to any prototypes are read from; since it is linear in Ω,
the image under a mean of matrices is the mean of their images. A row with missing cells is compared over its present
coordinates.

Shapes: n rows, N features, K prototypes, L matrices, M rows of a matrix. `matrix_of[k]` is the matrix of prototype k.
Distances and their weights are (K, n), one row for each prototype. Several sets of prototypes can be measured at once,
one below the other. All of it works in the precision of the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewer.kernels.gmlvq import (
    distances_from_products,
    margin_cost,
    margin_pull,
    scaled_sum,
    squared_lengths,
)
from fewer.problem import BoolArray, FloatArray, IntArray

SMALLEST = 1e-12
"""Relevances below this count as this in logarithms."""


@dataclass(frozen=True, eq=False)
class Image:
    """Rows as Ω maps them, (L·M, n), and their squared lengths under each matrix, (L, n)."""

    points: FloatArray
    squares: FloatArray


class Geometry(ABC):
    """Rows, and how they meet prototypes under one kind of Ω."""

    def __init__(self, X: FloatArray, matrix_of: IntArray) -> None:
        missing = np.isnan(X)
        self.matrix_of = matrix_of
        self.n_matrices = int(matrix_of.max()) + 1
        self.incomplete = np.flatnonzero(missing.any(axis=1))
        self.X = np.ascontiguousarray(np.where(missing, X.dtype.type(0), X))
        self.present = ~missing[self.incomplete]

    def matrices(self, prototypes: FloatArray) -> IntArray:
        """Return the matrix of each prototype of one or several sets."""
        return np.tile(self.matrix_of, len(prototypes) // len(self.matrix_of))

    @abstractmethod
    def image(self, omega: FloatArray) -> Image:
        """Map the rows."""

    @abstractmethod
    def mean_image(self, images: Sequence[Image], omegas: Sequence[FloatArray]) -> tuple[Image, FloatArray]:
        """Return the mean of two or more matrices, normalized, and the image under it."""

    @abstractmethod
    def distances(self, image: Image, omega: FloatArray, prototypes: FloatArray) -> FloatArray:
        """Return the (K, n) squared distances."""

    @abstractmethod
    def gradients(
        self, image: Image, omega: FloatArray, prototypes: FloatArray, pull: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gradients by prototypes and by Ω of Σ pull · distances, both (K, n)."""

    @staticmethod
    @abstractmethod
    def relevances(omega: FloatArray) -> FloatArray:
        """Return the (L, N) diagonals of Λ = ΩᵀΩ."""

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
        return float(-(shares * np.log2(np.maximum(shares, SMALLEST))).sum())

    @classmethod
    def entropy_gradient(cls, omega: FloatArray) -> FloatArray:
        """Return the gradient of `entropy`: −2 Ωₗᵢ (ln Λᵢᵢ + 1) / ln 2; below the smallest Λᵢᵢ, that of its bound."""
        shares = cls.relevances(omega)
        rise = np.where(shares > SMALLEST, np.log(np.maximum(shares, SMALLEST)) + 1.0, np.log(SMALLEST)) / np.log(2.0)
        return -2.0 * omega * (rise if omega.ndim == 2 else rise[:, None, :])


class Full(Geometry):
    """Matrices of shape (L, M, N)."""

    def __init__(self, X: FloatArray, matrix_of: IntArray) -> None:
        super().__init__(X, matrix_of)
        self.columns = np.ascontiguousarray(self.X.T)

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
        if self.n_matrices == 1:
            squares = targets @ image.points
        else:
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


class Diagonal(Geometry):
    """Matrices that are diagonal, as (L, N) arrays: GRLVQ, and GLVQ where they stay as they are."""

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


class Margins:
    """Whose prototype is whose: which of the (K, n) pairs share a class, and how much each row counts."""

    def __init__(self, same: BoolArray, weights: FloatArray) -> None:
        self.same = same
        self.weights = weights

    def cost(self, distances: FloatArray) -> float:
        """Sum s (d₊ − d₋) / (d₊ + d₋) over the rows."""
        return float(margin_cost(distances, self.same, self.weights))

    def pull(self, distances: FloatArray) -> tuple[float, FloatArray]:
        """Return the cost and its (K, n) gradient by the distances."""
        cost, pull = margin_pull(distances, self.same, self.weights)
        return float(cost), pull


def _broadcast(scales: FloatArray, omega: FloatArray) -> FloatArray:
    return scales.reshape(-1, *[1] * (omega.ndim - 1))
