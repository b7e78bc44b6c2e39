"""The page of all good subsets: tick what cannot be measured or must be in, and the best that remains appears."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fewer.evaluate import Alternatives
from fewer.report._page import as_svg, in_script, render, write_page


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
    return render("alternatives.html", found=found, pictures=pictures, **good_rows(found.packed()))


def good_rows(good: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the table of good subsets shows, and what its script reads.

    Parameters
    ----------
    good : dict
        What `Alternatives.packed` returned.

    Returns
    -------
    dict
        `rows`, one for each feature, and `good`, JSON.
    """
    rows = []
    for name, count in zip(good["names"], good["counts"], strict=True):
        kind = "in all" if count == good["n_good"] else "in none" if count == 0 else "in some"
        rows.append(
            {"name": name, "share": count / good["n_good"], "kind": kind, "partners": good["partners"].get(name)}
        )
    return {"good_rows": rows, "good": in_script(dict(good))}


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
