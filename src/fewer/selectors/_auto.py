"""A choice of method for people who do not want to make one: a race between ways of seeing the data.

*Nearest neighbors* see any shape, interactions too, but drown in many columns and are slow. A *linear* fit sees weak
effects in few rows and is fast, but sees no interaction. Where there are more columns than rows, any search learns the
rows by heart, and a *ranking*, which looks at one column at a time, takes part. All choose their number of features on
held-out rows: the smallest within a standard error of the best (half a one for searches). Those rows also say which
candidate predicts best, and that one answers. How wide the searches are follows from the size of the table and the
budget; `lay_out` says how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from fewer.columns import Column
from fewer.contracts import Criterion, OnStep, Ranker
from fewer.control import OneStandardError, Prefilter
from fewer.control._aggregate import draw_rows
from fewer.criteria import KNN, LeastSquares
from fewer.problem import InputError, Problem
from fewer.rankers import Fisher, ReliefF, RReliefF
from fewer.search import Floating
from fewer.selectors._base import Selector
from fewer.selectors._parameters import Size
from fewer.selectors._rank import RankSelector
from fewer.selectors._subset import SubsetSelector
from fewer.trace import Trace

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


class AutoSelector(Selector):
    """Select features without choosing a method: nearest neighbors and a linear fit race, held-out rows decide.

    Where there are more columns than rows, a ranking of single columns takes part.

    Parameters
    ----------
    budget : float, default=3.0
        Seconds that one fit should take on one core of a nominal machine. Costs that are written down, and not a clock,
        turn them into numbers of rows, columns and subsets, so that the result does not depend on the machine.
    n_features_to_select : int, float, (int, int) or "auto", default="auto"
        How many; `"auto"` is the smallest number that held-out rows cannot tell from the best, up to one for five rows
        (at least 10) and up to 50.
    include, exclude, feature_groups, memory, n_jobs, random_state
        As in `SubsetSelector`.

    Attributes
    ----------
    support_, ranking_, score_, trace_, set_aside_
        Those of the winner. A ranking has an empty trace, and its held-out score as score.
    selector_ : SubsetSelector or RankSelector
        The winner.
    candidates_ : list of dict
        Each candidate's name, number of features, and held-out score (share of right predictions, or minus the mean
        squared error) at that number.
    n_evaluations_ : int
        Subsets that all candidates scored.
    reason_ : str
        What was chosen, and why.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from fewer import AutoSelector
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 10))
    >>> AutoSelector(random_state=0).fit(X, X[:, 3] * X[:, 7] > 0).get_support(indices=True)
    array([3, 7])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "budget": [Interval(Real, 0, None, closed="neither")],
        **{
            name: SubsetSelector._parameter_constraints[name]
            for name in (
                "n_features_to_select", "include", "exclude", "feature_groups", "memory", "n_jobs", "random_state",
            )
        },
    }  # fmt: skip

    def __init__(
        self,
        *,
        budget: float = 3.0,
        n_features_to_select: Size = "auto",
        include: Sequence[Column] | None = None,
        exclude: Sequence[Column] | None = None,
        feature_groups: Sequence[Sequence[Column]] | None = None,
        memory: str | int = "1GiB",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.n_features_to_select = n_features_to_select
        self.include = include
        self.exclude = exclude
        self.feature_groups = feature_groups
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_problem(self, problem: Problem, on_step: OnStep | None = None) -> AutoSelector:
        """Run the race. If the user stops it, the best candidate so far answers."""
        rng = self._generator()
        layout = lay_out(problem.n_samples, problem.n_features, self.budget)
        sample = sample_rows(problem, layout.n_rows, rng)
        seed = int(rng.integers(2**31))
        finished: dict[str, SubsetSelector | RankSelector] = {}
        try:
            for name, selector in self._candidates(problem, layout).items():
                # Where both see the same rows, the same seed gives them the same folds.
                selector.set_params(random_state=seed)
                try:
                    finished[name] = selector.fit_problem(problem if name == LINEAR else sample, on_step)
                except InputError:
                    continue  # some part of few rows leaves it nothing to choose from
                except KeyboardInterrupt:
                    if not finished and hasattr(selector, "support_"):
                        finished[name] = selector
                    raise
        except KeyboardInterrupt:
            if finished:
                self._keep(finished, problem, layout)
            raise
        if not finished:
            plain = self._candidates(problem, layout)[NEAR].set_params(control=None, random_state=seed)
            finished = {NEAR: plain.fit_problem(problem, on_step)}
        self._keep(finished, problem, layout)
        return self

    def _candidates(self, problem: Problem, layout: Layout) -> dict[str, SubsetSelector | RankSelector]:
        classes = problem.task == "classification"
        forced = any(option is not None and len(option) for option in (self.include, self.exclude, self.feature_groups))
        sizes = self.n_features_to_select
        if sizes == "auto":
            sizes = (1, int(np.clip(problem.n_samples // ROWS_A_FEATURE, FEW_FEATURES, MANY_FEATURES)))

        def candidate(criterion: Criterion, exhaust: int, ranker: Ranker, n_columns: int) -> SubsetSelector:
            return SubsetSelector(
                criterion,
                Floating(exhaust=exhaust),
                control=OneStandardError(cv=INNER_FOLDS, n_errors=N_ERRORS),
                n_features_to_select=sizes,
                prefilter=Prefilter(ranker, keep=n_columns) if n_columns < problem.n_features else None,
                include=self.include,
                exclude=self.exclude,
                feature_groups=self.feature_groups,
                memory=self.memory,
                n_jobs=self.n_jobs,
            )

        found: dict[str, SubsetSelector | RankSelector] = {}
        if problem.n_features > problem.n_samples and self.n_features_to_select == "auto" and not forced:
            found[RANKED] = RankSelector(Fisher() if classes else RReliefF())
        return found | {
            LINEAR: candidate(LeastSquares(), 1, Fisher() if classes else RReliefF(), layout.n_linear),
            NEAR: candidate(KNN("auto"), layout.exhaust, ReliefF() if classes else RReliefF(), layout.n_near),
        }

    def _keep(self, finished: dict[str, SubsetSelector | RankSelector], problem: Problem, layout: Layout) -> None:
        self.candidates_: list[dict[str, Any]] = [
            {"name": name, "n_features": int(selector.support_.sum()), "heldout": heldout_score(selector, problem)}
            for name, selector in finished.items()
        ]
        # Of equal scores the smaller subset wins.
        best = max(self.candidates_, key=lambda c: (c["heldout"], -c["n_features"]))
        winner = self.selector_ = finished[best["name"]]
        self.reason_ = self._explain(best, problem, layout)
        self.n_features_in_ = problem.n_features
        self.support_, self.ranking_ = winner.support_, winner.ranking_
        self.score_ = best["heldout"] if isinstance(winner, RankSelector) else winner.score_
        self.trace_ = Trace() if isinstance(winner, RankSelector) else winner.trace_
        self.set_aside_ = np.flatnonzero(problem.constant & ~self.support_)
        self.n_evaluations_ = sum(s.trace_.n_evaluations for s in finished.values() if isinstance(s, SubsetSelector))

    def _explain(self, best: dict[str, Any], problem: Problem, layout: Layout) -> str:
        if best["heldout"] == float("-inf"):
            return "Nearest neighbors answer, without validation: there are too few rows for it, or it was stopped."
        unit = "share predicted right" if problem.task == "classification" else "minus the mean squared error"
        scores = ", ".join(f"{c['name']} {c['heldout']:.3f}" for c in self.candidates_)
        width = (
            f"all subsets of up to {min(layout.exhaust, problem.n_features)} columns"
            if layout.n_near == problem.n_features
            else f"all pairs of the {layout.n_near} columns that Relief puts first"
        )
        return (
            f"{best['name'].capitalize()} did best on held-out rows ({unit}: {scores}). Nearest neighbors saw "
            f"{layout.n_rows:,} rows and {width}, then one column more or less at a time, with room for "
            f"{layout.n_evaluations:,} subsets a search."
        )

    def _tasks(self) -> Any:
        return KNN.tasks


def heldout_score(selector: SubsetSelector | RankSelector, problem: Problem) -> float:
    """Return the held-out score at the chosen size, the least possible if it was stopped before there was one."""
    if isinstance(selector, RankSelector):
        chosen = selector.curve_["size"] == selector.support_.sum()
        return float(selector.curve_["score"][chosen][0]) + (1.0 if problem.task == "classification" else 0.0)
    extra = selector.trace_.extra
    return float(extra["heldout"][extra["sizes"] == extra["chosen_size"][0]][0]) if "heldout" in extra else -np.inf


def sample_rows(problem: Problem, n_rows: int, rng: np.random.Generator) -> Problem:
    """Draw about so many rows, classes alike and row groups whole; all if there are no more."""
    if problem.n_samples <= n_rows:
        return problem
    return problem.take(draw_rows(problem, "subsample", rng, n_rows / problem.n_samples))


__all__ = ["AutoSelector", "Layout", "lay_out", "sample_rows", "seconds_a_subset"]
