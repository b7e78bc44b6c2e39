import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from fewer.models import GMLVQClassifier
from fewer.models._gmlvq import Full, Margins, _Descent, spread_directions
from fewer.problem import InputError

DRAWS_ROWS = {"check_sample_weight_equivalence_on_dense_data": "Rows are drawn, and copies of a row are drawn apart."}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {}),
        ({"matrix": "diagonal"}, {}),
        ({"matrix": "none"}, {}),
        ({"localized": True, "n_components": 1}, {}),
        ({"alpha": "auto", "early_stopping": True}, DRAWS_ROWS),
        ({"n_prototypes": 2}, DRAWS_ROWS),
    ],
)
def test_scikit_learn_checks(options, expected):
    check_estimator(GMLVQClassifier(max_iter=40, **options), on_skip=None, expected_failed_checks=expected)


def slow_waypoint_descent(X, y, labels, w, omega, alpha, n_steps, a_w=0.5, a_o=0.1):
    """Section 4.2 step by step, with gradients sample by sample (equations 50 to 53)."""

    def cost(w, omega):
        total = 0.0
        for x, c in zip(X, y, strict=True):
            d = ((omega @ (x - w).T) ** 2).sum(axis=0)
            near, far = d[labels == c].min(), d[labels != c].min()
            total += (near - far) / (near + far)
        shares = (omega**2).sum(axis=0)
        return total - alpha * (shares * np.log2(shares)).sum()

    def gradients(w, omega):
        by_w, by_o = np.zeros_like(w), np.zeros_like(omega)
        for x, c in zip(X, y, strict=True):
            d = ((omega @ (x - w).T) ** 2).sum(axis=0)
            h, m = np.where(labels == c, d, np.inf).argmin(), np.where(labels != c, d, np.inf).argmin()
            g_h, g_m = 2 * d[m] / (d[h] + d[m]) ** 2, 2 * d[h] / (d[h] + d[m]) ** 2
            by_w[h] -= 2 * g_h * omega.T @ omega @ (x - w[h])
            by_w[m] += 2 * g_m * omega.T @ omega @ (x - w[m])
            by_o += 2 * omega @ (g_h * np.outer(x - w[h], x - w[h]) - g_m * np.outer(x - w[m], x - w[m]))
        by_o -= alpha * 2 * omega * (np.log((omega**2).sum(axis=0)) + 1) / np.log(2)
        return by_w, by_o

    def unit_trace(omega):
        return omega / np.sqrt((omega**2).sum())

    ws, omegas = [w], [omega]
    for t in range(n_steps):
        by_w, by_o = gradients(ws[-1], omegas[-1])
        w_next = ws[-1] - a_w * by_w / np.linalg.norm(by_w)
        o_next = unit_trace(omegas[-1] - a_o * by_o / np.linalg.norm(by_o))
        if t >= 3:
            w_mean, o_mean = np.mean(ws[-3:], axis=0), unit_trace(np.mean(omegas[-3:], axis=0))
            if cost(w_next, omegas[-1]) > cost(w_mean, omegas[-1]):
                w_next, a_w = w_mean, a_w * 2 / 3
            if cost(ws[-1], o_next) > cost(ws[-1], o_mean):
                o_next, a_o = o_mean, a_o * 2 / 3
        ws.append(w_next)
        omegas.append(o_next)
    return ws[-1], omegas[-1]


@pytest.mark.parametrize("alpha", [0.0, 5.0])
def test_descent_equals_the_slow_twin(alpha):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.integers(0, 3, 50)
    X[:, 0] += y
    labels, w, omega = np.arange(3), rng.normal(size=(3, 4)), np.eye(4) / 2
    ours = _Descent(Full(X, np.zeros(3, dtype=int)), Margins(labels[:, None] == y, np.ones(50)), alpha, 0.5, 0.1)
    ours.run(w, omega[None], 25, None)
    assert ours.step_prototypes < 0.5 or ours.step_matrix < 0.1  # an average was taken
    expected_w, expected_omega = slow_waypoint_descent(X, y, labels, w, omega, alpha, 25)
    assert ours.prototypes == pytest.approx(expected_w, abs=1e-9)
    assert ours.omega[0] == pytest.approx(expected_omega, abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"matrix": "diagonal"}, {"localized": True}, {"n_components": 2}])
