from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from fewer.contracts import Criterion, IncompatibleError, PredictiveScorer, Resources, Run, Search, SearchSpace
from fewer.contracts.trace import Step, Trace
from fewer.control import EarlyStopping, Prefilter
from fewer.control._early_stopping import StoppingPoint, join_states, stopping_point
from fewer.criteria import KNN, CrossValidated, NaiveBayes, Separability
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.rankers import Fisher
from fewer.search import PBIL, Annealing, Forward, Genetic
from fewer.validate import Split
from making import make_problem

SEARCHES = {
    "annealing": Annealing(levels=6, effort=0.2, answer="final"),
    "genetic": Genetic(3, 5, selection="roulette", answer="final"),
    "pbil": PBIL(3, 5, runs=1),
}
CRITERIA = {
    "knn": KNN(cv=4),
    "logistic": CrossValidated(LogisticRegression(C=0.1, tol=0.01), cv=2),
    "gaussian": CrossValidated(GaussianNB(), scoring="balanced_accuracy", cv=2),
    "naive bayes": NaiveBayes(cv=3),
}


def run(control, problem, search=SEARCHES["annealing"], criterion=CRITERIA["knn"], **options):
    space = options.pop("space", None) or SearchSpace.of(problem.n_features)
    n_jobs = options.pop("n_jobs", 1)
    return Run(
        criterion,
        problem,
        search,
        space,
        np.random.default_rng(options.pop("seed", 0)),
        resources=Resources(n_jobs),
        trace=options.pop("trace", None) or Trace(),
        follower=options.pop("on_step", None),
    ).under(control)


# ------------------------------------------------------------------------------------------ the stopping rule


