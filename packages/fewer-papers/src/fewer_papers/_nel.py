"""Nel, An investigation into feature selection techniques … (MSc, Cape Town 1998): tables, figures and claims.

Every printed number of a subset stands beside ours for the same subset, on splits of our own: the thesis's are not
known. A number matches if it lies within two standard errors of the difference of two such experiments, by the spread
over our splits. All accuracies of a table and set share ten splits, which move them together: an accuracy counts as its
lead over their mean, and the mean, one number, has a row of its own. Masks that are printed with a wrong length and
could not be recovered are not reproducible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from fewer.criteria import gamma_test
from fewer.datasets import make_nel_shifted
from fewer.problem import FloatArray
from fewer.validate import corrected_resampled_t
from fewer_papers import _nel_figures as figures
from fewer_papers._core import (
    QUICK,
    Absent,
    Cell,
    Claim,
    Document,
    Piece,
    Rerun,
    Standing,
    backed,
    judge,
    judge_spread,
    mean_and_sd,
    printed_rows,
    reach,
    then,
)
from fewer_papers._nel_work import (
    CORRELATION_NEIGHBORS,
    COUNTS,
    SETS,
    best_by_gamma,
    best_by_information,
    best_by_pbil,
    best_by_rann,
    best_gammas,
    gammas,
    information,
    knn,
    n_runs_of,
    n_splits_of,
    network_scores,
    pbil_best,
    problem_of,
    rann,
    single_features,
    test_mean,
)

SEARCHED = ("WDBC1", "WDBC2", "LIVER", "PIMA")
LARGE = ("ION", "WDBC")
BIG_SEARCH = ("WDBC1", "WDBC2", *LARGE)
"""Sets whose searches are left out with --quick."""

CLASSIFIERS: dict[str, Callable[..., list[list[float]]]] = {"RANN": rann, "kNN": knn}
ACCURACIES = {"train_acc_pct": 0, "loo_train_acc_pct": 0, "test_acc_pct": 1}
COLUMNS = {
    "train_acc_pct": "training accuracy (%)",
    "loo_train_acc_pct": "leave-one-out accuracy (%)",
    "test_acc_pct": "test accuracy (%)",
    "rank_7.1": "rank (eq. 7.1)",
    "gamma_mean": "mean γ",
}

WHY = {
    "splits": "The splits of the thesis are not known; one split moves ours by {:.1f}, and its lead over the mean of "
    "the column, in means of ten, by {:.1f} (two standard errors of a difference).",
    "level": "All numbers of the column move together; experiments/nel_levels.md has the readings that were tried.",
    "RANN": "The spread of the hidden weights and the steps of the hidden size are not given in the thesis.",
    "kNN": "What decides between equal numbers of neighbors or votes is not given in the thesis.",
    "rank": "Ranks add up over the searches of splits that are not known; ten others move the sum by {:.1f}.",
    "gamma": "Mean over splits that are not known; ten others move it by {:.4f} (standard error).",
    "found": "The printed five are the best by test accuracy on splits that are not known.",
}


records = partial(printed_rows, "nel")


# ------------------------------------------------------------------------------------------------- tables


def table_5_1(run: Rerun) -> list[Cell]:
    """γ of two normal classes as they move apart."""
    cells = []
    for record in records("5.1"):
        distance = float(record["metric"].split()[-1])
        mean, sd = _shifted(run, distance)
        note = "One sample of unknown size is printed."
        if distance < 3:
            near = _shifted(run, 1.41)[0]
            note = f"Classes 1.41 apart, a shift of (1, 1), have {near:.4f}, those {distance} apart {mean:.4f}."
        row = f"difference in mean {distance}"
        cell = judge("5.1", row, "γ", record["value"], mean, tolerance=2 * sd, reason=note)
        if distance < 3:
            mean, sd = _shifted(run, 1.41)
            column = "γ (distance 1.41)"
            other = judge("5.1", row, column, record["value"], mean, tolerance=2 * sd, role="reading")
            cells += [backed(cell, other), other]
        else:
            cells.append(cell)
    return cells


def _shifted(run: Rerun, distance: float) -> tuple[float, float]:
    """Return mean and spread of γ over samples of two classes at a distance."""

    def compute() -> list[float]:
        # The mean of 60 samples is known to 0.13 of the spread of one, and may be two such spreads away.
        seeds = run.rng(f"shifted {distance}").integers(2**31, size=40 if run.quick else 60)
        found = []
        for seed in seeds:
            X, y = make_nel_shifted(distance / np.sqrt(2.0), random_state=int(seed))
            found.append(gamma_test(X, y, n_neighbors=20, scaling="none").gamma)
        return found

    return mean_and_sd(run.once(f"shifted {distance}", compute))


def correlations(run: Rerun, table: str) -> list[Cell]:
    """How a criterion goes with test accuracy, over single features (MI) or the random subsets of Table B.1 (γ)."""
    cells = []
    for record in records(table):
        name, classifier, kind = record["dataset"], record["evaluator"], record["selector"]
        found = run.attempt(partial(_correlation, run, name, kind, classifier))
        means = record["metric"] == "corr_of_20_run_means"
        ours, near = (found, 0.0) if isinstance(found, Absent) else (found[means], found[2 + means])
        column = "correlation of the means" if means else "mean correlation"
        cells.append(judge(table, name, column, record["value"], ours, tolerance=near))
    return cells


def _correlation(run: Rerun, name: str, kind: str, classifier: str) -> tuple[float, float, float, float]:
    """Return the mean correlation and that of the means, and how far two experiments of 20 splits may be apart.

    Two standard errors of a difference: of the mean by the spread over splits, of the other by the jackknife.
    """
    values, accuracy = paired(run, name, kind, classifier)
    each = [float(np.corrcoef(v, a)[0, 1]) for v, a in zip(values, accuracy, strict=True) if np.ptp(v) and np.ptp(a)]
    n = len(values)

    def of_means(rows: Any) -> float:
        return float(np.corrcoef(values[rows].mean(axis=0), accuracy[rows].mean(axis=0))[0, 1])

    without = np.array([of_means(np.arange(n) != row) for row in range(n)])
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    return float(np.mean(each)), of_means(slice(None)), reach(each, 20), 2.0 * error * float(np.sqrt(1 + n / 20))


def paired(run: Rerun, name: str, kind: str, classifier: str) -> tuple[FloatArray, FloatArray]:
    """Return criterion and test accuracy, (n_runs, n_subsets): MI of single features, or γ of Table B.1's subsets."""
    n = n_runs_of(run)
    if kind == "MI":
        subsets = single_features(problem_of(run, name).n_features)
        values = information(run, name, n)
    else:
        subsets = [row["mask"] for row in records("B.1", dataset=name) if row["mask"]]
        values = gammas(run, name, subsets, [CORRELATION_NEIGHBORS], n)[:, 0]
    run.report(f"nel: {classifier} on {len(subsets)} subsets of {name}")
    tests = [[test for _, test in CLASSIFIERS[classifier](run, name, subset, n)] for subset in subsets]
    return values, np.array(tests).T


