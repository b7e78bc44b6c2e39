"""Features that beat their knockoffs (Barber and Candès 2015; Candès, Fan, Janson and Lv 2018)."""

from __future__ import annotations

import numpy as np
from sklearn.covariance import ledoit_wolf_shrinkage

from fewer.contracts import Fraction, IncompatibleError, parameters
from fewer.contracts.trace import Trace
from fewer.control._ranking import RankingControl, RankingRun, fit_size, unit_scores, with_columns
from fewer.problem import BoolArray, FloatArray, Problem

# Smallest eigenvalue of a correlation matrix whose knockoffs are made without shrinking it.
LEAST_SPREAD = 1e-6
ROWS_AT_A_TIME = 4096


@parameters
class Knockoffs(RankingControl):
    """Keep features that beat their knockoffs, with a bound on the false-discovery rate.

    A knockoff is a made-up column that is related to the other columns as its feature is, and to the target in no way
    beside. All features and all knockoffs are ranked together; a feature's statistic is its score less that of its
    knockoff. Of features that say nothing beyond the others, statistics are as often negative as positive, so the
    negative ones tell how many of the positive ones are false (knockoff+).

    Read more in the guide: :doc:`/methods/false-discoveries`.

    Parameters
    ----------
    fdr : float, default=0.1
        False-discovery rate.

    Notes
    -----
    Knockoffs are Gaussian, of second order: they copy means and covariances, with as little likeness to their features
    as maximum entropy asks for. With more than twice as many rows as columns they copy those of the rows exactly (as
    the knockoffs of a fixed table by Barber and Candès do). With fewer the covariances are shrunk (Ledoit and Wolf): a
    knockoff is then less like its feature's neighbors than the feature is, and somewhat more than the promised rate
    can be false. At rate q, either nothing or at least 1 / q features are kept.

    Any ranker that treats columns alike will do; greedy rankers (`MIFS`, `MRMR`, …), nominal columns and missing cells
    are refused. Features stand before or behind their knockoffs at random, so that no ranker can favor a side. A
    feature group counts as one feature, with its best column. Rows are taken as independent. The trace's `extra` holds
    `statistic` by feature, and `cut`.

    References
    ----------
    R. Barber and E. Candès, Controlling the false discovery rate via knockoffs, Annals of Statistics 43, 2015.
    E. Candès, Y. Fan, L. Janson and J. Lv, Panning for gold: model-X knockoffs for high dimensional controlled variable
    selection, Journal of the Royal Statistical Society B 80, 2018.

    Examples
    --------
    >>> import fewer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 30))
    >>> y = X[:, :12].sum(axis=1) + rng.normal(size=300)
    >>> ranker = fewer.rankers.Importance(cv=None)
    >>> selector = fewer.RankSelector(ranker, control=Knockoffs(), random_state=0).fit(X, y)
    >>> bool(selector.support_[:12].all()), int(selector.support_.sum())
    (True, 13)
    """

    command_name = "knockoffs"
    over_searches = False

    fdr: Fraction = 0.1

    def choose(self, run: RankingRun) -> Trace:
        # Make knockoffs, rank once, keep what passes.
        self._refuse(run)
        problem, space, trace = run.problem, run.space, run.trace
        # Data made with the same seed must not meet its own numbers again as noise: a generator of its own.
        rng = np.random.default_rng([int(run.rng.integers(2**63)), len(problem.X)])
        swapped = np.zeros(problem.n_features, dtype=bool)
        for unit in space.units:
            swapped[unit] = run.rng.random() < 0.5
        statistic = statistics_of(run, gaussian_knockoffs(problem, rng), swapped)
        cut = knockoff_cut(statistic, self.fdr)
        trace.extra.update(statistic=run.by_feature(statistic), cut=np.array(cut))
        kept = statistic >= cut
        run.record(fit_size(kept, statistic, space))
        trace.state["promise"] = (
            f"{int(kept.sum())} of {len(kept)} features beat their knockoffs at a false-discovery rate of {self.fdr:g} "
            f"(knockoff+). At this rate either nothing or at least {int(np.ceil(1 / self.fdr - 1e-9))} features are "
            "kept; the guarantee is approximate, since the covariance of the columns is estimated."
        )
        if problem.groups is not None:
            trace.note("Knockoffs assume independent rows; with row groups the rate may be higher.")
        trace.done = True
        return trace

    def _refuse(self, run: RankingRun) -> None:
        problem = run.problem
        if not run.ranker.symmetric:
            raise IncompatibleError(
                f"Knockoffs needs a ranker that treats columns alike, and {type(run.ranker).__name__} adds them one "
                "after the other."
            )
        if problem.nominal.any():
            name = problem.names[int(np.argmax(problem.nominal))]
            raise IncompatibleError(f"Knockoffs are made for numbers, and {name!r} is nominal; use Shadow (boruta).")
        if problem.missing.any():
            name = problem.names[int(np.argmax(problem.missing.any(axis=0)))]
            raise IncompatibleError(f"Knockoffs need every cell; {name!r} has missing ones. Use Shadow (boruta).")


