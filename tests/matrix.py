"""Every public component on one small table, in every way that must not matter; see test_matrix."""

import contextlib
import multiprocessing
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.sparse import csc_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from fewer import RankSelector, SubsetSelector, registry
from fewer.contracts import ROWS, IncompatibleError, Resources
from fewer.control._ranking import RankingControl
from fewer.criteria import KNN, CrossValidated, FisherRatio, LeastSquares
from fewer.errors import InputError
from fewer.io import SparseProblem, to_problem
from fewer.rankers import FTest
from fewer.run.planning import make_plan
from fewer.search import Annealing, Forward

N, P = 36, 4
MASKS = np.array([[1, 0, 1, 0], [1, 1, 1, 1]], dtype=bool)
TOLERANCE = 1e-6
"""Relative to the largest score: two ways to the same sum differ by rounding, and models by when they stop."""


def table(task, seed=0):
    """Positive numbers, one column full of ties; a target that leans on the first two columns."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 4.0, (N, P))
    X[:, 2] = rng.integers(0, 5, N)
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=N)
    return X, np.where(y > np.median(y), "b", "a") if task == "classification" else y


def component(kind, name, task):
    return registry.build(kind, name, task=task)


def value(one, problem, n_jobs=1, masks=MASKS):
    """Return what a criterion or a ranker says."""
    rng, resources = np.random.default_rng(0), Resources(n_jobs)
    if hasattr(one, "bind"):
        return np.asarray(one.bind(problem, rng, resources).score(masks))
    return one.rank(problem, rng, resources).scores


def attempt(one, problem, **options):
    """Return what it says, or the words in which it refuses."""
    try:
        return value(one, problem, **options)
    except InputError as error:
        return str(error)


def differs(found, expected):
    if isinstance(found, str):
        return True
    unit = max(float(np.nanmax(np.abs(expected[np.isfinite(expected)]), initial=0.0)), 1e-12)
    return not np.allclose(found, expected, rtol=0.0, atol=TOLERANCE * unit, equal_nan=True)


def changed(task, seed=0):
    """Yield each change that should not matter: its name, the problem, and what undoes it in the scores of columns."""
    X, y = table(task, seed)
    rng = np.random.default_rng(seed + 1)
    rows, columns = rng.permutation(N), np.array([2, 0, 3, 1])
    read = {"task": task}
    yield "row order", to_problem(X[rows], y[rows], **read), None
    yield "column order", to_problem(X[:, columns], y, **read), columns
    yield "sign", to_problem(X * [-1, 1, -1, 1], y, **read), None
    yield "shift", to_problem(X + np.array([8, 64, 0, 3]), y, **read), None
    yield "scale", to_problem(X * [4, 0.3, 1024, 1], y, **read), None
    if task == "classification":
        yield "labels", to_problem(X, np.where(y == "a", "z", "c"), **read), None


def dependence(one, task, seed=0):
    """Return the changes that a component's result depends on, on this table."""
    expected, found = value(one, to_problem(*table(task, seed), task=task)), set()
    for change, problem, columns in changed(task, seed):
        if columns is None:
            got = attempt(one, problem)
        elif hasattr(one, "bind"):
            got = attempt(one, problem, masks=MASKS[:, columns])
        else:
            got = attempt(one, problem)
            got = got if isinstance(got, str) else got[np.argsort(columns)]
        if differs(got, expected):
            found.add(change)
    return found


