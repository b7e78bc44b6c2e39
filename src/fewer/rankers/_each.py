"""EACH: weights that move after every prediction of a nearest neighbor (Salzberg 1991; Loughrey, section 3.4)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from fewer.contracts import ROWS, Ranker, Ranking, Resources
from fewer.contracts.declaring import Fraction, Repeats, Share, parameters
from fewer.parallel import run_tasks
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, Task


@parameters
class EACH(Ranker):
    """Weigh features by whether they agree where the nearest neighbor is right, and disagree where it is wrong.

    Row after row is predicted by its nearest neighbor among all others, under the weights so far. If that is right, the
    weights of features in which the two match go up by a fixed step and those of the others down; if it is wrong, the
    other way round. No weight falls below 0.

    Read more in the guide: :doc:`/methods/loughrey`.

    Parameters
    ----------
    step : float, default=0.02
        By how much a weight changes; all begin at 1.
    tolerance : float, default=0.1
        Numbers match if they differ by no more than this share of the feature's range; levels if they are equal.
    n_passes : int, default=5
        The weights depend on the order of the rows; they are averaged over this many orders, each from the start.

    See Also
    --------
    ReliefF : Compares with neighbors of each class, with no weights in the distance.
    fewer.FeatureWeighter : Searches weights by the score of a criterion.

    Notes
    -----
    The squared differences of cells, in ranges, are averaged by the weights over the cells that both rows have; a cell
    that one of them lacks changes no weight. Of equally near rows the first counts. A row with weight moves features by
    so many steps, in units of the mean weight; one with weight 0 takes no part. The ranking's `extra` holds `spread`,
    the standard error of each score over the orders.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(EACH(), n_features_to_select=2, random_state=0).fit(X, y).support_
    array([False, False,  True,  True])
    """

    command_name = "each"
    takes: ClassVar[frozenset[str]] = ROWS - {"groups"}
    depends_on: ClassVar[frozenset[str]] = frozenset({"row order"})
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    step: Fraction = 0.02
    tolerance: Share = 0.1
    n_passes: Repeats = 5

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        votes = problem.row_weights
        rows = np.flatnonzero(votes > 0)
        problem, votes = problem.as_dense().take(rows), votes[rows]
        if len(rows) < 2:
            return Ranking.by_score(np.zeros(problem.n_features))
        cells = _in_ranges(problem)
        orders = [rng.permutation(len(rows)) for _ in range(self.n_passes)]
        shared = (cells, problem.nominal, problem.y, self.step * votes / votes.mean(), self.tolerance)
        passes = np.array(list(run_tasks(one_pass, [(order,) for order in orders], resources, shared=shared)))
        passes[:, problem.constant] = 0.0
        spread = passes.std(axis=0, ddof=1) / np.sqrt(len(passes)) if len(passes) > 1 else np.zeros(problem.n_features)
        return Ranking.by_score(passes.mean(axis=0), spread=spread)


def one_pass(shared: tuple[FloatArray, BoolArray, IntArray, FloatArray, float], order: IntArray) -> FloatArray:
    """Return the weights after the rows were predicted in an order."""
    cells, nominal, y, steps, tolerance = shared
    weights = np.ones(cells.shape[1])
    for row in order.tolist():
        apart = np.abs(cells - cells[row])
        apart[:, nominal] = np.where(np.isnan(apart[:, nominal]), np.nan, apart[:, nominal] != 0)
        present = ~np.isnan(apart)
        squares = np.where(present, apart, 0.0) ** 2 @ weights
        total = present @ weights
        distance = np.divide(squares, total, out=np.full(len(cells), np.inf), where=total > 0)
        distance[row] = np.inf
        nearest = int(np.argmin(distance))
        if distance[nearest] == np.inf:
            continue
        towards = np.where(apart[nearest] <= tolerance, 1.0, -1.0) * present[nearest]
        weights += (steps[row] if y[nearest] == y[row] else -steps[row]) * towards
        np.maximum(weights, 0.0, out=weights)
    return weights


def _in_ranges(problem: Problem) -> FloatArray:
    """Return the cells, numbers in units of their feature's range."""
    low, high = np.fmin.reduce(problem.X, axis=0), np.fmax.reduce(problem.X, axis=0)
    span = np.where(problem.nominal | ~(high > low), 1.0, high - low)
    return np.asarray(problem.X / span)
