"""Parcel's loop: children of the classifiers on the hull, the hull of all, again while it pays (Scott, chapter 6)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from fewer.kernels.roc import upper_chain
from fewer.problem import BoolArray, FloatArray, mask_of
from fewer.roc._curve import critical_ratio, hanley_mcneil, hull_vertices
from fewer.roc._learners import NOBODY, Front, Learner, Lessons, Line, weighted_points

Children = Literal["forward", "flip", "floating", "stochastic"]

# Standard errors of the area that one more subset must add to the hull of few.
SHARE_OF_ERROR = 0.1


@dataclass(frozen=True, eq=False)
class Member:
    """A learning algorithm with a subset."""

    learner: int
    features: tuple[int, ...]


@dataclass(frozen=True)
class Pass:
    """One round: how many classifiers were tried, and what the hull became."""

    n_evaluated: int
    area: float
    z: float
    significant: bool
    n_vertices: int


@dataclass(frozen=True, eq=False)
class HullGrowth:
    """What came out: the hull, who stands on it, the rounds, and how many subsets were tried beside them."""

    front: Front
    members: list[Member]
    passes: list[Pass]
    n_searched: int = 0


@dataclass(frozen=True, eq=False)
class GrowthPlan:
    """How a hull grows.

    Attributes
    ----------
    children : str
        Which subsets come from one on the hull.
    critical : float
        A round whose critical ratio is not above this is the last.
    keep_last : bool
        Whether what the last round added stays.
    max_features : int
    max_passes : int or None
    n_children : int
        Of `"stochastic"`: children of each subset. With a `limit`: none.
    prices : float array of shape (n_features,)
        What each feature costs, in true positives.
    usable : bool array of shape (n_features,)
        Columns that may enter.
    starts : tuple of bool arrays
        Subsets that are tried in the first round beside single features.
    limit : int or None
        How many subsets an algorithm that is fitted anew for each may try in a round; None for all.
    corners : bool
        Whether the corners, which every curve reaches, belong to the first subset of the last round, which then has
        children too.
    """

    children: Children
    critical: float
    keep_last: bool
    max_features: int
    max_passes: int | None
    n_children: int
    prices: FloatArray
    usable: BoolArray
    starts: tuple[BoolArray, ...] = ()
    limit: int | None = None
    corners: bool = False

    def offspring(self, mask: BoolArray, rng: np.random.Generator) -> BoolArray:
        """Return the children of a subset."""
        if self.children == "stochastic":
            return _random_children(mask, self.usable, self.n_children, self.max_features, rng)
        return _neighbors(mask, self.usable, self.max_features, drops=self.children == "flip")

    def smaller(self, mask: BoolArray, rng: np.random.Generator) -> BoolArray:
        """Return the subsets with one feature less."""
        return _neighbors(mask, self.usable & mask, self.max_features, drops=True)


def grow(
    learners: Sequence[Learner],
    plan: GrowthPlan,
    totals: tuple[float, float],
    sizes: tuple[int, int],
    rng: np.random.Generator,
) -> HullGrowth:
    """Grow a set of classifiers outwards from guessing, until a round makes no significant difference.

    Parameters
    ----------
    learners : sequence of Learner
        What is fitted to subsets.
    plan : Plan
        How far to grow.
    totals : (float, float)
        What all negative and all positive validation rows count.
    sizes : (int, int)
        How many rows that are worth, for standard errors.
    rng : Generator
        Draws all that is random.

    Returns
    -------
    Growth
    """
    pool = _Pool(learners, plan, Front.diagonal(*totals), rng)
    passes: list[Pass] = []
    while plan.max_passes is None or len(passes) < plan.max_passes:
        old, tried = pool.front, pool.n_evaluated
        pool.absorb(plan.offspring, () if passes else plan.starts)
        while plan.children == "floating":
            before = pool.front.area
            pool.absorb(plan.smaller)
            if pool.front.area <= before:
                break
        if pool.n_evaluated == tried:
            break
        new = pool.front
        z = critical_ratio(min(new.area, 1.0), max(min(old.area, 1.0), 0.0), sizes[1], sizes[0])
        significant = z > plan.critical
        passes.append(Pass(pool.n_evaluated - tried, new.area, z, significant, len(new.fp)))
        if not significant:
            pool.front = new if plan.keep_last else old
            break
    return _compact(pool, passes)


Offspring = Callable[[BoolArray, np.random.Generator], BoolArray]


class _Pool:
    """Everything that was tried, and the hull of it."""

    def __init__(self, learners: Sequence[Learner], plan: GrowthPlan, front: Front, rng: np.random.Generator) -> None:
        self.front = front
        self.n_evaluated = 0
        self._learners = learners
        self._plan = plan
        self._rng = rng
        self._seen: list[set[bytes]] = [set() for _ in learners]
        self._tried: list[tuple[int, BoolArray]] = []  # algorithm, subsets
        self._first: list[int] = []  # number of the first of each such batch
        self._corner = 0  # number of the first that the last round tried

    def absorb(self, children_of: Offspring, starts: Sequence[BoolArray] = ()) -> None:
        """Try the children of every subset on the hull, with every learning algorithm, and take the hull of all."""
        tried, hull = self.n_evaluated, self.front.line
        fronts = [self.front]
        parents = self._masks()
        nothing = mask_of((), len(self._plan.usable))
        families = [(parent, children_of(parent, self._rng)) for parent in parents]
        if len(starts):
            families.append((nothing, np.array(starts)))
        for parent, masks in families:
            for number, learner in enumerate(self._learners):
                if not (learner.slow and self._plan.limit is not None):
                    fronts += self._try(number, parent, self._new(number, masks), hull)
        for number, learner in enumerate(self._learners):
            if learner.slow and self._plan.limit is not None:
                first = np.array([*parents, *starts])
                masks = self._some(number, first, np.concatenate([masks for _, masks in families]))
                fronts += self._try(number, nothing, masks, hull)
        self._corner = tried if self.n_evaluated > tried else self._corner
        self.front = self._hull(Front.stacked(fronts))

    def _try(self, number: int, parent: BoolArray, masks: BoolArray, hull: Line) -> list[Front]:
        """Let one algorithm try subsets, if there are any; return the points that are not below the hull."""
        if not len(masks):
            return []
        front = self._learners[number].outside(parent, masks, masks @ self._plan.prices, hull)
        front = replace(front, member=self.n_evaluated + front.member)
        self._tried.append((number, masks))
        self._first.append(self.n_evaluated)
        self.n_evaluated += len(masks)
        return [front]

    def _some(self, number: int, first: BoolArray, others: BoolArray) -> BoolArray:
        """Return subsets for an algorithm that cannot try all: those on the hull, then children drawn at random."""
        limit = self._plan.limit or 0
        ahead = self._new(number, first)[:limit]
        n_left = limit - len(ahead)
        rest = self._unseen(number, others)
        if len(rest) > n_left:
            rest = rest[np.sort(self._rng.choice(len(rest), n_left, replace=False))]
        return np.concatenate([ahead, self._new(number, rest)])

    def member(self, number: int) -> Member:
        """Say who the one with a number is."""
        batch = bisect_right(self._first, number) - 1
        learner, masks = self._tried[batch]
        return Member(learner, tuple(masks[number - self._first[batch]].nonzero()[0].tolist()))

    def _masks(self) -> list[BoolArray]:
        """Return the distinct subsets on the hull, the empty one at the corners among them, in a fixed order."""
        subsets = {self.member(m).features if m != NOBODY else () for m in self.front.member.tolist()}
        if self._plan.corners and self.n_evaluated:
            subsets.add(self.member(self._corner).features)
        return [mask_of(f, len(self._plan.usable)) for f in sorted(subsets, key=lambda f: (len(f), f))]

    def _new(self, number: int, masks: BoolArray) -> BoolArray:
        """Return the subsets that an algorithm has not seen, and remember that it has now."""
        fresh = self._unseen(number, masks)
        self._seen[number].update(key.tobytes() for key in np.packbits(fresh, axis=1))
        return fresh

    def _unseen(self, number: int, masks: BoolArray) -> BoolArray:
        keys = np.packbits(masks, axis=1)
        fresh: dict[bytes, int] = {}
        for row in np.flatnonzero(masks.any(axis=1)).tolist():
            key = keys[row].tobytes()
            if key not in self._seen[number]:
                fresh.setdefault(key, row)
        return masks[list(fresh.values())]

    def _hull(self, points: Front) -> Front:
        order = np.lexsort([points.worth, points.fp])
        fp, worth = points.fp[order], points.worth[order]
        kept = []
        for vertex in upper_chain(fp, worth):
            end = vertex + 1
            while end < len(fp) and fp[end] == fp[vertex] and worth[end] == worth[vertex]:
                end += 1
            # Of equal points the smaller subset stays, then the first in the order of its features, then of algorithms.
            equal = order[vertex:end].tolist()
            kept.append(equal[0] if len(equal) == 1 else min(equal, key=lambda i: self._rank(int(points.member[i]))))
        return points.take(kept)

    def _rank(self, number: int) -> tuple[int, tuple[int, ...], int]:
        if number == NOBODY:
            return (0, (), 0)
        member = self.member(number)
        return (len(member.features), member.features, member.learner)


def _compact(pool: _Pool, passes: list[Pass]) -> HullGrowth:
    """Forget everybody who is not on the hull."""
    used = sorted({m for m in pool.front.member.tolist() if m != NOBODY})
    place = {m: i for i, m in enumerate(used)}
    member = np.array([place[m] if m != NOBODY else NOBODY for m in pool.front.member.tolist()])
    return HullGrowth(replace(pool.front, member=member), [pool.member(m) for m in used], passes)


def _neighbors(mask: BoolArray, usable: BoolArray, max_features: int, *, drops: bool) -> BoolArray:
    """Return the subsets with one feature more, and one less if drops are wanted; only usable features change."""
    changes = np.flatnonzero(usable if drops else usable & ~mask)
    masks = np.repeat(mask[None, :], len(changes), axis=0)
    masks[np.arange(len(changes)), changes] ^= True
    return masks[masks.sum(axis=1) <= max_features]


def _random_children(
    mask: BoolArray, usable: BoolArray, n_children: int, max_features: int, rng: np.random.Generator
) -> BoolArray:
    """Flip a few random features: one in half of the children, two in a quarter, and so on."""
    columns = np.flatnonzero(usable)
    masks = np.repeat(mask[None, :], n_children, axis=0)
    for child in masks:
        size = min(int(rng.geometric(0.5)), len(columns))
        child[rng.choice(columns, size, replace=False)] ^= True
    return masks[masks.sum(axis=1) <= max_features]


def best_subset(
    learner: Learner, plan: GrowthPlan, prices: FloatArray, totals: tuple[float, float]
) -> tuple[BoolArray, int]:
    """Search the subset whose own hull has the largest area less the prices of its features.

    From no feature on, one more or one less at a time, for as long as that pays.

    Parameters
    ----------
    learner : Learner
        What is fitted to subsets.
    plan : GrowthPlan
        Columns that may enter, and how many.
    prices : array of shape (n_features,)
        What each feature costs, in area.
    totals : (float, float)
        What all negative and all positive validation rows count.

    Returns
    -------
    (bool array of shape (n_features,), int)
        The subset, and how many were tried.
    """
    guessing = Front.diagonal(*totals).line
    mask, best, n_tried = mask_of((), len(plan.usable)), 0.5, 0
    while True:
        children = _neighbors(mask, plan.usable, plan.max_features, drops=True)
        children = children[children.any(axis=1)]
        n_tried += len(children)
        if not len(children):
            return mask, n_tried
        points = learner.outside(mask, children, np.zeros(len(children)), guessing)
        worth = _hull_areas(points, len(children), totals) - children @ prices
        first = int(np.argmax(worth))
        if worth[first] <= best + 1e-12:
            return mask, n_tried
        mask, best = children[first], float(worth[first])


def _hull_areas(points: Front, n_members: int, totals: tuple[float, float]) -> FloatArray:
    """Return the area under the hull of each member's points and the two corners."""
    points = points.take(np.lexsort([points.tp, points.fp, points.member]))
    ends, cuts = Front.diagonal(*totals), np.searchsorted(points.member, np.arange(n_members + 1))
    by_member = (points.take(slice(low, high)) for low, high in pairwise(cuts))
    return np.array([Front.stacked([ends.take([0]), each, ends.take([1])]).area for each in by_member])


