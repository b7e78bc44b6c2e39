"""Benchmark rows of people's own models: `CrossValidated` and `LeastSquares` against scikit-learn, fastcan and abess.

`OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/rows_models.py [--sampled] [name …]` prints them as JSON
lines, and with `--table` a table of the lines on standard input. Seconds are those of the processor, the shortest of
several whole fits after one that compiles (the peer, which takes seconds, is run once). Peers that are not installed
are said to be absent: `pip install fastcan abess`.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, RidgeClassifier, lasso_path
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, l1_min_c
from sklearn.tree import DecisionTreeClassifier

import fewer
import race_models
from fewer.contracts import Objective, Resources, SearchSpace
from fewer.control import Shadow, StabilitySelection
from fewer.criteria import CrossValidated, LeastSquares
from fewer.datasets import load
from fewer.io import to_problem
from fewer.problem import Problem
from fewer.rankers import Importance
from fewer.rankers._model_based import shuffle_losses
from fewer.search import Elimination, Forward
from fewer.search._regularization_path import entry_order

Row = dict[str, Any]
SIZE = 10
REPEATS = 25
"""Of fits that take milliseconds."""
SAMPLED = "--sampled" in sys.argv
"""Time a part of scikit-learn's search with forests and boosting on every table."""


def cpu_time(work: Callable[[], Any], repeats: int = 5) -> float:
    """Return the processor seconds of the shortest of several runs."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def table_of(name: str) -> tuple[Any, Any]:
    if name == "wine":
        return load_wine(return_X_y=True)
    if name == "WDBC":
        return load_breast_cancer(return_X_y=True)
    table = load(name.lower())
    return np.asarray(table.X), np.asarray(table.y)


def forward(estimator: Any, table: str, target: float, race: Any = None) -> Row:
    """Forward selection to 10 features, 10 folds, the same splits for both."""
    X, y = table_of(table)
    codes = np.unique(y, return_inverse=True)[1]
    y = codes if is_classifier(estimator) else codes + 0.01 * X[:, 0]
    cv = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, codes))
    criterion = CrossValidated(estimator, cv=cv, race=race)
    ours = fewer.SubsetSelector(criterion, Forward(), n_features_to_select=SIZE, random_state=0)
    ours.fit(X, y)
    mine = cpu_time(lambda: ours.fit(X, y), 1)
    mine = mine if mine > 0.5 else min(mine, cpu_time(lambda: ours.fit(X, y), REPEATS))
    began = time.process_time()
    peer = SequentialFeatureSelector(estimator, n_features_to_select=SIZE, cv=cv).fit(X, y)
    theirs = time.process_time() - began
    same = np.array_equal(peer.get_support(), ours.support_)
    scores = [cross_val_score(estimator, X[:, s], y, cv=cv).mean() for s in (ours.support_, peer.get_support())]
    notes = [] if same else [f"paths part: ours ends at {scores[0]:.12f}, scikit-learn's at {scores[1]:.12f}"]
    wrong = abs(scores[0] - ours.score_)
    return {
        "name": f"forward to {SIZE}, 10 folds, {name_of(estimator)}, {table}" + (f", race={race!r}" if race else ""),
        "ours_s": mine,
        "peers_s": {"scikit-learn SFS": theirs},
        "times_faster_cpu": theirs / mine,
        "target": target,
        "alike": bool(wrong < 1e-6 and (same or scores[0] >= scores[1] - 1e-9)),
        "notes": notes,
    }


def name_of(estimator: Any) -> str:
    last = getattr(estimator, "steps", [("", estimator)])[-1][1]
    odd = {"balanced": getattr(last, "class_weight", None), "by distance": getattr(last, "weights", "") == "distance",
           "Manhattan": getattr(last, "p", 2) == 1}  # fmt: skip
    return ", ".join([type(last).__name__, *(name for name in odd if odd[name])])


def least_squares(n: int, p: int, correlated: bool) -> Row:
    """Forward selection to 10 features by leave-one-out R²; fastcan's is by training R²."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) + (2.0 * rng.normal(size=(n, 1)) if correlated else 0.0)
    y = X[:, :5].sum(axis=1) + 2 * rng.normal(size=n)
    ours = fewer.SubsetSelector(LeastSquares(), Forward(), n_features_to_select=SIZE, random_state=0).fit(X, y)
    peers: dict[str, Any] = {}
    notes, same = [], None
    try:
        from fastcan import FastCan

        peer = FastCan(SIZE, verbose=0)
        peers["fastcan"] = cpu_time(lambda: peer.fit(X, y), REPEATS)
        trained = train_path(X, y)
        same = sorted(trained) == sorted(peer.indices_.tolist())
        notes.append(f"by training R² the same {SIZE} as fastcan's: {same}")
    except ImportError:
        peers["fastcan"] = "absent"
    try:
        from abess import LinearRegression

        peers["abess"] = cpu_time(lambda: LinearRegression(support_size=SIZE).fit(X, y), REPEATS)
    except ImportError:
        peers["abess"] = "absent"
    mine = cpu_time(lambda: ours.fit(X, y), REPEATS)
    known = [seconds for seconds in peers.values() if isinstance(seconds, float)]
    return {
        "name": f"LeastSquares × Forward to {SIZE}, {n} × {p}{', correlated' if correlated else ''}",
        "ours_s": mine,
        "peers_s": peers,
        "times_faster_cpu": min(known) / mine if known else None,
        "target": 2.0,
        "alike": same,
        "notes": notes,
    }


