import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from fewer.models import GMLVQClassifier
from fewer.plots import ProjectionDisplay, RelevanceDisplay, RelevanceMatrixDisplay


def test_bars_are_the_relevances():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = GMLVQClassifier(max_iter=20).fit(X, y)
    display = RelevanceDisplay.from_estimator(model, ax=Figure().subplots())
    assert [bar.get_height() for bar in display.ax_.patches] == pytest.approx(model.relevances_)
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == list(X.columns)


def test_several_models_stand_side_by_side():
    display = RelevanceDisplay({"with": [0.7, 0.3], "without": [0.5, 0.5]}).plot(Figure().subplots())
    bars = display.ax_.patches
    assert [bar.get_height() for bar in bars] == pytest.approx([0.7, 0.3, 0.5, 0.5])
    assert bars[0].get_x() + bars[0].get_width() == pytest.approx(bars[2].get_x())
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["with", "without"]


@pytest.mark.parametrize("localized", [False, True])
def test_cells_are_the_matrix(localized):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = GMLVQClassifier(max_iter=20, localized=localized).fit(X, y)
    ax = RelevanceMatrixDisplay.from_estimator(model, ax=Figure().subplots()).ax_
    truth = model.lambda_.mean(axis=0) if localized else model.omega_.T @ model.omega_
    assert np.asarray(ax.images[0].get_array()) == pytest.approx(truth)
    low, high = ax.images[0].get_clim()
    assert -low == high == np.abs(truth).max()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(X.columns)


@pytest.mark.parametrize("as_frame", [False, True])
def test_points_are_the_projection(as_frame):
    X, y = load_iris(return_X_y=True, as_frame=as_frame)
    model = GMLVQClassifier(max_iter=20).fit(X, y)
    display = ProjectionDisplay.from_estimator(model, X, y, ax=Figure().subplots())
    drawn = [group.get_offsets() for group in display.ax_.collections]
    assert np.asarray(drawn[0]) == pytest.approx(model.project(X)[np.asarray(y) == 0])
    assert len(drawn) == 6
    assert np.asarray(drawn[1]).shape == (1, 2)
