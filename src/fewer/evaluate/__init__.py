"""Does it help? The whole selection repeated on parts of the rows and scored on the others."""

from typing import TYPE_CHECKING

from fewer import on_demand

if TYPE_CHECKING:
    from fewer.evaluate._alternatives import Alternatives, good_subsets
    from fewer.evaluate._by_size import AS_SEARCHED, scores_by_size, standard_error
    from fewer.evaluate._compare import Comparison, OnProgress, compare
    from fewer.evaluate._drift import ColumnDrift, Drift, drift, drift_along_time
    from fewer.evaluate._evidence import Evidence
    from fewer.evaluate._heldout import Choice, Chooser, HeldOutScores, each_part, heldout
    from fewer.evaluate._nested import Nested, nested
    from fewer.evaluate._planted import (
        COPIES,
        Agreement,
        Overfitting,
        Planted,
        PlantedCounts,
        luck_of_best,
        plant,
        planted_counts,
        planted_selection,
        score_agreement,
        search_overfitting,
    )
    from fewer.evaluate.associations import redundancy
    from fewer.evaluate.grading import MethodScore, verdict
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "AS_SEARCHED",
    "COPIES",
    "Agreement",
    "Alternatives",
    "Choice",
    "Chooser",
    "ColumnDrift",
    "Comparison",
    "Drift",
    "Evidence",
    "HeldOutScores",
    "MethodScore",
    "Nested",
    "OnProgress",
    "Overfitting",
    "Planted",
    "PlantedCounts",
    "compare",
    "drift",
    "drift_along_time",
    "each_part",
    "good_subsets",
    "heldout",
    "luck_of_best",
    "nested",
    "plant",
    "planted_counts",
    "planted_selection",
    "redundancy",
    "score_agreement",
    "scores_by_size",
    "search_overfitting",
    "standard_error",
    "verdict",
]
