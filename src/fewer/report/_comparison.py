"""The page of a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fewer.evaluate import Comparison
from fewer.evaluate._verdict import name_of
from fewer.report._page import render, write_page
from fewer.report._pictures import interval_picture
from fewer.text import metric_text, score_text

SHOWN = 40


def write_comparison_report(path: Path | str, comparison: Comparison) -> Path:
    """Write the page of a comparison to a file.

    Parameters
    ----------
    path : path
        Where to write.
    comparison : Comparison
        What was compared.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from fewer.evaluate import Comparison
    >>> comparison = Comparison([], "Too close.", "accuracy", "", "", "classification", 150, 4, n_splits=5, seed=0)
    >>> write_comparison_report(tempfile.mkdtemp() + "/page.html", comparison).name
    'page.html'
    """
    return write_page(path, comparison_report(comparison))


def comparison_report(comparison: Comparison) -> str:
    """Return the page of a comparison as one HTML text that needs nothing else.

    Parameters
    ----------
    comparison : Comparison
        Its JSON is enough: `Comparison.from_json`.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from fewer.evaluate import Comparison
    >>> comparison = Comparison([], "Too close.", "accuracy", "", "", "classification", 150, 4, n_splits=5, seed=0)
    >>> "Too close." in comparison_report(comparison)
    True
    """
    by_estimator = {name_of(name): comparison.rows_of(name) for name in comparison.estimators}
    pictures = [_picture(name, rows, comparison.scoring) for name, rows in by_estimator.items()]
    methods = {row.name for row in comparison.methods if row.role == "method"}
    consensus = [
        (name, chosen["consensus"][:SHOWN], max(len(chosen["consensus"]) - SHOWN, 0))
        for name, chosen in comparison.subsets.items()
        if name in methods
    ]
    return render(
        "comparison.html",
        comparison=comparison,
        suspected=comparison,
        by_estimator=by_estimator,
        pictures=pictures,
        consensus=consensus,
    )


def _picture(estimator: str, rows: list[Any], scoring: str) -> dict[str, Any]:
    best = max(rows, key=lambda row: row.score)
    text = f"Best: {best.name}, {score_text(best.score, best.low, best.high)}. Squares mark the baselines."
    drawn = [
        {"name": row.name, "score": row.score, "low": row.low, "high": row.high, "baseline": row.role != "method"}
        for row in rows
    ]
    measured = f"held-out {metric_text(scoring)}"
    svg = interval_picture(drawn, f"{measured}, 95 % interval", f"H{measured[1:]} for {estimator}. {text}")
    return {"title": estimator, "text": text, "svg": svg}
