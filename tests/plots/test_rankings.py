import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from fewer import RankSelector
from fewer.plots import AgreementDisplay, RankingDisplay, RedundancyDisplay
from fewer.rankers import Fisher
from making import make_problem


def test_ranking_bars_are_the_scores_best_first():
    problem = make_problem()
    selector = RankSelector(Fisher(), n_features_to_select=2).fit(problem.X, problem.y)
    display = RankingDisplay.from_estimator(selector, top=4).plot(Figure().subplots())
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx(sorted(selector.scores_)[::-1][:4])
    assert display.chosen == 2
    assert display.names[:2] == [f"x{i}" for i in np.argsort(-selector.scores_)[:2]]


def test_agreement_is_spearmans_correlation():
    rng = np.random.default_rng(0)
    rankings = {name: rng.permutation(12) for name in "abc"}
    display = AgreementDisplay.from_rankings(rankings).plot(Figure().subplots())
    truth = spearmanr(np.array(list(rankings.values())).T).statistic
    assert display.correlation == pytest.approx(truth)
    assert np.asarray(display.ax_.images[0].get_array()) == pytest.approx(truth)
    assert {text.get_text() for text in display.ax_.texts} == {f"{value:.2f}" for value in truth.ravel()}


def test_redundancy_leaves_holes_out_and_constant_columns_alone():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    X[:, 1] = -(X[:, 0] ** 3)
    X[:5, 1] = np.nan
    X[:, 2] = 7.0
    display = RedundancyDisplay.from_table(X, ["a", "b", "$c$"]).plot(Figure().subplots())
    assert display.correlation == pytest.approx(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))
