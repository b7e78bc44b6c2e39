"""`fewer report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewer.cli._outputs import Printout, check_page, say
from fewer.errors import InputError

if TYPE_CHECKING:
    from fewer.contracts.trace import Trace


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run (--out).")],
    out: Annotated[Path | None, typer.Option(help="The page to write; RUN/report.html by default.")] = None,
) -> None:
    """Write the HTML report of a run saved with --out."""
    result = result_of(run)
    from fewer.report import write_comparison_report, write_selection_report

    page = out or run / "report.html"
    check_page(page, result, "--out")
    answer = Printout()
    if (run / "cells.jsonl").exists():
        from fewer.evaluate import Comparison

        answer.show(str(write_comparison_report(page, _read(result, Comparison))))
    else:
        from fewer.run.selection import Selection

        selection = _read(result, Selection)
        answer.show(str(write_selection_report(page, selection, _trace(run / "trace.npz"))))
    answer.leave()


def result_of(run: Path) -> Path:
    """Return the place of a run's result; refuse a folder without one."""
    result = run / "result.json"
    if not result.exists():
        raise InputError(f"There is no finished run in {run}; run fewer select with --out {run} first.")
    return result


def _read(path: Path, kind: Any) -> Any:
    try:
        return kind.from_json(path.read_text(encoding="utf-8"))
    except InputError as error:
        raise InputError(f"{path} is damaged or was not written by fewer. {error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is damaged: it is not UTF-8 text.") from None


def _trace(path: Path) -> Trace | None:
    from fewer.contracts.trace import Trace

    try:
        return Trace.load(path) if path.exists() else None
    except InputError as error:
        say(f"fewer: {error} The report omits it.")
        return None
