import re

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import fewer
from fewer import AutoSelector
from fewer.problem import Problem
from fewer.selectors.auto._race import PathRace


def planted(kind, seed, n_rows=200, n_features=15):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, n_features))
    if kind == "product":
        return X, X[:, 2] * X[:, 9] > 0, [2, 9]
    if kind == "circle":
        return X, X[:, 4] ** 2 + X[:, 7] ** 2 < 0.5, [4, 7]
    signal = X[:, 1] + X[:, 5] - X[:, 11] + 0.3 * rng.normal(size=n_rows)
    return X, signal if kind == "quantity" else signal > 0, [1, 5, 11]


@pytest.mark.parametrize("kind", ["product", "circle", "sum", "quantity"])
def test_it_finds_what_was_planted_and_little_else(kind):
    X, y, signal = planted(kind, 1)
    selector = AutoSelector(random_state=0).fit(X, y)
    chosen = np.flatnonzero(selector.support_)
    assert set(signal) <= set(chosen)
    assert len(chosen) <= len(signal) + 2
    assert not selector.nothing_found_
    assert not set(signal) & set(selector.standins_)
    few, middle, many = (selector.choices_[prefer] for prefer in ("fewest", "balanced", "accuracy"))
    assert np.all(few <= middle)
    assert np.all(middle <= many)
    assert np.array_equal(selector.support_, middle)
    curve = selector.curve_
    place = int(np.flatnonzero(curve["size"] == curve["chosen"]["balanced"])[0])
    assert selector.score_ == curve["score"][place] > 0.5
    assert curve["loss"].argmin() >= place
    assert len(curve["size"]) == len(curve["score"]) == len(curve["standard_error"]) == len(curve["loss_error"])


@pytest.mark.parametrize("shape", [(60, 80), (150, 12)])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_noise_is_called_so_and_the_best_guess_is_kept(shape, task):
    rng = np.random.default_rng(5)
    X = rng.normal(size=shape)
    y = np.arange(shape[0]) % 2 if task == "classification" else rng.normal(size=shape[0])
    with pytest.warns(fewer.FewerWarning, match="No signal found"):
        selector = AutoSelector(random_state=0, budget=1.0).fit(X, y)
    assert selector.nothing_found_
    assert selector.p_value_ > 0.05
    assert selector.support_.any()
    assert selector.answer_.is_empty
    assert "no better than chance" in selector.reason_


def test_threads_and_repetition_change_nothing():
    X, y, _ = planted("circle", 0, n_rows=100, n_features=8)
    one = AutoSelector(random_state=3).fit(X, y)
    other = AutoSelector(random_state=3, n_jobs=2).fit(X, y)
    assert np.array_equal(one.support_, other.support_)
    assert one.candidates_ == other.candidates_
    assert np.array_equal(one.curve_["loss"], other.curve_["loss"])
    assert one.n_evaluations_ == other.n_evaluations_


def test_features_forced_in_and_out_groups_and_a_size_asked_for():
    X, y, _ = planted("sum", 0, n_rows=100, n_features=12)
    selector = AutoSelector(n_features_to_select=4, include=[0], exclude=[5], random_state=0).fit(X, y)
    assert selector.support_.sum() == 4
    assert selector.support_[0]
    assert not selector.support_[5]
    grouped = AutoSelector(feature_groups=[[1, 3]], n_features_to_select=(1, 2), random_state=0).fit(X, y)
    assert grouped.support_[1] == grouped.support_[3]
    with pytest.raises(fewer.InputError, match="both included and excluded"):
        AutoSelector(include=[1], exclude=[1]).fit(X, y)


def test_copies_stand_in_and_strangers_do_not():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 4))
    X = np.column_stack([x, x[:, 0] + 0.05 * rng.normal(size=150), rng.normal(size=(150, 3))])
    selector = AutoSelector(random_state=0, n_features_to_select=2).fit(X, x[:, 0] + x[:, 1] > 0)
    chosen = set(np.flatnonzero(selector.support_).tolist())
    assert chosen in ({0, 1}, {4, 1})
    assert selector.standins_ == {min(chosen - {1}): [4 if 0 in chosen else 0]}
    assert AutoSelector(random_state=0, standins=False).fit(X, x[:, 0] + x[:, 1] > 0).standins_ == {}


