import pytest

from fewer.serve._guard import Access
from serve.conftest import TOKEN

ROUTES = ["/", "/table", "/run", "/page", "/download", "/api/state", "/api/run", "/api/events", "/static/app.css"]


@pytest.fixture
def stranger(open_bench):
    return open_bench(token=False)


def test_nothing_without_the_token(stranger):
    for route in ROUTES:
        assert stranger.get(route).status_code == 403
        assert stranger.get(route, params={"token": TOKEN[:-1] + "x"}).status_code == 403
        assert "token" in stranger.get(route).text


def test_the_token_goes_from_the_address_into_a_cookie(stranger):
    answer = stranger.get("/", params={"token": TOKEN, "x": "1"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?x=1")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert stranger.get("/").status_code == 200


def test_a_cookie_opens_one_port_and_does_not_hold_the_token(stranger):
    answer = stranger.get("/", params={"token": TOKEN}, follow_redirects=False)
    name, value = answer.headers["set-cookie"].split(";")[0].split("=")
    assert TOKEN not in answer.headers["set-cookie"]
    assert value != Access(TOKEN, port=1).badge
    for cookie, code in ((f"{name}={value}", 200), (f"{name}={TOKEN}", 403), (f"{name}={value[:-1]}", 403)):
        assert stranger.get("/", headers={"cookie": cookie}).status_code == code
        stranger.cookies.clear()


def test_who_comes_from_a_file_is_sent_on_by_a_page_of_ours(stranger):
    """A strict cookie is not sent after a redirect that began on another site."""
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    answer = stranger.get("/", params={"token": TOKEN, "name": 'a"b'}, headers=headers, follow_redirects=False)
    assert answer.status_code == 200
    assert '<meta http-equiv="refresh" content="0;url=/?name=a%22b">' in answer.text
    assert TOKEN not in answer.text


def test_a_redirect_never_leaves(stranger):
    answer = stranger.get(f"{stranger.origin}//evil.example/", params={"token": TOKEN}, follow_redirects=False)
    assert answer.headers.get("location", "/evil").startswith("/evil")


def test_names_made_to_point_here_are_refused(client):
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost:1:2", "", "127.0.0.1@evil.example"):
        assert client.get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8765", "[::1]:8765"])
def test_names_of_this_machine(host):
    assert Access(TOKEN, "127.0.0.1", 8765).knows_host(host)
    assert not Access(TOKEN, "127.0.0.1", 99).knows_host("localhost:8765")


def test_other_sites_change_nothing(client):
    for route in ("/api/start", "/api/stop", "/api/resume", "/api/delete", "/api/inspect"):
        for origin in ("http://evil.example", "null", client.origin.replace("http", "https"), "http://127.0.0.1:99"):
            assert client.post(route, json={}, headers={"origin": origin}).status_code == 403


def test_a_change_without_any_origin_is_refused(client):
    del client.headers["origin"]
    assert client.post("/api/start", json={}).status_code == 403
    assert client.put("/api/upload?name=t.csv", content=b"a\n1\n").status_code == 403
    assert client.post("/api/start", json={}, headers={"sec-fetch-site": "same-origin"}).status_code == 400


def test_other_sites_read_nothing(client):
    asked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
    assert client.get("/api/state", headers=asked).status_code == 403
    assert client.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200


def test_what_browsers_may_do(client):
    for route in ("/", "/static/app.css", "/api/state", "/nothing"):
        headers = client.get(route).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_static_files_are_all_there_is(client):
    for path in ("/static/../_app.py", "/static/%2e%2e/_app.py", "/static/..%2f_app.py", "/static//etc/passwd"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize("host", ["[", "[::1", "]", "localhost:99999", "localhost:x"])
def test_a_host_that_is_none_is_turned_away_before_the_token_is_asked_for(host):
    assert not Access(TOKEN, "127.0.0.1", 8765).knows_host(host)
