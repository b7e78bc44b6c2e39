"""`fewer inspect`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import fewer
from fewer.cli._options import ColumnOptions, FileArgument, JsonOption, repaired, spread, table_options
from fewer.cli._outputs import attempt, check_page, show, width_of_paper
from fewer.errors import InputError
from fewer.files import write_atomically

SCHEMA = "Write the detected column types here, for --schema."
OVERFITTING = "With --target: will a search overfit here? Shuffled targets tell."
NOISE = "With --target: how much is noise, and when should training stop?"


@spread
def inspect(
    file: FileArgument,
    target: Annotated[str | None, typer.Option("--target", "-t", help="The column to predict, if it is known.")] = None,
    *,
    columns: ColumnOptions,
    write_schema: Annotated[Path | None, typer.Option(help=SCHEMA)] = None,
    against: Annotated[Path | None, typer.Option(help="An older table: show which columns changed since.")] = None,
    overfitting: Annotated[bool, typer.Option("--overfitting", help=OVERFITTING)] = False,
    noise: Annotated[bool, typer.Option("--noise", help=NOISE)] = False,
    as_json: JsonOption = False,
) -> None:
    """Show how each column of a table is read, before any selection.

    Types, missing cells, distinct values, examples, and what is converted or not used. If a column was misread, write
    a schema, correct it, and pass it to select, rank or compare:

        fewer inspect t.csv --write-schema t.json
        fewer select t.csv --target y --schema t.json

    Exit status 2 means that select would refuse some cells. With --against OLD, show instead which columns changed
    since an older table, and whether a model can tell the rows of the two apart.
    """
    if against is not None:
        _show_drift(file, against, target, columns, as_json=as_json)
        return
    if write_schema is not None:
        check_page(write_schema, file, "--write-schema", b'"fewer_schema"')
    options = table_options(columns)
    if fewer.io.beyond_memory(file):
        usual = table_options() | {name: options[name] for name in ("task", "exclude")}
        if options != usual or write_schema is not None or overfitting or noise:
            raise InputError(f"{file} is larger than memory: it is read in chunks, with --target and --exclude only.")
        inspection = fewer.io.inspect_chunks(file, target, tuple(map(str, options["exclude"])))
    else:
        inspection = fewer.io.inspect_table(file, target, **options)
    text = inspection.to_json() if as_json else inspection.to_text(width_of_paper(100))
    for name, measure in (("overfitting", _overfitting if overfitting else None), ("noise", _noise if noise else None)):
        if measure is not None:
            if target is None:
                raise InputError(f"--{name} needs --target, the column to predict.")
            measured, words = measure(fewer.io.read_table(file, target, **options))
            text = json.dumps(json.loads(text) | {name: measured}) if as_json else f"{text}\n{words}"
    show(text, as_json=as_json)
    if write_schema is not None:
        schema = inspection.schema.to_json().encode()
        attempt(write_schema, lambda: write_atomically(write_schema, schema))
    if inspection.problems and not as_json and (fixes := fewer.io.TableError(inspection.problems).options):
        show(f"How to fix: correct the cells, or go on without them:\n  {repaired(fixes)}")
    if inspection.problems:
        raise typer.Exit(2)


def _show_drift(new: Path, old: Path, target: str | None, columns: Any, *, as_json: bool) -> None:
    """Compare two tables column by column."""
    import numpy as np
    import polars as pl

    from fewer.io._files import understand_table

    options: Any = table_options(columns)
    frames = [understand_table(path, target, columns.task, None, options).frame for path in (old, new)]
    names = [[name for name in frame.columns if name != target] for frame in frames]
    common = [name for name in names[0] if name in names[1]]
    if not common:
        raise InputError(f"{new} and {old} have no column in common.")
    both = pl.concat([frame.select(common) for frame in frames], how="vertical_relaxed")
    problem = fewer.io.to_problem(both, np.repeat([0, 1], [frame.height for frame in frames]), task="classification")
    only = [[name for name in first if name not in second] for first, second in (names, names[::-1])]
    comparison = fewer.evaluate.drift(problem, only_old=only[0], only_new=only[1])
    show(comparison.to_dict() if as_json else str(comparison), as_json=as_json)


def _overfitting(problem: fewer.Problem) -> tuple[dict[str, float], str]:
    """Search shuffled targets of the table, and of simulated columns."""
    import numpy as np

    real = fewer.evaluate.search_overfitting(problem, rng=np.random.default_rng(0))
    drawn = fewer.evaluate.search_overfitting(problem, simulated=True, rng=np.random.default_rng(0))
    far = f"{real.gap:.2f} of R²" if problem.task == "regression" else f"{100 * real.gap:.1f} points of accuracy"
    return {**asdict(real), "gap": real.gap, "gap_simulated": drawn.gap}, (
        f"Will a search overfit here? By about {far}. On shuffled targets, where nothing can be learned, forward "
        f"selection with nearest neighbors scored {real.believed:.2f} on its own {real.n_rows} rows and "
        f"{real.fresh:.2f} on other rows; with simulated columns of the same shape {drawn.believed:.2f} and "
        f"{drawn.fresh:.2f}."
    )


def _noise(problem: fewer.Problem) -> tuple[dict[str, float], str]:
    """Estimate the noise in the target, and when boosting would begin to learn it (Nel)."""
    import numpy as np

    if (others := problem.nominal | np.isnan(problem.as_dense().X).any(axis=0)).any():
        how = repaired({"--exclude": [problem.names[at] for at in np.flatnonzero(others)]})
        raise InputError(f"--noise needs numbers without missing cells; leave the other columns out: {how}")
    stop = fewer.criteria.training_stop(problem.as_dense().X, problem.y)
    content: dict[str, float] = {"gamma": stop.gamma, "stop": stop.step, "n_steps": len(stop.errors)}
    if problem.task == "classification":
        low, high = content["error_low"], content["error_high"] = fewer.criteria.reachable_error(
            stop.gamma, problem.n_classes
        )
        about = f"the best reachable error rate is between {low:.2f} and {high:.2f}"
    else:
        content["r2"] = 1.0 - stop.gamma / float(np.var(problem.y))
        about = f"the best reachable R² is about {content['r2']:.2f}"
    when = (
        f"Gradient boosting reaches this error on its training rows after {stop.step} of {len(stop.errors)} trees: "
        "beyond that it learns the noise."
        if stop.reached
        else f"In {len(stop.errors)} trees gradient boosting does not reach this error on its training rows: it need "
        "not stop earlier."
    )
    return content, f"How much is noise? By the Gamma Test {stop.gamma:.2g} of squared error; {about}. {when}"
