"""What a first use costs: `NUMBA_CACHE_DIR=$(mktemp -d) python benchmarks/first_use.py demo` runs a command of fewer.

The last line, on standard error, is JSON: seconds by the clock and of the processor of the whole process, of its
imports at the start, of compilation, and of loading what was compiled before. Run again with the same cache it is a
later start.

`python benchmarks/first_use.py --all [WORD ...]` measures every first use that there is, or those whose name has one of
the words, each in a process and an empty cache of its own: the processor seconds of compilation, the longest last.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

BEGUN = time.perf_counter(), time.process_time()
SPENT = {name: [0.0, 0.0] for name in ("imports", "compiling", "loading", "whole")}


class Stopwatch:
    """Adds the time between start and end, of the outermost call, to one of the sums."""

    depth = functions = 0

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        if Stopwatch.depth == 0:
            self._began = time.perf_counter(), time.process_time()
        Stopwatch.depth += 1

    def __exit__(self, *_: object) -> None:
        Stopwatch.depth -= 1
        if Stopwatch.depth == 0:
            SPENT[self._name][0] += time.perf_counter() - self._began[0]
            SPENT[self._name][1] += time.process_time() - self._began[1]


def watch() -> None:
    """Have compilation and loading timed."""
    from numba.core import caching, event

    class Compiling(event.Listener):  # type: ignore[misc]
        _watch = Stopwatch("compiling")

        def on_start(self, event: Any) -> None:
            self._watch.__enter__()

        def on_end(self, event: Any) -> None:
            self._watch.__exit__()
            Stopwatch.functions += 1

    event.register("numba:compile", Compiling())
    load = caching.Cache.load_overload

    def timed(*args: Any) -> Any:
        with Stopwatch("loading"):
            return load(*args)

    caching.Cache.load_overload = timed


# What the code of a case may use; `fewer` itself is imported by the code, as people do.
BEFORE = """
import fewer, numpy as np
from fewer.registry import build
from sklearn import datasets, ensemble, linear_model, naive_bayes, neighbors, svm, tree, discriminant_analysis
two, three, six = (f(return_X_y=True) for f in (datasets.load_breast_cancer, datasets.load_wine, datasets.load_digits))
few = two[0][:, :10], two[1]
six = six[0][six[1] < 6][:600, 16:48], six[1][six[1] < 6][:600]
quantity = datasets.load_diabetes(return_X_y=True)
many = datasets.make_classification(6000, 12, random_state=0)
holes = np.where(np.random.default_rng(0).random(two[0].shape) < 0.05, np.nan, two[0]), two[1]
weights = np.random.default_rng(0).uniform(0.5, 2, 569)
"""
TASKS = {"few": "classification", "quantity": "regression"}
TABLES = ("two", "three", "six", "quantity", "many", "holes")
MODELS = """
discriminant_analysis.LinearDiscriminantAnalysis() discriminant_analysis.QuadraticDiscriminantAnalysis()
ensemble.ExtraTreesClassifier() ensemble.ExtraTreesRegressor() ensemble.HistGradientBoostingClassifier()
ensemble.HistGradientBoostingRegressor() ensemble.RandomForestClassifier() ensemble.RandomForestRegressor()
linear_model.ElasticNet() linear_model.Lasso() linear_model.LassoCV() linear_model.LinearRegression()
linear_model.LogisticRegression(max_iter=5000) linear_model.LogisticRegression(C=0.1,l1_ratio=1,solver="liblinear")
linear_model.Ridge() linear_model.RidgeCV() linear_model.RidgeClassifier() naive_bayes.BernoulliNB()
naive_bayes.GaussianNB() neighbors.KNeighborsClassifier() neighbors.KNeighborsRegressor() neighbors.NearestCentroid()
svm.LinearSVC() svm.SVC() svm.SVR() tree.DecisionTreeClassifier() tree.DecisionTreeRegressor()
""".split()


def cases() -> Iterator[tuple[str, str]]:
    """Name the first uses: code for each. What a component refuses is left out when it is run."""
    from fewer.registry import COMPONENTS, METHODS

    for table in TABLES:
        yield f"auto, {table}", f"fewer.select(*{table}, random_state=0)"
        yield f"AutoSelector, {table}", f"fewer.AutoSelector(random_state=0).fit(*{table})"
        yield f"KNN(1), {table}", f"fewer.SubsetSelector(fewer.criteria.KNN(1), fewer.search.Forward()).fit(*{table})"
    for table, task in TASKS.items():
        for name in METHODS:
            yield f"select {name}, {table}", f"fewer.select(*{table}, {name!r}, random_state=0)"
        for name in COMPONENTS["criterion"]:
            pair = f"build('criterion', {name!r}, {task!r}), fewer.search.Forward(), n_features_to_select=3"
            yield (
                f"criterion {name}, {table}",
                f"fewer.SubsetSelector({pair}, task={task!r}, random_state=0).fit(*{table})",
            )
        for name in COMPONENTS["search"]:
            pair = f"build('criterion', 'knn', {task!r}), build('search', {name!r}, {task!r}), random_state=0"
            yield f"search {name}, {table}", f"fewer.SubsetSelector({pair}).fit(*{table})"
        for name in COMPONENTS["ranker"]:
            ranker = f"build('ranker', {name!r}, {task!r})"
            yield f"ranker {name}, {table}", f"fewer.RankSelector({ranker}).fit(*{table})"
        for name in COMPONENTS["control"]:
            pair = f"build('criterion', 'knn', {task!r}), fewer.search.Annealing(), random_state=0"
            control = f"control=build('control', {name!r}, {task!r})"
            yield f"control {name}, {table}", f"fewer.SubsetSelector({pair}, {control}).fit(*{table})"
        for name in COMPONENTS["estimator"]:
            yield f"estimator {name}, {table}", f"fewer.select(*{table}, estimator={name!r}, random_state=0)"
        yield f"alternatives, {table}", f"fewer.alternatives(fewer.select(*{table}, 'knn-forward', cv=0), *{table})"
        yield f"weights, {table}", f"fewer.FeatureWeighter(random_state=0).fit(*{table})"
        yield f"ensemble, {table}", f"fewer.SubsetEnsemble(n_runs=3).fit(*{table})"
    for model in MODELS:
        table = "quantity" if "Regress" in model or ("linear" in model and "Cla" not in model) else "two"
        table = "two" if "Logistic" in model else table
        search = f"fewer.criteria.CrossValidated({model}), fewer.search.Forward(), n_features_to_select=3"
        yield f"{model}, {table}", f"fewer.SubsetSelector({search}, random_state=0).fit(*{table})"
    yield "auto, weights", "fewer.select(*two, sample_weight=weights, random_state=0)"
    yield "auto, groups", "fewer.select(*two, groups=np.arange(569) // 3, random_state=0)"
    yield "auto, time", "fewer.select(*two, time=np.arange(569), random_state=0)"
    yield "compare", "fewer.compare(*two, ['auto', 'relieff', 'mrmr', 'knn-forward', 'linear-forward'])"
    yield "Parcel", "fewer.Parcel(random_state=0).fit(*two)"
    for model in ("DiscreteNaiveBayes", "GMLVQClassifier", "NeighborhoodClassifier", "RANNClassifier"):
        yield model, f"fewer.models.{model}().fit(*two).predict(two[0])"
    yield "command rank", "import sys, fewer.cli; fewer.cli.main(['rank', 'wdbc.csv', '--target', 'target'])"
    yield "command select", "import sys, fewer.cli; fewer.cli.main(['select', 'wdbc.csv', '--target', 'target'])"


def first_use(code: str, folder: str) -> dict[str, Any] | str:
    """Run a case in a process of its own with an empty cache; return what it cost, or what it says."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, os.path.abspath(__file__), "--code", code]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    lines = done.stderr.strip().splitlines()
    return json.loads(lines[-1]) if done.returncode == 0 else " ".join(lines[-2:-1])


