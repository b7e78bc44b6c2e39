import numpy as np
import pytest

from fewer_papers._core import Rerun
from fewer_papers._nel_work import (
    n_runs_of,
    n_splits_of,
    problem_of,
    single_features,
    splits,
    to_mask,
    to_text,
)


def test_subsets_are_strings():
    assert to_mask("0110").tolist() == [False, True, True, False]
    assert to_text(to_mask("0110")) == "0110"
    assert single_features(3) == ["100", "010", "001"]


def test_columns_lie_between_minus_one_and_one():
    X = problem_of(Rerun(), "WDBC").X
    assert X.min(axis=0) == pytest.approx(np.full(30, -1.0))
    assert X.max(axis=0) == pytest.approx(np.full(30, 1.0))


def test_splits_are_two_thirds_and_one_third_the_same_for_every_method():
    run = Rerun()
    found = splits(run, "WDBC", 2)
    for train, test in found:
        assert len(train) == round(2 * 569 / 3)
        assert sorted([*train, *test]) == list(range(569))
    again = splits(Rerun(), "WDBC", 3)
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(found, again, strict=False))
    assert (n_splits_of(run), n_runs_of(run)) == (10, 20)
    assert (n_splits_of(Rerun(quick=True)), n_runs_of(Rerun(quick=True))) == (3, 5)
