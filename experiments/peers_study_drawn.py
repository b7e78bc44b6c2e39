"""Part F of the peers' study: tables drawn from real ones, with 2,000 test rows each, which design never sees.

    python experiments/peers_study_drawn.py SEED [--tables 110] [--share 1/2] [--alone] [--minutes 20] [--out FOLDER]
    python experiments/peers_study_drawn.py real [--alone] …
    python experiments/peers_study_drawn.py report [--out FOLDER]

SEED is the first eight hexadecimal digits of the commit that freezes the design. Each table has a real source. Its
rows are drawn between neighboring rows of the source; its target is drawn from a model fitted to the source's own
target: linear, boosting, kernel and neighbors in turn. Copies, a product of two columns, a rare class, or categories
are planted in turn. The score of a method is the test score of the model that five-fold cross-validation inside the
training rows picks among five for the method's features: balanced accuracy, or R² (not below 0). The shared tables
are looked for in the folder that FEWER_DATA names, with those of part E in `fresh` below it. `--share i/k` runs each
k-th table, beginning with the i-th. `real` has the real tables of part E and of the design as they are, in two splits
(at most 400 training and 2,000 test rows, 600 columns).
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from fewer.problem import Problem

SOURCES = {
    "classification": (
        "pima", "wdbc", "ionosphere", "sonar", "spectf", "cleve", "crx", "glass", "segment", "satimage", "ann_thyroid",
        "higgs_7500", "adult", "fresh/GlaucomaM", "fresh/bank_churn", "fresh/biodeg", "fresh/cylinder_bands",
        "fresh/eucalyptus", "fresh/har", "fresh/jm1", "fresh/oil_spill", "fresh/waveform5000",
    ),
    "regression": (
        "fresh/ailerons", "fresh/autohorse", "fresh/student_mat", "fresh/triazines", "fresh/wisconsin_r", "wdbc",
        "segment", "satimage",
    ),
}  # fmt: skip
"""Where a table of classes stands for a quantity, one of its columns, by the seed, is the target."""
REAL = {
    "classification": (
        *SOURCES["classification"], "mfeat_digits", "fresh/promotergene", "fresh/chowdary", "fresh/lymphoma",
        "fresh/BASEHOCK", "fresh/soybean", "fresh/arrhythmia",
    ),
    "regression": SOURCES["regression"][:5],
}  # fmt: skip
KINDS = ("linear", "boosting", "kernel", "neighbors")
PLANTS = ("nothing", "copies", "product", "rare", "categories")
N_TRAIN, N_TEST, MOST_COLUMNS, SOURCE_ROWS = 400, 2000, 60, 1500


def source(name: str, task: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Read a real table as scaled numbers, missing cells at the median; the target as codes or a scaled quantity."""
    frame = pl.read_csv(Path(os.environ["FEWER_DATA"]) / f"{name}.csv.gz", infer_schema_length=None)
    frame = frame.sample(min(len(frame), SOURCE_ROWS), seed=int(rng.integers(2**31)), shuffle=True)
    columns = []
    for column in frame.columns:
        cells = frame[column]
        if not cells.dtype.is_numeric():
            cells = cells.cast(pl.String).fill_null("?").cast(pl.Categorical).to_physical()
        columns.append(cells.cast(pl.Float64).fill_nan(None).fill_null(strategy="mean").fill_null(0.0).to_numpy())
    last = next((i for i, name in enumerate(frame.columns) if name in ("target", "class", "y")), len(columns) - 1)
    y = columns.pop(last)
    X = np.column_stack(columns)
    X = X[:, X.std(axis=0) > 0]
    if task == "regression" and not name.startswith("fresh/"):
        place = int(rng.integers(X.shape[1]))
        X, y = np.delete(X, place, axis=1), X[:, place]
    if X.shape[1] > MOST_COLUMNS:
        X = X[:, np.sort(rng.permutation(X.shape[1])[:MOST_COLUMNS])]
    X = np.clip(StandardScaler().fit_transform(X), -5, 5)
    if task == "regression":
        return X, StandardScaler().fit_transform(y[:, None])[:, 0]
    codes = np.unique(y, return_inverse=True)[1]
    kept = np.isin(codes, np.flatnonzero(np.bincount(codes) >= 10))
    return X[kept], np.unique(codes[kept], return_inverse=True)[1]


