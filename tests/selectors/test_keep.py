"""A selection as a step, and as JSON that can be read back."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import fewer
from fewer.errors import InputError
from fewer.selectors import KeepFeatures


@parametrize_with_checks([KeepFeatures(), KeepFeatures([0])])
def test_it_is_an_estimator(estimator, check):
    check(estimator)


def test_a_selection_comes_back_as_a_fitted_step(tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selection = fewer.select(X, y, "fisher", cv=0, n_features_to_select=3, random_state=0)
    step = KeepFeatures.from_json(selection.pipeline_json())
    kept = step.set_output(transform="pandas").transform(X)
    assert sorted(kept.columns) == sorted(selection.features)
    pd.testing.assert_frame_equal(kept, X[[name for name in X if name in selection.features]])
    assert step.about_["chosen_by"]["method"] == "fisher"
    assert make_pipeline(step, LogisticRegression(max_iter=5000)).fit(X, y).score(X, y) > 0.9
    again = KeepFeatures.from_json(step.to_json())
    assert json.loads(again.to_json()) == json.loads(step.to_json())
    with pytest.raises(InputError, match=f"no column '{selection.features[0]}'"):
        step.transform(X.rename(columns={selection.features[0]: "another"}))


def test_another_answer_of_the_same_selection():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selection = fewer.select(X, y, "fisher", cv=0, n_features_to_select=3, random_state=0)
    step = KeepFeatures.from_json(selection.pipeline_json(selection.features[:1]))
    assert list(step.get_feature_names_out()) == selection.features[:1]
    assert step.about_["score_heldout"] is None
    with pytest.raises(InputError, match="no column 'radius'"):
        selection.pipeline_json(["radius"])


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"kind": "fewer pipeline", "version": 9}', '{"kind": "other", "version": 1}',
     '{"kind": "fewer pipeline", "version": 1, "n_features_in": 2, "feature_names_in": null, "support": [5]}',
     "[" * 100_000],
)  # fmt: skip
def test_what_is_no_pipeline_is_refused(text):
    with pytest.raises(InputError, match="no pipeline of fewer"):
        KeepFeatures.from_json(text)


@pytest.mark.parametrize("features", ["no such word", 3, [None], [1.5]])
def test_what_is_no_list_of_columns_is_refused(features):
    with pytest.raises(InputError, match=r"^[^\n]+$"):
        KeepFeatures(features).fit(np.zeros((3, 4)))


def test_columns_that_are_not_there():
    X = pd.DataFrame(np.zeros((3, 2)), columns=["a", "b"])
    with pytest.raises(InputError, match="features names 'c', not a feature"):
        KeepFeatures(["c"]).fit(X)
    with pytest.raises(InputError, match="features names feature 2, but features go from 0 to 1"):
        KeepFeatures([2]).fit(X)