def test_relevances_sum_to_one_and_distances_follow_omega(options):
    X, y = load_wine(return_X_y=True)
    model = GMLVQClassifier(max_iter=30, **options).fit(X, y)
    assert model.relevances_.sum() == pytest.approx(1)
    Z = (X - model.mean_) / model.scale_
    Lambda = model.lambda_ if model.localized else np.repeat(model.lambda_[None], 3, axis=0)
    expected = np.array([[(z - w) @ Lambda[k] @ (z - w) for k, w in enumerate(model.prototypes_)] for z in Z])
    assert -model.decision_function(X) == pytest.approx(expected)
    assert (model.predict(X) == expected.argmin(axis=1)).all()
    assert model.score(X, y) > 0.95


def test_more_freedom_lowers_the_cost():
    X, y = load_breast_cancer(return_X_y=True)
    cost = {m: GMLVQClassifier(matrix=m).fit(X, y).loss_curve_[-1] for m in ("none", "diagonal", "full")}
    assert cost["full"] < cost["diagonal"] < cost["none"]
    X, y = make_moons(300, noise=0.1, random_state=0)
    scores = [GMLVQClassifier(n, random_state=0).fit(X, y).score(X, y) for n in (1, 4)]
    assert scores[1] > scores[0] + 0.03


def test_generalizes_and_ranks_classes_by_nearness():
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(GMLVQClassifier(max_iter=50), X, y).mean() > 0.94
    model = GMLVQClassifier(max_iter=50).fit(X[::2], y[::2])
    assert roc_auc_score(y[1::2], model.decision_function(X[1::2])) > 0.98
    assert ((model.decision_function(X) > 0) == (model.predict(X) == 1)).all()
    chances = model.predict_proba(X[1::2])
    assert log_loss(y[1::2], chances) < 0.2
    for factor in (0.5, 2.0):  # another temperature fits the training rows less well
        model.temperature_ *= factor
        worse = model.predict_proba(X[::2])
        model.temperature_ /= factor
        assert log_loss(y[::2], worse) > log_loss(y[::2], model.predict_proba(X[::2]))


def test_validation_rows_choose_the_step():
    X, y = load_breast_cancer(return_X_y=True)
    model = GMLVQClassifier(alpha="auto").fit(X[:340], y[:340], X_val=X[340:], y_val=y[340:])
    assert model.best_iter_ == np.argmin(model.validation_curve_[1:]) + 1 < model.n_iter_
    again = GMLVQClassifier(alpha="auto", max_iter=model.best_iter_).fit(X[:340], y[:340])
    assert again.omega_ == pytest.approx(model.omega_)
    patient = GMLVQClassifier(alpha="auto", n_iter_no_change=5).fit(X[:340], y[:340], X_val=X[340:], y_val=y[340:])
    assert patient.n_iter_ < model.n_iter_
    assert patient.best_iter_ == patient.n_iter_ - 5


def test_the_force_gathers_relevance():
    X, y = load_breast_cancer(return_X_y=True)

    def effective_features(alpha):
        shares = GMLVQClassifier(alpha=alpha).fit(X, y).relevances_
        return 2 ** -(shares[shares > 0] * np.log2(shares[shares > 0])).sum()

    assert effective_features("auto") < 2 < 10 < effective_features(0.0)


def rank_deficient(seed=0):
    rng = np.random.default_rng(seed)
    base, y = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)
    base[:, 0] += 2 * y
    return np.column_stack([base, base @ rng.normal(size=(4, 4))]), y


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_removing_ambiguity_leaves_all_distances_unchanged(alpha):
    X, y = rank_deficient()
    model = GMLVQClassifier(alpha=alpha, max_iter=30).fit(X, y)
    Z = (X - model.mean_) / model.scale_
    kept = spread_directions(np.vstack([Z, model.prototypes_]))
    assert len(kept) <= 6  # four directions of the rows, two of the prototypes at most
    clear = (model.omega_ @ kept.T) @ kept
    expected = ((Z[:, None] - model.prototypes_) @ model.omega_.T) ** 2
    assert (((Z[:, None] - model.prototypes_) @ clear.T) ** 2).sum(axis=2) == pytest.approx(expected.sum(axis=2))
    shares = (clear**2).sum(axis=0)
    assert model.relevances_ == pytest.approx(shares / shares.sum())


