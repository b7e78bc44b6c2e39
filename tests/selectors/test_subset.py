from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import check_estimator

from fewer import AutoSelector, FeatureWeighter, RankSelector, SubsetEnsemble, SubsetSelector
from fewer.control import Aggregate, OneStandardError, Prefilter
from fewer.criteria import KNN, CrossValidated, LeastSquares
from fewer.errors import InputError
from fewer.rankers import Fisher
from fewer.roc import Parcel
from fewer.search import DIET, Annealing, Backward, Exhaustive, Floating, Forward
from fewer.selectors._rank import one_standard_error
from making import make_problem


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    "selector",
    [
        SubsetSelector(),
        SubsetSelector(KNN(), Floating()),
        SubsetSelector(KNN(), Annealing(levels=3, effort=0.5), control=Aggregate(n_runs=2)),
        SubsetSelector(CrossValidated(LogisticRegression(), cv=2), Forward()),
        SubsetSelector(LeastSquares(), Floating(), control=OneStandardError(cv=2)),
        AutoSelector(budget=0.3),
        RankSelector(),
        RankSelector(Fisher(), n_features_to_select=1),
    ],
    ids=lambda s: " ".join(repr(s).split()),
)
def test_scikit_learn_checks(selector):
    check_estimator(selector)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_frames_names_and_output(wine):
    X, y = wine
    selector = SubsetSelector(KNN(), Forward(), n_features_to_select=3, random_state=0).fit(X, y)
    names = selector.get_feature_names_out().tolist()
    assert len(names) == 3
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    assert selector.set_output(transform="pandas").transform(X).columns.tolist() == names
    assert selector.set_output(transform="polars").transform(X).columns == names
    plain = SubsetSelector(KNN(), Forward(), n_features_to_select=3, random_state=0).fit(X.to_numpy(), y)
    assert np.array_equal(plain.support_, selector.support_)
    back = plain.inverse_transform(plain.transform(X.to_numpy()))
    assert np.array_equal(back[:, plain.support_], X.to_numpy()[:, plain.support_])
    assert (back[:, ~plain.support_] == 0).all()


def test_every_container_gives_the_same_selection():
    rows = make_problem(n_features=5, seed=3)
    labels = np.where(rows.y == 1, "yes", "no")
    columns = {f"c{i}": rows.X[:, i] for i in range(5)}
    given = [rows.X, rows.X.tolist(), pd.DataFrame(columns), pl.DataFrame(columns), sparse.csr_array(rows.X)]
    supports = [SubsetSelector(random_state=1).fit(X, labels).support_.tolist() for X in given]
    assert all(support == supports[0] for support in supports)


def test_strings_categories_booleans_and_holes_in_a_frame():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 80)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=80),
            "color": pd.Categorical(np.where(y == "a", rng.choice(["red", "blue"], 80), "green")),
            "flag": rng.random(80) < 0.5,
            "text": rng.choice(["x", "y", None], 80),
        }
    )
    frame.loc[3, "noise"] = np.nan
    selector = SubsetSelector(KNN(), Exhaustive(), random_state=0).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["color"]
    linear = SubsetSelector(CrossValidated(LogisticRegression()), Forward(), random_state=0).fit(frame, y)
    assert "color" in linear.get_feature_names_out()
    assert RankSelector(Fisher(), n_features_to_select=1).fit(frame, y).get_feature_names_out().tolist() == ["color"]


def test_pipeline_clone_and_grid_search(wine):
    X, y = wine
    model = make_pipeline(MinMaxScaler(), SubsetSelector(KNN(), Forward(), random_state=0), KNeighborsClassifier(1))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    grid = GridSearchCV(
        model,
        {"subsetselector__criterion__n_neighbors": [1, 5], "subsetselector__search__min_gain": [0.0, 0.05]},
        cv=2,
    ).fit(X, y)
    assert set(grid.best_params_) == {"subsetselector__criterion__n_neighbors", "subsetselector__search__min_gain"}
    assert clone(model).get_params()["subsetselector__criterion__n_neighbors"] == 1


@pytest.mark.parametrize("asked", [3, 0.5, (2, 4), [2, 4]])
@pytest.mark.parametrize(
    "search",
    [Forward(), Forward(None), Backward(), Floating(), Floating("backward"), Exhaustive(), Annealing(levels=4)],
)
def test_sizes_asked_for_are_sizes_given(search, asked, problem):
    size = int(
        SubsetSelector(KNN(), search, n_features_to_select=asked, random_state=0)
        .fit(problem.X, problem.y)
        .support_.sum()
    )
    assert size == 3 if not isinstance(asked, tuple | list) else 2 <= size <= 4


@pytest.mark.parametrize("search", [Forward(), Backward(), Floating(), Exhaustive(), Annealing(levels=4)])
def test_forced_features_groups_and_order(search, problem):
    selector = SubsetSelector(
        KNN(), search, include=[5], exclude=["x0"], feature_groups=[[1, 4]], random_state=0, n_features_to_select=(2, 3)
    ).fit(pd.DataFrame(problem.X, columns=problem.names), problem.y)
    assert selector.support_[5]
    assert not selector.support_[0]
    assert selector.support_[1] == selector.support_[4]
    assert 1 <= selector.ranking_.min() <= selector.ranking_.max() <= 6


