"""Files that are written whole or not at all, folders that one process at a time uses, and journals that resume."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import secrets
import stat
import sys
import weakref
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fewer.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NO_LINKS = getattr(os, "O_NOFOLLOW", 0)  # Windows has no such flag
LOCK = ".fewer-lock"
PART = ".part"
# In the folder of a comparison: what it has found, and how many cells it will have.
CELLS, TOTAL = "cells.jsonl", "total.json"
CHECK = "check"
LONGEST_NAME = 120


def write_atomically(path: Path | str, content: bytes | Callable[[Any], Any]) -> None:
    """Write a file beside its place and move it there whole: a kill or a full disk leaves the previous file as it was.

    Parameters
    ----------
    path : path
        A link is followed. What is no plain file, such as `/dev/null`, is written to and not replaced.
    content : bytes or callable
        What to write, or a function that writes to the open binary file.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_atomically(folder / "a.txt", b"whole")
    >>> (folder / "a.txt").read_bytes(), len(list(folder.iterdir()))
    (b'whole', 1)
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode if path.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        with path.open("wb") as file:
            _fill(file, content)
        return
    temporary = path.with_name(f".{path.name[:LONGEST_NAME]}.{os.getpid()}-{secrets.token_hex(4)}{PART}")
    try:
        with temporary.open("xb") as file:
            _fill(file, content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _fill(file: Any, content: bytes | Callable[[Any], Any]) -> None:
    if callable(content):
        content(file)
    else:
        file.write(content)


def _sync_folder(folder: Path) -> None:
    """Make a new name last through a power cut, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def refuse_unwritable(path: Path, option: str) -> None:
    """Refuse a place for a file where none can be written, before the work is done.

    Parameters
    ----------
    path : path
        Where a file is to be written.
    option : str
        What the user called it, for the message.

    Raises
    ------
    InputError
        If no file can be written there.

    Examples
    --------
    >>> import tempfile
    >>> refuse_unwritable(Path(tempfile.mkdtemp()) / "page.html", "--save")
    """
    path = Path(os.path.realpath(path))
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name a file for {option}.")
        if not path.exists() or path.is_file():
            _probe(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); choose another place for {option}.") from None


def _probe(path: Path) -> None:
    """Write a file beside a place, and take it and the folders made for it away again."""
    missing = [folder for folder in path.parents if not folder.exists()]
    probe = path.parent / f".{path.name[:LONGEST_NAME]}.{os.getpid()}-{secrets.token_hex(4)}{PART}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"\0")
    finally:
        probe.unlink(missing_ok=True)
        for folder in missing:
            with contextlib.suppress(FileNotFoundError):
                folder.rmdir()


def is_debris(name: str) -> bool:
    """Say whether a file is what a killed process left: a lock that nobody holds, a file that was not finished.

    Parameters
    ----------
    name : str
        A file's name.

    Returns
    -------
    bool
        True if it may be removed.

    Examples
    --------
    >>> is_debris(LOCK), is_debris("trace.npz")
    (True, False)
    """
    return name == LOCK or (name.startswith(".") and name.endswith(PART))


def sweep(folder: Path, names: Iterable[str]) -> None:
    """Remove what a kill left of some files.

    Parameters
    ----------
    folder : path
        Where they are.
    names : iterable of str
        Files that may have been half written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / f".trace.npz.123{PART}").write_bytes(b"half a")
    >>> sweep(folder, ["trace.npz"])
    >>> list(folder.iterdir())
    []
    """
    for name in names:
        for left in folder.glob(f".{name}.*{PART}"):
            left.unlink(missing_ok=True)


def refuse_strangers(folder: Path, names: Iterable[str], *, ours: bool) -> None:
    """Refuse a folder in which files have the names of ours, but are links, or are not known to be ours.

    Parameters
    ----------
    folder : path
        It need not exist.
    names : iterable of str
        What would be written there.
    ours : bool
        Whether files of these names are known to be of the run that goes on.

    Raises
    ------
    InputError
        Before anything is written.

    Examples
    --------
    >>> import tempfile
    >>> refuse_strangers(Path(tempfile.mkdtemp()), ["result.json"], ours=False)
    """
    names = list(names)
    for name in (LOCK, *names):
        if (folder / name).is_symlink():
            raise InputError(
                f"{folder / name} is a link, which may lead elsewhere; nothing was changed. Remove it, or choose "
                "another folder."
            )
    alien = [] if ours else [name for name in names if (folder / name).exists()]
    if alien:
        raise InputError(
            f"{folder} holds {alien[0]!r}, which belongs to no run that can go on; nothing was changed. Choose another "
            "folder, or move the file away."
        )


def read_own(path: Path) -> bytes:
    """Read a file that we wrote; a link in its place is not followed.

    Parameters
    ----------
    path : path
        A file that this program wrote.

    Returns
    -------
    bytes

    Raises
    ------
    OSError
        If it is not there, or is a link.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "result.json"
    >>> path.write_bytes(b"{}")
    2
    >>> read_own(path)
    b'{}'
    """
    with open(os.open(path, os.O_RDONLY | NO_LINKS), "rb") as file:
        return file.read()


class FolderLock:
    """One process at a time in a folder. The system lets go of the lock when the process ends, however it ends.

    Parameters
    ----------
    folder : path
        A folder that exists.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> lock = FolderLock(folder)
    >>> sorted(path.name for path in folder.iterdir()) == [LOCK]
    True
    """

    def __init__(self, folder: Path) -> None:
        self._handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | NO_LINKS, 0o644)
        self._close = weakref.finalize(self, os.close, self._handle)
        try:
            _lock(self._handle)
        except OSError as error:
            holder = os.read(self._handle, 20).decode("ascii", "replace").strip()
            self._close()
            if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                who = f" (process {holder})" if holder.isdigit() else ""
                raise InputError(
                    f"Another run{who} is writing to {folder}; wait for it or choose another folder."
                ) from None
            raise
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let the next one in."""
        if self._close.alive and fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(self._handle, fcntl.LOCK_UN)  # also for copies of the handle in forked processes
        self._close()


