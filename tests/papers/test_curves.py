import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fewer.contracts import Resources
from fewer.problem import InputError, Problem
from fewer.rankers import Fisher, GMLVQRelevance, ReliefF
from fewer_papers._curves import (
    ORIGINAL,
    Curves,
    EstimatorEvaluator,
    GMLVQEvaluator,
    SVMEvaluator,
    _scores,
    auc,
    rounds_of_five,
    size_curves,
)
from making import make_problem


def test_rounds_are_three_one_one_and_test_each_row_once_in_five():
    problem = make_problem(351)
    rounds = rounds_of_five(problem, 10, np.random.default_rng(0))
    for part in rounds:
        together = np.concatenate([part.train, part.validation, part.test])
        assert sorted(together) == list(range(351))
        assert {len(part.validation), len(part.test)} <= {70, 71}
        assert (part.seen == np.setdiff1d(np.arange(351), part.test)).all()
        assert abs(problem.y[part.test].mean() - 0.5) < 0.02
    assert sorted(np.concatenate([part.test for part in rounds[:5]])) == list(range(351))
    assert not np.array_equal(rounds[0].test, rounds[5].test)


def test_curves_are_what_the_design_says():
    """Repeat one evaluator by hand: rank on training and validation rows, fit on them, judge on the test rows."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = Problem.from_arrays(X, y)
    curves = size_curves(
        {"Fisher": Fisher()}, {"Bayes": GaussianNB()}, problem, sizes=[2, 7], n_rounds=3, rng=np.random.default_rng(4)
    )
    rng = np.random.default_rng(4)
    rng.integers(2**63, size=3)
    for number, part in enumerate(rounds_of_five(problem, 3, rng)):
        order = Fisher().rank(problem.take(part.seen), rng, Resources()).order
        assert (curves.orders["Fisher"][number] == order).all()
        for place, size in enumerate((2, 7)):
            columns = order[:size]
            model = GaussianNB().fit(X[part.seen][:, columns], y[part.seen])
            expected = roc_auc_score(y[part.test], model.predict_proba(X[part.test][:, columns])[:, 1])
            assert curves.auc["Bayes"]["Fisher"][number, place] == pytest.approx(expected)


def test_every_ranker_meets_every_evaluator_and_the_original_omega():
    problem = Problem.from_arrays(*load_breast_cancer(return_X_y=True))
    curves = size_curves(
        {"GMLVQ": GMLVQRelevance(), "ReliefF": ReliefF()},
        {"GMLVQ": GMLVQEvaluator(), "to the end": GMLVQEvaluator(stop=False), "SVM": SVMEvaluator((1.0,), (0.1, 0.5))},
        problem,
        sizes=[2, 10, 30],
        n_rounds=2,
        rng=np.random.default_rng(0),
    )
    assert set(curves.auc) == {"GMLVQ", "to the end", "SVM", ORIGINAL}
    assert set(curves.auc[ORIGINAL]) == {"GMLVQ"}
    for evaluator in curves.auc:
        for curve in curves.mean(evaluator).values():
            assert curve.shape == (3,)
            assert (curve > 0.9).all()
    for evaluator in ("GMLVQ", "SVM"):  # with all features the ranking does not matter
        last = [values[:, -1] for values in curves.auc[evaluator].values()]
        assert last[0] == pytest.approx(last[1])
    shares = curves.dominance("GMLVQ", ORIGINAL)
    assert set(shares) == {"GMLVQ", "ReliefF", f"GMLVQ {ORIGINAL}"}
    assert sum(shares.values()) == pytest.approx(100)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_the_support_vector_machine_takes_its_grid_point_by_the_validation_rows(load):
    problem = Problem.from_arrays(*load(return_X_y=True))
    part = rounds_of_five(problem, 1, np.random.default_rng(2))[0]
    train, validation, test = (problem.take(rows) for rows in (part.train, part.validation, part.test))
    ours = SVMEvaluator((0.01, 10.0), (0.001, 0.7))(train, validation, test.X, np.random.default_rng(0))

    def machine(C, gamma):
        return make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma / problem.n_features))

    def area(model):
        scores = model.decision_function(validation.X)
        if scores.ndim == 1:
            return roc_auc_score(validation.y, scores)
        return np.mean([roc_auc_score(validation.y == c, scores[:, c]) for c in range(3)])

    grid = [(C, gamma) for C in (0.01, 10.0) for gamma in (0.001, 0.7)]
    areas = [area(machine(*point).fit(train.X, train.y)) for point in grid]
    best = machine(*grid[int(np.argmax(np.round(areas, 12)))])
    seen = problem.take(np.concatenate([part.train, part.validation]))
    assert len({round(a, 12) for a in areas}) > 1
    assert ours == pytest.approx(best.fit(seen.X, seen.y).decision_function(test.X))


def test_dominance_counts_sizes_and_shares_ties():
    auc = {"a": np.array([[0.9, 0.8, 0.7, 0.5]]), "b": np.array([[0.8, 0.9, 0.7, 0.4]])}
    curves = Curves(np.array([1, 2, 3, 4]), {"any": auc}, {"a": np.array([[1, 0], [0, 1]])})
    assert curves.dominance("any") == {"a": 62.5, "b": 37.5}
    assert curves.mean_ranks()["a"].tolist() == [1.5, 1.5]


def test_three_classes_and_processes():
    problem = Problem.from_arrays(*load_iris(return_X_y=True))
    words = {"linear": make_pipeline(StandardScaler(), LogisticRegression()), "GMLVQ": GMLVQEvaluator(max_iter=30)}

    def curves(n_jobs):
        return size_curves({"F": Fisher()}, words, problem, sizes=[2], rng=np.random.default_rng(0), n_jobs=n_jobs)

    one, two = curves(1), curves(2)
    for name in words:
        assert one.mean(name)["F"][0] > 0.95
        assert (one.auc[name]["F"] == two.auc[name]["F"]).all()


def test_area_of_several_classes_is_the_mean_of_one_against_rest():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 3, 60), rng.random((60, 3))
    problem = Problem.from_arrays(np.zeros((60, 1)), y)
    chances = scores / scores.sum(axis=1, keepdims=True)
    expected = roc_auc_score(y, chances, multi_class="ovr")
    assert auc(y, chances, problem) == pytest.approx(expected)
    assert np.isnan(auc(np.zeros(5, dtype=int), scores[:5, 0], problem))


def test_what_cannot_be_measured_is_refused():
    problem = make_problem(30, 3)
    for sizes in ([0], [4]):
        with pytest.raises(InputError, match="A size of"):
            size_curves({"F": Fisher()}, {}, problem, sizes=sizes, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="two classes"):
        size_curves({}, {}, make_problem(task="regression"), sizes=[1], rng=np.random.default_rng(0))


class Model:
    """Gives what it was made with."""

    def __init__(self, **answers):
        for name, answer in answers.items():
            setattr(self, name, answer if name == "classes_" else lambda X, answer=answer: np.asarray(answer))


def test_one_score_a_row_for_two_classes_and_one_a_class_for_more():
    X = np.zeros((2, 1))
    assert _scores(Model(decision_function=[1.0, -1.0], predict_proba=[[0, 1], [1, 0]]), X, 2).tolist() == [1.0, -1.0]
    assert _scores(Model(predict_proba=[[0.3, 0.7], [0.6, 0.4]]), X, 2).tolist() == [0.7, 0.4]
    chances = [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]
    found = _scores(Model(decision_function=[[9.0] * 3] * 2, predict_proba=chances, classes_=[0, 1, 2]), X, 3)
    assert found.tolist() == chances
    seen = _scores(Model(decision_function=[2.0, -3.0], classes_=[0, 2]), X, 3)
    assert seen[:, [0, 2]].tolist() == [[-2.0, 2.0], [3.0, -3.0]]
    assert (seen[:, 1] < -3.0).all()  # never the winner


def test_areas_leave_out_what_does_not_occur():
    problem = Problem.from_arrays(np.zeros((6, 1)), [0, 1, 2, 0, 1, 2])
    scores = np.random.default_rng(0).random((4, 3))
    y = np.array([0, 0, 1, 1])
    truth = np.mean([roc_auc_score(y == code, scores[:, code]) for code in (0, 1)])
    assert auc(y, scores, problem) == pytest.approx(truth)
    assert np.isnan(auc(np.zeros(4, dtype=int), scores, problem))
    assert np.isnan(auc(np.zeros(4, dtype=int), scores[:, 0], problem))
    assert auc(y, scores[:, 1], problem) == pytest.approx(roc_auc_score(y, scores[:, 1]))


def test_an_estimator_gets_a_seed_from_the_generator_of_all_seeds():
    problem = make_problem(n_rows=20)
    seen = []

    class Seeded(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append(self.random_state)
            return super().fit(X, y, sample_weight)

    for _ in range(3):
        EstimatorEvaluator(Seeded())(problem, problem, problem.X, np.random.default_rng(5))
    assert seen == [np.random.default_rng(5).integers(2**31)] * 3