def train_path(X: Any, y: Any) -> list[int]:
    """Take the column with the highest training R², one after the other, with our own updates."""
    from fewer.criteria._least_squares import Bordering

    n, p = X.shape
    centered = (y - y.mean())[:, None]
    fit = Bordering(X, centered, np.full(p, 1e-9 * n), np.full(n, 1.0 / n))
    for _ in range(SIZE):
        gains = fit.training_gains()
        gains[fit.columns] = -1.0
        fit.move_to(np.array([*fit.columns, int(np.argmax(gains))]))
    return fit.columns


def raced(boosting: bool, table: str) -> Row:
    """Forward selection to 10 features with a forest or boosting of 10 trees: time, and fits that races save.

    One seed; `race_models.py` has many, and says how often a statistical race ends elsewhere. On sonar, where
    scikit-learn takes minutes, two candidates of each step are timed and stand for all.
    """
    X, y = table_of(table)
    codes = np.unique(y, return_inverse=True)[1]
    kind = GradientBoostingClassifier if boosting else RandomForestClassifier
    model = kind(n_estimators=10, random_state=0)
    cv = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, codes))
    took, fits, found, steps = {}, {}, {}, []
    for race in (None, "exact", "statistical"):
        scorer = CrossValidated(model, cv=cv, race=race).bind(
            to_problem(X, codes), np.random.default_rng(0), Resources()
        )
        space = SearchSpace.of(X.shape[1], sizes=(SIZE, SIZE))
        began = time.process_time()
        trace = Forward().run(Objective(scorer, space), space, np.random.default_rng(0))
        took[race], fits[race], found[race] = time.process_time() - began, scorer.n_fits, trace.best
        steps = steps or [step.mask for step in trace.steps]
    if table == "WDBC" and not SAMPLED:
        began = time.process_time()
        peer = SequentialFeatureSelector(model, n_features_to_select=SIZE, cv=cv).fit(X, codes).get_support()
        theirs, same, how = time.process_time() - began, np.array_equal(found[None], peer), "subset"
    else:
        theirs, same = sampled_peer(model, X, codes, cv, steps)
        how = "scores (its time: two candidates of each step, scaled)"
    whole, quick = (cross_val_score(model, X[:, mask], codes, cv=cv) for mask in (found[None], found["statistical"]))
    behind = (whole.mean() - quick.mean()) / (whole.std(ddof=1) / np.sqrt(len(whole)))
    return {
        "name": f"forward to {SIZE} features, {table}, {kind.__name__} of 10 trees, race='statistical'",
        "ours_s": took["statistical"],
        "peers_s": {"scikit-learn SFS": theirs, "ours without a race": took[None], "race='exact'": took["exact"]},
        "times_faster_cpu": theirs / took["statistical"],
        "target": 3.0,
        "alike": bool(same and np.array_equal(found[None], found["exact"])),
        "notes": [
            f"fits: {fits[None]}, exact {fits['exact']}, statistical {fits['statistical']}; same subset as all folds: "
            f"exact {np.array_equal(found[None], found['exact'])}, statistical "
            f"{np.array_equal(found[None], found['statistical'])}, {behind:.2f} standard errors behind; without a race "
            f"scikit-learn's {how}: {same}"
        ],
    }


