"""The rows of the page: one feature each, with its picture and what is known of it.

How many features: the curve of a selection, and the answers at other sizes that the slider goes through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fewer.evaluate.grading import is_share
from fewer.plots import AnswersDisplay
from fewer.report._page import cut
from fewer.report._pictures import distribution_picture, loss_picture, loss_places
from fewer.run.selection import Selection
from fewer.text import metric_text, score_text, signed

MOST = 200


def feature_rows(selection: Selection) -> list[dict[str, Any]]:
    """Return one row for each feature of the answer and of the answers at other sizes, the chosen ones first.

    Parameters
    ----------
    selection : Selection
        What a run found.

    Returns
    -------
    list of dict
        `name`, `chosen`, `picture`, `share`, `loss`, `score_without`, `stand_ins`, `cost`, in the order of
        `evidence["features"]`.
    """
    evidence = selection.evidence
    names = list(evidence.get("features") or selection.names)[:MOST]
    chosen, costs = set(selection.names), known_costs(selection)
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
        What the run knows of each feature.

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
        Of the feature.
    loss : dict or None
        `loss`, `low`, `high`.
    scale : tuple of float
        The ends of the axis.
    score : str
        The metric.

    Returns
    -------
    dict or None
        `amount`, `low`, `high`, `caption`, `picture`.
    """
    if loss is None:
        return None
    amount, ends = in_units(loss["loss"], score), (in_units(loss["low"], score), in_units(loss["high"], score))
    caption = f"Without {cut(name, 60)}: {amount} of {score} lost, {ends[0]} to {ends[1]}."
    told = {"amount": amount, "low": ends[0], "high": ends[1], "caption": caption, "better_without": loss["high"] < 0}
    return told | {"picture": loss_picture(loss, scale, caption)}


def in_units(value: float, score: str) -> str:
    """Write a difference of scores: in points of a share, else as it is.

    Parameters
    ----------
    value : float
        A difference of scores.
    score : str
        The metric.

    Returns
    -------
    str

    Examples
    --------
    >>> in_units(0.0123, "accuracy"), in_units(-0.01, "R²"), in_units(-0.00001, "accuracy")
    ('+1.2', '−0.010', '0.0')
    """
    return signed(100 * value, 1) if is_share(score.replace(" ", "_")) else signed(value, 3)


def size_curve(selection: Selection) -> dict[str, Any] | None:
    """Return what the curve of a page shows, or None where there is none.

    Parameters
    ----------
    selection : Selection
        What a run found.

    Returns
    -------
    dict or None
        `sizes`, `scores`, `low`, `high`, `name`, `measured`, `chosen`, `marks`, `all`, `answers`.
    """
    display = AnswersDisplay.of(selection)
    if display is None:
        return None
    return {
        "sizes": display.sizes.tolist(),
        "scores": display.scores.tolist(),
        "low": display.low.tolist(),
        "high": display.high.tolist(),
        "banded": bool((display.high > display.low).any()),
        "name": metric_text(display.score_name),
        "title": display.title,
        "measured": display.measured,
        "chosen": display.chosen,
        "marks": {} if selection.nothing_found else display.marks,
        "all": None if display.all_ is None else {"size": display.all_[0], "score": display.all_[1]},
        "answers": [answer["size"] for answer in selection.evidence.get("answers", ())],
    }


def answers(selection: Selection, curve: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return what the page says at each stop of its slider.

    Parameters
    ----------
    selection : Selection
        What a run found.
    curve : dict or None
        Score by size; None if there is none.

    Returns
    -------
    list of dict
        `size`, `places` (rows of the table), `score` and `interval` as text, `value`, `told`, a sentence; by place
        `losses`, as text and where their dots are drawn, and `stand_ins`; `measured`: whether there are losses of this
        size; `cost` and `price` of all features together, where costs are known.
    """
    if curve is None or selection.nothing_found:
        return []
    known = {size: i for i, size in enumerate(curve["sizes"])}
    stops = []
    for answer in selection.evidence.get("answers", ()):
        size, place = answer["size"], known.get(answer["size"])
        if place is None and size != len(selection.features):
            continue
        score = None if place is None else curve["scores"][place]
        ends = None
        if place is not None and curve["high"][place] > curve["low"][place]:
            ends = (curve["low"][place], curve["high"][place])
        stops.append(
            {
                "size": size,
                "places": answer["places"],
                "score": score_text(score, *(ends or ())),
                "value": score,
                "interval": "" if ends is None else f"{score_text(ends[0], *ends)} to {score_text(ends[1], *ends)}",
                "told": _told(selection, curve, size, score, ends),
                **_at_size(selection, answer),
            }
        )
    return stops if len(stops) > 1 else []


def slider_stops(selection: Selection) -> list[dict[str, Any]]:
    """Return the answers of other sizes that the page's slider goes through.

    Parameters
    ----------
    selection : Selection
        What a run found.

    Returns
    -------
    list of dict
        `size`, `features` and `told`, a sentence.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> stops = slider_stops(fewer.select(X, y, "fisher", cv=0, random_state=0))
    >>> [stop["size"] for stop in stops], stops[0]["features"]
    ([1, 2, 3, 4], ['petal length (cm)'])
    """
    names = selection.evidence.get("features", [])
    return [
        {"size": stop["size"], "features": [names[place] for place in stop["places"]], "told": stop["told"]}
        for stop in answers(selection, size_curve(selection))
    ]


def _at_size(selection: Selection, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of the features at one size: losses, stand-ins, cost."""
    evidence, key = selection.evidence, str(answer["size"])
    own = answer["size"] == len(selection.features)
    names = [(place, evidence["features"][place]) for place in answer["places"]]
    losses = (evidence.get("without") if own else (evidence.get("without_at") or {}).get(key)) or {}
    others = selection.stand_ins if own else (evidence.get("stand_ins_at") or {}).get(key)
    scale, score = loss_scale(evidence), evidence.get("without_score", "")
    told: dict[str, Any] = {"measured": bool(losses), "losses": {}, "stand_ins": None}
    for place, name in names:
        if loss := losses.get(name):
            caption = [in_units(loss[end], score) for end in ("loss", "low", "high")]
            told["losses"][place] = [*caption, *loss_places(loss, scale)]
    if others is not None:
        told["stand_ins"] = {
            place: [cut(other, 60) for other in others[name]] for place, name in names if name in others
        }
    known = known_costs(selection)
    if known and all(name in known for _, name in names):
        told["price"] = sum(known[name] for _, name in names)
        told["cost"] = f"{told['price']:.4g}"
    return told


def _told(selection: Selection, curve: dict[str, Any], size: int, score: float | None, ends: Any) -> str:
    told = f"{size} of {selection.n_features:,} features"
    marks = curve["marks"].get(size, [])
    if marks:
        told += f" ({', '.join(marks)})"
    if score is None:
        return f"{told}."
    told += f": {curve['name']} {score_text(score, *(ends or ()))}"
    if ends is not None:
        told += f" ({score_text(ends[0], *ends)} to {score_text(ends[1], *ends)})"
    if curve["all"] is not None and size != curve["all"]["size"]:
        told += f", {in_units(score - curve['all']['score'], curve['name'])}"
        told += " points" if is_share(curve["name"].replace(" ", "_")) else ""
        told += f" compared with all {curve['all']['size']:,}"
    return f"{told}; {curve['measured']}."
