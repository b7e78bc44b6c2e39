import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewer.io import to_problem
from fewer.models import DiscreteNaiveBayes, LeastSquaresClassifier
from fewer.problem import InputError, Problem
from fewer.roc import Parcel, auroc, critical_ratio, expected_cost, fit_parcel, roc_hull

# Both cannot hold where a result depends on the number of rows: see test_equal_weights_are_none_and_copies_are_rows.
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "equal weights of any size are no weights, and copies are rows"
}


@parametrize_with_checks([Parcel(random_state=0)], expected_failed_checks=lambda estimator: EXPECTED)
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
    parcel = Parcel(method="scott", children=children, keep_last=keep_last, edge_points=0).fit_parts(train, validation)
    assert parcel.hull_.area == pytest.approx(area, abs=1e-9)
    ours = {(round(v.fpr, 9), round(v.tpr, 9)) for v in parcel.vertices_}
    truth = {(round(x, 9), round(y, 9)) for x, y, _ in points}
    assert ours - {(0.0, 0.0), (1.0, 1.0)} == truth - {(0.0, 0.0), (1.0, 1.0)}


def test_each_vertex_is_a_classifier_with_its_rates():
    problem = levels()
    # Together the last two columns tell what neither tells alone.
    problem.y[:] = np.where(np.arange(900) % 4 == 0, (problem.X[:, 4] > 1) ^ (problem.X[:, 5] > 1), problem.y)
    train, validation, calibration = parts(problem)
    tree = ("tree", DecisionTreeClassifier(max_depth=4, random_state=0))
    parcel = Parcel([DiscreteNaiveBayes(), tree], method="scott")
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
        bare = Parcel(method="scott", edge_points=0).fit_parts(train, validation)
        parcel = Parcel(method="scott").fit_parts(train, validation)
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
    one = Parcel(method="scott", max_passes=1).fit_parts(train, validation)
    both = [DiscreteNaiveBayes(), LogisticRegression()]
    two = Parcel(both, method="scott", max_passes=1).fit_parts(train, validation)
    assert two.hull_.area >= one.hull_.area
    assert two.n_evaluated_ == 2 * one.n_evaluated_
    grid = np.linspace(0, 1, 50)
    assert np.all(two.hull_.tpr_at(grid) >= one.hull_.tpr_at(grid) - 1e-12)


@pytest.mark.parametrize("children", ["floating", "stochastic"])
def test_other_children(children):
    train, validation, _ = parts(levels())
    settings = {"method": "scott", "children": children, "n_children": 12, "critical_ratio": 0.5, "random_state": 0}
    parcel = Parcel(**settings).fit_parts(train, validation)
    again = Parcel(**settings).fit_parts(train, validation)
    assert parcel.vertices_ == again.vertices_
    areas = [0.5, *(step.area for step in parcel.passes_)]
    assert np.all(np.diff(areas) >= 0)
    forward = Parcel(method="scott", critical_ratio=0.5).fit_parts(train, validation)
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
    with pytest.raises(InputError, match="there are 6 features"):
        Parcel(feature_costs=[1, 2]).fit_parts(train, validation)
    assert max(len(v.features) for v in Parcel(max_features=1).fit_parts(train, validation).vertices_) == 1


def _drawn(point, rows, seed):
    called = point.set_params(random_state=seed).predict(rows.X)
    return called[rows.y == 0].mean(), called[rows.y == 1].mean()


@pytest.mark.parametrize("choice", ["hash", "random"])
def test_an_operating_point_is_a_classifier_that_attains_it(choice):
    train, validation, calibration = parts(levels(n=6000))
    parcel = Parcel(method="scott").fit_parts(train, validation, calibration)
    parts_of = validation, calibration
    for limit in (0.02, 0.1, 0.3, 0.75):
        point = parcel.operating_point(max_fpr=limit, choice=choice)
        assert point.promised_.fpr <= limit
        called, seen = (np.mean([_drawn(point, rows, seed) for seed in range(30)], axis=0) for rows in parts_of)
        assert called == pytest.approx([limit, point.promised_.tpr], abs=0.02 if choice == "hash" else 0.006)
        # Expected is the mean over the draws, on the calibration rows.
        assert seen == pytest.approx([point.expected_.fpr.estimate, point.expected_.tpr.estimate], abs=0.02)
        assert point.expected_.tpr.low <= seen[1] <= point.expected_.tpr.high
        assert len(point.subsets_) <= 2


