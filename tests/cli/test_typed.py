import pytest

from fewer.cli import _options
from fewer.cli._options import check_jobs, remember, typed
from fewer.cli._outputs import status_line
from fewer.errors import InputError
from fewer.run.request import names_of, parse_features


def test_the_command_that_repeats_a_run(monkeypatch):
    monkeypatch.setattr(_options, "_typed", [])
    remember(["select", "my table.csv", "--out", "run", "--resume", "--target=y", "--report=page.html"])
    assert typed() == "fewer select 'my table.csv' --out run --target=y --report=page.html"
    assert typed("--out", "--report") == "fewer select 'my table.csv' --target=y"


def test_lists_of_names():
    assert names_of(None) == []
    assert names_of(" zip , code,, ") == ["zip", "code"]


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("1", 1), ("0.5", 0.5), ("3-8", (3, 8)), ("2-2", (2, 2)), ("auto", "auto")]
)
def test_numbers_of_features(text, value):
    assert parse_features(text) == value


@pytest.mark.parametrize("text", ["0", "-3", "1.0", "0.0", "8-3", "0-0", "many", "3-", ""])
def test_what_is_no_number_of_features(text):
    with pytest.raises(InputError, match="use a number"):
        parse_features(text)


def test_jobs():
    assert check_jobs(-1) == -1
    assert check_jobs(3) == 3
    with pytest.raises(InputError, match="--jobs 0 is not valid"):
        check_jobs(0)


def test_progress_is_silent_where_nobody_watches(capsys):
    with status_line("working") as show:
        show("step 1")
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