def test_relevances_do_not_depend_on_what_no_distance_sees():
    X, _ = rank_deficient()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    kept = spread_directions(Z)
    rng = np.random.default_rng(1)
    omega = rng.normal(size=(8, 8))
    hidden = rng.normal(size=(8, 8)) @ (np.eye(8) - kept.T @ kept)
    clear = [(matrix @ kept.T) @ kept for matrix in (omega, omega + 5 * hidden)]
    assert clear[0] == pytest.approx(clear[1])
    from_the_left = kept.T @ kept @ omega  # as equation 92 prints it
    assert pytest.approx(Z @ omega.T) == (Z @ clear[0].T)
    assert ((Z @ from_the_left.T) ** 2).sum(axis=1) != pytest.approx(((Z @ omega.T) ** 2).sum(axis=1), rel=0.1)


def test_delete_rate_takes_out_the_directions_of_least_spread():
    X, y = load_wine(return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    _, _, directions = np.linalg.svd(Z, full_matrices=False)
    kept = spread_directions(Z, delete_rate=0.5)
    assert len(kept) == 13 - round(6.5)
    assert kept.T @ kept == pytest.approx(directions[: len(kept)].T @ directions[: len(kept)])
    wide = spread_directions(Z[:5])
    assert wide @ wide.T == pytest.approx(np.eye(5))
    whole, half = (GMLVQClassifier(delete_rate=rate, max_iter=20).fit(X, y) for rate in (0.0, 0.5))
    assert half.omega_ == pytest.approx(whole.omega_)
    assert half.relevances_ != pytest.approx(whole.relevances_)


def test_the_eigenvalue_threshold_leaves_out_directions_below_it():
    X, y = load_wine(return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    values = np.linalg.svd(Z, compute_uv=False) ** 2
    assert len(spread_directions(Z, tolerance=0.1)) == np.count_nonzero(values > 0.1 * values[0])
    model = GMLVQClassifier(max_iter=20, eigenvalue_threshold=0.1).fit(X, y)
    kept = spread_directions(np.vstack([Z, model.prototypes_]), tolerance=0.1)
    shares = ((model.omega_ @ kept.T @ kept) ** 2).sum(axis=0)
    assert model.relevances_ == pytest.approx(shares / shares.sum())


def test_restricted_is_the_original_omega_on_some_columns():
    X, y = load_wine(return_X_y=True)
    model = GMLVQClassifier(max_iter=30).fit(X, y)
    chosen = np.argsort(-model.relevances_)[:5]
    small = model.restricted(chosen)
    Z = ((X - model.mean_) / model.scale_)[:, chosen]
    part = model.omega_[:, chosen]
    expected = (((Z[:, None] - model.prototypes_[:, chosen]) @ part.T) ** 2).sum(axis=2)
    assert -small.decision_function(X) == pytest.approx(expected)
    assert small.score(X, y) > 0.85
    everything = model.restricted(np.ones(13, dtype=bool))
    assert everything.decision_function(X) == pytest.approx(model.decision_function(X))


def test_projection_keeps_the_distances():
    X, y = load_iris(return_X_y=True)
    for options in ({}, {"matrix": "diagonal"}):
        model = GMLVQClassifier(**options).fit(X, y)
        places = model.project(X, n_components=4)
        middles = model.project(model.mean_ + model.scale_ * model.prototypes_, n_components=4)
        squares = ((places[:, None] - middles) ** 2).sum(axis=2)
        assert squares == pytest.approx(-model.decision_function(X))
        assert places.var(axis=0)[0] > places.var(axis=0)[3]
        assert model.project(X).shape == (150, 2)
    with pytest.raises(InputError, match="localized"):
        GMLVQClassifier(localized=True, max_iter=2).fit(X, y).project(X)


def test_constant_and_duplicate_columns_and_tiny_classes_do_not_break_it():
    rng = np.random.default_rng(0)
    y = np.array([0] * 20 + [1] * 20 + [2])
    x = rng.normal(size=41) + y
    X = np.column_stack([np.full(41, 0.1 + 0.2), x, x, rng.normal(size=41), np.full(41, 7.0)])
    for options in ({}, {"alpha": "auto", "early_stopping": True}, {"n_prototypes": 3}, {"localized": True}):
        model = GMLVQClassifier(random_state=0, **options).fit(X, y)
        assert model.relevances_[[0, 4]].tolist() == [0, 0]
        assert np.isfinite(model.relevances_).all()
        if "n_prototypes" not in options:
            assert model.relevances_[1] == pytest.approx(model.relevances_[2])
        assert np.isfinite(model.predict_proba(X)).all()


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6))
def test_missing_cells_are_compared_over_present_coordinates(seed):
    rng = np.random.default_rng(seed)
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[rng.random(X.shape) < 0.2] = np.nan
    for options in ({}, {"matrix": "diagonal"}, {"localized": True}):
        model = GMLVQClassifier(max_iter=20, **options).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert model.score(X, y) > 0.75
    assert (GMLVQClassifier(max_iter=20).fit(X, y).predict(np.full((1, 4), np.nan)) == 0).all()


