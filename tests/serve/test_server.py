import os
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import urllib.request

import pytest

from fewer.errors import InputError
from fewer.serve._server import MOST_WAITING, _listen, serve


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"host": "0.0.0.0"}, "--token"),
        ({"token": "short"}, "16"),
        ({"token": "ü" * 20}, "plain"),
        ({"token": "with\nline breaks in it"}, "plain"),
    ],
)
def test_what_is_not_started(tmp_path, options, told):
    with pytest.raises(InputError, match=told):
        serve(tmp_path, open_browser=False, **options)


def test_the_next_port_that_is_free():
    first = _listen("127.0.0.1", None)
    second = _listen("127.0.0.1", None)
    taken = first.getsockname()[1]
    assert second.getsockname()[1] != taken
    with pytest.raises(InputError, match="cannot be listened on"):
        _listen("127.0.0.1", taken)
    first.close()
    second.close()


def test_a_port_that_is_taken_is_refused_or_passed_over():
    first = _listen("127.0.0.1", None)
    try:
        port = first.getsockname()[1]
        with pytest.raises(InputError, match=f"127.0.0.1:{port} cannot be listened on .*choose another --port"):
            _listen("127.0.0.1", port)
        second = _listen("127.0.0.1", None)
        assert second.getsockname()[1] != port
        second.close()
    finally:
        first.close()


def test_the_browser_is_opened_by_a_file_that_only_its_owner_reads(tmp_path, monkeypatch):
    """The command line of a browser is seen by every user of the machine."""
    opened, seen, started = [], [], []

    def run(self, sockets):
        for timer in started:
            if timer.function == opened.append:
                timer.function(*timer.args)
        door = next((tmp_path / ".fewer-serve").glob("open-*.html"))
        seen.extend([stat.S_IMODE(door.stat().st_mode), door.read_text()])

    monkeypatch.setattr("threading.Timer.start", lambda timer: started.append(timer))
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("uvicorn.Server.run", run)
    token = "a-token-that-nobody-may-see"
    serve(tmp_path, port=0, token=token, say=lambda text: None)
    assert opened[0].startswith("file://")
    assert token not in opened[0]
    assert seen[0] == 0o600
    assert f"token={token}" in seen[1]
    assert list((tmp_path / ".fewer-serve").glob("open-*")) == []


def test_a_thousand_silent_connections_do_not_keep_others_out(tmp_path):
    """Half of them send nothing, half a request that never ends; the server has 400 file descriptors."""
    few = (400, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    server = subprocess.Popen(
        [sys.executable, "-m", "fewer", "serve", "--folder", str(tmp_path), "--port", "0", "--no-browser"],
        stderr=subprocess.PIPE, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few),
    )  # fmt: skip
    silent = []
    try:
        address = re.search(r"http://\S+", server.stderr.readline())[0]
        port = int(re.search(r":(\d+)/", address)[1])
        for number in range(1000):
            silent.append(socket.create_connection(("127.0.0.1", port), timeout=30))
            if number % 2:
                silent[-1].sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            if number % 100 == 99:
                asker = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
                with asker.open(address, timeout=30) as answer:
                    assert b"Which columns of your table matter?" in answer.read()
        assert len(os.listdir(f"/proc/{server.pid}/fd")) < MOST_WAITING + 100
        assert server.poll() is None
    finally:
        for connection in silent:
            connection.close()
        server.send_signal(signal.SIGINT)
        server.wait(30)
        server.stderr.close()
