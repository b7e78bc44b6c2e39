"""The command line. Only typer and the standard library are loaded before a command needs more."""

from __future__ import annotations

import gc
import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Annotated, Any, cast

import typer
import typer.main
from typer.core import TyperGroup

import fewer
from fewer import __version__
from fewer.cli._compare import compare
from fewer.cli._datasets import datasets
from fewer.cli._help import help_
from fewer.cli._inspect import inspect
from fewer.cli._options import remember, repaired
from fewer.cli._outputs import (
    exit_code,
    listening,
    prepare_streams,
    refuse_little_memory,
    say,
    silence,
    troubles,
    was_asked,
)
from fewer.cli._rank import rank
from fewer.cli._report import alternatives, report, transform
from fewer.cli._select import demo, select
from fewer.cli._serve import serve
from fewer.errors import FewerWarning, InputError
from fewer.registry import COMPONENTS, METHODS

ABOUT = """Find a small set of columns that predicts your target, and measure what that gains or costs.

Give it a table (CSV with a header row) and the column to predict:

    fewer select patients.csv --target outcome

It selects features on all rows, then cross-validates the whole selection (five folds) and reports how well the
selected features predict unseen rows, compared with all features.

A method has three components, criterion × search × control: score a subset, propose the next one, guard against
overfitting. Choose one by name (--method knn-floating) or combine your own
(--criterion knn:n_neighbors=5 --search annealing --control aggregate).

New here? Run: fewer demo. More: fewer help TOPIC (fewer help lists them), fewer COMMAND --help, and the project
website.
"""

# Entry points of this group are commands that other packages add: a name, and a function as typer takes it.
MORE_COMMANDS = "fewer.commands"

ELSEWHERE = {"reproduce": "`fewer reproduce` is in a separate package: pip install fewer-papers"}


