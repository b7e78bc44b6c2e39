"""Do controls keep what they promise? False discoveries, false selections and false confirmations on simulated tables.

Every table has 300 rows and 60 columns in 12 blocks of five, correlated 0.5 within a block and not at all between
blocks. The quantity is a sum of 16 columns, two in each of the first eight blocks, plus noise. So there are two kinds
of innocent columns: 44 that add nothing given the others (what `Knockoffs` speaks of), and of these 20 in blocks
without any signal and are unrelated to the target altogether (what `FalseDiscovery` over single tests speaks of).
`Shadow` is tried on 100 rows and 12 columns of pure noise, `Knockoffs` also on columns correlated with their
neighbors (400 rows, 60 columns, 0.4), where they once kept more false ones than they promise.

    python experiments/promises.py                # 300 tables of each kind, some 7 minutes of one processor; resumes
    python experiments/promises.py --quick        # 10 tables, printed only

Tables that are done are kept in `promises_results/`; the report is written to `promises.md` beside this file.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LassoCV

import fewer
from fewer.control import FalseDiscovery, Knockoffs, Shadow, StabilitySelection, _knockoffs
from fewer.control._knockoffs import knockoff_cut
from fewer.control._stability_selection import false_bound, largest_choice
from fewer.rankers import Fisher, FTest, Importance
from fewer.registry import build

HERE = Path(__file__).parent
N_ROWS, N_FEATURES, BLOCK, RHO, EFFECT = 300, 60, 5, 0.5, 0.3
SIGNALS = np.array([BLOCK * block + place for block in range(8) for place in (0, 2)])
RELATED = np.arange(8 * BLOCK)
ASSUMPTIONS = ("none", "unimodal", "r-concave")
THRESHOLD, EXPECTED, N_PAIRS = 0.75, 2.0, 25


def make_table(rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw a table and its quantity."""
    shared = np.repeat(rng.normal(size=(N_ROWS, N_FEATURES // BLOCK)), BLOCK, axis=1)
    X = np.sqrt(RHO) * shared + np.sqrt(1 - RHO) * rng.normal(size=(N_ROWS, N_FEATURES))
    signs = np.where(np.arange(len(SIGNALS)) % 4 < 2, 1.0, -1.0)
    return X, EFFECT * X[:, SIGNALS] @ signs + rng.normal(size=N_ROWS)


def discoveries(seed: int) -> dict[str, Any]:
    """Run the controls of rates on one table; count what is kept, what of it is false, what is found."""
    X, y = make_table(np.random.default_rng([seed, 1]))
    supports = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the lasso's cross-validation stops early at weak penalties
        lasso = Importance(LassoCV(cv=5, n_jobs=1), cv=None)
        selector = fewer.RankSelector(lasso, control=Knockoffs(0.1), random_state=seed).fit(X, y)
    statistic = selector.trace_.extra["statistic"]
    supports["knockoffs 0.1"] = selector.support_
    supports["knockoffs 0.2"] = statistic >= knockoff_cut(statistic, 0.2)  # the same ranking, cut at another rate
    for rate in (0.1, 0.2):
        selector = fewer.RankSelector(FTest(), control=FalseDiscovery(rate), random_state=seed).fit(X, y)
        supports[f"fdr {rate}"] = selector.support_
    return {
        name: {
            "kept": int(support.sum()),
            "not_needed": int(support.sum() - support[SIGNALS].sum()),
            "unrelated": int(support.sum() - support[RELATED].sum()),
            "found": int(support[SIGNALS].sum()),
        }
        for name, support in supports.items()
    }


def stability(seed: int) -> dict[str, Any]:
    """Run stability selection on one table under each assumption."""
    X, y = make_table(np.random.default_rng([seed, 2]))
    record = {}
    for assumption in ASSUMPTIONS:
        control = StabilitySelection(THRESHOLD, EXPECTED, assumption, n_pairs=N_PAIRS)
        selector = fewer.RankSelector(FTest(), control=control, random_state=seed).fit(X, y)
        record[assumption] = {
            "support": np.flatnonzero(selector.support_).tolist(),
            "frequency": selector.trace_.extra["frequency"].tolist(),
        }
    return record


def shadow(seed: int) -> dict[str, Any]:
    """Count what is confirmed on pure noise, by a forest and by single columns."""
    rng = np.random.default_rng([seed, 3])
    X, y = rng.normal(size=(100, 12)), rng.permutation(np.arange(100) % 2)
    forest = Importance(RandomForestClassifier(10, max_depth=5, n_jobs=1), cv=None)
    record = {}
    for name, ranker in (("forest", forest), ("fisher", Fisher())):
        if name == "forest" and seed % 3:
            continue  # a third of the tables will do for the slow one
        selector = fewer.RankSelector(ranker, control=Shadow(), random_state=seed).fit(X, y)
        record[name] = {"confirmed": int(selector.support_.sum()), "runs": int(selector.trace_.state["run"])}
    return record


def neighbors(seed: int) -> dict[str, Any]:
    """Run knockoffs at a rate of 0.2 on one table of correlated neighbors; those of shrunk covariances beside them."""
    rng = np.random.default_rng([seed, 4])
    covariance = 0.4 ** np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
    X = rng.normal(size=(400, 60)) @ np.linalg.cholesky(covariance).T
    signals = rng.permutation(60)[:15]
    y = 0.25 * X[:, signals] @ rng.choice([-1.0, 1.0], 15) + rng.normal(size=400)
    record, exact = {}, _knockoffs.LEAST_SPREAD
    for way, least in (("as they are", exact), ("shrunk, as they were", np.inf)):
        _knockoffs.LEAST_SPREAD = least  # infinite: covariances are shrunk in any case
        for name, ranker in (("lasso", build("ranker", "lasso:cv=None", task="regression")), ("`FTest`", FTest())):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the lasso's cross-validation stops early at weak penalties
                support = fewer.RankSelector(ranker, control=Knockoffs(0.2), random_state=seed).fit(X, y).support_
            false = int(support.sum() - support[signals].sum())
            record[f"{name} | {way}"] = {"kept": int(support.sum()), "false": false}
    _knockoffs.LEAST_SPREAD = exact
    return record


STUDIES = {"discoveries": discoveries, "neighbors": neighbors, "stability": stability, "shadow": shadow}
TABLES = {"neighbors": 120}


def run(name: str, n_tables: int, folder: Path | None) -> list[dict[str, Any]]:
    """Run a study, going on from what was kept of it."""
    path = None if folder is None else folder / f"{name}.jsonl"
    done = [json.loads(line) for line in path.read_text().splitlines()] if path is not None and path.exists() else []
    for seed in range(len(done), n_tables):
        done.append(STUDIES[name](seed))
        if path is not None:
            path.parent.mkdir(exist_ok=True)
            with path.open("a") as file:
                file.write(json.dumps(done[-1]) + "\n")
    return done[:n_tables]


def mean_of(values: Any) -> str:
    """Write a mean with its 95 % interval over tables."""
    values = np.asarray(values, dtype=float)
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.3f} ({max(values.mean() - half, 0):.3f} to {values.mean() + half:.3f})"


def discovery_rows(records: list[dict[str, Any]]) -> list[str]:
    """Write the rows of the controls of rates."""
    rows = ["| control | rate | false, as promised | not needed | power | kept |", "|---|---|---|---|---|---|"]
    controls = (
        ("knockoffs", "`Knockoffs` × lasso", "not_needed"),
        ("fdr", "`FalseDiscovery` × `FTest`", "unrelated"),
    )
    for name, label, false in controls:
        for rate in (0.1, 0.2):
            own = [record[f"{name} {rate}"] for record in records]
            shares = mean_of([r[false] / max(r["kept"], 1) for r in own])
            needless = np.mean([r["not_needed"] / max(r["kept"], 1) for r in own])
            power = np.mean([r["found"] / len(SIGNALS) for r in own])
            kept = np.mean([r["kept"] for r in own])
            rows.append(f"| {label} | {rate} | {shares} | {needless:.3f} | {power:.2f} | {kept:.1f} |")
    return rows


def neighbor_rows(records: list[dict[str, Any]]) -> list[str]:
    """Write the rows of knockoffs among correlated neighbors."""
    rows = ["| ranker | knockoffs | false at 0.2 | power | kept |", "|---|---|---|---|---|"]
    for name in records[0]:
        own = [record[name] for record in records]
        shares = mean_of([r["false"] / max(r["kept"], 1) for r in own])
        power = np.mean([(r["kept"] - r["false"]) / 15 for r in own])
        rows.append(f"| {name} | {shares} | {power:.2f} | {np.mean([r['kept'] for r in own]):.1f} |")
    return rows


def stability_rows(records: list[dict[str, Any]]) -> list[str]:
    """Write the rows of stability selection: low-probability and false selections against the bound."""
    rows = [
        "| assumption | halves choose | bound | kept, of low probability | kept, not related | power | kept |",
        "|---|---|---|---|---|---|---|",
    ]
    for assumption in ASSUMPTIONS:
        q = largest_choice(N_FEATURES, THRESHOLD, EXPECTED, assumption, N_PAIRS)
        chance = np.mean([record[assumption]["frequency"] for record in records], axis=0)
        low = np.flatnonzero(chance <= q / N_FEATURES)
        supports = [record[assumption]["support"] for record in records]
        low_kept = [len(np.intersect1d(support, low)) for support in supports]
        false = [len(np.setdiff1d(support, RELATED)) for support in supports]
        power = np.mean([len(np.intersect1d(support, SIGNALS)) / len(SIGNALS) for support in supports])
        bound = false_bound(q, N_FEATURES, THRESHOLD, assumption, N_PAIRS)
        rows.append(
            f"| {assumption} | {q} | {bound:.2f} | {mean_of(low_kept)} | {mean_of(false)} | {power:.2f} | "
            f"{np.mean([len(support) for support in supports]):.1f} |"
        )
    return rows


def shadow_rows(records: list[dict[str, Any]]) -> list[str]:
    """Write the rows of false confirmations on noise."""
    rows = ["| ranker | tables | confirmed of 12 | tables with any | runs |", "|---|---|---|---|---|"]
    for name, label in (("forest", "forest of 10 trees"), ("fisher", "`Fisher`")):
        own = [record[name] for record in records if name in record]
        confirmed = [record["confirmed"] for record in own]
        runs = np.mean([record["runs"] for record in own])
        rows.append(
            f"| {label} | {len(own)} | {mean_of(confirmed)} | {np.mean(np.array(confirmed) > 0):.2f} | {runs:.0f} |"
        )
    return rows


TEXT = """# Do controls keep what they promise?

`python experiments/promises.py`, {tables} simulated tables. {rows} rows, {columns} columns in blocks of five
(correlation {rho} within a block), a quantity made of {signals} columns in eight blocks (effect {effect}, noise 1).
Means with 95 % intervals over tables.

## False-discovery rates
`Knockoffs` calls a feature false that adds nothing given the others; `FalseDiscovery` over single tests calls one false
that is unrelated to the target. By the stricter notion most of what single tests find in a block with a signal is not
needed: the fourth column.

{discoveries}

## Knockoffs among correlated neighbors
400 rows, 60 columns, each correlated 0.4 with the next, a quantity made of 15 of them. Shrunk covariances make a
knockoff less like its feature's neighbors than the feature is; with more than twice as many rows as columns they are
copied exactly instead. `tests/control/test_knockoffs.py` holds the rate on 240 smaller tables.

{neighbors}

## Stability selection
`StabilitySelection({threshold}, {expected:g}, assumption, n_pairs={pairs})` over `FTest`. The bound speaks of features
whose chance to be chosen from half of the rows is at most that of a blind draw; the chances are those over all tables.

{stability}

## Shadow on pure noise
100 rows, 12 columns, two classes. The level of `Shadow` is that of its runs on the same rows: a column that goes with
the classes by chance in a table beats the copies in every run.

{shadow}
"""


def report(found: dict[str, list[dict[str, Any]]]) -> str:
    """Write the report."""
    return TEXT.format(
        tables=", ".join(str(len(records)) for records in found.values()),
        rows=N_ROWS,
        columns=N_FEATURES,
        rho=RHO,
        signals=len(SIGNALS),
        effect=EFFECT,
        threshold=THRESHOLD,
        expected=EXPECTED,
        pairs=N_PAIRS,
        discoveries="\n".join(discovery_rows(found["discoveries"])),
        neighbors="\n".join(neighbor_rows(found["neighbors"])),
        stability="\n".join(stability_rows(found["stability"])),
        shadow="\n".join(shadow_rows(found["shadow"])),
    )


def main() -> None:
    """Run the studies and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=STUDIES, help="run one study and write nothing")
    options = parser.parse_args()
    folder = None if options.quick else HERE / "promises_results"
    n_tables = 10 if options.quick else 300
    if options.only:
        run(options.only, min(n_tables, TABLES.get(options.only, n_tables)), folder)
        return
    text = report({name: run(name, min(n_tables, TABLES.get(name, n_tables)), folder) for name in STUDIES})
    print(text)
    if not options.quick:
        (HERE / "promises.md").write_text(text)


if __name__ == "__main__":
    main()
