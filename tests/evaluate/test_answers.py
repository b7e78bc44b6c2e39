"""The answers of other sizes."""

from itertools import pairwise

import numpy as np

from fewer import AutoSelector, RankSelector, SubsetSelector
from fewer.criteria import KNN
from fewer.rankers import Fisher
from fewer.search import Forward
from making import make_problem


def test_those_of_auto_are_its_choices_and_nest():
    problem = make_problem(n_rows=100)
    selector = AutoSelector(random_state=0, budget=0.2).fit_problem(problem)
    found = selector.answer_.by_size()
    assert list(found) == [1, 2, 3, 4, 5, 6]
    for mask in selector.choices_.values():
        assert np.array_equal(found[int(mask.sum())], mask)
    masks = list(found.values())
    assert all((small <= large).all() for small, large in pairwise(masks))


def test_those_of_a_quantity_are_its_three_choices():
    problem = make_problem(n_rows=100, task="regression")
    selector = AutoSelector(random_state=0, budget=0.2).fit_problem(problem)
    found = selector.answer_.by_size()
    for mask in selector.choices_.values():
        assert np.array_equal(found[int(mask.sum())], mask)


def test_those_of_a_search_are_the_best_it_met_and_the_answer_itself():
    problem = make_problem()
    selector = SubsetSelector(KNN(3), Forward(), random_state=0).fit_problem(problem)
    found = selector.answer_.by_size()
    assert np.array_equal(found[int(selector.support_.sum())], selector.support_)
    assert all(int(mask.sum()) == size for size, mask in found.items())


def test_those_of_a_ranking_are_its_beginnings():
    selector = RankSelector(Fisher(), random_state=0).fit_problem(make_problem())
    for size, mask in selector.answer_.by_size().items():
        assert np.array_equal(mask, selector.ranking_ <= size)
    cut = RankSelector(Fisher(), n_features_to_select=2).fit_problem(make_problem())
    assert list(cut.answer_.by_size()) == [2]
