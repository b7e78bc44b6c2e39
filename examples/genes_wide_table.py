"""60 samples, 2,000 genes: which of the chosen ones come back when the selection is repeated?"""

import sys

import numpy as np

import fewer
from fewer.plots import FrequencyDisplay
from fewer.plots._style import new_figure, style

rng = np.random.default_rng(3)
tumor = np.arange(60) % 2
genes = rng.normal(size=(60, 2000))
genes[:, :4] += 1.2 * tumor[:, None]  # four genes carry the signal
selection = fewer.select(genes, np.where(tumor, "tumor", "normal"), random_state=0)
print(selection)

names = list(selection.frequency)[:15]
shares = [selection.frequency[name] for name in names]
with style():
    figure, ax = new_figure()
FrequencyDisplay(names, shares, [name in selection.features for name in names]).plot(ax)
ax.set_title("planted genes: x0, x1, x2, x3")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "genes_wide_table.png")
