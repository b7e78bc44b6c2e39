import os

import pytest

from fewer.errors import InputError
from fewer.serve._folder import OURS, Folder, safe_name, table_name

HOSTILE = [
    "../secret.csv", "..", ".", "", "/etc/passwd", "a/../../secret.csv", "..\\secret.csv", "t.csv\0", "\0", ".hidden",
    OURS, f"{OURS}/x.json", "%2e%2e/secret.csv", "t.csv/", "C:\\t.csv", "x" * 5000, "\u202egnp.csv", None, 3, ["t.csv"],
    "https://127.0.0.1/t.csv", "http://127.0.0.1/t.csv", "sqlite:///t.db::t",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.csv").write_text("a,b\n1,2\n")
    return Folder(tmp_path / "in")


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_no_name_leads_out_of_the_folder(folder, name):
    with pytest.raises(InputError):
        folder.table(name)
    with pytest.raises(InputError):
        folder.run(name)


def test_links_are_not_followed(folder, tmp_path):
    (folder.path / "link.csv").symlink_to(tmp_path / "secret.csv")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    (folder.path / "linked").symlink_to(tmp_path / "run")
    assert [table["name"] for table in folder.tables()] == ["t.csv"]
    assert folder.runs() == []
    for find, name in ((folder.table, "link.csv"), (folder.run, "linked")):
        with pytest.raises(InputError):
            find(name)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("t.csv", "t.csv"),
        ("../../.bashrc.csv", "bashrc.csv"),
        ("C:\\Users\\me\\My Table.TSV", "My Table.TSV"),
        ("<img src=x onerror=alert(1)>.csv", "img src=x onerror=alert(1).csv"),
        ("-rf.parquet", "rf.parquet"),
        ("Größe \u202e.csv", "Größe.csv"),
        ("x" * 300 + ".csv.gz", "x" * 80 + ".csv.gz"),
        (".csv", "csv"),
    ],
)
def test_names_of_what_arrives(given, kept):
    if given == ".csv":
        with pytest.raises(InputError):
            table_name(given)
    else:
        assert table_name(given) == kept
        assert "/" not in kept


@pytest.mark.parametrize("name", ["t.exe", "t", "t.csv.exe", "", "t.py", "run.db"])
def test_only_tables_arrive(name):
    with pytest.raises(InputError, match="readable table|no table"):
        table_name(name)


def test_delete_leaves_what_is_not_of_the_run(folder):
    run = folder.path / folder.new_run("t.csv")
    (run / "run.json").write_text('{"fingerprint": "x", "components": {}}')
    (run / "mine.txt").write_text("keep")
    with pytest.raises(InputError, match=r"mine.txt"):
        folder.delete(run.name)
    assert os.listdir(run) == ["mine.txt"]


def test_a_folder_that_is_no_run_is_not_deleted(folder):
    (folder.path / "photos").mkdir()
    (folder.path / "photos" / "run.json").write_text("{}")
    with pytest.raises(InputError, match="no run"):
        folder.delete("photos")
    assert (folder.path / "photos" / "run.json").exists()


def test_a_file_from_elsewhere_is_copied_and_replaces_nothing(folder, tmp_path):
    other = tmp_path / "t.csv"
    other.write_text("other\n1\n")
    assert folder.take(other) == "t-2.csv"
    assert folder.take(folder.path / "t.csv") == "t.csv"
    assert (folder.path / "t.csv").read_text() == "a,b\n1,2\n"
    with pytest.raises(InputError, match="File not found: .*absent.csv"):
        folder.take(tmp_path / "absent.csv")


def test_safe_names():
    assert safe_name("a/b\\c\0../d") == "d"
    assert safe_name("...") == ""
