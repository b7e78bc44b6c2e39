"""Calls of the Python API, drawn from a grammar: each is answered, and computed again plainly, or refused in a line.

A call is a table in some disguise, a door (`fewer.select`, a selector, a model, a function), options, and now and then
something that is wrong. The same table as bare numbers goes another way: rankings and subsets are scored alone, one
mask at a time, or by SciPy and scikit-learn; models and whole selections must answer the bare numbers alike.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
import traceback
import warnings
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse, stats
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer import InputError, Problem, models, registry, validate
from fewer.contracts import Resources, round_scores
from fewer.evaluate._nested import outer_splits
from fewer.problem import relative_weights
from torture.fuzz import _OutOfTimeError, time_limit
from torture.outcomes import Outcome
from torture.plain import f_value, fisher, one_neighbor

SECONDS = 120
SLOW = {"shap", "gmlvq", "permutation", "importance", "each", "lasso"}
"""Rankers of which a call in ten is enough."""
RANKERS = sorted(set(registry.INDEX["ranker"]))
CRITERIA = sorted(set(registry.INDEX["criterion"]) - {"cross-validated", "rann"})
SEARCHES = [
    "forward",
    "forward",
    "backward",
    "floating",
    "exhaustive",
    "exhaustive",
    "best-first",
    "genetic:effort=0.02",
]
SEARCHES[-1] = "annealing:effort=0.02"
METHODS = [
    "fisher",
    "mrmr",
    "relieff",
    "f-test",
    "knn-forward",
    "linear-forward",
    "knn-floating",
    "fdr",
    "naive-bayes-forward",
]
BAD = [
    None, -1, 0, 1.5, -(10**12), float("nan"), float("inf"), "", "nobody", "x" * 300, [], {}, (), b"x", object,
    object(), [None], np.array([]), np.zeros((2, 2, 2)), True, 1j, np.int64(3), "1", {"a": 1}, [[1]], lambda x: x,
    pd.NA, np.float32(0.5), range(3), {"nobody"}, "日本", "\x00", "fisher:", "knn:n_neighbors=-1", 2**63, 10**30,
    -(2**70), np.uint64(2**64 - 1), np.arange(2), [2**64],
]  # fmt: skip


@dataclass
class Table:
    """Numbers, what they are, and the same in disguise."""

    X: np.ndarray
    y: np.ndarray
    kinds: list[str]
    given: Any
    target: Any
    rows: dict[str, Any] = field(default_factory=dict)
    wrong: str = ""

    @property
    def task(self):
        return "classification" if self.y.dtype.kind in "OU" or len(np.unique(self.y)) <= 4 else "regression"

    @property
    def is_bare(self):
        return not np.isnan(self.X).any() and "nominal" not in self.kinds and not self.rows

    def problem(self):
        """Return the numbers as a problem, without the reader."""
        levels = {
            i: tuple("abcd"[: int(np.nanmax(self.X[:, i], initial=0)) + 1])
            for i, kind in enumerate(self.kinds)
            if kind == "nominal"
        }
        found = Problem.from_arrays(self.X, self.y, task=self.task, kinds=self.kinds, **self.rows)
        weights = None if found.sample_weight is None else relative_weights(found.sample_weight)
        return replace(found, levels=levels, sample_weight=weights)


def draw_table(rng):
    """Draw a small table; about one in six is wrong in some way."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    n, p = rng.choice([12, 16, 24, 30]), rng.choice([2, 3, 3, 4, 5])
    classes = rng.random() < 0.7
    y = numbers.permutation(np.arange(n) % rng.choice([2, 2, 3])) if classes else numbers.normal(size=n).round(3)
    X, kinds = np.empty((n, p)), []
    for i in range(p):
        X[:, i], kind = _column(rng, numbers, y, n)
        kinds.append(kind)
    if classes and rng.random() < 0.5:
        y = np.array(["no", "yes", "zero"])[y]
    table = Table(X, y, kinds, None, y)
    if rng.random() < 0.15:
        table.rows["sample_weight"] = numbers.integers(1, 4, n).astype(float)
    if rng.random() < 0.1:
        table.rows["groups"] = numbers.permutation(np.arange(n) // 2)
    table.given = _disguise(rng, table)
    if rng.random() < 0.15:
        _spoil(rng, table)
    return table


def _column(rng, numbers, y, n):
    kind = rng.choice(
        ["normal", "normal", "signal", "signal", "whole", "tied", "huge", "tiny", "far", "holes", "levels", "same"]
    )
    x = numbers.normal(size=n).round(4)
    if kind == "signal":
        return (y - y.mean()) + x, "numeric"
    if kind in ("whole", "tied"):
        return numbers.integers(0, 9 if kind == "whole" else 2, n).astype(float), "numeric"
    if kind in ("huge", "tiny", "far"):
        return {"huge": x * 1e60, "tiny": x * 1e-60, "far": x + 1e7}[kind], "numeric"
    if kind == "levels":
        codes = numbers.integers(0, 3, n).astype(float)
        codes[:3] = (0, 1, 2)
        return codes, "nominal"
    if kind == "holes":
        return np.where(numbers.random(n) < 0.15, np.nan, x), "numeric"
    return (np.full(n, 7.5) if kind == "same" else x), "numeric"


def _disguise(rng, table):
    """Return the table in some other form that means the same."""
    X, kinds = table.X, table.kinds
    p = X.shape[1]
    names = rng.choice(
        [[f"v{i}" for i in range(p)], list(range(p)), [("a", i) for i in range(p)], ["é", "x y", "<b>", "__", "id"][:p]]
    )
    if "nominal" not in kinds and rng.random() < 0.5:
        forms = [X.copy, lambda: np.asfortranarray(X), X.tolist, lambda: _read_only(X), lambda: X[:, ::-1][:, ::-1]]
        if not np.isnan(X).any():
            forms.append(lambda: sparse.csr_matrix(X))
        return rng.choice(forms)()
    frame = pd.DataFrame(X)
    for i, kind in enumerate(kinds):
        if kind == "nominal":
            frame[i] = pd.Series(
                ["abc"[int(code)] for code in X[:, i]], dtype=rng.choice([object, "category", "string"])
            )
    form = rng.choice(["pandas", "pandas", "nullable", "polars", "pyarrow", "structured"])
    if form == "pandas":
        return frame.set_axis(names, axis=1)
    frame = frame.set_axis([f"v{i}" for i in range(p)], axis=1)
    if form == "nullable":
        return frame.convert_dtypes()
    if form == "polars":
        return pl.from_pandas(frame)
    if form == "pyarrow":
        return pa.Table.from_pandas(frame)
    if "nominal" in kinds:
        return frame
    return np.array([tuple(row) for row in X.tolist()], dtype=[(name, float) for name in frame.columns])


def _letters(codes):
    return ["abc"[int(code)] for code in codes]


def _read_only(X):
    copy = X.copy()
    copy.setflags(write=False)
    return copy


def _spoil(rng, table):
    """Make something wrong with the table, the target or what belongs to the rows."""
    X, y, n = table.X, table.y, len(table.y)
    wrong = {
        "one row too few": lambda: setattr(table, "target", y[:-1]),
        "no rows": lambda: (setattr(table, "given", X[:0]), setattr(table, "target", y[:0])),
        "no columns": lambda: setattr(table, "given", X[:, :0]),
        "one dimension": lambda: setattr(table, "given", X[:, 0]),
        "three dimensions": lambda: setattr(table, "given", X[:, :, None]),
        "infinite cells": lambda: setattr(table, "given", np.where(np.arange(n)[:, None] == 2, np.inf, X)),
        "complex cells": lambda: setattr(table, "given", X + 1j),
        "text cells": lambda: setattr(table, "given", np.full(X.shape, "x y", dtype=object)),
        "a table of nothing": lambda: setattr(table, "given", rng.choice([None, 3, "nowhere.csv", {}, [], object()])),
        "one class": lambda: setattr(table, "target", np.zeros(n, dtype=int)),
        "a target with a hole": lambda: setattr(table, "target", np.where(np.arange(n) == 1, np.nan, 1.0)),
        "no target": lambda: setattr(table, "target", rng.choice([None, 7, "nobody", {}, object()])),
        "a target of pairs": lambda: setattr(table, "target", np.zeros((n, 2, 2))),
        "weights below 0": lambda: table.rows.update(sample_weight=-np.ones(n)),
        "weights of another length": lambda: table.rows.update(sample_weight=np.ones(n + 1)),
        "weights that are words": lambda: table.rows.update(sample_weight=["x"] * n),
        "one group": lambda: table.rows.update(groups=np.zeros(n)),
        "groups of another length": lambda: table.rows.update(groups=np.zeros(3)),
        "groups with a hole": lambda: table.rows.update(groups=[None] * n),
        "a time that mixes": lambda: table.rows.update(time=[1, "x"] * (n // 2)),
    }
    table.wrong = rng.choice(sorted(wrong))
    wrong[table.wrong]()


# ---------------------------------------------------------------------------------------------------- doors


def by_ranking(rng, table):
    """A ranker through RankSelector; the scores of the bare numbers, each column alone by SciPy where it has them."""
    name = rng.choice(RANKERS)
    while name in SLOW and rng.random() < 0.9:
        name = rng.choice(RANKERS)
    ranker = _with_bad_parameter(rng, registry.build("ranker", name, task=table.task))
    plain = {"ranker": ranker, "n_features_to_select": rng.choice([1, 2]), "random_state": 0}
    options = _spoiled(rng, plain, fewer.RankSelector)
    yield f"RankSelector({options}).fit"
    selector = fewer.RankSelector(**options).fit(table.given, table.target, **table.rows)
    if options["ranker"] is not ranker:
        return
    problem = table.problem()
    if name in SLOW and "nominal" in table.kinds:  # a model sees the frame
        found = fewer.RankSelector(**options).fit(_plain_frame(table), table.y, **table.rows)
        _alike(selector.scores_, found.scores_, "scores of the bare numbers")
        return
    found = ranker.rank(problem, np.random.default_rng(0), Resources())
    same = np.arange(problem.n_features)
    asked = options["n_features_to_select"]
    if "n_ranked" in ranker.get_params() and isinstance(asked, Integral):  # others are not ranked against each other
        same = found.order[: max(int(asked), 1)]
    _alike(selector.scores_[same], found.scores[same], "scores of the bare numbers")
    for i, x in enumerate(table.X.T if table.is_bare else ()):
        expected = _score_of_column(name, x, problem)
        if expected is not None and not _close(selector.scores_[i], expected):
            raise AssertionError(f"{name} of column {i}: {selector.scores_[i]}, plainly {expected}")
    if options == plain:
        leading = found.order[: options["n_features_to_select"]]
        assert set(np.flatnonzero(selector.support_)) == set(leading), "others were chosen than lead the ranking"


def _score_of_column(name, x, problem):
    y, classes = problem.y, problem.n_classes
    scale = np.abs(x).max()
    if x.min() == x.max() or not 1e-30 < scale < 1e30 or np.ptp(x) < 1e-6 * scale:
        return None
    parts = [x[y == code] for code in range(classes)]
    if name == "fisher" and classes:
        return fisher(x, y)
    if name == "f-test":
        return f_value(x, y, problem.task)
    if name == "kruskal-wallis" and classes:
        return stats.kruskal(*parts).statistic / (classes - 1)
    if name == "kolmogorov-smirnov" and classes == 2:
        return stats.ks_2samp(*parts).statistic
    if name == "spearman" and not classes:
        return abs(stats.spearmanr(x, y).statistic)
    if name == "kendall" and not classes:
        return abs(stats.kendalltau(x, y).statistic)
    return None


def by_search(rng, table):
    """A criterion and a search; the chosen subset scored alone, all subsets one by one after an exhaustive search."""
    criterion = registry.build("criterion", rng.choice(CRITERIA), task=table.task)
    search = registry.build("search", rng.choice(SEARCHES), task=table.task)
    criterion, search = _with_bad_parameter(rng, criterion), _with_bad_parameter(rng, search)
    plain = {"criterion": criterion, "search": search, "n_features_to_select": rng.choice([1, 2, "auto"])}
    plain["random_state"] = 0
    options = _spoiled(rng, plain, fewer.SubsetSelector)
    yield f"SubsetSelector({options}).fit"
    selector = fewer.SubsetSelector(**options).fit(table.given, table.target, **table.rows)
    problem = table.problem()
    run = selector.prepare(problem)
    alone = round_scores(run.scorer.score(selector.support_[None]))
    _alike([selector.score_], alone, "score of the subset alone")
    if type(search).__name__ == "Exhaustive" and options == plain:
        size = options["n_features_to_select"]
        masks = [mask for mask in _masks(problem.n_features) if not (mask & problem.constant).any()]
        masks = [mask for mask in masks if size == "auto" or mask.sum() == size]
        best = max(float(round_scores(run.scorer.score(mask[None]))[0]) for mask in masks)
        _alike([selector.score_], [best], "best of all subsets")
    if repr(criterion).startswith("KNN(n_neighbors=1, cv='loo', scaling='none'") and table.is_bare:
        low, high = one_neighbor(problem.X[:, selector.support_], problem.y)
        assert low - 1e-9 <= selector.score_ <= high + 1e-9, "one neighbor in a few lines"


def _masks(p):
    return [np.array([bool(number >> i & 1) for i in range(p)]) for number in range(1, 2**p)]


def by_select(rng, table):
    """`fewer.select`; the same of bare numbers."""
    method = rng.choice(METHODS) if rng.random() < 0.97 else "auto"
    plain = {"method": method, "cv": rng.choice([0, 0, 2, 3]), "random_state": 0}
    if method != "auto":
        plain["n_features_to_select"] = rng.choice([1, 2])
    options = _spoiled(rng, plain, fewer.select)
    yield f"fewer.select(…, {options})"
    selection = fewer.select(table.given, table.target, **options, **table.rows)
    _check_selection(selection, table)
    if options == plain:
        again = fewer.select(_plain_frame(table), table.y, **options, **table.rows)
        assert selection.support == again.support, f"{selection.support}, of bare numbers {again.support}"
        _alike([selection.score_heldout or 0.0], [again.score_heldout or 0.0], "held-out score of the bare numbers")


def _plain_frame(table):
    """Return the numbers as an array, or as a frame of categories where there are some."""
    if "nominal" not in table.kinds:
        return table.X
    columns = {
        f"v{i}": pd.Series(_letters(x), dtype="category") if kind == "nominal" else x
        for i, (x, kind) in enumerate(zip(table.X.T, table.kinds, strict=True))
    }
    return pd.DataFrame(columns)


def _check_selection(selection, table):
    p = table.X.shape[1]
    assert len(selection.support) == selection.n_features == p, f"support {selection.support} of {p} columns"
    assert sum(selection.support) == len(selection.features), f"{selection.features} of {selection.support}"
    if isinstance(table.given, pd.DataFrame):
        chosen = [label for label, used in zip(table.given.columns, selection.support, strict=True) if used]
        assert set(selection.features) == set(chosen), f"{selection.features} of {chosen}"
    told = json.loads(selection.to_json(), parse_constant=lambda text: 1 / 0)
    assert fewer.Selection.from_json(selection.to_json()).to_dict() == told, "JSON loses something"
    assert all(text in str(selection) for text in selection.names), "a feature is not shown"
    heldout = selection.score_heldout
    assert heldout is None or math.isfinite(heldout), f"held-out score {heldout}"


def by_compare(rng, table):
    """`fewer.compare`; scikit-learn's tree on the same splits."""
    judges = rng.choice([["tree"], ["tree", "knn"], ["linear"], {"own": DecisionTreeClassifier()}])
    plain = {"methods": [rng.choice(METHODS)], "estimators": judges, "cv": 2, "random_state": 0}
    plain["n_features_to_select"] = 1
    options = _spoiled(rng, plain, fewer.compare)
    yield f"fewer.compare(…, {options})"
    comparison = fewer.compare(table.given, table.target, **options, **table.rows)
    json.loads(comparison.to_json(), parse_constant=lambda text: 1 / 0)
    if "tree" not in judges or not table.is_bare or table.task != "classification" or options != plain:
        return
    problem, scores, sizes = table.problem(), [], []
    # Units that a tree's single precision holds: a power of two, and a shift where numbers would still merge.
    X = np.ldexp(problem.X, -np.frexp(np.abs(problem.X).max(axis=0))[1])
    X = np.column_stack([column - column[0] * (len(set(column)) > len(set(np.float32(column)))) for column in X.T])
    X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=0))[1])
    for split in outer_splits(problem, 2, 1, 0):
        tree = DecisionTreeClassifier(random_state=0).fit(X[split.train], problem.y[split.train])
        scores.append(float((tree.predict(X[split.test]) == problem.y[split.test]).mean()))
        sizes.append(len(split.test))
    found = next(row.score for row in comparison.methods if row.name == "all features" and row.estimator == "tree")
    _alike([found], [np.average(scores, weights=sizes)], "tree of scikit-learn on the same splits")


