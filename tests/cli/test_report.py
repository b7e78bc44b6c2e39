import pytest
from sklearn.datasets import load_breast_cancer

from fewer.cli import main
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


def test_a_detector_is_told_from_a_selection(tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.iloc[:, :2].assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(SystemExit) as leaving:
        main(["select", str(tmp_path / "t.csv"), "-t", "y", "--method", "parcel", "--out", str(tmp_path / "run")])
    assert not leaving.value.code
    with pytest.raises(InputError, match="run holds a detector; repeat its command with --report page.html --force"):
        report(tmp_path / "run")
