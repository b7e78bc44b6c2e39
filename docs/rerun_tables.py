"""Write what the pages on the five documents say of their re-runs: a sentence, counts, claims, and all cells.

Run with `.venv/bin/python docs/rerun_tables.py FOLDER` after `fewer reproduce all --out FOLDER`, or after
`fewer reproduce NAME --out FOLDER` for some; with `--quick` it takes minutes. Data that does not come with the package
is read from the folder FEWER_DATA. A page is written for each document with a `cells.json` in FOLDER; the counts and
the table of all cells (`cells.csv`) are of these. From them the site makes the page that searches and sorts all cells.
"""

import base64
import csv
import json
import re
import sys
from collections import Counter
from pathlib import Path

import fewer_papers as papers
from fewer_papers._page import FINENESS, small_picture, write_reproduction_report

FOLDER = Path(__file__).parent / "methods" / "reruns"
FIGURES = FOLDER / "figures"
NAMES = ("nel", "dong-kothari", "chen", "loughrey", "scott")
VERDICTS = {
    "matches": "match",
    "better": "better",
    "differs": "differ, reason tested",
    "unexplained": "unexplained",
    "no verdict": "no verdict",
    "not reproducible": "not obtainable",
}
COLUMNS = "table row column printed printed_sd ours low high verdict others role kind reason tested".split()

CLAIMS = "What it claims, looked at again:"


def shown(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else str(value)


def command(run):
    return f"fewer reproduce {run['document']}{' --quick' if run['quick'] else ''}"


def counts_table(runs):
    lines = [
        "| numbers | " + " | ".join(VERDICTS.values()) + " | all | inside | answers exchanged | one answer for all |",
        "|---" * (len(VERDICTS) + 5) + "|",
    ]
    for run in runs:
        for kind, chance in run["chance"].items():
            counts = run[f"{kind}s"]
            total = sum(counts.values())
            if total:
                shares = [f"{chance[name]:.0%}" for name in ("inside", "permuted", "constant")]
                cells = [*(counts[verdict] for verdict in VERDICTS), total, *shares]
                lines.append(f"| {run['document']}, {kind}s | {' | '.join(map(str, cells))} |")
        if made := run["other_counts"].get("derived"):
            cells = [*(made[verdict] for verdict in VERDICTS), sum(made.values()), "", "", ""]
            lines.append(f"| {run['document']}, made of printed ones | {' | '.join(map(str, cells))} |")
    return lines


def unexplained(run):
    """Count the unexplained numbers, on which data they are, by the experiments that were tried on them."""
    document = papers.document(run["document"])
    by_trial = {}
    for cell in (papers.Cell(**cell) for cell in run["cells"]):
        if cell.role == "printed" and cell.verdict == "unexplained":
            place = document.family(cell)
            data = place[1] if place and place[1] and cell.row.startswith(place[1]) else cell.row
            by_trial.setdefault(document.tried(cell).rstrip("."), {}).setdefault(cell.number, (data, cell.table))
    lines = []
    for trials, numbers in sorted(by_trial.items(), key=lambda item: -len(item[1])):
        sets = Counter(data for data, _ in numbers.values())
        counted = ", ".join(f"{data} {count}" for data, count in sets.most_common())
        tables = ", ".join(dict.fromkeys(table for _, table in numbers.values()))
        plural = "s" if len(numbers) > 1 else ""
        lines.append(f"- {len(numbers)} number{plural} ({counted}; tables {tables}). Tried: {trials}.")
    return ["Unexplained, and what was tried on it:", "", *lines, ""] if lines else []


def write_page(run):
    lines = [f"`{command(run)}`: {run['conclusion']}", "", *counts_table([run]), ""]
    lines += unexplained(run)
    lines += [CLAIMS, "", *(f"- {claim}" for claim in run["claims"])]
    (FOLDER / f"{run['document']}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (FIGURES / run["document"]).mkdir(parents=True, exist_ok=True)
    for file in run["figures"]:
        if file.endswith(".png"):
            picture = small_picture(Path(file), *FINENESS[1])  # as fine as on the page of all cells
            (FIGURES / run["document"] / Path(file).name).write_bytes(base64.b64decode(picture["data"]))


def write_cells(runs):
    with (FOLDER / "cells.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["document", *COLUMNS])
        for run in runs:
            writer.writerows([run["document"], *(shown(cell[name]) for name in COLUMNS)] for cell in run["cells"])


def recorded_figures(name):
    """Return the pictures of a document in the order of their numbers."""
    numbered = {file: [int(part) for part in re.findall(r"\d+", file.stem)] for file in FIGURES.glob(f"{name}/*.png")}
    return [str(file) for file in sorted(numbered, key=numbered.get)]


def recorded_run(name):
    """Return a document as its page and `cells.csv` have it, for the page of all cells."""
    first, *lines = (FOLDER / f"{name}.md").read_text(encoding="utf-8").splitlines()
    ran, _, conclusion = first.partition(": ")
    run = {"document": name, "title": papers.document(name).title, "quick": "--quick" in ran, "conclusion": conclusion}
    run |= {"values": {}, "spreads": {}, "sizes": {}, "chance": {}, "seconds": 0, "figures": recorded_figures(name)}
    for kind in ("value", "spread", "size"):
        for line in lines:
            if line.startswith(f"| {name}, {kind}s |"):
                *counts, _, inside, permuted, constant = line.strip("| ").split(" | ")[1:]
                run[f"{kind}s"] = dict(zip(VERDICTS, map(int, counts), strict=True))
                shares = zip(("inside", "permuted", "constant"), (inside, permuted, constant), strict=True)
                run["chance"][kind] = {key: float(share.rstrip("%")) / 100 for key, share in shares}
    run["claims"] = [line.removeprefix("- ") for line in lines[lines.index(CLAIMS) + 2 :]]
    with (FOLDER / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = [{key: value or None for key, value in cell.items()} for cell in csv.DictReader(file)]
    run["cells"] = [
        {**cell, "reason": cell["reason"] or "", "others": cell["others"] and float(cell["others"])}
        for cell in cells
        if cell["document"] == name
    ]
    return run


def write_all_cells(path):
    """Write the page that searches and sorts all cells, with the figures drawn again."""
    write_reproduction_report(path, [recorded_run(name) for name in NAMES])


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    paths = [Path(sys.argv[1]) / name / "cells.json" for name in NAMES]
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    for run in runs:
        write_page(run)
    sentences = [f"- **{run['document']}**: {run['conclusion']}" for run in runs]
    (FOLDER / "counts.md").write_text("\n".join([*sentences, "", *counts_table(runs)]) + "\n", encoding="utf-8")
    write_cells(runs)


if __name__ == "__main__":
    main()
