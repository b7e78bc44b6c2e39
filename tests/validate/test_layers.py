import numpy as np

from fewer.contracts import Resources
from fewer.criteria import KNN
from fewer.problem import Problem
from fewer.validate import LayeredFolds
from making import make_problem


def test_layers_nest_and_never_touch_the_test_rows():
    problem = make_problem(n_rows=200)
    layers = list(LayeredFolds().split(problem, np.random.default_rng(0)))
    assert len(layers) == 10
    assert sorted(np.concatenate([layer.test for layer in layers])) == list(range(200))
    for layer in layers:
        assert sorted([*layer.train, *layer.test]) == list(range(200))
        assert sorted(np.concatenate([inner.test for inner in layer.inner])) == sorted(layer.train)
        for inner in layer.inner:
            assert sorted([*inner.train, *inner.test]) == sorted(layer.train)
            assert len(inner.train) == 162
            assert len(inner.folds) == 162
            assert np.bincount(inner.folds).tolist() == [17, 17] + [16] * 8


def test_every_layer_is_stratified():
    problem = make_problem(n_rows=200)
    for layer in LayeredFolds(5, 4, 3).split(problem, np.random.default_rng(1)):
        assert problem.y[layer.test].mean() == 0.5
        for inner in layer.inner:
            assert problem.y[inner.test].mean() == 0.5
            assert abs(problem.y[inner.train][inner.folds == 0].mean() - 0.5) < 0.05


def test_row_groups_are_whole_in_every_layer():
    groups = np.arange(120) // 3
    problem = Problem.from_arrays(np.zeros((120, 1)), np.arange(120) % 2, groups=groups)
    for layer in LayeredFolds(4, 3, 3).split(problem, np.random.default_rng(0)):
        for part in (layer, *layer.inner):
            assert not set(groups[part.train]) & set(groups[part.test])
            of_train = groups[part.train]
            for group in set(of_train):
                assert len(set(part.folds[of_train == group])) == 1


def test_a_later_layer_does_not_need_the_earlier_ones():
    problem = make_problem(n_rows=60)
    full = list(LayeredFolds(3, 3, 3).split(problem, np.random.default_rng(0)))
    lazy = LayeredFolds(3, 3, 3).split(problem, np.random.default_rng(0))
    next(lazy), next(lazy)
    third = next(lazy)
    assert np.array_equal(third.inner[2].train, full[2].inner[2].train)
    assert np.array_equal(third.folds, full[2].folds)


def test_the_training_layer_serves_a_criterion():
    problem = make_problem(n_rows=60)
    layer = next(LayeredFolds(3, 3, 4).split(problem, np.random.default_rng(0)))
    scorer = KNN(cv=layer.cv).bind(problem.take(layer.train), np.random.default_rng(0), Resources())
    assert np.array_equal(scorer._exact.fold, layer.folds)
