"""Ctrl-C and the polite kill: the first ends the work with the best so far, the second ends it at once."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType

_asked = 0


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Take SIGTERM as Ctrl-C, and a second of either as the end."""
    global _asked
    _asked = 0
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(ValueError):  # not in the main thread: whoever runs it decides
            before[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    global _asked
    if _asked:
        with contextlib.suppress(OSError, ValueError):
            os.write(2, b"\x1b[?25h" if sys.stderr.isatty() else b"")  # a spinner hides the cursor
        os._exit(128 + number)
    _asked = number
    raise KeyboardInterrupt


def exit_code() -> int:
    """Return the exit code of a stopped command."""
    return 128 + (_asked or signal.SIGINT)


def was_asked() -> bool:
    """Say whether a stop was asked for."""
    return bool(_asked)


def raise_if_asked() -> None:
    """Stop where a stop was asked for in a place that lost it, such as a compiler."""
    if _asked:
        raise KeyboardInterrupt


__all__ = ["exit_code", "listening", "raise_if_asked", "was_asked"]
