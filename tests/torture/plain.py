"""Answers scored again by a plain way: a few obvious lines, no search, no kernels of ours where that can be."""

from __future__ import annotations

import math

import numpy as np

from fewer.io import read_table
from torture.options import OPTIONS

READING = {
    "--exclude": "exclude", "--nominal": "nominal", "--numeric": "numeric", "--missing": "missing",
    "--groups": "groups", "--weights": "sample_weight", "--time": "time", "--schema": "schema",
    "--encoding": "encoding", "--decimal": "decimal",
}  # fmt: skip
ONE_NAME = {"--groups", "--weights", "--time", "--schema", "--encoding", "--decimal"}
ASKED = {
    "--method": "method", "--criterion": "criterion", "--search": "search", "--control": "control",
    "--ranker": "ranker", "--scoring": "scoring", "--rare": "rare", "--memory": "memory",
}  # fmt: skip


def options_in(arguments):
    """Return the options that were typed, by their long names; the last one counts."""
    known = {word: option for option in OPTIONS[arguments[0]] for word in option.words}
    found, words = {}, iter(arguments[1:])
    for word in words:
        if word in known:
            option = known[word]
            found[option.name] = word if option.is_flag else next(words)
    return found


def reread(path, arguments):
    """Read the table as the command did, all of it."""
    from fewer.run.request import names_of

    options = options_in(arguments)
    more = {
        word: options[name] if name in ONE_NAME else names_of(options[name])
        for name, word in READING.items()
        if name in options
    }
    more["calendar"] = "--calendar" in options
    more["skip_rows_without_target"] = "--skip-rows-without-target" in options
    return read_table(path, options["--target"], task=options.get("--task"), **more), options


def check(path, arguments, content):
    """Say what is wrong with an answer (an empty text if nothing is), and whether it was scored again."""
    problem, options = reread(path, arguments)
    checks = {"rank": _check_ranking, "compare": _check_comparison, "select": _check_selection}
    return checks[arguments[0]](problem, options, content)


def is_bare(problem):
    """Whether there are numbers and nothing else."""
    return not np.isnan(problem.X).any() and not problem.nominal.any()


def _check_ranking(problem, options, content):
    rows, method = content["ranking"], options.get("--method")
    names = [row["feature"] for row in rows]
    if len(set(names)) != len(names) or not set(names) <= set(problem.names):
        return f"ranked {names} of {problem.names}", False
    if not {"--top", "--features"} & set(options) and set(names) != set(problem.names):
        return f"ranked {len(names)} of {problem.n_features} columns", False
    constant = {name for name, same in zip(problem.names, problem.constant, strict=True) if same}  # they come last
    scores = [row["score"] for row in rows if row["score"] is not None and row["feature"] not in constant]
    greedy = method in ("mifs", "mrmr", "jmi", "cmim", "disr", "jim")
    if not greedy and scores != sorted(scores, reverse=True):
        return f"scores are not in order: {scores}", False
    if method not in ("fisher", "f-test") or not is_bare(problem):
        return "", False
    for row in rows:
        x = problem.X[:, problem.names.index(row["feature"])]
        expected = fisher(x, problem.y) if method == "fisher" else f_value(x, problem.y, problem.task)
        if not math.isclose(row["score"], expected, rel_tol=1e-6, abs_tol=1e-9) and expected < 1e9:
            return f"{method} of {row['feature']}: {row['score']}, plainly {expected}", False
    return "", True


def f_value(x, y, task):
    """Return scikit-learn's F of one column."""
    from sklearn.feature_selection import f_classif, f_regression

    if x.min() == x.max():
        return 0.0
    found = (f_classif if task == "classification" else f_regression)(x[:, None], y)[0][0]
    return float(found) if math.isfinite(found) else math.inf


def fisher(x, y):
    """Spread between the classes over spread within."""
    if x.min() == x.max():
        return 0.0
    parts = [x[y == c] for c in np.unique(y)]
    between = sum(len(part) * (part.mean() - x.mean()) ** 2 for part in parts)
    within = sum(((part - part.mean()) ** 2).sum() for part in parts)
    return between / within if within > 0 else (math.inf if between > 0 else 0.0)


OTHER_SPLITS = {"--scoring", "--rare", "--groups", "--weights", "--time", "--repeats"}


