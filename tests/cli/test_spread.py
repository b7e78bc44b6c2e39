"""Fields of a dataclass as options of a command."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from fewer.cli._options import spread


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option("--width", "-w", min=1)] = 1
    many: Annotated[list[str] | None, typer.Option()] = None


@dataclass(frozen=True)
class Box(Size):
    deep: bool = False


def draw(name: str, box: Box, *, loud: bool = False) -> None:
    """Draw."""
    print(name, box, loud)


def run(*arguments):
    app = typer.Typer()
    app.command()(spread(draw))
    return CliRunner().invoke(app, list(arguments))


def test_options_stand_in_the_place_of_their_bundle_those_of_a_base_first():
    assert list(inspect.signature(spread(draw)).parameters) == ["name", "width", "many", "deep", "loud"]


def test_what_is_typed_arrives_in_the_bundle():
    assert run("a").output.strip() == "a Box(width=1, many=None, deep=False) False"
    typed = run("a", "-w", "3", "--many", "x", "--many", "y", "--deep", "--loud")
    assert typed.output.strip() == "a Box(width=3, many=['x', 'y'], deep=True) True"


def test_bounds_of_an_option_hold():
    assert run("a", "--width", "0").exit_code == 2
