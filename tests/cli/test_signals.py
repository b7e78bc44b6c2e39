"""Ctrl-C and the polite kill."""

import os
import signal

import pytest

from fewer.cli import _outputs, main


@pytest.fixture
def restored():
    """Hear of a closed terminal even where these tests themselves run under `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_stop_that_somebody_swallows_is_raised_again(number, code, restored):
    with _outputs.listening():
        _outputs.raise_if_asked()
        try:
            os.kill(os.getpid(), number)
            signal.sigtimedwait([], 0.01)
        except KeyboardInterrupt:
            pass  # as a compiler does that is called back from C
        assert _outputs.was_asked()
        assert _outputs.exit_code() == code
        with pytest.raises(KeyboardInterrupt):
            _outputs.raise_if_asked()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("command", ["inspect", "rank", "select", "compare"])
def test_a_stop_while_a_table_is_read_is_said(command, number, code, restored, tmp_path, monkeypatch, capsys):
    def read(*about, **options):
        os.kill(os.getpid(), number)
        signal.sigtimedwait([], 0.01)

    for name in ("read_table", "inspect_table"):
        monkeypatch.setattr(f"fewer.io.{name}", read)
    (tmp_path / "t.csv").write_text("a,y\n1,0\n")
    with pytest.raises(SystemExit) as leaving:
        main([command, str(tmp_path / "t.csv"), "-t", "y"])
    assert leaving.value.code == code
    assert capsys.readouterr().err == "fewer: stopped.\n"


def test_the_handlers_of_the_caller_come_back():
    before = signal.getsignal(signal.SIGTERM)
    with _outputs.listening():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


def test_nohup_outlives_its_terminal():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with _outputs.listening():
            os.kill(os.getpid(), signal.SIGHUP)
        assert not _outputs.was_asked()
    finally:
        signal.signal(signal.SIGHUP, before)
