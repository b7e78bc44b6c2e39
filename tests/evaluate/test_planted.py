import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import hypergeom
from sklearn.datasets import load_breast_cancer

import fewer
from fewer.contracts import Ranker, Ranking, Resources
from fewer.criteria import KNN
from fewer.evaluate import luck_of_best, plant, planted_counts, planted_selection, search_overfitting
from fewer.problem import InputError, Problem
from fewer.rankers import Fisher, InformationGain
from fewer.report import selection_report
from making import make_problem


class ByChance(Ranker):
    """A random order."""

    def rank(self, problem, rng, resources):
        return Ranking.by_score(rng.random(problem.n_features))


def test_irrelevant_features_are_drawn_as_asked():
    problem = make_problem(4000, 2)
    planted = plant(problem, np.random.default_rng(0), irrelevant=["binary", 4, 8, "continuous"])
    added = planted.problem.X[:, 2:]
    assert [len(np.unique(column)) for column in added.T[:3]] == [2, 4, 8]
    for column, n_values in zip(added.T, (2, 4, 8), strict=False):
        assert np.bincount(column.astype(int)) / 4000 == pytest.approx(np.full(n_values, 1 / n_values), abs=0.03)
    assert added[:, 3].mean() == pytest.approx(0, abs=0.06)
    assert added[:, 3].std() == pytest.approx(1, abs=0.05)
    assert (planted.problem.X[:, :2] == problem.X).all()
    assert planted.added.tolist() == [False] * 2 + [True] * 4


@pytest.mark.parametrize("ratio", [10, 50, 80])
def test_copies_have_the_signal_to_noise_ratio(ratio):
    problem = make_problem(20000, 2, seed=1)
    planted = plant(problem, np.random.default_rng(0), redundant={1: [ratio]})
    noise = planted.problem.X[:, 2] - problem.X[:, 1]
    assert problem.X[:, 1].var() / noise.var() == pytest.approx(ratio, rel=0.05)
    assert abs(np.corrcoef(noise, problem.X[:, 1])[0, 1]) < 0.03
    assert planted.source.tolist() == [0, 1, 1]


def test_copies_of_nominal_features_and_of_holes():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 3, 5000), rng.normal(size=5000)]).astype(float)
    X[:100] = np.nan
    problem = Problem.from_arrays(X, np.arange(5000) % 2, kinds=["nominal", "numeric"], names=["color", "size"])
    planted = plant(problem, rng, redundant={"color": [4.0], "size": [4.0]})
    assert planted.problem.kinds == ("nominal", "numeric", "nominal", "numeric")
    assert planted.problem.names[2:] == ("color~4", "size~4")
    assert np.isnan(planted.problem.X[:100]).all()
    assert set(np.unique(planted.problem.X[100:, 2])) == {0, 1, 2}
    changed = (planted.problem.X[100:, 2] != X[100:, 0]).mean()
    assert changed == pytest.approx(0.2 * 2 / 3, abs=0.02)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 1000))
def test_counts_and_chance(n_features, n_added, seed):
    problem = make_problem(10, n_features, 1, seed)
    rng = np.random.default_rng(seed)
    planted = plant(problem, rng, irrelevant=n_added)
    order = rng.permutation(n_features + n_added)
    slow = [sum(feature >= n_features for feature in order[:k]) for k in range(1, len(order) + 1)]
    assert planted.kept(order).tolist() == slow
    counts = np.arange(n_added + 1)
    whole = n_features + n_added
    expected = [counts @ hypergeom.pmf(counts, whole, n_added, k) for k in range(1, whole + 1)]
    assert planted.chance() == pytest.approx(expected)
    assert planted.n_original == n_features


def test_a_random_order_keeps_what_chance_says_and_good_rankers_less():
    X, y = load_breast_cancer(return_X_y=True)
    problem = Problem.from_arrays(X, y)
    words = {"chance": ByChance(), "Fisher": Fisher(), "gain": InformationGain("mdlp")}
    counts = planted_counts(words, problem, irrelevant=20, n_rounds=30, rng=np.random.default_rng(0))
    assert counts.chance[29] == pytest.approx(12)
    assert counts.at()["chance"].mean() == pytest.approx(12, abs=1.5)
    assert counts.at()["gain"].mean() < 1 < counts.at()["Fisher"].mean() < 6
    assert counts.mean.shape == (3, 50)
    low, high = counts.chance_band(0.9)
    inside = (counts.kept[0] >= low) & (counts.kept[0] <= high)
    assert inside.mean() > 0.85
    assert (counts.at(50)["Fisher"] == 20).all()


def test_a_selection_counts_random_columns_and_copies_apart():
    """Columns are told by their contents: those of a copy are correlated with what it copies, random ones are not."""
    problem = make_problem(500, 4)

    def choose(wider):
        likeness = np.abs(np.corrcoef(wider.X, rowvar=False)[:4]).max(axis=0)
        chosen.append((likeness < 0.5).sum())
        return likeness < 0.5

    chosen = []
    found = planted_selection(choose, problem, [0, 2], 7, np.random.default_rng(0))
    assert chosen == [7]
    assert found == {"random": 7, "copies": 6, "random_selected": 7, "copies_selected": 0, "columns": 17, "selected": 7}
    everything = planted_selection(lambda wider: np.ones(17), problem, [0, 2], 7, np.random.default_rng(0))
    assert (everything["random_selected"], everything["copies_selected"], everything["selected"]) == (7, 6, 17)