def few_of(growth: HullGrowth, scores: Sequence[FloatArray], lessons: Lessons, prices: FloatArray) -> HullGrowth:
    """Choose few members, one after the other, by the area of their hull less the prices of the features they add.

    The hull of everything tried is the best of many on the same rows, and each operating point needs the features of
    two of its subsets. A subset that adds little to the others is more often luck than worth its features.

    Parameters
    ----------
    growth : HullGrowth
        The members to choose from.
    scores : sequence of arrays of shape (n_samples,)
        Of each member, on the validation rows.
    lessons : Lessons
        With the classes of these rows.
    prices : array of shape (n_features,)
        What each feature costs, in area.

    Returns
    -------
    HullGrowth
    """
    curves = [curve_front(values, lessons.positive == 1, lessons.weight) for values in scores]
    tolerance = 0.0 if lessons.weight is None else 1e-9
    front, chosen, needed = Front.diagonal(*lessons.totals), list[int](), set[int]()
    while True:
        best = (0.0, NOBODY, front)
        for number in (n for n in range(len(curves)) if n not in chosen):
            hull = joined([curves[n] for n in (*chosen, number)], tolerance)
            added = [f for f in growth.members[number].features if f not in needed]
            gain = hull.area - front.area - float(prices[added].sum())
            best = max(best, (gain, number, hull), key=lambda found: found[0])
        _, number, hull = best
        least = SHARE_OF_ERROR * hanley_mcneil(min(hull.area, 1.0), *lessons.sizes[::-1]) if chosen else 0.0
        if number == NOBODY or hull.area - front.area < least:
            return replace(growth, front=front, members=[growth.members[n] for n in chosen])
        front, chosen, needed = hull, [*chosen, number], needed.union(growth.members[number].features)


