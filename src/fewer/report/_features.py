"""The rows of the page: one feature each, with its picture and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fewer.evaluate._grading import is_share
from fewer.report._pictures import distribution_picture, loss_picture
from fewer.report._text import cut
from fewer.selection import Selection

MOST = 200


def feature_rows(selection: Selection) -> list[dict[str, Any]]:
    """Return one row for each feature of the answer and of the answers at other sizes, the chosen ones first.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    list of dict
        `name`, `chosen`, `picture`, `share`, `loss`, `score_without`, `stand_ins`, `cost`, in the order of
        `evidence["features"]`.
    """
    evidence = selection.evidence
    names = list(evidence.get("features") or selection.features)[:MOST]
    chosen, costs = set(selection.features), known_costs(selection)
    losses, ends, score = evidence.get("without") or {}, loss_scale(evidence), evidence.get("without_score", "")
    elsewhere = {name for at in (evidence.get("without_at") or {}).values() for name in at}
    return [
        {
            "name": name,
            "chosen": name in chosen,
            "picture": _picture(name, evidence),
            "kind": _kind(name, evidence),
            "share": selection.frequency.get(name, 0.0) if selection.frequency else None,
            "loss": loss_told(name, losses.get(name) if name in chosen else None, ends, score),
            "lost_elsewhere": name in elsewhere,
            "score_without": selection.score_without.get(name),
            "stand_ins": selection.stand_ins.get(name, []),
            "cost": costs.get(name),
        }
        for name in names
    ]


def _picture(name: str, evidence: Mapping[str, Any]) -> Any:
    told = (evidence.get("distributions") or {}).get(name)
    return distribution_picture(name, told, evidence.get("classes", ())) if told else None


def _kind(name: str, evidence: Mapping[str, Any]) -> str:
    told = (evidence.get("distributions") or {}).get(name)
    if not told:
        return ""
    missing = f", {told['missing']:,} missing" if told.get("missing") else ""
    if "low" in told:
        return f"{told['low']:.4g} to {told['high']:.4g}{missing}"
    levels = told.get("levels", [])
    shown = ", ".join(cut(level, 14) for level in levels[:4])
    return f"{shown}{', …' if len(levels) > 4 else ''}{missing}"


def known_costs(selection: Selection) -> dict[str, float]:
    """Return what features cost: the chosen ones, those of answers of other sizes, and stand-ins."""
    return {**(selection.evidence.get("costs") or {}), **selection.costs}


def loss_scale(evidence: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends that all losses have room in, those of other sizes too.

    Parameters
    ----------
    evidence : dict

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> loss_scale({"without": {"a": {"low": -0.1, "high": 0.3}}, "without_at": {"2": {"b": {"low": 0, "high": 0.5}}}})
    (-0.1, 0.5)
    """
    told = [evidence.get("without") or {}, *(evidence.get("without_at") or {}).values()]
    reach = [0.0, *(end for losses in told for loss in losses.values() for end in (loss["low"], loss["high"]))]
    return (min(reach), max(reach)) if max(reach) > min(reach) else (-1.0, 1.0)


def loss_told(
    name: str, loss: Mapping[str, float] | None, scale: tuple[float, float], score: str
) -> dict[str, Any] | None:
    """Return what is lost without a feature, as text and as a picture.

    Parameters
    ----------
    name : str
    loss : dict or None
        `loss`, `low`, `high`.
    scale : tuple of float
    score : str

    Returns
    -------
    dict or None
        `amount`, `low`, `high`, `caption`, `picture`.
    """
    if loss is None:
        return None
    amount, ends = in_units(loss["loss"], score), (in_units(loss["low"], score), in_units(loss["high"], score))
    caption = f"Without {cut(name, 60)}: {amount} of {score} lost, {ends[0]} to {ends[1]}."
    told = {"amount": amount, "low": ends[0], "high": ends[1], "caption": caption}
    return told | {"picture": loss_picture(loss, scale, caption)}


def in_units(value: float, score: str) -> str:
    """Write a difference of scores: in points of a share, else as it is.

    Parameters
    ----------
    value : float
    score : str

    Returns
    -------
    str

    Examples
    --------
    >>> in_units(0.0123, "accuracy"), in_units(-0.01, "R²"), in_units(-0.00001, "accuracy")
    ('+1.2', '−0.010', '0.0')
    """
    text = f"{100 * value:+.1f}" if is_share(score.replace(" ", "_")) else f"{value:+.3f}"
    text = text.replace("-", "\N{MINUS SIGN}")
    return text if text.strip("+\N{MINUS SIGN}0.") else text.lstrip("+\N{MINUS SIGN}")


__all__ = ["feature_rows", "in_units", "known_costs", "loss_scale", "loss_told"]
