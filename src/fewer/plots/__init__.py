"""Pictures: Display classes in the manner of scikit-learn, one style sheet."""

from fewer.plots._criteria import ClassifiabilityDisplay, GammaDisplay, MTestDisplay
from fewer.plots._predictions import DistributionDisplay, PlaneDisplay, PredictionsDisplay, RocHullDisplay
from fewer.plots._rankings import (
    AgreementDisplay,
    DendrogramDisplay,
    PlantedDisplay,
    ProjectionDisplay,
    RankingDisplay,
    RedundancyDisplay,
    RelevanceDisplay,
    RelevanceMatrixDisplay,
)
from fewer.plots._sizes import AlternativesDisplay, AnswersDisplay, FrequencyDisplay, SearchCurveDisplay, SizeDisplay
from fewer.plots._style import Display

__all__ = [
    "AgreementDisplay", "AlternativesDisplay", "AnswersDisplay", "ClassifiabilityDisplay", "DendrogramDisplay",
    "Display", "DistributionDisplay", "FrequencyDisplay", "GammaDisplay", "MTestDisplay", "PlaneDisplay",
    "PlantedDisplay", "PredictionsDisplay", "ProjectionDisplay", "RankingDisplay", "RedundancyDisplay",
    "RelevanceDisplay", "RelevanceMatrixDisplay", "RocHullDisplay", "SearchCurveDisplay", "SizeDisplay",
]  # fmt: skip
