"""The report of the peers' study: ranks with a critical difference, points, features, stability, seconds, the front."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
from peers_study_problems import DESIGN
from scipy.stats import wilcoxon

from fewer.validate import friedman_nemenyi, nogueira

MODELS = ("neighbors", "linear", "boosting")
MARKS = "osD^v<>ph*dPX8"
HEAD = (
    "| method | mean rank | points against all | neighbors | linear | boosting | features, mean (median share) | "
    "stability | processor s | did not finish |"
)


def records(folder: Path) -> list[dict]:
    """Read the kept cells."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def by_method(cells: list[dict]) -> dict[str, dict[str, list[dict]]]:
    """Arrange answers by method and table."""
    found: dict[str, dict[str, list[dict]]] = {}
    for record in cells:
        for name, answer in record["answers"].items():
            found.setdefault(name, {}).setdefault(record["table"], []).append({**answer, "split": record["split"]})
    return found


def section(cells: list[dict], title: str) -> list[str]:
    """Write the table of one part and kind."""
    found = by_method(cells)
    every = sorted({record["table"] for record in cells})
    whole = {m: own for m, own in found.items() if len(own) == len(every)}
    if "all features" not in whole or len(whole) < 3 or len(every) < 2:
        return []
    score = {
        m: np.array([np.mean([np.mean(list(a["scores"].values())) for a in own[t]]) for t in every])
        for m, own in whole.items()
    }
    names = list(score)
    ranks = friedman_nemenyi(np.column_stack([score[m] for m in names]))
    lines = [
        f"## {title}",
        "",
        f"{len(every)} tables, {len(names)} methods; critical difference of mean ranks {ranks.critical_difference:.2f} "
        f"(Nemenyi, 95 %); Friedman p = {ranks.friedman.p_value:.2g}.",
        "",
        HEAD,
        "|---|" + "---|" * 9,
    ]
    for place in np.argsort(ranks.mean_ranks):
        name = names[place]
        lines.append(f"| {name} | {ranks.mean_ranks[place]:.2f} | " + row(name, whole, every, score) + " |")
    return [*lines, "", *tests(names, score), *nothing(found), ""]


def row(name: str, whole: dict, every: list[str], score: dict) -> str:
    """Write what stands beside a method's rank."""
    own, base = whole[name], whole["all features"]
    cells = [answer for table in every for answer in own[table]]
    points = [
        np.mean([np.mean([a["scores"][m] for a in own[t]]) - np.mean([a["scores"][m] for a in base[t]]) for t in every])
        for m in MODELS
    ]
    sizes = np.array([np.mean([len(a["chosen"]) for a in own[t]]) for t in every])
    share = np.median([len(a["chosen"]) / a["n_features"] for a in cells])
    stable = [stability(own[t]) for t in every if len(own[t]) > 1]
    failed = [a["failed"] for a in cells if a["failed"]]
    late = f"{len(failed)} of {len(cells)}" if failed else "0"
    told = "–" if not stable else f"{np.mean(stable):.2f}"
    return " | ".join(
        [
            f"{np.mean(score[name] - score['all features']):+.1f}",
            *(f"{value:+.1f}" for value in points),
            f"{sizes.mean():.1f} ({share:.2f})",
            told,
            f"{np.mean([a['seconds'] for a in cells]):.1f}",
            late,
        ]
    )


def stability(answers: list[dict]) -> float:
    """Give Nogueira's index over splits; all features in each count as 1."""
    masks = np.zeros((len(answers), answers[0]["n_features"]), dtype=bool)
    for mask, answer in zip(masks, answers, strict=True):
        mask[answer["chosen"]] = True
    return 1.0 if masks.all() else float(nogueira(masks).estimate)


def tests(names: list[str], score: dict) -> list[str]:
    """Test the three answers of `auto` against every method, table by table."""
    lines = []
    for own in ("auto balanced", "auto accuracy", "auto fewest"):
        if own not in names:
            continue
        told = []
        for other in names:
            difference = score[own] - score[other]
            if other.startswith("auto") or not difference.any():
                continue
            p = float(wilcoxon(difference).pvalue)
            if p < 0.05:
                told.append(f"{other} {difference.mean():+.1f} (p = {p:.2g})")
        lines += [f"Wilcoxon, {own} against others, differences with p < .05: {'; '.join(told) or 'none'}.", ""]
    return lines


def nothing(found: dict) -> list[str]:
    """Count the fits that were called noise."""
    calls = [a["nothing"] for own in found.get("auto balanced", {}).values() for a in own]
    return [f"Of {len(calls)} fits `auto` called {sum(calls)} 'nothing found'."] if calls else []


