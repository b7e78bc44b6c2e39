"""`fewer transform`: a new table with the columns that a run chose."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewer.cli._options import EncodingOption, FileArgument, HeaderOption, SaveOption, SheetOption
from fewer.cli._outputs import Printout, check_save, write_in_chunks
from fewer.errors import InputError
from fewer.files import write_atomically
from fewer.run.request import names_of

if TYPE_CHECKING:
    from fewer.io import Contract


def transform(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder from select --out, or its JSON output.")],
    file: FileArgument,
    save: SaveOption = None,
    keep: Annotated[str | None, typer.Option(help="Other columns to keep: id,outcome.")] = None,
    encoding: EncodingOption = None,
    sheet: SheetOption = None,
    header: HeaderOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --save.")] = False,
) -> None:
    """Reduce a table to the features that a run chose.

    Cells are copied as written; Parquet files get numbers and dates. Without --save the table is printed as CSV.
    Columns may come in any order; other columns are ignored. New levels are reported. An absent column, or one with
    text where there were numbers, is refused by name.
    """
    from fewer.io import beyond_memory, frame_bytes, reduce_table

    contract = chosen_by(run)
    columns = list(dict.fromkeys([*names_of(keep), *contract.features]))
    if save is not None:
        check_save(save, file, force=force)
    if beyond_memory(file):
        if encoding or sheet or header:
            raise InputError(f"{file} is larger than memory; --encoding, --sheet and --header need it in memory.")
        written = write_in_chunks(save, file, columns, contract)
        if save is not None:
            Printout().show(written)
        return
    typed = save is not None and save.suffix.lower() == ".parquet"
    frame = reduce_table(
        file, columns, typed=typed, contract=contract, encoding=encoding, sheet=sheet, header=header
    )  # fmt: skip
    answer = Printout()
    if save is None:
        sys.stdout.flush()
        answer.attempt("the table", lambda: sys.stdout.buffer.write(frame_bytes(frame, "-.csv")))
    else:
        answer.attempt(save, lambda: write_atomically(save, frame_bytes(frame, save)))
        answer.show(f"{frame.height:,} rows, {frame.width} columns in {save}")
    answer.leave()


def chosen_by(run: Path) -> Contract:
    """Return what a run chose and what it expects of new tables, from its folder, its JSON or its pipeline's JSON."""
    import json

    from fewer.io import Contract

    path = run / "result.json" if run.is_dir() else run
    refusal = InputError(f"{path} is not a result of fewer select; give its --out folder or --json output.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        features = content["features"]
        columns = content.get("columns") or content.get("data", {}).get("columns", ())
        names = content.get("feature_names_in") or [column["name"] for column in columns]
        known = [column for column in columns if column["name"] in features]
        n_features = content.get("n_features_in", content.get("n_features"))
    except FileNotFoundError:
        raise InputError(f"There is no finished run in {run}; give the folder of fewer select --out.") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise refusal from None
    if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
        raise refusal
    if not features:
        raise InputError(f"The run in {run} selected no features; nothing to keep.")
    return Contract(tuple(features), tuple(known), tuple(names) if len(names) == n_features else None)
