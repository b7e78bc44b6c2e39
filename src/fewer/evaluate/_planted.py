"""Checks of methods: planted worthless features, shuffled targets, and how scores of features agree with models.

Chen, chapter 5: irrelevant features are random; redundant ones are noisy copies of real features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from fewer.contracts import Criterion, PredictiveScorer, Ranker, Resources, Run, Search, SearchSpace
from fewer.criteria import KNN, RANN, LeastSquares, NaiveBayes
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem, column_number
from fewer.search import Forward

# How an irrelevant feature is drawn: standard normal, 0 or 1, or a number of equally likely values.
Draw = Literal["continuous", "binary"] | int
# Signal-to-noise ratios of the copies of each of the three best features.
COPIES = (10.0, 50.0, 80.0)


@dataclass(frozen=True, eq=False)
class Planted:
    """A problem with features added behind its own.

    Parameters
    ----------
    problem : Problem
        The rows, with the added features last.
    source : int array of shape (n_features,)
        For a noisy copy, the column that it copies; its own number for an original feature; −1 for an irrelevant one.

    See Also
    --------
    plant : Makes one.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> planted = plant(problem, np.random.default_rng(0), irrelevant=2)
    >>> planted.kept(np.array([0, 2, 1, 3])), planted.chance()
    (array([0, 1, 1, 2]), array([0.5, 1. , 1.5, 2. ]))
    """

    problem: Problem
    source: IntArray

    @property
    def added(self) -> BoolArray:
        """Which columns were added."""
        return self.source != np.arange(len(self.source))

    @property
    def n_original(self) -> int:
        """How many features the problem had."""
        return int((~self.added).sum())

    def kept(self, order: NDArray[Any]) -> IntArray:
        """Count the added features among the first 1, 2, … of an order (best first).

        Parameters
        ----------
        order : int array of shape (n_features,)
            The features, best first.

        Returns
        -------
        int array of shape (n_features,)
            A count for each size.
        """
        return np.cumsum(self.added[order])

    def chance(self) -> FloatArray:
        """Return what a random order keeps in the mean among its first 1, 2, … features.

        Returns
        -------
        array of shape (n_features,)
            A mean count for each size.
        """
        n_features = len(self.source)
        return np.arange(1, n_features + 1) * self.added.sum() / n_features


def plant(
    problem: Problem,
    rng: np.random.Generator,
    *,
    irrelevant: int | Sequence[Draw] = 0,
    redundant: Mapping[str | int, Sequence[float]] | None = None,
) -> Planted:
    """Add irrelevant and redundant features.

    Parameters
    ----------
    problem : Problem
        The rows.
    rng : Generator
        Draws the features.
    irrelevant : int or list, default=0
        How many standard normal features, or how each is drawn: "continuous", "binary", or a number of equally
        likely values.
    redundant : dict, optional
        For features (names or positions), the signal-to-noise ratios of their copies: variance of the feature over
        variance of the added normal noise. A copy of a nominal feature has one of its cells in 1 + ratio drawn anew
        from the column. Missing cells stay missing.

    Returns
    -------
    Planted
        The wider problem, and what each column is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> planted = plant(problem, np.random.default_rng(0), irrelevant=["binary", 4], redundant={2: [10, 50]})
    >>> planted.problem.names[4:], planted.source
    (('irrelevant1', 'irrelevant2', 'x2~10', 'x2~50'), array([ 0,  1,  2,  3, -1, -1,  2,  2]))
    """
    problem = problem.as_dense()
    draws: Sequence[Draw] = ["continuous"] * irrelevant if isinstance(irrelevant, int) else irrelevant
    columns = [_irrelevant(draw, problem.n_samples, rng) for draw in draws]
    names = [f"irrelevant{number}" for number in range(1, len(columns) + 1)]
    kinds: list[Any] = ["numeric"] * len(columns)
    source = [-1] * len(columns)
    levels = dict(problem.levels)
    for feature, ratios in (redundant or {}).items():
        column = column_number(feature, problem.names, "redundant")
        for ratio in ratios:
            if ratio <= 0:
                raise InputError(f"A signal-to-noise ratio of {ratio} is asked for; give a number above 0.")
            if column in problem.levels:
                levels[problem.n_features + len(columns)] = problem.levels[column]
            columns.append(_noisy_copy(problem.X[:, column], ratio, bool(problem.nominal[column]), rng))
            names.append(f"{problem.names[column]}~{ratio:g}")
            kinds.append(problem.kinds[column] if problem.nominal[column] else "numeric")
            source.append(column)
    wider = replace(
        problem,
        X=np.column_stack([problem.X, *columns]),
        names=(*problem.names, *_unused(names, problem.names)),
        kinds=(*problem.kinds, *kinds),
        levels=levels,
    )
    return Planted(wider, np.array([*range(problem.n_features), *source]))


@dataclass(frozen=True, eq=False)
class PlantedCounts:
    """How many added features each ranking keeps, round by round.

    Parameters
    ----------
    names : tuple of str
        The rankers.
    kept : array of shape (n_rankers, n_rounds, n_features)
        Added features among the first 1, 2, … of the order.
    n_original, n_added : int
        How many features there were, and how many were planted.

    See Also
    --------
    planted_counts : Makes one.

    Examples
    --------
    >>> counts = PlantedCounts(("Fisher",), np.array([[[0, 1, 1, 2]]]), n_original=2, n_added=2)
    >>> counts.at(2), counts.at()
    ({'Fisher': array([1.])}, {'Fisher': array([1.])})
    """

    names: tuple[str, ...]
    kept: IntArray
    n_original: int
    n_added: int

    @property
    def mean(self) -> FloatArray:
        """Mean over the rounds, (n_rankers, n_features)."""
        return self.kept.mean(axis=1)

    @property
    def chance(self) -> FloatArray:
        """What a random order keeps in the mean."""
        return np.arange(1, self.kept.shape[2] + 1) * self.n_added / (self.n_original + self.n_added)

    def chance_band(self, share: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return the bounds between which the count of one random order lies with a probability of at least `share`.

        Parameters
        ----------
        share : float, default=0.9
            The probability.

        Returns
        -------
        low, high : arrays of shape (n_features,)
            Counts for each size.
        """
        sizes = np.arange(1, self.kept.shape[2] + 1)
        draw = hypergeom(self.n_original + self.n_added, self.n_added, sizes)
        return draw.ppf((1 - share) / 2), draw.ppf((1 + share) / 2)

    def at(self, size: int | None = None) -> dict[str, FloatArray]:
        """Return the counts of each round among the first features; as many as there were at first if not given.

        Parameters
        ----------
        size : int, optional
            How many leading features to look at.

        Returns
        -------
        dict of str to array of shape (n_rounds,)
            By ranker.
        """
        place = (self.n_original if size is None else size) - 1
        return {name: counts[:, place].astype(np.float64) for name, counts in zip(self.names, self.kept, strict=True)}


