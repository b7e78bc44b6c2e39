"""The cost of generalized matrix LVQ and its gradients, in matrix products (Chen, sections 2.3.2 and 4.1).

For prototypes w with classes, and distances d(x, w) = |Ω(x − w)|², a row x with weight s costs s (d₊ − d₋) / (d₊ + d₋),
where d₊ is the distance to the nearest prototype of its class and d₋ to the nearest of another. Negative is correct.

A *geometry* holds rows and knows one kind of Ω: `Full` (M × N, one for all prototypes or one for each class) or
`Diagonal`. Its *image* of the rows under Ω is what distances to any prototypes are read from; since it is linear in Ω,
the image under a mean of matrices is the mean of their images. A row with missing cells is compared over its present
coordinates.

Shapes: n rows, N features, K prototypes, L matrices, M rows of a matrix. `matrix_of[k]` is the matrix of prototype k.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fewer.problem import BoolArray, FloatArray, IntArray

SMALLEST = 1e-12
"""Relevances below this count as this in logarithms."""


@dataclass(frozen=True, eq=False)
class Image:
    """Rows as Ω maps them, and their squared lengths under each matrix."""

    points: FloatArray
    squares: FloatArray


class Geometry(ABC):
    """Rows, and how they meet prototypes under one kind of Ω."""

    def __init__(self, X: FloatArray, matrix_of: IntArray) -> None:
        holes = np.isnan(X)
        self.matrix_of = matrix_of
        self.n_matrices = int(matrix_of.max()) + 1
        self.holey = np.flatnonzero(holes.any(axis=1))
        self.X = np.ascontiguousarray(np.where(holes, 0.0, X))
        self.present = ~holes[self.holey]

    @abstractmethod
    def image(self, omega: FloatArray) -> Image:
        """Map the rows."""

    @abstractmethod
    def mean_image(self, images: Sequence[Image], omegas: Sequence[FloatArray]) -> tuple[Image, FloatArray]:
        """Give the mean of matrices, normalized, and the image under it."""

    @abstractmethod
    def distances(self, image: Image, omega: FloatArray, prototypes: FloatArray) -> FloatArray:
        """Give the (n, K) squared distances."""

    @abstractmethod
    def gradients(
        self, image: Image, omega: FloatArray, prototypes: FloatArray, pull: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Give the gradients by prototypes and by Ω of Σ pull · distances, both (n, K)."""

    @staticmethod
    @abstractmethod
    def relevances(omega: FloatArray) -> FloatArray:
        """Give the (L, N) diagonals of Λ = ΩᵀΩ."""

    @classmethod
    def normalized(cls, omega: FloatArray) -> FloatArray:
        """Scale each matrix such that its relevances sum to one."""
        return omega / _broadcast(cls.scales(omega), omega)

    @classmethod
    def scales(cls, omega: FloatArray) -> FloatArray:
        """Give the Frobenius norm of each matrix, 1 for one that is zero."""
        norms = np.sqrt(cls.relevances(omega).sum(axis=1))
        return np.where(norms > 0, norms, 1.0)

    @classmethod
    def entropy(cls, omega: FloatArray) -> float:
        """Give −Σ Λᵢᵢ log₂ Λᵢᵢ, summed over the matrices (equation 60)."""
        shares = cls.relevances(omega)
        return float(-(shares * np.log2(np.maximum(shares, SMALLEST))).sum())

    @classmethod
    def entropy_gradient(cls, omega: FloatArray) -> FloatArray:
        """Give the gradient of `entropy`: −2 Ωₗᵢ (ln Λᵢᵢ + 1) / ln 2; below the smallest Λᵢᵢ, that of its bound."""
        shares = cls.relevances(omega)
        rise = np.where(shares > SMALLEST, np.log(np.maximum(shares, SMALLEST)) + 1.0, np.log(SMALLEST)) / np.log(2.0)
        return -2.0 * omega * (rise if omega.ndim == 2 else rise[:, None, :])


