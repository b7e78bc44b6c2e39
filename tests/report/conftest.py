import pytest

from fewer.report import selection_report
from pages import hostile_problem, run


@pytest.fixture(scope="session")
def hostile():
    return run(hostile_problem(), method="knn-forward", n_features_to_select=(3, 6), include=[0, 1, 2])


@pytest.fixture(scope="session")
def hostile_page(hostile):
    return selection_report(*hostile)
