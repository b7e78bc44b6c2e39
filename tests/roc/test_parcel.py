import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewer.io import to_problem
from fewer.models import DiscreteNaiveBayes, LeastSquaresClassifier
from fewer.problem import InputError, Problem
from fewer.roc import Parcel, critical_ratio, one_vs_rest, roc_hull


@parametrize_with_checks([Parcel(random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def levels(seed=0, n=900, p=6):
    """Columns of a few levels, several of them weakly informative in different regions."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.integers(4, size=(n, p))
    for f in range(4):
        moved = rng.random(n) < 0.25 + 0.05 * f
        X[moved, f] = np.where(y[moved] == 1, f % 4, (f + 1) % 4)
    return Problem.from_arrays(X, y, kinds=["nominal"] * p)


def parts(problem):
    rows = np.arange(problem.n_samples)
    return problem.take(rows % 3 == 0), problem.take(rows % 3 == 1), problem.take(rows % 3 == 2)


def slow_parcel(train, validation, critical, keep_last, drops):
    """The report's pseudo-code with scikit-learn: all points of all children, one hull."""
    p = train.n_features
    n_positive = int(validation.y.sum())
    points, seen, masks_on_hull = [], set(), [()]
    old_area, old_points = 0.5, []
    while True:
        for mask in masks_on_hull:
            for f in range(p):
                child = tuple(sorted(set(mask) ^ {f}))
                if not child or child in seen or (not drops and f in mask):
                    continue
                seen.add(child)
                columns = list(child)
                model = CategoricalNB(min_categories=4).fit(train.X[:, columns].astype(int), train.y)
                scores = model.predict_joint_log_proba(validation.X[:, columns].astype(int))
                ratio = (scores[:, 1] - scores[:, 0]).round(5)
                fpr, tpr, _ = roc_curve(validation.y, ratio, drop_intermediate=False)
                points += [(x, y, child) for x, y in zip(fpr, tpr, strict=True)]
        hull = roc_hull([x for x, _, _ in points], [y for _, y, _ in points])
        new_points = [points[i] for i in hull.points if i >= 0]
        significant = critical_ratio(hull.area, old_area, n_positive, validation.n_samples - n_positive) > critical
        if not significant:
            return (hull.area, new_points) if keep_last else (old_area, old_points)
        old_area, old_points, points = hull.area, new_points, list(new_points)
        masks_on_hull = sorted({child for _, _, child in new_points}, key=lambda c: (len(c), c))


@pytest.mark.parametrize("children", ["forward", "flip"])
@pytest.mark.parametrize("keep_last", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_it_is_the_reports_loop(children, keep_last, seed):
    train, validation, _ = parts(levels(seed))
    area, points = slow_parcel(train, validation, 1.96, keep_last, children == "flip")
    parcel = Parcel(children=children, keep_last=keep_last, edge_points=0).fit_parts(train, validation)
    assert parcel.hull_.area == pytest.approx(area, abs=1e-9)
    ours = {(round(v.fpr, 9), round(v.tpr, 9)) for v in parcel.vertices_}
    truth = {(round(x, 9), round(y, 9)) for x, y, _ in points}
    assert ours - {(0.0, 0.0), (1.0, 1.0)} == truth - {(0.0, 0.0), (1.0, 1.0)}


def test_each_vertex_is_a_classifier_with_its_rates():
    problem = levels()
    # Together the last two columns tell what neither tells alone.
    problem.y[:] = np.where(np.arange(900) % 4 == 0, (problem.X[:, 4] > 1) ^ (problem.X[:, 5] > 1), problem.y)
    train, validation, calibration = parts(problem)
    parcel = Parcel([DiscreteNaiveBayes(), ("tree", DecisionTreeClassifier(max_depth=4, random_state=0))])
    parcel.fit_parts(train, validation, calibration)
    assert {vertex.algorithm for vertex in parcel.vertices_} >= {"DiscreteNaiveBayes", "tree", "constant"}
    line = parcel.held_out_problem(validation)
    np.testing.assert_allclose(line.fpr, parcel.hull_.fpr)
    np.testing.assert_allclose(line.tpr, parcel.hull_.tpr)
    assert line.area == pytest.approx(parcel.hull_.area)
    assert parcel.held_out(calibration.X, calibration.y).area == pytest.approx(
        parcel.held_out_problem(calibration).area
    )


def test_points_on_the_edges_change_nothing_on_validation_rows_and_help_on_others():
    rng = np.random.default_rng(0)
    y = np.arange(900) % 2
    X = rng.normal(size=(900, 3)) + 2.2 * y[:, None]
    gains = []
    for seed in range(12):
        rows = np.random.default_rng(seed).permutation(900)
        train, validation, other = (Problem.from_arrays(X[r], y[r]) for r in (rows[:200], rows[200:300], rows[300:]))
        bare = Parcel(edge_points=0).fit_parts(train, validation)
        parcel = Parcel().fit_parts(train, validation)
        extra = [v for v in parcel.vertices_ if v not in bare.vertices_]
        assert all(v.fpr == 0.0 or v.tpr == 1.0 for v in extra)
        assert [v for v in parcel.vertices_ if v in bare.vertices_] == bare.vertices_
        line = parcel.held_out_problem(validation)
        np.testing.assert_allclose([line.fpr, line.tpr], [parcel.hull_.fpr, parcel.hull_.tpr])
        assert parcel.hull_.area == pytest.approx(bare.hull_.area)
        gains.append(parcel.held_out_problem(other).area - bare.held_out_problem(other).area)
    assert len(extra) > 3
    assert np.mean(gains) > 0


def test_more_algorithms_and_more_children_never_make_a_smaller_first_hull():
    train, validation, _ = parts(levels())
    one = Parcel(max_passes=1).fit_parts(train, validation)
    two = Parcel([DiscreteNaiveBayes(), LogisticRegression()], max_passes=1).fit_parts(train, validation)
    assert two.hull_.area >= one.hull_.area
    assert two.n_evaluated_ == 2 * one.n_evaluated_
    grid = np.linspace(0, 1, 50)
    assert np.all(two.hull_.tpr_at(grid) >= one.hull_.tpr_at(grid) - 1e-12)


@pytest.mark.parametrize("children", ["floating", "stochastic"])
def test_other_children(children):
    train, validation, _ = parts(levels())
    settings = {"children": children, "n_children": 12, "critical_ratio": 0.5, "random_state": 0}
    parcel = Parcel(**settings).fit_parts(train, validation)
    again = Parcel(**settings).fit_parts(train, validation)
    assert parcel.vertices_ == again.vertices_
    areas = [0.5, *(step.area for step in parcel.passes_)]
    assert np.all(np.diff(areas) >= 0)
    forward = Parcel(critical_ratio=0.5).fit_parts(train, validation)
    if children == "floating":
        assert parcel.passes_[0].area >= forward.passes_[0].area
    assert parcel.hull_.area > 0.7


def test_threads_change_nothing():
    problem = levels()
    one = Parcel(random_state=0, n_jobs=1).fit_problem(problem)
    three = Parcel(random_state=0, n_jobs=3).fit_problem(problem)
    assert one.vertices_ == three.vertices_
    assert one.passes_ == three.passes_


def test_features_that_cost_must_earn_it():
    train, validation, _ = parts(levels())
    free = Parcel().fit_parts(train, validation)
    dear = Parcel(feature_costs=[0, 0, 5, 5, 5, 5], cost_weight=1.0).fit_parts(train, validation)
    assert {f for vertex in dear.vertices_ for f in vertex.features} <= {0, 1}
    assert len({f for vertex in free.vertices_ for f in vertex.features}) > 2
    with pytest.raises(InputError, match="6 finite numbers"):
        Parcel(feature_costs=[1, 2]).fit_parts(train, validation)
    assert max(len(v.features) for v in Parcel(max_features=1).fit_parts(train, validation).vertices_) == 1


@pytest.mark.parametrize("choice", ["hash", "random"])
def test_an_operating_point_is_a_classifier_that_attains_it(choice):
    train, validation, calibration = parts(levels(n=6000))
    parcel = Parcel().fit_parts(train, validation, calibration)
    for limit in (0.02, 0.1, 0.3, 0.75):
        point = parcel.operating_point(max_fpr=limit, choice=choice)
        assert point.promised_.fpr <= limit
        called = point.predict(validation.X)
        assert called[validation.y == 0].mean() == pytest.approx(limit, abs=0.025)
        assert called[validation.y == 1].mean() == pytest.approx(point.promised_.tpr, abs=0.03)
        seen = point.predict(calibration.X)
        assert point.expected_.fpr.estimate == pytest.approx(seen[calibration.y == 0].mean())
        assert point.expected_.tpr.low <= seen[calibration.y == 1].mean() <= point.expected_.tpr.high
        assert len(point.subsets_) <= 2


def test_it_needs_no_other_column_and_can_be_pickled():
    problem = levels(n=3000)
    parcel = Parcel(random_state=0).fit_problem(problem)
    point = parcel.operating_point(max_fpr=0.13)
    keys = np.arange(problem.n_samples)
    only = np.where(np.isin(problem.names, point.features_), problem.X, np.nan)
    np.testing.assert_array_equal(point.predict(only, keys), point.predict(problem.X, keys))
    again = pickle.loads(pickle.dumps(point))
    np.testing.assert_array_equal(again.predict(problem.X), point.predict(problem.X))
    whole = pickle.loads(pickle.dumps(parcel))
    np.testing.assert_array_equal(whole.predict(problem.X), parcel.predict(problem.X))


def test_costs_choose_the_cheapest_vertex():
    problem = levels(n=3000)
    parcel = Parcel(random_state=0).fit_problem(problem)
    careful = parcel.operating_point(cost_fp=20, cost_fn=1)
    eager = parcel.operating_point(cost_fp=1, cost_fn=20)
    assert careful.promised_.fpr < eager.promised_.fpr
    default = parcel.operating_point(cost_fp=1, cost_fn=1, prevalence=problem.y.mean())
    np.testing.assert_array_equal(parcel.predict(problem.X), default.predict(problem.X))
    assert parcel.prevalence_ == problem.y.mean()


def test_a_guarantee_costs_true_positives():
    problem = levels(n=3000)
    parcel = Parcel(random_state=0).fit_problem(problem)
    plain = parcel.operating_point(max_fpr=0.1)
    sure = parcel.operating_point(max_fpr=0.1, guarantee=0.95)
    surer = parcel.operating_point(max_fpr=0.1, guarantee=0.999)
    assert surer.promised_.tpr <= sure.promised_.tpr <= plain.promised_.tpr
    assert sure.guaranteed_.bound <= 0.1
    assert sure.guaranteed_.price == pytest.approx(plain.expected_.tpr.estimate - sure.expected_.tpr.estimate)
    assert "at most 10 % false positives, with probability 0.95" in sure.summary()
    assert sure.to_json()["guaranteed"]["max_fpr"] == 0.1
    assert plain.guaranteed_ is None


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({}, "either max_fpr"),
        ({"max_fpr": 0.1, "cost_fp": 1.0}, "either max_fpr"),
        ({"cost_fp": 1.0, "guarantee": 0.9}, "costs have none"),
        ({"max_fpr": 1.5}, "between 0 and 1"),
        ({"max_fpr": 0.001, "guarantee": 0.99}, "4603 are needed"),
    ],
)
def test_questions_that_have_no_answer(question, words):
    parcel = Parcel(random_state=0).fit_problem(levels())
    with pytest.raises(InputError, match=words):
        parcel.operating_point(**question)


def test_without_calibration_rows_nothing_is_guaranteed():
    parcel = Parcel(random_state=0, calibration=0.0).fit_problem(levels())
    assert parcel.operating_point(max_fpr=0.1).expected_.rows == "validation"
    with pytest.raises(InputError, match="calibration=0.2"):
        parcel.operating_point(max_fpr=0.1, guarantee=0.95)


def test_frames_with_levels_holes_and_text_labels():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(400) < 0.5, "ill", "well")
    color = np.where((y == "ill") ^ (rng.random(400) < 0.2), "red", "blue")
    frame = pl.DataFrame(
        {
            "color": [None if rng.random() < 0.1 else cell for cell in color.tolist()],
            "size": np.where(y == "ill", 1.0, 0.0) + rng.normal(size=400),
            "smoker": rng.random(400) < 0.5,
        }
    )  # fmt: skip
    parcel = Parcel(pos_label="ill", random_state=0).fit(frame, y)
    assert np.mean(parcel.predict(frame) == y) > 0.75
    one_row = parcel.predict(frame[:1])
    assert one_row[0] == parcel.predict(frame)[0]
    point = parcel.operating_point(max_fpr=0.2)
    np.testing.assert_array_equal(point.predict(frame), point.predict(frame.to_pandas()))
    assert parcel.feature_names_in_.tolist() == ["color", "size", "smoker"]
    mixed = Parcel([DiscreteNaiveBayes(), LeastSquaresClassifier()], random_state=0).fit(frame, y)
    assert np.mean(mixed.predict(frame) == y) > 0.75


def test_the_positive_class_is_a_matter_of_naming():
    problem = levels()
    named = Parcel(pos_label=0, random_state=0).fit_problem(problem)
    swapped = Parcel(random_state=0).fit_problem(Problem.from_arrays(problem.X, 1 - problem.y, kinds=problem.kinds))
    with pytest.raises(InputError, match="is no class"):
        Parcel(pos_label="x").fit_problem(problem)
    assert named.prevalence_ == pytest.approx(swapped.prevalence_)


def test_groups_stay_together():
    problem = levels()
    groups = np.arange(900) // 9
    parcel = Parcel(random_state=0).fit(
        pd.DataFrame(problem.X.astype(int).astype(str)).add_prefix("f"), problem.y, groups=groups
    )
    assert parcel.hull_.area > 0.6
    with pytest.raises(InputError, match="groups leave no row"):
        Parcel(random_state=0).fit(problem.X, problem.y, groups=problem.y)


def test_several_classes_are_refused_and_the_way_is_named():
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.arange(90) % 3
    with pytest.raises(InputError, match="one_vs_rest"):
        Parcel().fit(X, y)
    X[:, 0] += y
    detectors = one_vs_rest(Parcel(random_state=0), X, y)
    assert list(detectors) == [0, 1, 2]
    assert detectors[2].classes_.tolist() == [False, True]


def test_a_class_of_one_row_is_refused():
    with pytest.raises(InputError, match="1 row"):
        Parcel().fit_problem(to_problem(np.arange(8.0).reshape(4, 2), [0, 0, 0, 1]))


def test_parameters_are_checked():
    problem = levels()
    with pytest.raises(ValueError, match="children"):
        Parcel(children="sideways").fit(problem.X, problem.y)
    with pytest.raises(InputError, match="at least one classifier"):
        Parcel([]).fit(problem.X, problem.y)
    assert clone(Parcel(children="flip")).children == "flip"
