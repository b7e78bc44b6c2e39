import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TimeSeriesSplit

from fewer.problem import InputError, Problem
from fewer.roc import Parcel
from fewer.roc._learners import Front, Lessons, deal_out, kept_aside, prepared


def part(y, weights=None):
    return Problem.from_arrays(np.arange(len(y), dtype=float)[:, None], y, sample_weight=weights)


def test_validation_rows_come_pair_after_pair():
    lessons = Lessons(part([0, 1] * 4), ((np.arange(8), np.array([0, 2, 1])), (np.arange(8), np.array([3, 4]))))
    assert [numbers(held) for _, held in lessons.pairs] == [[0, 2, 1], [3, 4]]
    assert lessons.whole is lessons.rows
    assert lessons.positive.tolist() == [0, 0, 1, 1, 0]
    assert lessons.weight is None
    assert lessons.totals == (3.0, 2.0)
    assert lessons.sizes == (3, 2)


def test_weights_make_totals_and_the_rows_that_tell_as_much():
    lessons = Lessons.of_parts(part([0, 1]), part([0, 0, 1, 1], [3.0, 1.0, 2.0, 2.0]))
    assert lessons.whole.row_weights.tolist() == [1.0, 1.0]
    assert lessons.totals == (4.0, 4.0)
    assert lessons.sizes == (round(16 / 10), 2)


def test_points_are_put_together_in_order():
    one = Front(np.array([1.0]), np.array([3.0]), np.array([2.5]), np.array([0.5]), np.array([2]))
    three = Front.stacked([Front.diagonal(4.0, 5.0), one])
    assert three.member.tolist() == [-1, -1, 2]
    last = three.take([2, 1])
    assert (last.fp.tolist(), last.tp.tolist(), last.worth.tolist()) == ([1.0, 4.0], [3.0, 5.0], [2.5, 5.0])
    assert len(three.take([]).threshold) == 0


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def make_rows(n=60, **options):
    """A column that holds the number of each row, so that rows can be told apart."""
    return Problem.from_arrays(np.arange(float(n))[:, None], np.arange(n) % 2, **options)


def numbers(problem):
    return problem.X[:, 0].astype(int).tolist()


def test_every_row_that_is_not_kept_aside_judges_once(rng):
    lessons, aside = deal_out(make_rows(), 0.2, 5, 1 / 3, rng)
    judges = [row for _, held in lessons.pairs for row in numbers(held)]
    assert sorted(judges) == numbers(lessons.whole)
    assert sorted(judges + numbers(aside)) == list(range(60))
    assert all(set(numbers(train)).isdisjoint(numbers(held)) for train, held in lessons.pairs)


def test_in_time_everything_looks_forward(rng):
    time = np.random.default_rng(1).permutation(60) // 2  # two rows at each moment
    lessons, aside = deal_out(make_rows(time=time), 0.2, 4, 1 / 3, rng)
    assert len(lessons.splits) == 4
    assert aside.n_samples == 12
    assert max(lessons.whole.time) < min(aside.time)
    for train, held in lessons.pairs:
        assert max(train.time) < min(held.time)
    one, _ = deal_out(make_rows(time=time), 0.2, 4, 0.25, rng, in_folds=False)
    ((train, held),) = one.pairs
    assert held.n_samples == 12
    assert max(train.time) < min(held.time)


def test_in_time_a_group_is_on_one_side(rng):
    rows = make_rows(time=np.arange(60), groups=np.arange(60) % 7)
    with pytest.raises(InputError, match="one class"):
        deal_out(rows, 0.2, 4, 1 / 3, rng)  # every group is among the latest rows
    rows = make_rows(time=np.arange(60), groups=np.arange(60) // 3)
    lessons, aside = deal_out(rows, 0.19, 4, 1 / 3, rng)
    assert set(lessons.whole.groups).isdisjoint(aside.groups)
    assert all(set(train.groups).isdisjoint(held.groups) for train, held in lessons.pairs)


def test_latest_rows_of_one_class_cannot_calibrate(rng):
    rows = Problem.from_arrays(np.zeros((20, 1)), (np.arange(20) > 9).astype(int), time=np.arange(20))
    with pytest.raises(InputError, match="latest 4 rows, kept for calibration, hold one class"):
        deal_out(rows, 0.2, 3, 1 / 3, rng)


def test_a_splitter_may_go_forward(rng):
    lessons, _ = deal_out(make_rows(time=np.arange(60)), 0.0, TimeSeriesSplit(3), 1 / 3, rng)
    assert [numbers(held) for _, held in lessons.pairs] == [list(range(k, k + 15)) for k in (15, 30, 45)]


def test_listed_splits_are_for_the_whole_table(rng):
    rows = np.arange(60)
    listed = [(np.flatnonzero(rows % 3 != k), np.flatnonzero(rows % 3 == k)) for k in range(3)]
    lessons, aside = deal_out(make_rows(), 0.2, listed, 1 / 3, rng)
    kept = numbers(aside)
    for (train, held), (all_train, all_held) in zip(lessons.pairs, listed, strict=True):
        assert numbers(train) == np.setdiff1d(all_train, kept).tolist()
        assert numbers(held) == np.setdiff1d(all_held, kept).tolist()
    with pytest.raises(InputError, match="not among the 60 rows"):
        deal_out(make_rows(), 0.2, [([0, 1], [99]), ([2], [3])], 1 / 3, rng)
    with pytest.raises(InputError, match="no row of one class"):
        deal_out(make_rows(), 0.0, [([0, 2], [1, 3]), ([4, 6], [5])], 1 / 3, rng)


def test_a_share_of_each_class_is_kept_aside(rng):
    rows = Problem.from_arrays(np.zeros((50, 1)), (np.arange(50) < 10).astype(int))
    kept = kept_aside(rows, 0.2, rng)
    assert (kept[:10].sum(), kept[10:].sum()) == (2, 8)


@pytest.mark.filterwarnings("ignore:Possible leak")
@pytest.mark.parametrize("options", [{}, {"method": "scott"}])
def test_a_parcel_of_rows_in_time(options):
    """The time itself tells runs of one class apart, but nothing about later runs."""
    rng = np.random.default_rng(0)
    time = np.arange(400)
    y = time // 40 % 2
    X = np.column_stack([time // 4, y + rng.normal(size=400)])
    parcel = Parcel(random_state=0, **options).fit(X, y, time=time)
    assert parcel.operating_point(cost_fp=1, cost_fn=1).features_ == ("x1",)
    assert "x0" in Parcel(random_state=0, **options).fit(X, y).operating_point(cost_fp=1, cost_fn=1).features_


def test_a_missing_level_is_a_level(rng):
    level, y = np.where(np.arange(60) % 2, np.nan, rng.integers(0, 2, 60)), np.arange(60) % 2
    rows = Problem.from_arrays(np.column_stack([level, rng.normal(size=60)]), y, kinds=["nominal", "numeric"])
    assert prepared(LogisticRegression(), rows.X, rows.nominal).fit(rows.X, rows.y).score(rows.X, rows.y) == 1.0


def test_what_is_no_classifier_is_refused(rng):
    rows = make_rows()
    with pytest.raises(InputError, match="estimators holds None, which is no classifier"):
        Parcel(estimators=[None]).fit(rows.X, rows.y)