def all_cases(words: list[str]) -> None:
    """Print what each first use compiles for, and the longest once more."""
    from sklearn.datasets import load_breast_cancer

    spent = {}
    with tempfile.TemporaryDirectory() as folder:
        load_breast_cancer(as_frame=True).frame.to_csv(os.path.join(folder, "wdbc.csv"), index=False)
        for name, code in cases():
            if words and not any(word in name for word in words):
                continue
            cost = first_use(code, folder)
            if isinstance(cost, str):
                print(f"     {name}: {cost}", flush=True)
                continue
            spent[name] = cost["compiling"][1]
            print(f"{spent[name]:4.1f} {name}, {cost['functions']} functions", flush=True)
    print("\nThe longest:")
    for name in sorted(spent, key=spent.__getitem__)[-20:]:
        print(f"{spent[name]:5.2f} {name}")


def main() -> None:
    if sys.argv[1:2] == ["--all"]:
        return all_cases(sys.argv[2:])
    import sklearn.ensemble
    import sklearn.neighbors  # noqa: F401

    import fewer.cli
    import fewer.selectors

    SPENT["imports"] = [time.perf_counter() - BEGUN[0], time.process_time() - BEGUN[1]]
    given: dict[str, Any] = {}
    if sys.argv[1:2] == ["--code"]:
        exec(BEFORE, given)
    watch()
    try:
        if given:
            exec(sys.argv[2], given)
        else:
            fewer.cli.main()
    finally:
        SPENT["whole"] = [time.perf_counter() - BEGUN[0], time.process_time() - BEGUN[1]]
        cost: dict[str, Any] = {name: [round(x, 3) for x in pair] for name, pair in SPENT.items()}
        print(json.dumps({**cost, "functions": Stopwatch.functions}), file=sys.stderr)


if __name__ == "__main__":
    main()
