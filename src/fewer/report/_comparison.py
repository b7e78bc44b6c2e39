"""The page of a comparison, and the page of all good subsets, where ticking a feature shows the best with it."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from fewer.evaluate import Alternatives, Comparison
from fewer.evaluate.grading import name_of
from fewer.report._page import NEEDS_MATPLOTLIB, as_svg, in_script, render, write_page
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
    shown: dict[str, Any] = {"by_estimator": by_estimator, "pictures": pictures, "consensus": consensus}
    return render("comparison.html", comparison=comparison, suspected=comparison, **shown)


def _picture(estimator: str, rows: list[Any], scoring: str) -> dict[str, Any]:
    best = max(rows, key=lambda row: row.score)
    text = f"Best: {best.name}, {score_text(best.score, best.low, best.high)}. Gray squares mark the baselines."
    drawn = [
        {"name": row.name, "score": row.score, "low": row.low, "high": row.high, "baseline": row.role != "method"}
        for row in rows
    ]
    measured = f"held-out {metric_text(scoring)}"
    svg = interval_picture(drawn, f"{measured}, 95 % interval", f"H{measured[1:]} for {estimator}. {text}")
    return {"title": f"Evaluated with {estimator}", "text": text, "svg": svg}


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
    return render("alternatives.html", found=found, **good_content(found.packed()))


def _pictures(good: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Draw good subsets: scores against sizes and prices, and which features they have; or say what that needs."""
    if find_spec("matplotlib") is None:
        return [NEEDS_MATPLOTLIB]
    import matplotlib.pyplot as plt

    from fewer.plots import AlternativesDisplay

    bits = np.unpackbits(np.frombuffer(zlib.decompress(base64.b64decode(good["bits"])), dtype=np.uint8))
    masks = np.zeros((good["n"], len(good["names"])), dtype=bool)
    masks[:, good["features"]] = bits[: good["n"] * len(good["features"])].reshape(good["n"], -1)
    scores = np.repeat([score for score, _ in good["groups"]], [count for _, count in good["groups"]])
    kept = {"names": good["names"], "costs": good["costs"], "counts": np.array(good["counts"])}
    subsets = SimpleNamespace(masks=masks, scores=scores, **kept)
    kinds = {"sizes": "Score against the number of features of the good subsets.",
             "prices": "Score against what the features of a good subset cost together.",
             "matrix": "Good subsets, one per column, similar ones side by side; dark: has the feature."}  # fmt: skip
    pictures = []
    for kind, text in kinds.items():
        if kind != "prices" or subsets.costs is not None:
            drawn = AlternativesDisplay(subsets, kind=kind).plot()
            pictures.append({"svg": as_svg(drawn.figure_, text), "text": text})
            plt.close(drawn.figure_)
    return pictures


def good_content(good: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a page shows of good subsets, and what its script reads.

    Parameters
    ----------
    good : dict
        What `Alternatives.packed` returned.

    Returns
    -------
    dict
        `good_rows`, one for each feature, `good_pictures`, and `good`, JSON.
    """
    whole, partners = good["n_good"], good["partners"]
    kinds = {0: "in none", whole: "in all"}
    rows = [
        {"name": name, "share": n / whole, "kind": kinds.get(n, "in some"), "partners": partners.get(name)}
        for name, n in zip(good["names"], good["counts"], strict=True)
    ]
    return {"good_rows": rows, "good_pictures": _pictures(good), "good": in_script(dict(good))}


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
