import pytest

from fewer.cli._report import report
from fewer.errors import FewerWarning, InputError
from fewer.report._selection import _read_trace


def test_there_must_be_a_finished_run(tmp_path):
    with pytest.raises(InputError, match="There is no finished run in"):
        report(tmp_path)


def test_a_damaged_result_is_named(tmp_path):
    result = tmp_path / "result.json"
    result.write_text("{}")
    with pytest.raises(InputError, match="result.json is damaged or was not written by fewer"):
        report(tmp_path)
    result.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match="not UTF-8 text"):
        report(tmp_path)


def test_a_page_does_without_a_damaged_trace(tmp_path):
    assert _read_trace(tmp_path / "trace.npz") is None
    (tmp_path / "trace.npz").write_bytes(b"broken")
    with pytest.warns(FewerWarning, match="The report omits it."):
        assert _read_trace(tmp_path / "trace.npz") is None
