import numpy as np

from fewer.contracts import Resources, gray_states
from fewer.criteria import KNN
from fewer.kernels import nearest as kernels
from fewer.kernels.bundles import Doubt
from fewer.problem import Problem
from neighbor_twins import twin_score


def test_what_lies_within_the_doubt_is_unsure():
    doubt = Doubt(rough=4.0, steep=0.0, used=0.0)
    near = np.array([100, 105, 300], dtype=np.int32)
    assert kernels.verdict(near, 0, False, doubt) == kernels.RIGHT
    assert kernels.verdict(near, 1, False, doubt) == kernels.WRONG
    tied = np.array([100, 300, 100], dtype=np.int32)
    assert kernels.verdict(tied, 0, False, doubt) == kernels.UNSURE
    # Two other classes at the same distance: the nearest row decides, but distances do not.
    assert kernels.verdict(tied, 1, True, doubt) == kernels.WRONG
    assert kernels.verdict(tied, 1, False, doubt) == kernels.UNSURE


def test_coarse_distances_leave_hard_cases_to_exact_ones():
    """Values that float32 cannot tell apart, outliers that hit the clip, training rows much narrower than the rest."""
    rng = np.random.default_rng(4)
    near = 1.0 + rng.integers(0, 50, (40, 1)) * 1e-9
    near[0] = 2.0
    far = rng.normal(size=(40, 1))
    far[:2] = 1e7
    offset = 1e9 + rng.integers(0, 9, (40, 1))
    problem = Problem.from_arrays(np.hstack([near, far, offset]), rng.integers(0, 2, 40))
    for cv in ("loo", 4):
        scorer = KNN(cv=cv).bind(problem, np.random.default_rng(0), Resources())
        masks = gray_states(np.arange(8), 3)
        np.testing.assert_allclose(scorer.score(masks), [twin_score(scorer, mask) for mask in masks], atol=1e-12)
