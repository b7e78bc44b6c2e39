"""Z. Chen, Supervised feature selection based on GMLVQ (Groningen 2012): tables 2–6, figures, conclusions.

What the thesis leaves open, and the reading of record here: the cost is a sum over rows and α = N² / 10; steps start
at 0.5 (prototypes) and 0.1 (Ω), at most 150 of them, and the one with the lowest validation cost is kept; no directions
are deleted. Features are standardized on training rows. Irrelevant continuous features are standard normal;
signal-to-noise ratios are ratios of variances.

Two choices follow from what is printed. Information gain cuts where the minimum description length says so: only then
does it keep no irrelevant feature, and only then do features 4, 5 and 32 of Ionosphere lead. (Features without any cut
tie at 0 and keep the order of the columns, added ones last; how many stay with ties at random is shown too.) ReliefF
takes five neighbors: fewer miss one of the nine features of breast cancer, more lose feature 26 of Ionosphere.

The evaluators are trained on training and validation rows, as the text has it: GMLVQ with the force and to the end, as
nothing is left to stop it by. Beside it stands GMLVQ without the force that stops by the validation rows. The SVM takes
C and γ from a grid by validation AUC.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fewer.contracts import Ranker
from fewer.evaluate import PlantedCounts, plant
from fewer.models import GMLVQClassifier
from fewer.problem import FloatArray, IntArray, Problem
from fewer.rankers import Fisher, GMLVQRelevance, InformationGain, ReliefF
from fewer_papers._core import Absent, Cell, Claim, Document, Piece, Rerun, Role, judge, read_printed
from fewer_papers._curves import (
    ORIGINAL,
    Curves,
    Evaluator,
    GMLVQEvaluator,
    SVMEvaluator,
    auc,
    rank_seen,
    rounds_of_five,
    size_curves,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GMLVQ, GAIN, FISHER, RELIEFF = "GMLVQ", "Information Gain", "Fisher", "Relieff"
SVM = "RBF-SVM"
STOPPED = "GMLVQ, stopped"
SHUFFLED = "Information Gain, ties at random"
OMEGA = f"{GMLVQ} {ORIGINAL}"
PART = 25
QUICK_ROUNDS = 5
COMPARABLE = 0.02
"""Mean difference of AUC below which curves are called comparable; the thesis gives none."""
NINE = (23, 21, 28, 24, 8, 3, 1, 4, 7)
ADRENAL = Absent("The adrenal tumor data (147 patients, 32 steroid markers) are not public.")


@dataclass(frozen=True)
class Case:
    """One data set of chapter 5."""

    name: str
    set: str
    sizes: tuple[int, ...]
    further_sizes: tuple[int, ...]
    n_rounds: int
    n_irrelevant: int
    copied: tuple[int, ...]
    first_figure: int
    dropped: tuple[int, ...] = ()


CASES = (
    Case("Ionosphere", "ionosphere", tuple(range(2, 33, 2)), (), 125, 20, (5, 20, 25), 18, dropped=(2,)),
    Case("Connectionist Bench Sonar", "sonar", tuple(range(4, 61, 4)), (2,), 100, 20, (5, 20, 25), 23),
    Case("Breast Cancer Wisconsin", "wdbc", tuple(range(2, 31, 2)), (), 100, 20, (5, 20, 25), 28),
    Case("SPECTF Heart", "spectf", tuple(range(3, 43, 3)), (44,), 100, 9, (21, 10, 43), 33),
)
RATIOS = (10, 50, 80)


def rankers() -> dict[str, Ranker]:
    """Return the four methods."""
    return {GMLVQ: GMLVQRelevance(), GAIN: InformationGain("mdlp"), FISHER: Fisher(), RELIEFF: ReliefF(5)}


# ------------------------------------------------------------------------------------------------ the printed


def _printed(table: str, row: str, column: str) -> Any:
    records = read_printed("chen")["records"]
    return next(r["value"] for r in records if (r["table"], r["row"], r["column"]) == (table, row, column))


def _quotes(row: str, column: str, **wanted: Any) -> list[Any]:
    records = [r for r in read_printed("chen")["records"] if r["table"] == "figure_quotes"]
    found = [r for r in records if r["row"] == row and r["column"] == column]
    found = [r for r in found if all(r.get(key) == value for key, value in wanted.items())]
    return [r["value"] for r in sorted(found, key=lambda r: int(r.get("order", 0)))]


# ---------------------------------------------------------------------------------------------------- the work


def problem_of(run: Rerun, case: Case) -> Problem:
    """Load a data set, without the columns that the thesis drops before it counts features."""
    problem = run.load(case.set).problem
    kept = np.setdiff1d(np.arange(problem.n_features), np.array(case.dropped, dtype=np.int64) - 1)
    return replace(
        problem,
        X=np.ascontiguousarray(problem.X[:, kept]),
        names=tuple(problem.names[i] for i in kept),
        kinds=tuple(problem.kinds[i] for i in kept),
    )


def sizes_of(run: Rerun, case: Case) -> tuple[int, ...]:
    """Return the numbers of features at which curves are measured: every third with --quick."""
    return case.sizes[::3] if run.quick else case.sizes


def n_parts_of(run: Rerun, case: Case) -> int:
    """Return in how many parts the rounds of a set are measured and kept."""
    return 1 if run.quick else case.n_rounds // PART


def curves_in_part(run: Rerun, case: Case, number: int) -> dict[str, Any]:
    """Measure the four rankings by both evaluators, in one part of the rounds.

    The evaluator that stops by validation rows, a reading of ours, judges the first part only.
    """

    def measure() -> dict[str, Any]:
        problem = problem_of(run, case)
        run.report(f"chen: rankings and curves on {case.name}, part {number + 1} of {n_parts_of(run, case)}")
        evaluators: dict[str, Evaluator] = {
            GMLVQ: GMLVQEvaluator(alpha="auto", stop=False),
            SVM: SVMEvaluator((10.0,), (0.1, 0.5)) if run.quick else SVMEvaluator(),
        }
        if number == 0:  # another reading, told beside the one of record
            evaluators[STOPPED] = GMLVQEvaluator(n_iter_no_change=10 if run.quick else 30)
        found = size_curves(
            rankers(),
            evaluators,
            problem,
            sizes=_all_sizes(run, case),
            n_rounds=QUICK_ROUNDS if run.quick else PART,
            rng=run.rng(f"curves {case.set} {number}"),
            n_jobs=run.n_jobs,
        )
        return {"auc": found.auc, "orders": found.orders}

    return run.once(f"curves {case.set} {number}", measure)


def _all_sizes(run: Rerun, case: Case) -> list[int]:
    return sorted({*sizes_of(run, case), *case.further_sizes})


def curves_of(run: Rerun, case: Case) -> Curves:
    """Return the curves over all parts."""
    kept = [curves_in_part(run, case, number) for number in range(n_parts_of(run, case))]
    areas = {
        evaluator: {
            ranker: np.concatenate(
                [np.array(part["auc"][evaluator][ranker]) for part in kept if evaluator in part["auc"]]
            )
            for ranker in by
        }
        for evaluator, by in kept[0]["auc"].items()
    }
    orders = {ranker: np.concatenate([np.array(part["orders"][ranker]) for part in kept]) for ranker in rankers()}
    return Curves(np.array(_all_sizes(run, case)), areas, orders)


def in_common(curves: Curves, evaluators: Sequence[str]) -> Curves:
    """Return the curves of some evaluators over the rounds that all of them judged."""
    tables = {name: curves.auc[name] for name in evaluators}
    n = min(len(table) for by in tables.values() for table in by.values())
    areas = {name: {ranker: table[:n] for ranker, table in by.items()} for name, by in tables.items()}
    return Curves(curves.sizes, areas, curves.orders)


def at_sizes(curves: Curves, sizes: Sequence[int]) -> Curves:
    """Return the curves at some of their sizes."""
    places = np.flatnonzero(np.isin(curves.sizes, sizes))
    areas = {e: {r: table[:, places] for r, table in by.items()} for e, by in curves.auc.items()}
    return Curves(curves.sizes[places], areas, curves.orders)


def planted_orders(run: Rerun, case: Case, kind: str) -> dict[str, IntArray]:
    """Plant irrelevant or redundant features and rank training and validation rows: (n_rounds, n_features) each."""
    problem = problem_of(run, case)
    n_rounds = QUICK_ROUNDS if run.quick else 25

    def measure() -> dict[str, list[Any]]:
        run.report(f"chen: {kind} features on {case.name}")
        rng = run.rng(f"{kind} {case.set}")
        orders: dict[str, list[Any]] = {name: [] for name in (*rankers(), SHUFFLED)}
        for part in rounds_of_five(problem, n_rounds, rng):
            rows = plant(problem, rng, **_plan(case, kind))
            train, held, seen = (rows.problem.take(r) for r in (part.train, part.validation, part.seen))
            for name, ranker in rankers().items():
                ranking, _ = rank_seen(ranker, train, held, seen, np.random.default_rng(int(rng.integers(2**63))))
                orders[name].append(ranking.order)
                if name == GAIN:
                    orders[SHUFFLED].append(np.lexsort((rng.random(len(ranking.scores)), -ranking.scores)))
        return orders

    found = run.once(f"orders with {kind} {case.set}", measure)
    return {name: np.array(orders) for name, orders in found.items()}


def counts_of(run: Rerun, case: Case, kind: str) -> PlantedCounts:
    """Count the planted features among the first 1, 2, … of the orders."""
    orders, n_original = planted_orders(run, case, kind), problem_of(run, case).n_features
    kept = np.cumsum(np.array(list(orders.values())) >= n_original, axis=2, dtype=np.int64)
    n_added = case.n_irrelevant if kind == "irrelevant" else len(case.copied) * len(RATIOS)
    return PlantedCounts(tuple(orders), kept, n_original, n_added)


def _plan(case: Case, kind: str) -> dict[str, Any]:
    if kind == "irrelevant":
        return {"irrelevant": case.n_irrelevant}
    return {"redundant": {number - 1: RATIOS for number in case.copied}}


def forces_of(run: Rerun, case: Case, alphas: Sequence[float], *, stop: bool = True) -> dict[str, list[float]]:
    """Return test AUC and effective number of features 2^entropy by the entropy force (figure 8)."""
    problem = problem_of(run, case)

    def measure() -> dict[str, list[float]]:
        run.report(f"chen: entropy force on {case.name}")
        areas, effective = [], []
        for alpha in alphas:
            found = [
                _one_force(problem, part, alpha, stop)
                for part in rounds_of_five(problem, QUICK_ROUNDS, run.rng("forces"))
            ]
            areas.append(float(np.mean([f[0] for f in found])))
            effective.append(float(np.mean([f[1] for f in found])))
        return {"auc": areas, "effective": effective}

    return run.once(f"forces {case.set} {list(alphas)} {stop}", measure)


def _one_force(problem: Problem, part: Any, alpha: float, stop: bool) -> tuple[float, float]:
    train, held, test = (problem.take(rows) for rows in (part.train, part.validation, part.test))
    rows = {"X_val": held.X, "y_val": held.y} if stop else {}
    model = GMLVQClassifier(alpha=alpha, random_state=0).fit(train.X, train.y, **rows)
    return auc(test.y, model.decision_function(test.X)), effective_features(model.relevances_)


def effective_features(relevances: FloatArray) -> float:
    """Return 2 to the entropy of relevances: how many features share them."""
    shares = relevances[relevances > 0]
    return float(2.0 ** -(shares * np.log2(shares)).sum())


def leading(curves: Curves, ranker: str, size: int) -> list[int]:
    """Return the features with the lowest mean ranks, numbered from 1."""
    return [int(i) + 1 for i in np.argsort(curves.mean_ranks()[ranker], kind="stable")[:size]]


# -------------------------------------------------------------------------------------------------- the tables


def table_2(run: Rerun) -> list[Cell]:
    """The data sets: rows, features, classes."""
    cells = []
    for case in CASES:
        problem = run.attempt(lambda case=case: run.load(case.set).problem)  # type: ignore[misc]
        counts: dict[str, Any] = dict.fromkeys(("instances", "attributes", "classes"), problem)
        if not isinstance(problem, Absent):
            counts = dict(zip(counts, (problem.n_samples, problem.n_features, problem.n_classes), strict=True))
        for column, ours in counts.items():
            why = "The text of the thesis and the data have two classes."
            tested = "the labels of the file" if column == "classes" else ""
            printed = _printed("table2", case.name, column)
            cells.append(judge("2", case.name, column, printed, ours, reason=why, tested=tested, kind="size"))
    return cells + [replace(cell, kind="size") for cell in _adrenal("2", ("instances", "attributes", "classes"))]


def _dominance_table(
    run: Rerun, table: str, columns: Sequence[str], evaluators: Sequence[str], reading: str = ""
) -> list[Cell]:
    """Compare shares of sizes, within two standard errors of the difference of two such experiments."""
    cells = []
    for case in CASES:
        curves = run.attempt(lambda case=case: at_sizes(curves_of(run, case), sizes_of(run, case)))  # type: ignore[misc]
        shares: Any = curves
        reason, apart = "", dict.fromkeys(columns, 0.0)
        if not isinstance(curves, Absent):
            curves = in_common(curves, evaluators)
            shares = curves.dominance(*evaluators)
            reason = _lead(curves, evaluators)
            apart = reach_of_shares(curves, evaluators, run.rng(f"passes {table} {case.set}{reading}"))
        for column in columns:
            printed = _printed(f"table{table}", case.name, column)
            ours = shares if isinstance(shares, Absent) else shares[column]
            about: dict[str, Any] = {"reason": reason, "role": "reading" if reading else "printed"}
            cells.append(judge(table, case.name, column + reading, printed, ours, tolerance=apart[column], **about))
    return cells


def reach_of_shares(curves: Curves, evaluators: Sequence[str], rng: np.random.Generator) -> dict[str, float]:
    """Return how far the shares of two such experiments may be apart, by drawing passes of five folds again."""
    n = min(len(table) for name in evaluators for table in curves.auc[name].values())
    block = 5 if n >= 25 else 1  # too few passes with --quick: single rounds then
    drawn: dict[str, list[float]] = {}
    for _ in range(2000):
        rows = (block * rng.integers(n // block, size=n // block)[:, None] + np.arange(block)).ravel()
        auc = {name: {ranker: table[rows] for ranker, table in curves.auc[name].items()} for name in evaluators}
        for name, share in Curves(curves.sizes, auc, {}).dominance(*evaluators).items():
            drawn.setdefault(name, []).append(share)
    return {name: 2.0 * float(np.sqrt(2.0) * np.std(shares, ddof=1)) for name, shares in drawn.items()}


def _lead(curves: Curves, evaluators: Sequence[str]) -> str:
    """Say how far the best curve leads, beside how well curves are known."""
    tables = [table for name in evaluators for table in curves.auc[name].values()]
    means = np.sort([table.mean(axis=0) for table in tables], axis=0)
    gap = float((means[-1] - means[-2]).mean())
    error = float(np.mean([table.std(axis=0, ddof=1) / np.sqrt(len(table)) for table in tables]))
    return f"The best curve leads the next by {gap:.3f} AUC in the mean, and a curve's standard error is {error:.3f}."


def table_3(run: Rerun) -> list[Cell]:
    """Percentage of subset sizes at which a ranking is best, by GMLVQ."""
    columns = (GMLVQ, OMEGA, GAIN, FISHER, RELIEFF)
    cells = _dominance_table(run, "3", columns, (GMLVQ, ORIGINAL))
    cells += _dominance_table(run, "3", columns, (STOPPED, ORIGINAL), " (evaluator stopped by validation)")
    return cells + _adrenal("3", columns)


def table_4(run: Rerun) -> list[Cell]:
    """Percentage of subset sizes at which a ranking is best, by an RBF support vector machine."""
    columns = (GMLVQ, GAIN, FISHER, RELIEFF)
    return _dominance_table(run, "4", columns, (SVM,)) + _adrenal("4", columns)


def _planted_table(run: Rerun, table: str, kind: str) -> list[Cell]:
    cells = []
    for case in CASES:
        counts = run.attempt(partial(counts_of, run, case, kind))
        for column in (GMLVQ, GAIN, SHUFFLED, FISHER, RELIEFF):
            printed = _printed(f"table{table}", case.name, GAIN if column == SHUFFLED else column)
            if isinstance(counts, Absent):
                cells.append(judge(table, case.name, column, printed, counts))
                continue
            found = counts.at()[column]
            spread = float(found.std(ddof=1))
            chance = float(counts.chance[counts.n_original - 1])
            tolerance = 2.0 * float(np.hypot(spread / np.sqrt(5), spread / np.sqrt(len(found))))
            unsaid = {GMLVQ: "the delete rate, tuned for each set, is", GAIN: "bins are", RELIEFF: "neighbors are"}
            reason = f"Counts vary by {spread:.1f} from round to round, chance keeps {chance:.1f}" + (
                f"; {unsaid[column]} not printed." if column in unsaid else "."
            )
            cells.append(
                judge(
                    table,
                    case.name,
                    column,
                    printed,
                    float(found.mean()),
                    tolerance=max(tolerance, 0.2),
                    better="lower",
                    reason=reason,
                    remark=f"Chance keeps {chance:.1f}.",
                    role="reading" if column == SHUFFLED else "printed",
                )
            )
    return cells + _adrenal(table, (GMLVQ, GAIN, FISHER, RELIEFF))


def _adrenal(table: str, columns: Sequence[str]) -> list[Cell]:
    row = "Adrenal Tumor"
    return [judge(table, row, column, _printed(f"table{table}", row, column), ADRENAL) for column in columns]


def table_5(run: Rerun) -> list[Cell]:
    """Irrelevant features among the first N."""
    return _planted_table(run, "5", "irrelevant")


def table_6(run: Rerun) -> list[Cell]:
    """Redundant features among the first N."""
    return _planted_table(run, "6", "redundant")


def rankings(run: Rerun) -> list[Cell]:
    """What the text says about the ranking plots: leading features and features that all methods have in common."""
    cells: list[Cell] = []
    iono, sonar, breast, spectf = CASES
    for method in (GMLVQ, FISHER, RELIEFF, GAIN):
        printed = sorted(_quotes(iono.name, "top3_feature", method=method))
        ours = run.attempt(lambda m=method: sorted(leading(curves_of(run, iono), m, 3)))  # type: ignore[misc]
        cells.append(judge("rankings", iono.name, f"first three, {method}", printed, ours))
    for case, size in ((sonar, 8), (breast, 10), (spectf, 12)):
        printed = sorted(set(_quotes(case.name, f"common_in_top{size}")))
        for method in (GMLVQ, GAIN, FISHER, RELIEFF):
            ours = run.attempt(lambda c=case, m=method, k=size: leading(curves_of(run, c), m, k))  # type: ignore[misc]
            shared = ours if isinstance(ours, Absent) else sorted(set(ours) & set(printed))
            column = f"named features among the first {size}, {method}"
            told, tested = _missing(printed, shared), ""
            if method == GMLVQ:
                other = run.attempt(lambda c=case, k=size: small_steps(run, c)[:k])  # type: ignore[misc]
                other = other if isinstance(other, Absent) else sorted(set(other) & set(printed))
                if other == printed:
                    told, tested = f"{told} Smaller steps find all.", "rankings, the column with steps 0.1 / 0.02"
                reading = f"{column}, steps 0.1 / 0.02"
                cells.append(
                    judge(
                        "rankings", case.name, reading, printed, other, reason=_missing(printed, other), role="reading"
                    )
                )
            cells.append(judge("rankings", case.name, column, printed, shared, reason=told, tested=tested))
    return cells


def small_steps(run: Rerun, case: Case) -> list[int]:
    """Rank by GMLVQ with smaller steps than those of record: features from 1, the leading one first.

    These steps were found by searching against the print; `experiments/gmlvq_steps.md` has them on other data.
    """

    def measure() -> list[Any]:
        run.report(f"chen: small steps on {case.name}")
        problem = problem_of(run, case)
        ranker = GMLVQRelevance(step_prototypes=0.1, step_matrix=0.02)
        orders = []
        rng = run.rng(f"small steps {case.set}")
        for part in rounds_of_five(problem, QUICK_ROUNDS if run.quick else PART, rng):
            train, held, seen = (problem.take(rows) for rows in (part.train, part.validation, part.seen))
            seed = int(rng.integers(2**63))
            orders.append(rank_seen(ranker, train, held, seen, np.random.default_rng(seed))[0].order)
        return orders

    orders = np.array(run.once(f"small steps {case.set}", measure))
    places = np.argsort(orders, axis=1).mean(axis=0)
    return [int(feature) + 1 for feature in np.argsort(places, kind="stable")]


def _missing(printed: list[int], shared: Any) -> str:
    if isinstance(shared, Absent):
        return ""
    return f"{len(shared)} of {len(printed)}: without {', '.join(str(f) for f in printed if f not in shared)}."


def areas(run: Rerun) -> list[Cell]:
    """Areas under the ROC curve that the text quotes."""
    _, sonar, _, spectf = CASES
    quoted: list[tuple[Case, str, str, str, int]] = [
        (sonar, SVM, GMLVQ, GMLVQ, 2),
        (sonar, SVM, GMLVQ, GMLVQ, 36),
        (spectf, GMLVQ, GMLVQ, "all", 44),
        (spectf, STOPPED, GMLVQ, "all", 44),
    ]
    cells = []
    for case, evaluator, method, printed_method, size in quoted:
        by = GMLVQ if evaluator == STOPPED else evaluator
        printed = _quotes(case.name, "AUC", evaluator=by, method=printed_method, n_features=size)[0]

        def ours(case: Case = case, evaluator: str = evaluator, method: str = method, size: int = size) -> Any:
            curves = curves_of(run, case)
            places = np.flatnonzero(curves.sizes == size)
            if not len(places):
                return Absent("this size is left out with --quick; run without it")
            found = curves.auc[evaluator][method][:, places[0]]
            return float(np.nanmean(found)), float(np.nanstd(found, ddof=1) / np.sqrt(len(found)))

        column = f"AUC by {evaluator}, {size} features"
        role: Role = "reading" if evaluator == STOPPED else "printed"
        area, near = run.attempt(ours), 0.0
        if not isinstance(area, Absent):
            area, error = area
            near = 2.0 * float(np.sqrt(2.0)) * error + 0.005  # printed with two digits
        cells.append(judge("areas", case.name, column, printed, area, tolerance=near, role=role))
    return cells


def quotes(run: Rerun) -> list[Cell]:
    """What the text reads off its figures."""
    from fewer_papers import _chen_quotes

    return _chen_quotes.table(run)


# -------------------------------------------------------------------------------------------------- the claims


def claims(run: Rerun) -> list[Claim]:
    """What the thesis concludes, and whether it holds here."""
    out: list[Claim] = []
    steps = (_rankings_claim, _dominance_claims, _planted_claims, _force_claim)
    for step in steps:
        found = run.attempt(partial(step, run))
        out += [Claim(f"{step.__name__.strip('_')}: {found.reason}")] if isinstance(found, Absent) else found
    return out


def _rankings_claim(run: Rerun) -> list[Claim]:
    iono, _, breast, _ = CASES
    curves = curves_of(run, breast)
    hits = {m: len(set(leading(curves, m, 10)) & set(NINE)) for m in rankers()}
    first = sorted(leading(curves_of(run, iono), GMLVQ, 3))
    each = ", ".join(f"{m} {n} of 9" for m, n in hits.items())
    return [
        Claim.of(
            [n == 9 for n in hits.values()],
            "'All four methods rank the nine features 23 21 28 24 8 3 1 4 7 of breast cancer in their first ten' {}: "
            f"{each}.",
            "all four methods rank the same nine features of breast cancer first",
        ),
        Claim.of(
            [first == [1, 2, 4]],
            f"'GMLVQ ranks features 1, 4 and 2 of Ionosphere first' {{}}: {first} here.",
            "GMLVQ ranks 1, 4 and 2 first on Ionosphere",
        ),
    ]


def _dominance_claims(run: Rerun) -> list[Claim]:
    both: dict[str, dict[str, float]] = {GMLVQ: {}, STOPPED: {}}
    loss: dict[str, dict[str, float]] = {GMLVQ: {}, STOPPED: {}}
    by_svm = {}
    for case in CASES:
        curves = at_sizes(curves_of(run, case), sizes_of(run, case))
        for evaluator in both:
            pair = in_common(curves, (evaluator, ORIGINAL))
            shares = pair.dominance(evaluator, ORIGINAL)
            both[evaluator][case.name] = shares[GMLVQ] + shares[OMEGA]
            loss[evaluator][case.name] = float((pair.mean(ORIGINAL)[GMLVQ] - pair.mean(evaluator)[GMLVQ]).mean())
        by_svm[case.name] = curves.dominance(SVM)[GMLVQ]
    won = {evaluator: sum(share > 50 for share in shares.values()) for evaluator, shares in both.items()}
    won_svm = sum(share > 50 for share in by_svm.values())
    return [
        Claim.of(
            [share > 50 for share in both[GMLVQ].values()],
            "'GMLVQ rankings (with the original Omega) dominate when GMLVQ evaluates' {}: best at more than half of "
            f"the sizes on {won[GMLVQ]} of 4 public sets (printed: 2 of these 4), {_list(both[GMLVQ], '.0f', ' %')}; "
            f"with an evaluator that stops by validation rows on {won[STOPPED]}, {_list(both[STOPPED], '.0f', ' %')}.",
            "GMLVQ's rankings win where GMLVQ evaluates",
        ),
        Claim.of(
            [share > 50 for share in by_svm.values()],
            "'With an RBF-SVM, GMLVQ is best at more than half of the sizes' {}: on "
            f"{won_svm} of 4 public sets (printed: 2 of these 4), {_list(by_svm, '.0f', ' %')}.",
            "GMLVQ's rankings win where an SVM evaluates",
        ),
        Claim.of(
            [gain > -COMPARABLE for by_set in loss.values() for gain in by_set.values()],
            f"'The original Omega is comparable to learning anew' {{}}, taken as less than {COMPARABLE} AUC worse in "
            f"the mean: against an evaluator that learns to the end {_list(loss[GMLVQ], '+.3f')}; against one that "
            f"stops by validation rows {_list(loss[STOPPED], '+.3f')}.",
            "the original Omega is as good as learning anew",
        ),
    ]


def _planted_claims(run: Rerun) -> list[Claim]:
    totals, shares = {}, {}
    winners: list[str] = []
    shuffled = 0.0
    for kind in ("irrelevant", "redundant"):
        found = {case.name: counts_of(run, case, kind) for case in CASES}
        totals[kind] = {m: sum(float(c.at()[m].mean()) for c in found.values()) for m in rankers()}
        chance = sum(float(c.chance[c.n_original - 1]) for c in found.values())
        shares[kind] = {m: total / chance for m, total in totals[kind].items()}
        if kind == "irrelevant":
            shuffled = sum(float(c.at()[SHUFFLED].mean()) for c in found.values())
            winners = [min(rankers(), key=lambda m, c=c: c.at()[m].mean()) for c in found.values()]  # type: ignore[misc]
    fewer = totals["redundant"]
    mild = np.mean(list(shares["redundant"].values()))
    strict = np.mean(list(shares["irrelevant"].values()))
    return [
        Claim.of(
            [w == GAIN for w in winners],
            f"'Information gain filters irrelevant features best' {{}}: on {winners.count(GAIN)} of 4 public sets; "
            f"kept in total: {_list(totals['irrelevant'], '.1f')}. Features without a cut tie at 0 and keep the order "
            f"of the columns, added ones last; with ties at random information gain keeps {shuffled:.1f}.",
            "information gain filters irrelevant features best",
        ),
        Claim.of(
            [strict < mild],
            "'Irrelevant features are filtered better than redundant ones' {}: the four methods keep "
            f"{strict:.0%} of what chance keeps of irrelevant ones and {mild:.0%} of redundant ones.",
            "irrelevant features are filtered better than redundant ones",
        ),
        Claim.of(
            [fewer[a] < fewer[b] for a in (GMLVQ, GAIN) for b in (RELIEFF, FISHER)],
            "'GMLVQ and information gain keep fewer redundant features than Relieff and Fisher' {}: kept in total "
            f"{_list(fewer, '.1f')}; as a share of chance {_list(shares['redundant'], '.2f')}. No ranking judges a "
            "feature by those already chosen: copies stay as long as their originals do.",
            "GMLVQ and information gain keep fewer redundant features",
        ),
    ]


def _with_and_without(run: Rerun, case: Case) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Measure the models without the force and with it: stopped by validation rows, and to the end."""
    alphas = (0.0, problem_of(run, case).n_features ** 2 / 10)
    return forces_of(run, case, alphas), forces_of(run, case, alphas, stop=False)


