import pytest

from fewer.evaluate._compare import filter_baseline
from making import make_problem


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_filter_finds_its_features(task):
    _, selector = filter_baseline(task)
    chosen = selector.set_params(random_state=0).fit_problem(make_problem(n_rows=120, task=task)).support_
    assert chosen[:2].any()
    assert not chosen[2:].all()
