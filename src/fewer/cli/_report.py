"""`fewer report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fewer.errors import InputError


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run (--out).", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="The page to write; RUN/report.html by default.")] = None,
) -> None:
    """Write the page of a run that was kept with --out."""
    result = run / "result.json"
    if not result.exists():
        raise InputError(f"There is no finished run in {run}; run fewer select with --out {run} first.")
    from fewer.report import write_comparison_report, write_selection_report

    page = out or run / "report.html"
    if (run / "cells.jsonl").exists():
        from fewer.evaluate import Comparison

        print(write_comparison_report(page, Comparison.from_json(result.read_text())))
        return
    from fewer.api import Selection
    from fewer.trace import Trace

    trace = Trace.load(run / "trace.npz") if (run / "trace.npz").exists() else None
    print(write_selection_report(page, Selection.from_json(result.read_text()), trace))
