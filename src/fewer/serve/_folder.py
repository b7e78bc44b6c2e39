"""One folder, its tables and its runs: the only place that the workbench reads and writes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from fewer.errors import InputError
from fewer.files import CELLS, is_debris, write_atomically
from fewer.run.folder import OWN, RUN, is_run
from fewer.text import printable

# Where the workbench keeps what belongs to no run folder: how tables are read, what was asked for, what was said.
OURS = ".fewer-serve"
ENDINGS = (
    ".csv", ".tsv", ".txt", ".xlsx", ".ods", ".json", ".jsonl", ".ndjson", ".parquet", ".feather", ".arrow", ".dta",
    ".arff", ".csv.gz", ".tsv.gz", ".csv.zip", ".zip", ".csv.bz2", ".csv.xz", ".csv.zst",
)  # fmt: skip
PAGE = "report.html"
# How the names of pages begin that open the browser; they hold the token.
DOOR = "open-"
LONGEST = 80
MOST_SHOWN = 500


class Folder:
    """The folder of a workbench.

    Whatever name comes from outside is looked up among the names that the folder has, so that no name can lead out of
    it; links are not followed.

    Parameters
    ----------
    path : path
        Made if it is not there.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).resolve()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / OURS).mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"The folder {path} cannot be written ({error.strerror}); choose another.") from None
        for left in (*(self.path / OURS).glob("*.part"), *(self.path / OURS).glob(f"{DOOR}*.html")):
            with contextlib.suppress(OSError):
                left.unlink()

    def tables(self) -> list[dict[str, Any]]:
        """Return `name`, `size` in bytes and time `modified` of the tables, the newest first."""
        newest = self._newest(_is_table)[:MOST_SHOWN]
        return [{"name": name, "size": about.st_size, "modified": about.st_mtime} for name, about in newest]

    def table(self, name: Any) -> Path:
        """Return the place of a table that is in the folder."""
        if any(entry.name == name and _is_table(entry) for entry in self._entries()):
            return self.path / name
        raise InputError(f"Table {_short(name)} is not in the folder; it may have been moved.")

    def runs(self) -> list[str]:
        """Return the names of the folders with a run, and of those that one was started in, the newest first."""
        return [name for name, _ in self._newest(self._is_run)][:MOST_SHOWN]

    def run(self, name: Any) -> Path:
        """Return the folder of a run."""
        if any(entry.name == name and self._is_run(entry) for entry in self._entries()):
            return self.path / name
        raise InputError(f"There is no run {_short(name)} in the folder; it may have been deleted.")

    def _is_run(self, entry: os.DirEntry[str]) -> bool:
        if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
            return False
        return bool(self.job(entry.name)) or any((self.path / entry.name / kept).is_file() for kept in (RUN, CELLS))

    def _newest(self, wanted: Callable[[os.DirEntry[str]], bool]) -> list[tuple[str, os.stat_result]]:
        entries = []
        for entry in filter(wanted, self._entries()):
            with contextlib.suppress(OSError):  # deleted meanwhile
                entries.append((entry.name, entry.stat(follow_symlinks=False)))
        return sorted(entries, key=lambda one: (-one[1].st_mtime, one[0]))

    def new_run(self, table: str) -> str:
        """Make an empty folder for a run on a table, and return its name."""
        stem = safe_name(table).split(".")[0][:40].strip("- ") or "run"
        for number in range(1, 100_000):
            with contextlib.suppress(FileExistsError):
                name = f"{stem}-{number}"
                (self.path / name).mkdir()
                return name
        raise InputError("There are too many runs in the folder; delete some.")

    def delete(self, name: str) -> None:
        """Delete the files of a run; what is not of the run stays."""
        place = self.run(name)
        if not is_run(place) and not self.job(name):
            raise InputError(f"{_short(name)} holds no run of fewer; nothing was deleted.")
        with contextlib.suppress(FileNotFoundError):
            for entry in os.listdir(place):
                if entry in (*OWN, PAGE) or is_debris(entry):
                    (place / entry).unlink(missing_ok=True)
        for kind in ("json", "log"):
            (self.path / OURS / f"{name}.{kind}").unlink(missing_ok=True)
        try:
            place.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            left = ", ".join(sorted(os.listdir(place))[:3])
            raise InputError(f"The run is deleted; {_short(left)} in its folder is not of the run and stays.") from None

    def job(self, name: str) -> dict[str, Any] | None:
        """Return what the workbench wrote down of a run that it started."""
        try:
            content = json.loads((self.path / OURS / f"{name}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return content if isinstance(content, dict) and isinstance(content.get("choices"), dict) else None

    def keep_job(self, name: str, content: dict[str, Any]) -> None:
        """Write down what a run was started with."""
        text = json.dumps(content, ensure_ascii=False, indent=1)
        write_atomically(self.path / OURS / f"{name}.json", text.encode("utf-8", "backslashreplace"))

    def log(self, name: str) -> Path:
        """Return the place of what a run says on standard error."""
        return self.path / OURS / f"{name}.log"

    async def receive(self, name: str, parts: AsyncIterator[bytes], limit: int, expected: int | None) -> str:
        """Write a table that arrives in parts; all of it or nothing. Return the name that it has in the folder."""
        wanted = table_name(name)
        if expected is not None and expected > limit:
            raise InputError(_too_large(limit))
        part = self.path / OURS / f"{secrets.token_hex(8)}.part"
        try:
            size = await _write(part, parts, limit)
            if expected is not None and size != expected:
                raise InputError(f"{wanted} arrived only in part ({size:,} of {expected:,} bytes). Upload it again.")
            if not size:
                raise InputError(f"{wanted} is empty; choose a file with a header row and data.")
            return self._place(part, wanted)
        except OSError as error:
            why = f"{wanted} cannot be kept ({error.strerror}); make room or choose another folder."
            raise InputError(why) from None
        finally:
            part.unlink(missing_ok=True)

    def take(self, file: Path) -> str:
        """Return the name of a table in the folder; one from elsewhere is copied."""
        if not file.is_file():
            raise InputError(f"File not found: {file}; check the path.")
        if file.resolve().parent == self.path and file.name.lower().endswith(ENDINGS):
            return file.resolve().name
        part = self.path / OURS / f"{secrets.token_hex(8)}.part"
        try:
            shutil.copyfile(file, part)
            return self._place(part, table_name(file.name))
        finally:
            part.unlink(missing_ok=True)

    def _place(self, part: Path, wanted: str) -> str:
        stem, dot, kind = wanted.partition(".")
        for number in range(1, 100_000):
            name = wanted if number == 1 else f"{stem}-{number}{dot}{kind}"
            with contextlib.suppress(FileExistsError):
                _move_without_replacing(part, self.path / name)
                return name
        raise InputError(f"There are too many tables named {wanted}; delete some.")

    def _entries(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.path) as entries:
                return list(entries)
        except OSError as error:
            raise InputError(f"The folder {self.path} cannot be read ({error.strerror}).") from None


def _is_table(entry: os.DirEntry[str]) -> bool:
    return entry.name.lower().endswith(ENDINGS) and entry.is_file(follow_symlinks=False)


def _move_without_replacing(part: Path, place: Path) -> None:
    try:
        os.link(part, place)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        os.replace(part, place)


async def _write(part: Path, parts: AsyncIterator[bytes], limit: int) -> int:
    size = 0
    with part.open("xb") as file:
        async for block in parts:
            size += len(block)
            if size > limit:
                raise InputError(_too_large(limit))
            file.write(block)
    return size


def _too_large(limit: int) -> str:
    return f"The file is larger than {limit / 2**20:,.0f} MiB; put it into the folder itself, or raise --max-upload."


def table_name(name: str) -> str:
    """Return a name for a table that arrives, without anything that could lead elsewhere.

    Examples
    --------
    >>> table_name("../../etc/my table.CSV"), table_name("-rf.csv")
    ('my table.CSV', 'rf.csv')
    """
    plain = safe_name(name)
    kind = next((kind for kind in sorted(ENDINGS, key=len, reverse=True) if plain.lower().endswith(kind)), None)
    if kind is None:
        raise InputError(f"{_short(name)} is not a readable table; use {', '.join(ENDINGS)}.")
    return (plain[: -len(kind)][:LONGEST].rstrip(". ") or "table") + plain[-len(kind) :]


def safe_name(name: str) -> str:
    """Return the last part of a path with the characters that a name may have."""
    last = re.split(r"[/\\\0]", unicodedata.normalize("NFC", name))[-1]
    plain = "".join(c for c in last if c.isalnum() or c in " ._-()+,=@")
    return plain.strip().lstrip(".-").strip()


def _short(name: Any) -> str:
    text = printable(str(name))
    return repr(text if len(text) <= LONGEST else text[:LONGEST] + "…")
