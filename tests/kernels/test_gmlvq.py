import numpy as np
import pytest

from fewer.kernels.gmlvq import distances_from_products, margin_cost, margin_pull, scaled_sum, squared_lengths


def slow_pull(distances, same, weights):
    """Row by row: the nearest prototype of the class and the nearest of another, the first of equally near ones."""
    cost, pull = 0.0, np.zeros(distances.shape)
    for i, column in enumerate(distances.T):
        right = min(np.flatnonzero(same[:, i]), key=lambda k: column[k])
        wrong = min(np.flatnonzero(~same[:, i]), key=lambda k: column[k])
        near, far = column[right], column[wrong]
        if near + far > 0:
            cost += weights[i] * (near - far) / (near + far)
            pull[right, i] = weights[i] * 2 * far / (near + far) ** 2
            pull[wrong, i] = -weights[i] * 2 * near / (near + far) ** 2
    return cost, pull


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1, 1, 2]])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_margins_equal_the_slow_twin_where_distances_tie(labels, dtype):
    rng = np.random.default_rng(0)
    distances = rng.integers(0, 3, size=(len(labels), 80)).astype(dtype)
    distances[:, 0] = 0
    same = np.array(labels)[:, None] == rng.choice(labels, 80)
    weights = rng.random(80).astype(dtype)
    expected_cost, expected_pull = slow_pull(distances.astype(float), same, weights.astype(float))
    cost, pull = margin_pull(distances, same, weights)
    assert pull.dtype == dtype
    assert cost == margin_cost(distances, same, weights) == pytest.approx(expected_cost, rel=1e-6)
    assert pull == pytest.approx(expected_pull, rel=1e-6)


@pytest.mark.parametrize("n_matrices", [1, 3])
def test_passes_over_images_are_their_definitions(n_matrices):
    rng = np.random.default_rng(0)
    points, others = rng.normal(size=(2, 6, 40))
    parts = points.reshape(n_matrices, -1, 40)
    assert squared_lengths(points, n_matrices) == pytest.approx((parts**2).sum(axis=1))

    scales = rng.random(n_matrices)
    sums, squares = scaled_sum(points, others, scales)
    expected = (points + others).reshape(parts.shape) * scales[:, None, None]
    assert sums == pytest.approx(expected.reshape(points.shape))
    assert squares == pytest.approx((expected**2).sum(axis=1))

    targets, matrix_of = rng.normal(size=(6, parts.shape[1])), np.arange(3) % n_matrices
    targets[0] = parts[0, :, 0]  # a prototype on a row
    products = np.stack([target @ parts[matrix_of[k % 3]] for k, target in enumerate(targets)])
    distances_from_products(products, squared_lengths(points, n_matrices), targets, matrix_of)
    gaps = np.stack([parts[matrix_of[k % 3]] - target[:, None] for k, target in enumerate(targets)])
    assert products == pytest.approx((gaps**2).sum(axis=1), abs=1e-12)
    assert (products >= 0).all()