def holder_of(folder: Path) -> int | None:
    """Return the process that holds a folder's lock, or None; a process that begins just now is not disturbed."""
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY)
    except OSError:
        return None
    try:
        holder = os.read(handle, 20).decode("ascii", "replace").strip()
        if not holder.isdigit() or int(holder) <= 1 or fcntl is None:
            return None
        os.kill(int(holder), 0)
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except PermissionError:
        return None  # another user's process
    except BlockingIOError:
        return int(holder)
    except OSError:
        return None
    finally:
        os.close(handle)
    return None


def _lock(handle: int) -> None:
    if fcntl is None:
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):  # a file system without locks
            raise


def finite(value: Any) -> Any:
    """Return data that JSON can hold: it has no infinity, which becomes the largest number, and NaN is missing.

    Parameters
    ----------
    value : object
        Numbers, texts, lists and dicts of them.

    Returns
    -------
    object
        The same with None for NaN.

    Examples
    --------
    >>> finite({"low": float("-inf"), "p": [float("nan"), 0.5]})
    {'low': -1.7976931348623157e+308, 'p': [None, 0.5]}
    """
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else math.copysign(sys.float_info.max, value)


def to_json(content: Any, indent: int | None = 1) -> bytes:
    """Return JSON in UTF-8; what is no character, such as a byte of a file name, stands there as an escape.

    Parameters
    ----------
    content : object
        JSON data.
    indent : int or None, default=1
        Spaces a level; None for one line.

    Returns
    -------
    bytes
        The text.

    Examples
    --------
    >>> to_json({"score": 0.5}, indent=None)
    b'{"score": 0.5}'
    """
    return json.dumps(content, indent=indent, ensure_ascii=False).encode("utf-8", "backslashreplace")


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """Add a checksum to a record.

    Parameters
    ----------
    content : dict
        JSON data.

    Returns
    -------
    dict
        The same with its checksum.

    See Also
    --------
    unsealed : Check it and take it off.

    Examples
    --------
    >>> sorted(sealed({"score": 0.5})) == sorted(["score", CHECK])
    True
    """
    return {**content, CHECK: _checksum(content)}


