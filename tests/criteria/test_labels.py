"""Estimators and metrics get the user's own labels, names and types: scores are those of `cross_val_score`."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, get_scorer_names, make_scorer, recall_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.fixes import parse_version

import fewer
from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.errors import InputError
from fewer.io import to_problem

RNG = np.random.default_rng(0)
CODES = np.arange(48) % 2
THREE = np.arange(48) % 3
X = RNG.normal(size=(48, 4)) + 0.7 * CODES[:, None]
TARGETS = {
    "0, 1": CODES,
    "1, 2": CODES + 1,
    "-1, 1": 2 * CODES - 1,
    "truth": CODES == 1,
    "text": np.array(["common", "rare"])[CODES],
    "objects": np.array(["no", "yes"], dtype=object)[CODES],
    "three numbers": np.array([3, 5, 9])[THREE],
    "three texts": np.array(["a", "b", "c"])[THREE],
}
QUANTITIES = {
    "quantities": X[:, 0] + 0.1 * RNG.normal(size=48),
    "positive": np.exp(X[:, 0]),
    "whole": np.round(3 * X[:, 0]).astype(int),
    "two": np.column_stack([X[:, 0], X[:, 1] + X[:, 2]]),
}
SEVERAL_LABELS = np.column_stack([CODES, X[:, 0] + X[:, 3] > 0.5]).astype(int)
MASK = np.array([True, False, True, True])


def ours(estimator, table, y, cv, scoring=None, **options):
    criterion = CrossValidated(estimator, scoring, cv, **options)
    problem = to_problem(table, y, task=criterion.tasks[0], multi_output=True)
    return criterion.bind(problem, np.random.default_rng(0), Resources()).score(MASK[None])[0]


def truth(estimator, table, y, cv, scoring=None):
    """Return what scikit-learn gives, NaN where it raises or no fold can be scored."""
    try:
        return cross_val_score(estimator, table, y, cv=cv, scoring=scoring).mean()
    except ValueError:
        return np.nan


def ours_or_nan(*args):
    """Return our score, NaN where the metric is refused for such a target."""
    try:
        return ours(*args)
    except InputError:
        return np.nan


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scoring", [None, *get_scorer_names()])
def test_every_metric_and_kind_of_label_scores_as_scikit_learn_does(scoring):
    n_scored = 0
    jobs = [(DecisionTreeClassifier(max_depth=2, random_state=0), y, StratifiedKFold(2)) for y in TARGETS.values()]
    jobs += [(DecisionTreeClassifier(max_depth=2, random_state=0), SEVERAL_LABELS, KFold(2))]
    jobs += [(DecisionTreeRegressor(max_depth=2, random_state=0), y, KFold(2)) for y in QUANTITIES.values()]
    for estimator, y, cv in jobs:
        expected = truth(estimator, X[:, MASK], y, cv, scoring)
        score = ours_or_nan(estimator, X, y, cv, scoring)
        assert score == pytest.approx(expected, abs=1e-12, nan_ok=True), (estimator, y[:3])
        n_scored += not np.isnan(expected)
    assert n_scored > 0


def test_a_metric_of_several_labels_a_row_says_so():
    with pytest.raises(InputError, match=r"average='samples' is for rows with several labels each; use .*f1_macro"):
        ours(GaussianNB(), X, CODES, StratifiedKFold(2), "f1_samples")


@pytest.mark.parametrize("label", [1, 2])
def test_the_class_that_is_asked_for_is_the_one_that_counts(label):
    scoring = make_scorer(f1_score, pos_label=label)
    y, cv = CODES + 1, StratifiedKFold(3)
    expected = cross_val_score(LogisticRegression(), X[:, MASK], y, cv=cv, scoring=scoring).mean()
    assert ours(LogisticRegression(), X, y, cv, scoring) == pytest.approx(expected, abs=1e-12)


def test_labels_by_name_reach_metric_and_estimator():
    weighted = LogisticRegression(class_weight={"rare": 5.0, "common": 1.0})
    for estimator, y, scoring in (
        (LogisticRegression(), TARGETS["three texts"], make_scorer(recall_score, labels=["b"], average="macro")),
        (LogisticRegression(), TARGETS["text"], make_scorer(f1_score, pos_label="rare")),
        (weighted, TARGETS["text"], make_scorer(f1_score, pos_label="rare")),
    ):
        if len(set(y)) == 3 and parse_version(sklearn.__version__) < parse_version("1.9"):
            continue  # scikit-learn asks for the positive one of three classes
        cv = StratifiedKFold(3)
        expected = cross_val_score(estimator, X[:, MASK], y, cv=cv, scoring=scoring).mean()
        assert ours(estimator, X, y, cv, scoring) == pytest.approx(expected, abs=1e-12)
        assert expected > 0


def framed(library):
    frame = {
        "age": X[:, 0],
        "unused": X[:, 1],
        "town": np.array(["north", "south", "east"])[(3 * RNG.random(48)).astype(int)],
        "count": np.round(4 * X[:, 3]).astype(int),
    }
    if library is pd:
        table = pd.DataFrame(frame)
        return table.astype({"town": "category"})
    return pl.DataFrame(frame, schema_overrides={"town": pl.Categorical})


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(
    "estimator",
    [
        HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype", min_samples_leaf=3),
        make_pipeline(
            make_column_transformer(
                (OneHotEncoder(sparse_output=False), make_column_selector("town")),
                (StandardScaler(), make_column_selector("age|count")),
            ),
            LogisticRegression(),
        ),
        make_pipeline(
            make_column_transformer((OrdinalEncoder(), ["town"]), remainder="passthrough"),
            DecisionTreeClassifier(random_state=0),
        ),
    ],
    ids=["native categories", "by pattern", "by name"],
)
def test_a_frame_stays_a_frame(estimator, library):
    if library is pl and "columnselector" in repr(estimator).replace("_", "").lower():
        pytest.skip("scikit-learn selects columns by pattern in pandas frames only")
    table, cv = framed(library), StratifiedKFold(3)
    some = table[["age", "town", "count"]]
    expected = cross_val_score(estimator, some, TARGETS["text"], cv=cv).mean()
    assert ours(estimator, table, TARGETS["text"], cv) == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(expected)


def test_names_reach_the_estimator_and_new_rows_are_predicted_in_the_same_frame():
    seen = []

    class Nosy(DecisionTreeClassifier):
        def fit(self, X, y):
            seen.append(list(X.columns))
            return super().fit(X, y)

    table = pd.DataFrame(X, columns=list("abcd"))
    criterion = CrossValidated(Nosy(random_state=0), cv=3)
    problem = to_problem(table, TARGETS["text"])
    scorer = criterion.bind(problem, np.random.default_rng(0), Resources())
    outputs = scorer.predict(MASK, problem.X[:5])
    assert seen[-1] == ["a", "c", "d"]
    model = DecisionTreeClassifier(random_state=scorer._seed).fit(table[["a", "c", "d"]], TARGETS["text"])
    assert np.array_equal(
        np.array(["common", "rare"])[outputs.argmax(axis=1)], model.predict(table[["a", "c", "d"]][:5])
    )


def test_levels_become_one_hot_where_the_estimator_takes_no_text():
    table, cv = framed(pd), StratifiedKFold(3)
    encoded = pd.get_dummies(table[["age", "town", "count"]]).astype(float)
    expected = cross_val_score(Ridge(), encoded, QUANTITIES["quantities"], cv=KFold(3)).mean()
    assert ours(Ridge(), table, QUANTITIES["quantities"], KFold(3)) == pytest.approx(expected, abs=1e-9)
    assert np.isnan(ours(LogisticRegression(), table, CODES, cv, preprocess="none"))


def test_missing_cells_stay_where_the_estimator_takes_them():
    holed, cv = X.copy(), StratifiedKFold(3)
    holed[::5, 0] = np.nan
    tree = DecisionTreeClassifier(random_state=0)
    expected = cross_val_score(tree, holed[:, MASK], CODES, cv=cv).mean()
    assert ours(tree, holed, CODES, cv) == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(ours(KNeighborsClassifier(), holed, CODES, cv))


class FailsOn(GaussianNB):
    """Fails where a column's mean is above 100, in every fold or in the first alone."""

    def fit(self, X, y, sample_weight=None):
        if np.asarray(X).mean(axis=0).max() > 100:
            raise ValueError("too large")
        return super().fit(X, y)


