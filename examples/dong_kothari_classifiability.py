"""Which rows are hard? Classifiability looks at the neighbors of each (Dong & Kothari 2003)."""

import sys

from sklearn.datasets import load_iris

from fewer import SubsetSelector
from fewer.criteria import Classifiability, classifiability
from fewer.plots import ClassifiabilityDisplay
from fewer.plots._style import new_figure, style
from fewer.search import Forward

X, y = load_iris(return_X_y=True, as_frame=True)
selector = SubsetSelector(Classifiability(), Forward(min_gain=0.0), n_features_to_select=2).fit(X, y)
chosen = X[selector.get_feature_names_out()]
print("features:", list(chosen.columns))
print(f"classifiability of these: {classifiability(chosen, y).value:.3f}, of all: {classifiability(X, y).value:.3f}")

with style():
    figure, ax = new_figure()
ClassifiabilityDisplay.from_data(chosen, y).plot(ax)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "dong_kothari_classifiability.png")
