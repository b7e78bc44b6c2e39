import pytest

from making import make_problem


@pytest.fixture
def problem():
    return make_problem()
