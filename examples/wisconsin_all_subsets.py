"""Is the best of all 1,073,741,823 subsets better than what floating search finds? On the rows it was chosen by, yes.

Twenty times, half of the Wisconsin rows choose and the other half judge. For the first 16 columns that is computed
here, one half only. For all 30 columns a GPU judged every subset of each half; what it found is stored, and the command
that finds it again (18 seconds on one H200) is: python benchmarks/gpu.py held-out
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from fewer import SubsetSelector
from fewer.criteria import KNN
from fewer.plots._style import COLORS, MARKERS, new_figure, style
from fewer.search import Exhaustive, Floating

X, y = load_breast_cancer(return_X_y=True)
train, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=0)
print("the first 16 columns, one half of the rows")
for search in (Exhaustive(top=1), Floating()):
    chosen = SubsetSelector(KNN(cv="loo"), search).fit(X[train, :16], y[train])
    print(f"  {type(search).__name__}: {chosen.score_:.3f} on its own rows, columns {chosen.get_support(indices=True)}")

stored = json.loads((Path(__file__).parents[1] / "benchmarks" / "gpu.json").read_text())
halves = stored["cuda"]["rows"]["best of 2^30 subsets in 20 halves"]["halves"]
NAMES = {"all": "best of all subsets", "floating": "floating search", "every column": "all 30 columns"}
print("all 30 columns, means over 20 halves")
with style():
    figure, ax = new_figure()
for (key, name), color, marker in zip(NAMES.items(), COLORS, MARKERS, strict=False):
    own, other = np.array([half[key][1:] for half in halves]).T
    size = np.mean([len(half[key][0]) for half in halves])
    print(f"  {name}: {own.mean():.3f} on its own rows, {other.mean():.3f} on the others, {size:.1f} columns")
    ax.scatter(own, other, color=color, marker=marker, s=22, label=f"{name}: {own.mean():.3f} → {other.mean():.3f}")
gains = np.array([half["all"][2] - half["floating"][2] for half in halves])
print(f"  best of all against floating search on other rows: {(gains > 0).sum()} better, {(gains < 0).sum()} worse")

edges = [0.89, 1.0]
ax.plot(edges, edges, color="#888888", linewidth=0.8, linestyle="--", label="as good as it seemed")
ax.set_xlabel("right answers on the half that chose, leave-one-out")
ax.set_ylabel("right answers on the other half")
ax.set_title("The best of 1,073,741,823 subsets seems best, and is not")
figure.set_size_inches(7.5, 3.8)
ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="own half → other half, means")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "wisconsin_all_subsets.png")