def test_a_candidate_that_fails_does_not_end_the_search():
    table = X.copy()
    table[:, 0] += 1000
    criterion = CrossValidated(FailsOn(), cv=3)
    selector = fewer.SubsetSelector(criterion, fewer.search.Forward(), n_features_to_select=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(table, CODES)
    assert not selector.support_[0]
    assert selector.trace_.n_undefined > 0
    assert any("ValueError: too large" in note for note in selector.trace_.notes)


def test_if_none_can_be_scored_or_failures_are_to_be_raised_it_is_an_error():
    criterion = CrossValidated(FailsOn(), cv=3)
    with pytest.raises(InputError, match="No subset could be scored .*ValueError: too large"):
        fewer.SubsetSelector(criterion, fewer.search.Forward(), random_state=0).fit(X + 1000, CODES)
    criterion = CrossValidated(FailsOn(), cv=3, error_score="raise")
    with pytest.raises(ValueError, match="too large"):
        fewer.SubsetSelector(criterion, fewer.search.Forward(), random_state=0).fit(X + 1000, CODES)


def test_a_score_for_failures_is_taken_fold_by_fold():
    criterion = CrossValidated(FailsOn(), cv=3, error_score=0.25)
    scorer = criterion.bind(to_problem(X + 1000, CODES), np.random.default_rng(0), Resources())
    assert scorer.score(MASK[None])[0] == 0.25