def subsets(run: Rerun, table: str) -> list[Cell]:
    """Printed subsets with their accuracies, ranks and γ."""
    cells = []
    places: dict[tuple[str, str], int] = {}
    for record in records(table):
        if record["value"] is None:
            continue
        name, metric = record["dataset"], record["metric"]
        label = "all features" if record["role"] == "full_set" else record["printed"]
        key = (f"{name} {record['selector']} {record['row']} {label}", metric)
        places[key] = places.get(key, 0) + 1
        row = f"{name} {record['selector']} {label}" + (f" ({places[key]})" if places[key] > 1 else "")
        ours = _ours(run, record)
        options: dict[str, Any] = {}
        reason = record.get("note") or ""
        spread: list[Cell] = []
        if metric in ACCURACIES:
            options = {"sd": record["std"]}
            if not isinstance(ours, Absent):
                ours, sd, n = ours
                level = _level(run, table, record)
                options |= {"shift": level[0], "tolerance": reach(_by_split(run, record) - level[1])}
                reason = f"{reason} {WHY['splits'].format(sd, options['tolerance'])} {WHY[record['evaluator']]}".strip()
                spread = judge_spread(table, row, COLUMNS[metric], record["std"], sd, (10, n))
            else:
                spread = judge_spread(table, row, COLUMNS[metric], record["std"], ours, (10, 10))
        elif metric == "rank_7.1" and not isinstance(ours, Absent):
            ours, sd = ours
            reason = reason or WHY["rank"].format(sd)
            options = {"tolerance": 2.0 * np.sqrt(2.0) * sd}
        elif not isinstance(ours, Absent):
            ours, everywhere, error = ours
            reason = reason or WHY["gamma"].format(error)
            options = {"tolerance": 2.0 * np.sqrt(2.0) * error}
        if run.quick:
            reason = f"{reason} With --quick only {n_splits_of(run)} splits are used, not ten."
        cells += [judge(table, row, COLUMNS[metric], record["value"], ours, reason=reason, **options), *spread]
        if metric == "gamma_mean" and record["role"] == "subset" and not isinstance(ours, Absent):
            column = f"{COLUMNS[metric]} (all searches)"
            about = {"reason": reason, "role": "reading", **options}
            cells.append(judge(table, row, column, record["value"], everywhere, **about))
    return [*cells, *_levels(run, table), *_found(run, table)]


