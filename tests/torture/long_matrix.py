"""The long version of tests/test_matrix.py: more tables, names that stand for components, the slow methods, forks."""

import pytest

import matrix
from fewer import registry

pytestmark = pytest.mark.filterwarnings("ignore")
PAIRS = [(kind, name) for kind in ("criterion", "ranker") for name in registry.INDEX[kind]]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("kind", "name"), PAIRS, ids=lambda part: part)
def test_criteria_and_rankers_on_more_tables(kind, name, seed):
    for task in matrix.component(kind, name, "classification").tasks:
        assert matrix.broken_promises(kind, name, task, seed) == []


@pytest.mark.parametrize("method", sorted(registry.METHODS))
def test_all_named_methods(method):
    selector, task = matrix.selector_of(method)
    assert matrix.unlike(selector, task) == []


def test_a_forked_process_says_the_same():
    assert matrix.unlike_in_a_fork(PAIRS) == []
