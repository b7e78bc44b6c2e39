import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from fewer import SubsetSelector, registry
from fewer.contracts import Resources
from fewer.criteria import CrossValidated, cross_validated
from fewer.criteria._preparation import Preparation
from fewer.io import SparseProblem, to_problem
from fewer.problem import Problem
from fewer.search import Forward
from making import make_problem


def prepared(estimator, problem, prepare=True):
    return Preparation(estimator, problem, np.arange(problem.n_samples), prepare, seed=5)


def holed():
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[::5, 1] = np.nan
    return Problem.from_arrays(X, np.arange(40) % 2)


def test_numbers_go_as_they_are():
    problem = make_problem(n_features=3)
    ready = prepared(LogisticRegression(), problem)
    mask = np.array([True, False, True])
    rows = np.array([4, 2])
    assert np.array_equal(ready.cells(mask, rows), problem.X[rows][:, [0, 2]])
    assert isinstance(ready.model(np.array([0, 2])), LogisticRegression)
    assert ready.cells(np.zeros(3, dtype=bool), rows).shape == (2, 1)


def test_holes_are_filled_only_for_those_that_cannot_take_them():
    problem = holed()
    filled = prepared(LogisticRegression(), problem).model(np.array([0, 1]))
    assert isinstance(filled, Pipeline)
    assert np.isfinite(filled.fit(problem.X[:, :2], problem.y).decision_function(problem.X[:, :2])).all()
    native = prepared(HistGradientBoostingClassifier(max_iter=1), problem).model(np.array([0, 1]))
    assert isinstance(native, HistGradientBoostingClassifier)
    assert isinstance(prepared(LogisticRegression(), problem, prepare=False).model(np.array([1])), LogisticRegression)


def test_finding_out_what_a_model_takes_leaves_the_rows_as_they_are():
    problem = holed()
    before = problem.X.copy()
    in_place = make_pipeline(StandardScaler(copy=False), LogisticRegression())
    assert not prepared(in_place, problem).is_native
    assert np.array_equal(problem.X, before, equal_nan=True)


def test_new_rows_with_holes_are_predicted_as_scikit_learn_does():
    X, y = load_wine(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    train, test = np.arange(0, 178, 2), np.arange(1, 178, 2)
    scorer = CrossValidated(make_pipeline(StandardScaler(copy=False), LogisticRegression())).bind(
        Problem.from_arrays(X[train], y[train]), np.random.default_rng(0), Resources()
    )
    same = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), LogisticRegression())
    expected = same.fit(X[train], y[train]).predict_proba(X[test])
    np.testing.assert_allclose(scorer.predict(np.ones(13, dtype=bool), X[test]), expected, atol=1e-12)


def test_levels_become_indicators_learnt_in_the_fold():
    frame = pl.DataFrame({"color": ["red", "blue", "green", "red"] * 10, "n": np.arange(40.0)})
    problem = to_problem(frame, np.arange(40) % 2)
    model = prepared(LogisticRegression(), problem).model(np.array([0, 1]))
    model.fit(problem.X, problem.y)
    assert model[-1].coef_.shape == (1, 4)


def test_no_columns_at_all():
    assert isinstance(prepared(LogisticRegression(), make_problem()).model(np.array([], dtype=int)), DummyClassifier)
    quantity = make_problem(task="regression")
    assert isinstance(prepared(LogisticRegression(), quantity).model(np.array([], dtype=int)), DummyRegressor)


def test_seeds_and_threads():
    ready = prepared(RandomForestClassifier(n_jobs=-1), make_problem())
    assert ready.model(np.array([0])).random_state == 5
    assert ready.model(np.array([0])).n_jobs == -1
    assert ready.in_one_thread().model(np.array([0])).n_jobs == 1
    assert prepared(RandomForestClassifier(random_state=3), make_problem()).model(np.array([0])).random_state == 3


class Greedy(RandomForestClassifier):
    """A model of another package, which takes all cores where nothing is said."""