def _by_split(run: Rerun, record: dict[str, Any]) -> FloatArray:
    """Return an accuracy on each split."""
    found = CLASSIFIERS[record["evaluator"]](run, record["dataset"], record["mask"], n_splits_of(run))
    return np.array([pair[ACCURACIES[record["metric"]]] for pair in found])


def _level(run: Rerun, table: str, record: dict[str, Any]) -> tuple[float, FloatArray, float]:
    """Return how far our mean of one column and set is above the printed, its values by split, and the printed mean."""
    alike = {key: record[key] for key in ("dataset", "metric", "evaluator")}
    rows = [row for row in records(table, **alike) if row["mask"] and row["value"] is not None]
    common = np.mean([_by_split(run, row) for row in rows], axis=0)
    printed = float(np.mean([row["value"] for row in rows]))
    return float(common.mean()) - printed, common, printed


def _levels(run: Rerun, table: str) -> list[Cell]:
    """Set the mean of each column and set beside the printed: what the splits, or the data, move together."""
    cells = []
    for metric in ACCURACIES:
        for name in dict.fromkeys(row["dataset"] for row in records(table, metric=metric)):
            rows = [r for r in records(table, metric=metric, dataset=name) if r["mask"] and r["value"] is not None]
            found = run.attempt(partial(_level, run, table, rows[0])) if rows else Absent("No mask can be read.")
            if isinstance(found, Absent):
                continue
            column = f"{COLUMNS[metric]}, mean of {len(rows)}"
            about: dict[str, Any] = {"tolerance": reach(found[1]), "role": "derived", "reason": WHY["level"]}
            cells.append(judge(table, name, column, found[2], float(found[1].mean()), **about))
    return cells


def _ours(run: Rerun, record: dict[str, Any]) -> Any:
    """Compute one printed number of a subset again."""
    name, subset, metric = record["dataset"], record["mask"], record["metric"]
    if subset is None:
        return Absent(
            f"The mask is printed as {record['printed']}, which has a wrong length and could not be recovered."
        )
    if metric in ACCURACIES:
        found = run.attempt(partial(_by_split, run, record))
        return then(found, lambda by_split: (*mean_and_sd(by_split), len(by_split)))
    if metric == "rank_7.1":

        def summed(poll: Any) -> tuple[float, float]:
            """Add the ranks up over ten splits."""
            mean, sd = mean_and_sd(poll[subset]["ranks"] if subset in poll else np.zeros(n_splits_of(run)))
            return 10 * mean, float(np.sqrt(10)) * sd

        return then(_search(run, name, best_by_gamma), summed)
    return run.attempt(partial(_mean_gamma, run, name, subset, record["role"] == "full_set"))


def _mean_gamma(run: Rerun, name: str, subset: str, full: bool) -> tuple[float, float, float]:
    """Return mean γ over the searches with the subset among the ten best, over all searches, and the latter's error.

    The full set is printed though it is not among the ten; so is a subset that ours never rank: all searches count.
    """
    by_split = gammas(run, name, [subset], COUNTS, n_splits_of(run))[:, :, 0].mean(axis=1)
    mean, sd = mean_and_sd(by_split)
    poll = {} if full else _search(run, name, best_by_gamma)
    chosen = poll[subset]["gamma"] if not isinstance(poll, Absent) and subset in poll else mean
    return chosen, mean, sd / np.sqrt(len(by_split))


