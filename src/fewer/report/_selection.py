"""The page of a selection: its features, sizes, predictions and search, and what a reader should worry about."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.contracts.trace import Trace
from fewer.errors import FewerWarning, InputError
from fewer.evaluate import Comparison
from fewer.evaluate.grading import ERRORS, is_share
from fewer.files import CELLS, read_own
from fewer.plots import AnswersDisplay, DendrogramDisplay, SearchCurveDisplay
from fewer.plots._style import COLORS, new_figure, style
from fewer.report import _pictures as draw
from fewer.report._comparison import comparison_report, good_content
from fewer.report._page import NEEDS_MATPLOTLIB, as_svg, in_script, render, write_page
from fewer.run.folder import RESULT, TRACE
from fewer.run.selection import Selection
from fewer.text import cut, in_folds, judge_as_text, listed, metric_text, score_text, signed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_LISTED = 200


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
    names = list(evidence.get("features") or selection.names)[:MOST_LISTED]
    chosen, costs = set(selection.names), known_costs(selection)
    losses, ends, score = evidence.get("without") or {}, loss_scale(evidence), evidence.get("without_score", "")
    elsewhere = {name for at in (evidence.get("without_at") or {}).values() for name in at}
    return [
        {
            "name": name,
            "chosen": name in chosen,
            **_values(name, evidence),
            "share": selection.frequency.get(name, 0.0) if selection.frequency else None,
            "loss": loss_told(name, losses.get(name) if name in chosen else None, ends, score),
            "lost_elsewhere": name in elsewhere,
            "score_without": selection.score_without.get(name),
            "stand_ins": selection.stand_ins.get(name, []),
            "cost": costs.get(name),
        }
        for name in names
    ]


def _values(name: str, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return a picture of the values of a feature, and their range or levels as text."""
    summary = (evidence.get("distributions") or {}).get(name)
    if not summary:
        return {"picture": None, "kind": ""}
    levels = summary.get("levels", [])
    kind = ", ".join(cut(level, 14) for level in levels[:4]) + ", …" * (len(levels) > 4)
    if "low" in summary:
        kind = f"{draw.number(summary.get('least', summary['low']))} to "
        kind += draw.number(summary.get("most", summary["high"]))
    kind += f", {summary['missing']:,} missing" if summary.get("missing") else ""
    return {"picture": draw.distribution_picture(name, summary, evidence.get("classes", ())), "kind": kind}


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
    by_answer = [evidence.get("without") or {}, *(evidence.get("without_at") or {}).values()]
    reach = [0.0, *(end for losses in by_answer for loss in losses.values() for end in (loss["low"], loss["high"]))]
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
    amount, low, high = (in_units(loss[key], score) for key in ("loss", "low", "high"))
    caption = f"Without {cut(name, 60)}: {amount} of {metric_text(score)} lost, {low} to {high}."
    parts = {"amount": amount, "low": low, "high": high, "caption": caption, "better_without": loss["high"] < 0}
    return parts | {"picture": draw.loss_picture(loss, scale, caption)}


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
    >>> in_units(0.0123, "ROC AUC"), in_units(-0.01, "R²"), in_units(-0.00001, "accuracy")
    ('+1.2', '−0.010', '0.0')
    >>> in_units(-2.18e-5, "neg_root_mean_squared_error")
    '−2.18e−05'
    """
    if ERRORS.match(score):  # in the unit of the target
        return f"{value:+.3g}".replace("-", "\N{MINUS SIGN}")
    return signed(100 * value, 1) if _in_points(score) else signed(value, 3)


def _in_points(score: str) -> bool:
    """Say whether differences of a score, by any of its names, are written in points."""
    return is_share(score.lower().replace(" ", "_"))


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
    numbers = {name: vars(display)[name].tolist() for name in ("sizes", "scores", "low", "high")}
    return numbers | {
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
        ends = [] if place is None else [curve[key][place] for key in ("low", "high")]
        ends = ends if ends and ends[1] > ends[0] else []
        stop = {"size": size, "places": answer["places"], "score": score_text(score, *ends), "value": score}
        stop["interval"] = " to ".join(score_text(end, *ends) for end in ends)
        stops.append({**stop, "told": _told(selection, curve, stop), **_at_size(selection, answer)})
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
    is_chosen = answer["size"] == len(selection.features)
    names = [(place, evidence["features"][place]) for place in answer["places"]]
    losses = (evidence.get("without") if is_chosen else (evidence.get("without_at") or {}).get(key)) or {}
    others = selection.stand_ins if is_chosen else (evidence.get("stand_ins_at") or {}).get(key)
    scale, score = loss_scale(evidence), evidence.get("without_score", "")
    shown: dict[str, Any] = {"measured": bool(losses), "losses": {}, "stand_ins": None}
    for place, name in names:
        if loss := losses.get(name):
            caption = [in_units(loss[end], score) for end in ("loss", "low", "high")]
            shown["losses"][place] = [*caption, *draw.loss_places(loss, scale)]
    if others is not None:
        shown["stand_ins"] = {i: [cut(other, 60) for other in others[name]] for i, name in names if name in others}
    known = known_costs(selection)
    if known and all(name in known for _, name in names):
        shown["price"] = sum(known[name] for _, name in names)
        shown["cost"] = f"{shown['price']:.4g}"
    return shown


def _told(selection: Selection, curve: dict[str, Any], stop: dict[str, Any]) -> str:
    text, size, score = f"{stop['size']} of {selection.n_features:,} features", stop["size"], stop["value"]
    if marks := curve["marks"].get(size):
        text += f" ({', '.join(marks)})"
    if score is None:
        return f"{text}."
    text += f": {curve['name']} {stop['score']}"
    if stop["interval"]:
        text += f" ({stop['interval']})"
    if curve["all"] is not None and size != curve["all"]["size"]:
        text += f", {in_units(score - curve['all']['score'], curve['name'])}"
        text += " points" if _in_points(curve["name"]) else ""
        text += f" compared with all {curve['all']['size']:,}"
    return f"{text}; {curve['measured']}."


# Rows of a class below which it counts as rare.
RELIABLE_ROWS = 30
# Correlation from which on two features count as copies of each other.
COPY = 0.95
# Correlation below which no pair is named.
ALIKE = 0.5
# Share of missing cells from which on it is reported.
MISSING_SHARE = 0.05


def worries(selection: Selection) -> list[str]:
    """Return the warnings of a report, besides those in its banner.

    Parameters
    ----------
    selection : Selection
        What was selected.

    Returns
    -------
    list of str
        One sentence or two each.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> worries(fewer.select(X, y, "fisher", cv=0, n_features_to_select=1, random_state=0))
    []
    """
    reading = selection.data.get("notes", ())
    sentences = [note for note in selection.notes if note not in reading]
    for look in (_missing, _rare, _seldom, _useless, _copies):
        sentences += look(selection)
    return list(dict.fromkeys([*sentences, *selection.evidence.get("untold", ())]))


def _useless(selection: Selection) -> list[str]:
    losses = selection.evidence.get("without") or {}
    names = [name for name in selection.names if name in losses and losses[name]["high"] < 0]
    score = metric_text(selection.evidence.get("without_score", "the score"))
    shown = ", ".join(cut(name, 60) for name in names)
    return [f"Cross-validated {score} was higher without {shown}."] if names else []


def _missing(selection: Selection) -> list[str]:
    cells = selection.n_rows * selection.n_features
    n = selection.data.get("missing_cells", 0)
    if not cells or n < MISSING_SHARE * cells:
        return []
    columns = [column for column in selection.data.get("columns", ()) if column.get("missing")]
    worst = max(columns, key=lambda column: column["missing"], default=None)
    most = f", most of them in {cut(worst['name'], 60)} ({100 * worst['missing']:.0f} %)" if worst else ""
    return [f"{100 * n / cells:.0f} % of the cells are missing ({n:,}){most}."]


def _rare(selection: Selection) -> list[str]:
    small = [f"{cut(label, 40)} ({n})" for label, n in selection.data.get("classes", {}).items() if n < RELIABLE_ROWS]
    sentence = f"Classes with fewer than {RELIABLE_ROWS} rows: {listed(small, 6)}. Scores for them are unreliable."
    return [sentence] if small else []


def _seldom(selection: Selection) -> list[str]:
    return [sentence for sentence in (selection.unconfirmed, selection.seldom) if sentence]


def _copies(selection: Selection) -> list[str]:
    names, values = selection.redundancy.get("names", []), selection.redundancy.get("values", [])
    pairs = [
        f"{cut(names[i], 40)} and {cut(names[j], 40)}"
        for i in range(len(names))
        for j in range(i)
        if values[i][j] is not None and values[i][j] >= COPY
    ]
    more = f" and {len(pairs) - 4} more pairs" if len(pairs) > 4 else ""
    sentence = f"Nearly identical selected features: {'; '.join(pairs[:4])}{more}. One of each pair could be dropped."
    return [sentence] if pairs else []


MOST_NAMED = 40


def write_selection_report(path: Path | str, selection: Selection, trace: Trace | None = None) -> Path:
    """Write the page of a selection to a file.

    Parameters
    ----------
    path : path
        Where to write.
    selection : Selection
        What was selected.
    trace : Trace, optional
        Of its search.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selection = fewer.select(X, y, "fisher", cv=0, n_features_to_select=1, random_state=0)
    >>> write_selection_report(tempfile.mkdtemp() + "/page.html", selection).name
    'page.html'
    """
    return write_page(path, selection_report(selection, trace))


def selection_report(selection: Selection, trace: Trace | None = None) -> str:
    """Return the page of a selection as one HTML text that needs nothing else.

    Parameters
    ----------
    selection : Selection
        Its JSON is enough: `Selection.from_json`.
    trace : Trace, optional
        Of its search; without it the page leaves out how the search went.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selection = fewer.select(X, y, "fisher", cv=0, n_features_to_select=1, random_state=0)
    >>> "petal length" in selection_report(selection)
    True
    """
    curve = size_curve(selection)
    stops = answers(selection, curve)
    rows = feature_rows(selection)
    good = selection.evidence.get("alternatives")
    others = [(name, share) for name, share in selection.frequency.items() if name not in selection.names]
    return render(
        "selection.html",
        **({"good": None} if good is None else good_content(good)),
        selection=selection,
        suspected=selection,
        rows=[row for row in rows if row["chosen"] or stops],
        n_hidden=max(len(selection.features) - len(rows), 0),
        keys=_keys(selection),
        curve=None if curve is None else {**curve, "picture": draw.curve_picture(curve)},
        stops=stops,
        predictions=_predictions(selection),
        planes=_planes(selection),
        costs=known_costs(selection),
        cheaper=_cheaper(selection),
        prices=draw.price_picture(stops, curve["title"]) if curve else None,
        wrong={"rows": [], **({} if selection.nothing_found else selection.evidence.get("wrong") or {})},
        judge=selection.judges.get("chosen") or cut(judge_as_text(selection.evidence.get("judge", "its judge")), 120),
        runners_up=[] if selection.nothing_found else others[:10],
        classes=list(selection.data.get("classes", {}).items())[:20],
        worries=worries(selection),
        reading=selection.data.get("notes", []),
        difference=_difference(selection),
        **_baseline(selection),
        preferred=PREFERRED.get(selection.prefer, selection.prefer),
        in_folds=in_folds,
        set_aside=selection.set_aside[:MOST_NAMED],
        pictures=_searching(selection, trace),
        data=in_script({"stops": stops, "chosen": len(selection.features), "n_features": selection.n_features}),
    )


def run_report(run: Path | str) -> str:
    """Return the page of a selection or comparison that is kept in a folder.

    Parameters
    ----------
    run : path
        The folder of `--out`.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import tempfile
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> folder = Path(tempfile.mkdtemp())
    >>> selection = fewer.select(*load_iris(return_X_y=True, as_frame=True), "fisher", cv=0, random_state=0)
    >>> (folder / "result.json").write_text(selection.to_json()) > 0
    True
    >>> "petal length" in run_report(folder)
    True
    """
    result, trace = Path(run) / RESULT, Path(run) / TRACE
    try:
        text = read_own(result).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{result} is damaged: it is not UTF-8 text.") from None
    except OSError:
        raise InputError(f"The answer in {run} cannot be read; start the run again.") from None
    try:
        if (Path(run) / CELLS).exists():
            return comparison_report(Comparison.from_json(text))
        selection = Selection.from_json(text)
        if not selection.method.startswith("parcel"):
            return selection_report(selection, _read_trace(trace))
    except (InputError, TypeError, AttributeError, KeyError, ValueError) as error:
        raise InputError(f"{result} is damaged or was not written by fewer. {error}") from None
    raise InputError(f"{run} holds a detector; repeat its command with --report page.html --force for its page.")


def _read_trace(path: Path) -> Trace | None:
    try:
        return Trace.load(path) if path.exists() and not path.is_symlink() else None
    except InputError as error:
        warnings.warn(FewerWarning(f"{error} The report omits it."), stacklevel=2)
        return None


PREFERRED = {
    "balanced": "balancing size and accuracy",
    "fewest": "with as few features as possible",
    "accuracy": "for the best score",
}


def _difference(selection: Selection) -> list[str]:
    """Return the difference from all features and the ends of its interval, as text."""
    values: list[Any] = [selection.heldout.get(f"difference{end}") for end in ("", "_low", "_high")]
    if values[0] is None:
        return []
    first, *ends = ["" if value is None else in_units(value, selection.score_name) for value in values]
    return [first + " points" * _in_points(selection.score_name), *ends]


def _baseline(selection: Selection) -> dict[str, Any]:
    """Return what knowing nothing gives, and how."""
    counts = selection.data.get("classes", {})
    always = f"always “{cut(max(counts, key=counts.__getitem__), 24)}”" if counts else "always the mean"
    return {"baseline": selection.heldout.get("baseline"), "baseline_how": always}


def _cheaper(selection: Selection) -> list[tuple[str, str, float]]:
    """Return chosen features for which a cheaper one stands in, what it is, and what that saves."""
    costs, cheaper = known_costs(selection), []
    for name, others in selection.stand_ins.items():
        saved = [(costs[name] - costs[other], other) for other in others if name in costs and other in costs]
        if saved and max(saved)[0] > 0:
            cheaper.append((name, max(saved)[1], max(saved)[0]))
    return cheaper


def _keys(selection: Selection) -> list[tuple[Any, str]]:
    """Return marker and name of each class, as in the small pictures."""
    names = selection.evidence.get("classes", [])
    if selection.data.get("task") != "classification" or len(names) < 2:
        return []
    return [(draw.key_of(i, "fill"), name) for i, name in enumerate(names)]


def _predictions(selection: Selection) -> dict[str, Any]:
    """Return the pictures and tables of held-out predictions."""
    predictions = selection.evidence.get("predictions") or {}
    scores = {"chosen": selection.score_heldout, "all": selection.score_heldout_all_features}
    names = {"chosen": f"{len(selection.features)} selected", "all": f"all {selection.n_features:,}"}
    kinds = [kind for kind in names if predictions.get(kind)]
    both = [(names[kind], predictions[kind]) for kind in kinds]
    if not both or selection.nothing_found:
        return {}
    labels = list(selection.data.get("classes", {}))
    shown: dict[str, Any] = {"pictures": [], "tables": [], "n_rows": both[0][1]["n_rows"]}
    if all("roc" in part for _, part in both):
        shown["pictures"].append(draw.roc_picture([(name, part["roc"]) for name, part in both]))
    if all("calibration" in part for _, part in both):
        of = cut(labels[1], 24) if len(labels) == 2 else "the predicted class"
        shown["pictures"].append(draw.calibration_picture([(name, part["calibration"]) for name, part in both], of))
    for kind, (name, part) in zip(kinds, both, strict=True):
        if "points" in part:
            score = scores[kind]
            caption = "" if score is None else f"Held-out {selection.score_name}: {score_text(score)}."
            shown["pictures"].append(draw.truth_picture(name, part["points"], caption))
        if "confusion" in part:
            shown["tables"].append({"title": name, "labels": labels, "rows": part["confusion"]})
    return shown


def _planes(selection: Selection) -> list[dict[str, Any]]:
    """Return the rows in the best two features, and in two discriminant directions of all that were chosen."""
    titles = {"plane": "the best two features", "directions": "two discriminant directions"}
    planes = {key: selection.evidence[key] for key in titles if selection.evidence.get(key)}
    return [{"id": key, "title": titles[key], **_plane(selection, drawn, key)} for key, drawn in planes.items()]


def _plane(selection: Selection, drawn: Mapping[str, Any], key: str) -> dict[str, Any]:
    labels = list(selection.data.get("classes", {})) if selection.data.get("task") == "classification" else []
    wrong = [row["row"] for row in (selection.evidence.get("wrong") or {}).get("rows", ())]
    keys = [(draw.key_of(i), label) for i, label in enumerate(labels[:12])]
    if not labels:
        low, high = min(drawn["target"]), max(drawn["target"])
        keys = [(draw.key_of(i, "warm"), f"from {low + i * (high - low) / 5:.4g}") for i in range(5)]
    return {
        "picture": draw.plane_picture(drawn, labels, wrong, key),
        "legend": keys,
        "names": drawn["names"],
        "n": len(drawn["row"]),
        "missing": drawn["missing"],
        "weights": drawn.get("weights", []),
        "second": len(labels) != 2,
    }


def _searching(selection: Selection, trace: Trace | None) -> list[dict[str, Any]]:
    """Return the pictures of how the answer came about; those of the search need matplotlib."""
    pictures: list[dict[str, Any]] = []
    if trace is not None and find_spec("matplotlib") is None:
        pictures, trace = [] if selection.prefer else [NEEDS_MATPLOTLIB], None
    if trace is not None and "validation" in trace.extra:
        pictures.append(_stopping_picture(selection, trace))
    if trace is not None and len(trace.steps) > 1 and not selection.prefer:  # the steps of `auto` are losses
        pictures.append(_search_picture(selection, trace))
    if trace is not None and "cluster_names" in trace.extra:
        pictures.append(_cluster_picture(selection, trace.extra))
    if 2 <= len(selection.redundancy.get("names", ())) <= MOST_NAMED:
        pictures.append(_redundancy_picture(selection.redundancy))
    return pictures


def _cluster_picture(selection: Selection, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Draw which columns are alike: those for which another one stands."""
    names, threshold = extra["cluster_names"].tolist(), float(extra["cluster_threshold"])
    with style():
        figure, ax = new_figure()
    figure.set_figheight(max(2.4, 0.19 * len(names)))
    DendrogramDisplay(names, extra["cluster_values"], threshold, selection.names).plot(ax)
    text = (
        f"{len(names)} columns that are alike, joined where their association is; the line is at {threshold:g}, a dot "
        "marks a selected column. One column of each cluster stands for the others."
    )
    return _picture(figure, "Columns that are alike", text)


