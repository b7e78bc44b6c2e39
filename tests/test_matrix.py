"""Every public component keeps what is promised for all: the registry is walked, nothing is sampled.

The long version, with names that stand for components, more tables and both tasks of everything, is in
tests/torture/long_matrix.py.
"""

import warnings

import pytest

import matrix
from fewer import registry
from fewer.contracts import CHANGES, ROWS
from fewer.errors import FewerWarning

pytestmark = pytest.mark.filterwarnings("ignore")
PAIRS = [(kind, name) for kind in ("criterion", "ranker") for name in registry.INDEX[kind]]
PARTS = [(kind, name) for kind in ("search", "control") for name in registry.INDEX[kind]]
SLOW = {
    "forest-forward",
    "shap",
    "forest-importance",
    "lasso",
    "permutation",
    "gmlvq",
    "boruta",
    "stability",
    "saes",
    "saes-vote",
    "knockoffs",
}


@pytest.mark.parametrize(("kind", "name"), PAIRS, ids=lambda part: part)
def test_criteria_and_rankers_keep_their_promises(kind, name):
    for task in matrix.component(kind, name, "classification").tasks:
        assert matrix.broken_promises(kind, name, task) == []


@pytest.mark.parametrize(("kind", "name"), PARTS, ids=lambda part: part)
def test_searches_and_controls_keep_their_promises(kind, name):
    assert matrix.unlike(matrix.selector_with(kind, name), "classification") == []


@pytest.mark.parametrize("method", sorted(set(registry.METHODS) - SLOW))
def test_named_methods_keep_their_promises(method):
    selector, task = matrix.selector_of(method)
    assert matrix.unlike(selector, task) == []


def test_a_forked_process_says_the_same():
    slow = {"shap", "permutation", "gmlvq", "each", "importance", "cross-validated"}  # in the long version
    assert matrix.unlike_in_a_fork([pair for pair in PAIRS if pair[1] not in slow]) == []


def test_what_a_component_says_of_itself_is_among_the_known_words():
    for kind, name in PAIRS:
        one = matrix.component(kind, name, "classification")
        assert one.takes <= ROWS
        assert one.depends_on <= CHANGES
        with warnings.catch_warnings():
            warnings.simplefilter("error", FewerWarning)
            one.check_parameters()
