"""Loughrey, Stochastic search with early stopping: tables 7.3–7.9, their curves, and what the thesis asks for.

A test accuracy is judged against the other methods on the same rows: it matches if the method is as far ahead of the
mean of all ten methods on that set as printed, within two standard errors of the difference of two such experiments, by
the spread over our outer folds, in which methods are paired. By themselves, accuracies on folds of 20 rows do not tell
one method from another. The level of a set, the mean of the ten, stands in a table of its own, with the mean ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata

from fewer.problem import FloatArray
from fewer.validate import mcnemar
from fewer_papers import _loughrey_figures as figures
from fewer_papers._core import (
    Absent,
    Cell,
    Claim,
    Document,
    Piece,
    Rerun,
    Role,
    Standing,
    judge,
    judge_spread,
    reach,
    read_printed,
)
from fewer_papers._loughrey_work import (
    MAX_TRIES,
    NOISY_TRIES,
    SETS,
    Record,
    accuracy_on_test,
    accuracy_on_train,
    overfitting_by_features,
    overfitting_by_rows,
    printed_masks,
    records,
    rights,
    selections_by_chance,
    sized_search,
    spectf_by_search,
    spread_on_test,
    study,
    weighted_ga,
)

WHY = (
    "Folds, the effort K and the meaning of ± are not printed, and each number of the thesis is one run; see the "
    "spread of repeated runs in experiments/early_stopping.md."
)
WHY_QUICK = "A tenth of the annealing effort, a fifth of the generations, 5 × 3 folds; run without --quick. "
WHY_COLON = (
    f"Annealing tries at most {MAX_TRIES} changes a level here, with noise {NOISY_TRIES}, where 10 p would be 20,000. "
)
WHY_ARTIFICIAL = "The WEKA file of the thesis is not printed; another draw of the same generator. "
BALANCED = (
    "On the 80 balanced rows of the training file, which the printed percentages imply; "
    "experiments/early_stopping_spectf.md has all 267 rows beside them."
)


# --------------------------------------------------------------------------------------------------- the tables


def printed(table: str, name: str, method: str, metric: str, w: int | None = 1) -> Record:
    """Find a printed number."""
    rows = [
        row
        for row in read_printed("loughrey")["rows"]
        if (row["table"], row["dataset"], row["method"], row["metric"]) == (table, name, method, metric)
        and row.get("w") == w
    ]
    found: Record = rows[0]
    return found


def reason(run: Rerun, name: str) -> str:
    """Say why a number may differ."""
    own = {"artificial": WHY_ARTIFICIAL, "colon": WHY_COLON}.get(name, "")
    return (WHY_QUICK if run.quick else "") + own + WHY


def accuracy_cells(run: Rerun, table: str, name: str, method: str, w: int = 1) -> list[Cell]:
    """Set training and test accuracy of one method on one set beside the printed ones.

    A number that several tables print is one number.
    """
    found = records(run, name, method if w == 1 else f"{method}-{w}")
    place = f"{method} {{}}" if table != "7.9" else f"{method} w={w} {{}}"
    weight = None if method == "IG_top_half" else w
    test = printed(table, name, method, "test_accuracy_pct", weight)
    about: dict[str, Any] = {"reason": reason(run, name), "remark": BALANCED if name == "spectf" else ""}
    number = f"{name} {method} w={weight} {{}} {{}}"
    cells = []
    if method != "IG_top_half":
        train = printed(table, name, method, "train_accuracy_pct", weight)["value"]
        near = 0.0 if isinstance(found, Absent) else reach([100.0 * record["train"] for record in found])
        cells.append(
            judge(
                table, name, place.format("train"), train, accuracy_on_train(found), tolerance=near,
                number=number.format("train", train), **about,
            )
        )  # fmt: skip
    key = number.format("test", test["value"])
    cells.append(
        judge(
            table, name, place.format("test"), test["value"], accuracy_on_test(found), sd=test.get("plus_minus"),
            number=key, **about, **as_lead(run, name, found),
        )
    )  # fmt: skip
    n = 10 if isinstance(found, Absent) else len(found)
    spread = spread_on_test(found)
    return cells + judge_spread(table, name, place.format("test"), test.get("plus_minus"), spread, (10, n), number=key)


METHODS = {
    "GA": "7.3", "GAES": "7.3", "SA": "7.4", "SAES": "7.4", "IG_top_half": "7.6", "FS": "7.7", "BE": "7.7",
    "SA_noise": "7.8", "SA-4": "7.9", "SAES-4": "7.9",
}  # fmt: skip
"""The ten methods, and where their test accuracies are printed first."""


def folds_of(found: list[Record]) -> FloatArray:
    """Return the test accuracy on each outer fold, in percent."""
    return np.array([100.0 * float(np.mean(record["right"])) for record in found])


def all_methods(run: Rerun, name: str) -> dict[str, list[Record]]:
    """Return the records of those of the ten methods that are at hand."""
    found = {method: records(run, name, method) for method in METHODS}
    return {method: each for method, each in found.items() if not isinstance(each, Absent)}


def as_lead(run: Rerun, name: str, found: list[Record] | Absent) -> dict[str, Any]:
    """Judge a test accuracy by how far it is ahead of the mean of all methods on the same folds.

    `shift` is how far our mean of the methods is above the printed one, `tolerance` how far two leads may be apart.
    """
    if isinstance(found, Absent):
        return {}
    known = all_methods(run, name)
    level = np.mean([100.0 * float(rights(each).mean()) for each in known.values()])
    level -= np.mean([printed_test(name, method, METHODS[method]) for method in known])
    common = np.mean([folds_of(each) for each in known.values()], axis=0)
    return {"shift": float(level), "tolerance": reach(folds_of(found) - common)}


def table_methods(run: Rerun) -> list[Cell]:
    """Set the level of each set and the mean rank of each method beside what the printed accuracies make."""
    cells: list[Cell] = []
    ranks: list[tuple[FloatArray, FloatArray]] = []
    for name in SETS:
        known = all_methods(run, name)
        if not known:
            continue
        told = np.array([printed_test(name, method, METHODS[method]) for method in known])
        ours = np.array([100.0 * float(rights(each).mean()) for each in known.values()])
        near = reach(np.mean([folds_of(each) for each in known.values()], axis=0))
        about: dict[str, Any] = {"tolerance": near, "role": "derived", "reason": reason(run, name)}
        column = f"mean of {len(known)} methods, test"
        cells.append(judge("methods", name, column, float(told.mean()), float(ours.mean()), **about))
        if len(known) == len(METHODS):
            ranks.append((rankdata(-told), rankdata(-ours)))
    if len(ranks) < 2:
        return cells
    printed_ranks, own = np.mean(ranks, axis=0)
    apart = np.std([b - a for a, b in ranks], axis=0, ddof=1) / np.sqrt(len(ranks))
    for place, method in enumerate(METHODS):
        about = {"tolerance": 2.0 * float(apart[place]), "role": "derived", "reason": "Paired over the sets."}
        column = f"mean rank over {len(ranks)} sets"
        cells.append(judge("methods", method, column, float(printed_ranks[place]), float(own[place]), **about))
    return cells


def mcnemar_cell(
    run: Rerun, table: str, name: str, one: str, other: str, starred: bool | None, role: Role = "printed"
) -> Cell:
    """Compare two methods on the same test rows; `starred` is None where the thesis prints no such test."""
    a, b = records(run, name, one), records(run, name, other)
    word = {True: "significant", False: "not significant", None: None}
    column = f"{one} against {other}, McNemar"
    if isinstance(a, Absent) or isinstance(b, Absent):
        absent = a if isinstance(a, Absent) else b
        return judge(table, name, column, word[starred], absent, role=role)
    right_a, right_b = rights(a).astype(bool), rights(b).astype(bool)
    test = mcnemar(right_a, right_b)
    ahead = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    about = f"p = {test.p_value:.3f}; {ahead[0]} rows are right only with {one}, {ahead[1]} only with {other}."
    ours = word[test.p_value < 0.05]
    if starred is None:
        return judge(table, name, column, None, ours, remark=about, role=role)
    return judge(table, name, column, word[starred], ours, reason=about, remark=about, role=role)


def is_starred(table: str, name: str, method: str, against: str) -> bool:
    """Say whether the printed number carries an asterisk against another method."""
    w = None if method == "IG_top_half" else 1
    row = printed(table, name, method, "test_accuracy_pct", w)
    if table == "7.8":
        # The caption does not say against what; the same numbers carry a star against SA in table 7.4.
        return bool(row.get("starred"))
    return bool(row.get("starred")) and row.get("star_against", against) == against


def table_of(number: str, methods: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Callable[[Rerun], list[Cell]]:
    """Make the function that computes one table: accuracies of methods, then tests of pairs."""

    def compute(run: Rerun) -> list[Cell]:
        cells: list[Cell] = []
        for name in SETS:
            for method in methods:
                cells.extend(accuracy_cells(run, number, name, method))
            cells.extend(
                mcnemar_cell(run, number, name, one, other, is_starred(number, name, one, other))
                for one, other in pairs
            )
        return cells

    return compute


def table_weights(run: Rerun) -> list[Cell]:
    """Table 7.9: selection against weights, with and without early stopping."""
    cells: list[Cell] = []
    for name in SETS:
        for method in ("SA", "SAES"):
            for w in (1, 4):
                cells.extend(accuracy_cells(run, "7.9", name, method, w))
    return cells


UNPRINTED = (("SAES", "BE", "7.7"), ("SA-4", "SA", "7.9"), ("SAES-4", "SAES", "7.9"))
"""Pairs that the thesis compares without a test."""


def table_tests(run: Rerun) -> list[Cell]:
    """Tests that the thesis does not print, and stars of table 7.8 against the other method that it may mean."""
    cells = [
        mcnemar_cell(run, "tests", name, one, other, None, "ours alone") for one, other, _ in UNPRINTED for name in SETS
    ]
    cells += [
        mcnemar_cell(run, "tests", name, "SAES", "SA_noise", is_starred("7.8", name, "SAES", "SA_noise"), "reading")
        for name in SETS
    ]
    return cells


def table_pooled(run: Rerun) -> list[Cell]:
    """Set the stopping point pooled over all outer folds, which leaks, beside the printed numbers of 7.3 and 7.4."""
    cells = []
    for name in SETS:
        for table, method in (("7.3", "GAES"), ("7.4", "SAES")):
            row = printed(table, name, method, "test_accuracy_pct")
            found = records(run, name, f"{method}-pooled")
            cells.append(
                judge(
                    "pooled", name, f"{method} test, pooled point",
                    row["value"], accuracy_on_test(found), sd=row.get("plus_minus"), **as_lead(run, name, found),
                    reason=reason(run, name), role="reading",
                    remark="The stopping point has seen the test rows through the other folds.",
                )
            )  # fmt: skip
    return cells


# --------------------------------------------------------------------------------------------------- the claims


def differences(run: Rerun, one: str, other: str) -> dict[str, float]:
    """Return the difference in test accuracy, in points, on each set that is at hand."""
    out = {}
    for name in SETS:
        a, b = accuracy_on_test(records(run, name, one)), accuracy_on_test(records(run, name, other))
        if not isinstance(a, Absent) and not isinstance(b, Absent):
            out[name] = a - b
    return out


CLAIMS = (
    ("GAES", "GA", "7.3"),
    ("SAES", "SA", "7.4"),
    ("SAES", "GAES", "7.5"),
    ("SAES", "IG_top_half", "7.6"),
    ("SAES", "FS", "7.7"),
    ("SAES", "BE", "7.7"),
    ("SAES", "SA_noise", "7.8"),
    ("SA_noise", "SA", "7.8"),
    ("SA", "SA-4", "7.9"),
    ("SAES-4", "SAES", "7.9"),
)
"""Pairs whose test accuracies the thesis compares, and in which table."""

PLAIN = {
    "IG_top_half": "information gain", "FS": "forward selection", "BE": "backward elimination",
    "SA_noise": "SA with noise", "SA-4": "SA of four weights", "SAES-4": "SAES of four weights",
}  # fmt: skip
"""What a reader calls a method."""


def printed_test(name: str, method: str, table: str) -> float:
    """Return the printed test accuracy of a method on a set."""
    plain, _, weights = method.partition("-")
    w = None if method == "IG_top_half" else int(weights or 1)
    return float(printed(table, name, plain, "test_accuracy_pct", w)["value"])


def printed_differences(one: str, other: str, table: str) -> list[float]:
    """Return the printed differences in test accuracy on the seven sets."""
    return [printed_test(name, one, table) - printed_test(name, other, table) for name in SETS]


def tally(gaps: Sequence[float]) -> str:
    """Count who is ahead.

    Examples
    --------
    >>> tally([1.0, 2.0, -0.5, 0.0])
    '2 wins, 1 loss, 1 tie, +0.6 points on average'
    """
    values = np.round(np.asarray(gaps, dtype=np.float64), 6)
    wins, losses, ties = int((values > 0).sum()), int((values < 0).sum()), int((values == 0).sum())
    parts = [
        f"{count} {word if count == 1 else plural}"
        for count, word, plural in ((wins, "win", "wins"), (losses, "loss", "losses"), (ties, "tie", "ties"))
        if count or word != "tie"
    ]
    return f"{', '.join(parts)}, {values.mean():+.1f} points on average"


def standing(run: Rerun, one: str, other: str, table: str, names: Sequence[str]) -> tuple[Standing, str, bool]:
    """Say whether one method tests higher than another, by McNemar's test, and whether by as much as is printed.

    Each test row is judged once by each method, with features found without it. The printed gain is that on the same
    rows; it is too large where it is further from ours than two such experiments are from each other.
    """
    right = {name: [rights(study(run, name, method)).astype(bool) for method in (one, other)] for name in names}
    a, b = (np.concatenate(each) for each in zip(*right.values(), strict=True))
    ahead, behind = int((a & ~b).sum()), int((b & ~a).sum())
    p = mcnemar(a, b).p_value
    word: Standing = "not shown"
    if p < 0.05:
        word = "holds" if ahead > behind else "does not hold"
    gain, near = 100.0 * (ahead - behind) / len(a), reach(100.0 * (a.astype(float) - b), len(a))
    sizes = [len(each) for each, _ in right.values()]
    told = np.average(
        [printed_test(name, one, table) - printed_test(name, other, table) for name in names], weights=sizes
    )
    evidence = (
        f"{ahead} of {len(a)} test rows are right only with {PLAIN.get(one, one)}, {behind} only with "
        f"{PLAIN.get(other, other)}; p = {p:.3f}; {gain:+.1f} points, printed {told:+.1f}, which is "
        f"{'inside' if abs(told - gain) <= near else 'outside'} ± {near:.1f}"
    )
    return word, evidence, bool(told - gain > near)


def spread_claim(run: Rerun) -> str:
    """Say which spread over the outer folds the printed ± agrees with more often."""
    deviations: dict[str, bool] = {}
    errors: dict[str, bool] = {}
    for row in read_printed("loughrey")["rows"]:
        if row.get("plus_minus") is None or row.get("metric") != "test_accuracy_pct":
            continue
        w = row.get("w")
        found = records(run, row["dataset"], row["method"] if w in (None, 1) else f"{row['method']}-{w}")
        spread = spread_on_test(found)
        if isinstance(found, Absent) or isinstance(spread, Absent):
            continue
        number = f"{row['dataset']} {row['method']} {w} {row['plus_minus']}"
        for kept, ours in ((deviations, spread), (errors, spread / np.sqrt(len(found)))):
            cell = judge_spread("±", number, "", row["plus_minus"], ours, (10, len(found)))[0]
            kept[number] = cell.verdict == "matches"
    return (
        f"What ± means is not printed: {sum(deviations.values())} of {len(deviations)} printed ones agree with the "
        f"standard deviation over our outer folds, {sum(errors.values())} with the standard error (F test at 5 %)."
    )


def claims(run: Rerun) -> list[Claim]:
    """Say who tests higher in the thesis, and whether that holds on honest splits here."""
    out: list[Claim] = []
    for one, other, table in CLAIMS:
        gaps = differences(run, one, other)
        if gaps:
            each = ", ".join(f"{name} {gap:+.1f}" for name, gap in gaps.items())
            told = tally(printed_differences(one, other, table))
            word, evidence, too_large = standing(run, one, other, table, list(gaps))
            first, second = PLAIN.get(one, one), PLAIN.get(other, other)
            text = f"{first} tests higher than {second} (table {table}): {word} ({evidence})."
            text = f"{text} Printed: {told}. Here: {tally(list(gaps.values()))} ({each})."
            out.append(Claim(text, word, f"{first} over {second}{' (by less than printed)' if too_large else ''}"))
    holding = sum(claim.standing == "holds" for claim in out)
    if out:
        first = (
            f"Of {len(out)} comparisons that the thesis makes, {holding} hold here on rows that the procedure never "
            "saw (McNemar, p < 0.05)."
        )
        out.insert(0, Claim(first))
    gaps = differences(run, "SAES-pooled", "SAES")
    if gaps:
        out.append(
            Claim(
                "SAES with the stopping point pooled over all outer folds, which has seen the test rows, against the "
                f"honest one: {tally(list(gaps.values()))}."
            )
        )
    trained = {
        name: (accuracy_on_train(records(run, name, "SA")), accuracy_on_train(records(run, name, "SAES")))
        for name in SETS
    }
    both = [(a, b) for a, b in trained.values() if not isinstance(a, Absent) and not isinstance(b, Absent)]
    if both:
        lower = sum(b <= a for a, b in both)
        words = f"SAES trains no higher than SA on {lower} of {len(both)}."
        words = f"Early stopping lowers training accuracy: {{}}. {words}"
        out.append(Claim.of([b <= a for a, b in both], words, "early stopping lowers training accuracy"))
    out.append(Claim(spread_claim(run)))
    rows, columns = overfitting_by_rows(run), overfitting_by_features(run)
    overfitting = (
        "Overfitting (score on the searched rows less score on fresh rows, simulated annealing, 5 informative "
        "features): "
        + ", ".join(f"{gap:.0f} points with {n} rows" for n, gap in zip(rows["rows"], rows["gap"], strict=True))
        + " (45 noise features); "
        + ", ".join(f"{gap:.0f} with {p}" for p, gap in zip(columns["noise"], columns["gap"], strict=True))
        + " noise features (60 rows)."
    )
    return [*out, Claim(overfitting)]


def table_3_1(run: Rerun) -> list[Cell]:
    """Ten masks of forward selection on resampled rows of a set that is not public."""
    lost = Absent("The hand data (10 features, 125 rows, 7 classes) are not public; figure 3.7 is drawn on glass.")
    return [
        judge("3.1", f"run {number}", "features", (np.flatnonzero(mask) + 1).tolist(), lost)
        for number, mask in enumerate(printed_masks(), 1)
    ]


def stops(run: Rerun) -> list[Cell]:
    """Stopping points that the figures print."""
    cells = []
    for figure, name, method in (("5.10", "glass", "SAES"), ("7.2", "sonar", "GAES"), ("5.1", "artificial", "SAES")):
        value = next(f["value"] for f in read_printed("loughrey")["figures"] if f["figure"] == figure)
        found = records(run, name, method)
        if isinstance(found, Absent):
            cells.append(judge("stops", name, f"{method}, figure {figure}", value, found))
            continue
        own = [int(record["stop"][0]) for record in found]
        spread = f"Our outer folds stop at {', '.join(map(str, own))} of {int(found[0]['stop'][1])}: a flat peak."
        cells.append(
            judge(
                "stops", name, f"{method}, figure {figure}", value, float(np.median(own)),
                tolerance=float(max(np.median(own) - min(own), max(own) - np.median(own))),
                reason=spread, remark=spread,
            )
        )  # fmt: skip
    return cells


def work(run: Rerun) -> Iterator[list[Piece]]:
    """Yield all studies, those of early stopping and of colon first, and what figures and claims need beside them."""
    sets, pooled = SETS[::-1], ("SAES", "GAES")
    plain = [method for method in reversed(METHODS) if method not in pooled]
    yield [
        *(partial(_both_points, name=name, method=method) for method in pooled for name in sets),
        *(partial(records, name=name, method=method) for method in plain for name in sets),
        spectf_by_search,
        overfitting_by_rows,
        overfitting_by_features,
        partial(selections_by_chance, name="glass"),
        *(partial(sized_search, name="sonar", share=share) for share in figures.SHARES),
        *(partial(weighted_ga, levels=levels) for levels in (1, 2, 4)),
    ]


def _both_points(run: Rerun, name: str, method: str) -> None:
    """Stop each outer fold at its own point, and at that of all together."""
    records(run, name, method)
    records(run, name, f"{method}-pooled")


def family(cell: Cell) -> tuple[str, str, str]:
    """Return the quantity of a cell, its data set, and the method."""
    method, _, quantity = cell.column.removesuffix(", ±").rpartition(" ")
    return quantity, cell.row, method


def tried(cell: Cell) -> str:
    """Return the experiments that were tried on numbers like an unexplained one."""
    parts = ["the stopping point of each outer fold and of all together"]
    if cell.row == "spectf":
        parts.append("the 80 balanced rows and all 267 (experiments/early_stopping_spectf.md)")
    if cell.row == "artificial":
        parts.append("two, three and four classes (experiments/artificial_classes.md)")
    if cell.row == "colon":
        parts.append("a log scale of the genes")
    return f"{', '.join(parts)}."


DOCUMENT = Document(
    name="loughrey",
    family=family,
    tried=tried,
    data=("pima", "colon"),
    title="J. Loughrey, Stochastic search with early stopping (SSES), thesis",
    tables={
        "7.3": table_of("7.3", ("GA", "GAES"), [("GAES", "GA")]),
        "7.4": table_of("7.4", ("SA", "SAES"), [("SAES", "SA")]),
        "7.5": table_of("7.5", ("GAES", "SAES"), [("SAES", "GAES")]),
        "7.6": table_of("7.6", ("IG_top_half", "SAES"), [("SAES", "IG_top_half")]),
        "7.7": table_of("7.7", ("FS", "BE", "SA", "SAES"), [("SAES", "FS")]),
        "7.8": table_of("7.8", ("SA", "SA_noise", "SAES"), [("SAES", "SA")]),
        "7.9": table_weights,
        "tests": table_tests,
        "pooled": table_pooled,
        "methods": table_methods,
        "3.1": table_3_1,
        "stops": stops,
    },
    figures={
        "4.2": figures.figure_4_2,
        "4.10": figures.figure_4_10,
        "4.11": figures.figure_4_11,
        "4.12": figures.figure_4_12,
        "5.1": figures.figure_5_1,
        "5.8": figures.figure_5_8,
        "5.10": figures.figure_5_10,
        "5.11": figures.figure_5_11,
        "7.2": figures.figure_7_2,
        "7.4": figures.figure_7_4,
        "7.10": figures.figure_7_10,
        "7.12": figures.figure_7_12,
        "3.7": figures.figure_3_7,
        **{
            number: partial(figures.bars, methods=methods, printed=partial(printed_test, table=table))
            for number, table, methods in (
                ("7.1", "7.3", ("GA", "GAES")),
                ("7.3", "7.4", ("SA", "SAES")),
                ("7.5", "7.5", ("GAES", "SAES")),
                ("7.6", "7.6", ("IG_top_half", "SAES")),
                ("7.7", "7.7", ("FS", "BE", "SA", "SAES")),
                ("7.8", "7.8", ("SA", "SA_noise", "SAES")),
                ("7.9", "7.9", ("SA", "SA-4")),
                ("7.11", "7.9", ("SAES", "SAES-4")),
            )
        },
        "overfitting": figures.figure_overfitting,
    },
    claims=claims,
    work=work,
)
