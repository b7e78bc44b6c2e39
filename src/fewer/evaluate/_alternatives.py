"""All subsets that are as good as the best one, as far as the rows can show.

Paired differences decide: row by row, the loss of the best subset against that of another one. A floor on the score
that no such subset can fall below is known beforehand, so that a search through all subsets gives up the others.
"""

from __future__ import annotations

import base64
import json
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from math import comb
from typing import Any

import numpy as np

from fewer.contracts import Criterion, IncompatibleError, Objective, PredictiveScorer, Resources, SearchSpace, Sweep
from fewer.contracts.trace import best_first
from fewer.estimators import parse_costs
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem
from fewer.search import Exhaustive, Forward
from fewer.search._exhaustive import REPORT_SECONDS, next_states, subsets_from
from fewer.text import score_text

# Standard errors of a 95 % interval.
WITHIN = 1.959963984540054
# Subsets that are looked at one by one, unless more are allowed.
MOST_SUBSETS = 1 << 22
# Good subsets that are kept; all are counted.
MOST_KEPT = 300_000
# Subsets that are compared with the best row by row, those of the highest scores first.
MOST_COMPARED = 50_000
# Of the subsets in a page, packed.
PACKED_BYTES = 450_000
SUBSETS_AT_A_TIME = 1 << 14
# Good subsets among which partners are looked for.
MOST_PAIRED = 10_000


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The subsets that are as good as the best, and what they say of each feature.

    Parameters
    ----------
    names : list of str
        The features that could be chosen.
    masks : bool array of shape (n_kept, n_features)
        Good subsets, best first; of equal scores the smaller first.
    scores : array of shape (n_kept,)
        Their scores, by which they were found, rounded as in every search (`fewer.contracts.round_scores`).
    n_good : int
        How many good subsets there are; at most 300,000 of them are kept.
    counts : int array of shape (n_features,)
        In how many of them each feature is.
    sizes : int array of shape (n_features + 1,)
        How many of them have each size.
    n_evaluated : int
        How many subsets were looked at, or given up because they could not reach the floor.
    n_undecided : int
        Subsets above the floor that were too many to be compared row by row; they are not among the good ones.
    complete : bool
        Every subset of at most `max_features` features was looked at, and none is undecided.
    how : str
        What was searched, and what counts as good, in a sentence.
    floor : float
        The score below which no subset can be good.
    max_features : int
        The largest size that was looked at.
    costs : array of shape (n_features,) or None
        What each feature costs.
    heldout : list of dict
        Features and score, on rows that chose nothing, of a few of them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.criteria import KNN
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True), names=["sl", "sw", "pl", "pw"])
    >>> found = good_subsets(KNN(5, cv="loo"), problem)
    >>> found.best, found.n_good, found.necessary, found.smallest
    (['pw'], 12, [], ['pw'])
    """

    names: list[str]
    masks: BoolArray
    scores: FloatArray
    n_good: int
    counts: IntArray
    sizes: IntArray
    n_evaluated: int
    n_undecided: int
    complete: bool
    how: str
    floor: float
    max_features: int
    costs: FloatArray | None = None
    heldout: list[dict[str, Any]] = field(default_factory=list)

    def features(self, number: int) -> list[str]:
        """Return the features of one good subset.

        Parameters
        ----------
        number : int
            Its place, 0 for the best.

        Returns
        -------
        list of str
            In the order of the table.
        """
        return [name for name, used in zip(self.names, self.masks[number], strict=True) if used]

    @property
    def best(self) -> list[str]:
        """The features of the best subset."""
        return self.features(0)

    @property
    def smallest(self) -> list[str]:
        """The features of the smallest good subset; of several the best."""
        return self.features(int(np.argmin(self.masks.sum(axis=1))))

    @property
    def cheapest(self) -> list[str] | None:
        """The features of the cheapest good subset; None where no costs were given."""
        return None if self.costs is None else self.features(int(np.argmin(self.masks @ self.costs)))

    @property
    def necessary(self) -> list[str]:
        """Features in all good subsets."""
        return [name for name, count in zip(self.names, self.counts, strict=True) if count == self.n_good]

    @property
    def never(self) -> list[str]:
        """Features in no good subset."""
        return [name for name, count in zip(self.names, self.counts, strict=True) if count == 0]

    @property
    def exchangeable(self) -> dict[str, list[str]]:
        """Features in some good subsets, and what can take their place: copies first, then most often first.

        A partner takes the place of a feature where it is missed: in a good subset that is not good without the
        feature, and is with the partner instead. A copy scores the same in every good subset, needed there or not. A
        feature without partners is missed nowhere, and can be left out.
        """
        inside = self.masks[np.argsort(self.masks.sum(axis=1), kind="stable")[:MOST_PAIRED]]
        keys, every = _keys(inside), _keys(self.masks)
        order = np.argsort(every, kind="stable")
        every, scores = every[order], self.scores[order]

        def score_of(wanted: Any) -> FloatArray:
            """Return the scores of subsets, NaN where a subset is not good."""
            places = np.minimum(np.searchsorted(every, wanted), len(every) - 1)
            return np.where(every[places] == wanted, scores[places], np.nan)

        varying = [f for f in range(len(self.names)) if 0 < self.counts[f] < self.n_good]
        exchanges: dict[str, list[str]] = {}
        for f in varying:
            rank: dict[str, tuple[bool, int]] = {}
            for g in varying:
                with_f = keys[inside[:, f] & ~inside[:, g]]
                instead = score_of(with_f ^ _bit(f, keys) ^ _bit(g, keys))
                missed = np.isnan(score_of(with_f ^ _bit(f, keys)))
                copy = len(with_f) > 0 and bool((instead == score_of(with_f)).all())
                rank[self.names[g]] = (copy, int((missed & ~np.isnan(instead)).sum()))
            partners = sorted(rank, key=lambda name: rank[name], reverse=True)
            exchanges[self.names[f]] = [name for name in partners if any(rank[name])]
        return exchanges

    def packed(self, most_bytes: int = PACKED_BYTES) -> dict[str, Any]:
        """Pack the good subsets for a page: as many of the best as fit.

        Parameters
        ----------
        most_bytes : int, default=450000
            How long the packed text may be.

        Returns
        -------
        dict
            `features`, places of the features that occur; `groups`, pairs of a score and how many subsets have it, best
            first; `bits`, the subsets one after the other, a bit for each of these features, deflated, in base64; and
            what is said of each feature: `counts` and `partners`.

        Notes
        -----
        Subsets of one score are put in the order of their bits, in which they pack best.
        """
        features, scores = np.flatnonzero(self.counts), self.scores.round(6)
        n = len(scores)
        while True:
            masks = self.masks[:n][:, features]
            order = np.lexsort((*masks.T, masks.sum(axis=1), -scores[:n]))
            values, counts = np.unique(-scores[:n], return_counts=True)
            bits = base64.b64encode(zlib.compress(np.packbits(masks[order], axis=None).tobytes(), 9)).decode()
            if len(bits) <= most_bytes:
                break
            n = int(n * 0.9 * most_bytes / len(bits))
        groups = list(zip((-values).tolist(), counts.tolist(), strict=True))
        partners = {name: others[:5] for name, others in self.exchangeable.items()}
        return {"features": features.tolist(), "groups": groups, "bits": bits, "n": n, "n_good": self.n_good,
                "n_evaluated": self.n_evaluated, "names": self.names, "how": self.how,
                "costs": None if self.costs is None else self.costs.tolist(),
                "counts": self.counts.tolist(), "partners": partners}  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data: counts, kinds of features, and the first 1,000 subsets.

        Returns
        -------
        dict
            Lists, numbers and text.
        """
        rest = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("masks", "scores")}
        content = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in rest.items()}
        views = ("best", "smallest", "cheapest", "necessary", "exchangeable", "never")
        content |= {name: getattr(self, name) for name in views}
        shown = range(min(len(self.scores), 1000))
        content["subsets"] = [{"features": self.features(i), "score": float(self.scores[i])} for i in shown]
        return content

    def to_json(self) -> str:
        """Return `to_dict` as text.

        Returns
        -------
        str
            JSON.
        """
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        best = score_text(self.scores[0])
        first = f"As good as the best ({best}): {self.n_good:,} of {self.n_evaluated:,} subsets looked at."
        lines = [first, self.how, f"Best: {', '.join(self.best)}", f"Smallest: {', '.join(self.smallest)}"]
        if self.cheapest is not None and self.costs is not None:
            lines.append(f"Cheapest: {', '.join(self.cheapest)} ({float((self.masks @ self.costs).min()):g})")
        lines.append(f"In all of them: {', '.join(self.necessary) or 'none'}")
        for name, partners in self.exchangeable.items():
            share = self.counts[self.names.index(name)] / self.n_good
            instead = f"exchangeable with {', '.join(partners[:5])}" if partners else "can be left out"
            lines.append(f"In {100 * share:.0f} % of them: {name} ({instead})")
        lines.append(f"In none: {', '.join(self.never) or 'none'}")
        lines += [f"Held out: {score_text(row['score'])} with {', '.join(row['features'])}" for row in self.heldout]
        return "\n".join(lines)


