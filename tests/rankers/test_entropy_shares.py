"""Gain ratio, symmetrical uncertainty, 1R and FCBF; the printed numbers are those of Witten and Frank's book."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import mutual_info_score

import fewer
from fewer.contracts import Resources
from fewer.models import MDLPDiscretizer
from fewer.problem import Problem
from fewer.rankers import FCBF, JMIM, GainRatio, InformationGain, OneR, SymmetricalUncertainty

WEATHER = """
sunny hot high false no / sunny hot high true no / overcast hot high false yes / rainy mild high false yes
rainy cool normal false yes / rainy cool normal true no / overcast cool normal true yes / sunny mild high false no
sunny cool normal false yes / rainy mild normal false yes / sunny mild normal true yes / overcast mild high true yes
overcast hot normal false yes / rainy mild high true no
"""
"""The weather data of Witten and Frank, Data Mining, table 1.2."""
TEMPERATURE = [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71]
HUMIDITY = [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91]


def weather():
    rows = np.array([row.split() for row in WEATHER.replace("\n", " / ").split(" / ") if row.strip()])
    return np.unique(rows[:, :4], return_inverse=True)[1].reshape(14, 4).astype(float), rows[:, 4]


def ranked(ranker, X, y, **options):
    return ranker.rank(Problem.from_arrays(X, y, **options), np.random.default_rng(0), Resources())


def test_gain_and_gain_ratio_are_those_printed_for_the_weather_data():
    X, y = weather()
    gains = ranked(InformationGain(), X, y, kinds=["nominal"] * 4).scores
    ratios = ranked(GainRatio(), X, y, kinds=["nominal"] * 4).scores
    assert gains.round(3).tolist() == [0.247, 0.029, 0.152, 0.048]
    assert ratios.round(3).tolist() == [0.156, 0.019, 0.152, 0.049]


def test_one_r_is_that_printed_for_the_weather_data():
    X, y = weather()
    errors = 14 * (1 - ranked(OneR(), X, y, kinds=["nominal"] * 4).scores)
    assert errors.round(9).tolist() == [4, 5, 4, 5]
    numbers = np.c_[TEMPERATURE, HUMIDITY].astype(float)
    assert (14 * (1 - ranked(OneR(min_bucket=3), numbers, y).scores)).round(9).tolist() == [5, 3]


def entropy(*codes):
    """Bits of what several columns say together."""
    shares = np.unique(np.column_stack(codes), axis=0, return_counts=True)[1] / len(codes[0])
    return float(-(shares * np.log2(shares)).sum())


def bins_by_mdl(x, y):
    """Cut as Fayyad and Irani do, slowly: where entropy is least, if the gain pays for writing the cut down."""
    n, best = len(y), None
    for cut in (np.unique(x)[1:] + np.unique(x)[:-1]) / 2:
        left, right = y[x < cut], y[x >= cut]
        after = (len(left) * entropy(left) + len(right) * entropy(right)) / n
        if best is None or after < best[0] - 1e-12:
            best = after, cut, left, right
    if best is None:
        return np.zeros(n, dtype=int)
    after, cut, left, right = best
    kinds, kinds_left, kinds_right = (len(np.unique(part)) for part in (y, left, right))
    price = np.log2(3**kinds - 2) - (kinds * entropy(y) - kinds_left * entropy(left) - kinds_right * entropy(right))
    if entropy(y) - after <= (np.log2(n - 1) + price) / n:
        return np.zeros(n, dtype=int)
    bins, low = np.zeros(n, dtype=int), x < cut
    bins[low] = bins_by_mdl(x[low], left)
    bins[~low] = bins[low].max() + 1 + bins_by_mdl(x[~low], right)
    return bins


def test_on_iris_they_follow_from_entropies_of_bins_cut_by_the_definition():
    X, y = load_iris(return_X_y=True)
    bins = [bins_by_mdl(x, y) for x in X.T]
    gains = np.array([entropy(b) + entropy(y) - entropy(b, y) for b in bins])
    own = np.array([entropy(b) for b in bins])
    assert ranked(InformationGain(), X, y).scores == pytest.approx(gains, rel=1e-9)
    assert ranked(GainRatio(), X, y).scores == pytest.approx(gains / own, rel=1e-9)
    assert ranked(SymmetricalUncertainty(), X, y).scores == pytest.approx(2 * gains / (own + entropy(y)), rel=1e-9)


def test_missing_cells_are_left_out_or_a_bin_of_their_own():
    X, y = weather()
    X[:3, 0] = np.nan
    kinds = ["nominal"] * 4
    assert ranked(GainRatio(), X, y, kinds=kinds).scores[0] == ranked(GainRatio(), X[3:], y[3:], kinds=kinds).scores[0]
    filled = X.copy()
    filled[:3, 0] = 3.0
    assert ranked(OneR(), X, y, kinds=kinds).scores[0] == ranked(OneR(), filled, y, kinds=kinds).scores[0]


def test_row_weights_are_copies():
    X, y = weather()
    copies = np.arange(14) % 3 + 1
    for ranker in (GainRatio(), SymmetricalUncertainty(), OneR()):
        once = ranked(ranker, X, y, kinds=["nominal"] * 4, sample_weight=copies).scores
        again = ranked(ranker, np.repeat(X, copies, 0), np.repeat(y, copies), kinds=["nominal"] * 4).scores
        assert once == pytest.approx(again)


def uncertainty(one, other):
    own = mutual_info_score(one, one) + mutual_info_score(other, other)
    return 2 * mutual_info_score(one, other) / own if own else 0.0


def test_fcbf_rules_out_as_the_slow_one_does():
    X, y = load_breast_cancer(return_X_y=True)
    codes = MDLPDiscretizer().fit(X, y).transform(X).T
    relevance = np.array([uncertainty(own, y) for own in codes])
    left = [f for f in np.argsort(-relevance, kind="stable") if relevance[f] > 0.1]
    kept = []
    while left:
        best = left.pop(0)
        kept.append(int(best))
        left = [f for f in left if uncertainty(codes[best], codes[f]) < relevance[f]]
    ranking = ranked(FCBF(0.1), X, y)
    assert ranking.scores == pytest.approx(relevance)
    assert ranking.order[: len(kept)].tolist() == kept
    selector = fewer.RankSelector(FCBF(0.1)).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == sorted(kept)
    assert 1 < len(kept) < 15


def test_fcbf_takes_quantities_levels_and_holes():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(80, 2)), rng.integers(0, 3, 80)]
    y = X[:, 0] + X[:, 2]
    X[:5, 0] = np.nan
    ranking = ranked(FCBF(), X, y, task="regression", kinds=["numeric", "numeric", "nominal"])
    assert set(ranking.order[:2].tolist()) == {0, 2}


def test_jmim_maximises_the_least_joint_information():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(120, 6)).astype(float)
    y = (X[:, 0] + X[:, 1] > X[:, 2] + rng.integers(0, 2, 120)).astype(int)
    order = [int(np.argmax([mutual_info_score(own, y) for own in X.T]))]
    while len(order) < 6:
        values = np.full(6, -1.0)
        for f in set(range(6)) - set(order):
            values[f] = min(mutual_info_score(3 * X[:, f] + X[:, s], y) for s in order)
        order.append(int(np.argmax(values)))
    assert ranked(JMIM(), X, y).order.tolist() == order