def by_model(rng, table):
    """A model or an estimator that searches; the same of bare numbers, fitted and asked."""
    makers = [models.DiscreteNaiveBayes, models.NeighborhoodClassifier, models.LeastSquaresClassifier]
    makers += [models.MDLPDiscretizer, models.RelevantContextClassifier, _ensemble, _weighter]
    model = _with_bad_parameter(rng, rng.choice(makers)())
    yield f"{model!r}.fit, then asked"
    weights = {k: v for k, v in table.rows.items() if k == "sample_weight" and "sample_weight" in _names_of(model.fit)}
    said = _ask(model.fit(table.given, table.target, **weights), table.given)
    target = table.target if table.wrong == "one class" else table.y
    again = _ask(model.fit(_plain_frame(table), target, **weights), _plain_frame(table))
    if "random_state" in model.get_params() and model.random_state is None:
        return  # two fits may differ
    if said.dtype.kind in "fc":
        _alike(said, again, "answers for the bare numbers")
    else:
        assert said.tolist() == again.tolist(), "other answers for the bare numbers"


def _ensemble():
    return fewer.SubsetEnsemble(fewer.criteria.KNN(), fewer.search.Forward(), n_runs=2, random_state=0)


def _weighter():
    return fewer.FeatureWeighter(fewer.criteria.KNN(), fewer.search.DIET(), random_state=0)


