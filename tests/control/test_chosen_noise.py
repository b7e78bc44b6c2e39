import numpy as np
import pytest
from sklearn.datasets import load_wine

import fewer
from fewer.contracts import Resources, Run, SearchSpace
from fewer.contracts.trace import Trace
from fewer.control import ChosenNoise, Noise
from fewer.criteria import KNN
from fewer.problem import InputError
from fewer.search import Forward
from fewer.validate import split_rows

LEVELS = (0.0, 0.1, 0.4)


def slow(problem, seed, cv):
    """Search without each fold at each level; the level with the least squared loss of all held-out rows."""
    rng = np.random.default_rng(seed)
    splits = split_rows(problem, cv, rng)
    *seeds, last = rng.spawn(len(splits) + 1)
    space = SearchSpace.of(problem.n_features)
    totals = np.zeros(len(LEVELS))
    for split, own in zip(splits, seeds, strict=True):
        train, held = problem.take(split.train), problem.take(split.test)
        truth = np.eye(problem.n_classes)[held.y]
        for place, (level, each) in enumerate(zip(LEVELS, own.spawn(len(LEVELS)), strict=True)):
            run = Run(KNN(3), train, Forward(), space, each, resources=Resources(), trace=Trace())
            best = run.under(Noise(level) if level else None).best
            scorer = KNN(3).bind(train, np.random.default_rng(0), Resources())
            totals[place] += ((scorer.predict(best, held.X) - truth) ** 2).sum()
    level = LEVELS[int(np.argmin(np.round(totals, 9)))]
    run = Run(KNN(3), problem, Forward(), space, last, resources=Resources(), trace=Trace())
    return totals / problem.n_samples, level, run.under(Noise(level) if level else None).best


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(70) % 2
    X = rng.normal(size=(70, 8))
    X[:, :2] += 0.9 * y[:, None]
    problem = fewer.io.to_problem(X, y)
    run = Run(
        KNN(3), problem, Forward(), SearchSpace.of(8), np.random.default_rng(seed), resources=Resources(), trace=Trace()
    )
    trace = run.under(ChosenNoise(LEVELS, cv=3))
    losses, level, best = slow(problem, seed, 3)
    np.testing.assert_allclose(trace.extra["level_loss"], losses, atol=1e-12)
    assert trace.extra["chosen_level"].tolist() == [level]
    np.testing.assert_array_equal(trace.best, best)


def test_one_level_is_that_level_and_the_choice_is_told():
    X, y = load_wine(return_X_y=True)
    control = ChosenNoise([0.25], cv=2)
    selector = fewer.SubsetSelector(KNN(), Forward(), control=control, random_state=0).fit(X, y)
    assert selector.trace_.extra["chosen_level"].tolist() == [0.25]
    assert any("0.25 of a feature's range" in note for note in selector.trace_.notes)
    assert control.n_searches(len(y)) == 3
    # What folds say of levels is not taken for what they say of sizes.
    curve = fewer.evaluate.scores_by_size(selector, fewer.io.to_problem(X, y))
    assert len(curve["sizes"]) == len(curve["scores"]) > 0


@pytest.mark.parametrize("levels", [(), (-0.1,), ("much",), (float("nan"),)])
def test_wrong_levels_are_named(levels):
    X, y = load_wine(return_X_y=True)
    with pytest.raises((InputError, ValueError), match="levels"):
        fewer.SubsetSelector(KNN(), Forward(), control=ChosenNoise(levels), random_state=0).fit(X, y)