def _force_claim(run: Rerun) -> list[Claim]:
    with_force, without, ended, effect = {}, {}, {}, {}
    for case in CASES:
        found, to_the_end = _with_and_without(run, case)
        without[case.name], with_force[case.name] = found["effective"]
        ended[case.name] = to_the_end["effective"][1]
        effect[case.name] = found["auc"][1] - found["auc"][0]
    kept = {name: effect[name] > -COMPARABLE and with_force[name] > 2 for name in effect}
    return [
        Claim.of(
            kept.values(),
            "'α = N² / 10 tells features apart without losing much' {}, taken as more than two effective features and "
            f"less than {COMPARABLE} AUC lost: stopped by validation rows, effective features "
            f"{_list(with_force, '.1f')} (without the force {_list(without, '.1f')}; with it to the end "
            f"{_list(ended, '.1f')}), AUC {_list(effect, '+.3f')}.",
            "α = N² / 10 separates features at little loss",
        )
    ]


def _list(values: dict[str, float], form: str, unit: str = "") -> str:
    return ", ".join(f"{name} {value:{form}}{unit}" for name, value in values.items())


def _figures() -> dict[str, Any]:
    """Name the figures; they are drawn by a module of their own, loaded when the first is asked for."""

    def draw(name: str) -> Any:
        def figure(run: Rerun) -> Figure:
            from fewer_papers import _chen_figures

            return _chen_figures.draw(name, run)

        return figure

    names = ["7", "8", "9", "10"]
    for case in CASES:
        first = case.first_figure
        names += [str(first), f"13-{case.set}", *(str(first + k) for k in range(1, 5))]
    return {name: draw(name) for name in names}


