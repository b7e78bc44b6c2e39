"""Does a score of single features go with what models make of them? (Nel, section 7.2, for any ranker and model.)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fewer.contracts import Criterion, PredictiveScorer, Ranker, Resources
from fewer.criteria import KNN, RANN, LeastSquares, NaiveBayes
from fewer.problem import FloatArray, InputError, Problem


@dataclass(frozen=True, eq=False)
class Agreement:
    """How a ranker's scores of single features go with the held-out scores of models that get one feature each.

    Parameters
    ----------
    scores : array of shape (n_splits, n_features)
        What the ranker says, from the training rows of each split.
    accuracies : dict of str to array of shape (n_splits, n_features)
        By model: accuracy, or R², on the other rows.

    See Also
    --------
    score_agreement : Measures it.

    Examples
    --------
    >>> found = Agreement(np.array([[1.0, 2, 3]]), {"tree": np.array([[0.5, 0.6, 0.7]])})
    >>> round(found.of_means("tree"), 3)
    1.0
    """

    scores: FloatArray
    accuracies: Mapping[str, FloatArray]

    def mean(self, model: str) -> float:
        """Return the correlation over the features, averaged over the splits.

        Parameters
        ----------
        model : str
            A key of `accuracies`.

        Returns
        -------
        float
            NaN where all features have one score, or one accuracy, in every split.
        """
        pairs = zip(self.scores, self.accuracies[model], strict=True)
        each = [np.corrcoef(pair)[0, 1] for pair in pairs if np.ptp(pair[0]) and np.ptp(pair[1])]
        return float(np.mean(each)) if each else float("nan")

    def of_means(self, model: str) -> float:
        """Return the correlation over the features of the means over the splits.

        Parameters
        ----------
        model : str
            A key of `accuracies`.

        Returns
        -------
        float
            NaN where all features have one mean.
        """
        means = self.scores.mean(axis=0), self.accuracies[model].mean(axis=0)
        return float(np.corrcoef(means)[0, 1]) if all(np.ptp(mean) for mean in means) else float("nan")


def score_agreement(
    ranker: Ranker,
    problem: Problem,
    models: Mapping[str, Criterion] | None = None,
    *,
    n_splits: int = 20,
    rng: np.random.Generator,
    resources: Resources | None = None,
) -> Agreement:
    """Correlate a ranker's scores with the held-out scores of models that get one feature each.

    Nel asks whether the link between mutual information and accuracy, seen with nearest neighbors and a network, is
    general. This asks it of any ranker and any models, on your rows.

    Read more in the guide: :doc:`/guide/which-method`.

    Parameters
    ----------
    ranker : Ranker
        Scores the features on two thirds of the rows.
    problem : Problem
        The rows.
    models : dict of str to Criterion, optional
        Criteria that predict, by name; `CrossValidated(estimator)` for a model of your own. By default nearest
        neighbors, a random-weight network, a linear model and, for classes, naive Bayes.
    n_splits : int, default=20
        Random splits.
    rng : Generator
        Draws them.
    resources : Resources, optional
        Threads and memory.

    Returns
    -------
    Agreement

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(120) % 2
    >>> problem = Problem.from_arrays(rng.normal(size=(120, 4)) + np.outer(y, [0, 1, 2, 3]), y)
    >>> from fewer.rankers import Fisher
    >>> found = score_agreement(Fisher(), problem, {"neighbors": KNN()}, n_splits=3, rng=rng)
    >>> found.of_means("neighbors") > 0.8
    True
    """
    resources = resources or Resources()
    models = _usual(problem) if models is None else models
    singles = np.eye(problem.n_features, dtype=bool)
    scores: list[FloatArray] = []
    accuracies: dict[str, list[list[float]]] = {name: [] for name in models}
    for _ in range(n_splits):
        order = rng.permutation(problem.n_samples)
        n_train = round(2 * problem.n_samples / 3)
        train, test = (problem.take(np.sort(rows)) for rows in (order[:n_train], order[n_train:]))
        scores.append(ranker.rank(train, rng, resources).scores)
        for name, criterion in models.items():
            scorer = criterion.bind(train, rng, resources)
            if not isinstance(scorer, PredictiveScorer):
                raise InputError(f"{name}: {type(criterion).__name__} does not predict; give a criterion that does.")
            accuracies[name].append([scorer.grade(scorer.predict(mask, test.X), test) for mask in singles])
    return Agreement(np.array(scores), {name: np.array(found) for name, found in accuracies.items()})


def _usual(problem: Problem) -> dict[str, Criterion]:
    models: dict[str, Criterion] = {"nearest neighbors": KNN("auto"), "random-weight network": RANN()}
    if problem.task == "classification":
        models["naive Bayes"] = NaiveBayes()
    models["linear model"] = LeastSquares()
    return models
