"""The shelf: what it carries is what its manifest says."""

import csv
import hashlib
from dataclasses import replace
from importlib import resources

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer

from fewer.datasets import _shelf, info, load, names
from fewer.datasets._openml import VIEWS
from fewer.problem import InputError

BUNDLED = [name for name in names() if info(name).way == "bundled"]
AT_HAND = [name for name in names() if info(name).bundled]
FILES = resources.files("fewer.datasets").joinpath("files")


@pytest.fixture(autouse=True)
def no_folder(monkeypatch):
    monkeypatch.delenv("FEWER_DATA", raising=False)


@pytest.mark.parametrize("name", BUNDLED)
def test_the_checksum_of_every_bundled_file(name):
    content = FILES.joinpath(info(name).file).read_bytes()
    assert hashlib.sha256(content).hexdigest() == info(name).sha256


def test_every_bundled_file_is_in_the_manifest_with_source_and_licence_and_is_small():
    files = sorted(file.name for file in FILES.iterdir() if file.name != "README.md")
    assert files == sorted(info(name).file for name in BUNDLED)
    sizes = [len(FILES.joinpath(name).read_bytes()) for name in files]
    assert max(sizes) < 150_000
    assert sum(sizes) < 500_000
    for name in BUNDLED:
        line = info(name)
        assert line.licence in ("CC BY 4.0", "none needed (generated)")
        assert line.source


def test_a_damaged_file_is_noticed(monkeypatch):
    line = replace(info("glass"), sha256="0" * 64)
    monkeypatch.setitem(_shelf.manifest(), "glass", line)
    with pytest.raises(InputError) as error:
        load("glass")
    assert str(error.value) == "glass.csv.gz of this package is damaged (its checksum differs); install fewer again."


@pytest.mark.parametrize("name", AT_HAND)
def test_every_set_at_hand_is_as_its_manifest_says(name):
    data, line = load(name), info(name)
    assert data.X.shape == (line.rows, line.columns)
    assert data.y.shape == (line.rows,)
    assert _shelf.count_kinds(data.problem) == line.kinds
    assert data.problem.task == line.task
    counts = dict(zip(*np.unique(data.y, return_counts=True), strict=True))
    assert " ".join(f"{label}:{count}" for label, count in counts.items()) == line.counts
    if data.holdout is not None:
        start, stop = map(int, line.test_rows.split(":"))
        assert np.flatnonzero(data.holdout).tolist() == list(range(start, stop))


@pytest.mark.parametrize(
    ("name", "rows", "columns", "largest"),
    [
        ("sonar", 208, 60, 111),
        ("ionosphere", 351, 34, 225),
        ("liver", 345, 6, 200),
        ("spectf", 267, 44, 212),
        ("glass", 214, 9, 76),
        ("cleve", 303, 13, 164),
        ("crx", 690, 15, 383),
        ("wdbc", 569, 30, 357),
        ("segment", 2310, 19, 330),
        ("satimage", 6435, 36, 1533),
        ("ann_thyroid", 7200, 21, 6666),
    ],
)
def test_sizes_as_the_documents_and_the_repository_print_them(name, rows, columns, largest):
    data = load(name)
    assert data.X.shape == (rows, columns)
    assert np.unique(data.y, return_counts=True)[1].max() == largest


def test_holes_and_kinds():
    cleve, crx = load("cleve"), load("crx")
    assert np.isnan(cleve.problem.X).any(axis=1).sum() == 6
    assert np.isnan(crx.problem.X).any(axis=1).sum() == 37
    assert load("cleve_complete").X.height == 297
    assert load("crx_complete").X.height == 653
    assert not np.isnan(load("crx_complete").problem.X).any()
    assert cleve.problem.kinds[cleve.X.columns.index("exerc_ind_ang")] == "nominal"
    assert load("ionosphere").problem.constant.tolist() == [i == 1 for i in range(34)]


def test_wdbc_and_nels_halves_of_it():
    source = load_breast_cancer()
    wdbc = load("wdbc")
    np.testing.assert_array_equal(wdbc.X.to_numpy(), source.data)
    assert (wdbc.y == 1).tolist() == (source.target_names[source.target] == "malignant").tolist()
    first, second = load("WDBC1"), load("WDBC2")
    numbers = [4, 5, 7, 8, 9, 10, 11, 14, 15, 21, 22, 25, 27, 28, 29]
    np.testing.assert_array_equal(first.X.to_numpy(), source.data[:, np.array(numbers) - 1])
    assert sorted(first.X.columns + second.X.columns) == sorted(wdbc.X.columns)
    assert first.X.width == second.X.width == 15