def _keys(masks: BoolArray) -> Any:
    """Return each mask as a whole number, by which masks are compared."""
    if masks.shape[1] <= 63:
        return masks @ (1 << np.arange(masks.shape[1], dtype=np.int64))
    return np.array([int("".join("1" if used else "0" for used in mask[::-1]), 2) for mask in masks], dtype=object)


def _bit(feature: int, keys: Any) -> Any:
    return 1 << feature if keys.dtype == object else np.int64(1) << np.int64(feature)


def good_subsets(
    criterion: Criterion,
    problem: Problem,
    *,
    tolerance: float | None = None,
    max_features: int | None = None,
    max_subsets: int = MOST_SUBSETS,
    costs: Mapping[str, float] | None = None,
    test: Problem | None = None,
    seed: int = 0,
    resources: Resources | None = None,
) -> Alternatives:
    """Find all subsets that are as good as the best.

    Parameters
    ----------
    criterion : Criterion
        Scores subsets. Without a tolerance it must predict rows.
    problem : Problem
        The rows.
    tolerance : float, optional
        Points of score by which a good subset may be behind the best. Left out, a subset is good if the 95 % interval
        of its paired difference to the best includes 0.
    max_features : int, optional
        The largest size; as large as `max_subsets` allows if left out.
    max_subsets : int, default=4194304
        How many subsets may be looked at. Where not even all pairs are so few, good subsets are searched from the
        best of a forward search by leaving out, adding and exchanging features.
    costs : mapping of str to float, optional
        What each feature costs; 0 for features that are not in it.
    test : Problem, optional
        Rows that choose nothing, on which a few good subsets are scored.
    seed : int, default=0
        Of folds.
    resources : Resources, optional
        Threads, memory, devices.

    Returns
    -------
    Alternatives
        The good subsets.

    Notes
    -----
    With shares w of the rows (of row groups where there are any), losses E of the best and gap g, the variance of the
    paired difference of accuracies is Σ (w d)² ≤ max(w) Σ w |d| ≤ max(w) (2 E + g), since d is −1, 0 or 1. So no subset
    with g > 1.96 √(max(w) (2 E + g)) can be good, and the floor excludes none that is. Squared errors have no such
    bound: there the floor is two standard errors of the best's own score.

    Examples
    --------
    >>> from fewer.criteria import KNN
    >>> rows = Problem.from_arrays([[0.0, 0.0], [0.1, 0.1], [1.0, 1.0], [1.1, 1.1]] * 3, ["no", "no", "yes", "yes"] * 3)
    >>> good_subsets(KNN(), rows).n_good
    3
    """
    rng, resources = np.random.default_rng(seed), resources or Resources()
    scorer = criterion.bind(problem, rng, resources)
    if tolerance is None and not isinstance(scorer, PredictiveScorer):
        raise IncompatibleError(
            f"{type(criterion).__name__} does not predict rows, so that differences have no interval: give a tolerance "
            "in points of its score."
        )
    space = SearchSpace.of(problem.n_features).without(problem.constant)
    rule = _Rule(scorer, problem, tolerance)
    search = _Looking(scorer, space, rule, max_features, max_subsets)
    search.look(search.start(rng))
    states, scores = search.found()
    good, n_undecided = rule.compare(search.space, states, scores, search.pairs is not None)
    masks, scores = space.expand(states[good]).astype(bool), scores[good]
    exact = search.largest is not None
    price = None if costs is None else parse_costs(dict(costs), problem.names)
    alternatives = Alternatives(
        names=list(problem.names), masks=masks[:MOST_KEPT], scores=scores[:MOST_KEPT], n_good=len(scores),
        counts=masks.sum(axis=0), sizes=np.bincount(masks.sum(axis=1), minlength=problem.n_features + 1),
        n_evaluated=search.n_evaluated, n_undecided=n_undecided, complete=exact and n_undecided == 0,
        how=_how(search, rule, n_undecided), floor=rule.floor(float(scores[0])),
        max_features=search.largest or int(masks.sum(axis=1).max()), costs=price,
    )  # fmt: skip
    alternatives.heldout.extend(_held_out(alternatives, criterion, problem, test, rng, resources))
    return alternatives


