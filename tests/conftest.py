import pytest

from browsing import CHROMIUM, Browser
from making import make_problem


@pytest.fixture
def problem():
    return make_problem()


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Chromium, where it is installed."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()
