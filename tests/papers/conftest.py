"""Where the documents' data lie that the package may not carry: FEWER_DATA, or shared/data beside the checkout."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture
def data_folder(monkeypatch):
    """Name the folder to `fewer.datasets`, or skip."""
    folder = Path(os.environ.get("FEWER_DATA") or BESIDE)
    if not (folder / "pima.csv.gz").exists():
        pytest.skip("pima, mofn_3_7_10 and mfeat_digits are not at hand: name their folder in FEWER_DATA")
    monkeypatch.setenv("FEWER_DATA", str(folder))
    return folder


@pytest.fixture
def no_data(monkeypatch):
    """Nothing but what the package carries: neither a folder nor a network."""
    take_away(monkeypatch)


@pytest.fixture(scope="module")
def offline_run():
    """A quick run that a module's tests share, with nothing but what the package carries."""
    from fewer_papers import Rerun

    with pytest.MonkeyPatch.context() as patch:
        take_away(patch)
        yield Rerun(quick=True)


def take_away(patch):
    from fewer.datasets import _shelf
    from fewer.problem import InputError

    def refuse(name, numbers):
        raise InputError(f"{name} is not at hand; name a folder in FEWER_DATA.")

    patch.delenv("FEWER_DATA", raising=False)
    patch.setattr(_shelf, "fetch_named", refuse)
