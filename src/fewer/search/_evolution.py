"""Searches with a population of subsets: genetic search and population-based incremental learning.

Genetic search (Nel, section 3; Loughrey, chapter 4, specification section 5).

Population-based incremental learning (Nel, section 3; Baluja 1994).
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from fewer.contracts import Objective, Search, SearchSpace
from fewer.contracts.declaring import Count, NonNegative, Repeats, Several, Share, parameters
from fewer.contracts.trace import Step, best_first, is_better, size_of
from fewer.problem import FloatArray, IntArray
from fewer.search._sequential import State


def repair(states: NDArray[Any], space: SearchSpace, rng: Generator) -> NDArray[Any]:
    """Switch random units until every state has an allowed size; units switched on get a random weight above 0.

    Examples
    --------
    >>> space = SearchSpace.of(4, sizes=(2, 3))
    >>> states = np.array([[True] * 4, [False] * 4])
    >>> repair(states, space, np.random.default_rng(0)).sum(axis=1).tolist()
    [3, 2]
    """
    for row in np.flatnonzero(~space.allows(states)):
        order = rng.permutation(space.n_units)
        on, off = order[states[row, order] != 0], order[states[row, order] == 0]
        states[row, on[space.max_units :]] = 0
        missing = off[: max(space.min_units - len(on), 0)]
        states[row, missing] = rng.integers(1, space.weight_levels + 1, len(missing)) / space.weight_levels
    return states


@parameters
class Genetic(Search):
    """A population of subsets that recombine and mutate, the better ones more often.

    Read more in the guide: :doc:`/methods/loughrey`.

    Parameters
    ----------
    population : int, default=50
        How many subsets live at a time.
    generations : int, default=120
        How often they breed.
    crossover : {"two-point", "one-point"}, default="two-point"
        Where two parents are cut and joined.
    mutation : float or "auto", default="auto"
        The chance of each gene to change: a bit flips, a weight becomes another one. `"auto"` is 1 / units.
    selection : {"best", "roulette"}, default="best"
        `"best"` (Nel): every member is as likely a parent, and the best distinct subsets of parents and children
        survive. `"roulette"` (Loughrey): parents are drawn in proportion to log(fitness + 1), fitness being the
        score in percent, and the children replace them, except for the elite.
    elitism : float, default=0.05
        Share of a generation that goes on unchanged under roulette selection, one member at least if above 0.
    patience : int, optional
        Stop after this many generations in a row without improvement.
    answer : {"best", "final"}, default="best"
        The best subset met, or the best of the last generation.

    Notes
    -----
    Children of a size that is not allowed are repaired by switching random units. Under roulette selection, where
    some score is negative, fitness is measured from the worst member. Loughrey's thesis is
    `Genetic(25, 120, mutation=0.05, selection="roulette", answer="final")`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> search = Genetic(population=20, generations=20)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), search, random_state=0).fit(X, y)
    >>> round(selector.score_, 3)
    0.994
    """

    command_name = "genetic"
    stochastic: ClassVar[bool] = True
    supports_weights: ClassVar[bool] = True

    population: Several = 50
    generations: Repeats = 120
    crossover: Literal["two-point", "one-point"] = "two-point"
    mutation: Share | Literal["auto"] = "auto"
    selection: Literal["best", "roulette"] = "best"
    elitism: Annotated[float, Interval(Real, 0, 1, closed="left")] = 0.05
    patience: Count | None = None
    answer: Literal["best", "final"] = "best"

    def shortened(self, share: float) -> Genetic:
        # Stop after a share of the generations.
        return clone(self).set_params(generations=max(1, round(self.generations * share)))

    def max_evaluations(self, space: SearchSpace) -> int:
        # The first members, and every child of every generation.
        return self.population * (1 + self.generations)

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
        # Breed one generation after the other.
        if not state:
            members = np.array([space.random(rng) for _ in range(self.population)])
            if space.start is not None:
                members[0] = space.start
            scores = scorer.score(members)
            first = best_first(members, scores)[0]
            state.update(generation=0, stale=0, members=members, scores=scores)
            state.update(best=members[first].copy(), best_score=float(scores[first]))
            yield self._step(state)
        while state["generation"] < self.generations and (self.patience is None or state["stale"] < self.patience):
            members, scores = state["members"], state["scores"]
            children = self._breed(members, scores, space, rng)
            members, scores = self._survive(members, scores, children, scorer)
            first = best_first(members, scores)[0]
            improved = is_better(float(scores[first]), members[first], state["best_score"], state["best"])
            if improved or self.answer == "final":
                state.update(best=members[first].copy(), best_score=float(scores[first]))
            state.update(generation=state["generation"] + 1, stale=0 if improved else state["stale"] + 1)
            state.update(members=members, scores=scores)
            yield self._step(state)

    def _breed(self, members: NDArray[Any], scores: FloatArray, space: SearchSpace, rng: Generator) -> NDArray[Any]:
        n, q = self.population - self._n_elite(), space.n_units
        chances = roulette(scores) if self.selection == "roulette" else None
        pairs = rng.choice(len(members), size=(n, 2), p=chances)
        from_second = crossed(n, q, 2 if self.crossover == "two-point" else 1, rng)
        children = np.where(from_second, members[pairs[:, 1]], members[pairs[:, 0]])
        rate = 1.0 / max(q, 1) if self.mutation == "auto" else self.mutation
        mutants = rng.random((n, q)) < rate
        shift = rng.integers(1, space.weight_levels + 1, size=(n, q))
        levels = np.rint(children * space.weight_levels).astype(np.int64)
        others = (levels + shift) % (space.weight_levels + 1) / space.weight_levels
        children = np.where(mutants, others, children).astype(space.dtype)
        return repair(children, space, rng)

    def _survive(
        self, members: NDArray[Any], scores: FloatArray, children: NDArray[Any], scorer: Objective
    ) -> tuple[NDArray[Any], FloatArray]:
        offspring = scorer.score(children)
        if self.selection == "roulette":
            elite = best_first(members, scores)[: self._n_elite()]
            return np.concatenate([members[elite], children]), np.concatenate([scores[elite], offspring])
        everyone, scores = np.concatenate([members, children]), np.concatenate([scores, offspring])
        _, distinct = np.unique(everyone, axis=0, return_index=True)
        kept = distinct[best_first(everyone[distinct], scores[distinct])[: self.population]]
        return everyone[kept], scores[kept]

    def _n_elite(self) -> int:
        if self.selection != "roulette" or self.elitism <= 0:
            return 0
        return min(max(1, round(self.elitism * self.population)), self.population - 1)

    def _step(self, state: State) -> Step:
        first = best_first(state["members"], state["scores"])[0]
        return Step(state["members"][first], float(state["scores"][first]), state["best"], state["best_score"])


def crossed(n: int, n_genes: int, n_points: int, rng: Generator) -> NDArray[np.bool_]:
    """Say which genes each of n children takes from its second parent: those behind the first point, up to the second.

    Points lie between genes, all places equally likely; one point lies strictly inside.
    """
    places: IntArray
    if n_points == 1:
        places = np.stack([rng.integers(1, max(n_genes, 2), n), np.full(n, n_genes)], axis=1)
    else:
        places = np.sort(rng.integers(0, n_genes + 1, (n, 2)), axis=1)
    genes = np.arange(n_genes)
    return (genes >= places[:, :1]) & (genes < places[:, 1:])


def roulette(scores: FloatArray) -> FloatArray:
    """Turn scores into chances in proportion to log(fitness + 1), fitness in percent.

    Examples
    --------
    >>> roulette(np.array([0.9, 0.7, 0.0])).round(3).tolist()
    [0.514, 0.486, 0.0]
    """
    finite = np.where(np.isfinite(scores), scores, np.min(scores[np.isfinite(scores)], initial=0.0))
    share = np.log1p(100.0 * (finite - min(float(finite.min()), 0.0)))
    total = share.sum()
    return share / total if total > 0 else np.full(len(scores), 1.0 / len(scores))


@parameters
class PBIL(Search):
    """A vector of probabilities, one per unit, that moves toward the best subset of each sample.

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
    stochastic: ClassVar[bool] = True

    population: Repeats = 100
    generations: Repeats = 200
    rate: Annotated[float, Interval(Real, 0, 1, closed="right")] = 0.1
    mutation: Share = 0.0
    runs: Repeats = 5
    penalty: NonNegative = 0.0

    def shortened(self, share: float) -> PBIL:
        # Stop each run after a share of the generations.
        return clone(self).set_params(generations=max(1, round(self.generations * share)))

    def max_evaluations(self, space: SearchSpace) -> int:
        # Every member of every generation of every run.
        return self.population * self.generations * self.runs

    def steps(self, scorer: Objective, space: SearchSpace, rng: Generator, state: State) -> Iterator[Step]:
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
