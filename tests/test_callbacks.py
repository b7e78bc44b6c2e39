import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from fewer import AutoSelector, RankSelector, SubsetSelector
from fewer.control import EarlyStopping
from fewer.criteria import KNN
from fewer.search import Annealing, Backward

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")


class Recorder:
    """Writes down what it hears; asks to stop after so many steps."""

    def __init__(self, stop_after=None):
        self.heard, self.sizes, self.stop_after = [], [], stop_after

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
        self.heard.append(f"end {context.task_name}")
        self.sizes.append(fitted_estimator.transform(X).shape[1])
        return self.stop_after is not None and len(self.sizes) >= self.stop_after


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def test_callbacks_hear_of_every_step(wine):
    recorder = Recorder()
    selector = SubsetSelector(KNN(), Backward(), random_state=0).set_callbacks(recorder).fit(*wine)
    n_steps = selector.trace_.n_steps
    assert recorder.heard[:3] == ["setup", "begin fit", "begin step"]
    assert recorder.heard[-2:] == ["end fit", "teardown"]
    assert recorder.heard.count("end step") == n_steps
    assert recorder.sizes == [*(int(step.best.sum()) for step in selector.trace_.steps), int(selector.support_.sum())]


def test_a_callback_can_end_the_search(wine):
    recorder = Recorder(stop_after=3)
    selector = SubsetSelector(KNN(), Backward(), random_state=0).set_callbacks(recorder).fit(*wine)
    assert selector.trace_.n_steps == 3
    assert selector.support_.sum() == 11
    assert "A callback ended the search" in selector.trace_.notes[-1]
    whole = SubsetSelector(KNN(), Backward(), random_state=0).fit(*wine)
    assert whole.trace_.n_steps > 3


@pytest.mark.parametrize(
    "selector",
    [
        RankSelector(n_features_to_select=2),
        AutoSelector(budget=0.3, random_state=0),
        SubsetSelector(KNN(), Annealing(levels=4), control=EarlyStopping(cv=2), random_state=0),
    ],
    ids=lambda s: type(s).__name__,
)
def test_every_selector_tells_callbacks(wine, selector):
    recorder = Recorder()
    selector.set_callbacks(recorder).fit(*wine)
    assert recorder.heard[0] == "setup"
    assert recorder.heard[-2:] == ["end fit", "teardown"]
    assert recorder.sizes[-1] == selector.support_.sum()


def test_scikit_learns_own_callbacks(wine):
    def accuracy(estimator, X, y):
        return {"accuracy": float(np.mean(cross_val_score(KNeighborsClassifier(), estimator.transform(X), y, cv=3)))}

    monitor = callback.ScoringMonitor(scoring=accuracy)
    bar = callback.ProgressBar()
    selector = SubsetSelector(KNN(), Backward(), n_features_to_select=10, random_state=0).set_callbacks(monitor, bar)
    selector.fit(*wine)
    scores = [row for row in monitor.get_logs().data if row["task_name"] == "step"]
    assert len(scores) == selector.trace_.n_steps
    assert all(0 < row["accuracy"] <= 1 for row in scores)