class Full(Geometry):
    """Matrices of shape (L, M, N)."""

    def image(self, omega: FloatArray) -> Image:
        """Map the rows: (n, L·M)."""
        return self._with_squares(self.X @ omega.reshape(-1, omega.shape[-1]).T)

    def _with_squares(self, points: FloatArray) -> Image:
        parts = points.reshape(len(points), self.n_matrices, -1)
        return Image(points, np.einsum("nlm,nlm->nl", parts, parts))

    def mean_image(self, images: Sequence[Image], omegas: Sequence[FloatArray]) -> tuple[Image, FloatArray]:
        """Give the mean of matrices, normalized, and the image under it."""
        omega = sum(omegas[1:], omegas[0])
        scales = self.scales(omega)
        points = images[0].points + images[1].points if len(images) > 1 else images[0].points.copy()
        for image in images[2:]:
            points += image.points
        squares = np.einsum("nlm,nlm->nl", *[points.reshape(len(points), self.n_matrices, -1)] * 2) / scales**2
        if self.n_matrices == 1:
            points *= 1.0 / scales[0]
        else:
            points *= np.repeat(1.0 / scales, points.shape[1] // len(scales))
        return Image(points, squares), omega / _broadcast(scales, omega)

    def distances(self, image: Image, omega: FloatArray, prototypes: FloatArray) -> FloatArray:
        """Give the (n, K) squared distances."""
        targets = self._targets(omega, prototypes)
        squares = np.empty((len(self.X), len(prototypes)))
        for number, block, mine in self._blocks(image):
            squares[:, mine] = image.squares[:, [number]] - 2.0 * (block @ targets[mine].T)
        squares += np.einsum("km,km->k", targets, targets)
        if len(self.holey):
            for k in range(len(prototypes)):
                gaps = self._holey_gaps(image, omega, prototypes, k)
                squares[self.holey, k] = np.einsum("nm,nm->n", gaps, gaps)
        return np.maximum(squares, 0.0, out=squares)

    def gradients(
        self, image: Image, omega: FloatArray, prototypes: FloatArray, pull: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Give the gradients by prototypes and by Ω of Σ pull · distances."""
        targets = self._targets(omega, prototypes)
        holey_pull = pull[self.holey]
        if len(self.holey):
            pull = pull.copy()
            pull[self.holey] = 0.0
        total, rows = pull.sum(axis=0), pull.T @ self.X
        by_prototypes = np.empty_like(prototypes)
        pulled = np.empty_like(image.points)
        by_omega = np.empty_like(omega)
        for number, block, mine in self._blocks(image):
            np.multiply(block, pull[:, mine].sum(axis=1)[:, None], out=self._block(pulled, number))
            points = pull[:, mine].T @ block
            shifted = points - total[mine, None] * targets[mine]
            by_prototypes[mine] = -2.0 * (shifted @ omega[number])
            by_omega[number] = -(targets[mine].T @ rows[mine]) - shifted.T @ prototypes[mine]
        by_omega += (pulled.T @ self.X).reshape(omega.shape)
        if len(self.holey):
            for k, number in enumerate(self.matrix_of):
                gaps = holey_pull[:, [k]] * self._holey_gaps(image, omega, prototypes, k)
                by_omega[number] += gaps.T @ (self.X[self.holey] - self.present * prototypes[k])
                by_prototypes[k] -= 2.0 * (self.present * (gaps @ omega[number])).sum(axis=0)
        return by_prototypes, 2.0 * by_omega

    @staticmethod
    def relevances(omega: FloatArray) -> FloatArray:
        """Give the (L, N) diagonals of Λ = ΩᵀΩ."""
        return np.einsum("lmn,lmn->ln", omega, omega)

    def _targets(self, omega: FloatArray, prototypes: FloatArray) -> FloatArray:
        """Map the prototypes: (K, M)."""
        if self.n_matrices == 1:
            return prototypes @ omega[0].T
        return np.stack([omega[number] @ w for number, w in zip(self.matrix_of, prototypes, strict=True)])

    def _blocks(self, image: Image) -> list[tuple[int, FloatArray, IntArray]]:
        """Give each matrix's number, its part of the image and its prototypes."""
        return [
            (number, self._block(image.points, number), np.flatnonzero(self.matrix_of == number))
            for number in range(self.n_matrices)
        ]

    def _block(self, points: FloatArray, number: int) -> FloatArray:
        width = points.shape[1] // self.n_matrices
        return points[:, number * width : (number + 1) * width]

    def _holey_gaps(self, image: Image, omega: FloatArray, prototypes: FloatArray, k: int) -> FloatArray:
        """Give Ω(x − w) of rows with missing cells, over their present coordinates."""
        number = int(self.matrix_of[k])
        return self._block(image.points, number)[self.holey] - (self.present * prototypes[k]) @ omega[number].T


class Diagonal(Geometry):
    """Matrices that are diagonal, as (L, N) arrays: GRLVQ, and GLVQ where they stay as they are."""

    def __init__(self, X: FloatArray, matrix_of: IntArray) -> None:
        super().__init__(X, matrix_of)
        self.X_squared = self.X**2
        self.cells = np.ones_like(self.X)
        self.cells[self.holey] = self.present

    def image(self, omega: FloatArray) -> Image:
        """Map nothing: squared lengths are all that is needed."""
        return Image(np.empty((len(self.X), 0)), self.X_squared @ (omega**2).T)

    def mean_image(self, images: Sequence[Image], omegas: Sequence[FloatArray]) -> tuple[Image, FloatArray]:
        """Give the mean of matrices, normalized, and the image under it."""
        omega = self.normalized(sum(omegas[1:], omegas[0]))
        return self.image(omega), omega

    def distances(self, image: Image, omega: FloatArray, prototypes: FloatArray) -> FloatArray:
        """Give the (n, K) squared distances."""
        shares = omega[self.matrix_of] ** 2
        squares = image.squares[:, self.matrix_of] - 2.0 * (self.X @ (shares * prototypes).T)
        squares += self.cells @ (shares * prototypes**2).T
        return np.maximum(squares, 0.0, out=squares)

    def gradients(
        self, image: Image, omega: FloatArray, prototypes: FloatArray, pull: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Give the gradients by prototypes and by Ω of Σ pull · distances."""
        rows, cells, squares = pull.T @ self.X, pull.T @ self.cells, pull.T @ self.X_squared
        by_prototypes = -2.0 * omega[self.matrix_of] ** 2 * (rows - prototypes * cells)
        by_share = squares - 2.0 * prototypes * rows + prototypes**2 * cells
        by_omega = np.zeros_like(omega)
        np.add.at(by_omega, self.matrix_of, by_share)
        return by_prototypes, 2.0 * omega * by_omega

    @staticmethod
    def relevances(omega: FloatArray) -> FloatArray:
        """Give the (L, N) diagonals of Λ."""
        return omega**2


@dataclass(frozen=True, eq=False)
class Margins:
    """Whose prototype is whose: which of the (n, K) pairs share a class, and how much each row counts."""

    same: BoolArray
    weights: FloatArray

    def cost(self, distances: FloatArray) -> float:
        """Sum s (d₊ − d₋) / (d₊ + d₋) over the rows."""
        near = np.where(self.same, distances, np.inf).min(axis=1)
        far = np.where(self.same, np.inf, distances).min(axis=1)
        return float(self.weights @ _ratio(near - far, near + far))

    def pull(self, distances: FloatArray) -> tuple[float, FloatArray]:
        """Give the cost and its (n, K) gradient by the distances."""
        rows = np.arange(len(distances))
        nearest = np.where(self.same, distances, np.inf).argmin(axis=1)
        wrong = np.where(self.same, np.inf, distances).argmin(axis=1)
        near, far = distances[rows, nearest], distances[rows, wrong]
        whole = near + far
        pull = np.zeros_like(distances)
        pull[rows, nearest] = self.weights * _ratio(2.0 * far, whole**2)
        pull[rows, wrong] = -self.weights * _ratio(2.0 * near, whole**2)
        return float(self.weights @ _ratio(near - far, whole)), pull


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _broadcast(scales: FloatArray, omega: FloatArray) -> FloatArray:
    return scales.reshape(-1, *[1] * (omega.ndim - 1))
