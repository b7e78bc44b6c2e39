import numpy as np
import pytest

import fewer
from fewer.contracts import IncompatibleError, Resources, SearchSpace
from fewer.contracts.trace import Trace
from fewer.control import EarlyStopping, FalseDiscovery, Knockoffs, Probe, Shadow, StabilitySelection
from fewer.control._ranking import extended, fit_size, shuffled_rows, with_columns
from fewer.criteria import KNN, LeastSquares
from fewer.problem import Problem
from fewer.rankers import JMI, Fisher, FTest, MultiSURF
from fewer.search import Forward

CONTROLS = [Shadow(20), StabilitySelection(0.8, 3.0, n_pairs=10), Probe(10, 3)]


def planted(n=160, p=10, seed=1, shift=1.2):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), rng.integers(0, 2, n)
    X[:, [2, 5]] += shift * y[:, None]
    return X, y


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: type(control).__name__)
@pytest.mark.parametrize("ranker", [Fisher(), JMI(), MultiSURF()], ids=lambda ranker: type(ranker).__name__)
def test_any_ranker_will_do(control, ranker):
    X, y = planted(shift=2.0)
    selector = fewer.RankSelector(ranker, control=control, random_state=0).fit(X, y)
    assert selector.support_[[2, 5]].all()
    assert selector.support_.sum() <= 4  # by chance others may pass
    assert selector.promise_


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: type(control).__name__)
def test_over_a_search_features_rank_in_the_order_in_which_they_come(control):
    X, y = planted(shift=2.0)
    selector = fewer.SubsetSelector(LeastSquares(), Forward(), control=control, random_state=0).fit(X, y)
    assert selector.support_[[2, 5]].all()
    assert selector.support_.sum() <= 4
    scorer = LeastSquares().bind(Problem.from_arrays(X, y), np.random.default_rng(0), Resources())
    assert selector.score_ == pytest.approx(scorer.score(selector.support_[None])[0])


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: type(control).__name__)
def test_a_stopped_run_goes_on_as_if_nothing_had_happened(control, tmp_path):
    X, y = planted(80, 6)
    problem = Problem.from_arrays(X, y)

    def fit(trace, stop_after=-1):
        def follow(seen):
            if seen.n_steps == stop_after:
                raise KeyboardInterrupt

        return fewer.RankSelector(Fisher(), control=control, random_state=3).fit_problem(problem, follow, trace)

    whole = fit(Trace())
    trace = Trace()
    with pytest.raises(KeyboardInterrupt):
        fit(trace, 2)
    trace.save(tmp_path / "trace.npz")
    again = fit(Trace.load(tmp_path / "trace.npz"))
    assert (again.support_ == whole.support_).all()
    assert again.promise_ == whole.promise_
    steps = again.trace_.n_steps
    assert fit(again.trace_).trace_.n_steps == steps  # what is done is not done again
    for name, values in whole.trace_.extra.items():
        assert (again.trace_.extra[name] == values).all()


@pytest.mark.parametrize("control", [*CONTROLS, FalseDiscovery()], ids=lambda control: type(control).__name__)
def test_forced_features_feature_groups_weights_and_row_groups(control):
    X, y = planted(120)
    rng = np.random.default_rng(0)
    options = {"include": [0], "exclude": [2], "feature_groups": [[4, 5], [7, 8]]}
    selector = fewer.RankSelector(FTest(), control=control, random_state=0, **options)
    selector.fit(X, y, sample_weight=rng.random(120), groups=np.arange(120) // 4)
    assert selector.support_[[0, 4, 5]].all()
    assert not selector.support_[[2, 7, 8]].any()


def test_a_number_of_features_comes_first():
    X, y = planted()
    for control in CONTROLS:
        selector = fewer.RankSelector(Fisher(), control=control, n_features_to_select=4, random_state=0).fit(X, y)
        assert selector.support_.sum() == 4
        assert selector.support_[[2, 5]].all()


def test_nothing_may_be_kept():
    X, y = planted(60, shift=0.0)
    selector = fewer.RankSelector(FTest(), control=FalseDiscovery(0.01), random_state=0).fit(X, y)
    assert not selector.support_.any()


def test_what_cannot_work_is_refused_in_one_sentence():
    X, y = planted()
    for control, ranker, message in (
        (EarlyStopping(), Fisher(), "EarlyStopping works over a search, not over a ranker"),
        (FalseDiscovery(), Fisher(), "FalseDiscovery needs p-values, and Fisher has none; use FTest, Chi2 or Spearman"),
        (Knockoffs(), JMI(), "a ranker that treats columns alike, and JMI adds them one after the other"),
    ):
        with pytest.raises(IncompatibleError, match=message):
            fewer.RankSelector(ranker, control=control).fit(X, y)
    for control in (FalseDiscovery(), Knockoffs()):
        with pytest.raises(IncompatibleError, match="works over a ranker, not over a search"):
            fewer.SubsetSelector(KNN(), Forward(), control=control).fit(X, y)


def test_row_groups_change_places_whole():
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])
    problem = Problem.from_arrays(np.arange(9.0)[:, None], np.arange(9) % 2, groups=groups)
    order = shuffled_rows(problem, np.random.default_rng(0))
    assert sorted(order) == list(range(9))
    assert order[8] == 8
    assert all(groups[order[i]] == groups[order[i + 1]] for i in range(0, 8, 2))
    assert (order[:8] != np.arange(8)).any()


def test_copies_are_of_the_kind_of_their_columns_and_units_of_their_own():
    problem = Problem.from_arrays(np.zeros((4, 2)), [0, 1, 0, 1], kinds=["nominal", "numeric"])
    table = with_columns(problem, np.ones((4, 3)), np.array([0, 1, 0]))
    assert table.kinds == ("nominal", "numeric", "nominal", "numeric", "nominal")
    assert len(set(table.names)) == 5
    space = extended(SearchSpace.of(2, groups=[[0, 1]]), 5)
    assert [unit.tolist() for unit in space.units] == [[0, 1], [2], [3], [4]]


def test_sizes_are_filled_up_by_strength():
    kept, strength = np.array([True, False, False, True]), np.array([1.0, 5.0, 3.0, 2.0])
    assert fit_size(kept, strength, SearchSpace.of(4)).tolist() == kept.tolist()
    assert fit_size(kept, strength, SearchSpace.of(4, sizes=(3, 3))).tolist() == [True, True, False, True]
    assert fit_size(kept, strength, SearchSpace.of(4, sizes=(1, 1))).tolist() == [False, False, False, True]


def test_sizes_fill_up_by_strength_or_give_way():
    space = SearchSpace.of(5, sizes=(2, 3))
    strength = np.array([0.1, 0.9, 0.5, 0.7, 0.3])
    none, all_of_them = np.zeros(5, dtype=bool), np.ones(5, dtype=bool)
    assert np.flatnonzero(fit_size(none, strength, space)).tolist() == [1, 3]
    assert np.flatnonzero(fit_size(all_of_them, strength, space)).tolist() == [1, 2, 3]
    two = np.array([True, False, False, False, True])
    assert np.flatnonzero(fit_size(two, strength, space)).tolist() == [0, 4]
