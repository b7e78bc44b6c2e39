import numpy as np
import pytest

from fewer_papers._chen_quotes import _reading
from fewer_papers._core import Absent

SIZES = np.array([1, 2, 5, 10, 20])
BEST = np.array([True, True, False, True, True])
OWN = np.array([0.5, 0.9, 0.7, 0.8, 0.85])


@pytest.mark.parametrize(
    ("column", "reading"),
    [
        ("gmlvq_best_up_to_n_features", 2),
        ("gmlvq_best_above_n_features", 5),
        ("fisher_max_at", 2),
        ("ig_better_range", [1, 20]),
    ],
)
def test_where_a_method_is_best(column, reading):
    assert _reading(column, SIZES, BEST, OWN) == reading


def test_a_method_that_is_never_best():
    never = np.zeros(5, dtype=bool)
    assert _reading("ig_better_range", SIZES, never, OWN) == []
    assert _reading("ig_best_up_to", SIZES, never, OWN) == 0
    assert isinstance(_reading("ig_looks_nice", SIZES, BEST, OWN), Absent)
