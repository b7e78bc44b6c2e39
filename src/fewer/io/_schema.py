"""How a table was understood, as a small JSON file that people can read, correct and give back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args

from fewer.errors import InputError
from fewer.io._dates import DateFormat, Order
from fewer.io._numbers import NumberFormat
from fewer.io._typed import ColumnKind, Reading

VERSION = 1


@dataclass(frozen=True)
class Schema:
    """How each column of a table is read.

    Read more in the guide: :doc:`/guide/tables`.

    Parameters
    ----------
    columns : mapping of str to Reading
        By name. Columns that a schema does not name are understood from their cells.
    missing : tuple of str or None
        The cells that mean missing.

    See Also
    --------
    read_table : Takes one as `schema`.

    Examples
    --------
    >>> Schema.from_json(Schema(missing=("-",)).to_json()).missing
    ('-',)
    """

    columns: Mapping[str, Reading] = field(default_factory=dict)
    missing: tuple[str, ...] | None = None

    def to_json(self) -> str:
        """Return the schema as JSON text, one line a column.

        Returns
        -------
        str
            What `from_json` reads.
        """
        lines = [
            f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(_to_dict(reading), ensure_ascii=False)}"
            for name, reading in self.columns.items()
        ]
        missing = "" if self.missing is None else f' "missing": {json.dumps(list(self.missing), ensure_ascii=False)},\n'
        body = ",\n".join(lines)
        return f'{{\n "fewer_schema": {VERSION},\n{missing} "columns": {{\n{body}\n }}\n}}\n'

    @classmethod
    def from_json(cls, text: str, name: str = "The schema") -> Schema:
        """Read a schema from JSON text.

        Parameters
        ----------
        text : str
            What `to_json` wrote.
        name : str, default="The schema"
            What it is called in messages.

        Returns
        -------
        Schema
            Refused with its line if it is not one.

        Examples
        --------
        >>> text = Schema({"d": Reading("date", DateFormat("day-month-year"))}).to_json()
        >>> Schema.from_json(text).columns["d"].format.describe()
        'day/month/year'
        """
        try:
            content = json.loads(text)
        except ValueError as error:
            raise InputError(f"{name} is no JSON ({error}); write it anew with fewer inspect --write-schema.") from None
        if not isinstance(content, dict) or not isinstance(content.get("columns"), dict):
            raise InputError(f"{name} has no 'columns'; write it anew with fewer inspect --write-schema.")
        missing = content.get("missing")
        if missing is not None and not (isinstance(missing, list) and all(isinstance(cell, str) for cell in missing)):
            raise InputError(f"{name}: 'missing' must be a list of texts.")
        columns = {column: _from_dict(about, f"{name}, {column!r}") for column, about in content["columns"].items()}
        return cls(columns, None if missing is None else tuple(missing))


def read_schema(schema: Schema | Path | str | None) -> Schema:
    """Return a schema, from its file if need be."""
    if schema is None or isinstance(schema, Schema):
        return Schema() if schema is None else schema
    path = Path(schema)
    try:
        return Schema.from_json(path.read_text(encoding="utf-8"), path.name)
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is no JSON; write it anew with fewer inspect --write-schema.") from None
    except OSError as error:
        raise InputError(f"The schema {path} cannot be read ({error.strerror}); check its name and folder.") from None


def _to_dict(reading: Reading) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": reading.kind}
    if isinstance(reading.format, DateFormat):
        about["order"] = reading.format.order
    elif reading.format is not None:
        about |= {key: value for key, value in asdict(reading.format).items() if value != getattr(NumberFormat(), key)}
    if reading.kind == "left out":
        about["reason"] = reading.reason
    return about


def _from_dict(about: Any, where: str) -> Reading:
    kinds = get_args(ColumnKind)
    if not isinstance(about, dict) or about.get("kind") not in kinds:
        raise InputError(f"{where}: 'kind' must be one of {', '.join(kinds)}.")
    kind: ColumnKind = about["kind"]
    known = {
        "kind",
        "reason",
        *(("order",) if kind == "date" else ()),
        *(asdict(NumberFormat()) if kind == "numeric" else ()),
    }
    if odd := [key for key in about if key not in known]:
        raise InputError(f"{where}: {odd[0]!r} is not known for {kind} columns; there are {', '.join(sorted(known))}.")
    if kind == "date":
        if about.get("order", "year-month-day") not in get_args(Order):
            raise InputError(f"{where}: 'order' must be one of {', '.join(get_args(Order))}.")
        return Reading("date", DateFormat(about.get("order", "year-month-day")))
    if kind == "numeric":
        marks = {key: about.get(key, default) for key, default in asdict(NumberFormat()).items()}
        good = all(isinstance(mark, str) for mark in marks.values())
        if not good or marks["decimal"] not in (".", ",", ":") or marks["thousands"] not in ("", ",", ".", " ", "'"):
            raise InputError(
                f"{where}: 'decimal' is . or a comma (or : for 12:30), 'thousands' one of , . ' or a space."
            )
        if marks["decimal"] == marks["thousands"]:
            raise InputError(f"{where}: 'decimal' and 'thousands' cannot both be {marks['decimal']!r}.")
        return Reading("numeric", NumberFormat(**marks))
    return Reading(kind, reason=str(about.get("reason", "the schema says so")) if kind == "left out" else "")