def planted_counts(
    rankers: Mapping[str, Ranker],
    problem: Problem,
    *,
    irrelevant: int | Sequence[Draw] = 0,
    redundant: Mapping[str | int, Sequence[float]] | None = None,
    n_rounds: int = 5,
    rng: np.random.Generator,
    resources: Resources | None = None,
) -> PlantedCounts:
    """Plant features anew in each round, rank, and count how many stay among the first.

    Parameters
    ----------
    rankers : dict of str to Ranker
        Who ranks.
    problem : Problem
        The rows.
    irrelevant : int or list, default=0
        As in `plant`.
    redundant : dict, optional
        As in `plant`.
    n_rounds : int, default=5
        How often to plant and rank.
    rng : Generator
        Draws the features, and whatever rankers draw.
    resources : Resources, optional
        Threads and memory.

    Returns
    -------
    PlantedCounts
        Added features among the first of each order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fewer.rankers import Fisher
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> counts = planted_counts({"Fisher": Fisher()}, problem, irrelevant=6, rng=np.random.default_rng(0))
    >>> counts.at(), float(counts.chance[3])
    ({'Fisher': array([0., 0., 0., 0., 0.])}, 2.4)
    """
    kept: dict[str, list[IntArray]] = {name: [] for name in rankers}
    for draw in rng.spawn(n_rounds):
        planted = plant(problem, draw, irrelevant=irrelevant, redundant=redundant)
        for name, ranker in rankers.items():
            ranking = ranker.rank(
                planted.problem, np.random.default_rng(draw.integers(2**63)), resources or Resources()
            )
            kept[name].append(planted.kept(ranking.order))
    return PlantedCounts(tuple(rankers), np.array(list(kept.values())), planted.n_original, int(planted.added.sum()))