def test_costs_trade_score_for_cheaper_features(problem):
    free = SubsetSelector(KNN(), Exhaustive(), random_state=0).fit(problem.X, problem.y)
    costs = np.where(free.support_, 1.0, 0.0)
    dear = SubsetSelector(KNN(), Exhaustive(), feature_costs=costs, cost_weight=10.0, random_state=0)
    assert not (dear.fit(problem.X, problem.y).support_ & free.support_).any()
    named = SubsetSelector(KNN(), Exhaustive(), feature_costs={"x0": 1.0}, cost_weight=10.0, random_state=0)
    assert not named.fit(pd.DataFrame(problem.X, columns=problem.names), problem.y).support_[0]


def test_smaller_subset_wins_among_equals():
    rows = make_problem(n_features=4, n_informative=1, seed=1)
    X = np.column_stack([rows.X[:, 0] * 100, rows.X[:, 0] * 100])
    y = (X[:, 0] > X[:, 0].mean()).astype(int)
    for search in (Exhaustive(), Backward(), Floating(), Floating("backward"), Forward(None)):
        assert SubsetSelector(KNN(), search, random_state=0).fit(X, y).support_.sum() == 1


def test_prefilter_cuts_columns_and_may_start_the_search():
    rows = make_problem(n_features=40, seed=2)
    selector = SubsetSelector(KNN(), Forward(), prefilter=Prefilter(Fisher(), keep=5), random_state=0)
    selector.fit(rows.X, rows.y)
    kept = set(RankSelector(Fisher(), n_features_to_select=5).fit(rows.X, rows.y).get_support(indices=True))
    assert set(selector.get_support(indices=True)) <= kept
    assert selector.trace_.n_evaluations <= 1 + 5 + 4 + 3 + 2 + 1
    started = SubsetSelector(KNN(), Forward(), prefilter=Prefilter(Fisher(), keep=5, start=2), random_state=0)
    assert started.fit(rows.X, rows.y).trace_.steps[0].mask.sum() == 2
    assert SubsetSelector(KNN(), prefilter=Fisher(), random_state=0).fit(rows.X, rows.y).support_.any()


def test_ranking_follows_the_order_of_entry_and_of_elimination(problem):
    forward = SubsetSelector(KNN(), Forward(), n_features_to_select=3, random_state=0).fit(problem.X, problem.y)
    entered = [np.flatnonzero(b.mask & ~a.mask)[0] for a, b in pairwise(forward.trace_.steps)]
    assert forward.ranking_[entered].tolist() == [1, 2, 3]
    assert set(forward.ranking_[~forward.support_]) == {4}
    backward = SubsetSelector(KNN(), Backward(), n_features_to_select=2, random_state=0).fit(problem.X, problem.y)
    left = [np.flatnonzero(a.mask & ~b.mask)[0] for a, b in pairwise(backward.trace_.steps)]
    assert backward.ranking_[left].tolist() == [6, 5, 4, 3]


def test_groups_and_weights_are_routed(problem):
    groups = np.repeat(np.arange(20), 3)
    weights = np.linspace(0.5, 1.5, 60)
    with config_context(enable_metadata_routing=True):
        selector = SubsetSelector(KNN(), Forward(), random_state=0).set_fit_request(groups=True, sample_weight=True)
        model = make_pipeline(selector, KNeighborsClassifier())
        model.fit(problem.X, problem.y, groups=groups, sample_weight=weights)
    direct = SubsetSelector(KNN(), Forward(), random_state=0).fit(
        problem.X, problem.y, groups=groups, sample_weight=weights
    )
    assert model[0].score_ == direct.score_
    assert direct.score_ != SubsetSelector(KNN(), Forward(), random_state=0).fit(problem.X, problem.y).score_


def test_rows_of_one_group_never_judge_each_other():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(30, 3)), 2, axis=0)
    y = np.repeat(rng.integers(0, 2, 30), 2)
    honest = SubsetSelector(KNN(cv="loo"), Forward(), random_state=0).fit(X, y, groups=np.repeat(np.arange(30), 2))
    assert SubsetSelector(KNN(cv="loo"), Forward(), random_state=0).fit(X, y).score_ == 1.0
    assert honest.score_ < 0.8


def test_regression_and_any_splitter():
    X, y = load_diabetes(return_X_y=True)
    near = SubsetSelector(KNN(n_neighbors=9), Floating(), random_state=0).fit(X, y)
    assert near.support_[2]
    assert 0.3 < near.score_ < 0.6
    ordered = SubsetSelector(CrossValidated(Ridge(), cv=TimeSeriesSplit(3)), Forward(), random_state=0).fit(X, y)
    assert ordered.support_[2]
    with pytest.raises(InputError, match="never tests row"):
        SubsetSelector(KNN(cv=TimeSeriesSplit(3)), Forward()).fit(X, y)


