import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_diabetes, load_wine

import fewer
from fewer.contracts import IncompatibleError, Resources
from fewer.criteria import LeastSquares
from fewer.problem import Problem
from fewer.search import BestSubset, Forward


def scores(score, X, y, masks, **options):
    problem = Problem.from_arrays(X, y, task="regression", **options)
    scorer = LeastSquares(alpha=1e-12, score=score).bind(problem, np.random.default_rng(0), Resources())
    return scorer.score(np.array(masks, dtype=bool))


def test_they_order_subsets_as_statsmodels_does():
    X, y = load_diabetes(return_X_y=True)
    X = X[:, :5]
    masks = [[1, 0, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [1, 1, 1, 1, 1]]
    fits = [sm.OLS(y, sm.add_constant(X[:, np.array(mask, dtype=bool)])).fit() for mask in masks]
    n = len(y)
    constant = n * np.log(2 * np.pi) + n  # the part of −2 log likelihood that all fits share
    assert scores("aic", X, y, masks) == pytest.approx([constant + 2 - fit.aic for fit in fits], rel=1e-6)
    assert scores("bic", X, y, masks) == pytest.approx([constant + np.log(n) - fit.bic for fit in fits], rel=1e-6)
    assert scores("adjusted_r2", X, y, masks) == pytest.approx([fit.rsquared_adj for fit in fits], rel=1e-6)
    noise = fits[-1].ssr / (n - 6)
    cp = [-(fit.ssr / noise - n + 2 * (sum(mask) + 1)) for fit, mask in zip(fits, masks, strict=True)]
    assert scores("cp", X, y, masks) == pytest.approx(cp, rel=1e-6, abs=1e-6)
    assert scores("cp", X, y, masks)[-1] == pytest.approx(-6)


def test_searches_work_with_them_and_weights_count_as_shares():
    X, y = load_diabetes(return_X_y=True)
    for score in ("aic", "bic", "cp", "adjusted_r2"):
        for search in (Forward(), BestSubset()):
            selector = fewer.SubsetSelector(LeastSquares(score=score), search, random_state=0).fit(X, y)
            assert selector.support_[[2, 8]].all()
            assert selector.support_.sum() < 10
    whole = scores("bic", X, y, [[1] * 10], sample_weight=np.full(len(y), 3.0))
    assert whole == pytest.approx(scores("bic", X, y, [[1] * 10]))


def test_classes_work_and_folds_are_refused():
    X, y = load_wine(return_X_y=True)
    selector = fewer.SubsetSelector(LeastSquares(score="bic"), Forward(), random_state=0).fit(X, y)
    assert 3 <= selector.support_.sum() < 13
    with pytest.raises(IncompatibleError, match="score='aic' is that of one fit to all rows; leave cv out"):
        fewer.SubsetSelector(LeastSquares(score="aic", cv=5)).fit(X, y)
