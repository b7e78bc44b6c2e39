import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewer import FeatureWeighter
from fewer.contracts import IncompatibleError
from fewer.control import EarlyStopping
from fewer.criteria import KNN, Separability
from fewer.models import NeighborhoodClassifier
from fewer.search import DIET, Annealing, Forward, Genetic
from making import make_problem


@parametrize_with_checks(
    [
        FeatureWeighter(search=DIET(), random_state=0),
        FeatureWeighter(search=Annealing(levels=3, effort=0.2), levels=2, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("search", [DIET(), Annealing(levels=10, answer="final"), Genetic(6, 6)])
@pytest.mark.parametrize("levels", [1, 2, 4])
def test_plain_distances_of_the_scaled_columns_are_the_weighted_ones(search, levels):
    X, y = load_wine(return_X_y=True)
    train, new = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    weighter = FeatureWeighter(search=search, levels=levels, random_state=0).fit(X[train], y[train])
    w = weighter.weights_
    assert np.array_equal(w * levels, np.rint(w * levels))
    assert weighter.score_ == weighter.trace_.best_score
    span = np.ptp(X[train], axis=0)
    a, b = X[new][:20], X[train][:20]
    by_hand = (w * ((a - b) / span) ** 2).sum(axis=1)
    assert np.allclose(((weighter.transform(a) - weighter.transform(b)) ** 2).sum(axis=1), by_hand)
    euclid = KNeighborsClassifier(1).fit(weighter.transform(X[train]), y[train]).predict(weighter.transform(X[new]))
    ours = NeighborhoodClassifier(weights=w).fit(X[train], y[train]).predict(X[new])
    assert np.array_equal(euclid, ours)


def test_nominal_columns_become_levels_that_are_w_apart():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    color = np.where(y == 1, rng.choice(["red", "blue"], 80), rng.choice(["green", "blue"], 80))
    frame = pd.DataFrame({"size": y + rng.normal(size=80), "color": color, "noise": rng.normal(size=80)})
    weighter = FeatureWeighter(search=DIET(), random_state=0).fit(frame, y)
    assert weighter.get_feature_names_out().tolist() == ["size", "color=blue", "color=green", "color=red", "noise"]
    scaled = weighter.transform(frame)
    one, other = np.flatnonzero(color == "red")[0], np.flatnonzero(color == "green")[0]
    assert np.sum((scaled[one, 1:4] - scaled[other, 1:4]) ** 2) == pytest.approx(weighter.weights_[1])
    new = frame.iloc[:2].copy()
    new.loc[0, "color"] = "violet"
    new.loc[1, "size"] = np.nan
    cells = weighter.transform(new)
    assert (cells[0, 1:4] == 0).all()
    assert np.isnan(cells[1, 0])
    model = make_pipeline(FeatureWeighter(search=DIET(), random_state=0), KNeighborsClassifier(3))
    assert cross_val_score(model, frame, y, cv=4).mean() > 0.6
    assert weighter.set_output(transform="pandas").transform(frame).columns.tolist()[1] == "color=blue"


def test_early_stopping_for_weights():
    problem = make_problem(n_rows=40, seed=2)
    search = Annealing(levels=8, effort=0.3, answer="final")
    weighter = FeatureWeighter(search=search, control=EarlyStopping(cv=3), random_state=0).fit(problem.X, problem.y)
    assert weighter.trace_.extra["validation"].shape == (9,)
    assert weighter.weights_[:2].any()


def test_refusals():
    problem = make_problem()
    with pytest.raises(
        IncompatibleError, match="Weighting needs a criterion that takes weights, not only masks, and Separab"
    ):
        FeatureWeighter(Separability()).fit(problem.X, problem.y)
    with pytest.raises(IncompatibleError, match="Forward moves on masks only, so it cannot search weights"):
        FeatureWeighter(KNN(), Forward()).fit(problem.X, problem.y)