def _search(run: Rerun, name: str, search: Callable[..., Any]) -> Any:
    if run.quick and name in BIG_SEARCH:
        return QUICK
    # A search kept from an earlier run does not bring the data back, which what follows may need.
    rows = run.attempt(partial(problem_of, run, name))
    return then(rows, lambda _: run.attempt(partial(search, run, name)))


SELECTORS: dict[str, Callable[..., Any]] = {
    "gamma": lambda run, name: list(best_by_gamma(run, name))[:10],
    "MI": best_by_information,
    "RANN": best_by_rann,
    "gamma+PBIL": partial(best_by_pbil, judge="gamma"),
    "RANN+PBIL": partial(best_by_pbil, judge="RANN"),
}


def _found(run: Rerun, table: str) -> list[Cell]:
    """Say how many of the printed subsets our own selection puts among its candidates."""
    cells: list[Cell] = []
    known = [(row["dataset"], row["selector"]) for row in records(table, role="subset")]
    if table == "C.1":
        return cells
    for name, selector in dict.fromkeys(known):
        printed = {row["mask"] for row in records(table, dataset=name, selector=selector, role="subset") if row["mask"]}
        found = _search(run, name, SELECTORS[selector])
        ours = then(then(found, printed.intersection), len)
        row, column = f"{name} {selector}", "printed subsets among our candidates"
        cells.append(judge(table, row, column, len(printed), ours, reason=WHY["found"], role="derived"))
    return cells


# ------------------------------------------------------------------------------------------------- claims


def five_best(run: Rerun, name: str, selector: str) -> list[tuple[str, float, float]] | Absent:
    """Return our own five best candidates: subset, test accuracy of the network and of nearest neighbors."""
    found = _search(run, name, SELECTORS[selector])
    if isinstance(found, Absent):
        return found
    n = n_splits_of(run)
    run.report(f"nel: networks on {len(found)} candidates of {name} by {selector}")
    graded = sorted(set(found), key=lambda subset: -test_mean(rann(run, name, subset, n)))[:5]
    return [(s, test_mean(rann(run, name, s, n)), test_mean(knn(run, name, s, n))) for s in graded]


def claims(run: Rerun) -> list[Claim]:
    """What the thesis says, and whether it holds here."""
    found = [check(run) for check in CHECKS]
    return [claim if isinstance(claim, Claim) else Claim(claim) for claim in found if claim]


def _claim_information(run: Rerun) -> Claim:
    found = {name: run.attempt(partial(_correlation, run, name, "MI", "kNN")) for name in SEARCHED}
    known = {name: pair[1] for name, pair in found.items() if not isinstance(pair, Absent)}
    strong = min(known["WDBC1"], known["WDBC2"])
    text = ", ".join(f"{name} {value:.2f}" for name, value in known.items())
    words = "Mutual information goes with the accuracy of single features where features are good"
    about = "mutual information goes with accuracy on WDBC and hardly on LIVER"
    return Claim.of([strong > 0.9 > known["LIVER"]], f"{words}: {{}} ({text}).", about)


def _claim_gamma(run: Rerun) -> Claim:
    values = {}
    for name in SEARCHED:
        for classifier in CLASSIFIERS:
            pair = run.attempt(partial(_correlation, run, name, "gamma", classifier))
            if not isinstance(pair, Absent):
                values[f"{name} {classifier}"] = pair[1]
    return Claim.of(
        [value < 0 for value in values.values()],
        "γ falls as accuracy rises, on every set and with both classifiers: {} (correlations of the means from "
        f"{min(values.values()):.2f} to {max(values.values()):.2f}).",
        "γ falls as accuracy rises",
    )