def planted_selection(
    choose: Callable[[Problem], NDArray[Any]],
    problem: Problem,
    best: Sequence[int],
    n_random: int,
    rng: np.random.Generator,
) -> dict[str, int]:
    """Plant random columns and noisy copies of the best features, select again, and count what is selected.

    Parameters
    ----------
    choose : callable
        Takes the wider problem and returns which of its features it selects, as truth values.
    problem : Problem
        The rows.
    best : sequence of int
        Which features get three noisy copies each.
    n_random : int
        How many standard normal columns to add.
    rng : Generator
        Draws the columns.

    Returns
    -------
    dict
        `random`, `copies` and `columns`: how many there are of each, the last with both; `random_selected`,
        `copies_selected` and `selected`: how many of them were selected.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0, 3], [1, 9], [10, 4], [11, 8]], [0, 0, 1, 1])
    >>> found = planted_selection(lambda wider: wider.X[0] == 0, problem, [0], 4, np.random.default_rng(0))
    >>> found["random"], found["copies"], found["columns"], found["selected"]
    (4, 3, 9, 1)
    """
    planted = plant(problem, rng, irrelevant=n_random, redundant={int(column): COPIES for column in best})
    selected, is_random = np.asarray(choose(planted.problem), dtype=bool), planted.source < 0
    kinds = {"random": is_random, "copies": planted.added & ~is_random}
    return {
        **{kind: int(which.sum()) for kind, which in kinds.items()},
        **{f"{kind}_selected": int(selected[which].sum()) for kind, which in kinds.items()},
        "columns": len(selected),
        "selected": int(selected.sum()),
    }


def luck_of_best(problem: Problem) -> float:
    """Return about how far above chance the best single feature scores by luck, where no feature carries information.

    Of p scores that vary about the same mean, the best is about √(2 ln p) standard deviations above it. With n rows
    the standard deviation of accuracy is √(b (1 − b) / n), b the share of the most frequent class; that of a
    correlation is 1 / √n, and R² is its square. A search of subsets takes several such steps, each by the same rows:
    `search_overfitting` measures all of them.

    Parameters
    ----------
    problem : Problem
        The rows.

    Returns
    -------
    float
        A share of rows that are right, or of R².

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((200, 50)), np.arange(200) % 2)
    >>> round(luck_of_best(problem), 3)
    0.099
    """
    steps = 2.0 * np.log(max(problem.n_features, 2))
    if problem.task != "classification":
        return float(min(steps / problem.n_samples, 1.0))
    most = float(np.bincount(problem.y).max()) / problem.n_samples
    return float(min(np.sqrt(steps * most * (1.0 - most) / problem.n_samples), 1.0 - most))


@dataclass(frozen=True)
class Overfitting:
    """What a search believes of targets that nothing can predict.

    Parameters
    ----------
    believed : float
        The mean score of the chosen subsets on the searched rows.
    fresh : float
        Their mean score on other rows.
    n_rows, n_features : int
        How many rows were searched, and how many features.

    Examples
    --------
    >>> round(Overfitting(0.75, 0.5, 60, 100).gap, 2)
    0.25
    """

    believed: float
    fresh: float
    n_rows: int
    n_features: int

    @property
    def gap(self) -> float:
        """By how much the search flatters itself."""
        return self.believed - self.fresh


