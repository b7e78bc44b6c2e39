"""A credit table with categories and missing cells: which rankers agree, and do fewer columns do?"""

import sys

import fewer
from fewer.datasets import load
from fewer.plots import AgreementDisplay, RankingDisplay
from fewer.plots._style import new_figure, style
from fewer.rankers import Fisher, InformationGain, ReliefF

data = load("crx")
rankers = {"Fisher": Fisher(), "information gain": InformationGain(), "ReliefF": ReliefF()}
fitted = {
    name: fewer.RankSelector(ranker, n_features_to_select=5, random_state=0).fit(data.X, data.y)
    for name, ranker in rankers.items()
}
print(fewer.select(data.X, data.y, "knn-forward", random_state=0))

with style():
    figure, (left, right) = new_figure(1, 2)
RankingDisplay.from_estimator(fitted["information gain"], ax=left)
AgreementDisplay.from_rankings({name: selector.ranking_ for name, selector in fitted.items()}).plot(right)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "credit_mixed_table.png")
