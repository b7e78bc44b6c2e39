"""ROC curves, their hull, classifiers on it, and Parcel, which grows it."""

from fewer.roc._curve import (
    AreaComparison,
    ChordPoint,
    RocBand,
    RocCurve,
    RocHull,
    auroc,
    bootstrap_band,
    chord_share,
    critical_ratio,
    delong_test,
    expected_cost,
    hanley_mcneil,
    iso_cost_line,
    iso_cost_slope,
    roc_hull,
)
from fewer.roc._mrroc import MRROC, HeldOutCurve, mrroc
from fewer.roc._operating_point import OperatingPoint, Vertex
from fewer.roc._parcel import Parcel, describe, fit_parcel
from fewer.roc._realisable import RealisableClassifier

__all__ = [
    "MRROC",
    "AreaComparison",
    "ChordPoint",
    "HeldOutCurve",
    "OperatingPoint",
    "Parcel",
    "RealisableClassifier",
    "RocBand",
    "RocCurve",
    "RocHull",
    "Vertex",
    "auroc",
    "bootstrap_band",
    "chord_share",
    "critical_ratio",
    "delong_test",
    "describe",
    "expected_cost",
    "fit_parcel",
    "hanley_mcneil",
    "iso_cost_line",
    "iso_cost_slope",
    "mrroc",
    "roc_hull",
]