def _claim_subsets(run: Rerun) -> Claim:
    parts: list[str] = []
    as_said: list[bool] = []
    for selector in ("gamma", "RANN", "MI"):
        gains = {}
        for name in SEARCHED:
            best = five_best(run, name, selector)
            if not isinstance(best, Absent):
                full = "1" * problem_of(run, name).n_features
                gains[name] = best[0][1] - test_mean(rann(run, name, full, n_splits_of(run)))
        text = ", ".join(f"{name} {gain:+.1f}" for name, gain in gains.items())
        parts.append(f"{selector} {text}")
        as_said += [(gain >= 0) != ((selector, name) == ("MI", "LIVER")) for name, gain in gains.items()]
    return Claim.of(
        as_said,
        "The best subsets match or beat all features, except by mutual information on LIVER: {}, in "
        f"{sum(as_said)} of {len(as_said)} cases. Test accuracy of the network, our best subset less all features, in "
        f"points: {'; '.join(parts)}. The best of many is optimistic.",
        "the best subsets match or beat all features",
    )


def _claim_knn(run: Rerun) -> str:
    differences: dict[tuple[str, ...], float] = {}
    for table in ("7.6", "7.8", "7.10"):
        for record in records(table):
            ours = _ours(run, record)
            if not isinstance(ours, Absent):
                differences.setdefault((record["dataset"], record["mask"], record["metric"]), ours[0] - record["value"])
    gaps = np.array(list(differences.values()))
    sets = dict.fromkeys(name for name, _, _ in differences)
    parts = {name: np.mean([gap for key, gap in differences.items() if key[0] == name]) for name in sets}
    return (
        f"k-NN tables 7.6, 7.8, 7.10: ours less printed is {gaps.mean():+.2f} points on average over {len(gaps)} "
        f"distinct numbers (standard deviation {gaps.std():.2f}): "
        f"{', '.join(f'{name} {gap:+.2f}' for name, gap in parts.items())}."
    )


def _claim_networks(run: Rerun) -> Claim:
    wins = {"printed": [0, 0], "here": [0, 0]}
    leads: dict[str, list[FloatArray]] = {}
    for one, other in (("7.5", "7.6"), ("7.7", "7.8"), ("7.9", "7.10")):
        for record in records(one, metric="test_acc_pct", role="subset"):
            twin = [
                row for row in records(other, metric="test_acc_pct", role="subset", dataset=record["dataset"])
                if row["mask"] == record["mask"] and record["mask"]
            ]  # fmt: skip
            if not twin:
                continue
            wins["printed"][record["value"] > twin[0]["value"]] += 1
            ours = [_ours(run, row) for row in (record, twin[0])]
            if not any(isinstance(value, Absent) for value in ours):
                wins["here"][ours[0][0] > ours[1][0]] += 1
                leads.setdefault(record["dataset"], []).append(_by_split(run, record) - _by_split(run, twin[0]))
    tests = {name: _apart(run, name, np.mean(lead, axis=0)) for name, lead in leads.items()}
    return Claim(
        f"The network mostly beats k-NN on the selected subsets: {_standing(tests)}. Printed in "
        f"{wins['printed'][1]} of {sum(wins['printed'])} pairs, here in {wins['here'][1]} of {sum(wins['here'])}. "
        f"Mean lead in points: {_told(tests)}.",
        _standing(tests),
        "the network mostly beats k-NN",
    )


def _apart(run: Rerun, name: str, leads: FloatArray) -> tuple[float, float]:
    """Return the mean of what one method is ahead of another on each split, and p of none; splits share rows."""
    n_rows = problem_of(run, name).n_samples
    n_train = round(2 * n_rows / 3)
    return float(leads.mean()), corrected_resampled_t(leads, n_train, n_rows - n_train).p_value


def _standing(tests: Mapping[str, tuple[float, float]]) -> Standing:
    """Say whether a lead is shown on all sets, on some, on none, or the other way round."""
    shown = [mean > 0 for mean, p_value in tests.values() if p_value < 0.05]
    if not any(shown):
        return "does not hold" if shown else "not shown"
    return "holds" if all(shown) and len(shown) == len(tests) else "holds in part"


def _told(tests: Mapping[str, tuple[float, float]]) -> str:
    return ", ".join(f"{name} {mean:+.1f} (p = {p_value:.2g})" for name, (mean, p_value) in tests.items())