def test_it_needs_no_other_column_and_can_be_pickled():
    problem = levels(n=3000)
    parcel = Parcel(random_state=0).fit_problem(problem)
    point = parcel.operating_point(max_fpr=0.13)
    keys = np.arange(problem.n_samples)
    needed = np.isin(problem.names, point.features_)
    assert 0 < needed.sum() < problem.n_features
    point = parcel.operating_point(max_fpr=0.13, choice="hash")
    answer = point.predict(problem.X)
    for other in (np.nan, np.inf, 7.0):
        np.testing.assert_array_equal(point.predict(np.where(needed, problem.X, other)), answer)
    np.testing.assert_array_equal(point.predict(problem.X[:, needed]), answer)
    np.testing.assert_array_equal(point.predict(problem.X, keys), point.predict(problem.X[:, needed], keys))
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
    assert parcel.prevalence_ == pytest.approx(problem.y.mean())


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
        ({"cost_fp": -1.0}, "at least 0"),
        ({"cost_fp": 1.0, "prevalence": 1.5}, "between 0 and 1"),
        ({"cost_fp": 1.0, "guarantee": 1.5}, "probability between"),
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
    with pytest.raises(InputError, match="is not a class"):
        Parcel(pos_label="x").fit_problem(problem)
    with pytest.raises(InputError, match="is not a class of the target"):
        Parcel(pos_label=np.array([0, 1])).fit_problem(problem)
    assert named.prevalence_ == pytest.approx(swapped.prevalence_)


def test_groups_stay_together():
    problem = levels()
    groups = np.arange(900) // 9
    parcel = Parcel(random_state=0).fit(
        pd.DataFrame(problem.X.astype(int).astype(str)).add_prefix("f"), problem.y, groups=groups
    )
    assert parcel.hull_.area > 0.6
    with pytest.raises(InputError, match="each class is one group"):
        Parcel(random_state=0).fit(problem.X, problem.y, groups=problem.y)


def test_several_classes_with_one_object():
    X = np.random.default_rng(0).normal(size=(300, 3))
    y = np.array(["a", "b", "c"])[np.arange(300) % 3]
    X[:, 0] += 3.0 * (np.arange(300) % 3)
    parcel = Parcel(random_state=0).fit(X, y)
    assert list(parcel.parcels_) == ["a", "b", "c"]
    assert np.mean(parcel.predict(X) == y) > 0.7
    share = parcel.predict_proba(X)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    np.testing.assert_array_equal(parcel.classes_[share.argmax(axis=1)], parcel.predict(X))
    point = parcel.operating_point(label="b", max_fpr=0.2)
    assert set(point.predict(X).tolist()) <= {False, True}
    with pytest.raises(InputError, match="name the class to detect"):
        parcel.operating_point(max_fpr=0.2)
    one = Parcel(pos_label="b", random_state=0).fit(X, y)
    assert list(one.parcels_) == ["b"]
    assert one.operating_point(max_fpr=0.2).promised_.fpr <= 0.2
    with pytest.raises(InputError, match="'b' against all others"):
        one.predict(X)


def test_a_class_of_one_row_is_refused():
    with pytest.raises(InputError, match="1 row"):
        Parcel().fit_problem(to_problem(np.arange(8.0).reshape(4, 2), [0, 0, 0, 1]))
    with pytest.raises(InputError, match="Class 'c' has 1 row; .* Merge rare classes"):
        Parcel().fit_problem(to_problem(np.arange(20.0).reshape(10, 2), [*"ababababa", "c"]))


