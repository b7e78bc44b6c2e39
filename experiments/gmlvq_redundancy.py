"""Does the learnt Λ of GMLVQ tell copies of a feature from other features, by its elements off the diagonal?

Chen's outlook proposes it. Noisy copies (a tenth of the variance is noise) of five features are added; for each copy,
all original features are ordered by |Λᵢⱼ| / √(Λᵢᵢ Λⱼⱼ), and by their correlation with the copy. The area under the
ROC curve says how surely the original of a copy comes first; 0.5 is chance. Run

    FEWER_DATA=folder python experiments/gmlvq_redundancy.py > experiments/gmlvq_redundancy.md
"""

from __future__ import annotations

import warnings

import numpy as np

from fewer.datasets import load
from fewer.models import GMLVQClassifier
from fewer.roc import auroc

TABLES = ("wdbc", "sonar", "ionosphere", "pima")


def one(name: str, seed: int) -> list[float]:
    """Plant copies once; return the areas without the entropy force, with it, and of the correlation."""
    problem = load(name).problem
    X, rng = problem.X[:, ~problem.constant], np.random.default_rng(seed)
    p = X.shape[1]
    copied = rng.choice(p, min(5, p // 2), replace=False)
    noise = rng.normal(size=(len(X), len(copied))) * X[:, copied].std(axis=0) * 0.3
    table = np.hstack([X, X[:, copied] + noise])
    rows = rng.permutation(len(X))[: len(X) // 2]
    truth = np.zeros((len(copied), p), dtype=int)
    truth[np.arange(len(copied)), copied] = 1
    areas = []
    for alpha in (0.0, "auto"):
        model = GMLVQClassifier(alpha=alpha, early_stopping=True, random_state=seed).fit(table[rows], problem.y[rows])
        scale = np.sqrt(np.diag(model.lambda_))
        shared = np.abs(model.lambda_) / np.maximum(np.outer(scale, scale), 1e-12)
        areas.append(auroc(truth.ravel(), shared[p:, :p].ravel()))
    plain = np.abs(np.corrcoef(table[rows].T))[p:, :p]
    return [*areas, auroc(truth.ravel(), plain.ravel())]


def main() -> None:
    """Measure and print."""
    warnings.filterwarnings("ignore")
    print("# Redundancy off the diagonal?\n")
    print(f"`python experiments/gmlvq_redundancy.py`: {' '.join((__doc__ or '').split('Run')[0].split())}\n")
    print("| table | Λ, no force | Λ, N²/10 | correlation |\n|---|---|---|---|")
    for name in TABLES:
        areas = np.mean([one(name, seed) for seed in range(5)], axis=0)
        print(f"| {name} | {areas[0]:.3f} | {areas[1]:.3f} | {areas[2]:.3f} |", flush=True)
    print(
        "\nΛ says how features work together in one distance, not how alike they are: it is no measure of redundancy."
    )


if __name__ == "__main__":
    main()
