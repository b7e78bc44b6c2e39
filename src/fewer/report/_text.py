"""What people wrote, in a form that fits a page."""

from __future__ import annotations

import unicodedata
from typing import Any


def cut(text: Any, length: int = 200) -> str:
    """Return what people wrote in a form that fits a page: not too long, and without control characters.

    Parameters
    ----------
    text : object
    length : int, default=200

    Returns
    -------
    str

    Examples
    --------
    >>> cut("feature" * 10, 12)
    'featurefeat…'
    """
    plain = "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) == "Cc" else c for c in str(text)[: length + 1]
    )
    return plain if len(plain) <= length else plain[: length - 1] + "…"


__all__ = ["cut"]