def unsealed(content: Any) -> dict[str, Any] | None:
    """Return a record without its checksum, or None if one of the two is damaged.

    Parameters
    ----------
    content : object
        What was read.

    Returns
    -------
    dict or None
        The record.

    Examples
    --------
    >>> unsealed(sealed({"score": 0.5})), unsealed({**sealed({"score": 0.5}), "score": 0.6})
    ({'score': 0.5}, None)
    """
    if not isinstance(content, dict) or CHECK not in content:
        return None
    rest = {key: value for key, value in content.items() if key != CHECK}
    return rest if content[CHECK] == _checksum(rest) else None


def _checksum(content: dict[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(content).encode()):08x}"


class Journal:
    """Records, one a line, that are only ever added to; each carries a checksum.

    A line that a kill or a full disk tore, or that was damaged later, is left where it is and not believed.

    Parameters
    ----------
    path : path
        The file; made if it is not there.
    name : dict
        What the records belong to; the first line says so.

    Attributes
    ----------
    records : list of dict
        What was read back whole.
    n_damaged : int
        How many lines are not believed.
    trouble : str
        Why the last records are not on disk; empty if they are.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "folds.jsonl"
    >>> Journal(path, {"run": "a"}).append({"fold": 0, "score": 0.5})
    >>> Journal(path, {"run": "a"}).records
    [{'fold': 0, 'score': 0.5}]
    """

    def __init__(self, path: Path, name: dict[str, Any]) -> None:
        self.path, self.trouble = path, ""
        self._waiting: list[bytes] = []
        records, self._torn = self.read(path, name)
        self.records = [record for record in records[1:] if record is not None]
        self.n_damaged = len(records) - 1 - len(self.records) - self._torn if records else 0
        if not records:
            self._append([_line(name)])

    @staticmethod
    def read(path: Path, name: dict[str, Any]) -> tuple[list[dict[str, Any] | None], bool]:
        """Read a journal and change nothing; refuse one that is damaged or belongs to something else.

        Parameters
        ----------
        path : path
            The file; it need not be there.
        name : dict
            What the records should belong to.

        Returns
        -------
        found : list of dict or None
            One entry a line, None where it is damaged.
        torn : bool
            Whether the last line has no end.
        """
        lines = path.read_bytes().split(b"\n") if path.exists() else [b""]
        records = [_parse_line(line) for line in lines if line]
        if records and records[0] is None:
            raise InputError(
                f"The first line of {path}, which says what its {len(records) - 1} other lines belong to, is damaged; "
                "nothing was changed. Put it right, or choose another folder."
            )
        if records and records[0] != name:
            kind = next(iter(name))
            raise InputError(
                f"{path.parent} holds another {kind} (other data, splits, estimators or seed); choose another folder."
            )
        return records, bool(lines[-1])

    def append(self, record: dict[str, Any]) -> None:
        """Add a record; if that cannot be written now, it waits for the next one.

        Parameters
        ----------
        record : dict
            JSON data.
        """
        self._waiting.append(_line(record))
        try:
            self._append(self._waiting)
        except OSError as error:
            self.trouble = f"{self.path} cannot be written ({error.strerror})"
        else:
            self._waiting, self.trouble = [], ""

    def _append(self, lines: list[bytes]) -> None:
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(handle).st_size
            rest = (b"\n" if self._torn else b"") + b"".join(lines)
            try:
                while rest:
                    rest = rest[os.write(handle, rest) :]
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, size)
                raise
            self._torn = False
        finally:
            os.close(handle)


def _line(record: dict[str, Any]) -> bytes:
    return to_json(sealed(record), indent=None) + b"\n"


def _parse_line(line: bytes) -> dict[str, Any] | None:
    try:
        return unsealed(json.loads(line))
    except (ValueError, RecursionError):
        return None


__all__ = [
    "LOCK",
    "FolderLock",
    "Journal",
    "is_debris",
    "read_own",
    "refuse_strangers",
    "refuse_unwritable",
    "sealed",
    "sweep",
    "to_json",
    "unsealed",
    "write_atomically",
]
