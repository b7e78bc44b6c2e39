from types import SimpleNamespace

import pytest

from fewer.cli import main
from fewer_papers._command import _contract, _counted, _difference, _told


def document(name, seconds):
    return SimpleNamespace(to_json=lambda: {"document": name, "cells": [{"row": "a"}], "seconds": seconds})


def cell(**values):
    return SimpleNamespace(**{"printed": 1, "ours": 1, "difference": None, "difference_in_sd": None, **values})


def test_one_document_as_it_is_several_with_their_cells_together():
    assert _contract([document("x", 1.0)])["document"] == "x"
    both = _contract([document("x", 1.0), document("y", 2.0)])
    assert both["cells"] == [{"document": "x", "row": "a"}, {"document": "y", "row": "a"}]
    assert both["seconds"] == 3.0


def test_counts_leave_out_what_there_is_none_of():
    assert _counted({"matches": 3, "better": 0, "differs": 1}) == "3 matches, 1 differs"
    assert _counted({"matches": 0}) == "none"


def test_differences_have_as_many_digits_as_make_sense():
    assert _difference(cell()) == ""
    assert _difference(cell(printed=3, ours=5, difference=2)) == "+2"
    assert _difference(cell(printed=0.5, ours=0.25, difference=-0.25)) == "-0.2500"
    assert _difference(cell(printed=50.0, ours=50.5, difference=0.5, difference_in_sd=1.26)) == "+0.50 (+1.3 sd)"


def test_a_reason_comes_with_the_run_that_supports_it():
    assert _told(SimpleNamespace(reason="Other folds.", tested="")) == "Other folds."
    assert _told(SimpleNamespace(reason="Other folds.", tested="ten seeds")) == "Other folds. Tested by: ten seeds."


def test_a_page_never_replaces_another_file(tmp_path, capsys):
    mine = tmp_path / "notes.txt"
    mine.write_text("mine")
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "dong-kothari", "--quick", "--report", str(mine)])
    assert stop.value.code == 2
    assert "was not written by fewer" in capsys.readouterr().err
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("place", ["cells.csv", "scott/cells.csv"])
def test_cells_never_replace_another_file(place, tmp_path, capsys):
    mine = tmp_path / place
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    for out, said in ((tmp_path, f"{mine} exists and was not written by fewer"), (mine, "cannot be written")):
        with pytest.raises(SystemExit) as stop:
            main(["reproduce", "scott", "--quick", "--table", "2.1", "--out", str(out)])
        assert stop.value.code == 2
        assert said in capsys.readouterr().err
    assert mine.read_text() == "mine"


def test_a_second_run_in_a_folder_goes_on_there(tmp_path):
    for _ in range(2):
        with pytest.raises(SystemExit) as stop:
            main(["reproduce", "scott", "--quick", "--table", "2.1", "--out", str(tmp_path / "kept")])
        assert stop.value.code == 0


def test_a_stopped_run_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("fewer_papers._core.reproduce", stop)
    for options in ([], ["--out", str(tmp_path)]):
        with pytest.raises(SystemExit) as end:
            main(["reproduce", "scott", *options])
        assert end.value.code == 130
        assert ("The same command goes on where it was." in capsys.readouterr().err) == bool(options)