def search_overfitting(
    problem: Problem,
    *,
    criterion: Criterion | None = None,
    search: Search | None = None,
    simulated: bool = False,
    n_rounds: int = 5,
    rng: np.random.Generator,
    resources: Resources | None = None,
) -> Overfitting:
    """Will a search overfit here? Shuffle the target, search one half of the rows, and score the other (Loughrey, 8.1).

    Nothing can be learnt of a shuffled target, so whatever the search believes beyond the score on other rows is
    overfitting: that of this many rows and these features, with their own distributions and correlations.

    Parameters
    ----------
    problem : Problem
        The rows.
    criterion : Criterion, optional
        Nearest neighbors if left out.
    search : Search, optional
        Forward selection if left out.
    simulated : bool, default=False
        Search independent normal columns of the same shape instead of these features. Where that overfits more, the
        features are fewer than they seem, because they repeat each other or have few values.
    n_rounds : int, default=5
        How often to shuffle and search.
    rng : Generator
        Shuffles, and whatever criterion and search draw.
    resources : Resources, optional
        Threads and memory.

    Returns
    -------
    Overfitting
        Mean scores.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(60, 30))
    >>> found = search_overfitting(Problem.from_arrays(noise, np.arange(60) % 2), rng=np.random.default_rng(0))
    >>> found.gap > 0.1
    True
    """
    criterion, search, resources = criterion or KNN(), search or Forward(), resources or Resources()
    scores = []
    for draw in rng.spawn(n_rounds):
        table = problem.as_dense()
        if simulated:
            table = Problem.from_arrays(draw.normal(size=table.X.shape), table.y, task=problem.task)
        shuffled = replace(table, y=problem.y[draw.permutation(problem.n_samples)], classes=problem.classes)
        rows = draw.permutation(problem.n_samples)
        halves = np.sort(rows[: len(rows) // 2]), np.sort(rows[len(rows) // 2 :])
        train, test = shuffled.take(halves[0]), shuffled.take(halves[1])
        run = Run(criterion, train, search, SearchSpace.of(problem.n_features), draw, resources=resources)
        trace = run.under(None)
        scorer = criterion.bind(train, draw, resources)
        if not isinstance(scorer, PredictiveScorer):
            raise InputError(f"{criterion} does not predict rows; choose a criterion that does, such as KNN().")
        scores.append((trace.best_score, scorer.grade(scorer.predict(trace.best, test.X), test)))
    believed, fresh = np.mean(scores, axis=0)
    return Overfitting(float(believed), float(fresh), problem.n_samples // 2, problem.n_features)


def _irrelevant(draw: Draw, n_rows: int, rng: np.random.Generator) -> FloatArray:
    if draw == "continuous":
        return rng.normal(size=n_rows)
    n_values = 2 if draw == "binary" else draw
    if not isinstance(n_values, int | np.integer) or n_values < 2:
        raise InputError(
            f"An irrelevant feature {draw!r} is not known; give 'continuous', 'binary' or a number above 1."
        )
    return rng.integers(0, n_values, n_rows).astype(np.float64)


def _noisy_copy(column: FloatArray, ratio: float, nominal: bool, rng: np.random.Generator) -> FloatArray:
    present = ~np.isnan(column)
    if nominal:
        copy = column.copy()
        redrawn = present & (rng.random(len(column)) < 1.0 / (1.0 + ratio))
        copy[redrawn] = rng.choice(column[present], int(redrawn.sum()))
        return copy
    spread = float(column[present].std()) if present.any() else 0.0
    return np.asarray(column + rng.normal(size=len(column)) * spread / np.sqrt(ratio))


def _unused(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    used = set(taken)
    out: list[str] = []
    for name in names:
        while name in used:
            name += "'"
        used.add(name)
        out.append(name)
    return out


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
    return Agreement(np.array(scores), {name: np.array(shares) for name, shares in accuracies.items()})


def _usual(problem: Problem) -> dict[str, Criterion]:
    models: dict[str, Criterion] = {"nearest neighbors": KNN("auto"), "random-weight network": RANN()}
    if problem.task == "classification":
        models["naive Bayes"] = NaiveBayes()
    models["linear model"] = LeastSquares()
    return models
