import numpy as np
import pytest

from fewer.control import EarlyStopping, Noise
from fewer.search import Annealing, Backward, Forward, Genetic
from fewer_papers._core import Absent, Rerun
from fewer_papers._loughrey_work import (
    Effort,
    accuracy_on_test,
    control_for,
    filter_fold,
    one_fold,
    rights,
    search_for,
)
from making import make_problem

FOLDS = np.arange(60) % 3


def test_methods_as_the_thesis_names_them():
    effort = Effort(annealing=0.5, generations=7, n_inner=4)
    assert isinstance(search_for("GAES", effort), Genetic)
    assert search_for("GA", effort).generations == 7
    assert isinstance(search_for("FS", effort), Forward)
    assert isinstance(search_for("BE", effort), Backward)
    noisy = search_for("SA_noise", effort, 200)
    assert isinstance(noisy, Annealing)
    assert noisy.max_tries == 200
    assert search_for("SAES", effort).effort == 0.5
    assert isinstance(control_for("SA_noise", effort), Noise)
    assert isinstance(control_for("GAES", effort), EarlyStopping)
    assert control_for("GAES", effort).cv == 4
    assert control_for("SA", effort) is None
    assert Effort.of(Rerun(quick=True)).n_outer == 5
    assert Effort.of(Rerun()).n_outer == 10


def test_one_fold_is_predicted_after_each_step():
    found = one_fold(make_problem(), FOLDS, 1, Forward(), None, 1, 0)
    assert len(found["right"]) == 20
    assert len(found["trained"]) == len(found["tested"])
    assert found["trained"][-1] == found["train"]
    assert found["tested"][-1] == np.mean(found["right"])
    assert found["size"] == len(found["trained"]) - 1


def test_a_filter_keeps_half_of_the_features():
    assert filter_fold(make_problem(n_features=7), FOLDS, 0)["size"] == 4


def test_accuracy_is_pooled_over_rows_not_folds():
    found = [{"right": [True, True, True]}, {"right": [False]}]
    assert rights(found).tolist() == [1, 1, 1, 0]
    assert accuracy_on_test(found) == pytest.approx(75.0)
    absent = Absent("no data")
    assert accuracy_on_test(absent) is absent
