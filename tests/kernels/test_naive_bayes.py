import numpy as np

from fewer.kernels import naive_bayes as kernels
from fewer.kernels.bundles import Units


def setting(seed, n_classes=3):
    rng = np.random.default_rng(seed)
    bounds = np.array([0, 7, 20, 20, 31])
    start = np.array([[0, 3, 5, 9]]) + 12 * np.arange(4)[:, None]
    sizes = [3, 2, 4, 3]
    codes = np.stack([rng.integers(size, size=31) for size in sizes]).astype(np.int32)
    tables = rng.integers(-50, 50, size=(48, n_classes - 1))
    prior = rng.integers(-5, 5, size=(31, n_classes - 1))
    y = rng.integers(n_classes, size=31)
    weights = rng.integers(1, 9, size=31) / 8
    return prior, codes, tables, start, bounds, y, weights


def sums(mask, prior, codes, tables, start, bounds, y, weights):
    part = np.searchsorted(bounds[1:], np.arange(31), side="right")
    total = prior.copy()
    for f in np.flatnonzero(mask):
        total += tables[start[part, f] + codes[f]]
    return total, part


def test_masks_flips_and_children_agree_with_plain_sums():
    for seed in range(10):
        for n_classes, by_rank, weighted in ((3, False, True), (2, True, False), (2, True, True)):
            arrays = setting(seed, n_classes)
            prior, codes, tables, start, bounds, y, weights = arrays
            masks = (np.arange(16)[:, None] >> np.arange(4)) & 1 == 1
            truth = []
            for mask in masks:
                total, part = sums(mask, *arrays)
                if by_rank:
                    w = weights if weighted else np.ones(31)
                    pairs = (part[:, None] == part) & (y[:, None] == 1) & (y == 0)
                    wins = np.sign(total[:, 0][:, None] - total[:, 0]) / 2 + 0.5
                    truth.append((pairs * wins * w[:, None] * w).sum())
                else:
                    scores = np.column_stack([np.zeros(31), total])
                    truth.append(weights[scores.argmax(axis=1) == y].sum())
            out = np.empty(16)
            columns = kernels.Columns(codes, tables, start, bounds, prior)
            judge = kernels.Judge(y, weights, by_rank, weighted)
            kernels.score_masks(masks, columns, judge, out)
            np.testing.assert_allclose(out, truth)
            base, _ = sums(masks[5], *arrays)
            flipped = np.empty(3)
            units = Units(np.array([0, 3, 1, 2]), np.array([0, 2, 3, 4]))
            kernels.score_flips(masks[5], base, units, np.array([True, True, False]), columns, judge, flipped)
            np.testing.assert_allclose(flipped, [truth[13], truth[7], truth[1]])
            scores = np.empty((16, 31), dtype=np.int64)
            kernels.fill_children(masks[5], base, masks, columns, scores)
            np.testing.assert_array_equal(scores, [sums(mask, *arrays)[0][:, 0] for mask in masks])
