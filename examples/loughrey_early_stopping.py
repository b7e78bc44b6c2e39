"""A search that watches rows it does not search on, and stops when they stop profiting (Loughrey)."""

import sys

from fewer import SubsetSelector
from fewer.control import EarlyStopping
from fewer.criteria import KNN
from fewer.datasets import load
from fewer.plots import SearchCurveDisplay
from fewer.plots._style import new_figure, style
from fewer.search import Annealing

problem = load("sonar").problem
search = Annealing(levels=40, effort=0.3, answer="final")
selector = SubsetSelector(KNN(), search, control=EarlyStopping(), random_state=0).fit_problem(problem)
print(f"{selector.support_.sum()} of {problem.n_features} features;", *selector.trace_.notes)

with style():
    figure, ax = new_figure(size=(6.0, 3.4))
SearchCurveDisplay.from_estimator(selector, ax=ax)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "loughrey_early_stopping.png")
