from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.metrics import mutual_info_score

import fewer
from fewer.contracts import Resources
from fewer.criteria import CFS
from fewer.models import MDLPDiscretizer
from fewer.problem import Problem


def merit(mask, relevance, alike):
    """k r̄_cf / √(k + k (k − 1) r̄_ff)."""
    used = np.flatnonzero(mask)
    k = len(used)
    between = np.mean([alike(i, j) for i, j in combinations(used, 2)]) if k > 1 else 0.0
    return k * np.mean([relevance(f) for f in used]) / np.sqrt(k + k * (k - 1) * between)


def uncertainty(one, other):
    own = mutual_info_score(one, one) + mutual_info_score(other, other)
    return 2 * mutual_info_score(one, other) / own if own else 0.0


def scored(problem, masks):
    return CFS().bind(problem, np.random.default_rng(0), Resources()).score(masks)


def masks_of(p, n=40):
    masks = np.random.default_rng(2).random((n, p)) < 0.4
    masks[0], masks[1] = False, True
    return masks


def test_classes_by_symmetrical_uncertainty():
    X, y = load_wine(return_X_y=True)
    codes = MDLPDiscretizer().fit(X, y).transform(X).T
    masks = masks_of(X.shape[1])
    truth = [
        merit(m, lambda f: uncertainty(codes[f], y), lambda i, j: uncertainty(codes[i], codes[j])) for m in masks[1:]
    ]
    found = scored(Problem.from_arrays(X, y), masks)
    assert found[0] == 0.0
    assert found[1:] == pytest.approx(truth)


def test_quantities_by_correlation():
    X, y = load_diabetes(return_X_y=True)
    r = np.abs(np.corrcoef(X.T, y))
    masks = masks_of(X.shape[1])
    truth = [merit(m, lambda f: r[f, -1], lambda i, j: r[i, j]) for m in masks[1:]]
    assert scored(Problem.from_arrays(X, y, task="regression"), masks)[1:] == pytest.approx(truth)


def test_a_subset_scores_the_same_whatever_was_asked_before():
    X, y = load_wine(return_X_y=True)
    problem = Problem.from_arrays(X, y)
    masks = masks_of(X.shape[1])
    assert [scored(problem, mask[None])[0] for mask in masks] == scored(problem, masks).tolist()


def test_iris_best_first_keeps_the_petals_as_weka_does():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    assert fewer.SubsetSelector(CFS(), fewer.search.BestFirst()).fit(X, y).support_.tolist() == [0, 0, 1, 1]
