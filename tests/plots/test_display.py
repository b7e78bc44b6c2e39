"""What all Displays share, and those that show a selection."""

import inspect

import pytest
from matplotlib.figure import Figure

import fewer
from fewer import plots
from fewer.errors import InputError
from fewer.plots import AnswersDisplay, Display, DistributionDisplay, PlaneDisplay, PredictionsDisplay
from making import make_problem


def test_every_display_has_the_base_and_one_that_takes_an_estimator_takes_axes():
    for name in plots.__all__:
        display = getattr(plots, name)
        assert issubclass(display, Display)
        if display is not Display and "from_estimator" in vars(display):
            assert "ax" in inspect.signature(display.from_estimator).parameters


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("kind", [AnswersDisplay, DistributionDisplay, PlaneDisplay, PredictionsDisplay])
def test_a_selection_can_be_drawn(kind, task, selections):
    ax = Figure().subplots()
    display = kind.from_selection(selections[task], ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert ax.get_xlabel()
    assert ax.get_ylabel()


def test_what_is_not_there_is_said(selections):
    problem = make_problem()
    bare = fewer.select(problem.X, problem.y, "fisher", n_features_to_select=1, cv=0, random_state=0)
    for kind in (AnswersDisplay, PlaneDisplay, PredictionsDisplay):
        with pytest.raises(InputError):
            kind.from_selection(bare)
    with pytest.raises(InputError, match="'nobody'"):
        DistributionDisplay.from_selection(selections["regression"], "nobody")
    with pytest.raises(InputError, match="is not made of an estimator"):
        plots.GammaDisplay.from_estimator(None)
