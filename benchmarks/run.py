"""Run benchmark rows, each in a process of its own, and write RESULTS.md.

`python benchmarks/run.py` runs the rows of the engine, people's own models and the Gamma Test in minutes; `--full`
takes larger samples and runs the rows of the documents' methods (`rows_*.py`, which print JSON lines) too.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FULL = "--full" in sys.argv
VERSIONS = ("fewer", "numpy", "numba", "scikit-learn", "mlxtend")


ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def lines_of(*command: str, **variables: str) -> list[dict[str, Any]]:
    """Run a script that prints JSON lines; what it could not do becomes a row that says so."""
    environment = {**os.environ, **variables}
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, env=environment)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode:
        problem = (done.stderr.strip().splitlines() or ["no message"])[-1]
        rows.append({"name": " ".join(Path(part).name for part in command), "notes": [f"failed: {problem}"]})
    return rows


def engine_rows() -> list[dict[str, Any]]:
    from rows_engine import ROWS

    options = ["--full"] if FULL else []
    rows = []
    for name in ROWS:
        print(f"{name} …", file=sys.stderr, flush=True)
        found = lines_of(str(HERE / "rows_engine.py"), *options, name)
        if found and "peak_mb" not in found[0]:
            memory = lines_of(str(HERE / "rows_engine.py"), "--memory", *options, name)
            found[0].update({key: memory[0][key] for key in ("peak_mb", "before_mb") if key in memory[0]})
        rows += found
        for row in found:
            print(said(row), flush=True)
    return rows


def model_rows() -> list[dict[str, Any]]:
    from rows_models import ROWS

    rows = []
    for script, name in [*(("rows_models.py", name) for name in ROWS), ("rows_nel.py", "gamma")]:
        print(f"{name} …", file=sys.stderr, flush=True)
        rows += lines_of(str(HERE / script), name, **ONE_THREAD)
        print(said(rows[-1]), flush=True)
    return rows


def number(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key} {number(x)}" for key, x in value.items())
    if isinstance(value, float):
        return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def cells(row: dict[str, Any]) -> list[str]:
    limit = row.get("share_of_limit")
    memory = f"{row['peak_mb']} ({row['before_mb']} before)" if "peak_mb" in row else ""
    later = f", later {row['later_s']:.2f}" if "later_s" in row else ""
    return [
        row["name"],
        number(row.get("ours_s")) + later + (f" {row['unit']}" if "unit" in row else ""),
        number(row.get("peers_s")),
        number(row.get("times_faster")),
        number(row.get("times_faster_cpu")),
        number(row.get("target")),
        {True: "yes", False: "NO"}.get(row.get("alike"), ""),
        memory,
        "" if limit is None else f"{100 * limit:.0f} %",
    ]


HEADS = ("job", "ours", "peers", "times faster", "by processor time, 1 thread", "target", "alike", "MB", "of the limit")


def said(row: dict[str, Any]) -> str:
    parts = [f"{head}: {cell}" for head, cell in zip(HEADS[1:], cells(row)[1:], strict=True) if cell]
    return "\n  ".join([row["name"], *parts, *row.get("notes", [])])


def page(rows: list[dict[str, Any]], load: tuple[float, float, float]) -> str:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in VERSIONS)
    table = [HEADS, ("---",) * len(HEADS), *(cells(row) for row in rows if row.get("ours_s") is not None)]
    notes = [f"- {row['name']}: {note}" for row in rows for note in row.get("notes", [])]
    return "\n".join(
        [
            "# Results",
            "",
            f"`make bench{'-full' if FULL else ''}` on {date.today()}: Python {platform.python_version()}, {versions}; "
            f"{os.cpu_count()} cores ({platform.machine()}), load average {load[0]:.1f} before the run.",
            "",
            "Ours with two threads, peers held to one, medians by the clock; beside them the ratio of processor",
            "times, one thread against one, which a busy machine changes little. *alike*: both gave the same answer.",
            "*MB*: peak of a process that runs our part alone, and what it had before. *of the limit*: the time that",
            "the counted additions and minima of a plain pass over all distances would take at the rate measured here,",
            "divided by our time; more than 100 % is possible where work is avoided. What limits each row: NOTES.md.",
            "",
            *("| " + " | ".join(line) + " |" for line in table),
            "",
            *notes,
            "",
        ]
    )


if __name__ == "__main__":
    load = os.getloadavg()
    rows = [*engine_rows(), *model_rows()]
    if FULL:
        for script in sorted(HERE.glob("rows_*.py")):
            if script.name not in ("rows_engine.py", "rows_models.py"):
                print(f"{script.name} …", file=sys.stderr, flush=True)
                rows += lines_of(str(script))
    (HERE / "RESULTS.md").write_text(page(rows, load))
    failed = [row["name"] for row in rows if row.get("alike") is False or "failed" in " ".join(row.get("notes", []))]
    if failed:
        sys.exit("Not alike or failed: " + "; ".join(failed))
