"""A new component takes a few lines and works with every other whose needs it meets."""

import numpy as np
import pytest

from fewer import SubsetSelector
from fewer.contracts import (
    Criterion,
    IncompatibleError,
    Resources,
    Scorer,
    Search,
    SearchSpace,
)
from fewer.contracts.trace import Step, is_better
from fewer.control import Aggregate, EarlyStopping, Prefilter
from fewer.criteria import KNN, CrossValidated
from fewer.rankers import Fisher
from fewer.search import (
    PBIL,
    Annealing,
    Backward,
    BestFirst,
    BranchAndBound,
    Exhaustive,
    Floating,
    Forward,
    Genetic,
    PlusLTakeAwayR,
)
from making import make_problem


class Correlation(Criterion):
    """The toy criterion: squared correlations with the target, summed, less a price for each feature."""

    def __init__(self, price=0.05):
        self.price = price

    def bind(self, problem, rng, resources):
        return CorrelationScorer(problem, self.price)


class CorrelationScorer(Scorer):
    def __init__(self, problem, price):
        self.gains = np.array([np.corrcoef(column, problem.y)[0, 1] ** 2 for column in problem.X.T]) - price

    def score(self, masks):
        return masks @ self.gains


class Luck(Search):
    """The toy search: random subsets, the best one kept."""

    stochastic = True

    def __init__(self, tries=50):
        self.tries = tries

    def steps(self, scorer, space, rng, state):
        state = state or {"left": self.tries, "best": space.random(rng), "score": -np.inf}
        while state["left"]:
            mask = space.random(rng)
            score = float(scorer.score(mask[None])[0])
            if is_better(score, mask, state["score"], state["best"]):
                state.update(best=mask, score=score)
            state["left"] -= 1
            yield Step(mask, score, state["best"], state["score"])


class Fussy(Luck):
    needs = frozenset({"monotone"})


SEARCHES = [
    Exhaustive(),
    Forward(),
    Backward(),
    Floating(),
    Floating("backward"),
    PlusLTakeAwayR(),
    BestFirst(),
    Annealing(levels=5),
    Genetic(population=20, generations=20),
    PBIL(),
    Luck(),
]
CONTROLS = [None, Aggregate(n_runs=3), Prefilter(Fisher(), keep=4), Aggregate(n_runs=3, control=Prefilter(Fisher()))]


def named(component):
    return type(component).__name__


@pytest.mark.parametrize("search", SEARCHES, ids=named)
@pytest.mark.parametrize("control", CONTROLS, ids=named)
def test_toy_criterion_works_with_every_search_and_control(search, control, problem):
    selector = SubsetSelector(Correlation(), search, control=control, random_state=0)
    assert selector.fit(problem.X, problem.y).support_[:2].all()


@pytest.mark.parametrize("criterion", [KNN(), Correlation()], ids=named)
@pytest.mark.parametrize("control", CONTROLS, ids=named)
def test_toy_search_works_with_every_criterion_and_control(criterion, control, problem):
    selector = SubsetSelector(criterion, Luck(), control=control, random_state=0).fit(problem.X, problem.y)
    assert selector.support_.any()


def test_toy_search_with_cross_validated(problem):
    from sklearn.tree import DecisionTreeClassifier

    selector = SubsetSelector(CrossValidated(DecisionTreeClassifier(max_depth=2)), Luck(5), random_state=0)
    assert selector.fit(problem.X, problem.y).support_.any()


def test_unmet_needs_are_refused_in_one_sentence(problem):
    with pytest.raises(IncompatibleError, match="Fussy needs a criterion that never falls .*, and KNN is not monotone"):
        SubsetSelector(KNN(), Fussy()).fit(problem.X, problem.y)
    with pytest.raises(
        IncompatibleError, match="BranchAndBound needs a criterion that never falls .*, and Correlation"
    ):
        SubsetSelector(Correlation(), BranchAndBound(), n_features_to_select=2).fit(problem.X, problem.y)
    with pytest.raises(IncompatibleError, match="EarlyStopping needs a criterion that predicts rows, and Correlation"):
        SubsetSelector(Correlation(), Luck(), control=EarlyStopping()).fit(problem.X, problem.y)
    with pytest.raises(IncompatibleError, match="EarlyStopping needs a stochastic search.*, and Forward"):
        SubsetSelector(KNN(), Forward(), control=EarlyStopping()).fit(problem.X, problem.y)
    space = SearchSpace.of(problem.n_features, weight_levels=4)
    from fewer.contracts import Run

    for criterion, search, message in (
        (Correlation(), Annealing(), "Weighting needs a criterion that takes weights"),
        (KNN(), Forward(), "Forward moves on masks only"),
    ):
        with pytest.raises(IncompatibleError, match=message):
            Run(criterion, problem, search, space, np.random.default_rng(0), resources=Resources()).under(None)
    with pytest.raises(IncompatibleError, match="cannot be shortened"):
        Forward().shortened(0.5)


def test_regression_is_refused_by_a_classifier():
    from sklearn.linear_model import LogisticRegression

    rows = make_problem(task="regression")
    with pytest.raises(ValueError, match="Unknown label type"):
        SubsetSelector(CrossValidated(LogisticRegression()), Forward()).fit(rows.X, rows.y)
