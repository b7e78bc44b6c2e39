"""Costs unknown: keep every subset and classifier on the hull, choose the operating point later (Scott 1998)."""

import sys

from sklearn.datasets import load_breast_cancer

from fewer import Parcel
from fewer.plots import RocHullDisplay
from fewer.plots._style import new_figure, style

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
parcel = Parcel(random_state=0).fit(X, y)
for limit in (0.01, 0.05, 0.2):
    detector = parcel.operating_point(max_fpr=limit)
    print(f"at most {limit:.0%} false alarms: {detector.expected_.tpr.estimate:.1%} found")

with style():
    figure, ax = new_figure(size=(9.0, 4.2))
RocHullDisplay.from_estimator(parcel, ax=ax)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "scott_parcel.png")