@pytest.mark.parametrize("behind", [True, False])
def test_models_of_other_packages_take_one_thread_on_small_tables(behind, monkeypatch):
    def n_jobs(model):
        model = prepared(make_pipeline(StandardScaler(), model) if behind else model, make_problem()).model(
            np.array([0])
        )
        return (model[-1] if behind else model).n_jobs

    assert n_jobs(Greedy()) == 1
    assert n_jobs(Greedy(n_jobs=3)) == 3
    assert n_jobs(RandomForestClassifier()) is None
    monkeypatch.setattr("fewer.criteria._preparation.WORTH_THREADS", 1)
    assert n_jobs(Greedy()) is None


@pytest.mark.parametrize("gaps", [True, False])
def test_missing_cells_of_a_sparse_table_are_found_without_filling_it(gaps):
    X = np.random.default_rng(0).normal(size=(20, 4)) * (np.random.default_rng(1).random((20, 4)) < 0.4)
    if gaps:
        X[3, 2] = np.nan
    problem = SparseProblem.of(Problem.from_arrays(np.nan_to_num(X), np.arange(20) % 2), sparse.csc_array(X))
    assert (problem.n_missing > 0).tolist() == [False, False, gaps, False]


class Shy(HistGradientBoostingClassifier):
    """One that keeps count of the rows that it was fitted to, and wants some."""

    def __init__(self, least=0, seen=None):
        super().__init__(max_iter=1)
        self.least, self.seen = least, seen

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        self.seen.append((len(X), np.isnan(X).any(axis=0).tolist(), len(set(y))))
        if len(X) < self.least:
            raise ValueError
        return super().fit(X, y)


@pytest.mark.parametrize(("least", "n_fits"), [(0, 1), (1000, 2), (5000, 2)])
def test_what_is_native_is_tried_on_few_rows_of_every_kind_first(least, n_fits):
    X = np.random.default_rng(0).normal(size=(2000, 3))
    X[1500:, 1] = np.nan
    y = np.where(np.arange(2000) < 1990, np.arange(2000) % 2, 2)
    seen = []
    ready = prepared(Shy(least, seen), Problem.from_arrays(X, y))
    assert ready.is_native == (least < 2000)
    assert len(seen) == n_fits
    n_rows, missing, n_classes = seen[0]
    assert n_rows < 300
    assert (missing, n_classes) == ([False, True, False], 3)
    assert n_fits == 1 or seen[1][0] == 2000


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_of_numbers_is_an_array_unless_a_model_looks_at_names(library):
    frame = library.DataFrame({"a": [1.0, 2, 3, 4], "b": [True, False, True, False]})
    problem, mask = to_problem(frame, [0, 1, 0, 1]), np.array([True, True])
    rows = np.arange(4)
    assert isinstance(Preparation(DecisionTreeClassifier(), problem, rows, True, 0).cells(mask, rows), np.ndarray)
    by_name = make_pipeline(ColumnTransformer([("a", StandardScaler(), ["a"])]), DecisionTreeClassifier())
    assert isinstance(Preparation(by_name, problem, rows, True, 0).cells(mask, rows), library.DataFrame)


def test_what_a_model_takes_is_found_out_once_for_all_parts_of_a_table(monkeypatch):
    frame = pd.DataFrame({"a": np.arange(40.0), "t": pd.Categorical(["u", "v"] * 20)})
    problem = to_problem(frame, np.arange(40) // 10 % 2)
    asked = []
    monkeypatch.setattr(Preparation, "_takes", lambda self, part: asked.append(part.n_samples) or False)
    for rows in (np.arange(40), np.arange(20), np.arange(5, 30)):
        Preparation(DecisionTreeClassifier(), problem.take(rows), rows, True, 0).decide()
    assert asked == [40]
    Preparation(DecisionTreeClassifier(max_depth=2), problem, np.arange(40), True, 0).decide()
    assert asked == [40, 40]


@pytest.mark.parametrize("name", ["tree", "forest:n_estimators=5"])
def test_named_trees_do_not_depend_on_the_units(name):
    rng = np.random.default_rng(0)
    X, masks = rng.normal(size=(60, 4)), np.array([[1, 0, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1]], dtype=bool)
    far = X + 1e9
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.4 * rng.normal(size=60) > 0).astype(int)
    criterion = CrossValidated(registry.build("estimator", name), cv=3)

    def scores(table, by=criterion):
        return by.bind(to_problem(table, y), np.random.default_rng(0), Resources()).score(masks)

    assert np.array_equal(scores(X), scores(X * 2.0**-300))
    assert np.array_equal(scores(X), scores(X * 1e90))
    assert np.array_equal(scores(far), scores(far - 1e9))
    own = CrossValidated(registry.build("estimator", name)[-1], cv=3)
    assert np.array_equal(scores(X), scores(X, own))
    assert len(set(scores(far, own))) == 1  # as scikit-learn has it: all values are the same


