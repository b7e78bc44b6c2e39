"""The selectors of the peers' study, each as a function from training rows to masks by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import RFECV, SelectFromModel, SequentialFeatureSelector, f_classif, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import fewer
from fewer.problem import Problem
from fewer.run.planning import make_plan

DESIGN = json.loads((Path(__file__).parent / "peers_study_design.json").read_text())
SIZES = (1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200)
Choose = Callable[[Problem], dict[str, np.ndarray]]


def filled(rows: Problem) -> np.ndarray:
    """Give numbers to peers that take nothing else: level codes, missing cells by the median, columns scaled."""
    X = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(rows.X)
    return StandardScaler().fit_transform(X)


def models(task: str) -> dict[str, object]:
    """Build the models that judge, on columns that are filled, one-hot coded and scaled."""
    classes = task == "classification"
    return {
        "neighbors": KNeighborsClassifier(5) if classes else KNeighborsRegressor(5),
        "linear": LogisticRegression(max_iter=500) if classes else Ridge(),
        "boosting": (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(
            random_state=0, early_stopping=False, max_iter=60
        ),
    }


def prepared(rows: Problem, columns: np.ndarray, model: object) -> object:
    """Put filling, coding and scaling before a model."""
    nominal = np.flatnonzero(rows.nominal[columns])
    numeric = np.flatnonzero(~rows.nominal[columns])
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return make_pipeline(
        make_column_transformer(
            (make_pipeline(fill, StandardScaler()), numeric),
            (
                make_pipeline(
                    SimpleImputer(strategy="most_frequent", keep_empty_features=True),
                    OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                ),
                nominal,
            ),
        ),
        model,
    )


def by_name(task: str) -> dict[str, Choose]:
    """Return every method that is installed; one function may answer for several names."""
    return {**ours(task), **peers(task), **baselines()}


def baselines() -> dict[str, Choose]:
    """Return what needs no method."""

    def quarter(rows: Problem) -> np.ndarray:
        order = np.random.default_rng([DESIGN["seed"], rows.n_features]).permutation(rows.n_features)
        return np.isin(np.arange(rows.n_features), order[: max(rows.n_features // 4, 1)])

    return {
        "all features": lambda rows: {"all features": np.ones(rows.n_features, dtype=bool)},
        "random quarter": lambda rows: {"random quarter": quarter(rows)},
    }


def ours(task: str) -> dict[str, Choose]:
    """Return the methods of fewer. One fit of `auto` answers for its three preferences."""

    def auto(rows: Problem) -> dict[str, np.ndarray]:
        selector = fewer.AutoSelector(random_state=0, standins=False).fit_problem(rows)
        answers = {f"auto {prefer}": mask for prefer, mask in selector.choices_.items()}
        return {**answers, "nothing found": np.array([selector.nothing_found_])}

    def named(name: str, rows: Problem) -> dict[str, np.ndarray]:
        return {name: make_plan(rows, name, seed=0).selector.fit_problem(rows).support_}

    def consensus(rows: Problem) -> dict[str, np.ndarray]:
        from fewer.criteria import KNN
        from fewer.search import Floating

        ensemble = fewer.SubsetEnsemble(KNN("auto"), Floating(), random_state=0)
        return {"consensus": ensemble.fit(rows.X, rows.y).support_}

    found: dict[str, Choose] = {"auto balanced": auto}
    for name in DESIGN["ours"]:
        if name == "consensus":
            found[name] = consensus
        elif not name.startswith("auto") and not (task == "regression" and name == "relieff"):
            found[name] = partial(named, name)
    return found


def sized_by_cv(rank: Callable[[np.ndarray, np.ndarray], np.ndarray], model: object) -> Callable:
    """Choose how many leading features of a ranking to keep by five-fold cross-validation of a model."""

    def choose(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        order = np.asarray(rank(X, y))
        sizes = [size for size in SIZES if size <= len(order)]
        scores = [cross_val_score(model, X[:, order[:size]], y, cv=5).mean() for size in sizes]
        return order[: sizes[int(np.argmax(scores))]]

    return choose


def peers(task: str) -> dict[str, Choose]:
    """Return the peers by their names in the design; those that are not installed are missing."""
    classes = task == "classification"
    near = KNeighborsClassifier(5) if classes else KNeighborsRegressor(5)
    linear = LogisticRegression(max_iter=500) if classes else Ridge()
    forest = partial(RandomForestClassifier if classes else RandomForestRegressor, random_state=0)
    lasso = LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=300, tol=1e-2) if classes else LassoCV()
    score = f_classif if classes else f_regression
    found: dict[str, Callable] = {
        "scikit-learn SFS, 5 neighbors": SequentialFeatureSelector(near, n_features_to_select="auto", tol=0.001),
        "scikit-learn RFECV, linear": RFECV(linear, step=0.1),
        "scikit-learn RFECV, forest": RFECV(forest(n_estimators=50), step=0.2),
        "scikit-learn SelectFromModel, forest": SelectFromModel(forest()),
        "scikit-learn SelectFromModel, L1": SelectFromModel(lasso, threshold=1e-5),
        "scikit-learn SelectKBest, size by CV": sized_by_cv(
            lambda X, y: np.argsort(-np.nan_to_num(score(X, y)[0]), kind="stable"), linear
        ),
    }
    with suppress(ImportError):
        from mlxtend.feature_selection import SequentialFeatureSelector as Sequential

        found["mlxtend floating, 5 neighbors"] = lambda X, y: np.array(
            Sequential(near, k_features=(1, min(12, X.shape[1])), floating=True, cv=5).fit(X, y).k_feature_idx_
        )
    with suppress(ImportError):
        from boruta import BorutaPy

        found["Boruta"] = BorutaPy(forest(max_depth=5), n_estimators="auto", max_iter=50, random_state=0)
    with suppress(ImportError):
        found["mrmr_selection, size by CV"] = sized_by_cv(mrmr_order(classes), linear)
    with suppress(ImportError):
        found["fast-select ReliefF, size by CV"] = sized_by_cv(relieff_order(), linear)
    with suppress(ImportError):
        found["fastcan, size by CV"] = sized_by_cv(fastcan_order(classes), linear)
    return {name: partial(chosen_by, name, selector) for name, selector in found.items()}


def mrmr_order(classes: bool) -> Callable:
    """Rank with mrmr_selection."""
    import mrmr
    import pandas as pd

    rank = mrmr.mrmr_classif if classes else mrmr.mrmr_regression

    def order(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        frame = pd.DataFrame(X, columns=[str(i) for i in range(X.shape[1])])
        chosen = rank(frame, pd.Series(y), K=min(X.shape[1], 60), show_progress=False, n_jobs=1)
        return np.array([int(name) for name in chosen])

    return order


def relieff_order() -> Callable:
    """Rank with fast-select."""
    from fast_select import ReliefF

    def order(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        ranker = ReliefF(n_features_to_select=min(10, X.shape[1]), n_neighbors=10, backend="cpu", n_jobs=1)
        return np.argsort(-ranker.fit(X, y).feature_importances_, kind="stable")

    return order


def fastcan_order(classes: bool) -> Callable:
    """Rank with fastcan, classes as indicators."""
    from fastcan import FastCan

    def order(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        target = np.eye(int(y.max()) + 1)[y][:, np.unique(y)] if classes else y
        size = max(min(X.shape[1], 60, len(X) // 2), 1)
        return FastCan(size, verbose=0).fit(X, target).indices_

    return order


def chosen_by(name: str, selector: object, rows: Problem) -> dict[str, np.ndarray]:
    """Let a peer choose among filled and scaled columns."""
    X = filled(rows)
    if callable(selector):
        chosen = np.asarray(selector(X, rows.y))
    else:
        selector.fit(X, rows.y)
        chosen = np.flatnonzero(selector.support_ if hasattr(selector, "support_") else selector.get_support())
    return {name: np.isin(np.arange(rows.n_features), chosen)}
