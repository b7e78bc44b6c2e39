"""How `auto` chooses for quantities: searches by nearest neighbors and by a linear fit race, held-out rows decide.

*Nearest neighbors* see any shape, interactions too, but drown in many columns and are slow. A *linear* fit sees weak
effects in few rows and is fast, but sees no interaction. Where there are more columns than rows, any search learns the
rows by heart, and a *ranking*, which looks at one column at a time, takes part. All choose their number of features on
held-out rows. How wide the searches are follows from the size of the table and the budget; `lay_out` says how.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from fewer.contracts import Criterion, OnStep, Ranker, Ranking, Resources
from fewer.control import OneStandardError, Prefilter
from fewer.control._aggregate import draw_rows
from fewer.criteria import KNN, LeastSquares
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem
from fewer.rankers import RReliefF
from fewer.search import Floating
from fewer.selectors._auto_encoding import f_scores
from fewer.selectors._auto_paths import columns_of
from fewer.selectors._auto_units import Units
from fewer.selectors._rank import RankSelector
from fewer.selectors._subset import SubsetSelector

LINEAR, NEAR, RANKED = "a linear fit", "nearest neighbors", "a ranking"
INNER_FOLDS = 5
N_ERRORS = 0.5
"""A whole standard error gives up features that predict: 2 to 6 points of held-out accuracy on sonar and glass."""
SECONDS_A_PAIR, SECONDS_A_ROW = 1.9e-9, 1.0e-6
"""What nearest neighbors take for a subset on the nominal machine: for each pair of rows, and for each row."""
SECONDS_A_FITTED_ROW = 5e-8
"""What a linear fit takes for a subset, for each row."""
FEWEST_ROWS = 300
FEWEST_COLUMNS = 20
ROWS_A_FEATURE, FEW_FEATURES, MANY_FEATURES = 5, 10, 50
"""No subset is larger than a feature for five rows (beyond that searches learn rows by heart), but ten may be tried and
more than fifty are not."""
WIDE = 5_000
"""Columns above which tables are read in blocks: rankings that need a copy of the table are left out."""
NEARBY = 200
"""Columns of a wide table among which the larger answer looks for more."""
STEPS = 12
"""Steps of one by one that a search is given room for, forth and back."""


@dataclass(frozen=True)
class Layout:
    """How wide the two searches are.

    Attributes
    ----------
    n_rows : int
        How many rows nearest neighbors and the ranking see; the others are left out at random, classes alike. The
        linear fit sees all.
    n_evaluations : int
        Subsets that each search by nearest neighbors has room for.
    n_near, n_linear : int
        Columns that each search gets: all, or the best of a ranking (Relief, which sees interactions, for nearest
        neighbors; Fisher's ratio, for quantities Relief, for the linear fit).
    exhaust : int
        Nearest neighbors score all subsets up to this size before they go on one by one.
    """

    n_rows: int
    n_evaluations: int
    n_near: int
    n_linear: int
    exhaust: int


def lay_out(n_rows: int, n_features: int, seconds: float) -> Layout:
    """Lay the searches out so that one fit takes about so many nominal seconds.

    Nearest neighbors get most of the time. First come rows: all, or as many as leave time to look at all pairs of
    twenty columns. Then columns: all, or as many as all their pairs can be looked at. Where time is left, all triples
    and larger subsets are looked at, too.

    Examples
    --------
    >>> lay_out(200, 20, 5.0)
    Layout(n_rows=200, n_evaluations=2264, n_near=20, n_linear=20, exhaust=3)
    >>> lay_out(5_000, 500, 5.0)
    Layout(n_rows=650, n_evaluations=430, n_near=20, n_linear=69, exhaust=2)
    """
    share = 0.75 * seconds / (1 + INNER_FOLDS)
    needed = pairs_and_steps(min(n_features, FEWEST_COLUMNS))
    rows = min(n_rows, FEWEST_ROWS)
    while rows < n_rows and needed * seconds_a_subset(rows + 1) <= share:
        rows += 1
    evaluations = int(share / seconds_a_subset(rows))
    near = n_features
    while near > 2 and pairs_and_steps(near) > evaluations:
        near -= max(near // 50, 1)
    exhaust = 2
    while exhaust < near == n_features and subsets_up_to(near, exhaust + 1) + STEPS * near <= evaluations:
        exhaust += 1
    linear = int(0.25 * seconds / (1 + INNER_FOLDS) / (STEPS * SECONDS_A_FITTED_ROW * n_rows))
    return Layout(rows, evaluations, near, min(n_features, max(linear, FEWEST_COLUMNS)), exhaust)


def seconds_a_subset(n_rows: int) -> float:
    """Return the nominal time in which nearest neighbors score one subset."""
    return SECONDS_A_PAIR * n_rows**2 + SECONDS_A_ROW * n_rows


def pairs_and_steps(n_columns: int) -> int:
    """Count the subsets of a search that looks at all pairs and then goes on one by one."""
    return comb(n_columns, 2) + STEPS * n_columns


def subsets_up_to(n_columns: int, size: int) -> int:
    """Count the subsets of up to a size."""
    return sum(comb(n_columns, k) for k in range(1, size + 1))


@dataclass(frozen=True)
class Options:
    """What the user asked for: numbers of features, columns forced in or out, groups, splits, memory, threads."""

    sizes: Any = "auto"
    include: Any = None
    exclude: Any = None
    feature_groups: Any = None
    cv: Any = INNER_FOLDS
    memory: str | int = "1GiB"
    n_jobs: int | None = None

    @property
    def forced(self) -> bool:
        """Whether columns are forced in or out, or together."""
        return any(option is not None and len(option) for option in (self.include, self.exclude, self.feature_groups))


@dataclass(eq=False)
class Finished:
    """The candidates that came to an end, and the rows that each of them saw."""

    selectors: dict[str, SubsetSelector | RankSelector]
    rows: dict[str, Problem]
    layout: Layout

    def scores(self) -> list[dict[str, Any]]:
        """Return each candidate's name, number of features and held-out score."""
        return [
            {"name": name, "n_features": int(selector.support_.sum()), "heldout": heldout_score(selector)}
            for name, selector in self.selectors.items()
        ]

    def best(self) -> str:
        """Name the candidate with the best held-out score; of equal ones, the one with fewer features."""
        return str(max(self.scores(), key=lambda c: (c["heldout"], -c["n_features"]))["name"])


class Alone(Ranker):
    """How much of the target's spread each feature explains alone, by a linear fit; wide tables are read in blocks."""

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        """Rank the columns of these rows."""
        rows = np.arange(problem.n_samples)
        return Ranking.by_score(f_scores(problem, rows, problem.y[:, None].astype(np.float64), problem.row_weights))


def run(
    problem: Problem, options: Options, budget: float, rng: np.random.Generator, on_step: OnStep | None
) -> Finished:
    """Run the candidates. If the user stops it, `KeyboardInterrupt` carries those that came to an end."""
    layout = lay_out(problem.n_samples, problem.n_features, budget)
    sample = sample_rows(problem, layout.n_rows, rng)
    seed = int(rng.integers(2**31))
    finished = Finished({}, {}, layout)
    for name, selector in candidates(problem, layout, options).items():
        # Where both see the same rows, the same seed gives them the same folds.
        selector.set_params(random_state=seed)
        rows = problem if name == LINEAR else sample
        try:
            finished.selectors[name] = selector.fit_problem(rows, on_step)
            finished.rows[name] = rows
        except InputError:
            continue  # some part of few rows leaves it nothing to choose from
        except KeyboardInterrupt as stop:
            if not finished.selectors and hasattr(selector, "support_"):
                finished.selectors[name], finished.rows[name] = selector, rows
            stop.args = (*stop.args, finished)
            raise
    if not finished.selectors:
        plain = candidates(problem, layout, options)[NEAR].set_params(control=None, random_state=seed)
        finished = Finished({NEAR: plain.fit_problem(problem, on_step)}, {NEAR: problem}, layout)
    return finished


def candidates(problem: Problem, layout: Layout, options: Options) -> dict[str, SubsetSelector | RankSelector]:
    """Lay the candidates out."""
    sizes = options.sizes
    if sizes == "auto":
        sizes = (1, int(np.clip(problem.n_samples // ROWS_A_FEATURE, FEW_FEATURES, MANY_FEATURES)))
    wide = problem.n_features > WIDE

    def candidate(criterion: Criterion, exhaust: int, n_columns: int) -> SubsetSelector:
        ranker: Ranker = Alone() if wide else RReliefF()
        return SubsetSelector(
            criterion,
            Floating(exhaust=exhaust),
            control=OneStandardError(cv=options.cv, n_errors=N_ERRORS),
            n_features_to_select=sizes,
            prefilter=Prefilter(ranker, keep=n_columns) if n_columns < problem.n_features else None,
            include=options.include,
            exclude=options.exclude,
            feature_groups=options.feature_groups,
            memory=options.memory,
            n_jobs=options.n_jobs,
        )

    found: dict[str, SubsetSelector | RankSelector] = {}
    if problem.n_features > problem.n_samples and options.sizes == "auto" and not options.forced and not wide:
        found[RANKED] = RankSelector(RReliefF())
    return found | {
        LINEAR: candidate(LeastSquares(), 1, layout.n_linear),
        NEAR: candidate(KNN("auto"), layout.exhaust, layout.n_near),
    }


def heldout_score(selector: SubsetSelector | RankSelector) -> float:
    """Return a candidate's held-out score at its size; minus infinity if it was stopped before there was one."""
    if isinstance(selector, RankSelector):
        chosen = selector.curve_["size"] == selector.support_.sum()
        return float(selector.curve_["score"][chosen][0])
    extra = selector.trace_.extra
    return float(extra["heldout"][extra["sizes"] == extra["chosen_size"][0]][0]) if "heldout" in extra else -np.inf


def row_losses(selector: SubsetSelector | RankSelector, n_rows: int) -> tuple[IntArray, FloatArray] | None:
    """Return the sizes that a candidate judged and the loss of each held-out row at each, (n_rows, n_sizes)."""
    records = None if isinstance(selector, RankSelector) else selector.trace_.state.get("runs")
    if not records or "sizes" not in selector.trace_.extra:
        return None
    sizes = np.asarray(selector.trace_.extra["sizes"])
    losses = np.full((n_rows, len(sizes)), np.nan)
    for record in records:
        places = np.maximum(np.searchsorted(record["sizes"], sizes, side="right") - 1, 0)
        losses[record["rows"]] = record["losses"][:, places]
    return sizes, losses


def nested_choices(
    criterion: Criterion, problem: Problem, support: BoolArray, units: Units, sizes: dict[str, int]
) -> dict[str, BoolArray]:
    """Make a smaller and a larger subset of one that was found: one unit less, or more, at a time, as the score says.

    So the three answers nest, and the middle one stays what the search found.
    """
    near = np.flatnonzero(support)
    if problem.n_features > NEARBY:
        alone = f_scores(problem, np.arange(problem.n_samples), problem.y[:, None] * 1.0, problem.row_weights)
        near = np.union1d(near, np.argsort(-alone, kind="stable")[:NEARBY])
    else:
        near = np.arange(problem.n_features)
    part = columns_of(problem, near)
    scorer = criterion.bind(part, np.random.default_rng(0), Resources())
    groups = [np.searchsorted(near, unit) for unit in units.members if np.isin(unit, near).all()]
    fixed = np.isin(near, units.features(units.forced))

    def moved(size: int) -> BoolArray:
        mask = support[near].copy()
        while True:
            inside = np.array([bool(mask[unit].all()) for unit in groups])
            if int(inside.sum()) == size:
                break
            drop = int(inside.sum()) > size
            able = [unit for unit, own in zip(groups, inside, strict=True) if own == drop and not fixed[unit].all()]
            if not able:
                break
            scores = scorer.flips(mask, able, np.full(len(able), not drop))
            mask[able[int(np.argmax(np.round(scores, 12)))]] = not drop
        whole = np.zeros(problem.n_features, dtype=bool)
        whole[near[mask]] = True
        return whole

    return {name: support.copy() if name == "balanced" else moved(size) for name, size in sizes.items()}


def sample_rows(problem: Problem, n_rows: int, rng: np.random.Generator) -> Problem:
    """Draw about so many rows, classes alike and row groups whole; all if there are no more."""
    if problem.n_samples <= n_rows:
        return problem
    return problem.take(draw_rows(problem, "subsample", rng, n_rows / problem.n_samples))


__all__ = ["Finished", "Layout", "Options", "lay_out", "run", "sample_rows", "seconds_a_subset"]
