"""Twelve tables as people have them, each with another fault: no traceback, and what is printed to be typed works."""

import re
import shlex

import numpy as np
import pytest

from fewer.cli import main

RNG = np.random.default_rng(0)
N = 60
Y = np.arange(N) % 2
SIZE, WEIGHT = (RNG.normal(size=N) + 2 * Y).round(2), RNG.normal(70, 9, N).round(1)
LABEL = ["yes" if code else "no" for code in Y]


def table(size=SIZE, weight=WEIGHT, label=LABEL, header="size,weight,outcome", sep=","):
    rows = [sep.join(map(str, row)) for row in zip(size, weight, label, strict=True)]
    return "\n".join([header, *rows]) + "\n"


def some(column, words, step=9):
    """Put words into some of the cells."""
    cells = list(map(str, column))
    for place in range(0, N, step):
        cells[place] = words[place // step % len(words)]
    return cells


TABLES = {
    "a title above the header": "Customers of May\nexported 2024-05-31\n\n" + table(),
    "two header rows": table().replace("outcome\n", "outcome\ncm,kg,\n", 1),
    "repeated names": table(header="size,size,outcome"),
    "cp1252": table(header="größe,weight,outcome").encode("cp1252"),
    "utf-16": table(header="größe,weight,outcome").encode("utf-16"),
    "spaces between cells": table(sep="   ", header="size   weight   outcome"),
    "twelve rows": "\n".join(table(label=["yes", "no", "no", "no"] * 15).split("\n")[:13]) + "\n",
    "words for missing": table(size=some(SIZE, ["none", "-", "NULL", "n/a", "?"])),
    "words that nobody knows": table(
        size=[f'"{cell}"' for cell in some(SIZE, ["lost", "x, y"])],
        weight=some(WEIGHT, ["see note", "broken"]),
    ),
    "infinite cells and holes in the target": table(
        weight=some(WEIGHT, ["inf", "-inf"], 20), label=some(LABEL, [""], 25)
    ),
    "a leak, an identifier and copies of rows": "refund,customer_id,size,outcome\n"
    + "".join(
        f"{5 + i / 7 if Y[i] else 0:.2f},{1000 + i * 37 % 991},{SIZE[i]},{LABEL[i]}\n" for i in [*range(N), 3, 5, 8]
    ),
    "decimal commas and currencies": table(
        size=[f"{value:.2f}".replace(".", ",") for value in SIZE], weight=[f"{value:.2f} €" for value in WEIGHT],
        header="size;weight;outcome", sep=";",
    ),
}  # fmt: skip
WITH_COMMANDS = [fault for fault in TABLES if fault.startswith(("words that", "infinite", "a leak"))]
COMMAND = re.compile(r"(?:^\s*|: )(fewer (?:select|inspect|rank|compare|transform) .*?)\.?$", re.M)


def run(arguments, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    printed = "".join(capsys.readouterr())
    assert "Traceback" not in printed
    assert "mistake in fewer" not in printed
    return leaving.value.code or 0, printed


@pytest.mark.parametrize("fault", TABLES)
def test_no_traceback_and_every_printed_command_works(fault, tmp_path, capsys):
    path = tmp_path / "my table.csv"
    content = TABLES[fault]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    commands = []
    for command in (["inspect"], ["select", "--method", "fisher", "--folds", "5"]):
        code, printed = run([command[0], str(path), "-t", "outcome", *command[1:]], capsys)
        typed = COMMAND.findall(printed)
        assert code == 0 or (code == 2 and typed), printed
        for line in typed:
            again, after = run(shlex.split(line)[1:], capsys)
            assert again == 0, f"{line}\n{after}"
        commands += typed
    assert (fault not in WITH_COMMANDS) or commands
    assert len(TABLES) == 12
