import runpy
import sys

import pytest


def test_python_m_fewer_is_the_command_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fewer", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("fewer", run_name="__main__")
    assert not ended.value.code
    assert "0." in capsys.readouterr().out
