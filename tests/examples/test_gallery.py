"""Every example runs and ends in a picture."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_ends_in_a_picture(script, tmp_path, monkeypatch):
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", [str(script), str(picture)])
    runpy.run_path(str(script), run_name="__main__")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_every_example_is_in_the_list():
    listed = (EXAMPLES[0].parent / "README.md").read_text()
    assert all(f"`{script.name}`" in listed for script in EXAMPLES)
