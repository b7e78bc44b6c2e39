"""Answers scored again by a plain way: a few obvious lines, no search, no kernels of ours where that can be."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from fewer.io import read_table

KEPT = {"--nominal", "--task", "--exclude", "--encoding", "--decimal"}


def reread(path, arguments):
    """Read the table as the command did."""
    options = dict(pairwise(arguments))
    more = {}
    if "--nominal" in options:
        more["nominal"] = [options["--nominal"]]
    if "--exclude" in options:
        more["exclude"] = [options["--exclude"]]
    return read_table(path, options["--target"], task=options.get("--task"), **more), options


def check(path, arguments, content):
    """Say what is wrong with an answer; an empty text if nothing is."""
    if arguments[0] == "inspect":
        return ""
    problem, options = reread(path, arguments)
    if arguments[0] == "rank":
        return _check_ranking(problem, options, content)
    if arguments[0] == "compare":
        return _check_comparison(problem, options, content)
    if arguments[0] == "select":
        return _check_selection(problem, options, content)
    return ""


def is_bare(problem):
    """Whether there are numbers and nothing else."""
    return not np.isnan(problem.X).any() and not problem.nominal.any()


def _check_ranking(problem, options, content):
    rows = content["ranking"]
    names = [row["feature"] for row in rows]
    if len(set(names)) != len(names) or not set(names) <= set(problem.names):
        return f"ranked {names} of {problem.names}"
    if "--top" not in options and set(names) != set(problem.names):
        return f"ranked {len(names)} of {problem.n_features} columns"
    constant = {name for name, same in zip(problem.names, problem.constant, strict=True) if same}  # they come last
    scores = [row["score"] for row in rows if row["score"] is not None and row["feature"] not in constant]
    greedy = options.get("-m") in ("mifs", "mrmr", "jmi", "cmim", "disr", "jim")
    if not greedy and scores != sorted(scores, reverse=True):
        return f"scores are not in order: {scores}"
    if options.get("-m") == "fisher" and is_bare(problem):
        for row in rows:
            x = problem.X[:, problem.names.index(row["feature"])]
            expected = fisher(x, problem.y)
            if not math.isclose(row["score"], expected, rel_tol=1e-6, abs_tol=1e-9) and expected < 1e12:
                return f"Fisher of {row['feature']}: {row['score']}, plainly {expected}"
    return ""


def fisher(x, y):
    """Spread between the classes over spread within."""
    if x.min() == x.max():
        return 0.0
    parts = [x[y == c] for c in np.unique(y)]
    between = sum(len(part) * (part.mean() - x.mean()) ** 2 for part in parts)
    within = sum(((part - part.mean()) ** 2).sum() for part in parts)
    return between / within if within > 0 else (math.inf if between > 0 else 0.0)


def _check_comparison(problem, options, content):
    rows = [row for row in content["methods"] if row["name"] == "all features"]
    if not rows:
        return "all features are missing"
    if not is_bare(problem) or problem.task != "classification" or "tree" not in options["-e"]:
        return ""
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
    return "" if math.isclose(found, expected, abs_tol=1e-9) else f"tree scores {found}, plainly {expected}"


def _check_selection(problem, options, content):
    features, support = content["features"], content["support"]
    if sum(support) != len(features) or len(support) != problem.n_features:
        return f"support {support} of {features}"
    if set(features) != {name for name, used in zip(problem.names, support, strict=True) if used}:
        return f"support {support} names other features than {features}"
    if options.get("--features") == "1" and len(features) != 1:
        return f"{len(features)} features instead of 1"
    heldout = content["score_heldout"]
    if heldout is not None and problem.task == "classification" and not 0 <= heldout <= 1:
        return f"held-out accuracy {heldout}"
    if content["score_search"] is None or content["method"] == "parcel" or not features:
        return ""
    return _score_again(problem, options, content)


def _score_again(problem, options, content):
    """Score the chosen subset alone, from the beginning."""
    from fewer.contracts import round_scores
    from fewer.planning import make_plan

    seed = int(options.get("--seed", 0))
    words = {word: options[f"--{word}"] for word in ("criterion", "search") if f"--{word}" in options}
    selector = make_plan(problem, options.get("-m", "auto") if not words else "auto", **words, seed=seed).selector
    run = selector.prepare(problem)
    mask = np.array(content["support"])
    again = float(round_scores(np.asarray(run.scorer.score(mask[None])))[0])
    found = content["score_search"]
    if not math.isclose(found, again, rel_tol=1e-9, abs_tol=1e-9) and abs(again) < 1e300:
        return f"score {found}, alone {again}"
    if (
        options.get("--criterion") == "knn:cv=loo,scaling=none"
        and is_bare(problem)
        and problem.task == "classification"
    ):
        low, high = one_neighbor(problem.X[:, mask], problem.y)
        if not low - 1e-9 <= found <= high + 1e-9:
            return f"one neighbor scores {found}, plainly {low} to {high}"
    return ""


def one_neighbor(X, y):
    """Leave-one-out accuracy of the nearest neighbor: with ties at their worst, and at their best."""
    low = high = 0
    for i in range(len(y)):
        distances = ((X - X[i]) ** 2).sum(axis=1)
        distances[i] = np.inf
        near = y[distances <= distances.min() * (1 + 1e-6) + 1e-12 * (X**2).max()] == y[i]
        low, high = low + near.all(), high + near.any()
    return low / len(y), high / len(y)
