"""The page of all good subsets: tick what cannot be measured or must be in, and the best that remains appears."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fewer.evaluate import Alternatives
from fewer.report._page import as_svg, in_script, render, write_page

MOST_BYTES = 450_000
"""Of the subsets in the page, packed."""


def alternatives_report(found: Alternatives) -> str:
    """Write the page of all good subsets.

    Parameters
    ----------
    found : Alternatives
        What `fewer.alternatives` returned.

    Returns
    -------
    str
        One HTML page that needs nothing else.

    Examples
    --------
    >>> from fewer.criteria import KNN
    >>> from fewer.evaluate import good_subsets
    >>> from fewer.problem import Problem
    >>> rows = Problem.from_arrays([[0.0, 0.0], [0.1, 0.1], [1.0, 1.0], [1.1, 1.1]] * 3, ["no", "no", "yes", "yes"] * 3)
    >>> "</html>" in alternatives_report(good_subsets(KNN(), rows))
    True
    """
    import matplotlib.pyplot as plt

    from fewer.plots import AlternativesDisplay

    pictures = []
    for kind, text in (("sizes", "Score against the number of features of the good subsets."),
                       ("matrix", "Good subsets, one a column, those alike beside each other.")):  # fmt: skip
        drawn = AlternativesDisplay(found, kind=kind).plot()
        pictures.append({"svg": as_svg(drawn.figure_, text), "text": text})
        plt.close(drawn.figure_)
    rows = []
    partners = found.exchangeable
    for name, count in zip(found.names, found.counts.tolist(), strict=True):
        kind = "in all" if count == found.n_good else "in none" if count == 0 else "in some"
        rows.append({"name": name, "share": count / found.n_good, "kind": kind, "partners": partners.get(name, [])})
    return render("alternatives.html", found=found, rows=rows, pictures=pictures, data=in_script(packed(found)))


def packed(found: Alternatives, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Pack the good subsets for a page: as many of the best as fit.

    Parameters
    ----------
    found : Alternatives
        All good subsets.
    most_bytes : int, default=450000
        How long the packed text may be.

    Returns
    -------
    dict
        `features`, places of the features that occur; `groups`, pairs of a score and how many subsets have it, best
        first; `bits`, the subsets one after the other, a bit for each of these features, deflated, in base64.

    Notes
    -----
    Subsets of one score are put in the order of their bits, in which they pack best.
    """
    features = np.flatnonzero(found.counts)
    scores = found.scores.round(6)
    n = len(scores)
    while True:
        masks = found.masks[:n][:, features]
        order = np.lexsort((*masks.T, masks.sum(axis=1), -scores[:n]))
        values, counts = np.unique(-scores[:n], return_counts=True)
        bits = base64.b64encode(zlib.compress(np.packbits(masks[order], axis=None).tobytes(), 9)).decode()
        if len(bits) <= most_bytes:
            break
        n = int(n * 0.9 * most_bytes / len(bits))
    groups = list(zip((-values).tolist(), counts.tolist(), strict=True))
    return {"features": features.tolist(), "groups": groups, "bits": bits, "n": n, "n_good": found.n_good,
            "names": found.names, "costs": None if found.costs is None else found.costs.tolist()}  # fmt: skip


def write_alternatives_report(path: Path | str, found: Alternatives) -> Path:
    """Write the page of all good subsets to a file.

    Parameters
    ----------
    path : path
        The page.
    found : Alternatives
        What `fewer.alternatives` returned.

    Returns
    -------
    Path
        The page.

    Examples
    --------
    >>> import tempfile
    >>> from fewer.criteria import KNN
    >>> from fewer.evaluate import good_subsets
    >>> from fewer.problem import Problem
    >>> rows = Problem.from_arrays([[0.0, 0.0], [0.1, 0.1], [1.0, 1.0], [1.1, 1.1]] * 3, ["no", "no", "yes", "yes"] * 3)
    >>> write_alternatives_report(Path(tempfile.mkdtemp()) / "good.html", good_subsets(KNN(), rows)).name
    'good.html'
    """
    return write_page(path, alternatives_report(found))
