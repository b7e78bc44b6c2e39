"""OpenML without a network: its answers as scikit-learn carries them (292 and 1590 cut short), or in their form."""

import gzip
import hashlib
import io
import json
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fewer.datasets import _openml, info, load
from fewer.problem import InputError

SAVED = Path(__file__).parent / "openml"


@pytest.fixture
def openml(monkeypatch, tmp_path):
    """Answer as OpenML would, from saved files and from those that a test adds."""
    answers = {}
    for path in SAVED.glob("*.json"):
        about = json.loads(path.read_text())
        answers[_openml.API.format(number=path.stem)] = path.read_bytes()
        answers[about["data_set_description"]["url"]] = path.with_suffix(".arff").read_bytes()
    asked = []

    def urlopen(address, timeout):
        asked.append(address)
        if address not in answers:
            raise urllib.error.HTTPError(address, 412, "Precondition Failed", None, None)
        return io.BytesIO(answers[address])

    def add(number, arff, target="class", **about):
        url = f"https://www.openml.org/data/v1/download/{number}/x.arff"
        checksum = hashlib.md5(arff.encode()).hexdigest()
        description = {"id": str(number), "url": url, "default_target_attribute": target, "md5_checksum": checksum}
        answers[_openml.API.format(number=number)] = json.dumps({"data_set_description": description | about}).encode()
        answers[url] = arff.encode()

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("FEWER_DATA", raising=False)
    add.asked = asked
    add.answers = answers
    return add


def arff(columns, y, labels, *, sparse=False):
    lines = ["@RELATION x"]
    attributes = [*(f"@ATTRIBUTE {name} {kind}" for name, kind, _ in columns)]
    label = f"@ATTRIBUTE class {{{', '.join(labels)}}}"
    cells = np.column_stack([values for _, _, values in columns])
    if sparse:
        lines += [label, *attributes, "@DATA"]
        for row, name in zip(cells, y, strict=True):
            inside = [f"0 {name}"] * (name != labels[0]) + [f"{i} {row[i - 1]:g}" for i in np.flatnonzero(row) + 1]
            lines.append("{" + ", ".join(inside) + "}")
    else:
        lines += [*attributes, label, "@DATA"]
        frame = pl.DataFrame(cells.astype(int)).with_columns(y=pl.Series(y))
        lines.append(frame.write_csv(include_header=False).rstrip())
    return "\n".join(lines) + "\n"


def test_a_whole_saved_set(openml):
    data = load("openml:61")
    assert data.X.columns == ["sepallength", "sepalwidth", "petallength", "petalwidth"]
    assert data.info.counts == "Iris-setosa:50 Iris-versicolor:50 Iris-virginica:50"
    from sklearn.datasets import load_iris

    # scikit-learn's copy differs from the repository's in two rows.
    assert (np.abs(data.X.to_numpy() - load_iris().data) > 1e-9).any(axis=1).sum() <= 3


def test_a_saved_sparse_set(openml):
    X, y = _openml.fetch(292)
    assert X.columns == [f"X{i}" for i in range(1, 15)]
    assert y[:4].tolist() == [-1, -1, -1, 1]
    assert X.row(0) == (1, -0.7494737, -0.1814286, 0, -0.5384615, -0.25, -0.8887719, -1, -1, -1, 1, 0, -0.9, -0.97576)


def test_adult_as_saved(openml, monkeypatch):
    X, y = _openml.fetch_named("adult", [1590])
    assert X.columns[4] == "educational-num"
    assert X.row(0)[:4] == (25.0, "Private", 226802.0, "11th")
    assert (X.height, y.tolist()) == (8, [0, 0, 1, 1, 0, 1, 0, 0])
    with pytest.raises(InputError, match="adult from OpenML 1590 is 8 x 14, .* but 45222 x 14, .* is expected"):
        load("adult")


def test_what_was_fetched_is_kept(openml):
    load("openml:61")
    n_asked = len(openml.asked)
    assert n_asked == 2
    load("openml:61")
    assert len(openml.asked) == n_asked


def test_colon_as_openml_holds_it(openml):
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=(62, 2000)), 3)
    values[rng.random(values.shape) < 0.2] = 0
    y = ["-1"] * 40 + ["1"] * 22
    openml(1432, arff([(f"X{i + 1}", "numeric", values[:, i]) for i in range(2000)], y, ["1", "-1"], sparse=True))
    data = load("colon")
    np.testing.assert_allclose(data.X.to_numpy(), values)
    assert data.y.tolist() == [1] * 40 + [0] * 22
    assert data.X.columns[:2] == ["g1", "g2"]
    assert data.info is info("colon")


