"""One score for all operating points: the classifiers on a hull vote with the share of the hull that they hold.

The hull says which classifier is best at each cost; a ranking, a probability and `cross_val_score(scoring="roc_auc")`
need one score. Each classifier's score becomes log-odds by logistic regression on rows that it has not learnt from, and
the log-odds are averaged. Rows that chose a hull flatter it, so its advantage over a learner with all features must be
shown by calibration rows; until it is, that learner has half of the votes. Several learners with all features, which no
row has chosen, share their votes by stacking on all rows, those of calibration too; the hull then joins them only where
calibration rows show that it helps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fewer.problem import FloatArray, IntArray
from fewer.roc._curve import delong_test
from fewer.roc._learners import NOBODY, Front, LearnedRule

# Standard errors by which a committee must be ahead of a learner with all features to do without it.
SURE_LEAD = 1.645

# How strongly stacking holds learners to equal votes, in units of the log-likelihood.
TOWARDS_EQUAL = 50.0


@dataclass(frozen=True)
class LogOdds:
    """A line that turns a score into log-odds of the positive class."""

    slope: float
    intercept: float

    @classmethod
    def learn(cls, scores: FloatArray, positive: IntArray, weight: FloatArray | None) -> LogOdds:
        """Fit by logistic regression, lightly regularized; a score that says nothing gets slope 0."""
        spread = float(scores.std())
        if spread == 0.0 or not np.isfinite(spread):
            spread = 1.0
        center = float(scores.mean())
        model = LogisticRegression(C=10.0)
        model.fit((scores[:, None] - center) / spread, positive, sample_weight=weight)
        # A score that ranks the wrong way round is not turned: the vertices use it as it is.
        slope = max(float(model.coef_[0, 0]), 0.0) / spread
        return cls(slope, float(model.intercept_[0]) - slope * center)

    def of(self, scores: FloatArray) -> FloatArray:
        """Return the log-odds of scores."""
        return self.slope * scores + self.intercept


@dataclass(frozen=True, eq=False)
class Committee:
    """Classifiers with votes; the weighted mean of their log-odds is the score.

    Attributes
    ----------
    lines : tuple of LogOdds
        One for each classifier.
    votes : float array
        They add up to 1.
    scale : LogOdds
        From the mean to log-odds.
    rules : tuple of LearnedRule
        The classifiers; none before they are fitted.
    """

    lines: tuple[LogOdds, ...]
    votes: FloatArray
    scale: LogOdds
    rules: tuple[LearnedRule, ...] = ()

    @property
    def voters(self) -> list[int]:
        """Numbers of those who have votes."""
        return np.flatnonzero(self.votes > 0.0).tolist()

    def fitted(self, rule_of: Callable[[int], LearnedRule]) -> Committee:
        """Return the committee of those who have votes, each with its rule."""
        lines = tuple(self.lines[number] for number in self.voters)
        return Committee(lines, self.votes[self.voters], self.scale, tuple(map(rule_of, self.voters)))

    def decision(self, cells: FloatArray) -> FloatArray:
        """Return the log-odds of the positive class."""
        total = np.zeros(len(cells))
        for rule, line, vote in zip(self.rules, self.lines, self.votes, strict=True):
            total += vote * line.of(rule.scores(cells))
        return self.scale.of(total)


def hull_shares(front: Front, n_members: int) -> FloatArray:
    """Return the share of a hull's length that each member holds: half of the two sides at each of its vertices."""
    sides = np.diff(front.fp) / front.fp[-1] + np.diff(front.tp) / front.tp[-1]
    held = np.zeros(n_members)
    for vertex, member in enumerate(front.member.tolist()):
        if member != NOBODY:
            held[member] += sides[max(vertex - 1, 0)] + sides[min(vertex, len(sides) - 1)]
    return held / held.sum() if held.sum() > 0 else np.full(n_members, 1.0 / max(n_members, 1))


@dataclass(frozen=True, eq=False)
class CommitteeBallot:
    """Scores of the classifiers on a hull, and of learners with all features, on rows that they have not learnt from.

    Attributes
    ----------
    scores, rivals : tuples of arrays of shape (n_samples,)
    positive : array of shape (n_samples,)
    weight : array of shape (n_samples,) or None
    """

    scores: tuple[FloatArray, ...]
    rivals: tuple[FloatArray, ...]
    positive: IntArray
    weight: FloatArray | None

    def odds(self, lines: Sequence[LogOdds]) -> list[FloatArray]:
        """Return the log-odds of all."""
        return [line.of(each) for line, each in zip(lines, (*self.scores, *self.rivals), strict=True)]

    def with_rows_of(self, other: CommitteeBallot) -> CommitteeBallot:
        """Return the ballot with the rows of another below its own."""
        weights = [np.ones(len(b.positive)) if b.weight is None else b.weight for b in (self, other)]
        pairs = ((self.scores, other.scores), (self.rivals, other.rivals))
        scores, rivals = (tuple(map(np.concatenate, zip(mine, theirs, strict=True))) for mine, theirs in pairs)
        positive = np.concatenate([self.positive, other.positive])
        weighted = self.weight is not None or other.weight is not None
        return CommitteeBallot(scores, rivals, positive, np.concatenate(weights) if weighted else None)