def _search_picture(selection: Selection, trace: Trace) -> dict[str, Any]:
    with style():
        figure, ax = new_figure()
        asked = [max(step.n_evaluations, 1) for step in trace.steps]
        ax.plot(asked, [step.score for step in trace.steps], color=COLORS[5], linestyle="--", label="current subset")
        ax.plot(asked, [step.best_score for step in trace.steps], color=COLORS[0], label="best so far")
        if selection.score_heldout is not None:
            ax.axhline(selection.score_heldout, color=COLORS[1], linestyle=":", label="held-out score")
        ax.set(xlabel="subsets scored", ylabel=selection.score_name)
        if asked[-1] > 50 * max(asked[0], 1):
            ax.set_xscale("log")
        ax.legend(loc="best")
    last = trace.steps[-1]
    text = (
        f"The search score rose from {score_text(trace.steps[0].score)} to {score_text(last.best_score)} over "
        f"{last.n_evaluations:,} subsets."
    )
    return _picture(figure, "Search progress", text)


def _stopping_picture(selection: Selection, trace: Trace) -> dict[str, Any]:
    with style():
        figure, ax = new_figure()
    display = SearchCurveDisplay.from_trace(trace, score_name=selection.score_name).plot(ax)
    held_out = display.validation
    text = (
        f"Mean over searches on subsets of the rows: the training score ends at {score_text(display.training[-1])}; "
        f"the validation score peaks at {score_text(held_out.max())} and ends at {score_text(held_out[-1])}."
    )
    if display.stop is not None:
        text += f" The smoothed validation score is best around step {display.stop} of {len(held_out) - 1}."
    return _picture(figure, "When to stop", text)


def _redundancy_picture(redundancy: Mapping[str, Any]) -> dict[str, Any]:
    names, values = list(redundancy["names"]), np.array(redundancy["values"], dtype=np.float64)
    apart = np.where(np.isnan(values), -1.0, values) - 2.0 * np.eye(len(names))  # not known: never the most alike
    i, j = np.unravel_index(np.argmax(apart), values.shape)
    most = f"Highest: {cut(names[i], 28)} and {cut(names[j], 28)} ({values[i, j]:.2f})."
    text = "Absolute rank correlation (for categorical features, a comparable measure). " + (
        most if values[i, j] >= ALIKE else "No two selected features are strongly correlated."
    )
    title = "Correlation between the selected features"
    drawn = draw.redundancy_picture(names, redundancy["values"], f"{title}. {text}")
    return {"title": title, "text": text, "svg": drawn, "paper": False}


def _picture(figure: Figure, title: str, text: str) -> dict[str, Any]:
    return {"title": title, "text": text, "svg": as_svg(figure, f"{title}. {text}"), "paper": True}
