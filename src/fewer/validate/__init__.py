"""Splits of rows, significance tests, intervals, stability."""

from fewer.validate._intervals import (
    Bootstrap,
    ConfidenceInterval,
    accuracy_632,
    fold_interval,
    jaccard,
    kuncheva,
    nogueira,
    wilson_interval,
)
from fewer.validate._sampling import active_rows, near_copies, stratified_sample
from fewer.validate._significance import (
    RankComparison,
    Significance,
    corrected_resampled_t,
    friedman_nemenyi,
    holm,
    mcnemar,
    wilcoxon,
)
from fewer.validate._splits import (
    FixedFolds,
    Layer,
    LayeredFolds,
    Split,
    assign_folds,
    folds_of,
    forward_splits,
    split_rows,
    stratified_folds,
)

__all__ = [
    "Bootstrap",
    "ConfidenceInterval",
    "FixedFolds",
    "Layer",
    "LayeredFolds",
    "RankComparison",
    "Significance",
    "Split",
    "accuracy_632",
    "active_rows",
    "assign_folds",
    "corrected_resampled_t",
    "fold_interval",
    "folds_of",
    "forward_splits",
    "friedman_nemenyi",
    "holm",
    "jaccard",
    "kuncheva",
    "mcnemar",
    "near_copies",
    "nogueira",
    "split_rows",
    "stratified_folds",
    "stratified_sample",
    "wilcoxon",
    "wilson_interval",
]
