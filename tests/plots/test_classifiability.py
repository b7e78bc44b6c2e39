"""The display of hard rows."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris

from fewer import SubsetSelector
from fewer.criteria import Classifiability, classifiability
from fewer.plots import ClassifiabilityDisplay
from fewer.plots._style import new_figure
from fewer.problem import InputError
from fewer.search import Forward


@pytest.fixture(autouse=True)
def no_window():
    import matplotlib.pyplot as plt

    with mpl.rc_context({"backend": "Agg"}):
        plt.switch_backend("Agg")
        yield
        plt.close("all")


def test_draws_two_features_on_given_axes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    rows = y < 2
    figure, axes = new_figure()
    names = ["sepal length (cm)", "sepal width (cm)"]
    display = ClassifiabilityDisplay.from_data(X[rows], y[rows], features=names, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure
    assert axes.get_ylabel() == "sepal width (cm)"
    truth = classifiability(X.loc[rows, names], y[rows])
    assert display.value == truth.value
    np.testing.assert_array_equal(display.local, truth.per_row)
    drawn = sum(
        len(part.get_offsets()) for part in axes.collections if hasattr(part, "get_sizes") and len(part.get_sizes())
    )
    assert drawn == rows.sum()
    figure.canvas.draw()


def test_draws_what_a_selector_chose_first():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = SubsetSelector(Classifiability(), Forward(min_gain=0.0)).fit(X, y)
    display = ClassifiabilityDisplay.from_estimator(selector, X, y)
    assert display.names[0] == X.columns[np.argmin(selector.ranking_)]
    display.figure_.canvas.draw()


def test_one_feature_stands_over_its_classes():
    X, y = load_iris(return_X_y=True)
    display = ClassifiabilityDisplay.from_data(X, y, features=[2])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([0, 1, 2], "3 features"),
        (["petal"], "features names 'petal', not a feature"),
        ([9], "features names feature 9"),
    ],
)
def test_refuses_what_cannot_be_drawn(features, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match=message):
        ClassifiabilityDisplay.from_data(X, y, features=features)