def test_columns_that_single_precision_merges_are_reported_for_own_trees():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X[:, 1] += 1e9
    tree = DecisionTreeClassifier(random_state=0)
    notes = SubsetSelector(CrossValidated(tree), Forward(), random_state=0).fit(X, y).notes_
    said = "DecisionTreeClassifier works in single precision, in which distinct values of 'x1' are the same"
    assert any(note.startswith(said) for note in notes)
    for quiet in (make_pipeline(StandardScaler(), tree), LogisticRegression()):
        notes = SubsetSelector(CrossValidated(quiet), Forward(), random_state=0).fit(X, y).notes_
        assert not any("single precision" in note for note in notes)


@pytest.mark.parametrize(
    ("library", "name", "shift", "scale", "said"),
    [
        ("xgboost", "XGBClassifier", 1e9, 1.0, "works in single precision, in which distinct values of 'x1' are"),
        (
            "lightgbm",
            "LGBMClassifier",
            0.0,
            1e-40,
            "takes numbers up to 1e-35 for zero, so that distinct values",
        ),
    ],
)
def test_columns_that_boosting_libraries_merge_are_reported(library, name, shift, scale, said):
    model = getattr(pytest.importorskip(library), name)(n_estimators=3, n_jobs=1)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    merged = X * [1.0, scale, 1.0] + [0.0, shift, 0.0]

    def bound(table):
        return CrossValidated(model, cv=3).bind(to_problem(table, y), np.random.default_rng(0), Resources())

    assert bound(X).notes == bound(X * 1e-30).notes == []
    assert [note.startswith(f"{name} {said}") for note in bound(merged).notes] == [True]
    # The note is true: to the model the column is constant.
    chances = bound(merged).predict(np.array([False, True, False]), merged)
    assert len(np.unique(chances, axis=0)) == 1


def test_lightgbm_gets_no_dictionary_of_arrow():
    """At one it ends the process, which no test could report."""
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": rng.normal(size=60), "t": pl.Series(["u", "v", "w"] * 20, dtype=pl.Categorical)})
    problem = to_problem(frame, np.arange(60) % 2)
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1)
    assert not Preparation(model, problem, np.arange(60), True, 0).is_native
    criterion = CrossValidated(model, cv=2).bind(problem, np.random.default_rng(0), Resources())
    assert np.isfinite(criterion.score(np.ones((1, 2), dtype=bool))).all()


def test_weights_reach_a_pipeline_behind_the_preparation():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), np.arange(60) % 3])
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    weights = 1.0 + (np.arange(60) % 2) * 9.0
    problem = to_problem(X, y, nominal=[1], sample_weight=weights)
    plain = to_problem(X, y, nominal=[1])
    mask, masks = np.ones(2, dtype=bool), np.ones((1, 2), dtype=bool)
    alone, behind = LogisticRegression(), make_pipeline("passthrough", LogisticRegression())
    heavy, light = (
        CrossValidated(model).bind(rows, np.random.default_rng(0), Resources()).predict(mask, X)
        for model, rows in ((behind, problem), (behind, plain))
    )
    assert not np.allclose(heavy, light)
    one, other = (
        CrossValidated(model).bind(problem, np.random.default_rng(0), Resources()) for model in (alone, behind)
    )
    assert np.allclose(one.predict(mask, X), heavy)
    assert one.score(masks) == pytest.approx(other.score(masks))


