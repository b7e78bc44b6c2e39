"""Small problems and workbooks for tests."""

import io
import zipfile
from xml.sax.saxutils import escape

import numpy as np

from fewer.problem import Problem


def make_problem(n_rows=60, n_features=6, n_informative=2, seed=0, task="classification", decimals=None):
    """Two shifted classes (or a linear target) in the first columns, noise in the others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    if task == "classification":
        y = np.arange(n_rows) % 2
        X[:, :n_informative] += 1.5 * y[:, None]
    else:
        y = X[:, :n_informative].sum(axis=1) + 0.1 * rng.normal(size=n_rows)
    if decimals is not None:
        X = X.round(decimals)
    return Problem.from_arrays(X, y, task=task)


SPACE = "http://schemas.openxmlformats.org"


def xlsx(sheets):
    """Write a workbook by hand: the format itself is the truth."""
    kind = f"{SPACE}/officeDocument/2006/relationships"
    places = list(enumerate(sheets, 1))
    names = "".join(f'<sheet name="{escape(name)}" sheetId="{i}" r:id="rId{i}"/>' for i, name in places)
    rels = [f'<Relationship Id="rId{i}" Type="{kind}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i, _ in places]
    root = [f'<Relationship Id="rId1" Type="{kind}/officeDocument" Target="xl/workbook.xml"/>']
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        book.writestr("[Content_Types].xml", f'<Types xmlns="{SPACE}/package/2006/content-types"/>')
        for path, links in (("_rels/.rels", root), ("xl/_rels/workbook.xml.rels", rels)):
            text = f'<Relationships xmlns="{SPACE}/package/2006/relationships">{"".join(links)}</Relationships>'
            book.writestr(path, text)
        main = f'xmlns="{SPACE}/spreadsheetml/2006/main"'
        book.writestr("xl/workbook.xml", f'<workbook {main} xmlns:r="{kind}"><sheets>{names}</sheets></workbook>')
        for (i, _), rows in zip(places, sheets.values(), strict=True):
            lines = "".join(xlsx_row(row, number) for number, row in enumerate(rows, 1))
            book.writestr(
                f"xl/worksheets/sheet{i}.xml", f"<worksheet {main}><sheetData>{lines}</sheetData></worksheet>"
            )
    return out.getvalue()


def xlsx_row(row, number):
    cells = "".join(xlsx_cell(cell, f"{'ABCDEFGH'[place]}{number}") for place, cell in enumerate(row))
    return f'<row r="{number}">{cells}</row>'


def xlsx_cell(cell, place):
    if cell is None:
        return ""
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f'<c r="{place}"><v>{cell}</v></c>'
