import pytest

from fewer.cli._report import _read, _trace, report
from fewer.errors import InputError
from fewer.run.selection import Selection


def test_there_must_be_a_finished_run(tmp_path):
    with pytest.raises(InputError, match="There is no finished run in"):
        report(tmp_path)


def test_a_damaged_result_is_named(tmp_path):
    result = tmp_path / "result.json"
    result.write_text("{}")
    with pytest.raises(InputError, match="result.json is damaged or was not written by fewer"):
        _read(result, Selection)
    result.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match="not UTF-8 text"):
        _read(result, Selection)


def test_a_page_does_without_a_damaged_trace(tmp_path, capsys):
    assert _trace(tmp_path / "trace.npz") is None
    assert capsys.readouterr().err == ""
    (tmp_path / "trace.npz").write_bytes(b"broken")
    assert _trace(tmp_path / "trace.npz") is None
    assert "The report omits it." in capsys.readouterr().err
