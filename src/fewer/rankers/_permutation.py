"""What held-out rows lose when a column is shuffled (Breiman 2001)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.metrics import check_scoring
from sklearn.utils._param_validation import HasMethods, Interval

from fewer.contracts import Ranker, Ranking, Resources
from fewer.parallel import run_tasks
from fewer.problem import FloatArray, IntArray, Problem
from fewer.rankers._models import fit_model, parts_of
from fewer.validate._folds import CV_OBJECT


class Permutation(Ranker):
    """Loss of score on held-out rows when a feature is shuffled, averaged over folds and repeats.

    A model is fitted to the training rows of each fold; on the fold's other rows each column is shuffled in turn. Per
    fold these are the values of scikit-learn's `permutation_importance`. The model may be anything that predicts.

    Read more in the guide: :doc:`/methods/models`.

    Parameters
    ----------
    estimator : estimator, optional
        Logistic or ridge regression by default.
    scoring : str or callable, optional
        As in scikit-learn; the estimator's own score if left out.
    n_repeats : int, default=5
        How often each column is shuffled in each fold.
    cv : int, splitter or None, default=5
        Folds; None fits and shuffles all rows, which flatters columns that were learnt by heart.
    group_above : float or None, default=None
        Columns whose rank correlation exceeds this, in size, are shuffled as one group, and each gets what the group
        loses: of two copies a model needs only one, so that alone each seems worthless.

    Notes
    -----
    A score below 0 means that the rows are told better without the column, by chance. Nominal columns and missing cells
    are shuffled as they are, before the model's preparation sees them. Row weights go to `fit`, where it takes them,
    and to the scoring; row groups stay together. The ranking's `extra` holds the standard deviation over folds as
    `spread`, and with groups the number of each column's as `group`.

    See Also
    --------
    Importance : What the model says of itself.

    References
    ----------
    L. Breiman, Random forests, Machine Learning 45, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> X, y = load_iris(return_X_y=True)
    >>> fewer.RankSelector(Permutation(), n_features_to_select=2, random_state=0).fit(X, y).support_
    array([False, False,  True,  True])
    """

    command_name = "permutation"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "scoring": [str, callable, None],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "cv": CV_OBJECT,
        "group_above": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        scoring: Any = None,
        n_repeats: int = 5,
        cv: Any = 5,
        group_above: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.scoring = scoring
        self.n_repeats = n_repeats
        self.cv = cv
        self.group_above = group_above

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        parts = parts_of(problem, self.cv, rng)
        model_seed = int(rng.integers(2**31))
        seeds = rng.integers(2**31, size=len(parts)).tolist()
        groups = np.arange(problem.n_features)
        if self.group_above is not None:
            groups = correlated_groups(problem, self.group_above)
        tasks = [(part.train, part.test, seed) for part, seed in zip(parts, seeds, strict=True)]
        shared = (self, problem, groups, model_seed)
        found = np.array(list(run_tasks(_losses, tasks, resources, shared=shared)))
        spread = found.std(axis=0, ddof=1) if len(found) > 1 else np.zeros(problem.n_features)
        extra = {"spread": spread} | ({} if self.group_above is None else {"group": groups})
        return Ranking.by_score(found.mean(axis=0), **extra)


def _losses(
    shared: tuple[Permutation, Problem, IntArray, int], train: IntArray, test: IntArray, seed: int
) -> FloatArray:
    ranker, problem, groups, model_seed = shared
    model = fit_model(ranker.estimator, problem.take(train), model_seed)
    return shuffle_losses(model, problem.take(test), groups, ranker.scoring, ranker.n_repeats, seed)


def shuffle_losses(model: Any, test: Problem, groups: IntArray, scoring: Any, n_repeats: int, seed: int) -> FloatArray:
    """Return the mean loss of score of a fitted model when columns of one group are shuffled together.

    Parameters
    ----------
    model : fitted estimator
    test : Problem
        Rows to shuffle.
    groups : int array of shape (n_features,)
        Number of the group of each column.
    scoring : str, callable or None
    n_repeats : int
    seed : int
        Shuffles are those of scikit-learn's `permutation_importance` with this `random_state`.

    Returns
    -------
    array of shape (n_features,)
    """
    scorer = check_scoring(model, scoring=scoring)
    weights = {} if test.sample_weight is None else {"sample_weight": test.sample_weight}
    whole = scorer(model, test.X, test.y, **weights)
    shuffle_seed = np.random.RandomState(seed).randint(np.iinfo(np.int32).max + 1)
    losses = np.zeros(test.n_features)
    for group in np.unique(groups):
        columns = np.flatnonzero(groups == group)
        random, rows = np.random.RandomState(shuffle_seed), np.arange(test.n_samples)
        shuffled = test.X.copy()
        scores = []
        for _ in range(n_repeats):
            random.shuffle(rows)
            shuffled[:, columns] = shuffled[np.ix_(rows, columns)]
            scores.append(scorer(model, shuffled, test.y, **weights))
        losses[columns] = np.mean(whole - np.array(scores))
    return losses


def correlated_groups(problem: Problem, above: float) -> IntArray:
    """Number the groups of columns whose rank correlations exceed a bound, mean linkage; nominal columns stand alone.

    Parameters
    ----------
    problem : Problem
    above : float

    Returns
    -------
    int array of shape (n_features,)
    """
    filled = np.where(problem.missing, np.nanmedian(np.where(problem.constant, 0.0, problem.X), axis=0), problem.X)
    ranks = np.array([rankdata(column) for column in filled.T])
    alone = problem.nominal | problem.constant
    ranks = ranks - ranks.mean(axis=1, keepdims=True)
    length = np.sqrt((ranks**2).sum(axis=1))
    length[length == 0] = 1.0
    near = np.abs((ranks / length[:, None]) @ (ranks / length[:, None]).T)
    near[alone] = near[:, alone] = 0.0
    if problem.n_features < 2:
        return np.zeros(problem.n_features, dtype=np.int64)
    apart = np.clip(1.0 - near, 0.0, 1.0)
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart, checks=False), "average")
    return np.asarray(fcluster(tree, 1.0 - above, "distance"), dtype=np.int64) - 1