def test_many_features_stay_cheap():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 1500)), np.arange(40) % 2
    X[:, :5] += 3 * y[:, None]
    model = GMLVQClassifier(max_iter=20).fit(X, y)
    assert model.omega_.shape == (30, 1500)
    assert model.score(X, y) == 1
    assert len(set(np.argsort(-model.relevances_)[:10]) & set(range(5))) >= 4


def test_breast_cancer_ranks_the_nine_features_first():
    """Chen, figure 28: over rounds with three fifths to train on and one to stop by."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    ranks = []
    for _ in range(6):
        rows = rng.permutation(569)
        train, held = rows[:341], rows[341:455]
        model = GMLVQClassifier(alpha="auto").fit(X[train], y[train], X_val=X[held], y_val=y[held])
        ranks.append(np.argsort(np.argsort(-model.relevances_)))
    leading = np.argsort(np.mean(ranks, axis=0))[:10] + 1
    assert {23, 21, 28, 24, 8, 3, 1, 4, 7} <= set(leading.tolist())


def test_one_class_is_refused():
    with pytest.raises(InputError, match="one class"):
        GMLVQClassifier().fit(np.ones((3, 2)), [1, 1, 1])


def test_the_delete_rate_is_chosen_by_the_validation_rows():
    X, y = load_wine(return_X_y=True)
    train, held = np.arange(178) % 3 > 0, np.arange(178) % 3 == 0
    rows = {"X_val": X[held], "y_val": y[held]}
    model = GMLVQClassifier(max_iter=40, delete_rate="auto").fit(X[train], y[train], **rows)
    Z, Z_held = ((X[part] - model.mean_) / model.scale_ for part in (train, held))
    values, vectors = np.linalg.eigh(Z.T @ Z + model.prototypes_.T @ model.prototypes_)
    assert (values > 1e-6).all()

    def cost(rate):
        gone = vectors[:, : round(rate * 13)]
        omega = model.omega_ @ (np.eye(13) - gone @ gone.T)
        d = np.array([[np.sum((omega @ (z - w)) ** 2) for w in model.prototypes_] for z in Z_held])
        own = np.take_along_axis(d, y[held][:, None], axis=1)[:, 0]
        other = np.where(y[held][:, None] == np.arange(3), np.inf, d).min(axis=1)
        return np.mean((own - other) / (own + other))

    costs = [cost(k / 10) for k in range(10)]
    assert model.delete_rate_ == np.argmin(costs) / 10 > 0
    same = GMLVQClassifier(max_iter=40, delete_rate=model.delete_rate_).fit(X[train], y[train], **rows)
    assert (model.relevances_ == same.relevances_).all()
    assert GMLVQClassifier(delete_rate="auto", matrix="diagonal", early_stopping=True).fit(X, y).delete_rate_ == 0
    with pytest.raises(InputError, match="validation rows"):
        GMLVQClassifier(delete_rate="auto").fit(X, y)


def test_a_delete_rate_of_zero_without_a_threshold_deletes_nothing():
    X, y = rank_deficient()
    model = GMLVQClassifier(max_iter=30, eigenvalue_threshold=0).fit(X, y)
    assert model.relevances_ == pytest.approx(np.diag(model.lambda_) / np.trace(model.lambda_))
    assert model.relevances_ != pytest.approx(GMLVQClassifier(max_iter=30).fit(X, y).relevances_)