def statistics_of(run: RankingRun, copies: FloatArray, swapped: BoolArray) -> FloatArray:
    """Rank features and knockoffs together; return each unit's score less that of its knockoff.

    Parameters
    ----------
    run : RankingRun
        The run whose ranker scores the columns.
    copies : array of shape (n_samples, n_features)
        The knockoffs, a column for each column.
    swapped : bool array of shape (n_features,)
        Which features change places with their knockoffs before they are ranked.

    Returns
    -------
    array of shape (n_units,)
    """
    problem = run.problem
    table = with_columns(problem, copies, np.arange(problem.n_features))
    table.X[:, : problem.n_features][:, swapped] = copies[:, swapped]
    table.X[:, problem.n_features :][:, swapped] = problem.X[:, swapped]
    del copies  # which are in the table
    scores = run.scores(table, run.rng)
    p = problem.n_features
    one, other = unit_scores(scores[:p], run.space), unit_scores(scores[p:], run.space)
    sides = np.array([swapped[unit[0]] for unit in run.space.units])
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.where(sides, other - one, one - other))


def knockoff_cut(statistic: FloatArray, fdr: float) -> float:
    """Return the smallest size of a statistic at which the estimated share of false ones is at most the rate.

    Parameters
    ----------
    statistic : array
        How much better each column does than its copy.
    fdr : float
        The share of false ones that is allowed.

    Returns
    -------
    float
        Infinity where no cut will do.

    Examples
    --------
    >>> knockoff_cut(np.array([3.0, 2.5, 2.0, 1.5, -0.5, 0.2]), 0.25)
    1.5
    """
    for cut in np.unique(np.abs(statistic[statistic != 0])):
        if (1 + np.sum(statistic <= -cut)) / max(np.sum(statistic >= cut), 1) <= fdr:
            return float(cut)
    return np.inf


def gaussian_knockoffs(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """Draw knockoffs of the columns of a problem.

    Parameters
    ----------
    problem : Problem
        Without missing cells.
    rng : Generator
        Draws all that is random.

    Returns
    -------
    array of shape (n_samples, n_features)
        Columns that do not vary are copied.
    """
    X, shares = problem.X, problem.row_weights / problem.row_weights.sum()
    varying = ~problem.constant
    middle = (shares @ X)[varying]
    Z = X[:, varying] - middle
    spread = np.sqrt(np.einsum("i,ij,ij->j", shares, Z, Z))
    spread = np.where(spread > 0, spread, 1.0)
    Z /= spread
    covariance = _products(Z, Z, shares)
    exact = len(Z) > 2 * Z.shape[1] and np.linalg.eigvalsh(covariance)[0] > LEAST_SPREAD
    if not exact:
        shrinkage = ledoit_wolf_shrinkage(Z) if Z.shape[1] > 1 else 0.0
        covariance = (1.0 - shrinkage) * covariance + shrinkage * np.eye(len(covariance))
    apart = entropy_distances(covariance)
    solved = np.linalg.solve(covariance, np.diag(apart))
    conditional = 2.0 * np.diag(apart) - np.diag(apart) @ solved
    values, vectors = np.linalg.eigh((conditional + conditional.T) / 2.0)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    noise = rng.standard_normal(Z.shape)
    if exact:
        # Without a mean, without a share of any column, of unit covariance: then the covariances of columns and
        # knockoffs in these rows are those that the theory asks for, to the last digit and not on average.
        noise -= shares @ noise
        share = np.linalg.solve(covariance, _products(Z, noise, shares))
        for rows in _blocks(len(Z)):
            noise[rows] -= Z[rows] @ share
        root = np.linalg.inv(np.linalg.cholesky(_products(noise, noise, shares))).T @ root
    copies = X.copy()
    for rows in _blocks(len(Z)):
        copies[rows, varying] = middle + spread * (Z[rows] - Z[rows] @ solved + noise[rows] @ root)
    return copies


def _blocks(n_rows: int) -> list[slice]:
    """Cut rows into pieces whose products take little memory."""
    return [slice(low, low + ROWS_AT_A_TIME) for low in range(0, n_rows, ROWS_AT_A_TIME)]


def _products(one: FloatArray, other: FloatArray, shares: FloatArray) -> FloatArray:
    """Return oneᵀ diag(shares) other, without a table of their size beside them."""
    return np.asarray(sum((one[rows] * shares[rows, None]).T @ other[rows] for rows in _blocks(len(one))))


def entropy_distances(covariance: FloatArray, n_sweeps: int = 50) -> FloatArray:
    """Return s of the knockoffs of most entropy: the maximum of log det(2 Σ − diag s) + Σ log s.

    One s after the other is set to its best given the others, which has a closed form.

    Parameters
    ----------
    covariance : array of shape (p, p)
        Unit diagonal, positive definite.
    n_sweeps : int, default=50
        How often each distance is set again.

    Returns
    -------
    array of shape (p,)

    Examples
    --------
    >>> entropy_distances(np.eye(3)).round(6)
    array([1., 1., 1.])
    """
    p = len(covariance)
    s = np.full(p, 0.9 * min(2.0 * float(np.linalg.eigvalsh(covariance)[0]), 1.0))
    for _ in range(n_sweeps):
        inverse = np.linalg.inv(2.0 * covariance - np.diag(s))
        moved = 0.0
        for j in range(p):
            a = inverse[j, j]
            step = (1.0 - a * s[j]) / (2.0 * a)
            s[j] += step
            inverse += step / (1.0 - step * a) * np.outer(inverse[:, j], inverse[j])
            moved = max(moved, abs(step))
        if moved < 1e-7:
            break
    return s
