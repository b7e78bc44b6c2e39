"""Nested subsets in the order in which features enter a penalised fit: lasso and elastic net."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from scipy.special import expit, logsumexp, softmax
from sklearn.utils._param_validation import Interval

from fewer.contracts import Objective, Search, SearchSpace
from fewer.contracts.declaring import Fraction, Several, parameters
from fewer.contracts.trace import Step
from fewer.kernels.path import TOLERANCE, Corners, Ever, descend, descend_singly, follow, turn_corners
from fewer.problem import FloatArray, IntArray, Problem
from fewer.search._sequential import State, begin, move_to, step_of
from fewer.statistics.encoding import scaled_inputs

MOST_MODELS = 500
MOST_HALVINGS = 20
# Inputs up to which all products of a squared loss are computed at once, if there are as many rows.
MOST_AT_ONCE = 1000
FLATTEST = 1e-5  # Curvatures of a row's loss below this count as this.


@parameters
class RegularizationPath(Search):
    """Score the nested subsets in which features enter a penalised fit, from the strongest penalty to the weakest.

    Squared loss for quantities, logistic for two classes, multinomial for more; the criterion scores the subset of the
    first feature, of the first two, and so on, and the best of an allowed size is the answer. The path is computed on
    the rows that the criterion is bound to.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    penalty : {"l1", "elastic-net"}, default="l1"
        The lasso; or the elastic net, which lets correlated features in together.
    l1_ratio : float, default=0.5
        Share of the l1 part in the elastic net.
    n_alphas : int, default=100
        Penalties on the way.
    eps : float, default=1e-3
        The weakest penalty as a share of the strongest, at which nothing is in.

    Notes
    -----
    Columns are scaled to unit variance; a nominal column stands as its level indicators, which enter together (group
    lasso) and so do the columns of a feature group; missing cells count as the mean. Features forced in are not
    penalised. Row weights weigh the loss. Features that enter between the same two penalties are ordered by the size of
    their coefficients. A feature may leave the fit again further down the path; it keeps its place in the order.
    `trace_.state` holds `order` (units by entry) and `entered_at` (the penalty of each).

    References
    ----------
    R. Tibshirani, Regression shrinkage and selection via the lasso, Journal of the Royal Statistical Society B 58,
    1996. J. Friedman, T. Hastie and R. Tibshirani, Regularization paths for generalized linear models via coordinate
    descent, Journal of Statistical Software 33, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import fewer
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> search = RegularizationPath()
    >>> selector = fewer.SubsetSelector(fewer.criteria.LeastSquares(), search, n_features_to_select=3, random_state=0)
    >>> selector.fit(X, y).get_feature_names_out().tolist()
    ['bmi', 'bp', 's5']
    """

    command_name = "lasso-path"
    ordered: ClassVar[bool] = True

    penalty: Literal["l1", "elastic-net"] = "l1"
    l1_ratio: Annotated[float, Interval(Real, 0, 1, closed="right")] = 0.5
    n_alphas: Several = 100
    eps: Fraction = 1e-3

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Compute the path, then score the subsets along it.
        if not state:
            ratio = 1.0 if self.penalty == "l1" else float(self.l1_ratio)
            order, alphas = entry_order(scorer.problem, space, ratio, self.n_alphas, self.eps)
            yield begin(scorer, space.empty(), state, order=order, entered_at=alphas, size=0)
        while state["size"] < space.max_units:
            state["size"] += 1
            mask = space.empty()
            mask[state["order"][: state["size"]]] = True
            score = float(scorer.score(mask[None])[0])
            if not space.allows(state["best"]):
                state.update(best=mask, best_score=score)
            move_to(mask, score, state, space)
            yield step_of(state)


def entry_order(
    problem: Problem, space: SearchSpace, l1_ratio: float = 1.0, n_alphas: int = 100, eps: float = 1e-3
) -> tuple[IntArray, FloatArray]:
    """Order the units of a space by the penalty at which they enter the fit.

    Parameters
    ----------
    problem : Problem
        The rows.
    space : SearchSpace
        What may be chosen.
    l1_ratio : float, default=1.0
        1 for the lasso, less for the elastic net.
    n_alphas : int, default=100
        How many penalties are tried.
    eps : float, default=1e-3
        The smallest penalty as a share of the largest.

    Returns
    -------
    order : int array of shape (n_units,)
        Units that do not enter before `space.max_units` others have come last, by the pull of the residuals then.
    alphas : array of shape (n_units,)
        The penalty at which each unit of the order entered, 0 for those that did not.
    """
    fit = _PenalisedFit(problem, space, l1_ratio)
    entered, sizes = np.zeros(space.n_units), np.zeros(space.n_units)
    fit.follow(fit.strongest() * np.geomspace(1.0, eps, n_alphas), entered, sizes, space.max_units)
    sizes = np.where(entered > 0, sizes, fit.pulls()[: space.n_units])
    order = np.lexsort((np.arange(space.n_units), -sizes, -entered))
    return order.astype(np.int64), entered[order]


class _PenalisedFit:
    """A penalised linear fit that goes from one penalty to the next.

    Groups are the units of a space, then one for each column forced in, which are not penalised. Squared loss: one
    quadratic problem by coordinate descent, whose gradient goes on from penalty to penalty. Logistic loss: Newton's
    steps, each of them such a problem with the rows weighted by the curvature of their loss (glmnet's way); with more
    than two classes by a bound of it that holds for all classes together, so that groups stay whole.
    """

    def __init__(self, problem: Problem, space: SearchSpace, l1_ratio: float) -> None:
        self.l1_ratio, self.is_squared = l1_ratio, problem.task == "regression"
        self.weights = problem.row_weights / problem.row_weights.sum()
        self.inputs, owner = scaled_inputs(problem, self.weights)
        self.targets, self.squares = _targets(problem, self.weights), self.inputs**2
        is_plain = len(owner) == problem.n_features  # each column is one input
        groups = list(space.units) if is_plain else [np.flatnonzero(np.isin(owner, unit)) for unit in space.units]
        groups += [np.flatnonzero(owner == column) for column in np.flatnonzero(space.base)]
        lengths = np.fromiter(map(len, groups), np.int64, len(groups))
        self.starts = np.append(0, np.cumsum(lengths))
        self.members = np.concatenate([*groups, np.empty(0, dtype=np.int64)]).astype(np.int64)
        self.factors = np.sqrt(lengths)
        self.factors[space.n_units :] = 0.0
        n_inputs, n_outputs = self.inputs.shape[1], self.targets.shape[1]
        self.coefficients, self.intercept = np.zeros((n_inputs, n_outputs)), np.zeros(n_outputs)
        self.fitted, self.curvatures = np.zeros(self.targets.shape), np.empty(len(groups))
        self.place = np.full(n_inputs, -1, dtype=np.int64)
        self._model(self.weights, self.weights[:, None] * self.targets)
        if self.is_squared and n_inputs <= min(problem.n_samples, MOST_AT_ONCE):
            self._learn(np.arange(n_inputs))

    def strongest(self) -> float:
        """Return the penalty at which no penalised unit is in yet."""
        penalised = self.factors > 0
        if not (self.is_squared and penalised.all()):
            self.solve(np.inf)
        pulls = self.pulls()[penalised] / self.factors[penalised]
        return float(pulls.max(initial=0.0)) / self.l1_ratio or 1.0

    def follow(self, alphas: FloatArray, entered: FloatArray, sizes: FloatArray, most: int) -> None:
        """Fit with one penalty after the other until `most` units are in; note when each came and its length."""
        if self.is_squared and self._is_single:
            arrivals, shares = (entered, sizes), self._penalties(1.0)
            is_lasso = self.l1_ratio == 1.0 and bool((self.factors == 1.0).all())
            done = self._turn_corners(alphas, arrivals, most) if is_lasso and not self.coefficients.any() else 0
            while done < len(alphas):
                fit, known = (self.coefficients[:, 0], self.gradient[:, 0]), (self.gram, self.place)
                groups = self.starts, self.members, self.curvatures
                steps, g = follow(alphas[done:], shares, fit, known, groups, self._ever, arrivals, most)
                done += steps
                if g >= 0:
                    self._learn(self.members[g : g + 1])
            return
        for alpha in alphas.tolist():
            self.solve(alpha)
            lengths = self.lengths()[: len(entered)]
            new = (lengths > 0) & (entered == 0)
            entered[new], sizes[new] = alpha, lengths[new]
            if np.count_nonzero(entered) >= most:
                return

    def _turn_corners(self, alphas: FloatArray, arrivals: Any, most: int) -> int:
        """Follow the lasso exactly, as far as its columns let it; return how many penalties are done."""
        room, fit = min(len(self.inputs), len(self.factors)), (self.coefficients[:, 0], self.gradient[:, 0])
        corners = Corners.nobody(room, len(self.factors), len(self.gradient))
        at, done, g = np.array([max(alphas[0], self.pulls().max(initial=0.0))]), 0, -1
        while done < len(alphas) and g != -2:
            known = self.gram, self.place
            steps, g = turn_corners(alphas[done:], at, fit, known, self.members, corners, arrivals, most)
            done += steps
            if g >= 0:
                self._learn(self.members[g : g + 1])
        return done

    @property
    def _is_single(self) -> bool:
        return self.coefficients.shape[1] == 1 and len(self.members) == len(self.factors)

    def _penalties(self, alpha: float) -> tuple[FloatArray, FloatArray]:
        """Return what the length and half the square of each group's coefficients cost."""
        penalised = self.factors > 0
        lengths, squares = np.zeros(len(self.factors)), np.zeros(len(self.factors))
        lengths[penalised] = alpha * self.l1_ratio * self.factors[penalised]
        squares[penalised] = alpha * (1.0 - self.l1_ratio) if np.isfinite(alpha) else 0.0
        return lengths, squares

    def solve(self, alpha: float) -> None:
        """Fit with a penalty, from where the fit stands."""
        lengths, squares = self._penalties(alpha)
        if self.is_squared:
            self._descend(lengths, squares)
            return
        cost = self._cost(self.fitted, self.coefficients, lengths, squares)
        for _ in range(MOST_MODELS):
            means = self._mean(self.fitted)
            residual = self.weights[:, None] * (self.targets - means)
            bends = means * (1.0 - means)
            bend = self.weights * np.maximum(bends[:, 0] if bends.shape[1] == 1 else 2.0 * bends.max(axis=1), FLATTEST)
            self._model(bend, residual)
            before = self.coefficients.copy()
            self._descend(lengths, squares)
            step = self.coefficients - before
            shift = residual.sum(axis=0) / bend.sum() - self._center @ step
            moved = np.flatnonzero(step.any(axis=1))
            change = self.inputs[:, moved] @ step[moved] + shift
            for _ in range(MOST_HALVINGS):
                after = self._cost(self.fitted + change, self.coefficients, lengths, squares)
                if after <= cost + 1e-12 * abs(cost):
                    break
                step, shift, change = step / 2, shift / 2, change / 2
                self.coefficients[:] = before + step
            cost = after
            self.fitted += change
            self.intercept = self.intercept + shift
            if max(np.abs(step).max(initial=0.0), np.abs(shift).max()) < 10 * TOLERANCE:
                return

    def lengths(self) -> FloatArray:
        """Return the length of each group's coefficients."""
        return self._by_group(self.coefficients)

    def pulls(self) -> FloatArray:
        """Return how strongly the residuals pull at each group."""
        if not self.is_squared:
            residual = self.weights[:, None] * (self.targets - self._mean(self.fitted))
            return self._by_group(self.inputs.T @ residual)
        return self._by_group(self.gradient)

    def _by_group(self, values: FloatArray) -> FloatArray:
        squares = np.append((values[self.members] ** 2).sum(axis=1), 0.0)
        return np.sqrt(np.add.reduceat(squares, self.starts[:-1])) if len(self.factors) else np.empty(0)

    def _cost(self, fitted: FloatArray, coefficients: FloatArray, lengths: FloatArray, squares: FloatArray) -> float:
        """Return the loss and the penalty."""
        if fitted.shape[1] == 1:
            losses = np.logaddexp(0.0, fitted[:, 0]) - self.targets[:, 0] * fitted[:, 0]
        else:
            losses = logsumexp(fitted, axis=1) - (self.targets * fitted).sum(axis=1)
        sizes = self._by_group(coefficients)
        inside = sizes > 0
        return float(self.weights @ losses + lengths[inside] @ sizes[inside] + 0.5 * squares @ sizes**2)

    def _mean(self, fitted: FloatArray) -> FloatArray:
        return np.asarray(expit(fitted) if fitted.shape[1] == 1 else softmax(fitted, axis=1))

    def _model(self, bend: FloatArray, residual: FloatArray) -> None:
        """Set up the quadratic problem of rows with these weights and gradients, the constant taken out."""
        self._bend, total = bend, bend.sum()
        self._center = bend @ self.inputs / total
        self.gradient = self.inputs.T @ residual - np.outer(self._center, residual.sum(axis=0))
        diagonal = np.maximum(bend @ self.squares - total * self._center**2, 1e-12)
        self.gram, self.place[:] = np.empty((0, self.inputs.shape[1])), -1
        self._ever = Ever.nobody(len(self.factors))
        lengths = np.diff(self.starts)
        self.curvatures[lengths == 1] = diagonal[self.members[self.starts[:-1][lengths == 1]]]
        for g in np.flatnonzero(lengths != 1):
            inputs = self.members[self.starts[g] : self.starts[g + 1]]
            curvature = np.linalg.eigvalsh(self._rows(inputs)[:, inputs])[-1] if len(inputs) else 1.0
            self.curvatures[g] = max(float(curvature), 1e-12)
        self._learn(np.flatnonzero(self.coefficients.any(axis=1)))

    def _descend(self, lengths: FloatArray, squares: FloatArray) -> None:
        groups, penalty = (self.starts, self.members, self.curvatures), (lengths, squares)
        while (g := self._descend_once(groups, penalty)) >= 0:
            self._learn(self.members[self.starts[g] : self.starts[g + 1]])

    def _descend_once(self, groups: Any, penalty: Any) -> int:
        if not self._is_single:
            return int(descend(self.coefficients, self.gradient, self.gram, self.place, groups, penalty, TOLERANCE))
        fit, known = (self.coefficients[:, 0], self.gradient[:, 0]), (self.gram, self.place)
        return int(descend_singly(fit, known, groups, penalty, self._ever, TOLERANCE))

    def _rows(self, inputs: IntArray) -> FloatArray:
        """Return the rows of the matrix of the problem that belong to some inputs."""
        if len(inputs) == self.inputs.shape[1]:
            halves = self.inputs * np.sqrt(self._bend)[:, None]
            products = (halves.T @ halves)[inputs]  # of one array with itself BLAS computes one half
        else:
            products = (self.inputs[:, inputs] * self._bend[:, None]).T @ self.inputs
        return products - self._bend.sum() * np.outer(self._center[inputs], self._center)

    def _learn(self, inputs: IntArray) -> None:
        rows, known = self._rows(inputs), int(np.count_nonzero(self.place >= 0))
        self.place[inputs] = np.arange(known, known + len(inputs))
        if known + len(inputs) > len(self.gram):  # with room for as many as are known, so that few copies are made
            self.gram = np.concatenate([self.gram[:known], rows, np.empty((known, rows.shape[1]))])
        else:
            self.gram[known : known + len(inputs)] = rows


def _targets(problem: Problem, weights: FloatArray) -> FloatArray:
    """Return the target as columns: quantities of unit variance, one class of two, or all classes."""
    if problem.task == "regression":
        targets = np.asarray(problem.y, dtype=np.float64).reshape(problem.n_samples, -1)
        spread = np.sqrt(weights @ (targets - weights @ targets) ** 2)
        return (targets - weights @ targets) / np.where(spread > 0, spread, 1.0)
    return problem.y[:, None].astype(np.float64) if problem.n_classes == 2 else problem.class_indicators