def test_scotts_tasks():
    segment, satimage, thyroid = load("segment"), load("satimage"), load("ann_thyroid")
    brodsat = load("BrodSat")
    natural = np.isin(segment.y, ["sky", "foliage", "grass"])
    assert (brodsat.y == "natural").tolist() == natural.tolist()
    assert brodsat.X.equals(segment.X)
    assert (load("Cotton").y == "cotton").tolist() == np.isin(satimage.y, [2, 5]).tolist()
    assert (load("Grey").y == "other").tolist() == np.isin(satimage.y, [1, 2, 5]).tolist()
    assert (load("Thyroid").y == "abnormal").tolist() == (thyroid.y != 3).tolist()
    # The official test file has 461 rows of cotton and stubble in 2000 (Scott, table 6.2, through its z values).
    cotton = load("cotton")
    assert (cotton.holdout.sum(), (cotton.y[cotton.holdout] == "cotton").sum()) == (2000, 461)
    assert load("thyroid").holdout.sum() == 3428


def test_every_view_is_of_a_set_on_the_shelf():
    for name, (of, _) in VIEWS.items():
        assert info(name).way == "view"
        assert of in names()


def test_the_manifest_lists_what_it_must():
    text = resources.files("fewer.datasets").joinpath("manifest.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["name"] for row in rows] == names()
    for row in rows:
        assert row["rows"].isdigit()
        assert row["columns"].isdigit()
        assert row["kinds"]
        assert row["task"] in ("classification", "regression")
        assert row["source"]
        assert row["licence"]
    for name in ("pima", "colon", "mfeat_digits", "adult", "corral_file", "mofn_3_7_10_file", "usps"):
        assert not info(name).bundled


def test_names_that_do_not_exist():
    with pytest.raises(InputError) as error:
        load("sonnar")
    assert str(error.value) == "Unknown data set 'sonnar'; did you mean 'sonar'?"
    with pytest.raises(InputError) as error:
        info("qqqq")
    assert str(error.value) == "Unknown data set 'qqqq'; `fewer datasets` lists them."


# ---------------------------------------------------------------------------------------------------- folder


def make_pima(n_zero=500):
    rng = np.random.default_rng(0)
    columns = ["pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age"]
    return pl.DataFrame(rng.random((768, 8)), schema=columns).with_columns(
        target=pl.Series(np.arange(768) >= n_zero).cast(int)
    )


def test_a_set_from_outside_is_read_from_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FEWER_DATA", str(tmp_path))
    frame = make_pima()
    frame.write_csv(tmp_path / "pima.csv")
    data = load("diabetes")
    assert data.X.equals(frame.drop("target"))
    assert data.y.tolist() == frame["target"].to_list()
    assert data.info is info("pima")


def test_a_file_that_is_not_the_set_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("FEWER_DATA", str(tmp_path))
    make_pima(400).write_csv(tmp_path / "pima.csv")
    with pytest.raises(InputError) as error:
        load("pima")
    assert str(error.value) == (
        f"pima from {tmp_path / 'pima.csv'} is 768 x 8, classes 0:400 1:368, but 768 x 8, classes 0:500 1:268 is "
        "expected; look for the right file."
    )


def test_files_of_ones_own_are_read_from_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FEWER_DATA", str(tmp_path))
    (tmp_path / "mine.csv").write_text("a;b;c\n1;x;2\n2;y;3\n?;x;2\n")
    data = load("mine")
    assert (data.X.columns, data.y.tolist()) == (["a", "b"], [2, 3, 2])
    assert (data.info.kinds, data.info.counts, data.info.licence) == ("1 numeric, 1 nominal", "2:2 3:1", "not known")
    # A set that the package carries is the same for everybody.
    (tmp_path / "glass.csv").write_text("a,target\n1,2\n")
    assert load("glass").X.shape == (214, 9)


def test_a_folder_that_does_not_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("FEWER_DATA", str(tmp_path / "no"))
    with pytest.raises(InputError) as error:
        load("pima")
    assert str(error.value) == f"FEWER_DATA names {tmp_path / 'no'}, which is no folder; correct or unset it."


def test_a_set_that_is_nowhere(monkeypatch, tmp_path):
    monkeypatch.setenv("FEWER_DATA", str(tmp_path))
    with pytest.raises(InputError) as error:
        load("asu_GLIOMA")
    assert str(error.value) == (
        "asu_GLIOMA is not carried in this package (not stated); put asu_GLIOMA.csv.gz into a folder and name the "
        "folder in the variable FEWER_DATA."
    )