def _check_comparison(problem, options, content):
    rows = [row for row in content["methods"] if row["name"] == "all features"]
    if not rows:
        return "all features are missing", False
    judged_plainly = "tree" in options.get("--estimators", "tree") and not OTHER_SPLITS & set(options)
    if not is_bare(problem) or problem.task != "classification" or not judged_plainly:
        return "", False
    from sklearn.tree import DecisionTreeClassifier

    from fewer.evaluate._nested import outer_splits

    seed = int(options.get("--seed", 0))
    scores, sizes = [], []
    for split in outer_splits(problem, int(options["--folds"]), 1, seed):
        tree = DecisionTreeClassifier(random_state=0).fit(problem.X[split.train], problem.y[split.train])
        scores.append(float((tree.predict(problem.X[split.test]) == problem.y[split.test]).mean()))
        sizes.append(len(split.test))
    expected = float(np.average(scores, weights=sizes))
    found = next(row["score"] for row in rows if row["estimator"] == "tree")
    if not math.isclose(found, expected, abs_tol=1e-9):
        return f"tree scores {found}, plainly {expected}", False
    return "", True


def _check_selection(problem, options, content):
    features, support = content["features"], content["support"]
    if sum(support) != len(features) or len(support) != problem.n_features:
        return f"support {support} of {features}", False
    if set(features) != {name for name, used in zip(problem.names, support, strict=True) if used}:
        return f"support {support} names other features than {features}", False
    if options.get("--features") == "1" and len(features) != 1 and "--calendar" not in options:
        return f"{len(features)} features instead of 1", False
    heldout = content["score_heldout"]
    is_share = problem.task == "classification" and options.get("--scoring") != "neg_log_loss"
    if heldout is not None and is_share and not 0 <= heldout <= 1:
        return f"held-out score {heldout}", False
    if options.get("--stream") == "--stream" or content["method"] == "parcel" or not features:
        return "", False
    return _score_again(problem, options, content)


def _score_again(problem, options, content):
    """Score the chosen subset alone, from the beginning."""
    from fewer.contracts import round_scores
    from fewer.run.planning import fewer_folds, make_plan, prepare_rows
    from fewer.run.request import Request
    from fewer.selectors import SubsetSelector

    words = {word: options[name] for name, word in ASKED.items() if name in options}
    problem, cv = fewer_folds(problem, int(options.get("--folds", 5)), options.get("--rare", "refuse"))
    request = Request(**words, seed=int(options.get("--seed", 0)), cv=cv)
    problem = prepare_rows(problem, request)
    selector = make_plan(problem, request).selector
    found, mask = content["score_search"], np.array(content["support"])
    if not isinstance(selector, SubsetSelector) or selector.control is not None or found is None:
        return _ranked_first(problem, options, mask)
    run = selector.prepare(problem)
    again = float(round_scores(np.asarray(run.scorer.score(mask[None])))[0])
    if not math.isclose(found, again, rel_tol=1e-9, abs_tol=1e-9) and abs(again) < 1e300:
        return f"score {found}, alone {again}", False
    one_by_one = options.get("--criterion") == "knn:cv=loo,scaling=none" and "--weights" not in options
    if one_by_one and "--groups" not in options and is_bare(problem) and problem.task == "classification":
        low, high = one_neighbor(problem.X[:, mask], problem.y)
        if not low - 1e-9 <= found <= high + 1e-9:
            return f"one neighbor scores {found}, plainly {low} to {high}", False
    return "", True


def _ranked_first(problem, options, mask):
    """Look whether a ranking chose the columns with the largest ratios."""
    by_fisher = "fisher" in (options.get("--method"), options.get("--ranker"))
    others = {"--control", "--include", "--weights", "--calendar", "--estimator", "--groups", "--time"}
    if not by_fisher or others & set(options) or not is_bare(problem) or problem.task == "regression" or mask.all():
        return "", False
    ratios = np.array([fisher(x, problem.y) for x in problem.X.T])
    worst, best = ratios[mask].min(), ratios[~mask].max()
    return ("", True) if worst >= best * (1 - 1e-6) - 1e-9 else (f"{worst} was chosen before {best}", False)


def one_neighbor(X, y):
    """Leave-one-out accuracy of the nearest neighbor: with ties at their worst, and at their best."""
    low = high = 0
    for i in range(len(y)):
        distances = ((X - X[i]) ** 2).sum(axis=1)
        distances[i] = np.inf
        near = y[distances <= distances.min() * (1 + 1e-6) + 1e-12 * (X**2).max()] == y[i]
        low, high = low + near.all(), high + near.any()
    return low / len(y), high / len(y)
