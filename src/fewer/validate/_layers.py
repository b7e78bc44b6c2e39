"""Cross-validation in layers: test, validation and training (Loughrey, chapter 5; specification section 6).

The outer layer holds rows back for the final test; the middle one holds some of the others back to decide when to stop
believing the search; the inner one is the cross-validation that gives a subset its score.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fewer.problem import IntArray, Problem
from fewer.validate._folds import FixedFolds, assign_folds


@dataclass(frozen=True, eq=False)
class Layer:
    """Rows to learn from, rows held back from them, and the same again inside.

    Parameters
    ----------
    train, test : int arrays
        Row numbers of the whole problem.
    folds : int array of shape (len(train),)
        The training layer: the fold of each training row, for the cross-validation that scores subsets.
    inner : tuple of Layer
        The validation layer: splits of `train`, in row numbers of the whole problem.

    See Also
    --------
    LayeredFolds : Makes them.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((8, 1)), np.arange(8) % 2)
    >>> layer = next(LayeredFolds(n_test=2, n_validation=2, n_training=2).split(problem, np.random.default_rng(0)))
    >>> len(layer.train), len(layer.test), len(layer.inner)
    (4, 4, 2)
    """

    train: IntArray
    test: IntArray
    folds: IntArray
    inner: tuple[Layer, ...] = ()

    @property
    def cv(self) -> FixedFolds:
        """The training layer as a scikit-learn splitter, for the `cv` of a criterion bound to `train`."""
        return FixedFolds(self.folds)


@dataclass(frozen=True)
class LayeredFolds:
    """Folds within folds within folds, each stratified and none splitting a row group.

    Parameters
    ----------
    n_test, n_validation, n_training : int, default=10
        Folds of each layer. With ten each, a test fold has 10 % of the rows, a validation fold 9 % of all, and 81 %
        remain to search on.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((200, 1)), np.arange(200) % 2)
    >>> layers = list(LayeredFolds().split(problem, np.random.default_rng(0)))
    >>> outer, inner = layers[0], layers[0].inner[0]
    >>> len(layers), len(outer.train), len(outer.test), len(outer.inner), len(inner.train), len(inner.test)
    (10, 180, 20, 10, 162, 18)
    """

    n_test: int = 10
    n_validation: int = 10
    n_training: int = 10

    def split(self, problem: Problem, rng: np.random.Generator) -> Iterator[Layer]:
        """Return the layers of each test fold; the draws of one do not depend on whether others were used.

        Parameters
        ----------
        problem : Problem
            The rows.
        rng : Generator
            Shuffles them.

        Yields
        ------
        Layer
            One a test fold.
        """
        everything = np.arange(problem.n_samples)
        for train, test, own in _parts(problem, everything, self.n_test, rng):
            inner = tuple(
                Layer(part, held, assign_folds(problem.take(part), self.n_training, draw))
                for part, held, draw in _parts(problem, train, self.n_validation, own)
            )
            yield Layer(train, test, assign_folds(problem.take(train), self.n_training, own), inner)


def _parts(
    problem: Problem, rows: IntArray, n_folds: int, rng: np.random.Generator
) -> list[tuple[IntArray, IntArray, np.random.Generator]]:
    folds = assign_folds(problem.take(rows), n_folds, rng)
    numbers = np.unique(folds)
    seeds = rng.integers(2**63, size=len(numbers))
    return [
        (rows[folds != number], rows[folds == number], np.random.default_rng(seed))
        for number, seed in zip(numbers, seeds, strict=True)
    ]