def test_a_run_says_what_became_of_planted_columns():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    few = fewer.select(X, y, "fisher", n_features_to_select=12, planted=40, cv=0, random_state=0)
    noise = np.random.default_rng(0).normal(size=(200, 10))
    blind = fewer.select(noise, y[:200], "fisher", n_features_to_select=8, planted=40, cv=0, random_state=0)
    assert few.evidence["planted"]["random_selected"] == 0  # the best twelve are far above noise
    assert few.evidence["planted"]["copies_selected"] >= 4  # Fisher's ratio does not see that columns repeat each other
    assert blind.evidence["planted"]["random_selected"] > 0  # where nothing tells anything
    assert "With 40 random columns and 9 noisy copies" in str(few)
    assert "tell signal from noise here?" in selection_report(few)
    sparse = fewer.select(csr_array(X), y, "fisher", n_features_to_select=12, planted=40, cv=0, random_state=0)
    assert sparse.evidence["planted"] == few.evidence["planted"]
    # What cannot be checked is said, and the answer stands: there is a price for each column, but none for new ones.
    priced = fewer.select(X, y, "knn-forward", feature_costs=np.ones(30), planted=1, cv=0, random_state=0)
    assert priced.features
    assert "No check with planted columns: " in priced.planted
    plain = fewer.select(X, y, "fisher", n_features_to_select=5, cv=0, random_state=0)
    assert plain.planted == ""
    assert "tell signal from noise here?" not in selection_report(plain)


@pytest.mark.parametrize(("n", "p"), [(60, 10), (200, 10), (200, 100)])
def test_the_luck_of_the_best_feature_is_that_of_noise(n, p):
    """The best cross-validated accuracy of a column of noise, and the best squared correlation, over 30 tables."""
    rng = np.random.default_rng(0)
    accuracies, correlations = [], []
    for _ in range(30):
        X, y = rng.normal(size=(n, p)), rng.permutation(np.arange(n) % 2)
        scorer = KNN(5).bind(Problem.from_arrays(X, y), rng, Resources())
        scores = scorer.score(np.eye(p, dtype=bool))
        accuracies.append(scores.max() - scores.mean())
        correlations.append(np.corrcoef(X, y, rowvar=False)[-1, :-1].max() ** 2)
    assert luck_of_best(Problem.from_arrays(X, y)) == pytest.approx(np.mean(accuracies), rel=0.35)
    quantity = Problem.from_arrays(X, rng.normal(size=n))
    assert luck_of_best(quantity) == pytest.approx(np.mean(correlations), rel=0.6)


def test_names_do_not_clash_and_nonsense_is_refused():
    problem = Problem.from_arrays(np.eye(4), [0, 1, 0, 1], names=["irrelevant1", "a", "a~10", "b"])
    planted = plant(problem, np.random.default_rng(0), irrelevant=1, redundant={"a": [10]})
    assert len(set(planted.problem.names)) == 6
    for options, message in (
        ({"irrelevant": ["wild"]}, "'wild' is not known"),
        ({"irrelevant": [1]}, "above 1"),
        ({"redundant": {"c": [1]}}, "redundant names 'c', not a feature"),
        ({"redundant": {9: [1]}}, "redundant names feature 9, but features go from 0 to 3"),
        ({"redundant": {"a": [0]}}, "ratio of 0"),
    ):
        with pytest.raises(InputError, match=message):
            plant(problem, np.random.default_rng(0), **options)


def test_features_to_copy_are_named_or_numbered_as_everywhere():
    problem = make_problem(n_features=8)
    with pytest.raises(InputError, match="redundant names 'y', not a feature; the columns are 'x0', 'x1'"):
        plant(problem, np.random.default_rng(0), redundant={"y": [1.0]})
    with pytest.raises(InputError, match="redundant names feature 8, but features go from 0 to 7"):
        plant(problem, np.random.default_rng(0), redundant={8: [1.0]})
    last = plant(problem, np.random.default_rng(0), redundant={-1: [4.0]})
    assert np.array_equal(last.problem.X, plant(problem, np.random.default_rng(0), redundant={"x7": [4.0]}).problem.X)


def test_searches_overfit_shuffled_targets_the_more_the_fewer_rows_and_the_more_columns():
    rng = np.random.default_rng(0)

    def gap(n_rows, n_features):
        y = np.arange(n_rows) % 2
        problem = Problem.from_arrays(rng.normal(size=(n_rows, n_features)) + 2.0 * y[:, None], y)
        return search_overfitting(problem, n_rounds=8, rng=np.random.default_rng(1))

    narrow, wide, long = gap(60, 2), gap(60, 30), gap(600, 2)
    assert wide.gap > narrow.gap + 0.05
    assert narrow.gap > long.gap
    for found in (narrow, wide, long):  # a shuffled target is a coin, whatever the features say of the true one
        assert found.fresh == pytest.approx(0.5, abs=0.12)
    assert (wide.n_rows, wide.n_features) == (30, 30)


def test_columns_that_repeat_each_other_overfit_less_than_simulated_ones():
    y = np.arange(60) % 2
    column = np.random.default_rng(0).normal(size=(60, 1))
    copies = Problem.from_arrays(np.repeat(column, 30, axis=1), y)
    own, drawn = (search_overfitting(copies, simulated=s, rng=np.random.default_rng(2)) for s in (False, True))
    noise = Problem.from_arrays(np.random.default_rng(1).normal(size=(60, 30)), y)
    assert drawn.gap > own.gap + 0.05
    assert drawn.gap == pytest.approx(search_overfitting(noise, rng=np.random.default_rng(2)).gap, abs=0.15)
    values = Problem.from_arrays(column, column[:, 0])
    assert search_overfitting(values, simulated=True, rng=np.random.default_rng(0)).n_features == 1
