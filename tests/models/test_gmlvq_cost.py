"""Gradients against finite differences, and distances against their definition, for every kind of model."""

import numpy as np
import pytest

from fewer.kernels.gmlvq import margin_cost, margin_pull
from fewer.models._gmlvq import Diagonal, Full, Margins

VARIANTS = [
    pytest.param(
        kind,
        n_components,
        n_prototypes,
        localized,
        missing,
        id=f"{kind.__name__}-{n_components}-{n_prototypes}"
        f"{'-localized' if localized else ''}{'-missing' if missing else ''}",
    )
    for kind, n_components in ((Full, 6), (Full, 2), (Diagonal, None))
    for n_prototypes in (1, 3)
    for localized in (False, True)
    for missing in (False, True)
]


class Model:
    def __init__(self, kind, n_components, n_prototypes, localized, missing, alpha=3.7):
        rng = np.random.default_rng(5)
        n_rows, n_features, n_classes = 40, 6, 3
        self.X, self.y = rng.normal(size=(n_rows, n_features)), rng.integers(0, n_classes, n_rows)
        if missing:
            self.X[rng.random(self.X.shape) < 0.3] = np.nan
        self.labels = np.repeat(np.arange(n_classes), n_prototypes)
        self.matrix_of = self.labels if localized else np.zeros_like(self.labels)
        shape = [self.matrix_of.max() + 1, n_components, n_features]
        self.rows = kind(self.X, self.matrix_of)
        self.omega = kind.normalized(rng.uniform(0.2, 1.0, [s for s in shape if s is not None]))
        self.prototypes = rng.normal(size=(len(self.labels), n_features))
        self.margins = Margins(self.labels[:, None] == self.y, rng.random(n_rows))
        self.alpha = alpha

    def distances(self, prototypes, omega):
        return self.rows.distances(self.rows.image(omega), omega, prototypes)

    def cost(self, prototypes, omega):
        return margin_cost(self.distances(prototypes, omega), *self.margins) + self.alpha * self.rows.entropy(omega)

    def gradients(self):
        _, pull = margin_pull(self.distances(self.prototypes, self.omega), *self.margins)
        by_w, by_omega = self.rows.gradients(self.rows.image(self.omega), self.omega, self.prototypes, pull)
        return by_w, by_omega + self.alpha * self.rows.entropy_gradient(self.omega)


def finite_differences(function, x, h=1e-6):
    out = np.empty_like(x)
    for place in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[place] += h
        down[place] -= h
        out[place] = (function(up) - function(down)) / (2 * h)
    return out


@pytest.mark.parametrize(("kind", "n_components", "n_prototypes", "localized", "missing"), VARIANTS)
def test_gradients_agree_with_finite_differences(kind, n_components, n_prototypes, localized, missing):
    model = Model(kind, n_components, n_prototypes, localized, missing)
    by_prototypes, by_omega = model.gradients()
    expected = finite_differences(lambda w: model.cost(w, model.omega), model.prototypes)
    assert np.abs(by_prototypes - expected).max() < 1e-6
    expected = finite_differences(lambda omega: model.cost(model.prototypes, omega), model.omega)
    assert np.abs(by_omega - expected).max() < 1e-6


@pytest.mark.parametrize(("kind", "n_components", "n_prototypes", "localized", "missing"), VARIANTS)
def test_cost_and_distances_are_their_definitions(kind, n_components, n_prototypes, localized, missing):
    model = Model(kind, n_components, n_prototypes, localized, missing)
    matrices = model.omega if kind is Full else [np.diag(row) for row in model.omega]
    cost = 0.0
    distances = model.distances(model.prototypes, model.omega)
    for i, x in enumerate(model.X):
        gaps = np.where(np.isnan(x), 0.0, x - model.prototypes)
        d = [np.sum((matrices[m] @ gap) ** 2) for m, gap in zip(model.matrix_of, gaps, strict=True)]
        assert distances[:, i] == pytest.approx(d)
        near = min(v for v, label in zip(d, model.labels, strict=True) if label == model.y[i])
        far = min(v for v, label in zip(d, model.labels, strict=True) if label != model.y[i])
        cost += model.margins.weights[i] * (near - far) / (near + far)
    for matrix in matrices:
        shares = np.diag(matrix.T @ matrix)
        assert shares.sum() == pytest.approx(1)
        cost -= model.alpha * np.sum(shares * np.log2(shares))
    assert model.cost(model.prototypes, model.omega) == pytest.approx(cost)


@pytest.mark.parametrize(("kind", "n_components", "n_prototypes", "localized", "missing"), VARIANTS)
def test_the_image_of_a_mean_is_the_mean_of_the_images(kind, n_components, n_prototypes, localized, missing):
    model = Model(kind, n_components, n_prototypes, localized, missing)
    rng = np.random.default_rng(0)
    omegas = [kind.normalized(rng.normal(size=model.omega.shape)) for _ in range(3)]
    image, omega = model.rows.mean_image([model.rows.image(o) for o in omegas], omegas)
    assert omega == pytest.approx(kind.normalized(sum(omegas) / 3))
    expected = model.distances(model.prototypes, omega)
    assert model.rows.distances(image, omega, model.prototypes) == pytest.approx(expected)


def test_rows_on_a_prototype_and_rows_between_two_cost_nothing_undefined():
    X, y = np.zeros((2, 2)), np.array([0, 1])
    margins = Margins(np.array([[0], [1]]) == y, np.ones(2))
    rows = Full(X, np.zeros(2, dtype=int))
    distances = rows.distances(rows.image(np.eye(2)[None]), np.eye(2)[None], np.zeros((2, 2)))
    cost, pull = margin_pull(distances, *margins)
    assert cost == 0
    assert (pull == 0).all()
