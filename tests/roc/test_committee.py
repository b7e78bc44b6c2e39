import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit
from sklearn.linear_model import LogisticRegression

from fewer.roc._committee import CommitteeBallot, LogOdds, elect, hull_shares, stack
from fewer.roc._learners import NOBODY, Front


def scores(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return y, rng.normal(size=n) + y, rng.normal(size=n) + y, rng.normal(size=n) + 0.3 * y


def test_log_odds_are_those_of_logistic_regression():
    y, a, _, _ = scores()
    line = LogOdds.learn(100 + 7 * a, y, None)
    model = LogisticRegression(C=1e6).fit(a[:, None], y)
    np.testing.assert_allclose(line.of(100 + 7 * a), model.decision_function(a[:, None]), atol=0.05)
    # What ranks the wrong way is silenced, not turned; what says nothing says nothing.
    assert LogOdds.learn(-a, y, None).slope == 0.0
    assert LogOdds.learn(np.ones(400), y, None).slope == 0.0


def test_shares_of_the_hull_add_up():
    front = Front(
        np.array([0.0, 1, 5, 10]), np.array([0.0, 6, 9, 10]), np.array([0.0, 6, 9, 10]),
        np.array([np.inf, 2, 1, -np.inf]), np.array([NOBODY, 1, 0, NOBODY]),
    )  # fmt: skip
    shares = hull_shares(front, 2)
    # Sides of length 0.7, 0.7 and 0.6: the first vertex holds 1.4 halves, the second 1.3.
    np.testing.assert_allclose(shares, [1.3 / 2.7, 1.4 / 2.7])


def test_a_rival_votes_until_the_hull_is_shown_to_be_better():
    y, a, b, weak = scores()
    ballot = CommitteeBallot((a, b), (weak,), y, None)
    shares = np.array([0.5, 0.5])
    unseen = elect(ballot, shares, None)
    assert unseen.votes.tolist() == [0.25, 0.25, 0.5]
    y2, a2, b2, weak2 = scores(seed=1)
    shown = elect(ballot, shares, CommitteeBallot((a2, b2), (weak2,), y2, None))
    assert shown.votes.tolist() == [0.5, 0.5, 0.0]


def test_several_learners_share_votes_and_the_hull_joins_where_other_rows_speak_for_it():
    y, a, b, weak = scores()
    y2, a2, b2, weak2 = scores(seed=1)
    worse = elect(CommitteeBallot((weak,), (a, b), y, None), np.ones(1), CommitteeBallot((weak2,), (a2, b2), y2, None))
    assert worse.votes[0] == 0.0
    assert worse.votes.sum() == pytest.approx(1.0)
    assert worse.votes[1:].min() > 0.25
    # No row has chosen the learners with all features: the judges' rows say what they are worth as well.
    both = CommitteeBallot((), (np.concatenate([a, a2]), np.concatenate([b, b2])), np.concatenate([y, y2]), None)
    np.testing.assert_allclose(worse.votes[1:], elect(both, np.zeros(0), None).votes)
    unseen = elect(CommitteeBallot((weak,), (a, b), y, None), np.ones(1), None)
    np.testing.assert_allclose(unseen.votes[1:], elect(CommitteeBallot((), (a, b), y, None), np.zeros(0), None).votes)
    # A hull that only seems to help on few rows does not join.
    few = CommitteeBallot((a2[:30],), (b2[:30], weak2[:30]), y2[:30], None)
    assert elect(CommitteeBallot((a,), (b, weak), y, None), np.ones(1), few).votes[0] == 0.0
    weights = np.random.default_rng(4).integers(1, 3, len(y2)).astype(float)
    joined = CommitteeBallot((), (a, b), y, None).with_rows_of(CommitteeBallot((), (a2, b2), y2, weights))
    np.testing.assert_array_equal(joined.weight, np.concatenate([np.ones(len(y)), weights]))
    joins = elect(CommitteeBallot((b,), (a, weak), y, None), np.ones(1), CommitteeBallot((b2,), (a2, weak2), y2, None))
    assert joins.votes[0] >= 0.5


def test_stacking_is_the_penalized_likelihoods_optimum():
    """Against a plain search over the same sum; a useless learner loses its votes."""
    y, a, b, weak = scores()
    odds = np.array([LogOdds.learn(each, y, None).of(each) for each in (a, b, weak)])
    weight = np.random.default_rng(2).integers(1, 4, len(y)).astype(float)
    for each in (None, weight):
        w = np.ones(len(y)) if each is None else each * len(each) / each.sum()

        def loss(point, w=w):
            total = point[:3] @ odds + point[3]
            return -(w * np.where(y == 1, log_expit(total), log_expit(-total))).sum() + 50 * np.sum(
                (point[:3] - 1 / 3) ** 2
            )

        truth = minimize(
            loss, np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 9999}
        )
        assert truth.x[:3].min() > 0
        votes = stack(odds, y, each)
        np.testing.assert_allclose(votes, truth.x[:3] / truth.x[:3].sum(), atol=2e-4)
        assert votes[2] < votes[:2].min()
    noise = np.random.default_rng(3).normal(size=len(y)) * 5
    assert stack(np.array([odds[0], noise]), y, None)[1] < 0.1
