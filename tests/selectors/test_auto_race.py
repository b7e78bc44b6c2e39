from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from fewer import AutoSelector
from fewer.contracts import SearchSpace
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.selectors.auto._curve import Loss
from fewer.selectors.auto._race import NothingVaries, PathRace, Rounds, judged, units_in
from fewer.validate import Split, split_rows


def race(orders, space=None):
    parts = [SimpleNamespace(orders={"a ranking": np.array(order)}) for order in orders]
    return PathRace(parts[0], parts[1:], space or SearchSpace.of(4), np.array([1, 2]), None, None, np.array([0]))


def test_a_search_keeps_the_order_that_it_found_on_all_rows():
    assert race([[2, 0, 1, 3], [3, 1, 0, 2]]).order("a ranking").tolist() == [2, 0, 1, 3]


def test_the_first_units_of_a_path_are_a_mask():
    made = race([[2, 0, 1, 3]], SearchSpace.of(4, groups=[[0, 3]]))
    assert made.prefix("a ranking", 1).tolist() == [False, False, True, False]
    assert made.prefix("a ranking", 2).tolist() == [True, False, True, True]
    assert not made.prefix("a ranking", 0).any()


def test_units_come_in_the_order_of_their_first_feature_and_forced_ones_first():
    space = SearchSpace.of(6, include=[4], exclude=[5], groups=[[1, 3]])
    order = np.array([5, 3, 0, 1, 4, 2])
    assert [space.units[unit].tolist() for unit in units_in(space, order)] == [[1, 3], [0], [2]]
    made = race([order], space)
    assert [np.flatnonzero(made.prefix("a ranking", size)).tolist() for size in (1, 2, 3, 4)] == [
        [4], [1, 3, 4], [0, 1, 3, 4], [0, 1, 2, 3, 4],
    ]  # fmt: skip
    # A model is given the inputs that each size adds: forced ones first, a group at once, none that is left out.
    part = SimpleNamespace(columns=np.array([0, 1, 1, 2, 3, 4, 5]), split=None)
    steps = []
    judged(part, order, np.array([1, 2, 4]), space, lambda split, given: steps.extend(given) or [np.zeros(1)])
    assert [step.tolist() for step in steps] == [[5], [1, 2, 4], [0, 3]]
    assert units_in(SearchSpace.of(4, exclude=[1], groups=[[0, 1]]), np.arange(4)) == [0, 1]


def test_of_a_rare_class_no_size_is_allowed_at_which_models_never_answer_it():
    y = np.repeat([0, 1], [92, 8])
    problem = Problem.from_arrays(np.zeros((100, 2)), y)
    loss, held = Loss.of(problem, [Split(np.arange(0), np.arange(100))])
    assert loss.scoring == "roc_auc"
    ranked = 0.4 * y + 0.01  # ranks all rows right, and never says 1
    outputs = np.stack([1.0 - np.column_stack([ranked, y]), np.column_stack([ranked, y])], axis=2)
    free = np.array([True, True])
    space = SearchSpace.of(2)
    made = PathRace(None, [], space, np.array([1, 2]), free, loss, held, outputs={("a", "one"): outputs})
    assert loss.losses(outputs).max() == 0.0
    assert made.allowed("a").tolist() == [False, True]
    made.outputs["a", "one"] = outputs[:, ::-1]
    assert made.allowed("a").tolist() == [True, True]
    made.loss = replace(loss, scoring="balanced_accuracy")
    assert made.allowed("a") is free


def test_nothing_varies_is_an_error_to_read():
    assert issubclass(NothingVaries, InputError)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_selections_without_a_fold_share_their_parts_and_see_nothing_of_it(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 6))
    y = X[:, 1] + X[:, 4] + 0.5 * rng.normal(size=100)
    problem = Problem.from_arrays(X, y > 0 if task == "classification" else y, task=task)
    whole = AutoSelector(random_state=0, standins=False)
    whole.answer(problem, share=True)
    found = [whole.without(fold) for fold in range(5)]
    rounds = whole._shared[0]
    assert len(rounds.parts) == 16
    # Other targets in a fold change nothing of the selection without it, and something of that with it.
    fold = whole.folds_[2].test
    changed = y.copy()
    changed[fold] = rng.permutation(changed[fold] + rng.normal(size=len(fold)))
    labels = changed if task == "regression" else np.where(np.isin(np.arange(100), fold), rng.permutation(y > 0), y > 0)
    other = Rounds(replace(problem, y=Problem.from_arrays(X, labels, task=task).y), *_rest(rounds))
    again = AutoSelector(random_state=0, standins=False)
    again.metric_, again.n_samples_seen_ = whole.metric_, 80
    again._race(other, problem.take(whole.folds_[2].train), None, 2)
    assert np.array_equal(again.support_, found[2].support_)
    assert np.array_equal(again.curve_["loss"], found[2].curve_["loss"])
    assert not np.array_equal(again.curve_["loss"], whole.curve_["loss"])


def _rest(rounds):
    return rounds.splits, rounds.space, rounds.estimator, rounds.seed


def test_overlapping_and_time_ordered_splits_are_not_shared():
    X = np.random.default_rng(0).normal(size=(60, 3))
    problem = Problem.from_arrays(X, X[:, 0] > 0)
    for cv, time in ((ShuffleSplit(5, random_state=0), None), (3, None), (5, np.arange(60))):
        rows = replace(problem, time=time)
        folds = split_rows(rows, cv, np.random.default_rng(0))
        assert not AutoSelector()._can_share(rows, folds)
    assert AutoSelector()._can_share(problem, split_rows(problem, 4, np.random.default_rng(0)))