def between_rows(X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows between a real row and one of its five nearest; columns of few values keep those of one of the two."""
    near = NearestNeighbors(n_neighbors=min(6, len(X))).fit(X).kneighbors(X, return_distance=False)[:, 1:]
    one = rng.integers(len(X), size=n)
    other = near[one, rng.integers(near.shape[1], size=n)]
    drawn = X[one] + rng.uniform(size=(n, 1)) * (X[other] - X[one])
    few = np.array([len(np.unique(column)) <= 10 for column in X.T])
    drawn[:, few] = np.where(rng.uniform(size=(n, int(few.sum()))) < 0.5, X[one][:, few], X[other][:, few])
    return drawn


def fitted(kind: str, task: str, X: np.ndarray, y: np.ndarray):
    """Fit a model to a real table; return what gives scores (n, k) of rows, higher for what is more likely."""
    if task == "regression":
        model = {
            "linear": Ridge(), "boosting": HistGradientBoostingRegressor(max_iter=60, random_state=0),
            "kernel": KernelRidge(kernel="rbf", alpha=0.3, gamma=1.0 / X.shape[1]),
            "neighbors": KNeighborsRegressor(10),
        }[kind].fit(X, y)  # fmt: skip
        return lambda rows: model.predict(rows)[:, None]
    if kind == "kernel":
        model = KernelRidge(kernel="rbf", alpha=0.3, gamma=1.0 / X.shape[1]).fit(X, np.eye(y.max() + 1)[y])
        return lambda rows: np.log(np.clip(model.predict(rows), 0.02, 0.98))
    model = {
        "linear": LogisticRegression(max_iter=500),
        "boosting": HistGradientBoostingClassifier(max_iter=60, random_state=0), "neighbors": KNeighborsClassifier(10),
    }[kind].fit(X, y)  # fmt: skip
    return lambda rows: np.log(np.clip(model.predict_proba(rows), 0.02, 0.98))


def table(number: int, seed: int) -> tuple[Problem, Problem, dict]:
    """Draw table `number`: training rows, test rows, and what it is."""
    rng = np.random.default_rng([seed, number])
    task = "regression" if number % 4 == 3 else "classification"
    names, place = SOURCES[task], number // 4 if task == "regression" else number - number // 4
    name, turn = names[place % len(names)], place // len(names)
    kind, plant = KINDS[(place + turn) % 4], PLANTS[(place // 2 + turn) % 5]
    if task == "regression" and plant == "rare":
        plant = "categories"
    X, y = source(name, task, rng)
    p = X.shape[1]
    used = np.arange(p) if rng.uniform() < 0.5 else np.sort(rng.permutation(p)[: max(p // 3, 2)])
    score = fitted(kind, task, X[:, used], y)
    rows = between_rows(X, N_TRAIN + N_TEST, rng)
    scores = score(rows[:, used])
    kinds = ["numeric"] * p
    if plant == "copies":
        copied = rng.integers(p, size=max(p // 2, 2))
        rows = np.column_stack([rows, rows[:, copied] + 0.3 * rng.normal(size=(len(rows), len(copied)))])
    elif plant == "product":
        added = rng.uniform(-1, 1, size=(len(rows), 2))
        gain = 3.0 * np.sign(added[:, 0] * added[:, 1]) * np.sqrt(np.abs(added[:, 0] * added[:, 1]))
        scores = scores.copy()
        scores[:, -1] += gain if task == "classification" else gain * scores[:, -1].std()
        rows = np.column_stack([rows, added, rng.uniform(-1, 1, size=(len(rows), max(p // 3, 2)))])
    elif plant == "categories":
        rows, kinds = with_categories(rows, kinds, used, rng)
    kinds += ["numeric"] * (rows.shape[1] - len(kinds))
    target = drawn_target(task, scores, plant, rng)
    made = Problem.from_arrays(rows, target, task=task, kinds=kinds)
    about = {"table": number, "task": task, "source": name, "kind": kind, "plant": plant, "p": rows.shape[1]}
    return made.take(np.arange(N_TRAIN)), made.take(np.arange(N_TRAIN, N_TRAIN + N_TEST)), about


def real_table(number: int) -> tuple[Problem, Problem, dict]:
    """Read a real table and split it: training rows, test rows, what they are."""
    from peers_study_problems import columns_of, split

    from fewer.io import read_table

    every = [(task, name) for task, names in REAL.items() for name in names]
    (task, name), turn = every[number % len(every)], number // len(every)
    path = Path(os.environ["FEWER_DATA"]) / f"{name}.csv.gz"
    problem = read_table(path, target="target", task=task)
    if problem.n_features > 600:
        drawn = np.random.default_rng(list(name.encode())).permutation(problem.n_features)[:600]
        problem = columns_of(problem, np.sort(drawn))
    train, test = split(problem, turn, {"train_rows": N_TRAIN, "test_rows": N_TEST})
    about = {"table": number, "source": name, "task": task, "p": problem.n_features}
    return problem.take(np.sort(train)), problem.take(np.sort(test)), about


def with_categories(rows: np.ndarray, kinds: list[str], used: np.ndarray, rng: np.random.Generator) -> tuple:
    """Cut some columns into levels without order, and add as many columns of many levels that say nothing."""
    rows, kinds = rows.copy(), list(kinds)
    for column in rng.permutation(used)[: max(len(used) // 3, 1)]:
        n_levels = int(rng.integers(3, 13))
        cuts = np.quantile(rows[:, column], np.linspace(0, 1, n_levels + 1)[1:-1])
        rows[:, column] = rng.permutation(n_levels)[np.searchsorted(cuts, rows[:, column])]
        kinds[column] = "nominal"
        rows = np.column_stack([rows, rng.integers(int(rng.integers(20, 120)), size=len(rows))])
        kinds.append("nominal")
    return rows, kinds


def drawn_target(task: str, scores: np.ndarray, plant: str, rng: np.random.Generator) -> np.ndarray:
    """Draw classes or quantities; every class has at least ten training rows."""
    if task == "regression":
        noise = scores[:, 0].std() * float(rng.uniform(0.3, 1.2))
        return scores[:, 0] + noise * rng.normal(size=len(scores))
    scores = scores * 1.5  # models shrink: what they are sure of is surer in the table that they saw
    if plant == "rare" and scores.shape[1] == 2:
        gap = scores[:, 1] - scores[:, 0]
        share = float(rng.uniform(0.03, 0.08))
        low, high = -30.0, 30.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if np.mean(1 / (1 + np.exp(-gap - middle))) < share else (low, middle)
        scores = np.column_stack([np.zeros(len(gap)), gap + low])
    codes = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    kept = np.flatnonzero(np.bincount(codes[:N_TRAIN], minlength=scores.shape[1]) >= 10)
    if len(kept) < 2:
        kept = np.argsort(np.bincount(codes[:N_TRAIN], minlength=scores.shape[1]))[-2:]
    return kept[(scores + rng.gumbel(size=scores.shape))[:, kept].argmax(axis=1)]


def models(task: str) -> dict[str, object]:
    """Build the five models that a careful person tries."""
    if task == "classification":
        return {
            "neighbors": KNeighborsClassifier(5), "linear": LogisticRegression(max_iter=500),
            "boosting": HistGradientBoostingClassifier(max_iter=50, random_state=0),
            "forest": RandomForestClassifier(60, random_state=0), "svm": SVC(),
        }  # fmt: skip
    return {
        "neighbors": KNeighborsRegressor(5), "linear": Ridge(),
        "boosting": HistGradientBoostingRegressor(max_iter=50, random_state=0),
        "forest": RandomForestRegressor(60, max_features=0.4, min_samples_leaf=2, random_state=0), "svm": SVR(),
    }  # fmt: skip


def scored(train: Problem, test: Problem, mask: np.ndarray) -> dict:
    """Pick a model by cross-validation inside the training rows; return the test score of it and of each."""
    from peers_study_methods import prepared

    columns, y = np.flatnonzero(mask), train.y
    classes = train.task == "classification"
    metric = balanced_accuracy_score if classes else (lambda a, b: max(r2_score(a, b), 0.0))
    folds = (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=0)
    inner, outer = {}, {}
    coding = prepared(train, columns, "passthrough")
    parts = []
    for fit, rest in folds.split(train.X, y):
        own = coding.fit(train.X[np.ix_(fit, columns)], y[fit])
        first, second = (own.transform(train.X[np.ix_(rows, columns)]) for rows in (fit, rest))
        parts.append((first, y[fit], second, y[rest]))
    whole = coding.fit(train.X[:, columns], y)
    own, other = whole.transform(train.X[:, columns]), whole.transform(test.X[:, columns])
    for name, model in models(train.task).items():
        inner[name] = float(np.mean([metric(d, predicted(model, a, b, c)) for a, b, c, d in parts]))
        outer[name] = 100 * float(metric(test.y, predicted(model, own, y, other)))
    best = max(inner, key=inner.get)
    return {"picked": best, "score": outer[best], "each": outer, "n": len(columns)}


def predicted(model, X: np.ndarray, y: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Fit and predict; boosting and forests by their compiled engines, which predict the same."""
    from fewer.contracts import Resources
    from fewer.criteria import CrossValidated
    from fewer.criteria.engines._histogram_boosting import HistogramBoosting, why_not_boosted

    if "Boosting" in type(model).__name__ and not why_not_boosted(model, *X.shape):
        return HistogramBoosting(model, X, y, other).predict(np.arange(X.shape[1]))
    if "Forest" in type(model).__name__:
        task = "classification" if "Classifier" in type(model).__name__ else "regression"
        rows = Problem.from_arrays(X, y, task=task)
        scorer = CrossValidated(model).bind(rows, np.random.default_rng(0), Resources())
        outputs = scorer.predict(np.ones(X.shape[1], dtype=bool), other)
        return outputs if task == "regression" else np.asarray(rows.classes)[outputs.argmax(axis=1)]
    return model.fit(X, y).predict(other)


def planned(train: Problem):
    """Plan what `select` runs on a table, with fewer folds where a class has fewer rows."""
    from fewer.run.planning import make_plan
    from fewer.run.request import Request

    folds = 5 if train.task == "regression" else min(max(int(np.bincount(train.y).min()), 2), 5)
    return make_plan(train, Request(seed=0, cv=folds))


def verdict(train: Problem, test: Problem) -> dict:
    """Run the whole of `select` and say what it promised of the difference, and the difference on the test rows."""
    from fewer.contracts import Resources
    from fewer.criteria.cross_validated import score_outputs
    from fewer.run.running import Followers, _Running
    from fewer.selectors.auto._curve import Metric

    plan = planned(train)
    plan.selector.set_params(standins=False, n_jobs=1)
    running = _Running(plan, train, Followers(), None, with_evidence=False, budget=None)
    answer = running.search()
    selection = running.finish(answer, running.measure(answer))
    outcome = selection.outcome
    scores = []
    for judge, mask in ((answer.judge, answer.support), (answer.judge_all, np.ones(train.n_features, dtype=bool))):
        outputs = judge.bind(train, np.random.default_rng(0), Resources()).predict(mask, test.X)
        scores.append(score_outputs(Metric.of(train).scoring, outputs, test))
    told = {"verdict": outcome.kind.value, "low": outcome.low, "high": outcome.high, "lost": outcome.at_most_lost}
    numbers = {name: selection.heldout.get(name) for name in ("low", "high")}
    told["score"] = {**numbers, "chosen": selection.score_heldout, "all": selection.score_heldout_all_features}
    kept = {"n": int(answer.support.sum()), "p": train.n_features}
    return {**told, **kept, "true": scores[0] - scores[1], "true_score": scores[0], "true_all": scores[1]}


def chosen(train: Problem, with_peers: bool = True) -> dict[str, tuple[np.ndarray, float, dict]]:
    """Let every method choose: by name, the mask, the processor seconds, and what it said."""
    from peers_study_methods import peers

    found, clock = {}, time.process_time()
    answer = planned(train).selector.set_params(standins=False).answer(train)
    spent = time.process_time() - clock
    for prefer, mask in answer.choices.items():
        said = {"nothing": bool(answer.nothing_found), "model": answer.judge_names["chosen"]}
        found[f"auto {prefer}"] = (mask, spent, said)
    found["all features"] = (np.ones(train.n_features, dtype=bool), 0.0, {})
    wanted = {
        "RFECV": "scikit-learn RFECV, linear", "L1": "scikit-learn SelectFromModel, L1",
        "SelectKBest": "scikit-learn SelectKBest, size by CV",
    }  # fmt: skip
    methods = peers(train.task)
    for short, name in wanted.items() if with_peers else ():
        clock = time.process_time()
        mask = methods[name](train)[name]
        found[short] = (mask if mask.any() else np.ones_like(mask), time.process_time() - clock, {})
    return found


def compared(train: Problem, test: Problem, with_peers: bool = True) -> dict:
    """Let every method choose, and score what it chose; sets that are the same are scored once."""
    scores: dict[bytes, dict] = {}
    found = {}
    for name, (mask, seconds, said) in chosen(train, with_peers).items():
        key = mask.tobytes()
        if key not in scores:
            scores[key] = scored(train, test, mask)
        found[name] = {**scores[key], "seconds": round(seconds, 2), **said}
    return {"methods": found}


def run(asked: argparse.Namespace) -> None:
    """Compare methods on all tables, then ask `select` for its promise on all, until the minutes are over."""
    warnings.simplefilter("ignore")
    is_real, began = asked.what == "real", time.process_time()
    seed, tables = (0, 2 * sum(map(len, REAL.values()))) if is_real else (int(asked.what, 16), asked.tables)
    first, step = (int(part) for part in asked.share.split("/"))
    asked.out.mkdir(parents=True, exist_ok=True)
    order = np.random.default_rng([seed, 1]).permutation(tables)  # a random part, if time ends it
    works = {
        "F": lambda *rows: compared(*rows, with_peers=not asked.alone),
        "promise": lambda *rows: {"promise": verdict(*rows)},
    }
    for kind, work in works.items():
        path = asked.out / f"{kind}_{asked.what}_{first}.jsonl"
        done = {json.loads(line)["table"] for line in path.read_text().splitlines()} if path.exists() else set()
        for number in (int(i) for i in order[first - 1 :: step]):
            if number in done or time.process_time() - began > 60 * asked.minutes:
                continue
            train, test, about = real_table(number) if is_real else table(number, seed)
            with path.open("a") as file:
                file.write(json.dumps(about | work(train, test)) + "\n")


def report(asked: argparse.Namespace) -> None:
    """Print points against all features, with intervals over sources."""

    def read(kind: str) -> list[dict]:
        return [
            json.loads(line) for path in asked.out.glob(f"{kind}_*.jsonl") for line in path.read_text().splitlines()
        ]

    records, promises = read("F"), read("promise")
    for task in ("classification", "regression"):
        own = [record for record in records if record["task"] == task]
        if not own:
            continue
        print(f"{task}: {len(own)} tables from {len({record['source'] for record in own})} sources")
        names = [name for name in own[0]["methods"] if name != "all features"]
        base = "all features"
        for name in names:
            told = f"{name:14s} against all {against(own, name, base)}; "
            share = np.median([record["methods"][name]["n"] / record["p"] for record in own])
            spent = np.mean([record["methods"][name]["seconds"] for record in own])
            print(f"{told}median share of features {share:.0%}; {spent:.1f} processor s")
        peers = [name for name in names if not name.startswith("auto")]
        best = max(peers, key=lambda name: np.mean([r["methods"][name]["score"] for r in own]), default="")
        for name in names:
            if name.startswith("auto") and best:
                print(f"{name:14s} against {best} {against(own, name, best)}")
        called = sum(record["methods"]["auto balanced"]["nothing"] for record in own)
        print(f"nothing found in {called} of {len(own)}")
        promised([record["promise"] for record in promises if record["task"] == task])


def promised(promises: list[dict]) -> None:
    """Print how often what `select` said of the difference was right."""
    said = [one for one in promises if one["low"] is not None]
    if not said:
        return
    held = sum(one["low"] <= one["true"] <= one["high"] for one in said)
    below = sum(one["true"] < one["low"] for one in said)
    wide = np.median([one["high"] - one["low"] for one in said]) / 2
    print(
        f"interval of the difference right in {held} of {len(said)}, half-width {wide:.3f} (median); below it {below}"
    )
    for kind in sorted({one["verdict"] for one in promises}):
        own = [one for one in promises if one["verdict"] == kind]
        broken = sum(one["true"] < -one["lost"] for one in own if one["lost"] is not None)
        print(f"{kind}: {len(own)}; 'at most X is lost' exceeded in {broken}")
    print(f"X, median: {np.median([one['lost'] for one in said if one['lost'] is not None]):.3f}")


def against(records: list[dict], name: str, base: str) -> str:
    """Write the mean difference of picked models, sources averaged first, with its 95 % interval over sources."""
    sources: dict[str, list[float]] = {}
    for record in records:
        sources.setdefault(record["source"], []).append(
            record["methods"][name]["score"] - record["methods"][base]["score"]
        )
    means = np.array([np.mean(values) for values in sources.values()])
    error = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    return f"{means.mean():+.2f} ({means.mean() - 2 * error:+.2f} to {means.mean() + 2 * error:+.2f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what")
    parser.add_argument("--tables", type=int, default=110)
    parser.add_argument("--share", default="1/1")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "peers_study_results")
    asked = parser.parse_args()
    report(asked) if asked.what == "report" else run(asked)
