"""A linear fit as criterion: leave-one-out scores in closed form, or AIC, BIC, Mallows's Cp and adjusted R².

`Bordering` grows a fit by one column at a time, with bounds on what each further column can do. For the columns S of a
subset let XᵀX + diag(λ) = LLᵀ and U = XL⁻ᵀ, a column of U for each of S. Adding j needs only its v = Uᵀx, its rest
z = x − Uv and its length s = xᵀx + λ − vᵀv: the fit's residual r becomes r − z (zᵀr) / s and the leverage h of a row
h + z² / s. All v together are one product Xᵀu for each column that enters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import ROWS, Criterion, IncompatibleError, Masks, Positive, PredictiveScorer, Resources, parameters
from fewer.criteria._rann import CHUNK_CELLS, RannEncoder, left_out, readable, targets_of
from fewer.criteria.folded_least_squares import FoldedLeastSquaresScorer
from fewer.io.memory import amount
from fewer.kernels import bordering as kernels
from fewer.kernels.bordering import LEAST
from fewer.models.rann import class_targets
from fewer.parallel import in_threads, one_blas_thread
from fewer.problem import FloatArray, IntArray, Problem
from fewer.statistics import GramSums
from fewer.validate import CV, assign_folds

TINY = 1e-300


LEAST_LOSS = 1e-9  # A column is passed over only if it is worse by this share: more than rounding can do.
FIRST = 8  # Columns that are scored before a bound rules out others.


class Bordering:
    """The fit of one subset, and of each subset with one column more.

    Parameters
    ----------
    X : array of shape (n, p)
        Columns, rows times the root of their weights.
    targets : array of shape (n, c)
        Likewise.
    ridge : array of shape (p,)
        λ of each column, above 0.
    leverage : array of shape (n,)
        What the constant alone takes of each row.
    centered : bool, default=False
        Means were taken off the columns before (as is needed where rows have weights); else they are on the way.
    """

    def __init__(
        self, X: FloatArray, targets: FloatArray, ridge: FloatArray, leverage: FloatArray, centered: bool = False
    ) -> None:
        self._X, self._means, self._ridge = np.ascontiguousarray(X), np.empty(X.shape[1]), ridge
        self._start = np.ascontiguousarray(targets.T), leverage
        self._lengths, self._first_products = np.empty(X.shape[1]), np.empty((targets.shape[1], X.shape[1]))
        kernels.begin(self._X, self._means, self._start[0], self._lengths, self._first_products, centered)
        self._begin()

    def _begin(self) -> None:
        n, p = self._X.shape
        targets, leverage = self._start
        self.columns: list[int] = []
        kept = np.maximum(1.0 - leverage, LEAST)
        weighed = targets / kept**2
        if kept.min() == kept.max():  # without row weights
            along_weighed = self._first_products / kept[0] ** 2
        else:
            along_weighed = weighed @ self._X - weighed.sum(axis=1)[:, None] * self._means
        self._fit = kernels.Fit(
            self._X, self._means, self._ridge, self._lengths, np.empty((FIRST, n)), np.empty((FIRST, p)),
            self._lengths + self._ridge, self._first_products.copy(), along_weighed, targets.copy(), weighed,
            leverage.copy(),
        )  # fmt: skip

    def move_to(self, columns: IntArray) -> None:
        """Stand on a subset: go on from this one if it is part of it, else begin again."""
        wanted = columns.tolist()
        if not set(self.columns) <= set(wanted):
            self._begin()
        present = set(self.columns)
        for column in wanted:
            if column not in present:
                self._enter(column)

    def _enter(self, column: int) -> None:
        k, fit = len(self.columns), self._fit
        if k == len(fit.u):
            more = (np.concatenate([part, np.empty_like(part)]) for part in (fit.u, fit.v))
            self._fit = fit = fit._replace(**dict(zip("uv", more, strict=True)))
        kernels.enter(fit, column, k)
        self.columns.append(column)

    def lost(self, columns: IntArray) -> FloatArray:
        """Return the sum of squared leave-one-out errors with each of these columns added."""
        scratch = np.empty(len(self._X))
        return np.array(
            [kernels.lost_with(self._fit, len(self.columns), column, scratch) for column in columns.tolist()]
        )

    def bounds(self) -> FloatArray:
        """Return what the leave-one-out errors with each column added are at least: leverages as they are now."""
        out = np.empty(self._X.shape[1])
        kernels.bounds(self._fit, len(self.columns), out)
        return out

    def best(self, columns: IntArray) -> tuple[NDArray[np.int64], FloatArray]:
        """Score columns until none of the others can be the best: their places in order, and what is lost with them."""
        lost = np.empty(len(columns))
        few = len(columns) <= 4 * FIRST
        kernels.best(self._fit, len(self.columns), columns, len(columns) if few else FIRST, LEAST_LOSS, lost)
        places = np.flatnonzero(~np.isnan(lost))
        return places, lost[places]


# Columns whose mean is this many half ranges from zero lose two digits in products; they are centered before.
FAR_FROM_ZERO = 100.0

SMALL = 64  # Rows and inputs of a table whose saturated fits are computed anew each time.

REFIT = 50  # Inputs dropped from a fit before it is computed anew, so that rounding does not add up.

# Inputs, inverse Gram matrix, coefficients, residuals, inputs times the inverse, leverages.
_Fit = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]


@parameters
class LeastSquares(Criterion):
    """Leave-one-out R² of a linear model.

    For classes the model fits their ±1 codes, which for two classes is Fisher's linear discriminant; R² of the codes
    sees a weak feature that the share of right predictions does not.

    Read more in the guide: :doc:`/methods/models`.

    Parameters
    ----------
    alpha : float, default=1e-6
        Ridge for each row, columns being scaled to [−1, 1]; above 0, so that copied columns do no harm.
    cv : "loo", int or splitter, default="loo"
        Leave one row out, or folds. Folds need only one Gram matrix each: a subset costs the same for any number of
        rows, and a table can be read in chunks.
    score : {"r2", "aic", "bic", "cp", "adjusted_r2"}, default="r2"
        R² of predictions without each row (or fold); or a score of the fit to all rows that charges for its inputs:
        minus Akaike's or the Bayesian information criterion, minus Mallows's Cp, adjusted R².

    Notes
    -----
    A nominal column counts as its level indicators, a missing cell as the column's mean. Row weights weigh the fit and
    the score. Rows of one row group are left out together. No fit is repeated to leave a row out, and none to add one
    column to a subset.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import fewer
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = fewer.SubsetSelector(LeastSquares(), fewer.search.Forward(), n_features_to_select=3, random_state=0)
    >>> selector.fit(X, y).get_feature_names_out().tolist()
    ['bmi', 'bp', 's5']
    """

    command_name = "least-squares"
    takes: ClassVar[frozenset[str]] = ROWS - {"time"}
    weights_repeat_rows: ClassVar[bool] = True
    predictive: ClassVar[bool] = True
    least_squares: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    statistics: ClassVar[tuple[str, ...]] = ("gram",)

    alpha: Positive = 1e-6
    cv: CV = "loo"
    score: Literal["r2", "aic", "bic", "cp", "adjusted_r2"] = "r2"

    def bind(
        self, problem: Problem, rng: np.random.Generator, resources: Resources
    ) -> LeastSquaresScorer | FoldedLeastSquaresScorer:
        if self.score != "r2":
            if not isinstance(self.cv, str):
                raise IncompatibleError(f"score={self.score!r} is that of one fit to all rows; leave cv out.")
            return FitScorer(problem, self.alpha, resources, self.score)
        if isinstance(self.cv, str) and self.cv == "loo":
            return LeastSquaresScorer(problem, self.alpha, resources)
        if problem.n_outputs > 1:
            raise IncompatibleError("Folds work with one target; leave cv='loo' for several.")
        folds = assign_folds(problem, self.cv, rng)
        n_folds = int(folds.max()) + 1
        needed = 16 * n_folds * (problem.n_features + 2) ** 2
        if needed > max(resources.memory, 1 << 30):
            raise IncompatibleError(
                f"Folds keep one Gram matrix each, which takes {amount(needed)} for {problem.n_features:,} columns; "
                "use a prefilter, fewer folds, or cv='loo'."
            )
        sums = GramSums(problem, folds)
        with one_blas_thread():
            sums.add(problem)
        return FoldedLeastSquaresScorer(sums, [np.array([k]) for k in range(n_folds)], self.alpha, problem, folds)


class LeastSquaresScorer(PredictiveScorer):
    """`LeastSquares` bound to rows."""

    def __init__(self, problem: Problem, alpha: float, resources: Resources) -> None:
        self.problem = problem
        self._n_jobs = resources.n_jobs
        self._weights = problem.row_weights
        self._ridge = alpha * float(self._weights.sum())
        self._targets, self._mean = _targets_of(problem, self._weights)
        self._all_numbers = not problem.nominal.any()
        self._last: tuple[IntArray, _Fit | None, int] = (np.empty(0, dtype=np.int64), None, 0)
        middle = np.average(self._targets, axis=0, weights=self._weights)
        self._spread = float(self._weights @ ((self._targets - middle) ** 2).sum(axis=1))

    @cached_property
    def _encoder(self) -> RannEncoder:
        return RannEncoder(self.problem)

    @cached_property
    def _center(self) -> FloatArray:
        return np.asarray(np.average(self._encoder.transform(self.problem.X), axis=0, weights=self._weights))

    @cached_property
    def _plain_numbers(self) -> bool:
        return self._all_numbers and not self.problem.has_missing

    @cached_property
    def _scale(self) -> FloatArray:
        """What columns of numbers are multiplied with for a range of 2."""
        low, high = self.problem.extremes
        return np.asarray(2.0 / np.where(high > low, high - low, 1.0))

    @cached_property
    def _means(self) -> FloatArray:
        return np.asarray(self._weights @ self.problem.X / self._weights.sum())

    @cached_property
    def _inputs(self) -> FloatArray:
        """Columns scaled to a range of 2, without their means."""
        if self._plain_numbers:
            return (self.problem.X - self._means) * self._scale
        return np.asarray(self._encoder.transform(self.problem.X) - self._center)

    @cached_property
    def _owner(self) -> IntArray:
        return np.arange(self.problem.n_features) if self._all_numbers else self._encoder.owner

    @cached_property
    def _score_of_nothing(self) -> float:
        """What the mean of the other rows alone gives."""
        shares = self._weights / self._weights.sum()
        error = (self._targets - shares @ self._targets) / np.maximum(1.0 - shares, LEAST)[:, None]
        lost = float(self._weights @ (error**2).sum(axis=1))
        return 1.0 - lost / self._spread if self._spread > 0 else -lost

    @cached_property
    def _bordering(self) -> Bordering:
        """The fit that a search makes larger step by step."""
        root = np.sqrt(self._weights)[:, None]
        shares = self._weights / self._weights.sum()
        targets = (self._targets - shares @ self._targets) * root
        if self._plain_numbers and self.problem.sample_weight is None and self._means_are_moderate():
            return Bordering(self.problem.X, targets, self._ridge / self._scale**2, shares)
        p = len(self._owner)
        return Bordering(self._inputs * root, targets, np.full(p, self._ridge), shares, centered=True)

    def _means_are_moderate(self) -> bool:
        """Whether products with a column lose no digits to its mean, so that the table itself can be used."""
        low, high = self.problem.extremes
        if (np.maximum(-low, high) * self._scale < FAR_FROM_ZERO).all():  # a mean lies between the ends
            return True
        return bool((np.abs(self._means) * self._scale < FAR_FROM_ZERO).all())

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks, those with equally many inputs together."""
        used = np.asarray(masks, dtype=bool)[:, self._owner]
        sizes = used.sum(axis=1)
        if not sizes.any() and self.problem.groups is None:
            return np.full(len(used), self._score_of_nothing)
        chunks = []
        for size in np.unique(sizes):
            alike = np.flatnonzero(sizes == size)
            step = max(CHUNK_CELLS // max(self.problem.n_samples * (int(size) + 1), 1), 1)
            chunks += [alike[low : low + step] for low in range(0, len(alike), step)]
        scores = np.empty(len(used))

        def score_chunk(chunk: IntArray) -> None:
            columns = np.nonzero(used[chunk])[1].reshape(len(chunk), -1)
            error = (left_out(*self._solve(columns), *self._rows()) - self._targets) ** 2
            lost = error.sum(axis=2) @ self._weights
            scores[chunk] = 1.0 - lost / self._spread if self._spread > 0 else -lost

        if len(chunks) == 1 and len(used) == 1:
            score_chunk(chunks[0])
            return scores
        with one_blas_thread():
            in_threads(score_chunk, chunks, self._n_jobs)
        return scores

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit; where one input is added or dropped, from the fit before the change."""
        owner = self._owner
        alone = np.bincount(owner, minlength=self.problem.n_features) == 1
        changed = np.array([unit[0] if len(unit) == 1 and alone[unit[0]] else -1 for unit in units], dtype=np.int64)
        changed[np.asarray(values, dtype=bool) == np.asarray(mask, dtype=bool)[changed]] = -1
        if self.problem.groups is not None or self._is_saturated(mask):
            changed[:] = -1
        one, several = np.flatnonzero(changed >= 0), np.flatnonzero(changed < 0)
        scores = np.empty(len(units))
        if len(one):
            scores[one] = self._score_changed(self._columns(mask)[0], np.searchsorted(owner, changed[one]))
        if len(several):
            scores[several] = super().flips(mask, [units[i] for i in several.tolist()], values[several])
        return scores

    def best_flip(self, mask: Masks, columns: IntArray) -> tuple[IntArray, FloatArray] | None:
        """Find the best column to add, scoring those alone that a bound does not rule out."""
        chosen = np.asarray(mask, dtype=bool)
        if not self._all_numbers or self.problem.groups is not None or chosen[columns].any():
            return None
        if self._is_saturated(chosen):
            return None
        self._bordering.move_to(np.flatnonzero(chosen))
        places, lost = self._bordering.best(columns)
        return places, 1.0 - lost / self._spread if self._spread > 0 else -lost

    def _is_saturated(self, mask: Masks) -> bool:
        """Say whether a small table has hardly more rows than inputs: residuals are what the penalty leaves of them.

        Updates then lose half of the digits, and a fit from the beginning costs next to nothing.
        """
        size = max(self.problem.n_samples, len(self._owner))
        return size <= SMALL and self.problem.n_samples <= len(self._columns(mask)[0]) + 3

    def _score_changed(self, columns: IntArray, changed: IntArray) -> FloatArray:
        """Score the fit on some inputs with each of others added, or with each of its own dropped.

        A fit with one input more differs by a multiple of what it leaves of that input; one with an input less, by a
        multiple of what the others leave of it. Both are one product for many inputs.
        """
        inputs, inverse, coefficients, residual, projected, leverage = self._fit_of(columns)
        weights = self._weights[:, None]
        scores = np.empty(len(changed))
        step = max(CHUNK_CELLS // self.problem.n_samples, 1)
        dropped = np.isin(changed, columns)
        for places in (np.flatnonzero(dropped), np.flatnonzero(~dropped)):
            for part in (places[low : low + step] for low in range(0, len(places), step)):
                if dropped[part[0]]:
                    rows_of_inverse = 1 + np.searchsorted(columns, changed[part])
                    length = -np.diag(inverse)[rows_of_inverse]
                    left, gain = projected[:, rows_of_inverse], coefficients[rows_of_inverse] / length[:, None]
                else:
                    new = self._inputs[:, changed[part]]
                    left = new - projected @ (inputs.T @ (weights * new))
                    length = np.einsum("nq,nq->q", new, weights * left) + self._ridge
                    gain = (new.T @ (weights * residual)) / length[:, None]
                kept = np.maximum(1.0 - weights * (leverage + left**2 / length), 1e-12)
                errors = (((residual[:, [c]] - left * gain[:, c]) / kept) ** 2 for c in range(residual.shape[1]))
                lost = self._weights @ sum(errors)
                scores[part] = 1.0 - lost / self._spread if self._spread > 0 else -lost
        return scores

    def _fit_of(self, columns: IntArray) -> _Fit:
        """Fit some inputs; from the fit before, if that had one more."""
        before, fit, n_updates = self._last
        if fit is not None and n_updates < REFIT and len(before) == len(columns) + 1:
            gone = np.flatnonzero(~np.isin(before, columns))
            if len(gone) == 1:
                fit = _without_one(fit, 1 + int(gone[0]))
                self._last = columns, fit, n_updates + 1
                return fit
        inputs, inverse, moment = (part[0] for part in self._solve(columns[None]))
        coefficients = inverse @ moment
        projected = inputs @ inverse
        leverage = np.einsum("nh,nh->n", projected, inputs)[:, None]
        fit = inputs, inverse, coefficients, self._targets - inputs @ coefficients, projected, leverage
        self._last = columns, fit, 0
        return fit

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row from all others (or all of other row groups)."""
        return readable(left_out(*self._solve(self._columns(mask)), *self._rows())[0], self.problem, self._mean)

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from a fit on all bound rows."""
        columns = self._columns(mask)
        _, inverse, moment = self._solve(columns)
        inputs = self._encoder.transform(X, columns[0]) - self._center[columns[0]]
        return readable(with_constant(inputs) @ (inverse @ moment)[0], self.problem, self._mean)

    def _columns(self, mask: Masks) -> IntArray:
        return np.flatnonzero(np.asarray(mask, dtype=bool)[self._owner])[None]

    def _rows(self) -> tuple[FloatArray, FloatArray, IntArray | None]:
        return self._targets, self._weights, self.problem.groups

    def _solve(self, columns: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return inputs with a constant (m, n, h), inverse Gram matrices and moments for m lists of input columns."""
        inputs = with_constant(self._inputs.T[columns].transpose(0, 2, 1))
        scaled = inputs if self.problem.sample_weight is None else inputs * self._weights[:, None]
        weighted = scaled.transpose(0, 2, 1)
        ridge = np.full(inputs.shape[2], self._ridge)
        ridge[0] = 0.0
        gram = weighted @ inputs + np.diag(ridge)
        if not self._all_numbers:
            gram[:, 1:, 1:] += self._between_levels(columns)
        return inputs, np.asarray(np.linalg.inv(gram), dtype=np.float64), weighted @ self._targets

    def _between_levels(self, columns: IntArray) -> FloatArray:
        """Return what keeps Gram matrices of m lists of inputs well conditioned where all levels of a column are in.

        The indicators of a nominal column, without their means, add up to 0 in every row. Along this direction only
        the ridge holds the matrix, and half of the digits were lost. A multiple of its projection changes no fit and
        no leverage, since inputs and moments have nothing along it.
        """
        owner = self._owner[columns]
        count = np.bincount(self._owner, minlength=self.problem.n_features)[owner]
        several = np.where(self.problem.nominal[owner] & (count > 1), float(self._weights.sum()) / count, 0.0)
        return (owner[:, :, None] == owner[:, None, :]) * several[:, :, None]


def with_constant(inputs: FloatArray) -> FloatArray:
    """Put a column of ones before the others."""
    return np.concatenate([np.ones((*inputs.shape[:-1], 1)), inputs], axis=-1)


def _without_one(fit: _Fit, gone: int) -> _Fit:
    """Drop an input from a fit: every part differs by a multiple of what belonged to it."""
    inputs, inverse, coefficients, residual, projected, leverage = fit
    rest = np.delete(np.arange(len(inverse)), gone)
    share = inverse[gone, rest] / inverse[gone, gone]
    column = projected[:, gone]
    return (
        inputs[:, rest],
        inverse[np.ix_(rest, rest)] - np.outer(inverse[rest, gone], share),
        coefficients[rest] - np.outer(share, coefficients[gone]),
        residual + np.outer(column, coefficients[gone] / inverse[gone, gone]),
        projected[:, rest] - np.outer(column, share),
        leverage - (column**2 / inverse[gone, gone])[:, None],
    )


def _targets_of(problem: Problem, weights: FloatArray) -> tuple[FloatArray, Any]:
    """Code what is to be fitted; of several quantities each has the same spread, so that all count alike."""
    if problem.n_outputs == 1:
        return targets_of(problem, weights)
    if problem.task == "classification":
        codes = [np.unique(column, return_inverse=True) for column in problem.y.T]
        return np.hstack([class_targets(code, max(len(values), 2)) for values, code in codes]), 0.0
    mean = np.average(problem.y, axis=0, weights=weights)
    deviations = problem.y - mean
    spread = np.sqrt(weights @ deviations**2 / weights.sum())
    return deviations / np.where(spread > 0, spread, 1.0), mean


class FitScorer(LeastSquaresScorer):
    """`LeastSquares` bound to rows, scored by the fit on all of them and the number of its inputs.

    With n rows, k inputs beside the constant, residual sum of squares S and q targets, all higher is better:

        aic = −n q log(S / n q) − 2 k q,    bic = −n q log(S / n q) − log(n) k q,
        cp = −(S / s² − n q + 2 (k + 1) q),    adjusted_r2 = 1 − S / S₀ · (n − 1) / (n − k − 1),

    s² being the residual variance with all columns and S₀ the sum with none.
    """

    def __init__(self, problem: Problem, alpha: float, resources: Resources, score: str) -> None:
        super().__init__(problem, alpha, resources)
        self._score = score

    @cached_property
    def _products(self) -> tuple[FloatArray, FloatArray, float]:
        """Products of inputs with each other, with the targets, and of the targets; weights have a mean of one."""
        shares = self._weights / self._weights.mean()
        targets = self._targets - np.average(self._targets, axis=0, weights=self._weights)
        weighted = self._inputs * shares[:, None]
        gram = weighted.T @ self._inputs + self._ridge / self._weights.mean() * np.eye(self._inputs.shape[1])
        return gram, weighted.T @ targets, float((shares @ targets**2).sum())

    @cached_property
    def _noise(self) -> float:
        """The residual variance with all inputs, for Cp."""
        everything = np.arange(self._inputs.shape[1])
        n_left = (self.problem.n_samples - 1 - len(everything)) * self._targets.shape[1]
        return self._sum_of(everything) / max(n_left, 1)

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks."""
        used = np.asarray(masks, dtype=bool)[:, self._owner]
        return np.array([self._value(self._sum_of(np.flatnonzero(row)), int(row.sum())) for row in used])

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit."""
        return PredictiveScorer.flips(self, mask, units, values)

    def best_flip(self, mask: Masks, columns: IntArray) -> None:
        """Leave it to `flips`."""
        return

    def _sum_of(self, columns: IntArray) -> float:
        gram, moments, total = self._products
        if not len(columns):
            return total
        chosen = moments[columns]
        return max(total - float((chosen * np.linalg.solve(gram[np.ix_(columns, columns)], chosen)).sum()), 0.0)

    def _value(self, rest: float, k: int) -> float:
        n, q = self.problem.n_samples, self._targets.shape[1]
        if self._score == "adjusted_r2":
            total = self._products[2]
            return 1.0 - rest / max(total, TINY) * (n - 1) / (n - k - 1) if n > k + 1 else -np.inf
        if self._score == "cp":
            return -(rest / max(self._noise, TINY) - n * q + 2.0 * (k + 1) * q)
        price = 2.0 if self._score == "aic" else float(np.log(n))
        return -n * q * float(np.log(max(rest, TINY) / (n * q))) - price * k * q
