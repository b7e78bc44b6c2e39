"""How good is a ranking's beginning? Performance against the number of leading features (Chen, section 5.2).

There are two classes, and five folds: one to test on, one for validation, three to train on. Rankers see training and
validation rows; so do evaluators, which learn on the leading features and are judged on the test rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.preprocessing import StandardScaler

from fewer.contracts import Ranker, Ranking, Resources
from fewer.models import GMLVQClassifier
from fewer.parallel import run_tasks
from fewer.problem import BoolArray, FloatArray, IntArray, Problem, mask_of
from fewer.rankers import GMLVQRelevance
from fewer.roc import auroc
from fewer.validate import assign_folds
from fewer_papers._support_vectors import grid_scores

Rows = tuple[FloatArray, IntArray]
"""Cells and class codes."""

N_FOLDS = 5
ORIGINAL = "original Omega"
"""Evaluator's name for the model that made the ranking, used without learning anew."""


@dataclass(frozen=True, eq=False)
class Round:
    """Rows of one round: three fifths to train on, one for validation, one to test on."""

    train: IntArray
    validation: IntArray
    test: IntArray

    @property
    def seen(self) -> IntArray:
        """Training and validation rows."""
        return np.sort(np.concatenate([self.train, self.validation]))


def rounds_of_five(problem: Problem, n_rounds: int, rng: np.random.Generator) -> list[Round]:
    """Split the rows into five stratified folds, again and again; each fold is tested on once, the next validates.

    Parameters
    ----------
    problem : Problem
        The rows.
    n_rounds : int
        How many rounds, five from each shuffle.
    rng : Generator
        Shuffles the rows.

    Returns
    -------
    list of Round
        Training, validation and test rows of each.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((20, 1)), np.arange(20) % 2)
    >>> [len(part) for part in vars(rounds_of_five(problem, 5, np.random.default_rng(0))[0]).values()]
    [12, 4, 4]
    """
    rounds: list[Round] = []
    while len(rounds) < n_rounds:
        folds = assign_folds(problem, N_FOLDS, rng) % N_FOLDS
        for fold in range(N_FOLDS):
            validation = folds == (fold + 1) % N_FOLDS
            test = folds == fold
            rounds.append(Round(*(np.flatnonzero(part) for part in (~test & ~validation, validation, test))))
    return rounds[:n_rounds]


class Evaluator(Protocol):
    """Learns on training and validation rows and scores test rows, higher for the second class."""

    def __call__(self, train: Rows, validation: Rows, X_test: FloatArray) -> FloatArray:
        """Return scores of the test rows."""


@dataclass(frozen=True)
class GMLVQEvaluator:
    """GMLVQ, learned on the training rows and stopped by the validation rows; or on both, to the end.

    Parameters
    ----------
    alpha : float or "auto", default=0.0
        Entropy force, as in `fewer.models.GMLVQClassifier`.
    stop : bool, default=True
        Stop by the validation rows.
    max_iter : int, default=150
        Steps at the most.
    n_iter_no_change : int or None, default=20
        Steps without an improvement after which it stops.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([0, 0, 1, 1])
    >>> scores = GMLVQEvaluator(max_iter=5)(rows, rows, np.array([[0.5], [10.5]]))
    >>> bool(scores[0] < scores[1])
    True
    """

    alpha: float | Literal["auto"] = 0.0
    stop: bool = True
    max_iter: int = 150
    n_iter_no_change: int | None = 20

    def __call__(self, train: Rows, validation: Rows, X_test: FloatArray) -> FloatArray:
        """Return scores of the test rows."""
        model = GMLVQClassifier(
            alpha=self.alpha, max_iter=self.max_iter, n_iter_no_change=self.n_iter_no_change, random_state=0
        )
        if self.stop:
            model.fit(*train, X_val=validation[0], y_val=validation[1])
        else:
            model.fit(*_together(train, validation))
        return np.asarray(model.decision_function(X_test))


