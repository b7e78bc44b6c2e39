"""Pictures: Display classes in the manner of scikit-learn, one style sheet."""

from fewer.plots._answers import AlternativesDisplay, AnswersDisplay
from fewer.plots._classifiability import ClassifiabilityDisplay, GammaDisplay, MTestDisplay
from fewer.plots._gmlvq import ProjectionDisplay, RelevanceDisplay, RelevanceMatrixDisplay
from fewer.plots._planted import PlantedDisplay
from fewer.plots._predictions import PredictionsDisplay
from fewer.plots._rankings import AgreementDisplay, DendrogramDisplay, RankingDisplay, RedundancyDisplay
from fewer.plots._roc import RocHullDisplay
from fewer.plots._rows import DistributionDisplay, PlaneDisplay
from fewer.plots._sizes import FrequencyDisplay, SearchCurveDisplay, SizeDisplay
from fewer.plots._style import Display

__all__ = [
    "AgreementDisplay",
    "AlternativesDisplay",
    "AnswersDisplay",
    "ClassifiabilityDisplay",
    "DendrogramDisplay",
    "Display",
    "DistributionDisplay",
    "FrequencyDisplay",
    "GammaDisplay",
    "MTestDisplay",
    "PlaneDisplay",
    "PlantedDisplay",
    "PredictionsDisplay",
    "ProjectionDisplay",
    "RankingDisplay",
    "RedundancyDisplay",
    "RelevanceDisplay",
    "RelevanceMatrixDisplay",
    "RocHullDisplay",
    "SearchCurveDisplay",
    "SizeDisplay",
]