def _claim_surplus(run: Rerun) -> Claim:
    texts: list[str] = []
    tests: dict[str, tuple[float, float]] = {}
    n = n_splits_of(run)
    for name, table in (("LIVER", "7.9"), ("ION", "7.13")):
        best = records(table, dataset=name, metric="test_acc_pct", role="subset", row=1)[0]["mask"]
        if best is None:
            continue
        gains = []
        for each in (knn, rann):
            few, full = (np.array(each(run, name, mask, n))[:, 1] for mask in (best, "1" * len(best)))
            gains.append(few - full)
        texts.append(
            f"{name}: the best printed subset gains {gains[0].mean():+.1f} points with k-NN, {gains[1].mean():+.1f} "
            "with the network"
        )
        tests[name] = _apart(run, name, gains[0] - gains[1])
    word = _standing(tests)
    words = f"k-NN suffers most from features too many: {word}. {'; '.join(texts)}. Difference: {_told(tests)}."
    return Claim(words, word, "k-NN suffers most from surplus features")


def _claim_peaking(run: Rerun) -> str:
    best = records("C.1", row=1, metric="test_acc_pct")[0]["mask"]
    n = n_splits_of(run)
    subset, full = (test_mean(rann(run, "ION", each, n)) for each in (best, "1" * 34))
    cut = 100.0 * (subset - full) / (100.0 - full)
    return (
        f"ION peaks at few features: its best printed subset has 6 of 34 (one of them, feature 2, is constant) and "
        f"{subset:.1f} % against {full:.1f} %, {cut:.0f} % of the error gone; the text says 33 %, its numbers 28 %."
    )


def _claim_negative(run: Rerun) -> str:
    poll = _search(run, "WDBC1", best_by_gamma)
    if isinstance(poll, Absent):
        return ""
    subset, entry = next(iter(poll.items()))
    everywhere = float(gammas(run, "WDBC1", [subset], COUNTS, n_splits_of(run)).mean())
    return (
        f"Printed negative means of γ are a selection effect: WDBC1's best-ranked subset {subset} has "
        f"{entry['gamma']:+.4f} over the {entry['count']:.0f} searches in which it is among the ten best, and "
        f"{everywhere:+.4f} over all."
    )


def _claim_optimism(run: Rerun) -> str:
    """Choose by test accuracy on half of the splits, and look at the other half."""
    gaps = []
    half = n_splits_of(run) // 2
    for name in SEARCHED:
        for selector in ("gamma", "MI", "RANN"):
            found = _search(run, name, SELECTORS[selector])
            if isinstance(found, Absent) or half < 2:
                continue
            subsets = dict.fromkeys(found)  # in order: ties go to the first
            tests = np.array([[test for _, test in rann(run, name, subset, 2 * half)] for subset in subsets])
            chosen = int(np.argmax(tests[:, :half].mean(axis=1)))
            gaps.append(
                tests[chosen, :half].mean()
                - tests[chosen, half:].mean()
                - (tests[:, :half].mean() - tests[:, half:].mean())
            )
    if not gaps:
        return ""
    return (
        "Listing the best by test accuracy flatters: a winner chosen on five splits loses "
        f"{np.mean(gaps):.1f} points more than the average candidate on five others."
    )


def _claim_counts(run: Rerun) -> str:
    texts, with_two = [], 0
    for name, printed in (("ION", 254), ("WDBC", 181)):
        found = run.attempt(partial(best_by_information, run, name))
        if not isinstance(found, Absent):
            texts.append(f"{len(found)} on {name} (printed {printed})")
            if name == "ION":
                with_two = sum(subset[1] == "1" for subset in found)
    return (
        f"Leading features of {n_splits_of(run)} rankings by mutual information make {' and '.join(texts)} distinct "
        f"subsets; {with_two} of ours on ION hold the constant feature 2, which ranks third or fourth in the thesis."
    )


CHECKS: tuple[Callable[[Rerun], Claim | str], ...] = (
    _claim_information, _claim_gamma, _claim_subsets, _claim_knn, _claim_networks, _claim_surplus, _claim_peaking,
    _claim_negative, _claim_optimism, _claim_counts,
)  # fmt: skip

