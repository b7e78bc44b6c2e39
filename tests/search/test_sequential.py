from itertools import pairwise

import numpy as np

from fewer.search import Backward, Forward
from scorers import Additive, columns, search_on


def test_forward_takes_gains_above_epsilon_in_order():
    gains = [0.3, 0.05, 0.2, -0.1, 0.3]
    assert columns(search_on(Additive(gains), Forward(), 5)) == [0, 1, 2, 4]
    assert columns(search_on(Additive(gains), Forward(min_gain=0.05), 5)) == [0, 2, 4]
    steps = search_on(Additive(gains), Forward(), 5).steps
    assert [np.flatnonzero(b.mask & ~a.mask)[0] for a, b in pairwise(steps)] == [0, 4, 2, 1]
    assert columns(search_on(Additive(gains), Forward(), 5, sizes=(5, 5))) == [0, 1, 2, 3, 4]
    assert columns(search_on(Additive(gains), Forward(None), 5)) == [0, 1, 2, 4]


def test_backward_drops_what_is_not_missed():
    gains = [0.3, 0.0, 0.2, -0.1, 0.01]
    assert columns(search_on(Additive(gains), Backward(), 5)) == [0, 2, 4]
    assert columns(search_on(Additive(gains), Backward(min_gain=1e-9), 5)) == [0, 1, 2, 4]
    assert columns(search_on(Additive(gains), Backward(min_gain=-0.05), 5)) == [0, 2]
    assert columns(search_on(Additive(gains), Backward(None), 5)) == [0, 2, 4]