def slow_peak(curves, window):
    """Ten obvious lines: average, slide, look."""
    mean = [sum(curve[i] for curve in curves) / len(curves) for i in range(len(curves[0]))]
    best, where = -float("inf"), None
    for center in range(window // 2, len(mean) - window // 2):
        value = sum(mean[center - window // 2 : center + window // 2 + 1]) / window
        if value > best + 1e-9:
            best, where = value, center
    return where, best


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 20), min_size=9, max_size=9), min_size=2, max_size=6), st.sampled_from([1, 3, 5])
)
def test_peak_is_that_of_the_slow_twin(curves, window):
    point = stopping_point([np.array(curve, dtype=float) for curve in curves], window)
    where, best = slow_peak(curves, window)
    assert point.step == where
    assert point.smoothed[where] == pytest.approx(best)
    assert np.isnan(point.smoothed[: window // 2]).all()
    assert np.isnan(point.smoothed[len(point.smoothed) - window // 2 :]).all()


def test_earliest_of_equal_peaks_and_flat_curves():
    plateau = np.array([0.0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0])
    assert stopping_point([plateau, plateau]).step == 4
    flat = stopping_point([np.full(12, 0.1)] * 3)
    assert flat.step == 2
    assert not flat.overfitting


@pytest.mark.parametrize("seed", range(5))
def test_noisy_curves_with_a_known_peak(seed):
    """Accuracy of 100 runs on 20 rows each, peak at step 28: the mean curve's noise is a tenth of its fall."""
    rng = np.random.default_rng(seed)
    steps = np.arange(82)
    truth = 0.85 - 0.15 * ((steps - 28) / np.where(steps < 28, 28, 53)) ** 2
    curves = [rng.binomial(20, truth) / 20 for _ in range(100)]
    point = stopping_point(curves)
    assert abs(point.step - 28) <= 8
    assert point.overfitting
    assert point.share == point.step / 81


def test_rising_curves_show_no_overfitting():
    rng = np.random.default_rng(0)
    truth = 0.6 + 0.3 * (1 - np.exp(-np.arange(82) / 15))
    seen = [stopping_point([rng.binomial(20, truth) / 20 for _ in range(10)]).overfitting for _ in range(40)]
    assert np.mean(seen) < 0.15
    assert not stopping_point([truth, truth]).overfitting


def test_a_run_that_ends_early_keeps_its_last_score():
    long, short = np.array([0.0, 1, 2, 3, 4, 5, 6]), np.array([0.0, 1, 10])
    assert np.allclose(stopping_point([long, short], 1).smoothed, [0, 1, 6, 6.5, 7, 7.5, 8])


def test_share_of_the_thesis():
    """A stopping index of 28 of 81 levels scales K by 0.346."""
    curve = -np.abs(np.arange(82.0) - 28)
    point = stopping_point([curve, curve])
    assert (point.step, point.length) == (28, 81)
    assert Annealing(effort=2.0).shortened(point.share).effort == pytest.approx(2 * 28 / 81)
    assert Genetic(25, 120).shortened(28 / 120).generations == 28


# ----------------------------------------------------------------------------------- a search from a script


class Script(Search):
    """Step i stands on feature i alone."""

    stochastic = True

    def __init__(self, length=20, share=1.0):
        self.length = length
        self.share = share

    def shortened(self, share):
        return Script(self.length, share)

    def steps(self, scorer, space, rng, state):
        for i in range(round(self.length * self.share) + 1):
            mask = space.empty()
            mask[min(i, space.n_units - 1)] = True
            score = float(scorer.score(mask[None])[0])
            yield Step(mask, score, mask, score)


class Scripted(Criterion):
    """Feature i scores i on its own rows, and what the script says on others."""

    predictive = True

    def __init__(self, curve):
        self.curve = curve

    def bind(self, problem, rng, resources):
        return ScriptedScorer(self.curve)


class ScriptedScorer(PredictiveScorer):
    def __init__(self, curve):
        self.curve = np.asarray(curve)

    def score(self, masks):
        return masks.argmax(axis=1).astype(float)

    def outputs(self, mask):
        raise AssertionError("validation asks for new rows only")

    def predict(self, mask, X):
        return self.curve[mask.argmax()] + 0.01 * X[:, -1]

    def grade(self, outputs, rows):
        return float(outputs.mean())


def scripted(peak, how="shorten", **options):
    curve = -np.abs(np.arange(21.0) - peak)
    rng = np.random.default_rng(3)
    problem = Problem.from_arrays(rng.normal(size=(40, 21)), np.arange(40) % 2)
    return run(EarlyStopping(how=how, **options), problem, Script(), Scripted(curve))


@pytest.mark.parametrize("peak", [2, 7, 15, 18])
@pytest.mark.parametrize("how", ["shorten", "level"])
def test_scripted_search_stops_at_the_scripted_peak(peak, how):
    trace = scripted(peak, how)
    assert trace.extra["stop"].tolist() == [peak, 20]
    assert np.flatnonzero(trace.best).tolist() == [peak]
    assert trace.n_steps == peak + 1
    assert np.array_equal(trace.extra["training"], np.arange(21))
    assert trace.extra["validation"].argmax() == peak
    assert trace.done


@pytest.mark.parametrize("how", ["peak", "aggregate"])
def test_masks_of_the_validation_runs_can_be_the_answer(how):
    trace = scripted(7, how)
    assert np.flatnonzero(trace.best).tolist() == [7]
    assert trace.extra["validation_masks"].shape == (10, 21)
    assert trace.extra["frequency"][7] == 1
    assert trace.n_evaluations == 10 * 21 + (10 if how == "peak" else 1)


def test_says_what_was_seen():
    assert scripted(7).notes[0].startswith("Overfitting seen in 10 validation runs: the held-out score peaks near")
    rising = scripted(20)
    assert rising.notes[0].startswith("No overfitting seen in 10 validation runs")
    assert rising.extra["stop"].tolist() == [18, 20]
    assert rising.n_steps == 19
    assert scripted(20, only_if_seen=True).n_steps == 21
    assert scripted(7, only_if_seen=True).n_steps == 8


# ---------------------------------------------------------------------- every stochastic search and criterion


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_contract(search, criterion, tmp_path):
    """Curves are those of runs made by hand; interrupted and resumed anywhere, the result is the same."""
    problem = make_problem(n_rows=30, n_features=5, seed=1)
    control = EarlyStopping(cv=2)
    words = {"search": SEARCHES[search], "criterion": CRITERIA[criterion]}
    calls = []
    whole = run(control, problem, on_step=lambda trace: calls.append(trace.n_steps), **words)
    x, length = whole.extra["stop"]
    assert 1 <= x <= length
    assert whole.best.shape == (5,)
    assert whole.best.any()
    assert whole.steps[-1].best_score == whole.best_score
    assert len(whole.notes) == 1
    for stop_at in (len(calls) // 2, len(calls) - 1):
        again = interrupted(control, problem, stop_at, tmp_path / f"{stop_at}.npz", **words)
        assert_same(again, whole)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("how", ["level", "peak", "aggregate"])
def test_contract_of_the_other_uses(search, how, tmp_path):
    """The curves do not depend on what is made of them; interrupted and resumed anywhere, the result is the same."""
    problem = make_problem(n_rows=30, n_features=5, seed=1)
    control = EarlyStopping(cv=2, how=how)
    calls = []
    whole = run(control, problem, SEARCHES[search], on_step=lambda trace: calls.append(trace.n_steps))
    usual = run(EarlyStopping(cv=2), problem, SEARCHES[search])
    for name in usual.extra:
        assert np.array_equal(whole.extra[name], usual.extra[name], equal_nan=True)
    for stop_at in (1, len(calls) // 2, len(calls) - 1):
        path = tmp_path / f"{stop_at}.npz"
        assert_same(interrupted(control, problem, stop_at, path, search=SEARCHES[search]), whole)


def interrupted(control, problem, stop_at, path, **words):
    count = 0

    def stop(trace):
        nonlocal count
        count += 1
        if count == stop_at:
            trace.save(path)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(control, problem, on_step=stop, **words)
    return run(control, problem, trace=Trace.load(path), **words)


def assert_same(one, other):
    assert np.array_equal(one.best, other.best)
    assert one.best_score == other.best_score
    assert one.n_evaluations == other.n_evaluations
    assert one.n_steps == other.n_steps
    assert one.notes == other.notes
    assert np.array_equal(one.top_masks, other.top_masks)
    assert one.extra.keys() == other.extra.keys()
    for name, array in one.extra.items():
        assert np.array_equal(array, other.extra[name], equal_nan=True), name
    assert [step.score for step in one.steps] == [step.score for step in other.steps]


def test_curves_are_those_of_runs_made_by_hand():
    """Fold by fold, with scikit-learn's nearest neighbor on min–max scaled columns."""
    from sklearn.neighbors import KNeighborsClassifier

    from fewer.validate import split_rows

    problem = make_problem(n_rows=50, n_features=5, seed=2)
    search, criterion = SEARCHES["annealing"], KNN(cv=4)
    trace = run(EarlyStopping(cv=4), problem, search, criterion)
    rng = np.random.default_rng(0)
    splits = split_rows(problem, 4, rng)
    seeds = rng.spawn(5)
    training, validation = [], []
    for split, seed in zip(splits, seeds[:4], strict=True):
        part, held = problem.take(split.train), problem.take(split.test)
        own = Run(criterion, part, search, SearchSpace.of(5), seed, resources=Resources()).under(None)
        training.append([step.score for step in own.steps])
        low, span = part.X.min(axis=0), np.ptp(part.X, axis=0)
        scores = []
        for step in own.steps:
            used = step.mask != 0
            neighbor = KNeighborsClassifier(1).fit(((part.X - low) / span)[:, used], part.y)
            scores.append(neighbor.score(((held.X - low) / span)[:, used], held.y))
        validation.append(scores)
    assert np.allclose(trace.extra["training"], np.mean(training, axis=0))
    assert np.allclose(trace.extra["validation"], np.mean(validation, axis=0))
    share = trace.extra["stop"][0] / trace.extra["stop"][1]
    last = Run(criterion, problem, search.shortened(share), SearchSpace.of(5), seeds[4], resources=Resources()).under(
        None
    )
    assert np.array_equal(trace.best, last.best)


def test_level_is_the_unmodified_search_cut_off():
    problem = make_problem(n_rows=40, seed=4)
    trace = run(EarlyStopping(cv=3, how="level"), problem)
    rng = np.random.default_rng(0)
    from fewer.validate import split_rows

    split_rows(problem, 3, rng)
    unmodified = run(None, problem)
    assert len(unmodified.steps) == 7
    whole = Run(
        KNN(cv=4), problem, SEARCHES["annealing"], SearchSpace.of(6), rng.spawn(4)[3], resources=Resources()
    ).under(None)
    x = int(trace.extra["stop"][0])
    assert [s.score for s in trace.steps] == [s.score for s in whole.steps[: x + 1]]


@pytest.mark.parametrize("how", ["shorten", "level", "peak", "aggregate"])
def test_weights_sizes_groups_of_columns_and_row_groups(how):
    problem = make_problem(n_rows=48, n_features=7, seed=5)
    problem = replace(problem, groups=np.arange(48) // 3)
    space = SearchSpace.of(7, sizes=(2, 3), include=[6], groups=[[0, 1]], weight_levels=4)
    trace = run(EarlyStopping(cv=3, how=how), problem, space=space)
    chosen = trace.best
    assert chosen[6] == 1
    assert chosen[0] == chosen[1]
    assert 2 <= (chosen[0] > 0) + (chosen[2:] > 0).sum() <= 3
    assert np.array_equal(chosen * 4, np.rint(chosen * 4))


def test_two_processes_change_nothing():
    problem = make_problem(n_rows=40, seed=7)
    control = EarlyStopping(cv=3)
    assert_same(run(control, problem, n_jobs=2), run(control, problem))


def test_regression_and_a_control_inside():
    problem = make_problem(n_rows=50, task="regression", seed=8)
    trace = run(EarlyStopping(cv=3, control=Prefilter(Fisher(), keep=2)), make_problem(n_rows=50, seed=8), seed=1)
    assert trace.best.sum() <= 2
    trace = run(EarlyStopping(cv=3), problem, criterion=CrossValidated(DecisionTreeRegressor(max_depth=3), cv=3))
    assert trace.best[:2].any()
    assert trace.extra["validation"].max() <= 1


def test_refusals():
    problem = make_problem()
    with pytest.raises(
        IncompatibleError, match="EarlyStopping needs a stochastic search, which can be shortened, and Forward"
    ):
        run(EarlyStopping(), problem, Forward())
    with pytest.raises(IncompatibleError, match="EarlyStopping needs a criterion that predicts rows"):
        run(EarlyStopping(), problem, criterion=Separability())
    with pytest.raises(InputError, match="The 'how' parameter of EarlyStopping must be"):
        run(EarlyStopping(how="early"), problem)
    with pytest.raises(InputError, match="window=4: the moving average needs an odd number"):
        run(EarlyStopping(cv=3, window=4), problem)


def test_joined_weights_stay_on_the_grid():
    states = np.array([[1, 0.25, 0, 0.5], [0.5, 0.25, 0, 0], [1, 0, 0.25, 0]])
    joined = join_states(states, SearchSpace.of(4, weight_levels=4), 0.5)
    assert joined.tolist() == [0.75, 0.25, 0, 0]  # 2.5 / 3 of 4 levels is 3.33 levels
    assert join_states(states, SearchSpace.of(4, sizes=(3, 4), weight_levels=4), 0.5).tolist() == [0.75, 0.25, 0.25, 0]


@pytest.mark.parametrize(("step", "length", "share"), [(5, 10, 0.5), (0, 10, 0.1), (0, 0, 1.0), (10, 10, 1.0)])
def test_the_share_of_the_effort_that_leads_to_the_peak(step, length, share):
    assert StoppingPoint(step, length, np.zeros(1), 0.0, 0.0).share == pytest.approx(share)


def test_the_peak_is_the_earliest_of_equals_and_the_fall_has_its_error():
    curves = [np.array([0.0, 1.0, 1.0, 0.5]), np.array([0.0, 1.0, 1.0, 0.7])]
    point = stopping_point(curves, window=1)
    assert (point.step, point.length) == (1, 3)
    assert point.fall == pytest.approx(0.4)
    assert point.fall_error == pytest.approx(0.1)
    assert point.smoothed.tolist() == [0.0, 1.0, 1.0, 0.6]
    assert stopping_point(curves[:1], window=1).fall_error == np.inf


def test_short_curves_go_on_with_their_last_value_and_a_window_fits():
    point = stopping_point([np.array([0.2, 0.4]), np.array([0.0, 0.2, 0.6, 0.1])], window=3)
    assert point.length == 3
    assert np.isnan(point.smoothed[[0, 3]]).all()
    assert point.smoothed[1:3] == pytest.approx([np.mean([1.0 / 3, 0.8 / 3]), np.mean([0.4, 0.3])])
    assert stopping_point([np.array([0.2, 0.4])], window=5).step in (0, 1)
    with pytest.raises(InputError, match="window=4: the moving average needs an odd number"):
        stopping_point([np.arange(9.0)], window=4)


def test_joined_states_keep_what_enough_hold_with_their_mean_weight():
    space = SearchSpace.of(4, sizes=(1, 3), weight_levels=4)
    states = np.array([[1.0, 0.5, 0.0, 0.0], [0.5, 0.0, 0.25, 0.0]])
    assert join_states(states, space, 0.5).tolist() == [0.75, 0.5, 0.25, 0.0]
    assert join_states(states, space, 0.51).tolist() == [0.75, 0.0, 0.0, 0.0]
    few = SearchSpace.of(4, sizes=(2, 2), weight_levels=4)
    assert join_states(states, few, 1.0).tolist() == [0.75, 0.5, 0.0, 0.0]
    assert join_states(states, few, 0.1).tolist() == [0.75, 0.5, 0.0, 0.0]


def test_what_is_told_of_the_validation_runs():
    masks = [np.array([[True, False, False], [True, True, False]]), np.array([[True, False, True]])]
    records = [
        {"training": np.array([0.5, 0.75]), "validation": np.array([0.5, 0.25]), "masks": masks[0]},
        {"training": np.array([0.25]), "validation": np.array([0.5]), "masks": masks[1]},
    ]
    trace = Trace()
    EarlyStopping()._explain(records, StoppingPoint(1, 1, np.zeros(2), 0.3, 0.01), trace)
    assert trace.extra["frequency"].tolist() == [1.0, 0.5, 0.5]
    assert trace.extra["training"].tolist() == [0.375, 0.5]
    assert trace.extra["stop"].tolist() == [1, 1]
    assert trace.extra["fall"].tolist() == [0.3, 0.01]
    assert trace.notes[0].startswith("Overfitting seen in 2 validation runs: the held-out score peaks near step 1")
    EarlyStopping()._explain(records, StoppingPoint(1, 1, np.zeros(2), 0.01, 0.3), trace)
    assert len(trace.notes) == 1  # a later note on overfitting replaces the earlier one
    assert "the held-out score is 0.38 at the end, and 0.01 ± 0.30 higher near step 1" in trace.notes[0]


def test_a_validation_run_is_told_by_where_it_ended():
    problem, on = make_problem(n_rows=40, seed=7), np.arange(40) % 2 == 0
    split = Split(np.flatnonzero(on), np.flatnonzero(~on))
    whole = Run(KNN(cv=4), problem, SEARCHES["annealing"], SearchSpace.of(6), np.random.default_rng(0))
    record = EarlyStopping().judged(whole, split, problem.take(split.test), np.random.default_rng(1))
    assert np.array_equal(record["best"], record["masks"][-1])
    assert record["score"] == record["training"][-1]
    assert len(record["training"]) == len(record["validation"]) == len(record["masks"]) == 7


def test_validation_runs_are_handed_out_where_there_is_more_than_one(monkeypatch):
    handed_out = []

    def run_here(function, tasks, resources, shared):
        handed_out.append(len(tasks))
        return [function(shared, *task) for task in tasks]

    monkeypatch.setattr("fewer.control._early_stopping.run_tasks", run_here)
    problem = make_problem(n_rows=40, seed=7)
    run(EarlyStopping(cv=3), problem)
    assert handed_out == []
    run(EarlyStopping(cv=3), problem, n_jobs=2)
    assert handed_out == [3]
