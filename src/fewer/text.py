"""What people wrote, in a form that is safe to show: no control character of a name reaches a terminal."""

from __future__ import annotations

import re

HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters, characters that turn the direction of writing, and halves of characters."""


def printable(text: object, keep: str = "") -> str:
    r"""Write control characters out, so that names cannot move the cursor, change colors or hide what follows.

    Parameters
    ----------
    text : object
        Whatever is to be shown; its `str` is taken.
    keep : str
        Characters that stay, such as ends of lines of our own.

    Returns
    -------
    str
        The text, safe to show in a terminal.

    Examples
    --------
    >>> printable("age\x1b[31m"), printable("two\nlines", keep="\n") == "two\nlines"
    ('age\\x1b[31m', True)
    """
    return HIDDEN.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), str(text))


def printable_json(text: str) -> str:
    r"""Write control characters in JSON text out as JSON does; it says the same.

    Parameters
    ----------
    text : str
        JSON text.

    Returns
    -------
    str
        JSON text.

    Examples
    --------
    >>> import json
    >>> text = printable_json(json.dumps("a\x9bb", ensure_ascii=False))
    >>> text, json.loads(text) == "a\x9bb"
    ('"a\\u009bb"', True)
    """
    return HIDDEN.sub(lambda found: found[0] if found[0] in "\n\r\t" else f"\\u{ord(found[0]):04x}", text)


def _escape(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


__all__ = ["printable", "printable_json"]