def test_mfeat_is_put_together_from_six_sets(openml):
    rng = np.random.default_rng(0)
    y = [str(i // 200 + 1) for i in range(2000)]
    labels = [str(i) for i in range(1, 11)]
    blocks = {}
    for number, (group, count) in zip((14, 12, 16, 20, 22, 18), _openml._DIGITS.items(), strict=True):
        blocks[group] = rng.integers(0, 7, (2000, count)).astype(float)
        # OpenML declares the pixels as levels.
        kind = "{0,1,2,3,4,5,6}" if group == "pix" else "numeric"
        openml(number, arff([(f"att{i + 1}", kind, blocks[group][:, i]) for i in range(count)], y, labels))
    data = load("mfeat")
    np.testing.assert_array_equal(data.X.to_numpy(), np.hstack(list(blocks.values())))
    assert data.X.columns[76:78] == ["fac1", "fac2"]
    assert data.problem.kinds == ("numeric",) * 649
    assert data.y.tolist() == [i // 200 for i in range(2000)]
    assert load("mfeat_digits5").X.height == 1000


def test_sets_in_different_orders_are_not_put_together(openml):
    openml(1, "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n1,x\n2,y\n")
    openml(2, "@relation r\n@attribute b numeric\n@attribute class {x,y}\n@data\n2,y\n1,x\n")
    with pytest.raises(InputError, match="but the rows of 2 are in another order"):
        _openml.fetch_named("mine", [1, 2])


def test_rows_that_openml_says_to_ignore(openml):
    text = (
        "@relation r\n@attribute id numeric\n@attribute a numeric\n@attribute b string\n@attribute class {x,y}\n@data\n"
    )
    openml(5, text + "1,5,u,x\n2,6,v,y\n", row_id_attribute="id", ignore_attribute=["b"])
    X, y = _openml.fetch(5)
    assert X.equals(pl.DataFrame({"a": [5.0, 6.0]}))
    assert y.tolist() == ["x", "y"]


def test_refusals(openml, monkeypatch):
    with pytest.raises(InputError) as error:
        load("openml:999")
    assert str(error.value) == "OpenML has no data set 999 (it answered 412 Precondition Failed)."
    with pytest.raises(InputError) as error:
        load("openml:iris")
    assert str(error.value) == "'openml:iris' names no OpenML data set; write for example 'openml:61'."
    openml(7, "@relation r\n@attribute a numeric\n@data\n1\n", md5_checksum="0" * 32)
    with pytest.raises(InputError) as error:
        _openml.fetch(7)
    assert str(error.value) == "OpenML 7 arrived damaged (its checksum differs); try again."
    openml(8, "@relation r\n@attribute a numeric\n@data\n1\n", target="")
    with pytest.raises(InputError, match="OpenML 8 names no target column"):
        _openml.fetch(8)
    openml.answers[_openml.API.format(number=9)] = b"<html>"
    with pytest.raises(InputError) as error:
        _openml.fetch(9)
    assert str(error.value) == "OpenML's answer about data set 9 cannot be read; try again later."
    openml(10, "", url="file:///etc/passwd")
    with pytest.raises(InputError, match="which is no https address; it is not fetched"):
        _openml.fetch(10)

    def unreachable(address, timeout):
        raise urllib.error.URLError("no route")

    monkeypatch.setattr(urllib.request, "urlopen", unreachable)
    with pytest.raises(InputError) as error:
        load("pima")
    assert str(error.value) == (
        "OpenML cannot be reached for data set 37 (no route); without a network, put the file into a folder and name "
        "the folder in the variable FEWER_DATA."
    )


def test_half_a_download_is_not_kept(openml, tmp_path):
    openml(11, "@relation r\n@attribute a numeric\n@data\n1\n", md5_checksum="0" * 32)
    with pytest.raises(InputError):
        _openml.fetch(11)
    assert not (tmp_path / "fewer" / "openml" / "11.arff.gz").exists()
    load("openml:61")
    kept = tmp_path / "fewer" / "openml" / "61.arff.gz"
    assert gzip.decompress(kept.read_bytes()) == (SAVED / "61.arff").read_bytes()