@dataclass(frozen=True)
class SVMEvaluator:
    """RBF support vector machine on standardized features.

    C and γ are those with the best AUC on the validation rows after fitting the training rows; then both are fitted.
    γ is given in units of 1 / number of features.

    Parameters
    ----------
    C : tuple of float
        The penalties to choose from.
    gamma : tuple of float
        The kernel widths to choose from.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([0, 0, 1, 1])
    >>> scores = SVMEvaluator(C=(1.0,))(rows, rows, np.array([[0.5], [10.5]]))
    >>> bool(scores[0] < scores[1])
    True
    """

    C: tuple[float, ...] = (1.0, 10.0, 100.0)
    gamma: tuple[float, ...] = (0.1, 0.5, 2.0)

    def __call__(self, train: Rows, validation: Rows, X_test: FloatArray) -> FloatArray:
        """Return scores of the test rows."""
        grid = [(c, gamma / X_test.shape[1]) for c in self.C for gamma in self.gamma]
        with config_context(skip_parameter_validation=True):
            grades = _areas(validation[1], _svm_scores(grid, train, validation[0])) if len(grid) > 1 else np.zeros(1)
            best = grid[int(np.nanargmax(grades))] if np.isfinite(grades).any() else grid[0]
            return _svm_scores([best], _together(train, validation), X_test)[0]


def _together(train: Rows, validation: Rows) -> Rows:
    return np.vstack([train[0], validation[0]]), np.concatenate([train[1], validation[1]])


def _svm_scores(grid: list[tuple[float, float]], rows: Rows, X_new: FloatArray) -> list[FloatArray]:
    """Return the scores of new rows by a machine for each C and γ of a grid, all on the same standardized rows."""
    scaler = StandardScaler().fit(rows[0])
    return grid_scores(scaler.transform(rows[0]), rows[1], scaler.transform(X_new), grid)


@dataclass(frozen=True, eq=False)
class Curves:
    """Area under the ROC curve against the number of leading features.

    Parameters
    ----------
    sizes : int array
        Numbers of features.
    auc : dict of str to dict of str to array of shape (n_rounds, n_sizes)
        By evaluator and ranker.
    orders : dict of str to int array of shape (n_rounds, n_features)
        By ranker: the features of each round, best first.

    See Also
    --------
    size_curves : Measures them.

    Examples
    --------
    >>> auc = {"Bayes": {"Fisher": np.array([[0.9, 0.8]]), "Relief": np.array([[0.7, 0.8]])}}
    >>> Curves(np.array([1, 2]), auc, {}).dominance("Bayes")
    {'Fisher': 75.0, 'Relief': 25.0}
    """

    sizes: IntArray
    auc: dict[str, dict[str, FloatArray]]
    orders: dict[str, IntArray]

    def mean(self, evaluator: str) -> dict[str, FloatArray]:
        """Return the mean curve of each ranker.

        Parameters
        ----------
        evaluator : str
            A key of `auc`.

        Returns
        -------
        dict of str to array of shape (n_sizes,)
            By ranker.
        """
        return {name: np.nanmean(values, axis=0) for name, values in self.auc[evaluator].items()}

    def dominance(self, *evaluators: str) -> dict[str, float]:
        """Return the percentage of sizes at which each ranker's mean curve is the highest; ties are shared.

        Curves of further evaluators compete as well, under the names of both.

        Parameters
        ----------
        *evaluators : str
            Keys of `auc`.

        Returns
        -------
        dict of str to float
            By ranker.
        """
        curves = self.mean(evaluators[0])
        for other in evaluators[1:]:
            curves |= {f"{ranker} {other}": curve for ranker, curve in self.mean(other).items()}
        table = np.array(list(curves.values()))
        best = table >= table.max(axis=0) - 1e-12
        return dict(zip(curves, (100.0 * (best / best.sum(axis=0)).mean(axis=1)).tolist(), strict=True))

    def mean_ranks(self) -> dict[str, FloatArray]:
        """Return each feature's mean place, from 1, in the orders of each ranker.

        Returns
        -------
        dict of str to array of shape (n_features,)
            By ranker.
        """
        return {name: (np.argsort(orders, axis=1) + 1).mean(axis=0) for name, orders in self.orders.items()}