class Commands(TyperGroup):
    """Our commands, and those that installed packages add."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the names, ours first."""
        return [*super().list_commands(ctx), *(entry.name for entry in entry_points(group=MORE_COMMANDS))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; None if nobody has it."""
        if (known := super().get_command(ctx, cmd_name)) is not None:
            return known
        for entry in entry_points(group=MORE_COMMANDS, name=cmd_name):
            single = typer.Typer(add_completion=False, rich_markup_mode=None)
            single.command(cmd_name, epilog=READ_ON)(entry.load())
            return typer.main.get_command(single)
        if cmd_name in ELSEWHERE and not ctx.resilient_parsing:
            raise InputError(ELSEWHERE[cmd_name])
        return None

    def invoke(self, ctx: Any) -> Any:
        """Run a command; typer would turn Ctrl-C, and what counts as it, into exit code 130 without a word."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None


app = typer.Typer(
    cls=Commands,
    help=ABOUT,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


# Options that scikit-learn calls otherwise, and that look like others of ours.
PYTHON_NAMES = {"--random-state": "--seed", "--cv": "--folds"}

# Warnings, each once; they are shown beside an answer, and not beside a refusal.
_told: dict[str, None] = {}


METHOD_LIST = {"auto": "the best of several rankings"} | {name: method.summary for name, method in METHODS.items()}
METHOD_LIST["parcel"] = "a detector for any cost (two classes)"
METHOD_LIST["parcel-scott"] = "the same, by the algorithm as Scott printed it"
WIDTH = max(map(len, METHOD_LIST))
READ_ON = "More: fewer help lists the guide's pages."
EPILOG = ["\n".join(["\b", "Methods:", *(f"  {name:<{WIDTH}}  {text}" for name, text in METHOD_LIST.items())])]
EPILOG += ["Components:"]
EPILOG += [f"{kind}: {', '.join(COMPONENTS[kind])}." for kind in ("criterion", "search", "control", "estimator")]
app.command(epilog="\n\n".join([*EPILOG, READ_ON]))(select)
for command in (inspect, rank, compare, alternatives, transform, report, serve, datasets, demo):
    app.command(epilog=READ_ON)(command)
app.command("help")(help_)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fewer {__version__}")
        raise typer.Exit()


@app.callback()
def _for_all_commands(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Exit codes: 0 success, 1 finished but an output could not be written, 2 invalid input, 70 internal error,
    129 terminal closed (SIGHUP), 130 interrupted (Ctrl-C), 143 terminated (SIGTERM).
    """
    # Most of what a command makes stays until its end: looking for garbage as often as Python does takes 7 % of it.
    gc.set_threshold(20_000)
    typed = list(sys.argv[1:] if arguments is None else arguments)
    remember(typed)
    _told.clear()
    troubles.clear()
    prepare_streams()
    with listening(), warnings.catch_warnings():
        warnings.showwarning = cast(Any, _show_warning)
        message, code = _attempt(typed)
    for text in [] if message else _told:
        say(text)
    if message:
        say(f"fewer: {message}", keep_lines=code == 2)
    try:
        sys.stdout.flush()
    except OSError as error:
        silence(sys.stdout)
        troubles.append(f"cannot print the result ({error.strerror})")
    if troubles and not message:
        say(f"fewer: {'; '.join(troubles)}.")
    sys.exit(code or bool(troubles))


def _suggest(error: typer.TyperException) -> None:
    """Suggest our name of an option that was typed as scikit-learn calls it, where the command has it."""
    ours = PYTHON_NAMES.get(vars(error).get("option_name", ""))
    if ours is not None and any(ours in known.opts for known in vars(error)["ctx"].command.params):
        vars(error)["possibilities"] = [ours]


def _where_targets_are(told: str, typed: list[str]) -> str:
    """Say how to find the name of the column to predict, where it was left out."""
    file = next((word for word in typed[1:] if os.path.exists(word)), "FILE")
    how = f" It names the column to predict; to list the columns: fewer inspect {shlex.quote(file)}"
    return how if told.startswith("Missing option '--target'") else ""


def _attempt(typed: list[str]) -> tuple[str, int]:
    """Run a command; say in a line what went wrong, and give the exit code."""
    try:
        refuse_little_memory()
        code = app(args=typed, prog_name="fewer", standalone_mode=False)
    except InputError as error:
        return _refusal(error), 2
    except typer.TyperException as error:
        _suggest(error)
        describe = getattr(error, "format_message", None)
        message = describe() if describe is not None else str(error)
        return message + _where_targets_are(message, typed), getattr(error, "exit_code", 2)
    except (KeyboardInterrupt, typer.Abort):
        return "stopped.", exit_code()
    except MemoryError:
        return "not enough memory; use fewer rows or columns, or a smaller --memory.", 1
    except OSError as error:
        if "FEWER_DEBUG" in os.environ:
            raise
        file = "standard output" if error.filename is None else str(error.filename)
        return f"cannot read or write {file} ({error.strerror or error}).", 1
    except Exception as error:
        if "FEWER_DEBUG" in os.environ:
            raise
        if type(error).__module__.startswith("polars"):
            return f"the table cannot be read: {str(error).splitlines()[0]}", 2
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(place.filename)}:{place.lineno}"
        return f"this is a bug in fewer; please report it: {type(error).__name__}: {error} ({where})", 70
    code = code if isinstance(code, int) else 0
    return "", exit_code() if was_asked() and not code else code


def _refusal(error: InputError) -> str:
    """Say what is wrong with the input; of cells that cannot be read, with the command that reads the rest."""
    if not isinstance(error, fewer.io.TableError):
        return " ".join(str(error).split())
    how = f"How to fix: correct the cells, or go on without them:\n  {repaired(error.options)}"
    return "\n".join([*error.table, how] if error.options else error.table)


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    text = f"fewer: {message}" if issubclass(category, FewerWarning) else f"fewer: {category.__name__}: {message}"
    _told[text] = None