def sampled_peer(model: Any, X: Any, codes: Any, cv: Any, steps: list[Any]) -> tuple[float, bool]:
    """Estimate the time of scikit-learn's search along a path, and say whether its scores are ours."""
    rng, theirs, same = np.random.default_rng(0), 0.0, True
    scorer = CrossValidated(model, cv=cv).bind(to_problem(X, codes), rng, Resources())
    for mask in [step for step in steps if step.sum() < SIZE]:
        free = np.flatnonzero(~mask)
        tried = np.repeat(mask[None], 2, axis=0)
        tried[[0, 1], rng.choice(free, 2, replace=False)] = True
        began = time.process_time()
        scores = [cross_val_score(model, X[:, some], codes, cv=cv).mean() for some in tried]
        theirs += (time.process_time() - began) / 2 * len(free)
        same &= bool(np.allclose(scores, scorer.score(tried), rtol=0, atol=1e-11))
    return theirs, same


def seeds_of_races(kind: str, n_seeds: int = 20) -> Row:
    """What races save and lose seed by seed, as `race_models.py` tells for more seeds."""
    lines = [race_models.run(kind, seed) for seed in range(n_seeds)]
    name = f"races seed by seed, {kind} of 8 trees, 4 of 15 columns of sonar"
    return {"name": name, "alike": all(line["exact_same"] for line in lines), "notes": [race_models.sum_up(lines)]}


def sampled(estimator: Any, table: str, target: float, race: Any = None) -> Row:
    """Forward selection with a model of which scikit-learn's search takes minutes: a part of that is timed.

    Of each step of our path two candidates are scored with `cross_val_score` and stand for all of that step.
    """
    X, y = table_of(table)
    codes = np.unique(y, return_inverse=True)[1]
    cv = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, codes))
    criterion = CrossValidated(estimator, cv=cv, race=race)
    ours = fewer.SubsetSelector(criterion, Forward(), n_features_to_select=SIZE, random_state=0)
    fewer.SubsetSelector(criterion, Forward(), n_features_to_select=1, random_state=0).fit(X[:, :2], codes)
    mine = cpu_time(lambda: ours.fit(X, codes), 1)
    theirs, same = sampled_peer(estimator, X, codes, cv, [step.mask for step in ours.trace_.steps])
    return {
        "name": f"forward to {SIZE}, 10 folds, {name_of(estimator)}, {table}" + (f", race={race!r}" if race else ""),
        "ours_s": mine,
        "peers_s": {"scikit-learn SFS": theirs},
        "times_faster_cpu": theirs / mine,
        "target": target,
        "alike": bool(same),
        "notes": ["its time: two candidates of each step, scaled; their scores are the same: " + str(bool(same))],
    }


def elimination(estimator: Any, getter: str, target: float) -> Row:
    """Recursive elimination with cross-validated size on WDBC, beside `RFECV`."""
    X, y = table_of("WDBC")
    cv = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    ours = fewer.SubsetSelector(CrossValidated(estimator, cv=cv), Elimination(), random_state=0).fit(X, y)
    mine = cpu_time(lambda: ours.fit(X, y), 2)
    began = time.process_time()
    peer = RFECV(estimator, cv=cv, importance_getter=getter).fit(X, y)
    theirs = time.process_time() - began
    return {
        "name": f"Elimination, 10 folds, {name_of(estimator)}, WDBC",
        "ours_s": mine,
        "peers_s": {"scikit-learn RFECV": theirs},
        "times_faster_cpu": theirs / mine,
        "target": target,
        "alike": bool(np.array_equal(ours.support_, peer.support_)),
        "notes": [f"{int(ours.support_.sum())} and {int(peer.support_.sum())} features"],
    }


