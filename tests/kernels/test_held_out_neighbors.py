import numpy as np
import pytest

from fewer.kernels import held_out_neighbors as kernels

N, WIDTH, SIZES, BOUNDS = 30, 96, np.array([80, 65]), np.array([0, 14, 30])


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    tests, trains = rng.normal(size=(5, N)), rng.normal(size=(2, 5, WIDTH))
    tests[1], trains[:, 1] = tests[1].round(), trains[:, 1].round()  # many tie
    tests[4], trains[:, 4] = tests[4] / 1000, trains[:, 4] / 1000  # changes little
    parts = [trains[fold, :, :size] for fold, size in enumerate(SIZES)]
    return kernels.Tables(
        tests=tests,
        tests_32=tests.astype(np.float32),
        trains=trains,
        trains_32=trains.astype(np.float32),
        sizes=SIZES,
        folds=np.repeat([0, 1], np.diff(BOUNDS)),
        lows=np.stack([part.min(axis=1) for part in parts]),
        highs=np.stack([part.max(axis=1) for part in parts]),
        errors=np.full(5, 4 * 2.0**-22),
    )


def distances_by(tables, columns):
    """Squared distances in double precision; infinite for rows that are not there."""
    gaps = tables.tests[columns][:, :, None] - tables.trains[tables.folds][:, columns].transpose(1, 0, 2)
    absent = np.arange(WIDTH) >= SIZES[tables.folds][:, None]
    return np.where(absent, np.inf, (gaps**2).sum(axis=0))


def standing_by(tables, columns, rule):
    absent = np.arange(WIDTH) >= SIZES[tables.folds][:, None]
    standing = kernels.FoldStanding(
        np.where(absent, kernels.FARTHEST, np.float32(0.0)),
        np.full(N, -1.0),
        np.zeros((N, 2)),
        np.empty((N, kernels.LONGEST), dtype=np.int32),
        np.empty((N, kernels.LONGEST), dtype=np.float32),
        np.zeros(N, dtype=np.int64),
        np.zeros(N, dtype=np.float32),
    )
    for place, column in enumerate(columns):
        before, room = np.array(columns[:place], dtype=np.int64), kernels.VotingRoom.of(standing, place)
        kernels.stand(before, column, tables, rule, BOUNDS, standing, room)
    return standing


def rule_of(k, shares=False):
    return kernels.Rule(np.random.default_rng(1).integers(0, 2, (2, WIDTH)).astype(float), k, True, shares)


@pytest.mark.parametrize("k", [1, 5, 32])
@pytest.mark.parametrize("columns", [[0], [0, 2], [1, 0, 3]])
def test_the_nearest_rows_are_kept_in_order_and_all_others_are_farther(tables, columns, k):
    standing, truth = standing_by(tables, columns, rule_of(k)), distances_by(tables, columns)
    there = np.isfinite(truth)
    assert standing.base[there] == pytest.approx(truth[there], rel=1e-4, abs=1e-6)
    assert (standing.base[~there] >= kernels.FARTHEST).all()
    assert (standing.lengths > 0).any()
    for i in np.flatnonzero(standing.lengths):
        kept = standing.near_rows[i, : standing.lengths[i]]
        assert len(set(kept.tolist())) == len(kept) >= k
        assert standing.near[i, : len(kept)].tolist() == np.sort(standing.base[i])[: len(kept)].tolist()
        assert np.delete(standing.base[i], kept).min() >= standing.beyond[i]


def votes_of(tables, members, added, k, y):
    members, shape = np.array(members, dtype=np.int64), (len(added), N)
    votes = kernels.Votes(
        np.full((*shape, 2), np.nan), np.zeros(shape, bool), np.zeros(len(added)), np.zeros(shape, bool)
    )
    race = kernels.FoldRace(np.arange(N), y, np.full(N, 1 / N), np.inf)
    standing = standing_by(tables, members, rule_of(k))
    room = kernels.VotingRoom.of(standing, len(members))
    kernels.vote(standing, members, np.array(added), tables, rule_of(k), race, votes, room)
    return votes


@pytest.mark.parametrize("k", [1, 4, 5])
@pytest.mark.parametrize("members", [[], [0], [2, 0], [1, 3]])
def test_votes_are_those_of_the_nearest_rows_and_ties_that_matter_are_left_open(tables, members, k):
    y = np.random.default_rng(2).integers(0, 2, N)
    for column in set(range(5)) - set(members):
        votes, truth = votes_of(tables, members, [column], k, y), distances_by(tables, [*members, column])
        for i in range(N):
            ones = {ones_of(order, truth[i], rule_of(k).targets[tables.folds[i]], k) for order in (1, -1)}
            winners = {2 * count > k for count in ones}
            assert votes.open_rows[0, i] == (len(winners) > 1)
            if not votes.open_rows[0, i]:
                assert votes.out[0, i].argmax() == winners.pop()
                assert votes.wrong[0, i] == (votes.out[0, i].argmax() != y[i])
                assert len(ones) > 1 or votes.out[0, i, 1] * k == pytest.approx(ones.pop())
        assert votes.lost[0] == pytest.approx(votes.wrong[0].sum() / N)


def test_columns_are_given_up_that_lose_more_than_one_before_them(tables):
    y = np.random.default_rng(2).integers(0, 2, N)
    alone = [votes_of(tables, [0], [column], 5, y) for column in (1, 2, 3, 4)]
    together = votes_of(tables, [0], [1, 2, 3, 4], 5, y)
    closed = [votes.lost[0] if not votes.open_rows.any() else np.inf for votes in alone]
    least = np.minimum.accumulate([np.inf, *closed])
    assert np.signbit(together.lost).any()
    for q, votes in enumerate(alone):
        assert np.signbit(together.lost[q]) == (votes.lost[0] > least[q] + kernels.SLACK)
        assert np.signbit(together.lost[q]) or together.lost[q] == votes.lost[0]


def ones_of(order, distances, targets, k):
    """Count the ones among the k nearest, where those of equal distance come with the ones last (1) or first (−1)."""
    nearest = np.lexsort([order * targets, distances.round(12)])[:k]
    return int(targets[nearest].sum())
