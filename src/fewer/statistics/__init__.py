"""Sums over rows that merge: what one pass over a table leaves behind.

Each is filled by `add(chunk)` and joined by `merge(other)`. Chunks of a part are added in order and parts are merged in
order, so that the result does not depend on who computed them. Kept for each fold, they give k-fold scores in one pass.
"""

from fewer.statistics._association import Associations, Measure, Uncertainties
from fewer.statistics._base import Statistics, collect
from fewer.statistics._counts import Bins, JointCounts, PairCounts, information
from fewer.statistics._folds import DealtFolds, row_folds
from fewer.statistics._gram import GramSums
from fewer.statistics._moments import ClassMoments, LevelMoments, MissingCells, Ranges, TargetMoments
from fewer.statistics._sample import RowSample, SampledLevels

__all__ = [
    "Associations",
    "Bins",
    "ClassMoments",
    "DealtFolds",
    "GramSums",
    "JointCounts",
    "LevelMoments",
    "Measure",
    "MissingCells",
    "PairCounts",
    "Ranges",
    "RowSample",
    "SampledLevels",
    "Statistics",
    "TargetMoments",
    "Uncertainties",
    "collect",
    "information",
    "row_folds",
]
