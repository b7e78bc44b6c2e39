"""Does it help? The whole selection repeated on parts of the rows, judged on the others."""

from fewer.evaluate._by_size import scores_by_size, standard_error
from fewer.evaluate._compare import Comparison, OnProgress, compare
from fewer.evaluate._curves import (
    ORIGINAL,
    Curves,
    EstimatorEvaluator,
    GMLVQEvaluator,
    SVMEvaluator,
    rounds_of_five,
    size_curves,
)
from fewer.evaluate._evidence import Evidence
from fewer.evaluate._heldout import Choice, HeldOutScores, heldout
from fewer.evaluate._nested import Nested, nested
from fewer.evaluate._planted import Planted, PlantedCounts, plant, planted_counts
from fewer.evaluate._redundancy import redundancy
from fewer.evaluate._verdict import MethodScore, verdict

__all__ = [
    "ORIGINAL",
    "Choice",
    "Comparison",
    "Curves",
    "EstimatorEvaluator",
    "Evidence",
    "GMLVQEvaluator",
    "HeldOutScores",
    "MethodScore",
    "Nested",
    "OnProgress",
    "Planted",
    "PlantedCounts",
    "SVMEvaluator",
    "compare",
    "heldout",
    "nested",
    "plant",
    "planted_counts",
    "redundancy",
    "rounds_of_five",
    "scores_by_size",
    "size_curves",
    "standard_error",
    "verdict",
]
