"""Which features to believe: those that beat shuffled copies (Kursa and Rudnicki), random columns, or a p-value."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy.stats import binom

from fewer.contracts import Control, IncompatibleError
from fewer.contracts.declaring import Fraction, Repeats, parameters
from fewer.contracts.trace import Trace
from fewer.control._ranking import RankingControl, RankingRun, fit_size, unit_scores, with_shuffled
from fewer.problem import BoolArray, FloatArray, IntArray, mask_of

Procedure = Literal["bh", "by", "fpr", "fwe"]
PROMISES = {
    "bh": "false-discovery rate of {:g} (Benjamini–Hochberg; for independent or positively related p-values)",
    "by": "false-discovery rate of {:g} (Benjamini–Yekutieli; however the p-values are related)",
    "fpr": "false-positive rate of {:g} (each feature by itself, not corrected for their number)",
    "fwe": "family-wise error of {:g} (Holm; the chance that any of them is false)",
}


@parameters
class FalseDiscovery(RankingControl):
    """Keep features by their p-values so that few of those kept are false: Benjamini and Hochberg's procedure.

    With m features, the k smallest p-values are kept for the largest k whose p-value is at most k / m times the rate.
    If the features that say nothing are independent of each other, or positively related, the expected share of
    them among those kept is at most the rate. Needs a ranker with p-values, such as `FTest`, `Chi2`, `Spearman` or
    `KruskalWallis`. Each feature is tested by itself: one that only repeats another is no false discovery here.

    Read more in the guide: :doc:`/methods/false-discoveries`.

    Parameters
    ----------
    rate : float, default=0.1
        What the procedure keeps to: the false-discovery rate, or one of the two below.
    procedure : {"bh", "by", "fpr", "fwe"}, default="bh"
        `"bh"`: Benjamini and Hochberg. `"by"`: Benjamini and Yekutieli, the same promise however the p-values are
        related; the rate is divided by 1 + 1/2 + … + 1/m. `"fpr"`: every p-value up to the rate, the share of features
        that say nothing and are kept all the same. `"fwe"`: Holm's procedure, the chance that any feature kept is
        false; it keeps all that Bonferroni's keeps.

    Notes
    -----
    A feature group counts with the smallest p-value of its columns times their number. Where a number of features is
    asked for, the smallest p-values fill up or the largest give way, and the promise no longer holds. The trace's
    `extra` holds `p_value`.

    References
    ----------
    Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B 57,
    1995. Y. Benjamini and D. Yekutieli, The control of the false discovery rate in multiple testing under dependency,
    Annals of Statistics 29, 2001. S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian
    Journal of Statistics 6, 1979.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = fewer.RankSelector(fewer.rankers.FTest(), control=FalseDiscovery(0.05)).fit(X, y)
    >>> int(selector.support_.sum())
    25
    """

    command_name = "fdr"
    over_searches = False

    rate: Fraction = 0.1
    procedure: Procedure = "bh"

    def choose(self, run: RankingRun) -> Trace:
        # Rank once and keep what passes.
        if not run.ranker.p_values:
            raise IncompatibleError(
                f"FalseDiscovery needs p-values, and {type(run.ranker).__name__} has none; use FTest, Chi2 or Spearman."
            )
        p_values = run.ranker.rank(run.problem, run.rng, run.resources).extra["p_value"]
        by_unit = np.array([min(p_values[unit].min() * len(unit), 1.0) for unit in run.space.units])
        kept = discoveries(by_unit, self.rate, self.procedure)
        run.trace.extra["p_value"] = p_values
        run.record(fit_size(kept, -by_unit, run.space))
        run.trace.state["promise"] = (
            f"{int(kept.sum())} of {len(kept)} features pass at a {PROMISES[self.procedure].format(self.rate)}."
        )
        if run.problem.groups is not None:
            run.trace.note("The p-values assume independent rows; with row groups they are too small.")
        run.trace.done = True
        return run.trace


def discoveries(p_values: FloatArray, rate: float, procedure: Procedure = "bh") -> BoolArray:
    """Say which p-values pass a procedure.

    Parameters
    ----------
    p_values : array of shape (m,)
        One for each test.
    rate : float
        The share of false ones that is allowed, or the chance of one.
    procedure : {"bh", "by", "fpr", "fwe"}, default="bh"
        As in `FalseDiscovery`.

    Returns
    -------
    bool array of shape (m,)

    Examples
    --------
    >>> discoveries(np.array([0.04, 0.001, 0.2, 0.01]), 0.05)
    array([False,  True, False,  True])
    """
    m = len(p_values)
    places = np.arange(1, m + 1)
    order = np.argsort(p_values, kind="stable")
    ordered = p_values[order]
    if procedure == "fpr":
        n_kept = int((ordered <= rate).sum())
    elif procedure == "fwe":
        failed = np.flatnonzero(ordered > rate / (m + 1 - places))
        n_kept = int(failed[0]) if len(failed) else m
    else:
        rate /= float((1.0 / places).sum()) if procedure == "by" and m else 1.0
        passed = np.flatnonzero(ordered <= rate * places / max(m, 1))
        n_kept = int(passed[-1]) + 1 if len(passed) else 0
    return mask_of(order[:n_kept], m)


# After how many of a hundred runs decisions are made; few looks, so that each may be less strict.
LOOKS = (8, 10, 12, 15, 20, 27, 37, 50, 70, 100)
FEWEST_SHADOWS = 5


@lru_cache
def level_of_looks(looks: tuple[int, ...], alpha: float) -> float:
    """Return the level at each look at a fair walk that is passed at some look with probability `alpha` at most.

    The looks are at the same walk, so this is less strict than `alpha` divided by their number.

    Parameters
    ----------
    looks : tuple of int
        After how many runs.
    alpha : float
        Of all the looks together.

    Returns
    -------
    float
        The largest such level.

    Examples
    --------
    >>> round(level_of_looks(LOOKS, 0.05), 4)
    0.0164
    """
    tails = np.concatenate([binom.sf(np.arange(n + 1) - 1, n, 0.5) for n in looks])
    levels = np.unique(np.append(tails[tails <= alpha], alpha / len(looks)))
    low, high = 0, len(levels) - 1  # the first always holds: Bonferroni's level, or one below it
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _passed(looks, levels[middle]) <= alpha else (low, middle - 1)
    return float(levels[low])


def _passed(looks: tuple[int, ...], level: float) -> float:
    """Return the probability that a fair walk has at some look so many hits that their tail is at most the level."""
    walk, n, passed = np.ones(1), 0, 0.0
    for look in looks:
        walk, n = np.convolve(walk, binom.pmf(np.arange(look - n + 1), look - n, 0.5)), look
        out = binom.sf(np.arange(n + 1) - 1, n, 0.5) <= level
        passed += float(walk[out].sum())
        walk[out] = 0.0
    return passed


@parameters
class Shadow(RankingControl):
    """Keep every feature that beats the best of shuffled copies of all features: all-relevant selection, as Boruta.

    Each run ranks the features that are not rejected yet beside a shuffled copy of every feature; Boruta leaves out
    the copies of rejected ones, which makes it ever easier for the rest. A feature that beats the best copy has
    a hit. Hits of a feature that tells nothing would come in at most half of the runs; features
    with significantly more are *confirmed*, with significantly fewer *rejected*, others *tentative*. Any ranker works,
    not only a forest; [boruta] on the command line is `Importance(forest)`.

    Read more in the guide: :doc:`/methods/false-discoveries`.

    Parameters
    ----------
    n_runs : int, default=100
        Maximum number of runs; they end as soon as nothing is left to decide.
    alpha : float, default=0.05
        Level of the decisions, by Benjamini and Hochberg over features and exact over the ten looks at them: of
        features that tell nothing at most this share is confirmed at any look.
    control : Control, optional
        Runs inside each search, where this control is over a search.

    Notes
    -----
    Shuffled copies keep a feature's values and lose the target. With row groups whole groups of equal size change
    places, so that copies are as alike within groups as the features are. A feature group ranks with its best column.
    Where a number of features is asked for, the features with most hits fill up or the ones with fewest give way, and
    the promise no longer holds.

    Give a forest no seed of its own (`random_state=None`): it then gets a fresh one in every run.

    The level is that of the runs, on these very rows: a feature that goes with the target by chance in this table beats
    its copies in every run. On tables of pure noise with 12 columns, 0.04 features a table were confirmed with a forest
    and 0.54 with `Fisher` (`experiments/promises.md`).

    The trace's `extra` holds, by feature, `hits`, `runs` (that it took part in) and `decision`: 1 confirmed, 0
    tentative, −1 rejected.

    See Also
    --------
    Probe : One comparison with random columns, fast.
    Knockoffs : Promises a false-discovery rate.

    References
    ----------
    M. Kursa and W. Rudnicki, Feature selection with the Boruta package, Journal of Statistical Software 36, 2010.

    Examples
    --------
    >>> import fewer
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 8)), np.repeat([0, 1], 100)
    >>> X[:, [2, 5]] += y[:, None]
    >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), control=Shadow(), random_state=0).fit(X, y)
    >>> selector.support_.nonzero()
    (array([2, 5]),)
    """

    command_name = "boruta"

    n_runs: Repeats = 100
    alpha: Fraction = 0.05
    control: Control | None = None

    def choose(self, run: RankingRun) -> Trace:
        # Rank beside shuffled copies until every feature is decided on.
        trace, n_units = run.trace, run.space.n_units
        looks = np.unique(np.ceil(np.array(LOOKS) * self.n_runs / 100).astype(np.int64))
        if not trace.state:
            seed = int(run.rng.integers(2**63))
            trace.state.update(seed=seed, run=0, hits=np.zeros(n_units), decision=np.zeros(n_units, dtype=np.int64))
            trace.state.update(runs=np.zeros(n_units))
        state = trace.state
        with trace.finishing():
            while state["run"] < self.n_runs and self._is_open(state, looks):
                self._run_once(run, np.random.default_rng([state["seed"], state["run"]]))
                if state["run"] in looks:
                    self._decide(state, looks)
                self._tell(run)
        if not trace.steps:
            self._tell(run)
        _note_groups(run)
        state["promise"] = self._promise(state, run, len(looks))
        return trace

    def _run_once(self, run: RankingRun, rng: np.random.Generator) -> None:
        """Compare every feature that is not rejected with the best of shuffled copies of all features."""
        state, space = run.trace.state, run.space
        alive = np.flatnonzero(state["decision"] >= 0)
        columns = np.concatenate([space.units[unit] for unit in alive])
        everyone = np.concatenate(space.units)
        copied = np.resize(everyone, max(len(everyone), FEWEST_SHADOWS))
        table = with_shuffled(run.problem, copied, rng)
        forced, added = np.flatnonzero(space.base), np.arange(run.problem.n_features, table.n_features)
        used = np.unique(np.concatenate([columns, forced, added]))
        scores = np.full(table.n_features, -np.inf)
        scores[used] = run.scores(table.narrowed(used), rng) if run.ranker.symmetric else run.scores(table, rng)[used]
        hits = unit_scores(scores, space)[alive] > scores[run.problem.n_features :].max()
        state["hits"][alive[hits]] += 1
        state["runs"][alive] += 1
        state["run"] += 1

    def _decide(self, state: dict[str, Any], looks: IntArray) -> None:
        """Confirm and reject what can be."""
        level = level_of_looks(tuple(looks.tolist()), self.alpha)
        open_units = np.flatnonzero(state["decision"] == 0)
        hits, runs = state["hits"][open_units], state["run"]
        for decision, p_values in ((1, binom.sf(hits - 1, runs, 0.5)), (-1, binom.cdf(hits, runs, 0.5))):
            passed = discoveries(p_values, self.alpha) & (p_values <= level)
            state["decision"][open_units[passed]] = decision

    def _is_open(self, state: dict[str, Any], looks: IntArray) -> bool:
        """Say whether some feature may still be decided on, if all the runs to come agree."""
        hits = state["hits"][state["decision"] == 0]
        ahead = looks[looks > state["run"]]
        if not len(hits) or not len(ahead):
            return False
        level, last = level_of_looks(tuple(looks.tolist()), self.alpha), int(ahead[-1])
        most, fewest = hits + (last - state["run"]), hits
        return bool(((binom.sf(most - 1, last, 0.5) <= level) | (binom.cdf(fewest, last, 0.5) <= level)).any())

    def _tell(self, run: RankingRun) -> None:
        state = run.trace.state
        for name in ("hits", "runs", "decision"):
            run.trace.extra[name] = run.by_feature(state[name])
        run.record(fit_size(state["decision"] == 1, state["hits"], run.space))

    def _promise(self, state: dict[str, Any], run: RankingRun, n_looks: int) -> str:
        counts = [int((state["decision"] == decision).sum()) for decision in (1, 0, -1)]
        return (
            f"Confirmed {counts[0]}, tentative {counts[1]}, rejected {counts[2]} after {state['run']} runs beside "
            f"shuffled copies: a confirmed feature beats the best copy in more than half of the runs, at level "
            f"{self.alpha:g} (Benjamini–Hochberg over features, exact over {n_looks} looks)."
        )


def _note_groups(run: RankingRun) -> None:
    if run.problem.groups is None:
        return
    sizes = np.bincount(run.problem.groups)
    if n_alone := int((np.bincount(sizes)[sizes] == 1).sum()):
        text = "row groups have a unique size and cannot be swapped with another, so their cells stay in place in the"
        run.trace.note(f"{n_alone} {text} shuffled copies.")


@parameters
class Probe(RankingControl):
    """Keep the features that beat random columns.

    Some columns, drawn at random and shuffled, are ranked beside all features; a feature stays if it beats the best of
    them in more than half of the runs. A quick look: with k probes a feature that says nothing passes one run with a
    chance of about 1 / (k + 1).

    Read more in the guide: :doc:`/methods/false-discoveries`.

    Parameters
    ----------
    n_probes : int, default=20
        Random columns in each run.
    n_runs : int, default=5
        How often the probes are drawn again.
    control : Control, optional
        Runs inside each search, where this control is over a search.

    Notes
    -----
    Probes keep the values of the columns that they come from; with row groups, whole groups change places. A feature
    group ranks with its best column. Where a number of features is asked for, the features with most wins fill up or
    those with fewest give way. The trace's `extra` holds `hits`, the wins of each feature.

    See Also
    --------
    Shadow : Tests that; slower.

    Examples
    --------
    >>> import fewer
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 8)), np.repeat([0, 1], 100)
    >>> X[:, [2, 5]] += y[:, None]
    >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), control=Probe(), random_state=0).fit(X, y)
    >>> selector.support_.nonzero()
    (array([2, 5]),)
    """

    command_name = "probe"

    n_probes: Repeats = 20
    n_runs: Repeats = 5
    control: Control | None = None

    def choose(self, run: RankingRun) -> Trace:
        # Rank beside random columns a few times.
        trace, space = run.trace, run.space
        if not trace.state:
            trace.state.update(seed=int(run.rng.integers(2**63)), run=0, hits=np.zeros(space.n_units))
        state = trace.state
        varying = np.flatnonzero(~run.problem.constant)
        with trace.finishing():
            while state["run"] < self.n_runs:
                rng = np.random.default_rng([state["seed"], state["run"]])
                sources = rng.choice(varying, self.n_probes)
                scores = run.scores(with_shuffled(run.problem, sources, rng), rng)
                state["hits"] += unit_scores(scores, space) > scores[run.problem.n_features :].max()
                state["run"] += 1
                self._tell(run)
        state["promise"] = (
            f"Kept features that beat the best of {self.n_probes} random columns in over half of {self.n_runs} runs;"
            f" an irrelevant one passes a run with probability about {1 / (self.n_probes + 1):.2g}."
        )
        return trace

    def _tell(self, run: RankingRun) -> None:
        state = run.trace.state
        run.trace.extra["hits"] = run.by_feature(state["hits"])
        run.record(fit_size(state["hits"] > state["run"] / 2, state["hits"], run.space))
