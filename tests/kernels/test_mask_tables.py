import numpy as np

from fewer.contracts import Resources
from fewer.criteria import KNN
from fewer.problem import Problem


def test_more_masks_than_a_batch(monkeypatch):
    monkeypatch.setattr("fewer.criteria._knn.BATCH", 32)
    rng = np.random.default_rng(2)
    problem = Problem.from_arrays(rng.random((40, 9)), rng.integers(0, 2, 40))
    scorer = KNN().bind(problem, rng, Resources())
    masks = rng.random((100, 9)) < 0.5
    np.testing.assert_array_equal(scorer.score(masks), [scorer.score(mask[None])[0] for mask in masks])