MIXED = {
    "boosting": HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5, random_state=0),
    "forest": RandomForestClassifier(5, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0, class_weight="balanced"),
    "support vectors": make_pipeline(StandardScaler(), SVC()),
    "regression": HistGradientBoostingRegressor(max_iter=5, random_state=0),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MIXED)
def test_models_behind_a_preparation_are_fitted_alike_without_scikit_learn(name, weighted, monkeypatch):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=(90, 2)), rng.integers(4, size=90), rng.integers(3, size=90)])
    X[::11, 1] = X[::13, 2] = np.nan
    y = np.nan_to_num(X).sum(axis=1) + rng.normal(size=90)
    y = y if name == "regression" else np.digitize(y, [2.0, 4.0])
    options = {"sample_weight": 1.0 + np.arange(90) % 3} if weighted else {}
    problem, masks = to_problem(X, y, nominal=[2, 3], **options), np.eye(4, dtype=bool) | np.array([0, 0, 1, 1]) > 0
    masks = np.vstack([masks, [True, True, False, False]])
    made = []
    known = cross_validated.make_part
    monkeypatch.setattr(cross_validated, "make_part", lambda *given: made.append(known(*given)) or made[-1])

    def answers():
        scorer = CrossValidated(MIXED[name], cv=3).bind(problem, np.random.default_rng(0), Resources())
        assert scorer.way.startswith("compiled, each subset by itself")
        return scorer.score(masks), scorer.outputs(masks[0]), scorer.predict(masks[1], X[::2])

    quick = answers()
    assert len(made) == 4 * 3 + 3 + 1  # two of the five subsets are the same
    assert None not in made
    monkeypatch.setattr(cross_validated, "make_part", lambda *given: None)
    slow = answers()
    assert np.array_equal(quick[0], slow[0])
    for one, other in zip(quick[1:], slow[1:], strict=True):
        if name == "support vectors":  # decisions come from a solver of our own, to its tolerance
            assert np.array_equal(one.argmax(axis=1), other.argmax(axis=1))
        else:
            assert np.allclose(one, other, rtol=1e-12, atol=1e-12)


def test_a_model_behind_steps_that_mix_columns_is_compiled_subset_by_subset():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(PCA(1), RandomForestClassifier(5, random_state=0))
    scorer = CrossValidated(model, cv=KFold(3)).bind(to_problem(X, y), np.random.default_rng(0), Resources())
    mask = np.array([True, False, True, True])
    assert scorer.score(mask[None])[0] == cross_val_score(model, X[:, mask], y, cv=KFold(3)).mean()
    assert scorer.way.startswith("compiled, each subset by itself")
    assert scorer._behind_preparation(mask, np.arange(100), X[100:, mask]) is not None


def test_what_scikit_learn_fits_on_a_table_with_levels_says_why():
    problem = to_problem(np.arange(60.0).reshape(30, 2) % 7, np.arange(30) % 2, nominal=[1])
    for model, reason in ((LogisticRegression(), "there are nominal columns"), (SVC(kernel="poly"), "nominal columns")):
        scorer = CrossValidated(model, cv=3).bind(problem, np.random.default_rng(0), Resources())
        assert scorer.way == f"scikit-learn fits each subset: {reason}"
        assert scorer._behind_preparation(np.ones(2, dtype=bool), np.arange(20), problem.X[20:]) is None


def test_a_model_of_scikit_learn_beside_others_is_told_no_number_of_threads():
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.normal(size=(20, 2)), np.arange(20) % 2)
    for n_jobs, told in ((None, None), (-1, 1), (2, 2)):
        model = VotingClassifier([("a", LogisticRegression())], n_jobs=n_jobs)
        preparation = Preparation(model, problem, np.arange(20), True, 0).in_one_thread()
        assert preparation.bare().n_jobs == told
        assert preparation.bare().get_params()["a"].n_jobs is None