def size_curves(
    rankers: Mapping[str, Ranker],
    evaluators: Mapping[str, Evaluator],
    problem: Problem,
    *,
    sizes: Sequence[int],
    n_rounds: int = 5,
    rng: np.random.Generator,
    n_jobs: int = 1,
) -> Curves:
    """Measure rankings by what evaluators make of their first features.

    A ranker that learns with validation rows (`GMLVQRelevance`) learns on the training rows and stops by the others.
    Its model also scores the test rows itself, on the leading features and without learning anew: that curve stands
    under the evaluator `ORIGINAL`.

    Parameters
    ----------
    rankers : dict of str to Ranker
        Who ranks the features, on training rows.
    evaluators : dict of str to Evaluator
        Who predicts the test rows.
    problem : Problem
        Two classes.
    sizes : list of int
        Numbers of features.
    n_rounds : int, default=5
        How often to split and rank.
    rng : Generator
        For the splits and whatever rankers draw.
    n_jobs : int, default=1
        Rounds at a time.

    Returns
    -------
    Curves
        The areas, by evaluator, ranker, round and size.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewer.rankers import Fisher
    >>> problem = Problem.from_arrays(*load_breast_cancer(return_X_y=True))
    >>> machine = SVMEvaluator(C=(1.0,), gamma=(0.5,))
    >>> rng = np.random.default_rng(0)
    >>> curves = size_curves({"Fisher": Fisher()}, {"SVM": machine}, problem, sizes=[5, 30], n_rounds=1, rng=rng)
    >>> curves.mean("SVM")["Fisher"].round(1)
    array([1., 1.])
    """
    seeds = rng.integers(2**63, size=n_rounds)
    tasks = [(part, int(seed)) for part, seed in zip(rounds_of_five(problem, n_rounds, rng), seeds, strict=True)]
    shared = (rankers, evaluators, problem, list(sizes))
    results = list(run_tasks(_one_round, tasks, Resources(n_jobs), shared=shared))
    areas: dict[str, dict[str, FloatArray]] = {}
    for evaluator, ranker in results[0][0]:
        table = np.array([by_pair[evaluator, ranker] for by_pair, _ in results])
        areas.setdefault(evaluator, {})[ranker] = table
    orders = {name: np.array([order[name] for _, order in results]) for name in rankers}
    return Curves(np.array(sizes), areas, orders)


def _one_round(
    shared: tuple[Mapping[str, Ranker], Mapping[str, Evaluator], Problem, list[int]], part: Round, seed: int
) -> tuple[dict[tuple[str, str], list[float]], dict[str, IntArray]]:
    rankers, evaluators, problem, sizes = shared
    train, validation, test = (problem.take(rows) for rows in (part.train, part.validation, part.test))
    areas: dict[tuple[str, str], list[float]] = {}
    orders: dict[str, IntArray] = {}
    known: dict[tuple[str, bytes], float] = {}
    for ranker_name, ranker in rankers.items():
        ranking, model = rank_seen(ranker, train, validation, problem.take(part.seen), np.random.default_rng(seed))
        orders[ranker_name] = ranking.order
        subsets = [mask_of(ranking.order[:size], problem.n_features) for size in sizes]
        for name, evaluator in evaluators.items():
            for mask in subsets:
                key = (name, mask.tobytes())
                if key not in known:
                    scores = evaluator(_on(train, mask), _on(validation, mask), test.X[:, mask])
                    known[key] = auc(test.y, scores)
                areas.setdefault((name, ranker_name), []).append(known[key])
        if model is not None:
            areas[ORIGINAL, ranker_name] = [auc(test.y, model.scores(test.X, mask)) for mask in subsets]
    return areas, orders


def rank_seen(
    ranker: Ranker, train: Problem, validation: Problem, seen: Problem, rng: np.random.Generator
) -> tuple[Ranking, Any]:
    """Rank with the given split where the ranker can learn with one; else on all rows seen."""
    if isinstance(ranker, GMLVQRelevance):
        return ranker.rank_with(train, validation, rng)
    return ranker.rank(seen, rng, Resources()), None


def auc(y: IntArray, scores: FloatArray) -> float:
    """Return the area under the ROC curve; NaN where only one class occurs."""
    return auroc(y, scores) if len(np.unique(y)) == 2 else float("nan")


def _areas(y: IntArray, scores: Sequence[FloatArray]) -> FloatArray:
    """Return the area of each scoring of the same rows. Ranking them all at once takes a fraction of the time."""
    positive = y == 1
    n_pairs = positive.sum() * (~positive).sum()
    if n_pairs == 0:
        return np.full(len(scores), np.nan)
    won = rankdata(np.array(scores), axis=1)[:, positive].sum(axis=1) - positive.sum() * (positive.sum() + 1) / 2
    return np.asarray(won / n_pairs)


def _on(problem: Problem, mask: BoolArray) -> Rows:
    """Return the rows of a problem in some of its columns."""
    return np.ascontiguousarray(problem.X[:, mask]), problem.y
