import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from fewer.cli import main


def refused(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(["serve", *map(str, arguments)])
    return stop.value.code


def test_other_machines_need_a_token(tmp_path, capsys):
    assert refused("--folder", tmp_path, "--host", "0.0.0.0", "--no-browser") == 2
    assert "--token" in capsys.readouterr().err
    assert refused("--folder", tmp_path, "--host", "0.0.0.0", "--token", "short", "--no-browser") == 2
    assert "16" in capsys.readouterr().err


def test_what_cannot_be_served(tmp_path, capsys):
    assert refused(tmp_path / "absent.csv", "--no-browser") == 2
    assert "absent.csv" in capsys.readouterr().err
    assert refused("--folder", tmp_path, "--host", "192.0.2.1", "--token", "x" * 20, "--no-browser") == 2
    assert "cannot be listened on" in capsys.readouterr().err


def test_it_says_where_it_is_and_ends_with_ctrl_c(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    server = subprocess.Popen(
        [sys.executable, "-m", "fewer", "serve", str(tmp_path / "t.csv"), "--port", "0", "--no-browser"],
        stderr=subprocess.PIPE, text=True, cwd="/",
    )  # fmt: skip
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/table\?name=t\.csv&token=[\w-]{32}", server.stderr.readline())[0]
        assert str(tmp_path) in server.stderr.readline()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=60) as page:
            assert b"t.csv" in page.read()
            assert "token" not in page.url
        assert os.listdir(tmp_path / ".fewer-serve") == []
    finally:
        server.send_signal(signal.SIGINT)
        code = server.wait(30)
        server.stderr.close()
    assert code in (0, 130)
