"""A distance that learns which features matter, alone and in pairs (Chen 2012)."""

import sys

from sklearn.preprocessing import StandardScaler

from fewer.datasets import load
from fewer.models import GMLVQClassifier
from fewer.plots import ProjectionDisplay, RelevanceDisplay
from fewer.plots._style import new_figure, style

data = load("ionosphere")
X = StandardScaler().fit_transform(data.problem.X)
model = GMLVQClassifier(random_state=0).fit(X, data.y)
print("most relevant columns:", model.relevances_.argsort()[::-1][:5].tolist())

with style():
    figure, (left, right) = new_figure(1, 2)
RelevanceDisplay.from_estimator(model, ax=left)
ProjectionDisplay.from_estimator(model, X, data.y, ax=right)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "chen_gmlvq.png")
