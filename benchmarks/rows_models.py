"""Benchmark rows of people's own models: `CrossValidated` and `LeastSquares` against scikit-learn, fastcan and abess.

`OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/rows_models.py [--sampled] [--keep] [name …]` prints them as
JSON lines. With `--keep` they replace those of the same name in models.json, and `--table` writes the tables of
docs/guide/own-models.md from that file (a test compares the two). Seconds are those of the processor, the shortest of
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
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import RFECV, SelectKBest, SequentialFeatureSelector, chi2, f_classif
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Lasso, LassoCV, LogisticRegression, Ridge, RidgeClassifier, RidgeCV, lasso_path
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
from fewer.criteria._preparation import last_of
from fewer.datasets import load
from fewer.io import to_problem
from fewer.problem import Problem
from fewer.rankers import Chi2, FTest, Importance
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
    if SAMPLED:
        return sampled(estimator, table, target, race)
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
    odd = {
        "balanced": getattr(last, "class_weight", None),
        "L1": isinstance(last, LogisticRegression) and last.l1_ratio == 1,
        "by distance": getattr(last, "weights", "") == "distance",
        "Manhattan": getattr(last, "p", 2) == 1,
    }
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
        gains = (fit._fit.along**2).sum(axis=0) / fit._fit.s  # what each column would take off the squared residuals
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
        off = 1e-3 if isinstance(last_of(model)[1], Lasso | LassoCV) else 1e-11  # their own tolerance
        same &= bool(np.allclose(scores, scorer.score(tried), rtol=0, atol=off))
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
    y = codes if is_classifier(estimator) else codes + 0.01 * X[:, 0]
    cv = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, codes))
    criterion = CrossValidated(estimator, cv=cv, race=race)
    ours = fewer.SubsetSelector(criterion, Forward(), n_features_to_select=SIZE, random_state=0)
    fewer.SubsetSelector(criterion, Forward(), n_features_to_select=1, random_state=0).fit(X[:, :2], y)
    mine = cpu_time(lambda: ours.fit(X, y), 1)
    mine = mine if mine > 0.5 else min(mine, cpu_time(lambda: ours.fit(X, y), 5))
    theirs, same = sampled_peer(estimator, X, y, cv, [step.mask for step in ours.trace_.steps])
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


def in_turns(ours: Callable[[], Any], peer: Callable[[], Any], repeats: int) -> tuple[float, float, float]:
    """Return the median seconds of both and the median of their ratio, run in turns after one run of each."""
    times = []
    for turn in range(repeats + 1):
        taken = [cpu_time(work, 1) for work in (ours, peer)]
        times += [taken] if turn else []
    mine, theirs = np.array(times).T
    return float(np.median(mine)), float(np.median(theirs)), float(np.median(theirs / mine))


def compared(name: str, ours: Any, peer: Any, repeats: int, target: float, note: str, who: str = "scikit-learn") -> Row:
    """Compare two short jobs in turns."""
    mine, theirs, ratio = in_turns(ours, peer, repeats)
    found = {"ours_s": mine, "peers_s": {who: theirs}, "times_faster_cpu": ratio}
    return {"name": name, **found, "target": target, "alike": None, "notes": [note]}


def penalty_path(table: str) -> Row:
    """The order of entry into 100 penalties of L1 logistic regression (WDBC) or of the lasso."""
    logistic, rng = table == "WDBC", np.random.default_rng(0)
    if table == "500 × 200":
        X = rng.normal(size=(500, 200))
        y = X[:, :5].sum(axis=1) + rng.normal(size=500)
    else:
        X, y = table_of("WDBC") if logistic else load_diabetes(return_X_y=True)
    problem = Problem.from_arrays(X, y, task="classification" if logistic else "regression")
    space, Z = SearchSpace.of(X.shape[1]), (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticRegression(l1_ratio=1, solver="liblinear", tol=1e-6, max_iter=10**5, warm_start=True)
    if logistic:
        penalties = l1_min_c(Z, y, loss="log") * np.logspace(0, 3, 100)
        peer: Any = lambda: [model.set_params(C=C).fit(Z, y) for C in penalties]  # noqa: E731
    else:
        peer = partial(lasso_path, Z, (y - y.mean()) / y.std())
    name = f"path of 100 penalties, {'L1 logistic regression' if logistic else 'lasso'}, {table}"
    note = "the same order of entry: tests/search/test_regularization_path.py"
    return compared(name, lambda: entry_order(problem, space), peer, 2 if logistic else 9, 2.0, note)


def stability(p: int) -> Row:
    """Stability selection with a lasso on 500 rows beside a loop of lassos."""
    rng, model = np.random.default_rng(0), Lasso(0.1)
    X = rng.normal(size=(500, p))
    y = X[:, :5].sum(axis=1) + rng.normal(size=500)
    ours = fewer.RankSelector(Importance(model, cv=None), control=StabilitySelection(), random_state=0)
    halves = [half for _ in range(50) for half in np.split(rng.permutation(500), 2)]
    return compared(
        f"stability selection, lasso, 500 × {p}", lambda: ours.fit(X, y),
        lambda: [model.fit(X[half], y[half]).coef_ != 0 for half in halves], 5, 2.0,
        "beside a loop of `Lasso`; the same importances: tests/rankers/test_importance.py",
    )  # fmt: skip


def boruta() -> Row:
    """Boruta on WDBC beside a loop of forests."""
    X, y = table_of("WDBC")
    rng, model = np.random.default_rng(0), RandomForestClassifier(100, random_state=0)
    tables = [np.hstack([X, rng.permuted(X, axis=0)]) for _ in range(10)]
    ours = fewer.RankSelector(Importance(model, cv=None), control=Shadow(n_runs=10), random_state=0)
    return compared(
        "Boruta, ten runs, forest of 100, WDBC", lambda: ours.fit(X, y),
        lambda: [model.fit(table, y).feature_importances_ for table in tables], 1, 3.0,
        "beside a loop of forests; the same importances: tests/rankers/test_importance.py",
    )  # fmt: skip


def tests_of_columns(kind: str, ranker: Any, peer: Any) -> Row:
    """Whole fits of a filter: 10,000 × 200 numbers or counts, or 5 million stored cells of 100,000 × 200,000."""
    rng = np.random.default_rng(0)
    if kind == "sparse":
        n = 100_000
        X: Any = sparse.random_array((n, 200_000), density=2.5e-4, rng=rng, format="csr")
    else:
        n = 10_000
        X = rng.random((n, 200)) if kind == "numbers" else rng.poisson(3, (n, 200)).astype(float)
    y = rng.integers(0, 2, n)
    ours, theirs = fewer.RankSelector(ranker, n_features_to_select=10), SelectKBest(peer, k=10)
    ours.fit(X, y)
    scores = theirs.fit(X, y).scores_
    row = compared(
        f"{'chi-squared' if peer is chi2 else 'F'}, {X.shape[0]:,} × {X.shape[1]:,} {kind}",
        lambda: ours.fit(X, y), lambda: theirs.fit(X, y), 9, 1.5, "beside `SelectKBest`; the same statistics to 1e-9",
    )  # fmt: skip
    return row | {"alike": bool(np.allclose(ours.scores_, np.nan_to_num(scores), rtol=1e-9, atol=1e-9))}


def relief(name: str, n: int) -> Row:
    """Whole fits of a Relief on n × 50 beside fast-select, which is held to one thread by NUMBA_NUM_THREADS=1.

    ReliefF takes ten neighbors of each class in both: fast-select's own default is three.
    """
    label = f"{name}, {n:,} × 50"
    try:
        import fast_select
    except ImportError:
        return {"name": label, "alike": None, "notes": ["fast-select is not installed"]}
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 50))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)
    ours = fewer.RankSelector(getattr(fewer.rankers, name)(), n_features_to_select=10)
    options = {"n_neighbors": 10} if name == "ReliefF" else {}
    peer = getattr(fast_select, name)(n_features_to_select=10, **options)
    repeats = 21 if n < 2000 else 3
    return compared(label, lambda: ours.fit(X, y), lambda: peer.fit(X, y), repeats, 1.2, "", "fast-select")


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
            (make_pipeline(StandardScaler(), Lasso(0.02)), 10.0, None),
            (make_pipeline(StandardScaler(), LassoCV()), 10.0, None),
            (make_pipeline(StandardScaler(), RidgeCV()), 10.0, None),
        )
    }
    | {"LinearSVC wine": partial(forward, make_pipeline(StandardScaler(), LinearSVC()), "wine", 8.0)}
)
ROWS |= {
    "Elimination logistic": partial(elimination, LOGISTIC, "named_steps.logisticregression.coef_", 5.0),
    "Elimination forest": partial(elimination, RandomForestClassifier(30, random_state=0), "auto", 3.0),
    "permutation logistic": partial(permutation, LOGISTIC, 10.0),
    "permutation forest": partial(permutation, RandomForestClassifier(100, random_state=0), 3.0),
    "Boruta": boruta,
}
ROWS |= {f"path {table}": partial(penalty_path, table) for table in ("WDBC", "diabetes", "500 × 200")}
ROWS |= {f"stability {p}": partial(stability, p) for p in (100, 200)}
ROWS |= {
    f"{name} {kind}": partial(tests_of_columns, kind, ranker, peer)
    for name, ranker, peer in (("chi2", Chi2(), chi2), ("F", FTest(), f_classif))
    for kind in ("numbers", "counts", "sparse")
}
ROWS |= {
    f"{name} {n}": partial(relief, name, n)
    for n in (300, 1000, 3000, 10_000)
    for name in ("ReliefF", "SURF", "MultiSURF")
}
ROWS |= {f"seeds {kind}": partial(seeds_of_races, kind) for kind in ("forest", "boosting")}


KEPT, PAGE = Path(__file__).with_name("models.json"), Path(__file__).parents[1] / "docs/guide/own-models.md"
MODELS = (
    ("HistGradientBoostingClassifier", "`HistGradientBoosting*`, also with categories and early stopping", "bins once "
     "for each fold", "raw predictions, to the bit"),
    ("DecisionTreeClassifier", "`DecisionTreeClassifier` (Gini)", "columns sorted once for each fold", "predictions, "
     "to the bit"),
    ("RandomForestClassifier, balanced", "`RandomForestClassifier` (Gini), here with `class_weight`", "columns sorted "
     "once for each fold", "predictions, to the bit"),
    ("", "other trees, forests and extra trees; `GradientBoosting*` (two classes, squared error)", "scikit-learn's own "
     "trees without the code around them", "predictions, to the bit"),
    ("SVC", "`SVC` (RBF), up to 1,500 training rows", "squared distances, updated column by column", "classes; "
     "decision values to about 1e-3"),
    ("LinearSVC", "`LinearSVC`", "Newton's method, starting from the fit before", "classes; where the solver's "
     "tolerance could change one, scikit-learn fits the fold"),
    ("LogisticRegression", "`LogisticRegression` (L2)", "Newton's method, starting from the fit before", "as above"),
    ("LogisticRegression, balanced", "… with `class_weight`", "as above", "as above"),
    ("LogisticRegression, L1", "… with L1 (liblinear, two classes)", "coordinate descent with Newton's weights",
     "as above"),
    ("KNeighborsClassifier", "`KNeighbors*`", "distances, updated column by column", "predictions"),
    ("KNeighborsClassifier, by distance", '… with `weights="distance"`', "as above", "predictions"),
    ("KNeighborsClassifier, Manhattan", "… with Manhattan distances", "as above", "predictions"),
    ("GaussianNB", "`GaussianNB`, `BernoulliNB`, `NearestCentroid`", "sums over columns", "predictions"),
    ("Ridge", "linear and ridge regression", "updates for each column", "predictions"),
    ("Lasso", "`Lasso`, `ElasticNet`", "coordinate descent on products of columns", "predictions, to the model's "
     "own `tol`"),
    ("LassoCV", "`LassoCV`, `ElasticNetCV` (folds by number)", "the same, along the path in each inner fold",
     "predictions, to its `tol`"),
    ("RidgeCV", "`RidgeCV` (leave-one-out)", "eigenvectors of products of columns", "predictions"),
    ("RidgeClassifier", "`RidgeClassifier`", "updates for each column", "predictions"),
    ("LinearDiscriminantAnalysis", "discriminant analysis, linear and quadratic", "updates for each column",
     "predictions"),
)  # fmt: skip
"""What the engines are: the model's name in the rows, in words, how it is fitted, what is the same."""


