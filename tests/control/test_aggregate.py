import numpy as np
import pytest

from fewer.contracts import Resources, Run, SearchSpace, gray_states
from fewer.contracts.trace import Trace
from fewer.control import Aggregate, Prefilter
from fewer.control._aggregate import draw_rows
from fewer.criteria import KNN, GammaTest
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.rankers import Fisher
from fewer.search import Exhaustive, Forward
from making import make_problem


def run(control, problem, trace=None, on_step=None, **space):
    return Run(
        KNN(),
        problem,
        Forward(),
        SearchSpace.of(problem.n_features, **space),
        np.random.default_rng(0),
        resources=Resources(),
        trace=Trace() if trace is None else trace,
        follower=on_step,
    ).under(control)


def test_printed_example_of_ten_masks():
    """Loughrey's Table 3.1: counts 1, 4, 7, 1, 10, 10, 2, 1, 0, 1 of ten runs; half of them or more stay."""
    frequency = np.array([1, 4, 7, 1, 10, 10, 2, 1, 0, 1]) / 10
    kept = Aggregate(threshold=0.5)._keep(frequency, SearchSpace.of(10))
    assert np.flatnonzero(kept).tolist() == [2, 4, 5]
    assert np.flatnonzero(Aggregate()._keep(frequency, SearchSpace.of(10, sizes=(4, 4)))).tolist() == [1, 2, 4, 5]
    assert np.flatnonzero(Aggregate()._keep(frequency, SearchSpace.of(10, sizes=(1, 1)))).tolist() == [4]


def test_frequencies_are_those_of_the_runs():
    problem = make_problem(seed=5)
    trace = run(Aggregate(n_runs=6), problem)
    masks = np.array([step.mask for step in trace.steps])
    assert np.array_equal(trace.extra["frequency"], masks.mean(axis=0))
    assert np.array_equal(trace.best, masks.mean(axis=0) >= 0.5)


@pytest.mark.parametrize("control", [Aggregate(n_runs=5), Aggregate(n_runs=5, control=Prefilter(Fisher(), keep=3))])
def test_interrupted_and_resumed_ends_the_same(control, tmp_path):
    problem = make_problem(seed=6)
    whole = run(control, problem)

    def stop(trace):
        if trace.n_steps == 3:
            trace.save(tmp_path / "t.npz")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(control, problem, on_step=stop)
    again = run(control, problem, trace=Trace.load(tmp_path / "t.npz"))
    assert np.array_equal(again.best, whole.best)
    assert again.best_score == whole.best_score
    assert again.n_evaluations == whole.n_evaluations
    assert np.array_equal(again.extra["frequency"], whole.extra["frequency"])


def test_resamples_keep_every_class_and_whole_groups():
    rng = np.random.default_rng(0)
    y = np.array([0] * 40 + [1] * 3)
    problem = Problem.from_arrays(rng.normal(size=(43, 2)), y)
    for resample in ("subsample", "bootstrap"):
        rows = draw_rows(problem, resample, rng)
        assert set(y[rows]) == {0, 1}
    assert len(draw_rows(problem, "subsample", rng)) == 32 + 3
    assert np.array_equal(draw_rows(problem, "reshuffle", rng), np.arange(43))
    grouped = Problem.from_arrays(rng.normal(size=(40, 2)), y[:40] + np.arange(40) % 2, groups=np.arange(40) // 4)
    rows = draw_rows(grouped, "subsample", rng)
    assert len(rows) == 32
    assert all(np.isin(np.flatnonzero(grouped.groups == g), rows).all() for g in grouped.groups[rows])
    with pytest.raises(InputError, match="The 'resample' parameter of Aggregate must be"):
        run(Aggregate(resample="jackknife"), problem)


def run_subsets(problem, trace=None, on_step=None):
    control = Aggregate(3, share=2 / 3, vote="subsets", vary={"n_neighbors": [5, 8]}, top=4)
    space = SearchSpace.of(problem.n_features)
    rng = np.random.default_rng(0)
    return Run(
        GammaTest(8),
        problem,
        Exhaustive(),
        space,
        rng,
        resources=Resources(),
        trace=Trace() if trace is None else trace,
        follower=on_step,
    ).under(control)


def test_subsets_are_ranked_as_nel_does():
    """3 splits times 2 neighbor counts; a subset gains 1 / (0.1 + γ) whenever it is in a top four."""
    problem = make_problem(seed=5)
    trace = run_subsets(problem)
    seeds = np.random.default_rng(0).spawn(3)
    gained, losses = {}, {}
    masks = gray_states(np.arange(1, 2**problem.n_features), problem.n_features)
    for seed in seeds:
        rows = problem.take(draw_rows(problem, "subsample", seed, 2 / 3))
        for count in (5, 8):
            gamma = -GammaTest(count).bind(rows, np.random.default_rng(0), Resources()).score(masks)
            for place in np.argsort(gamma, kind="stable")[:4]:
                key = tuple(masks[place].tolist())
                gained[key] = gained.get(key, 0.0) + 1 / (0.1 + max(gamma[place], -0.05))
                losses.setdefault(key, []).append(gamma[place])
    best = max(gained, key=gained.get)
    assert tuple(trace.best.tolist()) == best
    assert len(trace.extra["subsets"]) == len(gained)
    assert trace.extra["subset_count"].sum() == 24
    for mask, rank, loss in zip(
        trace.extra["subsets"], trace.extra["subset_rank"], trace.extra["subset_loss"], strict=True
    ):
        assert rank == pytest.approx(gained[tuple(mask.tolist())])
        assert loss == pytest.approx(np.mean(losses[tuple(mask.tolist())]))


def test_a_poll_of_subsets_goes_on_after_an_interruption(tmp_path):
    problem = make_problem(seed=6)
    whole = run_subsets(problem)

    def stop(trace):
        if trace.n_steps == 3:
            trace.save(tmp_path / "t.npz")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_subsets(problem, on_step=stop)
    again = run_subsets(problem, trace=Trace.load(tmp_path / "t.npz"))
    assert np.array_equal(whole.extra["subsets"], again.extra["subsets"])
    assert np.array_equal(whole.extra["subset_rank"], again.extra["subset_rank"])
    assert np.array_equal(whole.best, again.best)


def test_odd_votes_are_refused():
    problem = make_problem(seed=6)
    for odd in ({"vote": "x"}, {"share": 1.0}, {"offset": 0.0}, {"top": 0}):
        with pytest.raises(InputError):
            run(Aggregate(2, **odd), problem)


@pytest.mark.parametrize("resample", ["bootstrap", "subsample"])
def test_classes_keep_their_shares_in_every_resample(resample):
    y = np.repeat([0, 1], [40, 8])
    problem = Problem.from_arrays(np.zeros((48, 1)), y)
    for seed in range(20):
        rows = draw_rows(problem, resample, np.random.default_rng(seed), 0.5)
        wanted = [40, 8] if resample == "bootstrap" else [20, 4]
        assert np.bincount(y[rows]).tolist() == wanted
        assert (np.diff(rows) >= 0).all()
    quantity = Problem.from_arrays(np.zeros((48, 1)), np.arange(48.0), task="regression")
    assert len(draw_rows(quantity, resample, np.random.default_rng(0), 0.5)) == (48 if resample == "bootstrap" else 24)
    assert draw_rows(problem, "reshuffle", np.random.default_rng(0), 0.5).tolist() == list(range(48))