def test_a_given_model_judges_and_orders():
    X, y, _ = planted("sum", 0, n_rows=120, n_features=12)
    X = X[:, [1, 5, 0, 2, 3, 4]]
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    selector = AutoSelector(estimator=LogisticRegression(), random_state=0).fit(X, y)
    assert set(np.flatnonzero(selector.support_)) == {0, 1}
    assert any("the given model" in candidate["name"] for candidate in selector.candidates_)
    assert selector.judge_name_ == selector.judge_all_name_ == "the given model"
    assert isinstance(selector.judge_.estimator, LogisticRegression)
    named = AutoSelector(estimator="tree", random_state=0).fit(X, X[:, 0] + X[:, 1])
    assert named.support_[:2].all()
    with pytest.raises(fewer.InputError, match="Unknown estimator='oracle'"):
        AutoSelector(estimator="oracle").fit(X, y)


def test_rows_of_one_group_do_not_judge_each_other():
    rng = np.random.default_rng(1)
    X = np.repeat(rng.normal(size=(40, 6)), 4, axis=0) + 1e-3 * rng.normal(size=(160, 6))
    y = np.repeat(np.arange(40) % 2, 4)
    groups = np.repeat(np.arange(40), 4)
    assert not AutoSelector(random_state=0).fit(X, y).nothing_found_  # each row knows its brothers
    problem = Problem.from_arrays(X, y, groups=groups)
    assert AutoSelector(random_state=0).fit_problem(problem).nothing_found_


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss", "f1"])
def test_the_users_scoring_is_what_the_curve_tells(scoring):
    X, y, _ = planted("sum", 0, n_rows=100, n_features=12)
    selector = AutoSelector(scoring=scoring, random_state=0, standins=False).fit(X, y.astype(int))
    assert selector.support_[[1, 5]].all()
    assert selector.curve_["score_name"] == scoring
    assert selector.judge_.scoring == scoring


@pytest.mark.parametrize(
    ("kind", "scoring", "message"),
    [
        ("sum", "r2", "r2 is for regression, but the task is classification"),
        ("quantity", "f1_macro", "f1_macro is for classification, but the task is regression"),
        ("sum", "balanced", "Unknown score 'balanced'; did you mean 'balanced_accuracy'?"),
    ],
)
def test_a_score_of_the_other_task_or_of_none_is_refused(kind, scoring, message):
    X, y, _ = planted(kind, 0, n_rows=60)
    with pytest.raises(fewer.InputError, match=re.escape(message)):
        AutoSelector(scoring=scoring, random_state=0).fit(X, y)


def test_values_far_from_all_others_are_named_and_absolute_errors_see_past_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = 3.0 * X[:, 0] + 2.0 * X[:, 1] + rng.normal(size=200)
    y[:4] += 200.0
    by_squares = AutoSelector(random_state=0, standins=False)
    with pytest.warns(fewer.errors.FewerWarning, match="No signal found"):
        by_squares.fit(X, y)
    assert by_squares.notes_[0].startswith("Values of the target far from the others (4 of 200, such as 20")
    assert by_squares.notes_[0].endswith("or choose the score neg_median_absolute_error.")
    robust = AutoSelector(scoring="neg_median_absolute_error", random_state=0, standins=False).fit(X, y)
    assert robust.notes_ == []
    assert robust.p_value_ < 0.01
    assert robust.support_[[0, 1]].all()


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", "neg_root_mean_squared_error"])
@pytest.mark.parametrize("estimator", [None, LinearRegression()], ids=["any", "given"])
def test_the_unit_of_the_target_changes_nothing(scoring, estimator):
    X, y, _ = planted("quantity", 0, n_rows=120, n_features=12)
    usual, small = (
        AutoSelector(scoring=scoring, estimator=estimator, random_state=0).fit(X, y * unit) for unit in (1.0, 2.0**-40)
    )
    assert not small.nothing_found_
    assert np.array_equal(small.ranking_, usual.ranking_)
    assert small.choices_.keys() == usual.choices_.keys()
    assert all(np.array_equal(small.choices_[name], usual.choices_[name]) for name in usual.choices_)
    assert small.standins_ == usual.standins_
    unit = 1.0 if scoring is None else 2.0**-40
    assert small.score_ == usual.score_ * unit
    assert small.curve_["standard_error"].tolist() == (usual.curve_["standard_error"] * unit).tolist()
    assert small.margin_["margin"] == usual.margin_["margin"] * unit
    assert np.array_equal(small.answer_.tried[0], usual.answer_.tried[0] * 2.0**-40)
    assert small.notes_[0].startswith("The target varies by ")


