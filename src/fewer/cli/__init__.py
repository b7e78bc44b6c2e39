"""The command line. Only typer and the standard library are loaded before a command needs more."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from fewer import __version__
from fewer.cli._compare import compare
from fewer.cli._datasets import datasets
from fewer.cli._rank import rank
from fewer.cli._report import report
from fewer.cli._reproduce import reproduce
from fewer.cli._select import demo, select
from fewer.cli._shared import remember
from fewer.errors import InputError
from fewer.registry import COMPONENTS, METHODS

ABOUT = """Find the fewest features that carry the signal, and whether that helped.

Give it a table (CSV with a header row) and the column to predict:

    fewer select patients.csv --target outcome

It searches for the best subset of features, then repeats the whole search without each of five folds of the rows
and tells how well the chosen features predict rows that it never saw, beside all features.

A method has three components, criterion × search × control: how good is a subset, which subset next, when to
stop believing it. Choose one by name (--method knn-floating) or say your own
(--criterion knn:n_neighbors=5 --search annealing --control aggregate).

New here? Run: fewer demo
"""

app = typer.Typer(
    help=ABOUT,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _listed(title: str, names: dict[str, str]) -> str:
    width = max(map(len, names))
    return "\n".join(["\b", f"{title}:", *(f"  {name:<{width}}  {text}" for name, text in names.items())])


METHOD_LIST = {"auto": "a choice by the size of the data"} | {name: method.summary for name, method in METHODS.items()}
METHOD_LIST["parcel"] = "one detector for every cost (two classes)"
WORD_LIST = "\n\n".join(
    [
        "Components:",
        *(f"{kind}: {', '.join(COMPONENTS[kind])}." for kind in ("criterion", "search", "control", "estimator")),
    ]
)
app.command(epilog=f"{_listed('Methods', METHOD_LIST)}\n\n{WORD_LIST}")(select)
for command in (rank, compare, report, reproduce, datasets, demo):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fewer {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; leave with 0 if all went well, 2 for bad input, 130 for Ctrl-C."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    remember(typed)
    try:
        code = app(args=typed, prog_name="fewer", standalone_mode=False)
    except InputError as error:
        _leave(str(error), 2)
    except typer.TyperException as error:
        describe = getattr(error, "format_message", None)
        _leave(describe() if describe is not None else str(error), getattr(error, "exit_code", 2))
    except (KeyboardInterrupt, typer.Abort):
        _leave("stopped.", 130)
    sys.exit(code if isinstance(code, int) else 0)


def _leave(message: str, code: int) -> None:
    print(f"fewer: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)
