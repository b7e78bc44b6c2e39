import numpy as np
import pytest

import fewer
from fewer.contracts import ROWS, IncompatibleError, Ranker, Ranking, Resources
from fewer.control import Prefilter
from fewer.errors import InputError
from fewer.problem import Problem
from fewer.search import Annealing, Floating, Forward


class First(Ranker):
    takes = ROWS

    def rank(self, problem, rng, resources):
        return Ranking.by_score(-np.arange(float(problem.n_features)))


def test_many_scores_are_ordered_as_few_are(monkeypatch):
    monkeypatch.setattr("fewer.contracts._components.MANY_SCORES", 0)
    rng = np.random.default_rng(0)
    odd = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1e300, -1e300])
    for scores in (rng.choice(np.append(odd, rng.normal(size=5)), rng.integers(1, 60)) for _ in range(100)):
        np.testing.assert_array_equal(Ranking.by_score(scores).order, np.argsort(-scores, kind="stable"))


def test_ranking_by_score_keeps_the_order_of_equals_and_puts_undefined_last():
    ranking = Ranking.by_score(np.array([1.0, np.nan, 3.0, 1.0]), extra=np.arange(4))
    assert ranking.order.tolist() == [2, 0, 3, 1]
    assert ranking.extra["extra"].tolist() == [0, 1, 2, 3]


def test_columns_without_cells_rank_behind_and_constant_ones_last():
    X = np.random.default_rng(0).normal(size=(100, 5))
    X[:90, 0] = np.nan
    X[:89, 1] = np.nan
    X[:, 2] = 7.0
    problem = Problem.from_arrays(X, np.arange(100) % 2)
    assert First().rank(problem, np.random.default_rng(0), None).order.tolist() == [1, 3, 4, 0, 2]


@pytest.mark.parametrize(
    ("component", "message"),
    [
        (Floating(overshoot=-1), "overshoot.*-1"),
        (Forward(min_gain="much"), "min_gain.*much"),
        (Annealing(levels=-3), "levels.*-3"),
        (Prefilter(First(), keep=0), "keep.*0"),
    ],
)
def test_wrong_parameters_are_named_with_what_was_given(component, message):
    with pytest.raises(InputError, match=message):
        component.check_parameters()


def test_right_parameters_pass():
    Floating(overshoot=0).check_parameters()
    Forward(min_gain=None).check_parameters()


@pytest.mark.parametrize("what", sorted(ROWS))
def test_what_a_component_does_not_declare_is_refused_by_its_name(what):
    class Mine(First):
        takes = ROWS - {what}

    X = np.array([[0.0, 1], [1, 2], [2, np.nan if what == "missing" else 0], [3, 1]])
    rows = {
        "weights": {"sample_weight": [1, 2, 1, 1]},
        "groups": {"groups": [0, 0, 1, 1]},
        "time": {"time": [0, 1, 2, 3]},
        "nominal": {"kinds": ["nominal", "numeric"]},
    }.get(what, {})
    problem = Problem.from_arrays(X, [0, 1, 0, 1], **rows)
    First().rank(problem, np.random.default_rng(0), Resources())
    with pytest.raises(IncompatibleError, match=f"^Mine [^\n]*add '{what}' to its `takes`.$"):
        Mine().rank(problem, np.random.default_rng(0), Resources())


@pytest.mark.parametrize(("one", "name"), [(Annealing(), "levels"), (fewer.SubsetSelector(), "n_jobs")])
def test_true_is_refused_also_after_the_number_1_was_right(one, name):
    one.set_params(**{name: 1})._validate_params()
    one.set_params(**{name: True})
    with pytest.raises(InputError, match=f"^The '{name}' parameter of {type(one).__name__} is a number, not True.$"):
        one._validate_params()
