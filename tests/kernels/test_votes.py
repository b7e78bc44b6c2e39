import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fewer.kernels import votes as kernels
from fewer.kernels.bundles import Rules
from fewer.kernels.distances import FAR
from neighbor_twins import twin_vote


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0, 2, 3]), st.integers(1, 6))
def test_votes_are_those_of_the_slow_twin(seed, by_rows, n_classes, k):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 20))
    d = rng.integers(0, 5, n).astype(float)
    usable = rng.random(n) < 0.8
    usable[0] = True
    y = rng.integers(0, max(n_classes, 1), n)
    values, weights = rng.normal(size=n), rng.integers(1, 3, n).astype(float)
    rules = Rules(y, values, weights, n_classes, 2.0**-40, np.array([k]), by_rows)
    ballot = kernels.make_ballot(rules)
    distances = np.where(usable, d, FAR)
    count, reach = kernels.list_nearest(distances, ballot.near, ballot.near_d)
    kernels.count_votes(ballot.near, ballot.near_d, count, reach, distances, rules, ballot)
    truth = twin_vote(np.where(usable, d, np.inf), y if n_classes else values, weights, k, by_rows, n_classes)
    if n_classes:
        assert ballot.votes[0] == truth
    else:
        np.testing.assert_allclose(ballot.means[0], truth, atol=1e-12)