def permutation(estimator: Any, target: float) -> Row:
    """Permutation importances of a fitted model on held-out rows of WDBC, five shuffles a column."""
    X, y = table_of("WDBC")
    test = np.arange(len(X)) % 5 == 0
    model, rows = estimator.fit(X[~test], y[~test]), Problem.from_arrays(X[test], y[test])
    found = shuffle_losses(model, rows, np.arange(X.shape[1]), None, 5, 0)
    mine = cpu_time(lambda: shuffle_losses(model, rows, np.arange(X.shape[1]), None, 5, 0))
    peer = permutation_importance(model, X[test], y[test], n_repeats=5, random_state=0).importances_mean
    theirs = cpu_time(lambda: permutation_importance(model, X[test], y[test], n_repeats=5, random_state=0), 2)
    return {
        "name": f"permutation importance, {name_of(estimator)}, WDBC",
        "ours_s": mine,
        "peers_s": {"scikit-learn": theirs},
        "times_faster_cpu": theirs / mine,
        "target": target,
        "alike": bool(np.allclose(found, peer, rtol=0, atol=1e-12)),
    }


def penalty_path(logistic: bool) -> Row:
    """The order of entry into 100 penalties of the lasso (diabetes) or of L1 logistic regression (WDBC)."""
    X, y = table_of("WDBC") if logistic else load_diabetes(return_X_y=True)
    problem = Problem.from_arrays(X, y, task="classification" if logistic else "regression")
    space, Z = SearchSpace.of(X.shape[1]), (X - X.mean(axis=0)) / X.std(axis=0)
    entry_order(problem, space)
    mine = cpu_time(lambda: entry_order(problem, space))
    if logistic:
        model = LogisticRegression(l1_ratio=1, solver="liblinear", tol=1e-6, max_iter=10**5, warm_start=True)
        penalties = l1_min_c(Z, y, loss="log") * np.logspace(0, 3, 100)
        theirs = cpu_time(lambda: [model.set_params(C=C).fit(Z, y) for C in penalties], 1)
    else:
        theirs = cpu_time(lambda: lasso_path(Z, (y - y.mean()) / y.std()))
    return {
        "name": f"path of 100 penalties, {'L1 logistic regression, WDBC' if logistic else 'lasso, diabetes'}",
        "ours_s": mine,
        "peers_s": {"scikit-learn": theirs},
        "times_faster_cpu": theirs / mine,
        "target": 2.0,
        "alike": True,
        "notes": ["the same order of entry: tests/search/test_regularization_path.py"],
    }


def resampled(boruta: bool) -> Row:
    """Stability selection (500 × 100) beside a loop of lassos, or Boruta (WDBC) beside a loop of forests."""
    rng = np.random.default_rng(0)
    if boruta:
        X, y = table_of("WDBC")
        model: Any = RandomForestClassifier(100, random_state=0)
        control: Any = Shadow(n_runs=10)
        tables = [np.hstack([X, rng.permuted(X, axis=0)]) for _ in range(10)]
    else:
        X, model, control = rng.normal(size=(500, 100)), Lasso(0.1), StabilitySelection()
        y = X[:, :5].sum(axis=1) + rng.normal(size=500)
    ours = fewer.RankSelector(Importance(model, cv=None), control=control, random_state=0).fit(X, y)
    mine = cpu_time(lambda: ours.fit(X, y), 2)
    if boruta:
        theirs = cpu_time(lambda: [model.fit(table, y).feature_importances_ for table in tables], 1)
    else:
        halves = [half for _ in range(50) for half in np.split(rng.permutation(500), 2)]
        theirs = cpu_time(lambda: [model.fit(X[half], y[half]).coef_ != 0 for half in halves], 2)
    return {
        "name": "Boruta, ten runs, forest of 100, WDBC" if boruta else "stability selection, lasso, 500 × 100",
        "ours_s": mine,
        "peers_s": {"scikit-learn in a loop": theirs},
        "times_faster_cpu": theirs / mine,
        "target": 3.0 if boruta else 2.0,
        "alike": True,
        "notes": ["the same importances: tests/rankers/test_importance.py"],
    }


LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())
BALANCED = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
ABSOLUTE = make_pipeline(StandardScaler(), LogisticRegression(l1_ratio=1, solver="liblinear", random_state=0))
FOREST = RandomForestClassifier(100, class_weight="balanced", random_state=0)
ROWS: dict[str, Callable[[], Row]] = {
    f"{name_of(estimator)} {table}": partial(forward, estimator, table, target)
    for table in ("WDBC", "sonar")
    for estimator, target in (
        (GaussianNB(), 300.0),
        (Ridge(), 300.0),
        (RidgeClassifier(), 300.0),
        (LinearDiscriminantAnalysis(), 300.0),
        (LOGISTIC, 40.0),
        (KNeighborsClassifier(), 150.0 if table == "WDBC" else 300.0),
    )
}
ROWS |= {
    f"LeastSquares {n} {p}{' correlated' if correlated else ''}": partial(least_squares, n, p, correlated)
    for n, p in ((500, 1000), (300, 3000))
    for correlated in (False, True)
} | {
    f"race {'boosting' if boosting else 'forest'} {table}": partial(raced, boosting, table)
    for table in ("WDBC", "sonar")
    for boosting in (False, True)
}
ROWS |= (
    {
        f"{name_of(estimator)} {table}": partial(forward, estimator, table, target)
        for table in ("WDBC", "sonar")
        for estimator, target in (
            (DecisionTreeClassifier(random_state=0), 10.0),
            (make_pipeline(StandardScaler(), SVC()), 6.0),
            (make_pipeline(StandardScaler(), LinearSVC()), 8.0),
            (BALANCED, 25.0),
        )
    }
    | {
        f"{name_of(estimator)}{' race' if race else ''} {table}": partial(sampled, estimator, table, target, race)
        for table in ("WDBC", "sonar")
        for estimator, target, race in (
            (HistGradientBoostingClassifier(max_iter=50), 10.0, None),
            (HistGradientBoostingClassifier(max_iter=50), 14.0, "exact"),
            (FOREST, 12.0, None),
            (ABSOLUTE, 10.0, None),
            (make_pipeline(StandardScaler(), KNeighborsClassifier(weights="distance")), 8.0, None),
            (make_pipeline(StandardScaler(), KNeighborsClassifier(p=1)), 8.0, None),
        )
    }
    | {"LinearSVC wine": partial(forward, make_pipeline(StandardScaler(), LinearSVC()), "wine", 8.0)}
)
ROWS |= {
    "Elimination logistic": partial(elimination, LOGISTIC, "named_steps.logisticregression.coef_", 5.0),
    "Elimination forest": partial(elimination, RandomForestClassifier(30, random_state=0), "auto", 3.0),
    "permutation logistic": partial(permutation, LOGISTIC, 10.0),
    "permutation forest": partial(permutation, RandomForestClassifier(100, random_state=0), 3.0),
    "path logistic": partial(penalty_path, True),
    "path lasso": partial(penalty_path, False),
    "stability": partial(resampled, False),
    "Boruta": partial(resampled, True),
}
ROWS |= {f"seeds {kind}": partial(seeds_of_races, kind) for kind in ("forest", "boosting")}


def as_table(lines: list[str]) -> str:
    """Return rows as the table of `docs/guide/own-models.md`."""
    rows = [json.loads(line) for line in lines]
    body = [
        f"| {row['name']} | {row['times_faster_cpu']:.{1 if row['times_faster_cpu'] < 20 else 0}f} |" for row in rows
    ]
    return "\n".join(["| job | times scikit-learn |", "|---|---|", *body])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if "--table" in sys.argv:
        print(as_table(sys.stdin.read().splitlines()))
        sys.exit()
    for name in [argument for argument in sys.argv[1:] if argument != "--sampled"] or ROWS:
        print(json.dumps(ROWS[name]()), flush=True)
