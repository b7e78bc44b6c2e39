import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from engine_twin import rows, scores
from fewer.criteria.engines._engine import EngineMetric, Folds, metric_of
from fewer.problem import Problem


def test_which_metrics_need_chances_and_what_the_best_is():
    assert EngineMetric("neg_log_loss").needs_chances
    assert not EngineMetric("roc_auc").needs_chances
    assert [EngineMetric(name).ceiling for name in ("accuracy", "r2", "roc_auc")] == [1.0, 1.0, 1.0]
    assert [EngineMetric(name).ceiling for name in ("neg_log_loss", "neg_mean_squared_error")] == [0.0, 0.0]


@pytest.mark.parametrize("by_share", [True, False])
def test_log_loss_of_chances_or_of_their_logarithms(by_share):
    rng = np.random.default_rng(0)
    y = np.arange(10) % 2
    chances = rng.dirichlet([1.0, 1.0], size=10)
    folds = Folds(Problem.from_arrays(np.zeros((10, 1)), y), [(np.arange(10), np.arange(10))], (), False)
    decisions = chances if by_share else np.log(chances) + rng.normal(size=(10, 1))
    found = EngineMetric("neg_log_loss").grade(decisions[None].copy(), folds, 0.0, by_share)
    assert found[0, 0] == pytest.approx(-log_loss(y, chances))


NAMES = [
    "matthews_corrcoef", "precision", "recall", "jaccard", "f1", "f1_weighted", "precision_macro", "recall_weighted",
    "jaccard_macro", "balanced_accuracy", "accuracy", "average_precision", "roc_auc",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("scoring", NAMES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_named_metrics_are_those_of_scikit_learn(scoring, n_classes):
    X, y = rows(n_classes=n_classes, n=90)
    binary = scoring in ("precision", "recall", "jaccard", "f1", "average_precision", "roc_auc")
    if binary and n_classes == 3:
        assert metric_of(scoring, Problem.from_arrays(X, y), GaussianNB()).scorer is not None
        return
    name, ours, truth = scores(GaussianNB(), X.round(1), y, scoring)
    assert name == "GaussianEngine"
    assert ours == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("scoring", ["average_precision", "roc_auc"])
def test_shares_of_tied_neighbors_are_ranked_as_scikit_learn_ranks_them(scoring):
    X, y = rows(n=90, seed=1)
    X[:, 0] += 3 * y
    name, ours, truth = scores(KNeighborsClassifier(), X.round(), y, scoring)
    assert name == "NeighborsEngine"
    assert ours == pytest.approx(truth, abs=1e-12)