def test_a_question_that_makes_no_sense_is_refused_in_words():
    X, y = load_breast_cancer(return_X_y=True)
    parcel = Parcel(random_state=0, max_passes=1).fit(X[:, :4], y)
    for name in ("max_fpr", "guarantee", "cost_fp", "prevalence"):
        with pytest.raises(InputError, match=f"{name}='a': give a number"):
            parcel.operating_point(**({"max_fpr": 0.1} if name in ("guarantee", "prevalence") else {}), **{name: "a"})
    with pytest.raises(InputError, match="detects 1; fit one with pos_label=0"):
        parcel.operating_point(max_fpr=0.1, label=0)
    point = parcel.operating_point(max_fpr=0.1, label=1)
    assert str(point) == point.summary()
    assert str(clone(point)) == repr(clone(point))


def test_the_class_to_detect_is_asked_for_before_anything_is_fitted(monkeypatch):
    monkeypatch.setattr(Parcel, "fit_problem", None)
    with pytest.raises(InputError, match=r"Name the class to detect .* one of \['a', 'b', 'c'\]"):
        fit_parcel(to_problem(np.arange(12.0).reshape(6, 2), [*"abcabc"]), max_fpr=0.1)


def test_a_limit_that_new_rows_will_probably_exceed_is_said_to_be():
    X, y = load_breast_cancer(return_X_y=True)
    parcel = Parcel(random_state=0).fit(X, np.array(["malignant", "benign"])[y])
    plain, kept = (parcel.operating_point(max_fpr=0.05, guarantee=guarantee) for guarantee in (None, 0.95))
    assert plain.promised_.fpr <= 0.05 < plain.expected_.fpr.estimate
    assert "More than 5 % false positives are expected on new rows; a guarantee" in plain.summary()
    assert "of them positive (malignant):" in plain.summary()
    assert kept.notes_ == () or "More than" not in kept.summary()
    kept.guaranteed_ = replace(kept.guaranteed_, price=-0.02)
    assert "this costs 0.0 points" in kept.summary()


def test_parameters_are_checked():
    problem = levels()
    with pytest.raises(ValueError, match="children"):
        Parcel(children="sideways").fit(problem.X, problem.y)
    with pytest.raises(InputError, match="at least one classifier"):
        Parcel([]).fit(problem.X, problem.y)
    assert clone(Parcel(children="flip")).children == "flip"


def test_it_ranks_for_cross_validation_and_calls_by_probability():
    X, y = two_normals(400)
    parcel = Parcel(random_state=0)
    assert cross_val_score(parcel, X, y, scoring="roc_auc", cv=3).mean() > 0.7
    parcel.fit(X, y)
    odds, share = parcel.decision_function(X), parcel.predict_proba(X)
    np.testing.assert_allclose(np.log(share[:, 1] / share[:, 0]), odds)
    np.testing.assert_array_equal(parcel.predict(X), (odds > 0).astype(int))
    turned = Parcel(pos_label=0, random_state=0).fit(X, y)
    assert auroc(y, turned.decision_function(X)) > 0.75
    # Probabilities mean what they say: as many positives as they add up to.
    assert share[:, 1].mean() == pytest.approx(y.mean(), abs=0.05)


def two_normals(n, seed=0, noise=8):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, 2 + noise))
    X[:, :2] += 0.9 * y[:, None]
    return X, y


def test_it_does_not_lose_to_its_learner_on_all_features():
    gaps = []
    for seed in range(8):
        X, y = two_normals(500, seed, noise=20)
        fresh, truth = two_normals(4000, 100 + seed, noise=20)
        all_features = DiscreteNaiveBayes().fit(X, y).predict_log_proba(fresh)
        parcel = Parcel(random_state=seed).fit(X, y)
        gaps.append(
            auroc(truth, parcel.decision_function(fresh)) - auroc(truth, all_features[:, 1] - all_features[:, 0])
        )
    assert np.mean(gaps) > -0.002
    assert min(gaps) > -0.02


def test_stronger_learners_help_where_the_given_one_is_blind():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    y = ((X[:, 0] * X[:, 1] > 0) ^ (rng.random(1200) < 0.1)).astype(int)
    forest = ("tree", DecisionTreeClassifier(min_samples_leaf=20, random_state=0))
    alone = Parcel(random_state=0).fit(X[:600], y[:600])
    both = Parcel([DiscreteNaiveBayes(), forest], random_state=0).fit(X[:600], y[:600])
    tree = forest[1].fit(X[:600], y[:600])
    areas = [auroc(y[600:], model.decision_function(X[600:])) for model in (alone, both)]
    assert areas[0] < 0.6
    assert areas[1] > auroc(y[600:], tree.predict_proba(X[600:])[:, 1]) - 0.02
    assert both.n_evaluated_ < 400


