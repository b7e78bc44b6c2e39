"""How much of a target is noise? The Gamma Test says it before any model is trained (Nel 1998)."""

import sys

import numpy as np

from fewer import SubsetSelector
from fewer.criteria import GammaTest, gamma_test
from fewer.plots import GammaDisplay, MTestDisplay
from fewer.plots._style import new_figure, style
from fewer.search import Exhaustive

rng = np.random.default_rng(0)
X = rng.uniform(size=(1500, 6))
y = np.sin(4 * X[:, 1]) + X[:, 4] ** 2 + rng.normal(scale=0.1, size=1500)  # columns 1 and 4, noise variance 0.01

selector = SubsetSelector(GammaTest(n_neighbors=20), Exhaustive(), n_features_to_select=2).fit(X, y)
print("columns:", selector.get_support(indices=True).tolist())
result = gamma_test(X[:, selector.support_], y, n_neighbors=20)
print(f"gamma {result.gamma:.4f}, 95 % interval {result.interval[0]:.4f} to {result.interval[1]:.4f}; planted 0.0100")

with style():
    figure, (left, right) = new_figure(1, 2)
GammaDisplay.from_result(result).plot(left)
MTestDisplay(result.m_test()).plot(right)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "nel_gamma_test.png")