TABLES: dict[str, Callable[[Rerun], list[Cell]]] = {
    "5.1": table_5_1,
    **{name: partial(correlations, table=name) for name in ("7.1", "7.2", "7.3", "7.4")},
    **{name: partial(subsets, table=name) for name in ("7.5", "7.6", "7.7", "7.8", "7.9", "7.10")},
    **{name: partial(subsets, table=name) for name in ("7.11", "7.12", "7.13", "7.14", "C.1")},
}


def work(run: Rerun) -> Iterator[list[Piece]]:
    """Yield the searches, split by split; then what tables and claims ask of the subsets that they found."""
    searched, large = [
        [name for name in names if not (run.quick and name in BIG_SEARCH)] for names in (SEARCHED, LARGE)
    ]
    numbers = range(n_splits_of(run))
    yield [
        *(partial(best_gammas, name=name, number=number) for name in searched for number in numbers),
        *(partial(network_scores, name=name, number=number) for name in searched for number in numbers),
        *(partial(pbil_best, name=n, judge=j, number=k) for n in large for j in ("gamma", "RANN") for k in numbers),
        *(partial(best_by_information, name=name) for name in SETS),
        *(partial(information, name=name, n_splits=n_runs_of(run)) for name in SEARCHED),
    ]
    networks = [(name, selector) for name in searched for selector in ("MI", "gamma", "RANN")]
    yield [
        *(partial(five_best, name=name, selector=selector) for name, selector in networks),
        *TABLES.values(),
        figures.three_feature_networks,
    ]


def family(cell: Cell) -> tuple[str, str, str]:
    """Return the quantity of a cell, its data set, and the method with its subset."""
    return cell.column.removesuffix(", ±"), cell.row.split(" ")[0], f"{cell.table} {cell.row}"


def tried(cell: Cell) -> str:
    """Return the experiments that were tried on numbers like an unexplained one."""
    if "correlation" in cell.column:
        return (
            "five other estimators of mutual information (resubstitution, kernels in two dimensions of several widths, "
            "ten bins), γ with 20 to 50 neighbors."
        )
    if cell.column.startswith(("mean γ", "rank")):
        return "classes as 0/1 and ±1, means over all searches and over those with the subset among the ten best."
    if "leave-one-out" in cell.column or cell.table in ("7.6", "7.8", "7.10", "7.12", "7.14"):
        return (
            "training shares from 2/3 to all rows, k up to 5, 11, 21, 31 and 51, even k, scaling by training rows and "
            "z-scores, other splits (experiments/nel_levels.md)."
        )
    return (
        "weights in ±0.1, ±0.2, ±0.5 and normal ones, cut-offs, with a bias and without, 2 to 50 hidden units, also "
        "by the test rows, other shares of rows, columns from the right, distinct rows (experiments/nel_levels.md)."
    )


DOCUMENT = Document(
    name="nel",
    family=family,
    tried=tried,
    data=("pima",),
    title=(
        "W. A. J. Nel, An investigation into feature selection techniques for reducing input dimensionality in pattern "
        "recognition applications, MSc thesis, University of Cape Town, 1998"
    ),
    tables=TABLES,
    figures={
        "3.1": figures.two_directions,
        "4.1": figures.three_features,
        "4.2": figures.three_informations,
        "5.1": figures.wdbc_line,
        "5.2": figures.shifted_classes,
        "5.3": figures.three_feature_lines,
        "5.4": figures.surrounded_class,
        "6.2": figures.three_feature_networks,
        **{
            number: partial(
                figures.panels,
                pair=partial(paired, kind=kind, classifier=classifier),
                names=names,
                kind=kind,
                classifier=classifier,
            )
            for number, names, kind, classifier in (
                ("7.1", ("WDBC1", "WDBC2"), "MI", "RANN"),
                ("7.2", ("LIVER", "PIMA"), "MI", "RANN"),
                ("7.3", ("WDBC1", "WDBC2"), "MI", "kNN"),
                ("7.4", ("LIVER", "PIMA"), "MI", "kNN"),
                ("7.5", ("WDBC1", "WDBC2"), "gamma", "RANN"),
                ("7.6", ("LIVER", "PIMA"), "gamma", "RANN"),
                ("7.7", ("WDBC1", "WDBC2"), "gamma", "kNN"),
                ("7.8", ("LIVER", "PIMA"), "gamma", "kNN"),
            )
        },
    },
    claims=claims,
    work=work,
)