class _Rule:
    """What counts as good: a tolerance in points, or the interval of the paired difference."""

    def __init__(self, scorer: Any, problem: Problem, tolerance: float | None) -> None:
        self.tolerance, self._scorer, self._problem = tolerance, scorer, problem
        self._units = np.arange(problem.n_samples) if problem.groups is None else problem.groups
        self._count(problem.row_weights)
        self.exact = problem.task == "classification"
        self._error = 0.0
        if tolerance is None and not self.exact:
            y = problem.y - self._share @ problem.y
            self._spread = float(self._share @ y**2) or 1.0

    def _count(self, weights: FloatArray) -> None:
        self._share = weights / weights.sum()
        self._even = self._problem.groups is None and bool((self._share == self._share[0]).all())
        self._unit_share = np.bincount(self._units, self._share)

    def floor(self, best: float) -> float:
        """Return the score below which no subset can be good, if the best scores so much or more."""
        if self.tolerance is not None:
            return best - self.tolerance
        if not self.exact:
            return best - 2.0 * self._error
        # The largest g with g² ≤ z² max(w) (2 E + g); a better best has a smaller E, and a higher floor.
        scale, errors = WITHIN**2 * float(self._unit_share.max()), max(1.0 - best, 0.0)
        return best - (scale + np.sqrt(scale**2 + 8.0 * scale * errors)) / 2.0

    def know(self, mask: BoolArray) -> None:
        """Count predicted rows only, in time not the first, and take a standard error where the floor needs it."""
        if self.tolerance is not None:
            return
        outputs = self._scorer.outputs(mask)
        self._count(self._problem.row_weights * ~np.isnan(outputs.reshape(len(outputs), -1)).any(axis=1))
        if not self.exact:
            self._error = self._standard_error(self._losses(mask))

    def _losses(self, mask: BoolArray) -> FloatArray:
        """Return each row's share of the loss."""
        outputs = self._scorer.outputs(mask)
        if self.exact:
            return (outputs.argmax(axis=1) != self._problem.y).astype(np.float64)
        return np.nan_to_num(self._problem.y - outputs) ** 2 / self._spread

    def _standard_error(self, values: FloatArray) -> float:
        by_unit = np.bincount(self._units, self._share * values)
        return float(np.sqrt(((by_unit - self._unit_share * by_unit.sum()) ** 2).sum()))

    def pairs(self, mask: BoolArray, score: float) -> tuple[IntArray, IntArray] | None:
        """Return the rows that the best subset gets wrong, and how many others a good one may if c of them are right.

        Of n equal rows let b be right with the best subset alone and c with the other alone. The differences add up to
        b − c and their squares to b + c, and for each c all b up to one are good. None where rows are not equal.
        """
        if self.tolerance is not None or not self.exact or not self._even:
            return None
        wrong, n = np.flatnonzero(self._losses(mask)), self._problem.n_samples
        if len(wrong) != round((1.0 - score) * n):
            return None
        b, c = np.arange(n + 1)[:, None], np.arange(len(wrong) + 1)
        good = b - c <= WITHIN * np.sqrt(np.maximum(b + c - (b - c) ** 2 / n, 0.0))
        return wrong, n - np.argmax(good[::-1], axis=0)

    def compare(self, space: SearchSpace, states: BoolArray, scores: FloatArray, good: bool) -> tuple[IntArray, int]:
        """Return the places of the good ones among subsets above the floor, best first, and how many were too many."""
        if self.tolerance is not None or good:
            return np.arange(len(scores)), 0
        best = self._losses(space.expand(states[:1])[0])
        places = [0]
        for place in range(1, min(len(states), MOST_COMPARED)):
            apart = self._losses(space.expand(states[place : place + 1])[0]) - best
            if float(self._share @ apart) <= WITHIN * self._standard_error(apart):
                places.append(place)
        return np.array(places), max(len(states) - MOST_COMPARED, 0)


