"""The long version of tests/test_matrix.py: more tables, names that stand for components, the slow methods, forks."""

import multiprocessing

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


def _scores(job):
    kind, name, task = job
    return matrix.attempt(matrix.component(kind, name, task), matrix.to_problem(*matrix.table(task), task=task))


def test_a_forked_process_says_the_same():
    jobs = [(kind, name, task) for kind, name in PAIRS for task in matrix.component(kind, name, "regression").tasks]
    here = [_scores(job) for job in jobs]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        there = pool.map_async(_scores, jobs).get(timeout=300)
    differ = [
        job
        for job, one, other in zip(jobs, here, there, strict=True)
        if (one != other if isinstance(one, str) else matrix.differs(other, one))
    ]
    assert differ == []