def _ask(model, X):
    return np.asarray(model.predict(X) if hasattr(model, "predict") else model.transform(X))


def by_function(rng, table):
    """A function of `fewer.validate`; its formula in a line."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    n, name = len(table.y), rng.choice(sorted(FUNCTIONS))
    arguments = FUNCTIONS[name][0](numbers, n)
    if rng.random() < 0.4:
        arguments[rng.randrange(len(arguments))] = rng.choice(BAD)
        yield f"validate.{name}{tuple(arguments)!r}"
        getattr(validate, name)(*arguments)
        return
    yield f"validate.{name}{tuple(arguments)!r}"
    found = getattr(validate, name)(*arguments)
    _alike(*np.broadcast_arrays(*map(np.asarray, FUNCTIONS[name][1](found, *arguments))), f"formula of {name}")


def _wilson(found, right, n):
    low, high = stats.binomtest(right, n).proportion_ci(method="wilson")
    return [found.low, found.high], [low, high]


def _kuncheva(masks):
    k, p = int(masks[0].sum()), masks.shape[1]
    pairs = [(masks[i] & masks[j]).sum() for i in range(len(masks)) for j in range(i)]
    return float(np.mean([(both * p - k * k) / (k * (p - k)) for both in pairs]))


def _equal_sizes(numbers, n):
    return [np.array([numbers.permutation([True, True, False, False, False]) for _ in range(4)])]


def _value(found):
    return getattr(found, "estimate", found)


FUNCTIONS = {
    "wilson_interval": (lambda numbers, n: [int(numbers.integers(0, n + 1)), n], _wilson),
    "holm": (lambda numbers, n: [numbers.random(5)], lambda found, p: (found, [
        min(max(min(1.0, (len(p) - r) * q) for r, q in enumerate(sorted(p)) if q <= v), 1.0) for v in p])),
    "jaccard": (_equal_sizes, lambda found, m: (_value(found), np.mean(
        [(m[i] & m[j]).sum() / (m[i] | m[j]).sum() for i in range(len(m)) for j in range(i)]))),
    "kuncheva": (_equal_sizes, lambda found, m: (_value(found), _kuncheva(m))),
    "nogueira": (_equal_sizes, lambda found, m: (_value(found), 1 - np.mean(
        len(m) / (len(m) - 1) * m.mean(0) * (1 - m.mean(0))) / (m.mean() * (1 - m.mean())))),
    "wilcoxon": (lambda numbers, n: [numbers.normal(size=8), numbers.normal(size=8)],
                 lambda found, a, b: (found.p_value, stats.wilcoxon(a, b).pvalue)),
}  # fmt: skip
DOORS = {by_ranking: 30, by_search: 26, by_select: 22, by_compare: 4, by_model: 10, by_function: 8}


# ---------------------------------------------------------------------------------------------------- the walk

NOT_SPOILED = {"X", "y", "self", "sample_weight", "groups", "time", "resume_dir"}


def _with_bad_parameter(rng, component):
    """Set one parameter to something odd, now and then."""
    if rng.random() < 0.15 and (names := sorted(component.get_params(deep=False))):
        component.set_params(**{rng.choice(names): rng.choice(BAD)})
    return component


def _spoiled(rng, options, function):
    """Give one argument something odd, now and then."""
    names = sorted(set(_names_of(function)) - NOT_SPOILED)
    return options | ({rng.choice(names): rng.choice(BAD)} if rng.random() < 0.25 else {})


def _names_of(function):
    import inspect

    return [name for name, about in inspect.signature(function).parameters.items() if about.kind != about.VAR_KEYWORD]


def _close(found, expected):
    return (
        found == expected
        or math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-9)
        or (found != found and expected != expected)
    )


def _alike(found, expected, what, atol=1e-12):
    found, expected = (np.asarray(side, dtype=float).ravel() for side in (found, expected))
    unit = np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0)
    same = found.shape == expected.shape and np.allclose(
        found, expected, rtol=1e-6, atol=1e-9 * unit + atol, equal_nan=True
    )
    assert same, f"{what}: {found[:5]} is not {expected[:5]}"


def draw_call(number):
    """Return the table and the call of a number; the number alone decides."""
    rng = random.Random(number)
    table = draw_table(rng)
    return table, rng.choices(list(DOORS), list(DOORS.values()))[0](rng, table)


def execute(number):
    """Make one call; say "scored", "refused", or what is wrong, and what it was."""
    table, call = draw_call(number)
    about = f"call {number}"
    before = [np.array(part, copy=True) for part in (table.X, table.y)]
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            with time_limit(SECONDS):
                about = f"call {number}, {table.wrong or 'a good table'} ({type(table.given).__name__}): {next(call)}"
                next(call, None)
        except InputError as error:
            text = str(error)
            how = "refused" if "\n" not in text and len(text) > 10 else f"refused in an odd way: {text!r}"
        except AssertionError as error:
            how = f"wrong: {error}"
        except _OutOfTimeError:
            how = f"no answer within {SECONDS} s of processor time"
        except Exception:
            how = traceback.format_exc(limit=-3).replace("\n", " | ")
        else:
            how = "scored"
    if not all(
        np.array_equal(*pair, equal_nan=pair[0].dtype.kind == "f")
        for pair in zip(before, (table.X, table.y), strict=True)
    ):
        how = "the table was changed"
    return how, about


def run(n, seed, folder):
    """Make `n` calls, numbered from `1000 * seed`."""
    outcome = Outcome("calls of the Python API")
    for number in range(1000 * seed, 1000 * seed + n):
        outcome.add(*execute(number))
    outcome.notes.append(f"seed {seed}; {outcome.scored:,} answers computed again")
    return outcome


if __name__ == "__main__":
    import sys

    print(run(int(sys.argv[2]), int(sys.argv[1]), None))
