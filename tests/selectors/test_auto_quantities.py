from itertools import pairwise
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.feature_selection import f_regression

from fewer.contracts import Resources
from fewer.selectors import _auto_quantities as quantities
from fewer.selectors._auto_quantities import Alone, Finished, Options, lay_out, pairs_and_steps, subsets_up_to
from making import make_problem


def test_numbers_of_subsets():
    assert subsets_up_to(6, 3) == 6 + 15 + 20
    assert pairs_and_steps(10) - pairs_and_steps(9) == comb(10, 2) - comb(9, 2) + quantities.STEPS


@pytest.mark.parametrize(("n_rows", "n_features"), [(100, 10), (5_000, 500), (200, 20_000)])
def test_more_seconds_never_see_less(n_rows, n_features):
    layouts = [lay_out(n_rows, n_features, seconds) for seconds in (1.0, 5.0, 60.0)]
    for less, more in pairwise(layouts):
        assert less.n_rows <= more.n_rows <= n_rows
        assert less.n_near <= more.n_near <= n_features
        assert less.n_linear <= more.n_linear <= n_features
        assert less.exhaust <= more.exhaust
    assert layouts[0].n_rows >= min(n_rows, quantities.FEWEST_ROWS)


def test_whether_anything_is_forced():
    assert not Options().forced
    assert not Options(include=[]).forced
    assert Options(include=["a"]).forced
    assert Options(feature_groups=[[0, 1]]).forced


def test_of_equally_good_candidates_the_smaller_wins(monkeypatch):
    monkeypatch.setattr(quantities, "heldout_score", lambda selector: selector.score)
    made = {
        name: SimpleNamespace(support_=np.arange(5) < size, score=score)
        for name, size, score in [("wide", 4, 0.5), ("small", 2, 0.5), ("worse", 1, 0.4)]
    }
    finished = Finished(made, {}, lay_out(100, 5, 1.0))
    assert finished.best() == "small"
    assert finished.scores()[0] == {"name": "wide", "n_features": 4, "heldout": 0.5}


def test_features_rank_by_what_they_explain_alone():
    problem = make_problem(task="regression")
    order = Alone().rank(problem, np.random.default_rng(0), Resources()).order
    assert order.tolist() == np.argsort(-f_regression(problem.X, problem.y)[0], kind="stable").tolist()
