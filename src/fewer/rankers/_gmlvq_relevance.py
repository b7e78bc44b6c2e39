"""Relevance in generalized matrix LVQ: what a learned metric weighs, over many splits (Chen, chapter 4)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from scipy.stats import rankdata
from sklearn.utils._param_validation import Interval, StrOptions

from fewer.contracts import ROWS, Ranker, Ranking, Resources
from fewer.contracts.declaring import Count, NonNegative, Positive, Repeats, parameters
from fewer.models import GMLVQClassifier
from fewer.parallel import run_tasks
from fewer.problem import FloatArray, IntArray, Problem, Task, mask_of
from fewer.statistics.encoding import ScaledInputs
from fewer.validate import assign_folds

# Three to train on, one to stop by: the thesis's 3 : 1.
FOLDS = 4

# Relevances tie where these digits agree: copies of a column differ by what descent rounds, in parts of their size.
# Small ones are still told apart. A metric that has settled on one feature leaves the others next to nothing, but
# which of them it left last is an order too; as ties they would stand in the order of the columns.
DIGITS = 6


@parameters
class GMLVQRelevance(Ranker):
    """Rank features by the metric that a prototype classifier learns for them together.

    Rows are split into four stratified folds, again and again; `GMLVQClassifier` learns on three and stops where the
    fourth is told apart best. A feature's relevance is its diagonal element of the learned Λ, after removing what no
    distance can see; relevances sum to one. Features are ranked within each round, and the ranks averaged: how much
    they differ from round to round says how far the order can be trusted.

    Numbers are standardized on the training rows of each round. A nominal feature stands as its 0/1 level indicators,
    which together have unit variance; its relevance is the sum of theirs, each times its variance. Missing cells are
    left out of distances, row weights count, row groups stay together. Features that do not vary come last.

    Read more in the guide: :doc:`/methods/chen`.

    Parameters
    ----------
    n_rounds : int, default=20
        How many models.
    alpha : float or "auto", default="auto"
        Entropy force; "auto" is N² / 10, as the thesis has it. It works with early stopping only, which is built in.
    delete_rate : float or "auto", default=0.0
        Share of directions, those in which rows spread least, whose part in Ω is not counted; "auto" is chosen in each
        round by the validation rows.
    top : int, default=10
        How many leading features of each round `frequency` counts.
    n_prototypes, matrix, n_components, localized, max_iter, step_prototypes, step_matrix, eigenvalue_threshold
        As in `fewer.models.GMLVQClassifier`.

    Notes
    -----
    The ranking's scores are how many features one beats in the mean: N − mean rank. Its `extra` holds for each feature
    `relevance` (mean over rounds), `mean_rank` (1 is best), `spread` (standard deviation of the rank) and `frequency`
    (share of rounds in which it is among the `top`).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = fewer.RankSelector(GMLVQRelevance(n_rounds=4), n_features_to_select=3, random_state=0).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['worst radius', 'worst perimeter', 'worst concave points']
    >>> sorted(selector.extra_)
    ['frequency', 'mean_rank', 'relevance', 'spread']
    """

    command_name = "gmlvq"
    takes: ClassVar[frozenset[str]] = ROWS - {"time"}
    depends_on: ClassVar[frozenset[str]] = frozenset({"row order"})
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    n_rounds: Repeats = 20
    _: KW_ONLY
    alpha: NonNegative | Literal["auto"] = "auto"
    delete_rate: Annotated[float | Literal["auto"], Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})] = 0.0
    top: Count = 10
    n_prototypes: Repeats = 1
    matrix: Literal["full", "diagonal"] = "full"
    n_components: Count | Literal["auto"] = "auto"
    localized: bool = False
    max_iter: Count = 150
    step_prototypes: Positive = 0.5
    step_matrix: Positive = 0.1
    eigenvalue_threshold: Annotated[float, Interval(Real, 0, 1, closed="left")] = 1e-10

    def rank(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Ranking:
        parts = _rounds(problem, self.n_rounds, rng)
        seeds = rng.integers(2**31, size=len(parts))
        tasks = [(train, held, int(seed)) for (train, held), seed in zip(parts, seeds, strict=True)]
        models = run_tasks(_learned, tasks, resources, shared=(self, problem))
        return self.ranking_of([model.relevances for model in models if model is not None], problem.n_features)

    def rank_with(
        self, train: Problem, validation: Problem, rng: np.random.Generator
    ) -> tuple[Ranking, Relevance | None]:
        """Rank by one model that learns on some rows and stops by others.

        Parameters
        ----------
        train : Problem
            Rows to learn from.
        validation : Problem
            Rows that say when to stop.
        rng : Generator
            Draws the model's seed.

        Returns
        -------
        ranking : Ranking
            By the model's relevances.
        model : Relevance or None
            The model; None where only one class is left.
        """
        model = self.learn(train, validation, int(rng.integers(2**31)))
        return self.ranking_of([] if model is None else [model.relevances], train.n_features), model

    def learn(self, train: Problem, validation: Problem, seed: int = 0) -> Relevance | None:
        """Learn one metric, or none where only one class is left.

        Parameters
        ----------
        train : Problem
            Rows to learn from.
        validation : Problem
            Rows that say when to stop.
        seed : int, default=0
            Of the model.

        Returns
        -------
        Relevance or None
            The model, its table and the relevance of each feature.
        """
        if len(np.unique(train.y)) < 2:
            return None
        table = ScaledInputs.of(train.X, train.nominal & ~train.constant, train.row_weights)
        known = np.isin(validation.y, train.y)
        rows = {"X_val": table.encode(validation.X[known], np.nan), "y_val": validation.y[known]} if known.any() else {}
        names = GMLVQClassifier._parameter_constraints
        shared = {name: value for name, value in self.get_params(deep=False).items() if name in names}
        if self.delete_rate == "auto" and not rows:
            shared["delete_rate"] = 0.0
        model = GMLVQClassifier(**shared, standardize=False, random_state=seed)
        model.fit(table.encode(train.X, np.nan), train.y, sample_weight=train.sample_weight, **rows)
        shares = np.bincount(table.owner, model.relevances_ * table.variance)
        return Relevance(model, table, shares / (shares.sum() or 1.0))

    def ranking_of(self, rounds: list[FloatArray], n_features: int) -> Ranking:
        """Average the ranks of some rounds.

        Parameters
        ----------
        rounds : list of arrays of shape (n_features,)
            The relevances of each round.
        n_features : int
            How many features there are.

        Returns
        -------
        Ranking
            By mean rank.
        """
        shares = np.array(rounds) if rounds else np.zeros((1, n_features))
        ranks = np.array([rankdata(-_rounded(row)) for row in shares])
        mean = ranks.mean(axis=0)
        return Ranking.by_score(
            n_features - mean,
            relevance=shares.mean(axis=0),
            mean_rank=mean,
            spread=ranks.std(axis=0, ddof=1) if len(ranks) > 1 else np.zeros(n_features),
            frequency=(ranks <= self.top).mean(axis=0),
        )


@dataclass(frozen=True, eq=False)
class Relevance:
    """A model of one round: it classifies rows of the problem, on any features, without learning anew.

    Attributes
    ----------
    model : GMLVQClassifier
        On standardized columns, nominal features as level indicators.
    relevances : array of shape (n_features,)
        One for each feature of the problem.
    """

    model: GMLVQClassifier
    table: ScaledInputs
    relevances: FloatArray

    def scores(self, X: FloatArray, features: Any) -> FloatArray:
        """Score rows of the problem by the learned metric on some features ("original Omega").

        Two classes: how much nearer the second is. More: class probabilities.
        """
        mask = mask_of(features, len(self.relevances))
        model, rows = self.model.restricted(mask[self.table.owner]), self.table.encode(X, np.nan)
        return model.decision_function(rows) if len(model.classes_) == 2 else model.predict_proba(rows)


def _rounded(shares: FloatArray) -> FloatArray:
    """Round to some significant digits."""
    mantissas, exponents = np.frexp(shares)
    return np.ldexp(mantissas.round(DIGITS), exponents)


def _learned(shared: tuple[GMLVQRelevance, Problem], train: IntArray, held: IntArray, seed: int) -> Relevance | None:
    ranker, problem = shared
    return ranker.learn(problem.take(train), problem.take(held), seed)


def _rounds(problem: Problem, n_rounds: int, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    """Return training and validation rows of each round; a class too small for both goes to training."""
    rounds: list[tuple[IntArray, IntArray]] = []
    while len(rounds) < n_rounds:
        folds = assign_folds(problem, FOLDS, rng)
        for fold in np.unique(folds)[:FOLDS]:
            held = folds == fold
            held &= np.isin(problem.y, problem.y[~held])
            rounds.append((np.flatnonzero(~held), np.flatnonzero(held)))
    return rounds[:n_rounds]