def with_rows(what, task, seed=0):
    """Return the problem with weights, groups, a time, missing cells or a nominal column."""
    X, y = table(task, seed)
    if what == "missing":
        X[::7, 1] = np.nan
    rows = {
        "weights": {"sample_weight": 1.0 + np.arange(N) % 3},
        "groups": {"groups": np.arange(N) // 2},
        "time": {"time": np.arange(N)},
        "nominal": {"nominal": [2]},
    }.get(what, {})
    return to_problem(X, y, task=task, **rows)


def broken_promises(kind, name, task, seed=0):
    """List what a criterion or ranker does against its tags and against what holds for all."""
    one, broken = component(kind, name, task), []
    X, y = table(task, seed)
    before, X_read_only = X.copy(), X.copy()
    X_read_only.setflags(write=False)
    problem = to_problem(X_read_only, y, task=task)
    expected = value(one, problem)
    unsaid = sorted(dependence(one, task, seed) - one.depends_on)
    broken += [f"depends on {change}, which `depends_on` does not say" for change in unsaid]
    for what in sorted(ROWS):
        broken += _rows_broken(one, what, task, expected, seed)
    same = {
        "no clone": lambda: value(clone(one), problem),
        "no pickle": lambda: value(pickle.loads(pickle.dumps(one)), problem),
        "threads": lambda: value(one, problem, n_jobs=2),
        "float32": lambda: value(one, to_problem(X.astype(np.float32), y, task=task)),
        "equal weights": lambda: value(one, to_problem(X, y, task=task, sample_weight=np.full(N, 1e-20))),
        "sparse": lambda: value(one, SparseProblem.of(replace(problem, X=np.zeros((N, 1))), csc_array(X))),
    }
    for why, say in same.items():
        if why == "float32":  # the same cells, in two types
            wide = value(one, to_problem(X.astype(np.float32).astype(np.float64), y, task=task))
            broken += [why] if not np.array_equal(say(), wide, equal_nan=True) else []
        elif differs(say(), expected):
            broken.append(why)
    if not np.array_equal(X_read_only, before) or not np.array_equal(problem.X, before):
        broken.append("changes its input")
    return broken


def _rows_broken(one, what, task, expected, seed):
    got = attempt(one, with_rows(what, task, seed))
    if what not in one.takes:
        named = isinstance(got, str) and type(one).__name__ in got and "\n" not in got
        return [] if named else [f"{what}: not refused in one line with its name ({got!r})"]
    if isinstance(got, str):
        return [f"{what}: refused, though `takes` names it ({got})"]
    X, y = table(task, seed)
    if what == "weights":
        absent = np.arange(N) >= 5
        dropped = value(one, to_problem(X, y, task=task, sample_weight=absent.astype(float)))
        there = value(one, to_problem(X[absent], y[absent], task=task))
        # On a table that a criterion finds perfect, weights change nothing: another one decides.
        other = seed + 10
        plain = value(one, to_problem(*table(task, other), task=task))
        ignored = not differs(got, expected) and not differs(attempt(one, with_rows(what, task, other)), plain)
        broken = ["weights: ignored"] * ignored + ["weights of 0 count"] * differs(dropped, there)
        return broken + ["a weight is not a row repeated"] * (one.weights_repeat_rows and not _repeats(one, X, y, task))
    if what == "groups":
        alone = value(one, to_problem(X, y, task=task, groups=np.arange(N)))
        same = not differs(alone, expected) or hasattr(one, "cv") or one.depends_on & {"row order"}
        return [] if same else ["groups of one row each change the result"]
    return []


def _repeats(one, X, y, task):
    """Say whether rows with whole weights score as their copies do; copies share their group, and so their fold."""
    copies = 1 + np.arange(N) % 3
    rows = np.repeat(np.arange(N), copies)
    weighted = to_problem(X, y, task=task, sample_weight=copies.astype(float), groups=np.arange(N))
    return not differs(value(one, weighted), value(one, to_problem(X[rows], y[rows], task=task, groups=rows)))


def scores_of(job):
    """Return what a component says of the usual table, for a process of its own."""
    kind, name, task = job
    return attempt(component(kind, name, task), to_problem(*table(task), task=task))


def unlike_in_a_fork(pairs):
    """List the components that say something else in a forked child of a process that has used them."""
    jobs = [(kind, name, task) for kind, name in pairs for task in component(kind, name, "regression").tasks]
    here = [scores_of(job) for job in jobs]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.map_async(scores_of, jobs).get(timeout=300)
    return [
        job
        for job, one, other in zip(jobs, here, there, strict=True)
        if (one != other if isinstance(one, str) else differs(other, one))
    ]


# ------------------------------------------------------------------------------- searches, controls, named methods

OPTIONS = {"stability": "stability:expected_false=3"}
"""Where four columns are too few for the usual options."""
CRITERIA = (KNN(1), FisherRatio(), LeastSquares(), CrossValidated(LogisticRegression(), cv=2))


def selector_with(kind, name):
    """Return a selector that a search or a control fits into, the first of some that takes it."""
    X, y = table("classification")
    for task_search in (Forward(), Annealing(effort=0.2)):
        for criterion in CRITERIA:
            one = registry.build(kind, OPTIONS.get(name, name), task="classification")
            if kind == "control" and isinstance(one, RankingControl):
                return RankSelector(FTest(), control=one, random_state=0)
            parts = {"search": one} if kind == "search" else {"search": task_search, "control": one}
            selector = SubsetSelector(criterion, n_features_to_select=2, random_state=0, **parts)
            try:
                clone(selector).fit(X, y)
            except IncompatibleError:
                continue
            return selector
    raise AssertionError(f"nothing takes the {kind} {name}")


def selector_of(method):
    """Return the selector of a named method, for classes if it can."""
    for task in ("classification", "regression"):
        X, y = table(task)
        try:
            problem = to_problem(X, y, task=task)
            selector = make_plan(problem, method, n_features_to_select=2, seed=0).selector
            if method in OPTIONS:
                selector.set_params(control=registry.build("control", OPTIONS[method], task=task))
            clone(selector).fit_problem(problem)
        except InputError:
            continue
        return selector, task
    raise AssertionError(f"{method} makes no selector")


def unlike(selector, task):
    """List the ways in which a selector chooses other columns though nothing is new."""
    X, y = table(task)
    read_only = X.copy()
    read_only.setflags(write=False)
    try:
        expected = clone(selector).fit(read_only, y).get_support()
    except IncompatibleError:
        return unlike(selector, "regression") if task == "classification" else ["fits nothing"]
    names = [3, ("a", 1), "b", 2.5]
    again = clone(selector).fit(X, y)
    ways = {
        "clone": lambda: clone(again).fit(X, y).get_support(),
        "pickle": lambda: pickle.loads(pickle.dumps(again)).get_support(),
        "refit": lambda: again.fit(X[::-1], y[::-1]).fit(X, y).get_support(),
        "threads": lambda: clone(selector).set_params(n_jobs=2).fit(X, y).get_support(),
        "names of any type": lambda: clone(selector).fit(pd.DataFrame(X, columns=names), y).get_support(),
        "float32": lambda: (
            clone(selector).fit(X.astype(np.float32).astype(np.float64), y).get_support()
            ^ clone(selector).fit(X.astype(np.float32), y).get_support()
            ^ expected
        ),
        "after an interrupt": lambda: interrupted(clone(selector), X, y).fit(X, y).get_support(),
    }
    broken = [way for way, choose in ways.items() if not np.array_equal(choose(), expected)]
    broken += _rows_of_selector_broken(selector, X, y, expected)
    return broken + ["changes its input"] * (not np.array_equal(X, read_only))


def _rows_of_selector_broken(selector, X, y, expected):
    """List what a selector does wrong with weights, groups and a time: it uses each, or refuses it in one line."""

    def choose(table, target, **rows):
        try:
            return clone(selector).fit(table, target, **rows).get_support()
        except InputError as error:
            return str(error)

    there = np.arange(N) >= 5
    same = {
        "equal weights": (choose(X, y, sample_weight=np.full(N, 1e-20)), expected),
        "weights of 0": (choose(X, y, sample_weight=there.astype(float)), choose(X[there], y[there])),
    }
    broken = [why for why, pair in same.items() if not np.array_equal(*pair)]
    for rows in ({"sample_weight": 1.0 + np.arange(N) % 3}, {"groups": np.arange(N) // 2}, {"time": np.arange(N)}):
        told = choose(X, y, **rows)
        broken += [f"{rows.keys()}: {told}"] * (isinstance(told, str) and ("\n" in told or len(told) < 20))
    return broken


def interrupted(selector, X, y):
    """Fit a selector that is stopped at its first step, if it has steps."""

    def stop(trace):
        raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt, TypeError):
        selector.fit_problem(to_problem(X, y), on_step=stop)
    return selector