def test_identical_for_any_number_of_jobs(problem):
    for criterion in (KNN(), CrossValidated(LogisticRegression())):
        runs = [
            SubsetSelector(criterion, Annealing(levels=3), n_jobs=jobs, random_state=5).fit(problem.X, problem.y)
            for jobs in (1, 2)
        ]
        assert np.array_equal(runs[0].support_, runs[1].support_)
        assert runs[0].score_ == runs[1].score_


def test_an_interrupted_fit_is_none_but_keeps_the_best_so_far(problem):
    selector = SubsetSelector(KNN(), Exhaustive(), random_state=0).fit_problem(problem)

    def stop(trace):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        selector.fit_problem(problem, on_step=stop)
    assert selector.answer_.support.any()
    assert selector.trace_.interrupted
    assert not hasattr(selector, "support_")
    for ask in (selector.get_support, lambda: selector.transform(problem.X), selector.get_feature_names_out):
        with pytest.raises(NotFittedError):
            ask()
    assert selector.fit_problem(problem).get_support().any()


@pytest.mark.parametrize("estimator", [FeatureWeighter(KNN(), DIET()), SubsetEnsemble(KNN(), n_runs=2), Parcel()])
def test_other_estimators_that_were_interrupted_are_not_fitted(estimator, problem, monkeypatch):
    use = "transform" if hasattr(estimator, "transform") else "predict"
    fitted = clone(estimator).set_params(random_state=0).fit(problem.X, problem.y)
    getattr(fitted, use)(problem.X)

    def stop(*arguments, **more):
        raise KeyboardInterrupt

    for place in ("fewer.contracts._run.Run.under", "fewer.roc._parcel.grow", "fewer.selectors._ensemble.rules_for"):
        monkeypatch.setattr(place, stop)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(problem.X[:, :4], problem.y)
    with pytest.raises(NotFittedError):
        getattr(fitted, use)(problem.X[:, :4])


def test_ctrl_c_in_a_compiled_call_keeps_the_best_so_far(problem):
    """There it becomes a SystemError."""
    selector = SubsetSelector(KNN(), Exhaustive(), random_state=0)

    def stop(trace):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        selector.fit_problem(problem, on_step=stop)
    assert selector.answer_.support.any()
    assert selector.trace_.interrupted


def test_constant_columns_are_set_aside(problem):
    X = np.column_stack([np.full(60, 7.0), problem.X, np.full(60, np.nan)])
    selector = SubsetSelector(KNN(), Backward(), random_state=0).fit(X, problem.y)
    assert selector.set_aside_.tolist() == [0, 7]
    with pytest.raises(InputError, match="only 6 can vary"):
        SubsetSelector(KNN(), Forward(), n_features_to_select=7).fit(X, problem.y)


def test_rank_selector_sizes_by_one_standard_error():
    rows = make_problem(n_rows=200, n_features=30, n_informative=3, seed=4)
    selector = RankSelector(random_state=0).fit(rows.X, rows.y)
    assert 1 <= selector.support_.sum() <= 8
    assert selector.support_[:3].any()
    curve = {"size": np.array([1, 2, 4]), "score": np.array([0.5, 0.78, 0.8]), "standard_error": np.full(3, 0.03)}
    assert one_standard_error(curve) == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features_to_select": 7}, "7 features requested, but only 6 are available"),
        ({"n_features_to_select": (4, 2)}, "give a smallest and a largest number"),
        ({"include": ["nose"]}, "include names 'nose', not a feature"),
        ({"include": [9]}, "include names feature 9, but features go from 0 to 5"),
        ({"include": [1], "exclude": [1]}, "'x1' is both included and excluded"),
        ({"feature_groups": [[0, 1], [1, 2]]}, "'x1' is in two feature groups"),
        ({"feature_costs": [1.0, 2.0]}, "feature_costs has shape"),
        ({"feature_costs": [-1.0] * 6}, "feature_costs must be finite"),
        ({"memory": "plenty"}, "memory='plenty' is not an amount"),
        ({"criterion": KNN(voting="loud")}, "The 'voting' parameter of KNN"),
        ({"criterion": KNN(n_neighbors=0)}, "The 'n_neighbors' parameter of KNN"),
        ({"criterion": KNN(cv=1)}, "The 'cv' parameter of KNN"),
        ({"search": Floating("up")}, "The 'direction' parameter of Floating"),
        ({"prefilter": Prefilter(Fisher(), keep=2), "n_features_to_select": 3}, "keeps 2 features, but 3 are asked"),
    ],
)
def test_bad_parameters_say_what_to_do(parameters, message, problem):
    with pytest.raises(InputError, match=message):
        SubsetSelector(**parameters).fit(problem.X, problem.y)


def test_one_class_is_refused(problem):
    with pytest.raises(InputError, match="only one class"):
        SubsetSelector().fit(problem.X, np.zeros(60))
