"""The oldest versions that are tested are those that are declared."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOOLS = {"mypy", "ruff", "cupy-cuda13x"}  # they look at the sources, or need a GPU


def declared():
    """Return the declared minimum of each package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    found = [re.fullmatch(r"([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?>=([0-9.]+)", line) for line in lines]
    assert all(found), lines
    return {match[1].lower(): match[2] for match in found}


def pinned(name):
    """Return the versions that a file of constraints names."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {line.split("==")[0].lower(): line.split("==")[1] for line in lines if "==" in line}


def test_the_oldest_versions_are_the_declared_ones():
    oldest = pinned("constraints-oldest.txt")
    for package, minimum in declared().items():
        if package in TOOLS:
            continue
        assert package in oldest, f"constraints-oldest.txt lacks {package}"
        assert f"{oldest[package]}.".startswith(f"{minimum}."), (
            f"{package}: {minimum} declared, {oldest[package]} tested"
        )


def test_known_versions_are_no_older_than_the_declared_ones():
    minima = declared()
    for package, version in pinned("constraints.txt").items():
        if package in minima:
            numbers = [tuple(map(int, text.split("."))) for text in (version, minima[package])]
            assert numbers[0] >= numbers[1], package
