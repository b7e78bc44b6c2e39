import numpy as np
import pytest

import fewer
from fewer.contracts import IncompatibleError, Resources, Run, SearchSpace
from fewer.contracts.trace import Step, Trace
from fewer.control import OneStandardError
from fewer.control._one_standard_error import best_up_to, loss_curve, squared_loss
from fewer.criteria import KNN, LeastSquares, Separability
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.search import Annealing, Exhaustive, Floating, Forward
from making import make_problem


def run(problem, search, control, criterion=None, seed=0, **kwargs):
    space = SearchSpace.of(problem.n_features)
    return Run(
        criterion or LeastSquares(),
        problem,
        search,
        space,
        np.random.default_rng(seed),
        resources=Resources(),
        **kwargs,
    ).under(control)


def test_the_rule_on_a_made_table():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=400)
    # Sizes 2 and 3 differ by noise of their own, size 1 is far worse for every row.
    losses = np.column_stack([noise + 1.0, noise + 0.01 * rng.normal(size=400), noise - 0.0001])
    curve = loss_curve(losses, np.ones(400))
    behind = losses - losses[:, [int(np.argmin(losses.mean(axis=0)))]]
    assert curve["behind"] == pytest.approx(behind.mean(axis=0))
    assert curve["error"] == pytest.approx(behind.std(axis=0, ddof=1) / 20)
    within = curve["behind"] <= curve["error"]
    assert within.tolist() == [False, True, True]


def test_row_weights_count_like_repeated_rows():
    rng = np.random.default_rng(1)
    losses, times = rng.normal(size=(30, 4)), rng.integers(1, 4, 30)
    one, other = (
        loss_curve(losses, times.astype(float)),
        loss_curve(np.repeat(losses, times, axis=0), np.ones(times.sum())),
    )
    assert one["loss"] == pytest.approx(other["loss"])
    assert one["behind"] == pytest.approx(other["behind"])


def test_the_best_subset_of_at_most_each_size():
    trace = Trace()
    for members, score in (([0], 0.5), ([0, 1], 0.4), ([1, 2, 3], 0.9), ([2, 3], 0.7)):
        mask = np.isin(np.arange(4), members)
        trace.record(Step(mask, score, mask, score))
    found = [(size, np.flatnonzero(mask).tolist()) for size, mask in best_up_to(trace, SearchSpace.of(4))]
    assert found == [(1, [0]), (2, [2, 3]), (3, [1, 2, 3])]


def test_losses_of_classes_and_quantities():
    classes = Problem.from_arrays(np.zeros((2, 1)), ["a", "b"])
    assert squared_loss(np.array([[1.0, 0.0], [0.75, 0.25]]), classes).tolist() == [0.0, 2 * 0.75**2]
    numbers = Problem.from_arrays(np.zeros((2, 1)), [1.0, 2.5], task="regression")
    assert squared_loss(np.array([1.0, 2.0]), numbers).tolist() == [0.0, 0.25]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_noise_stays_out(task):
    extras, missed = {"plain": 0, "thrifty": 0}, 0
    for seed in range(10):
        problem = make_problem(n_rows=120, n_features=20, n_informative=3, seed=seed, task=task)
        for name, control in (("plain", None), ("thrifty", OneStandardError())):
            chosen = np.flatnonzero(run(problem, Floating(), control, seed=seed).best)
            extras[name] += int((chosen > 2).sum())
            missed += int(3 - (chosen <= 2).sum())
    assert missed <= 2  # of 60
    assert extras["thrifty"] <= extras["plain"] / 3


def test_each_row_is_judged_by_searches_that_did_not_see_it():
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.normal(size=(60, 40)), np.arange(60) % 2)
    trace = run(problem, Floating(), OneStandardError(), KNN(3))
    assert trace.best_score > trace.extra["heldout"].max() + 0.1  # the search believes in noise, held-out rows do not
    assert len(trace.extra["sizes"]) == len(trace.extra["loss"]) == len(trace.extra["loss_error"])


@pytest.mark.parametrize("search", [Forward(), Exhaustive(), Annealing(levels=5), Floating(exhaust=2)], ids=repr)
def test_searches_interrupted_and_resumed_end_alike(search, tmp_path):
    problem = make_problem(n_rows=50, n_features=6)
    whole = run(problem, search, OneStandardError(cv=3), KNN())
    trace = Trace()

    def stop(latest):
        if latest.n_steps == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(problem, search, OneStandardError(cv=3), KNN(), follower=stop, trace=trace)
    trace.save(tmp_path / "trace.npz")
    again = run(problem, search, OneStandardError(cv=3), KNN(), trace=Trace.load(tmp_path / "trace.npz"))
    assert np.array_equal(again.best, whole.best)
    assert again.best_score == whole.best_score
    assert again.n_evaluations == whole.n_evaluations
    assert again.notes == whole.notes


def test_sizes_asked_for_and_groups_are_kept():
    problem = make_problem(n_rows=80, n_features=8)
    selector = fewer.SubsetSelector(
        LeastSquares(),
        Floating(),
        control=OneStandardError(),
        n_features_to_select=(3, 5),
        feature_groups=[[0, 7]],
        random_state=0,
    ).fit_problem(problem)
    units = int(selector.support_.sum()) - int(selector.support_[7])
    assert 3 <= units <= 5
    assert selector.support_[0] == selector.support_[7]


def test_refusals():
    problem = make_problem()
    with pytest.raises(IncompatibleError, match="predict"):
        run(problem, Forward(), OneStandardError(), Separability())
    with pytest.raises(InputError, match="n_errors"):
        run(problem, Forward(), OneStandardError(n_errors=-1))


def test_a_larger_subset_that_is_no_better_is_left_out():
    trace = Trace()
    for columns, score in (([0], 0.5), ([0, 1], 0.5), ([0, 1, 2], 0.4), ([1, 2, 3, 4], 0.6), ([0, 1, 2, 3, 4], 0.55)):
        mask = np.isin(np.arange(5), columns)
        trace.record(Step(mask, score, mask, score))
    found = [(size, np.flatnonzero(mask).tolist()) for size, mask in best_up_to(trace, SearchSpace.of(5))]
    assert found == [(1, [0]), (4, [1, 2, 3, 4])]
    within = [size for size, _ in best_up_to(trace, SearchSpace.of(5, sizes=(2, 3)))]
    assert within == [2]