class _Looking:
    """Goes through subsets and keeps the ones that reach the floor, which rises with the best score met."""

    def __init__(
        self, scorer: Any, space: SearchSpace, rule: _Rule, max_features: int | None, max_subsets: int
    ) -> None:
        self._scorer, self._space, self._rule = scorer, space, rule
        self._most = max_subsets
        self.largest = self._largest(max_features)
        self.space = replace(space, min_units=1, max_units=self.largest or space.n_units)
        self._n_subsets = sum(comb(space.n_units, size) for size in range(1, self.space.max_units + 1))
        self.swept = self.largest is not None and 2**space.n_units <= 4 * self._n_subsets
        self.pairs: tuple[IntArray, IntArray] | None = None
        self.n_evaluated = 0
        self._states: list[BoolArray] = []
        self._scores: list[FloatArray] = []
        self._floor, self._best, self._n_kept = -np.inf, -np.inf, 0

    def _largest(self, asked: int | None) -> int | None:
        """Return the largest size up to which all subsets are few enough; None if not even all pairs are."""
        q = self._space.n_units
        largest, total = 0, 0
        while largest < min(q, self._space.max_units, q if asked is None else asked):
            total += comb(q, largest + 1)
            if total > self._most:
                break
            largest += 1
        if asked is not None and largest < min(asked, q):
            raise InputError(
                f"There are more than {self._most:,} subsets of up to {asked} of {q} features: ask for at most "
                f"{largest} features, or allow more subsets (max_subsets)."
            )
        return largest if largest >= min(2, q, q if asked is None else asked) else None

    def start(self, rng: np.random.Generator) -> BoolArray:
        """Return a subset that gives the first floor: the best where the rest is given up early, else a forward one."""
        best_of_all = self.swept and self._scorer.abandons
        search = Exhaustive(max_subsets=self._most, top=1) if best_of_all else Forward()
        trace = search.run(Objective(self._scorer, self.space), self.space, rng)
        return np.asarray(self.space.shrink(trace.best != 0), dtype=bool)

    def look(self, start: BoolArray) -> None:
        """Look at every subset, or from a start at as many as are allowed."""
        first = float(self._objective(start[None])[0])
        self._rule.know(self._space.expand(start[None])[0].astype(bool))
        self._floor = self._rule.floor(first)
        if self.swept and self._scorer.abandons:
            self.pairs = self._rule.pairs(self._space.expand(start[None])[0].astype(bool), first)
        for states, scores in self._sweep() if self.largest is not None else self._from(start):
            if len(scores):
                self._keep(states, scores)

    def _objective(self, states: BoolArray) -> FloatArray:
        scores = self._space.objective(self._scorer.score(self._space.expand(states)), states)
        return np.where(np.isnan(scores), -np.inf, scores)

    def _keep(self, states: BoolArray, scores: FloatArray) -> None:
        best = float(scores.max())
        if best > self._best:
            self._best, self._floor = best, max(self._floor, self._rule.floor(best))
        good = scores >= self._floor
        self._states.append(states[good])
        self._scores.append(scores[good])

    def found(self) -> tuple[BoolArray, FloatArray]:
        """Return all that reach the last floor, best first."""
        states, scores = np.concatenate(self._states), np.concatenate(self._scores)
        good = scores >= self._rule.floor(self._best) - 1e-12
        states, scores = states[good], scores[good]
        order = best_first(states, scores)
        return states[order], scores[order]

    def _sweep(self) -> Iterator[tuple[BoolArray, FloatArray]]:
        """Look at all subsets of up to the largest size: in Gray-code order where these are most, else by size."""
        q, start, block = self._space.n_units, 0, SUBSETS_AT_A_TIME
        while self.swept and start < 2**q:
            stop, began = min(start + block, 2**q), time.perf_counter()
            swept = self._sweep_block(start, stop)
            self.n_evaluated += swept.n_evaluated
            yield swept.states, swept.scores
            # Blocks start at multiples of their size: in Gray-code order such a block is a whole tree of subsets.
            start, longer = stop, time.perf_counter() - began < REPORT_SECONDS and stop % (2 * block) == 0
            block *= 2 if longer else 1
        subsets = subsets_from(q, range(1, q + 1), 0)
        for start in range(0, 0 if self.swept else self._n_subsets, SUBSETS_AT_A_TIME):
            states = next_states(subsets, min(SUBSETS_AT_A_TIME, self._n_subsets - start), q)
            self.n_evaluated += len(states)
            yield states, self._objective(states)

    def _sweep_block(self, start: int, stop: int) -> Sweep:
        """Score a range of subsets: the good ones where the scorer compares rows, else those above a floor."""
        swept = None if self.pairs is None else self._scorer.sweep_against(self.space, start, stop, *self.pairs)
        if swept is None:
            self.pairs = None
            swept = self._scorer.sweep(self.space, start, stop, stop - start, self._floor)
        return swept

    def _from(self, start: BoolArray) -> Iterator[tuple[BoolArray, FloatArray]]:
        """Expand the best subset not expanded yet: leave out, add and exchange one feature."""
        met = {start.tobytes()}
        waiting = [(float(self._objective(start[None])[0]), start)]
        self.n_evaluated = 1
        yield start[None], np.array([waiting[0][0]])
        while waiting and self.n_evaluated < self._most:
            _, state = waiting.pop(max(range(len(waiting)), key=lambda i: waiting[i][0]))
            bases = [state, *(state & (np.arange(len(state)) != unit) for unit in np.flatnonzero(state))]
            for base in bases:
                states = base ^ np.eye(len(base), dtype=bool)
                new = [i for i, one in enumerate(states) if one.any() and one.tobytes() not in met]
                new = new[: self._most - len(met)]
                if not new:
                    continue
                met.update(states[i].tobytes() for i in new)
                self.n_evaluated, states = len(met), states[new]
                units = [self._space.units[i] for i in new]
                scores = self._scorer.flips(self._space.expand(base[None])[0], units, ~base[new])
                scores = self._space.objective(scores, states)
                good = scores >= self._floor
                waiting += zip(scores[good].tolist(), states[good], strict=True)
                yield states[good], scores[good]


