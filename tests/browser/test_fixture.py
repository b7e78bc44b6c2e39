"""The browser of the tests sees what it must see."""

import pytest


def test_a_quiet_page(open_page, axe, tmp_path):
    place = tmp_path / "page.html"
    place.write_text("<!DOCTYPE html><html lang=en><title>t</title><main><h1>fewer</h1></main></html>")
    page = open_page(place, 390, "dark")
    assert page.inner_text("h1") == "fewer"
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches && innerWidth == 390")
    assert axe(page) == []


def test_faults_are_seen(chromium, complaints, axe):
    page = chromium.new_page()
    complaints.listen_to(page)
    page.set_content("<img src='http://example.invalid/a.png'><script>console.error('no')</script>")
    page.wait_for_timeout(200)
    faults = axe(page)
    page.close()
    assert any("image-alt" in fault for fault in faults)
    assert complaints.away == ["http://example.invalid/a.png"]
    assert "no" in complaints.errors
    complaints.errors.clear(), complaints.away.clear()


@pytest.mark.parametrize("where", ["data:text/html,x", "http://127.0.0.1:1/", "blob:http://x/1", "about:blank"])
def test_what_stays_on_the_machine(where):
    from browser.conftest import leaves_the_machine

    assert not leaves_the_machine(where)
