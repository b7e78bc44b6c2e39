import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fewer.contracts import Resources
from fewer.problem import Problem
from fewer.rankers import Fisher, GMLVQRelevance, ReliefF
from fewer_papers._curves import (
    ORIGINAL,
    Curves,
    GMLVQEvaluator,
    SVMEvaluator,
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


def bayes(train, validation, X_test):
    model = GaussianNB().fit(np.vstack([train[0], validation[0]]), np.concatenate([train[1], validation[1]]))
    return model.predict_proba(X_test)[:, 1]


def test_curves_are_what_the_design_says():
    """Repeat one evaluator by hand: rank on training and validation rows, fit on them, judge on the test rows."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = Problem.from_arrays(X, y)
    curves = size_curves(
        {"Fisher": Fisher()}, {"Bayes": bayes}, problem, sizes=[2, 7], n_rounds=3, rng=np.random.default_rng(4)
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


def test_the_support_vector_machine_takes_its_grid_point_by_the_validation_rows():
    problem = Problem.from_arrays(*load_breast_cancer(return_X_y=True))
    part = rounds_of_five(problem, 1, np.random.default_rng(2))[0]
    train, validation, test = (problem.take(rows) for rows in (part.train, part.validation, part.test))
    ours = SVMEvaluator((0.01, 10.0), (0.001, 0.7))((train.X, train.y), (validation.X, validation.y), test.X)

    def machine(C, gamma):
        return make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma / problem.n_features))

    grid = [(C, gamma) for C in (0.01, 10.0) for gamma in (0.001, 0.7)]
    models = [machine(*point).fit(train.X, train.y) for point in grid]
    areas = [roc_auc_score(validation.y, model.decision_function(validation.X)) for model in models]
    best = machine(*grid[int(np.argmax(np.round(areas, 12)))])
    seen = problem.take(np.concatenate([part.train, part.validation]))
    assert len({round(a, 12) for a in areas}) > 1
    assert ours == pytest.approx(best.fit(seen.X, seen.y).decision_function(test.X))


def test_dominance_counts_sizes_and_shares_ties():
    auc = {"a": np.array([[0.9, 0.8, 0.7, 0.5]]), "b": np.array([[0.8, 0.9, 0.7, 0.4]])}
    curves = Curves(np.array([1, 2, 3, 4]), {"any": auc}, {"a": np.array([[1, 0], [0, 1]])})
    assert curves.dominance("any") == {"a": 62.5, "b": 37.5}
    assert curves.mean_ranks()["a"].tolist() == [1.5, 1.5]


def test_processes_give_the_same_curves():
    problem = Problem.from_arrays(*load_breast_cancer(return_X_y=True))
    evaluators = {"Bayes": bayes, "GMLVQ": GMLVQEvaluator(max_iter=30)}

    def curves(n_jobs):
        return size_curves({"F": Fisher()}, evaluators, problem, sizes=[2], rng=np.random.default_rng(0), n_jobs=n_jobs)

    one, two = curves(1), curves(2)
    for name in evaluators:
        assert one.mean(name)["F"][0] > 0.9
        assert (one.auc[name]["F"] == two.auc[name]["F"]).all()


def test_rows_of_one_class_have_no_area():
    assert np.isnan(auc(np.zeros(5, dtype=int), np.arange(5.0)))
    X = np.random.default_rng(0).normal(size=(20, 2))
    train, only_one = (X, np.arange(20) % 2), (X[:3], np.zeros(3, dtype=int))
    first, last = (SVMEvaluator((C,), (0.1,))(train, only_one, X) for C in (1.0, 100.0))
    assert not np.allclose(first, last)
    assert SVMEvaluator((1.0, 100.0), (0.1,))(train, only_one, X) == pytest.approx(first)