def _how(search: _Looking, rule: _Rule, n_undecided: int) -> str:
    if search.largest is None:
        what = "Not all subsets were looked at, only some near the answer of a forward search"
    else:
        what = f"All subsets of up to {search.largest} feature{'s' * (search.largest > 1)} were looked at"
    if rule.tolerance is not None:
        good = f"as good means within {rule.tolerance:g} of the best score"
    else:
        good = "as good means that the 95 % interval of the paired difference to the best includes no difference"
        if not rule.exact:
            good += "; subsets more than two standard errors of the best score behind were not compared"
    left = f" {n_undecided:,} more subsets were too many to compare." if n_undecided else ""
    return f"{what}; {good}.{left}"


def _held_out(
    alternatives: Alternatives, criterion: Criterion, problem: Problem, test: Problem | None, rng: np.random.Generator,
    resources: Resources,
) -> list[dict[str, Any]]:  # fmt: skip
    """Score the best, the smallest and the cheapest on rows that chose nothing."""
    if test is None:
        return []
    scorer = criterion.bind(problem, rng, resources)
    assert isinstance(scorer, PredictiveScorer)
    rows = []
    named = (alternatives.best, alternatives.smallest, alternatives.cheapest)
    for features in {tuple(one): one for one in named if one}.values():
        mask = np.isin(problem.names, features)
        rows.append({"features": features, "score": scorer.grade(scorer.predict(mask, test.X), test)})
    return rows
