import numpy as np
import pytest
from sklearn.metrics import log_loss

from fewer.criteria.engines._engine import EngineMetric, Folds
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