def test_equal_weights_are_none_and_copies_are_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] + 0.7 * rng.normal(size=60) > 0).astype(int)

    def chances(rows, weights=None):
        fold = rows % 3
        splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
        parcel = Parcel(cv=splits, calibration=0.0, random_state=0)
        return parcel.fit(X[rows], y[rows], sample_weight=weights).predict_proba(X)

    plain = chances(np.arange(60))
    assert np.array_equal(chances(np.arange(60), np.full(60, 3.0)), plain)
    # Folds are the same and nothing is drawn: what is left is that there are more rows to learn from.
    assert not np.allclose(chances(np.repeat(np.arange(60), 3)), plain, atol=0.01)


def test_weights_of_rows_count_in_training_and_in_rates():
    X, y = two_normals(600)
    weight = np.where(np.arange(600) % 2, 1.0, 0.0)
    weighted = Parcel(random_state=0, method="scott", calibration=0.0).fit(X, y, sample_weight=weight)
    vertices = weighted.vertices_
    # A row of weight 0 changes no rate: what it says does not matter.
    other = X.copy()
    other[weight == 0] = 5.0
    again = Parcel(random_state=0, method="scott", calibration=0.0).fit(other, y, sample_weight=weight)
    assert [(v.features, round(v.fpr, 9), round(v.tpr, 9)) for v in again.vertices_] == [
        (v.features, round(v.fpr, 9), round(v.tpr, 9)) for v in vertices
    ]
    ones = Parcel(random_state=0).fit(X, y, sample_weight=np.ones(600))
    plain = Parcel(random_state=0).fit(X, y)
    np.testing.assert_allclose(ones.hull_.fpr, plain.hull_.fpr)
    np.testing.assert_allclose(ones.hull_.tpr, plain.hull_.tpr)
    unequal = Parcel(random_state=0).fit(X, y, sample_weight=1.0 + weight)
    with pytest.raises(InputError, match="count alike"):
        unequal.operating_point(max_fpr=0.2, guarantee=0.9)


def test_costs_by_name():
    X, y = two_normals(500)
    frame = pd.DataFrame(X).add_prefix("f")
    listed = Parcel(feature_costs=[9.0] + [0.0] * 9, cost_weight=1.0, random_state=0).fit(frame, y)
    named = Parcel(feature_costs={"f0": 9.0}, cost_weight=1.0, random_state=0).fit(frame, y)
    assert listed.vertices_ == named.vertices_
    assert not named.support_[0]
    with pytest.raises(InputError, match="'f77', not a feature"):
        Parcel(feature_costs={"f77": 1.0}).fit(frame, y)


def test_a_frame_may_leave_out_what_is_not_needed():
    X, y = two_normals(3000, noise=3)
    frame = pd.DataFrame(X).add_prefix("f")
    parcel = Parcel(max_features=2, random_state=0).fit(frame, y)
    needed = frame.columns[parcel.scoring_support_]
    assert len(needed) < 5
    np.testing.assert_array_equal(parcel.predict(frame[needed]), parcel.predict(frame))
    point = parcel.operating_point(max_fpr=0.1, choice="hash")
    few = frame[list(point.features_)[::-1]]
    np.testing.assert_array_equal(point.predict(few), point.predict(frame))
    np.testing.assert_array_equal(point.predict(pl.from_pandas(few)), point.predict(frame))
    with pytest.raises(InputError, match=f"lacks the required column '{point.features_[0]}'"):
        point.predict(frame.drop(columns=point.features_[0]))


