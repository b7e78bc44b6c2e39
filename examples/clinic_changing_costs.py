"""A thyroid screen: the number of false alarms that the clinic can follow up changes after the screen is built."""

import sys

import numpy as np

from fewer import Parcel
from fewer.datasets import load
from fewer.plots._style import COLORS, new_figure, style

POSITIVE = "abnormal"
data = load("thyroid")
X, sick = data.X, data.y
rng = np.random.default_rng(0)
train = rng.random(len(sick)) < 0.6
parcel = Parcel(pos_label=POSITIVE, random_state=0).fit(X.filter(train), sick[train])


limits, seen = (0.005, 0.01, 0.02, 0.05, 0.1), []
for limit in limits:
    detector = parcel.operating_point(max_fpr=limit, guarantee=0.95)
    alarms = detector.predict(X.filter(~train)) == POSITIVE
    truth = sick[~train] == POSITIVE
    seen.append((alarms[~truth].mean(), alarms[truth].mean()))
    print(f"false alarms allowed {limit:.1%}, on new patients {seen[-1][0]:.2%}; sick patients found {seen[-1][1]:.1%}")

with style():
    figure, ax = new_figure()
    ax.plot(limits, limits, color=COLORS[5], linestyle="--", label="allowed")
    ax.plot(limits, [rate for rate, _ in seen], marker="o", label="false alarms on new patients")
    ax.plot(limits, [found for _, found in seen], marker="s", label="sick patients found")
    ax.set(xscale="log", xlabel="highest allowed share of false alarms", ylabel="share")
    ax.legend(loc="center right")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "clinic_changing_costs.png")
