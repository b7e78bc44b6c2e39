import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fewer.roc import auroc
from fewer.roc._committee import Ballot, LogOdds, elect, hull_shares
from fewer.roc._growth import NOBODY, Front


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
    ballot = Ballot((a, b), (weak,), y, None)
    shares = np.array([0.5, 0.5])
    unseen = elect(ballot, shares, None)
    assert unseen.votes.tolist() == [0.25, 0.25, 0.5]
    y2, a2, b2, weak2 = scores(seed=1)
    shown = elect(ballot, shares, Ballot((a2, b2), (weak2,), y2, None))
    assert shown.votes.tolist() == [0.5, 0.5, 0.0]
    worse = elect(Ballot((weak,), (a, b), y, None), np.ones(1), Ballot((weak2,), (a2, b2), y2, None))
    best = 1 + int(auroc(y, b) > auroc(y, a))
    assert worse.votes[best] == pytest.approx(0.5)
