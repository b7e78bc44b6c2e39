"""Features that halves of the rows agree on (Meinshausen and Bühlmann 2010; Shah and Samworth 2013)."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import Annotated, Literal

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from sklearn.utils._param_validation import Interval

from fewer.contracts import Control, Run
from fewer.contracts.declaring import Positive, Several, parameters
from fewer.contracts.trace import Trace
from fewer.control._ranking import RankingControl, RankingRun, SearchRanker, fit_size, unit_scores
from fewer.errors import InputError
from fewer.parallel import run_parts
from fewer.problem import FloatArray, IntArray, Problem

Assumption = Literal["none", "unimodal", "r-concave"]
ENDLESS = 1e5
# A threshold that lets half-samples choose twice as many features as 0.6 does.
STRICT = 0.9


@parameters
class StabilitySelection(RankingControl):
    """Keep features that are chosen again and again from halves of the rows: complementary pairs stability selection.

    The rows are split into two halves, again and again; each half chooses its q best features, and those chosen by a
    share of at least `threshold` of all halves are kept. q is the largest number for which the expected number of
    kept features of *low selection probability* (chosen from half of the rows no more often than q out of p drawn
    blindly) is at most `expected_false`.

    Read more in the guide: :doc:`/methods/false-discoveries`.

    Parameters
    ----------
    threshold : float, default=0.6
        Share of the halves that must choose a feature.
    expected_false : float, default=1.0
        Bound of the expected number of kept features of low selection probability.
    assumption : {"none", "unimodal", "r-concave"}, default="none"
        What is assumed of how often such features are chosen: nothing; that small numbers are likelier than large ones;
        or also that likelihoods fall in the way of r-concave distributions. More is assumed, more features are
        looked at for the same bound. (Shah and Samworth, theorems 1, 2 and 3.)
    n_pairs : int, default=50
        How often the rows are split.
    control : Control, optional
        Runs inside each search, where this control is over a search.

    Notes
    -----
    Halves are drawn within classes, and row groups stay whole. A feature group counts as one feature and ranks with its
    best column. Over a search, each half searches for at most q features. A feature of low selection probability is
    not quite the same as one that says nothing: the bound speaks of the first. The trace's `extra` holds
    `frequency` by feature and `n_chosen` (q).

    References
    ----------
    N. Meinshausen and P. Bühlmann, Stability selection, Journal of the Royal Statistical Society B 72, 2010.
    R. Shah and R. Samworth, Variable selection with error control: another look at stability selection, Journal of the
    Royal Statistical Society B 75, 2013.

    Examples
    --------
    >>> import fewer
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 20)), np.repeat([0, 1], 100)
    >>> X[:, [2, 5]] += y[:, None]
    >>> control = StabilitySelection(0.8)
    >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), control=control, random_state=0).fit(X, y)
    >>> selector.support_.nonzero()
    (array([2, 5]),)
    """

    command_name = "stability"

    threshold: Annotated[float, Interval(Real, 0.5, 1, closed="right")] = 0.6
    expected_false: Positive = 1.0
    assumption: Assumption = "none"
    n_pairs: Several = 50
    control: Control | None = None

    def choose(self, run: RankingRun) -> Trace:
        # Split the rows again and again and count.
        trace, space = run.trace, run.space
        if not space.n_units:  # all are forced in
            run.record(np.zeros(0, dtype=bool))
            trace.done = True
            return trace
        n_chosen = largest_choice(space.n_units, self.threshold, self.expected_false, self.assumption, self.n_pairs)
        if not n_chosen:
            raise InputError(self._limit(n_chosen, space.n_units))
        if not trace.state:
            seed = int(run.rng.integers(2**63))
            trace.state.update(seed=seed, pair=0, counts=np.zeros(space.n_units))
        state = trace.state
        with trace.finishing():
            tasks = [(state["seed"], pair) for pair in range(state["pair"], self.n_pairs)]
            for counts, n_evaluations in run_parts(_chosen_by_pair, tasks, run, self, n_chosen):
                trace.n_evaluations += n_evaluations
                state["counts"] += counts
                state["pair"] += 1
                self._tell(run, n_chosen)
        n_kept = int(np.count_nonzero(space.shrink(trace.best)))
        if not n_kept:
            trace.note(f"No feature is among the {n_chosen} best in {self.threshold:g} of the half-samples.")
        if n_chosen < space.n_units and n_kept in (0, int(n_chosen / self.threshold)):
            trace.note(self._limit(n_chosen, space.n_units))
        state["promise"] = self._promise(n_chosen, space.n_units)
        return trace

    def _limit(self, n_chosen: int, n_units: int) -> str:
        """Say why half-samples choose no more features, and which parameters let them."""
        bound = false_bound(n_chosen + 1, n_units, self.threshold, self.assumption, self.n_pairs)
        cures = {f"expected_false={math.ceil(100 * bound - 1e-6) / 100:g}": n_chosen + 1}
        strictly = largest_choice(n_units, STRICT, self.expected_false, self.assumption, self.n_pairs)
        if strictly > n_chosen:
            cures[f"threshold={STRICT:g}"] = strictly
        more = " and ".join(f"control='stability:{cure}' lets them choose {n}" for cure, n in cures.items())
        return (
            f"To expect no more than {self.expected_false:g} false feature{'s' * (self.expected_false != 1)}, "
            f"half-samples may choose {f'only {n_chosen}' if n_chosen else 'none'} of {n_units}; {more}."
        )

    def _chosen(
        self, run: RankingRun, rows: IntArray, n_chosen: int, rng: np.random.Generator
    ) -> tuple[FloatArray, int]:
        """Let one half choose.

        Parameters
        ----------
        run : RankingRun
            The ranker, the rows and the space.
        rows : int array
            The half.
        n_chosen : int
            How many units it chooses.
        rng : Generator
            For whatever is drawn.

        Returns
        -------
        chosen : array of shape (n_units,)
            1 for each unit that it chose.
        n_evaluations : int
            How many subsets it looked at.
        """
        part = run.problem.take(rows)
        if isinstance(run.ranker, SearchRanker):
            method: Run = run.ranker.method
            space = replace(run.space, max_units=n_chosen, min_units=min(run.space.min_units, n_chosen))
            inner = method.on(rows, rng, space=space).under(self.control)
            return np.asarray(run.space.shrink(inner.best) != 0, dtype=np.float64), inner.n_evaluations
        scores = unit_scores(run.scores(part, rng), run.space)
        out = np.zeros(len(scores))
        # Equal scores, as of features that do not vary in this half, are drawn from, so that no column is favored.
        out[np.lexsort((rng.random(len(scores)), -scores))[:n_chosen]] = 1.0
        return out, 0

    def _tell(self, run: RankingRun, n_chosen: int) -> None:
        state = run.trace.state
        shares = state["counts"] / (2 * state["pair"])
        run.trace.extra.update(frequency=run.by_feature(shares), n_chosen=np.array(n_chosen))
        run.record(fit_size(shares >= self.threshold - 1e-12, shares, run.space))

    def _promise(self, n_chosen: int, n_units: int) -> str:
        assumed = {
            "none": "nothing assumed",
            "unimodal": "assuming unimodal selection frequencies",
            "r-concave": "assuming r-concave selection frequencies",
        }[self.assumption]
        bound = false_bound(n_chosen, n_units, self.threshold, self.assumption, self.n_pairs)
        return (
            f"Kept features among the {n_chosen} best in at least {self.threshold:g} of {2 * self.n_pairs} "
            f"half-samples: at most {bound:.2g} features of low selection probability (up to "
            f"{n_chosen / n_units:.2g}) are expected among them ({assumed}; Shah and Samworth)."
        )


def _chosen_by_pair(shared: tuple[RankingRun, StabilitySelection, int], seed: int, pair: int) -> tuple[FloatArray, int]:
    run, control, n_chosen = shared
    rng = np.random.default_rng([seed, pair])
    halves = [control._chosen(run, rows, n_chosen, rng) for rows in complementary_halves(run.problem, rng)]
    return halves[0][0] + halves[1][0], halves[0][1] + halves[1][1]


def complementary_halves(problem: Problem, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Split the rows into two halves without overlap, within classes; row groups stay whole.

    Parameters
    ----------
    problem : Problem
        The rows.
    rng : Generator
        Draws all that is random.

    Returns
    -------
    one, other : int arrays
    """
    problem.check_groups()
    if problem.groups is not None:
        names = rng.permutation(np.unique(problem.groups))
        side = np.isin(problem.groups, names[: len(names) // 2])
        return np.flatnonzero(side), np.flatnonzero(~side)
    order = rng.permutation(problem.n_samples)
    if problem.task == "classification":
        order = order[np.argsort(problem.y[order], kind="stable")]
    half = len(order) // 2 * 2
    first = rng.integers(0, 2, half // 2)  # of each two neighbors in this order, one goes to each side
    pairs = order[:half].reshape(-1, 2)
    one = pairs[np.arange(len(pairs)), first]
    return np.sort(one), np.sort(pairs[np.arange(len(pairs)), 1 - first])


def largest_choice(n_features: int, threshold: float, expected_false: float, assumption: str, n_pairs: int) -> int:
    """Return the largest number that halves may choose for a bound on the expected number of false ones.

    Parameters
    ----------
    n_features : int
        How many features there are.
    threshold : float
        The share of halves that must choose a feature.
    expected_false : float
        How many false ones are allowed on average.
    assumption : str
        As in `false_bound`.
    n_pairs : int
        How many pairs of halves were drawn.

    Returns
    -------
    int
        0 where not even one keeps to it.

    Examples
    --------
    >>> largest_choice(1000, 0.9, 1.0, "none", 50)
    28
    """
    low, high = 0, n_features
    while low < high:
        middle = (low + high + 1) // 2
        if false_bound(middle, n_features, threshold, assumption, n_pairs) <= expected_false + 1e-12:
            low = middle
        else:
            high = middle - 1
    return low


def false_bound(n_chosen: int, n_features: int, threshold: float, assumption: str, n_pairs: int) -> float:
    """Bound the expected number of kept features whose selection probability is at most n_chosen / n_features.

    Parameters
    ----------
    n_chosen : int
        How many features each half chooses.
    n_features : int
        How many features there are.
    threshold : float
        The share of halves that must choose a feature.
    assumption : {"none", "unimodal", "r-concave"}
        What is assumed of how often noise is chosen; the more, the smaller the bound.
    n_pairs : int
        How many pairs of halves were drawn.

    Returns
    -------
    float

    Examples
    --------
    >>> false_bound(28, 1000, 0.9, "none", 50)
    0.98
    >>> round(false_bound(28, 1000, 0.9, "unimodal", 50), 3), round(false_bound(28, 1000, 0.9, "r-concave", 50), 3)
    (0.338, 0.051)
    """
    theta = n_chosen / n_features
    plain = theta**2 / (2 * threshold - 1) * n_features
    if assumption == "none":
        return min(plain, float(n_features))
    if assumption == "unimodal":
        return min(plain, _unimodal_factor(threshold, theta, n_pairs) * theta**2 * n_features)
    place = int(np.ceil(np.round(threshold * 2 * n_pairs, 8)))
    single = r_concave_tail(theta, 2 * n_pairs, -0.25, place)
    both = r_concave_tail(theta**2, n_pairs, -0.5, place - n_pairs) if place > n_pairs else 1.0
    return min(plain, min(single, both) * n_features)


def _unimodal_factor(threshold: float, theta: float, n_pairs: int) -> float:
    """Return C(τ, B) of theorem 2."""
    least = min(0.5 + theta**2, 0.5 + 1.0 / (2 * n_pairs) + 0.75 * theta**2)
    if threshold <= least or theta > 1 / np.sqrt(3):
        return np.inf
    if threshold <= 0.75:
        spare = 2.0 * threshold - 1.0 - 1.0 / (2 * n_pairs)
        return 0.5 / spare if spare > 0 else np.inf
    return 4.0 * (1.0 - threshold + 1.0 / (2 * n_pairs)) / (1.0 + 1.0 / n_pairs)


def r_concave_tail(mean: float, size: int, r: float, place: int) -> float:
    """Return the largest chance of at least `place` among r-concave distributions on 0, 1, …, size with a mean.

    The extreme ones are (a + i)^(1/r) on 0, …, k, with a last step between k and k + 1 (Shah and Samworth, appendix).

    Parameters
    ----------
    mean : float
        As a share of the size.
    size : int
        The largest value.
    r : float
        Below 0.
    place : int
        Where the tail begins.

    Returns
    -------
    float
    """
    power, center = 1.0 / r, mean * size
    first = int(np.ceil(2.0 * center)) + 1
    if place < first or first > size:
        return 1.0

    def excess(a: float, k: int) -> float:
        steps = np.arange(k + 1)
        weights = ((a + steps) / (a + k)) ** power
        return float(weights @ steps / weights.sum()) - center

    shapes = {first - 1: ENDLESS}
    for k in range(first, size + 1):
        upper = shapes[k - 1]
        shapes[k] = float(brentq(excess, 1e-5, upper, args=(k,))) if excess(1e-5, k) < 0 < excess(upper, k) else upper

    def tail(a: float, k: int) -> float:
        steps = np.arange(k + 1)
        weights = ((a + steps) / a) ** power
        return 1.0 - (k + 1 - center) * float(weights[:place].sum()) / float((k + 1 - steps) @ weights)

    best = tail(shapes[size], size)
    for k in range(max(first, place), size):
        low, high = shapes[k + 1], shapes[k]
        if high > low:
            optimum = minimize_scalar(lambda a, k=k: -tail(a, k), bounds=(low, high), method="bounded")
            best = max(best, -float(optimum.fun), tail(low, k), tail(high, k))
    return float(np.clip(best, 0.0, 1.0))
