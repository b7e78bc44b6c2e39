import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from scipy.stats import rankdata, spearmanr

from fewer import RankSelector
from fewer.contracts import Resources
from fewer.plots import AgreementDisplay, RankingDisplay, RedundancyDisplay
from fewer.plots._rankings import readable_on
from fewer.rankers import Fisher
from fewer.validate import assign_folds, nogueira
from making import make_problem


def test_ranking_bars_are_the_scores_best_first():
    problem = make_problem()
    selector = RankSelector(Fisher(), n_features_to_select=2).fit(problem.X, problem.y)
    display = RankingDisplay.from_estimator(selector, top=4, ax=Figure().subplots())
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx(sorted(selector.scores_)[::-1][:4])
    assert display.chosen == 2
    assert display.names[:2] == [f"x{i}" for i in np.argsort(-selector.scores_)[:2]]


def test_resamples_give_spread_and_stability():
    problem = make_problem()
    shown = RankingDisplay.from_resamples(Fisher(), problem.X, problem.y, n_resamples=6, chosen=2, random_state=3)
    rng, ranks = np.random.default_rng(3), []
    for _ in range(6):
        half = problem.take(assign_folds(problem, 2, rng) == 0)
        ranks.append(rankdata(-Fisher().rank(half, rng, Resources()).scores))
    mean, spread = np.mean(ranks, axis=0), np.std(ranks, axis=0)
    order = np.argsort(mean, kind="stable")
    ax = shown.plot(Figure().subplots()).ax_
    assert shown.names == [problem.names[i] for i in order]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(problem.n_features - mean[order])
    segments = ax.collections[0].get_segments()
    assert [(high - low) / 2 for (low, _), (high, _) in segments] == pytest.approx(spread[order])
    stability = nogueira(np.array(ranks) <= 2).estimate
    assert ax.get_title() == f"stability of the first 2: {stability:.2f}"


@pytest.mark.parametrize(("color", "ink"), [((1, 1, 1, 1), "black"), ((0, 0.13, 0.31, 1), "white")])
def test_numbers_can_be_read_on_their_cells(color, ink):
    assert readable_on(color) == ink


def test_agreement_is_spearmans_correlation():
    rng = np.random.default_rng(0)
    rankings = {name: rng.permutation(12) for name in "abc"}
    display = AgreementDisplay.from_rankings(rankings).plot(Figure().subplots())
    truth = spearmanr(np.array(list(rankings.values())).T).statistic
    assert display.correlation == pytest.approx(truth)
    assert np.asarray(display.ax_.images[0].get_array()) == pytest.approx(truth)
    assert {text.get_text() for text in display.ax_.texts} == {f"{value:.2f}" for value in truth.ravel()}


def test_redundancy_is_drawn_as_it_is_measured():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    X[:, 1] = -(X[:, 0] ** 3)
    X[:5, 1] = np.nan
    X[:, 2] = 7.0
    display = RedundancyDisplay.from_table(X).plot(Figure().subplots())
    truth = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert np.asarray(display.ax_.images[0].get_array()) == pytest.approx(truth)
    assert [text.get_text() for text in display.ax_.texts] == [f"{value:.2f}" for value in truth.ravel()]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["x0", "x1", "x2"]


def test_redundancy_of_what_a_selector_chose():
    frame = pl.DataFrame({"a": [1.0, 2, 3, 4, 5, 6], "b": [6.0, 5, 4, 3, 2, 1], "$c$": [1.0, 6, 2, 5, 3, 4]})
    selector = RankSelector(Fisher(), n_features_to_select=2).fit(frame, [0, 0, 0, 1, 1, 1])
    display = RedundancyDisplay.from_estimator(selector, frame, ax=Figure().subplots())
    assert display.names == ["a", "b"]
    assert display.values.tolist() == [[1, 1], [1, 1]]
