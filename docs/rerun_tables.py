"""Write the tables "printed and re-run" of the pages on the five documents, and the counts of all of them.

Run with `.venv/bin/python docs/rerun_tables.py FOLDER` after `fewer reproduce all --out FOLDER`, or after
`fewer reproduce NAME --out FOLDER` for some; with `--quick` it takes minutes. Data that does not come with the package
is read from the folder FEWER_DATA. A page is written for each document with a `cells.json` in FOLDER.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
TABLES = {"nel": "5.1", "dong-kothari": "1", "chen": "3", "loughrey": "7.4", "scott": "4.1"}
MOST = 8
VERDICTS = {
    "matches": "match",
    "better": "better",
    "differs": "differ, reason tested",
    "unexplained": "unexplained",
    "not reproducible": "not obtainable",
}


def shown(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return "{" + ", ".join(map(str, value)) + "}"
    return "–" if value is None else str(value)


def command(run):
    return f"fewer reproduce {run['document']}{' --quick' if run['quick'] else ''}"


def write_page(folder, run):
    cells = [cell for cell in run["cells"] if cell["table"] == TABLES[run["document"]] and cell["role"] == "printed"]
    step = max(len(cells) // MOST, 1)
    counts = ", ".join(f"{run['counts'][verdict]} {word}" for verdict, word in VERDICTS.items())
    lines = [
        f"`{command(run)}` re-ran {sum(run['counts'].values())} distinct printed numbers: {counts}. Some of table "
        f"{cells[0]['table']}:",
        "",
        "| row | column | printed | ours | verdict | run that supports the reason |",
        "|---|---|---|---|---|---|",
    ]
    for cell in cells[::step][:MOST]:
        row = (cell["row"], cell["column"], shown(cell["printed"]), shown(cell["ours"]), cell["verdict"],
               cell["tested"] or "–")  # fmt: skip
        lines.append("| " + " | ".join(str(part).replace("|", "\\|") for part in row) + " |")
    lines += ["", "What it claims, looked at again:", ""]
    lines += [f"- {claim}" for claim in run["claims"][:4]]
    (folder / f"{run['document']}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_counts(folder, runs):
    lines = [
        "| document | " + " | ".join(VERDICTS.values()) + " | distinct printed numbers | command |",
        "|---" * (len(VERDICTS) + 3) + "|",
    ]
    for run in runs:
        counts = [run["counts"][verdict] for verdict in VERDICTS]
        lines.append(f"| {run['document']} | {' | '.join(map(str, [*counts, sum(counts)]))} | `{command(run)}` |")
    total = [sum(run["counts"][verdict] for run in runs) for verdict in VERDICTS]
    lines.append(f"| all | {' | '.join(map(str, [*total, sum(total)]))} | |")
    (folder / "counts.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    folder = HERE / "methods" / "reruns"
    folder.mkdir(parents=True, exist_ok=True)
    paths = [Path(sys.argv[1]) / name / "cells.json" for name in TABLES]
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    for run in runs:
        write_page(folder, run)
    if len(runs) == len(TABLES):
        write_counts(folder, runs)


main()
