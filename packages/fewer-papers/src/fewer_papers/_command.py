"""`fewer reproduce`: a document's tables re-run and set beside the printed ones."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewer.cli._options import check_jobs
from fewer.cli._outputs import check_page
from fewer.errors import InputError
from fewer.files import refuse_unwritable

if TYPE_CHECKING:
    from rich.console import Console

    from fewer_papers import Cell, Reproduction

STYLES = {"matches": "green", "better": "cyan", "differs": "yellow", "unexplained": "red", "no verdict": "dim",
          "not reproducible": "dim"}  # fmt: skip


def reproduce(
    name: Annotated[str, typer.Argument(help="dong-kothari, nel, …, or all")],
    table: Annotated[list[str] | None, typer.Option(help="Only this table; may be given several times.")] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Fewer repeats, no long searches: all five in 4 minutes of processor time, not 32."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")] = 0,
    jobs: Annotated[int, typer.Option(callback=check_jobs, help="Threads; the results do not depend on it.")] = 2,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for cells, figures and intermediate results; a stopped run goes on there."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write one HTML page with tables, figures and claims.", show_default=False)
    ] = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="First get the data that OpenML has, and say what is missing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Re-run a document's tables beside the printed ones.

    A printed number matches if it lies where the re-run varies. Where that holds for more than half of the other
    methods' results too, there is no verdict. Otherwise it is better, differs for a reason that a run has tested, is
    unexplained or not reproducible. Values and spreads are counted apart, beside answers that know nothing. Data that
    does not come with the package is read from the folder FEWER_DATA or from OpenML.
    """
    if report is not None:
        check_page(report, None)
    from rich.console import Console

    import fewer_papers as papers

    stderr = Console(stderr=True)
    scratch = tempfile.TemporaryDirectory(prefix="fewer-") if report is not None and out is None else None
    documents = [papers.document(each) for each in (papers.names() if name == "all" else [name])]
    if out is not None:
        for folder in (out, *(out / document.name for document in documents)):
            _check_kept(folder / "cells.csv")
    if fetch:
        for document in documents:
            document.fetch(lambda line: stderr.print(line, highlight=False))
    try:
        with stderr.status("…") as status:
            run = papers.Rerun(
                quick, seed, Path(scratch.name) if scratch else out, jobs, lambda message: status.update(message)
            )
            results = []
            if len(documents) > 1 and not table:
                papers.prepare(documents, run)
            for document in documents:
                results.append(papers.reproduce(document, run, table or None))
                if len(documents) > 1:
                    stderr.print(f"{document.name}: {results[-1].seconds / 60:.1f} minutes", highlight=False)
    except KeyboardInterrupt:
        if out is not None:
            stderr.print("fewer: stopped. The same command goes on where it was.", highlight=False)
        raise
    if as_json:
        typer.echo(json.dumps(_contract(results), ensure_ascii=False))
    else:
        _print_all(results, jobs)
    if report is not None:
        from fewer_papers._page import write_reproduction_report

        page = write_reproduction_report(report, [result.to_json() for result in results])
        stderr.print(f"Report: {page}", highlight=False)
    if scratch is not None:
        scratch.cleanup()
    if out is not None:
        papers.save_cells(results, out / "cells.csv")
        stderr.print(f"Cells and figures are in {out}.", highlight=False)


def _check_kept(path: Path) -> None:
    """Refuse a place for cells that cannot be written, or where another file is, before the work."""
    refuse_unwritable(path, "--out")
    if path.exists() and not path.read_bytes().startswith(b"document,table,row,"):
        raise InputError(f"{path} exists and was not written by fewer; choose another --out.")


def _contract(results: list[Reproduction]) -> dict[str, object]:
    """One document as it is; several with their cells in one list too."""
    if len(results) == 1:
        return results[0].to_json()
    documents = [result.to_json() for result in results]
    cells = [{"document": each["document"], **cell} for each in documents for cell in each["cells"]]
    return {"documents": documents, "cells": cells, "seconds": sum(each["seconds"] for each in documents)}


