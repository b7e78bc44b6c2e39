"""What people wrote, in a form that fits a page."""

from __future__ import annotations

import re
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


def judge_as_text(code: str) -> str:
    """Name who judges, given as code, by what a reader knows.

    Parameters
    ----------
    code : str

    Returns
    -------
    str

    Examples
    --------
    >>> judge_as_text("CrossValidated(estimator=Pipeline(steps=[('s', StandardScaler()), ('r', Ridge())]))")
    'Ridge'
    >>> judge_as_text("KNN(n_neighbors='auto')"), judge_as_text("its judge")
    ('nearest neighbors', 'its judge')
    """
    names = re.findall(r"([A-Z]\w+)\(", code)
    if names[:1] == ["KNN"]:
        return "nearest neighbors"
    if names[:1] == ["CrossValidated"] and len(names) > 1:
        return names[-1] if names[1] == "Pipeline" else names[1]
    return names[0] if names else code


__all__ = ["cut", "judge_as_text"]