def work(run: Rerun) -> Iterator[list[Piece]]:
    """Yield the parts of all curves, the orders of planted features, and the models behind claims."""
    parts = [(case, number) for case in reversed(CASES) for number in range(n_parts_of(run, case))]
    yield [
        *(partial(curves_in_part, case=case, number=number) for case, number in parts),
        *(partial(planted_orders, case=case, kind=kind) for case in CASES for kind in ("irrelevant", "redundant")),
        *(partial(small_steps, case=case) for case in CASES[1:]),
        *(partial(_with_and_without, case=case) for case in CASES),
    ]


def family(cell: Cell) -> tuple[str, str, str]:
    """Return the quantity of a cell, its data set, and the method."""
    quantity = f"table {cell.table}" if cell.table in ("3", "4", "5", "6") else f"{cell.table} {cell.column}"
    return quantity, cell.row, cell.column


def tried(cell: Cell) -> str:
    """Return the experiments that were tried on numbers like an unexplained one."""
    column = cell.column.lower()
    if "gmlvq" in column or cell.table in ("3", "areas"):
        return (
            "28 settings of the step sizes and α of GMLVQ, delete rates up to 0.9, stopping by validation rows and not "
            "(experiments/gmlvq_steps.md, gmlvq_redundancy.md)."
        )
    if GAIN.lower() in column or " ig " in column:
        return (
            "5, 10 and 20 equal bins of information gain and cuts by description length, ties in the order of the "
            "columns and at random."
        )
    if RELIEFF.lower() in column:
        return "ReliefF with one to ten neighbors."
    return (
        "three forms of Fisher's ratio, normal and uniform added columns, two thirds to all rows "
        "(experiments/chen_fisher.md)."
    )


DOCUMENT = Document(
    name="chen",
    family=family,
    tried=tried,
    title=(
        "Z. Chen, Supervised feature selection based on generalized matrix learning vector quantization, MSc thesis, "
        "University of Groningen, 2012"
    ),
    tables={
        "2": table_2,
        "3": table_3,
        "4": table_4,
        "5": table_5,
        "6": table_6,
        "rankings": rankings,
        "areas": areas,
        "figures": quotes,
    },
    figures=_figures(),
    claims=claims,
    work=work,
)
