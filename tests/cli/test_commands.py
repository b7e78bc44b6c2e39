"""Commands that installed packages add through entry points."""

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from fewer import cli
from fewer.cli import main

GROUP = cli.MORE_COMMANDS


def greet(name: str, loud: bool = False) -> None:
    """Say hello to somebody."""
    print(f"Hello, {name.upper() if loud else name}!")


def call(words, monkeypatch, capsys, *added):
    monkeypatch.setattr(cli, "entry_points", lambda **wanted: EntryPoints(added).select(**wanted))
    with pytest.raises(SystemExit) as stop:
        main(words)
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_anyone_may_add_a_command(monkeypatch, capsys):
    added = EntryPoint("greet", f"{__name__}:greet", GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: greet)
    assert call(["greet", "Ann", "--loud"], monkeypatch, capsys, added) == (0, "Hello, ANN!\n", "")
    _, listed, _ = call(["--help"], monkeypatch, capsys, added)
    assert "Say hello to somebody." in listed
    _, shown, _ = call(["greet", "-h"], monkeypatch, capsys, added)
    assert "--loud" in shown
    _, _, refused = call(["greet"], monkeypatch, capsys, added)
    assert "Missing argument 'name'" in refused


def test_a_command_of_ours_comes_first(monkeypatch, capsys):
    monkeypatch.setattr(EntryPoint, "load", lambda self: greet)
    _, out, _ = call(["datasets", "--help"], monkeypatch, capsys, EntryPoint("datasets", "a:b", GROUP))
    assert "Say hello" not in out


def test_without_its_package_reproduce_says_how_to_get_it(monkeypatch, capsys):
    code, _, err = call(["reproduce", "scott"], monkeypatch, capsys)
    assert code == 2
    assert err == "fewer: `fewer reproduce` is in a separate package: pip install fewer-papers\n"
    code, _, err = call(["reproducee"], monkeypatch, capsys)
    assert code == 2
    assert "No such command" in err