def _print_all(results: list[Reproduction], jobs: int) -> None:
    from rich.console import Console

    stdout = Console()
    console = stdout if stdout.is_terminal else Console(width=130)
    for result in results:
        _print(result, console)
    if len(results) < 2:
        return
    _print_counts(results, console)
    seconds, processor = (sum(getattr(result, name) for result in results) for name in ("seconds", "processor"))
    for result in results:
        console.print(f"{result.document.name}: {result.conclusion}", highlight=False)
    told = f"{seconds / 60:.1f} minutes with {jobs} jobs, {processor / 60:.1f} of processor time"
    console.print(f"\n{len(results)} documents, {told}.", highlight=False)


def _print(result: Reproduction, console: Console) -> None:
    from rich.markup import escape

    console.print(f"\n[bold]{escape(result.document.title)}[/bold]")
    for name in dict.fromkeys(cell.table for cell in result.cells):
        _print_table(name, [cell for cell in result.cells if cell.table == name], console)
    if result.claims:
        console.print("\n[bold]What the document says, and what holds here[/bold]")
        for claim in result.claims:
            console.print(f"· {escape(claim.text)}", highlight=False)
    effort = "quick run" if result.run.quick else "full run"
    console.print(f"\n{escape(result.conclusion)}", highlight=False)
    for kind in result.chance:
        if sum((counts := result.counts_of(kind)).values()):
            console.print(f"Distinct printed {kind}s, {sum(counts.values())}: {_counted(counts)}.", highlight=False)
    console.print(f"{result.seconds:.1f} s, {result.processor:.1f} of processor time, {effort}.", highlight=False)
    for role, counts in result.other_counts.items():
        name = {"reading": "Other readings", "derived": "Made of printed numbers", "ours alone": "Not printed"}[role]
        console.print(f"{name}, {sum(counts.values())}: {_counted(counts)}.", highlight=False)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count) or "none"


def _print_counts(results: list[Reproduction], console: Console) -> None:
    """Print up to three lines a document: verdicts by kind of number, beside answers that know nothing."""
    from rich.table import Table

    table = Table(title="Distinct printed numbers", title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("document")
    for heading in (*STYLES, "inside", "exchanged", "constant"):
        table.add_column(heading, justify="right")
    for result in results:
        for kind, chance in result.chance.items():
            counts = result.counts_of(kind)
            shares = (f"{share:.0%}" for share in (chance.inside, chance.permuted, chance.constant))
            if sum(counts.values()):
                table.add_row(f"{result.document.name}, {kind}s", *(str(counts[v]) for v in STYLES), *shares)
    console.print()
    console.print(table)


def _print_table(name: str, cells: list[Cell], console: Console) -> None:
    from rich.markup import escape
    from rich.table import Table

    from fewer_papers import show

    reasons = list(dict.fromkeys(_told(cell) for cell in cells if cell.verdict != "matches"))
    title = f"Table {name}" if any(sign.isdigit() for sign in name) else f"In the {name}"
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for heading in ("row", "column", "printed", "ours", "difference", "verdict"):
        table.add_column(heading, justify="right" if heading in ("printed", "ours", "difference") else "left")
    for cell in cells:
        spread = "" if cell.printed_sd is None else f" ± {show(cell.printed_sd)}"
        note = f" [dim]\\[{reasons.index(_told(cell)) + 1}][/dim]" if cell.verdict != "matches" else ""
        table.add_row(
            escape(cell.row),
            escape(cell.column),
            show(cell.printed) + spread,
            show(cell.ours),
            _difference(cell),
            f"[{STYLES[cell.verdict]}]{cell.verdict}[/]{note}" + ("" if cell.role == "printed" else f" ({cell.role})"),
        )
    console.print()
    console.print(table)
    for number, reason in enumerate(reasons, 1):
        console.print(f"[dim]\\[{number}] {escape(reason)}[/dim]", highlight=False)


def _difference(cell: Cell) -> str:
    if cell.difference is None:
        return ""
    whole = isinstance(cell.printed, int) and isinstance(cell.ours, int)
    digits = 0 if whole else 4 if abs(float(cell.printed or 0)) < 10 else 2  # type: ignore[arg-type]
    in_sd = "" if cell.difference_in_sd is None else f" ({cell.difference_in_sd:+.1f} sd)"
    return f"{cell.difference:+.{digits}f}{in_sd}"


def _told(cell: Cell) -> str:
    """Return the reason with the run that supports it."""
    return f"{cell.reason} Tested by: {cell.tested}." if cell.tested else cell.reason