def test_a_rare_class_is_seen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = np.zeros(300, dtype=int)
    y[:15] = 1
    X[:15, 3] += 2.5
    X[150:, 6] += 3.0  # tells the frequent class apart from itself
    selector = AutoSelector(random_state=0).fit(X, y)
    assert selector.support_[3]
    assert not selector.nothing_found_


def test_rows_without_weight_have_no_say():
    X, y, signal = planted("sum", 0, n_rows=160, n_features=12)
    lies = np.where(np.arange(160) % 2 == 0, y, X[:, 3] > 0)  # every other row is about another column
    weights = (np.arange(160) % 2 == 0).astype(float)
    selector = AutoSelector(random_state=0).fit_problem(Problem.from_arrays(X, lies, sample_weight=weights))
    assert selector.support_[signal].all()
    assert not selector.support_[3]


def test_wide_tables_are_screened_in_every_part():
    rng = np.random.default_rng(6)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 1500))
    X[:, :4] += 1.5 * y[:, None]
    selector = AutoSelector(random_state=0, standins=False).fit(X, y)
    assert selector.support_[:4].sum() >= 3
    assert selector.support_.sum() < 60
    assert selector.curve_["all"] is None
    noise = rng.normal(size=(60, 1500))
    assert AutoSelector(random_state=0).fit_problem(Problem.from_arrays(noise, y)).nothing_found_


def test_trees_see_a_quantity_that_no_line_shows():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(250, 12))
    y = np.where(X[:, 4] > 0.5, 3.0, 0.0) + np.where(np.abs(X[:, 8]) < 0.3, 2.0, 0.0) + 0.3 * rng.normal(size=250)
    selector = AutoSelector(random_state=0, standins=False).fit(X, y)
    assert set(np.flatnonzero(selector.support_)) == {4, 8}
    assert selector.judge_name_ in ("a random forest", "boosting")
    assert selector.models_[selector.judge_name_] > selector.models_["a linear model"] + 0.2
    assert selector.curve_["score_name"] == "R²"
    assert {candidate["name"] for candidate in selector.candidates_} >= {"forest importance", "forward linear fit"}


def test_an_interrupted_race_keeps_the_best_so_far():
    X, y, _ = planted("sum", 0, n_rows=80, n_features=12)

    def stop(trace):
        if trace.n_steps > 1:
            raise KeyboardInterrupt

    selector = AutoSelector(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        selector.fit_problem(fewer.Problem.from_arrays(X, y), stop)
    assert selector.answer_.support.any()
    assert len(selector.candidates_) == 2


@pytest.mark.parametrize("n_judged", [2, 3, 6])
def test_ctrl_c_in_a_compiled_call_of_a_race_keeps_the_best_so_far(n_judged, monkeypatch):
    """There it becomes a SystemError."""
    X, y, _ = planted("sum", 0, n_rows=80, n_features=12)
    judge, judged = PathRace.run, []

    def stop(self, *arguments):
        judged.append(arguments)
        if len(judged) > n_judged:
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        return judge(self, *arguments)

    monkeypatch.setattr(PathRace, "run", stop)
    selector = AutoSelector(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        selector.fit_problem(fewer.Problem.from_arrays(X, y))
    assert selector.answer_.support.any()


def test_few_rows_are_answered_without_validation():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    selector = AutoSelector(random_state=0).fit_problem(Problem.from_arrays(X, ["a", "a", "b", "b"]))
    assert selector.support_.tolist() == [True, False]
    with pytest.raises(fewer.InputError):
        AutoSelector(random_state=0).fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_many_levels_that_say_nothing_come_after_planted_numbers(seed):
    rng = np.random.default_rng(seed)
    numbers, many = rng.normal(size=(250, 4)), rng.integers([40, 120], size=(250, 2))
    signal = numbers[:, 0] + numbers[:, 2] + 0.6 * rng.normal(size=250)
    kinds = ["numeric"] * 4 + ["nominal"] * 2
    X = np.column_stack([numbers, many])
    for y in (signal, signal > 0) if seed == 0 else (signal > 0,):
        task = "regression" if y is signal else "classification"
        problem = Problem.from_arrays(X, y, task=task, kinds=kinds)
        selector = AutoSelector(random_state=0, standins=False).fit_problem(problem)
        assert selector.ranking_[[0, 2]].max() < selector.ranking_[4:].min()
