import json

import numpy as np
import pytest

from fewer.problem import InputError, Problem
from fewer.roc import Parcel, describe, fit_parcel


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.4).astype(int)
    X = rng.normal(size=(600, 4)) + np.outer(y, [1.0, 0.8, 0.0, 0.0])
    return Problem.from_arrays(X, np.array(["well", "ill"])[y], names=["a", "b", "c", "d"])


def test_it_says_what_the_parcel_found(problem):
    found = describe(*fit_parcel(problem, 0, max_fpr=0.2, guarantee=0.9))
    parcel = Parcel(random_state=0).fit_problem(problem)
    point = parcel.operating_point(max_fpr=0.2, guarantee=0.9)
    assert found == json.loads(json.dumps(found))
    assert found["features"] == list(point.features_)
    assert found["operating_point"] == json.loads(json.dumps(point.to_json()))
    assert found["positive"] == "well"
    assert len(found["vertices"]) == len(parcel.vertices_)


def test_equal_costs_unless_asked_and_settings_go_to_parcel(problem):
    found = describe(*fit_parcel(problem, 1, pos_label="ill", max_fpr=None))
    parcel = Parcel(random_state=1, pos_label="ill").fit_problem(problem)
    assert found["operating_point"]["promised"]["fpr"] == parcel.operating_point(cost_fp=1, cost_fn=1).promised_.fpr
    assert found["positive"] == "ill"
    with pytest.raises(InputError, match="either max_fpr"):
        describe(*fit_parcel(problem, 0, max_fpr=0.1, cost_fp=2.0))
