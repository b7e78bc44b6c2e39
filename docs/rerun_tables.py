"""Write the tables "printed and re-run" of the pages on the five documents.

Run with `.venv/bin/python docs/rerun_tables.py FOLDER`, where FOLDER holds what these commands print:
`fewer reproduce NAME --quick --json > FOLDER/NAME.json` for nel, dong-kothari, chen, loughrey and scott. Data that does
not come with the package is read from the folder FEWER_DATA.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
TABLES = {"nel": "5.1", "dong-kothari": "1", "chen": "3", "loughrey": "7.1", "scott": "4.1"}
MOST = 8


def shown(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return "{" + ", ".join(map(str, value)) + "}"
    return "–" if value is None else str(value)


def write_page(name, run):
    cells = [cell for cell in run["cells"] if cell["table"] == TABLES[name]] or run["cells"]
    step = max(len(cells) // MOST, 1)
    lines = [
        f"`fewer reproduce {name} --quick` re-ran {len(run['cells'])} printed numbers: "
        + ", ".join(f"{count} {verdict}" for verdict, count in run["counts"].items())
        + f". Some of table {cells[0]['table']}:",
        "",
        "| row | column | printed | ours | verdict |",
        "|---|---|---|---|---|",
    ]
    for cell in cells[::step][:MOST]:
        row = (cell["row"], cell["column"], shown(cell["printed"]), shown(cell["ours"]), cell["verdict"])
        lines.append("| " + " | ".join(str(part).replace("|", "\\|") for part in row) + " |")
    lines += ["", "What it claims, looked at again:", ""]
    lines += [f"- {claim}" for claim in run["claims"][:4]]
    folder = HERE / "methods" / "reruns"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


for name in TABLES:
    path = Path(sys.argv[1]) / f"{name}.json"
    if path.exists() and path.stat().st_size:
        write_page(name, json.loads(path.read_text(encoding="utf-8")))