def by_table(cells: list[dict]) -> list[str]:
    """Write the scores and sizes table by table, for `auto` and the methods beside it in the race."""
    found = by_method(cells)
    shown = [m for m in (
        "all features", "auto fewest", "auto balanced", "auto accuracy", "scikit-learn SelectFromModel, forest",
        "scikit-learn RFECV, linear", "Boruta",
    ) if m in found]  # fmt: skip
    lines = ["| table | " + " | ".join(shown) + " |", "|---|" + "---|" * len(shown)]
    for name in sorted({record["table"] for record in cells}):
        told = []
        for method in shown:
            answers = found[method].get(name, [])
            told.append(
                f"{np.mean([np.mean(list(a['scores'].values())) for a in answers]):.1f} "
                f"({np.mean([len(a['chosen']) for a in answers]):.0f})"
                if answers
                else "–"
            )
        lines.append(f"| {name} | " + " | ".join(told) + " |")
    return lines


def front(cells: list[dict], path: Path) -> None:
    """Draw score against number of features, both against all features."""
    import matplotlib.pyplot as plt

    found = by_method(cells)
    every = sorted({record["table"] for record in cells})
    whole = {m: own for m, own in found.items() if len(own) == len(every)}
    if "all features" not in whole:
        return
    figure, axes = plt.subplots(figsize=(9, 4.6), layout="constrained")
    points = {}
    for name, own in whole.items():
        share = np.mean([np.mean([len(a["chosen"]) / a["n_features"] for a in own[t]]) for t in every])
        gain = np.mean([
            np.mean([np.mean(list(a["scores"].values())) for a in own[t]])
            - np.mean([np.mean(list(a["scores"].values())) for a in whole["all features"][t]])
            for t in every
        ])  # fmt: skip
        points[name] = (share, gain)
    for number, name in enumerate(sorted(points, key=lambda name: -points[name][1])):
        mine = name.startswith("auto")
        short = name.removeprefix("scikit-learn ").removesuffix(", size by CV")
        style = {"color": "C0", "markersize": 9} if mine else {"color": "0.25", "markersize": 7, "fillstyle": "none"}
        where = " (below the picture)" if name.startswith("random") else ""
        axes.plot(*points[name], MARKS[number % len(MARKS)], label=f"{points[name][1]:+.1f}  {short}{where}", **style)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8, title="points  method", alignment="left")
    shown = [gain for name, (_, gain) in points.items() if not name.startswith("random")]
    axes.set_ylim(min(shown) - 0.5, max(shown) + 0.5)  # random features would press the others together
    axes.axhline(0, color="0.7", linewidth=0.8)
    axes.set_xlabel("share of the features kept, mean over tables")
    axes.set_ylabel("points against all features, mean of three models")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def write(folder: Path, path: Path, limits: dict) -> None:
    """Write the report, and the picture beside the others."""
    cells = records(folder)
    lines = [
        "# `auto` and its peers",
        "",
        "Written by `make study` (`python experiments/peers_study.py`) from `peers_study_design.json`, which was fixed",
        "before any of these numbers was seen. Parts A, A2 and B were used for design, parts C and D opened once each.",
        "",
    ]
    summary = path.with_name("peers_study_summary.md")
    if summary.exists():
        lines += [summary.read_text()]
    lines += [
        "## Protocol",
        "",
        *(f"- {line}" for line in DESIGN["protocol"]),
        "",
        "Limits of this run: " + ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in limits.items()) + ".",
        "Methods that are not installed, or that did not run on all tables of a part, are left out of its table.",
        "",
    ]
    for part, kind in product(("D", "C", "B", "A2", "A"), ("classification", "regression")):
        own = [r for r in cells if r["part"] == part and r["kind"] == kind]
        what = "classes: balanced accuracy" if kind == "classification" else "quantities: R²"
        lines += section(own, f"Part {part}, {what}, in points")
        if own:
            lines += ["Score (features kept):", "", *by_table(own), ""]
        if own and kind == "classification":
            name = f"{path.stem}_{part}.png"
            picture = path.parent.parent / "docs" / "images" / name
            if picture.parent.exists():
                front(own, picture)
            if picture.exists():
                about = f"score against the number of features, part {part}"
                lines += [f"![{about}](../docs/images/{name})", ""]
    notes = path.with_name("peers_study_notes.md")
    if notes.exists():
        lines += [notes.read_text()]
    path.write_text("\n".join(lines) + "\n")
