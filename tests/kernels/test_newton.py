import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fewer.kernels.bundles import HeldOut, Training
from fewer.kernels.newton import predict_added, predict_one_more


def setting():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] - X[:, 1] + rng.normal(size=60) > 0).astype(float)
    weights = rng.random(60) + 0.5
    parts = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    fit = Training(
        np.array([X[train].T for train, _ in parts]),
        np.array([30, 30]),
        np.array([y[train] for train, _ in parts]),
        np.array([weights[train] for train, _ in parts]),
        np.array([weights[train].sum() for train, _ in parts]),
        2.0,
    )
    return X, y, weights, parts, fit, HeldOut(np.ascontiguousarray(X.T), np.array([0, 30, 60]))


def truth(X, y, weights, train, columns):
    model = LogisticRegression(C=0.5, tol=1e-12, max_iter=10_000)
    return model.fit(X[train][:, columns], y[train], sample_weight=weights[train])


def test_one_column_more_from_the_fit_before_it():
    X, y, weights, parts, fit, rows = setting()
    members, added = np.array([0, 2]), np.array([1, 3])
    out, sure = np.empty((2, 60, 2)), np.ones((2, 2), dtype=bool)
    predict_one_more(members, added, rows, fit, np.zeros(2), out, sure)
    assert sure.all()
    for place, column in enumerate(added):
        for train, test in parts:
            model = truth(X, y, weights, train, [0, 2, column])
            assert out[place, test, 1] == pytest.approx(model.decision_function(X[test][:, [0, 2, column]]), abs=1e-6)
    assert (out[:, :, 0] == 0).all()


def test_a_solver_that_stops_early_is_off_by_no_more_than_is_said():
    """By the inverse of the Hessian, written out; and scikit-learn's own steps, stopped at large gradients."""
    X, y, weights, parts, fit, rows = setting()
    members, added = np.array([0, 2]), np.array([1])
    out, sure = np.empty((1, 60, 2)), np.ones((1, 2), dtype=bool)
    predict_one_more(members, added, rows, fit, np.array([0.02, 0.5]), out, sure)
    for (train, test), slack in zip(parts, (0.02, 0.5), strict=True):
        model = truth(X, y, weights, train, [0, 2, 1])
        Z = np.column_stack([np.ones(60), X[:, [0, 2, 1]]])
        share = model.predict_proba(X[train][:, [0, 2, 1]])[:, 1]
        hessian = (Z[train] * (weights[train] * share * (1 - share))[:, None]).T @ Z[train] + np.diag([0.0, 2, 2, 2])
        reach = slack * np.abs(np.linalg.solve(hessian, Z[test].T)).sum(axis=0)
        assert out[0, test, 0] == pytest.approx(reach, rel=1e-6)
        tol = slack / weights[train].sum()  # scikit-learn's is of the mean loss
        stopped = LogisticRegression(C=0.5, tol=tol).fit(X[train][:, [0, 2, 1]], y[train], weights[train])
        off = stopped.decision_function(X[test][:, [0, 2, 1]]) - out[0, test, 1]
        assert (np.abs(off) <= 1.5 * reach).all()


@pytest.mark.parametrize("kind", [{}, {"hinge": True}, {"ridge": 0.0, "length": 2.0}], ids=str)
def test_what_the_room_held_before_does_not_matter(kind):
    """The members' own fit uses a part of the room for one column more."""
    fit, rows, members, added = setting()[4]._replace(**kind), setting()[5], np.array([0, 2, 0]), np.array([1, 3])
    found = []
    for rest in (0.0, 1e300):
        out, sure = np.zeros((2, 60, 2)), np.ones((2, 2), dtype=bool)
        room = tuple(np.full(shape, rest) for shape in (4, 4, (4, 4), (3, 4), (3, 30)))
        needs = kind.get("hinge"), bool(fit.length) or None
        predict_added(members.copy(), added, rows, fit, np.full(2, 0.1), out, sure, room, *needs)
        assert sure.all()
        found.append(out)
    assert np.array_equal(*found)