def elect(ballot: CommitteeBallot, shares: FloatArray, judges: CommitteeBallot | None) -> Committee:
    """Give votes to the classifiers on a hull, and to rivals unless the hull is shown to be better.

    Parameters
    ----------
    ballot : Ballot
        On the rows that chose the hull.
    shares : array of shape (n_classifiers,)
        Of the hull.
    judges : Ballot or None
        On rows that did not choose it.

    Returns
    -------
    Committee
        Lines and votes of the classifiers, then of the rivals; nobody is fitted yet.
    """
    n_hull, n_rivals = len(ballot.scores), len(ballot.rivals)
    # No row has chosen all features, so that with several such learners the judges' rows may say what each is worth.
    known = ballot if judges is None or n_rivals < 2 else ballot.with_rows_of(judges)
    lines = [
        *(LogOdds.learn(each, ballot.positive, ballot.weight) for each in ballot.scores),
        *(LogOdds.learn(each, known.positive, known.weight) for each in known.rivals),
    ]
    odds = ballot.odds(lines)
    votes = np.concatenate([shares, np.zeros(n_rivals)])
    if n_rivals:
        rivals = np.zeros(len(votes))
        rivals[n_hull:] = stack(np.array(known.odds(lines)[n_hull:]), known.positive, known.weight)
        votes = _shared(votes, rivals, n_rivals, judges, lines) if n_hull else rivals
    mean = _mean(votes, odds) if odds else np.zeros(len(ballot.positive))
    return Committee(tuple(lines), votes, LogOdds.learn(mean, ballot.positive, ballot.weight))


def stack(odds: FloatArray, positive: IntArray, weight: FloatArray | None) -> FloatArray:
    """Return votes of learners by the likelihood of their weighted mean of log-odds, held to equal votes.

    Parameters
    ----------
    odds : array of shape (n_learners, n_samples)
        Of rows that the learners have not learnt from.
    positive : array of shape (n_samples,)
        1 where a row is positive.
    weight : array of shape (n_samples,) or None
        How much each row counts; None if all count one.

    Returns
    -------
    array of shape (n_learners,)
        At least 0 each, 1 together.

    Examples
    --------
    >>> y = np.arange(400) % 2
    >>> stack(np.array([4.0 * y - 2.0, np.tile([2.0, 2.0, -2.0, -2.0], 100)]), y, None).round(1)
    array([0.8, 0.2])
    """
    n = len(odds)
    equal = np.full(n, 1.0 / n)
    if n == 1:
        return equal
    each = np.ones(len(positive)) if weight is None else weight * len(weight) / weight.sum()

    def loss(point: FloatArray) -> tuple[float, FloatArray]:
        votes, total = point[:n], point[:n] @ odds + point[n]
        far = votes - equal
        gap = each * (expit(total) - positive)
        likelihood = each @ np.logaddexp(0.0, np.where(positive == 1, -total, total))
        slope = np.append(odds @ gap + 2.0 * TOWARDS_EQUAL * far, gap.sum())
        return float(likelihood + TOWARDS_EQUAL * far @ far), slope

    bounds = [(0.0, None)] * n + [(None, None)]
    optimum = minimize(loss, np.append(equal, 0.0), jac=True, bounds=bounds, method="L-BFGS-B").x[:n]
    return optimum / optimum.sum() if optimum.sum() > 0.0 else equal


def _shared(
    hull: FloatArray, rivals: FloatArray, n_rivals: int, judges: CommitteeBallot | None, lines: Sequence[LogOdds]
) -> FloatArray:
    """Share the votes between a hull and its rivals by rows that did not choose it."""
    both = 0.5 * (hull + rivals)
    if _lead(judges, lines, hull, rivals) > SURE_LEAD:
        return hull
    if n_rivals == 1 or _lead(judges, lines, both, rivals) > SURE_LEAD:
        return both
    return rivals


def _lead(judges: CommitteeBallot | None, lines: Sequence[LogOdds], votes: FloatArray, others: FloatArray) -> float:
    """Return by how many standard errors other rows rank better with some votes than with others; 0 without rows."""
    if judges is None or len(np.unique(judges.positive)) < 2:
        return 0.0
    odds = judges.odds(lines)
    return delong_test(judges.positive, _mean(votes, odds), _mean(others, odds)).z


def _mean(votes: FloatArray, odds: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(votes @ np.array(odds))
