"""What others see: workflows run targets that are there, on every Python that is declared."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_of_the_makefile(path):
    text = path.read_text()
    versions = re.findall(r"versions: (\w+)", text)
    asked = [target for found in re.findall(r"run: make (\S+)", text) for target in (
        [found] if found in TARGETS else [found.partition("-$")[0] + f"-{version}" for version in versions]
    )]  # fmt: skip
    assert asked
    assert set(asked) <= TARGETS


def test_the_matrix_is_what_the_classifiers_declare():
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    (matrix,) = re.findall(r'python: (\["3.*\])', (ROOT / ".github" / "workflows" / "test.yml").read_text())
    assert re.findall(r"3\.\d+", matrix) == declared
    assert PROJECT["requires-python"] == f">={declared[0]}"


def test_one_version_stands_everywhere():
    import fewer

    papers = tomllib.loads((ROOT / "packages" / "fewer-papers" / "pyproject.toml").read_text())["project"]["version"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)[1]
    dated = re.search(r"^## (\d\S+) \(\d{4}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
    assert fewer.__version__ == PROJECT["version"] == papers == cited == dated
