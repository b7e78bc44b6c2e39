"""Splits of rows, significance tests, intervals, stability."""

from fewer.validate._active_rows import active_rows
from fewer.validate._bootstrap import Bootstrap, accuracy_632
from fewer.validate._copies import near_copies
from fewer.validate._folds import FixedFolds, assign_folds, stratified_folds
from fewer.validate._intervals import ConfidenceInterval, fold_interval, wilson_interval
from fewer.validate._layers import Layer, LayeredFolds
from fewer.validate._sampling import stratified_sample
from fewer.validate._significance import (
    RankComparison,
    Significance,
    corrected_resampled_t,
    friedman_nemenyi,
    holm,
    mcnemar,
    wilcoxon,
)
from fewer.validate._splits import Split, folds_of, forward_splits, split_rows
from fewer.validate._stability import jaccard, kuncheva, nogueira

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