def curve_front(scores: FloatArray, positive: BoolArray, weight: FloatArray | None) -> Front:
    """Return the hull of one classifier's ROC curve; it is member 0."""
    every = np.ones(len(positive)) if weight is None else weight
    ends = Front.diagonal(float(every[~positive].sum()), float(every[positive].sum()))
    corners = weighted_points(np.array([0]), scores[None, :], positive.astype(np.int64), every, np.zeros(1), ends.line)
    return Front.stacked([ends.take([0]), corners, ends.take([1])])


def joined(fronts: Sequence[Front], tolerance: float = 0.0) -> Front:
    """Return the hull of several; member i is the only one of front i, and of equal points the first is kept."""
    named = (replace(each, member=np.where(each.member == NOBODY, NOBODY, i)) for i, each in enumerate(fronts))
    points = Front.stacked(list(named))
    return points.take(hull_vertices(points.fp, points.tp, tolerance))


def with_edges(
    front: Front,
    scores_of: Callable[[int], FloatArray],
    positive: BoolArray,
    n_points: int,
    weight: FloatArray | None = None,
) -> Front:
    """Add other thresholds of the outermost classifiers where these run along the left and the upper edge."""
    points = [front]
    every = np.ones(len(positive)) if weight is None else weight
    for left, vertex in ((True, 1), (False, len(front.fp) - 2)):
        on_edge = front.fp[vertex] == 0 if left else bool(np.isclose(front.tp[vertex], front.tp[-1], rtol=1e-12))
        member = int(front.member[vertex])
        if not on_edge or member == NOBODY or n_points == 0:
            continue
        scores = scores_of(member)
        cuts = np.unique(scores)
        cuts = cuts[cuts > front.threshold[vertex]] if left else cuts[cuts < front.threshold[vertex]]
        fp, tp = (_reaching(scores, side * every, cuts) for side in (~positive, positive))
        # Evenly spaced along the edge; the lowest cut stands on the corner.
        place = (tp / front.tp[-1] if left else fp / front.fp[-1]) if len(cuts) else cuts
        steps = np.linspace(0.0, 1.0, n_points + 2)[1:-1]
        nearest = {int(np.argmin(np.abs(place - step))) for step in steps} if len(cuts) else set()
        chosen = sorted(i for i in nearest if 0.0 < place[i] < 1.0)
        points.append(Front(fp, tp, tp, cuts, np.full(len(cuts), member)).take(chosen))
    edged = Front.stacked(points)
    return edged.take(np.lexsort([edged.tp, edged.fp]))


def _reaching(scores: FloatArray, weight: FloatArray, cuts: FloatArray) -> FloatArray:
    """Return what the rows count whose score is at least each cut."""
    order = np.argsort(scores, kind="stable")
    above = np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)
    return np.asarray(above[np.searchsorted(scores[order], cuts)])
