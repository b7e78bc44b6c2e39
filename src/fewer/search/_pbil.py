"""Population-based incremental learning (Nel, section 3; Baluja 1994)."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from fewer.contracts import Objective, Search, SearchSpace
from fewer.search._population import repair
from fewer.trace import Step, best_first, is_better, size_of


class PBIL(Search):
    """A vector of chances, one a unit, that moves toward the best subset of each sample drawn from it.

    Read more in the guide: :doc:`/methods/searches`.

    Parameters
    ----------
    population : int, default=100
        How many subsets each generation draws.
    generations : int, default=200
        Of one run, at most.
    rate : float, default=0.1
        How far the chances move toward the best subset (α of the thesis).
    mutation : float, default=0.0
        The chance of each entry of the vector to be drawn a little toward 0 or 1 after each generation, which
        keeps a run exploring.
    runs : int, default=5
        Fresh starts; the best subset of all runs is the answer.
    penalty : float, default=0.0
        Points of score that each unit must earn: subsets compare by score − penalty · size. The scores reported
        are without it.

    Notes
    -----
    A run ends early when every chance is below 0.05 or above 0.95. Subsets of a size that is not allowed are repaired
    by switching random units. The chances after each generation are kept in `trace_.state["history"]`, one row
    a generation; the last row is where the search stands.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> search = PBIL(population=20, generations=30, runs=1)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), search, random_state=0).fit(X, y)
    >>> round(selector.score_, 3)
    0.989
    """

    command_name = "pbil"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "population": [Interval(Integral, 1, None, closed="left")],
        "generations": [Interval(Integral, 1, None, closed="left")],
        "rate": [Interval(Real, 0, 1, closed="right")],
        "mutation": [Interval(Real, 0, 1, closed="both")],
        "runs": [Interval(Integral, 1, None, closed="left")],
        "penalty": [Interval(Real, 0, None, closed="left")],
    }
    stochastic: ClassVar[bool] = True

    def __init__(
        self,
        population: int = 100,
        generations: int = 200,
        rate: float = 0.1,
        mutation: float = 0.0,
        runs: int = 5,
        penalty: float = 0.0,
    ) -> None:
        self.population = population
        self.generations = generations
        self.rate = rate
        self.mutation = mutation
        self.runs = runs
        self.penalty = penalty

    def shortened(self, share: float) -> PBIL:
        # Stop each run after a share of the generations.
        return clone(self).set_params(generations=max(1, round(self.generations * share)))

    def max_evaluations(self, space: SearchSpace) -> int:
        # Every member of every generation of every run.
        return self.population * self.generations * self.runs

    def steps(
        self, scorer: Objective, space: SearchSpace, rng: np.random.Generator, state: dict[str, Any]
    ) -> Iterator[Step]:
        # Sample, learn, and start again when the chances have decided.
        q = space.n_units
        if not state:
            state.update(run=0, generation=0, chances=_start(space), history=np.empty((0, q)))
            state.update(best=space.empty(), best_score=-np.inf, best_value=-np.inf)
        while state["run"] < self.runs:
            drawn = (rng.random((self.population, q)) < state["chances"]).astype(space.dtype)
            sample = repair(drawn, space, rng)
            scores = scorer.score(sample)
            values = scores - self.penalty * size_of(sample)
            winner = best_first(sample, values)[0]
            chances = state["chances"]
            if scores[winner] > -np.inf:
                chances = chances * (1.0 - self.rate) + sample[winner] * self.rate
            if self.mutation > 0:
                hit, toward = rng.random(q) < self.mutation, rng.integers(0, 2, q)
                chances = np.where(hit, 0.95 * chances + 0.05 * toward, chances)
            if is_better(float(values[winner]), sample[winner], state["best_value"], state["best"]):
                state.update(best=sample[winner], best_score=float(scores[winner]), best_value=float(values[winner]))
            state.update(generation=state["generation"] + 1, history=np.vstack([state["history"], chances]))
            decided = bool(np.all((chances < 0.05) | (chances > 0.95)))
            if decided or state["generation"] >= self.generations:
                state.update(run=state["run"] + 1, generation=0)
                chances = _start(space)
            state["chances"] = chances
            yield Step(sample[winner], float(scores[winner]), state["best"], state["best_score"])


def _start(space: SearchSpace) -> Any:
    """Return even chances, or a lean toward the start mask where there is one."""
    return np.full(space.n_units, 0.5) if space.start is None else np.where(space.start != 0, 0.7, 0.3)