def in_words(row: Row | None) -> str:
    """Return how many times faster, or that it was not measured."""
    times = row["times_faster_cpu"] if row else None
    return "" if times is None else f"{times:.{2 if times < 2 else 1 if times < 20 else 0}f}"


def as_tables(rows: list[Row]) -> str:
    """Return the two tables of `docs/guide/own-models.md`: models, and other jobs."""
    known = {row["name"]: row for row in rows}
    lines = ["| model | how it is fitted | what is the same as in scikit-learn | times faster: WDBC | sonar |",
             "|---|---|---|---|---|"]  # fmt: skip
    for name, words, how, same in MODELS:
        both = [
            in_words(known.pop(f"forward to {SIZE}, 10 folds, {name}, {table}", None)) for table in ("WDBC", "sonar")
        ]
        lines.append(f"| {words} | {how} | {same} | {both[0]} | {both[1]} |")
    lines += ["", "| job | beside | times faster |", "|---|---|---|"]
    for name, row in known.items():
        lines.append(f"| {name} | {', '.join(row['peers_s'])} | {in_words(row)} |")
    return "\n".join(lines)


def page_with(rows: list[Row], page: str) -> str:
    """Return the page with its generated part made anew."""
    before, begin, rest = page.partition("<!-- models.json -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    return before + begin + as_tables(rows) + "\n" + end + after


def keep(row: Row) -> None:
    """Put a row into models.json, in the place of the one of its name."""
    rows = json.loads(KEPT.read_text()) if KEPT.exists() else []
    short = {key: row[key] for key in ("name", "ours_s", "peers_s", "times_faster_cpu", "target", "alike")}
    names = [other["name"] for other in rows]
    place = names.index(row["name"]) if row["name"] in names else len(rows)
    rows[place : place + 1] = [short]
    KEPT.write_text("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in rows) + "\n]\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if "--table" in sys.argv:
        PAGE.write_text(page_with(json.loads(KEPT.read_text()), PAGE.read_text()))
        sys.exit()
    for name in [argument for argument in sys.argv[1:] if not argument.startswith("--")] or ROWS:
        row = ROWS[name]()
        print(json.dumps(row), flush=True)
        if "--keep" in sys.argv:
            keep(row)