def test_rows_that_cannot_be_told_apart_are_decided_by_a_draw():
    rng = np.random.default_rng(1)
    y = (rng.random(4000) < 0.5).astype(int)
    X = (rng.random((4000, 4)) < np.where(y[:, None] == 1, 0.6, 0.35)).astype(float)
    parcel = Parcel(random_state=0).fit(X, y)
    point = parcel.operating_point(max_fpr=0.05)
    assert point.choice == "random"
    assert "drawn at random" in point.summary()
    rates = [point.set_params(random_state=s).predict(X)[y == 0].mean() for s in range(10)]
    assert np.abs(np.array(rates) - point.expected_.fpr.estimate).max() < 0.03
    by_hash = parcel.operating_point(max_fpr=0.05, choice="hash")
    assert "need not keep the rates" in by_hash.notes_[0]
    X, y = two_normals(2000)
    assert Parcel(random_state=0).fit(X, y).operating_point(max_fpr=0.05).choice == "hash"


def test_a_constant_answer_is_taken_where_it_costs_less():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4 == 0
    parcel = Parcel(random_state=0).fit(rng.normal(size=(120, 5)), y.astype(int))
    point = parcel.operating_point(cost_fp=1, cost_fn=50)
    assert point.predict(rng.normal(size=(9, 5))).tolist() == [1] * 9
    assert point.cost_.low == point.cost_.estimate == pytest.approx(0.75)
    sure = parcel.operating_point(cost_fp=1, cost_fn=1, guarantee=0.95)
    assert sure.guaranteed_.limit <= 0.25 + 1e-12
    assert "an expected cost of at most 0.25," in sure.summary()


def test_a_bound_on_the_cost_is_kept():
    """The true cost, on many fresh rows, is above the bound in at most 5 % of fits."""
    above = inside = 0
    fresh, truth = two_normals(20_000, 999, noise=2)
    for seed in range(40):
        X, y = two_normals(300, seed, noise=2)
        parcel = Parcel(random_state=seed).fit(X, y)
        for point, bound in (
            (parcel.operating_point(cost_fp=1, cost_fn=3, guarantee=0.95, prevalence=0.4), True),
            (parcel.operating_point(cost_fp=1, cost_fn=3, prevalence=0.4), False),
        ):
            called = point.predict(fresh)
            cost = expected_cost(called[truth == 0].mean(), called[truth == 1].mean(), 1, 3, 0.4)
            if bound:
                assert point.guaranteed_.limit <= 0.6 + 1e-12
                above += bool(cost > point.guaranteed_.limit + 1e-9)
            else:
                inside += bool(point.cost_.low - 1e-9 <= cost <= point.cost_.high + 1e-9)
    assert above <= 5  # 2 expected, P(more than 5) = 0.014 at the nominal level
    assert inside >= 34  # 38 expected


@pytest.mark.parametrize("options", [{"method": "scott"}, {"max_features": 1}, {}])
def test_nothing_to_find_is_an_answer(options):
    rng = np.random.default_rng(3)
    y = (np.arange(200) % 4 == 0).astype(int)
    X = rng.normal(size=(200, 3))
    parcel = Parcel(random_state=0, **options).fit(X, y)
    assert set(parcel.predict(X).tolist()) <= {0, 1}
    assert parcel.predict_proba(X).shape == (200, 2)
    assert parcel.operating_point(cost_fp=1, cost_fn=1).predict(X).mean() < 0.5


def test_the_size_penalty_leaves_few_features_to_an_operating_point():
    X, y = load_breast_cancer(return_X_y=True)
    ours, free = (Parcel(random_state=0, **more).fit(X, y) for more in ({}, {"size_penalty": 0.0}))
    limits = (0.02, 0.05, 0.1, 0.2)
    needed = [np.median([len(p.operating_point(max_fpr=a).features_) for a in limits]) for p in (ours, free)]
    assert needed[0] <= 30 / 4 < needed[1]
    assert ours.support_.sum() <= 30 / 4
    nothing = Parcel(random_state=0, size_penalty=1000.0).fit(X, y)
    assert not nothing.support_.any()
    assert nothing.scoring_support_.any()  # the votes are those of the whole hull
    scott = [Parcel(method="scott", size_penalty=s, random_state=0).fit(X, y).vertices_ for s in (0.0, 0.5)]
    assert scott[0] == scott[1]
