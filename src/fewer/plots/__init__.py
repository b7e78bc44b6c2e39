"""Pictures: Display classes in the manner of scikit-learn, one style sheet."""

from fewer.plots._classifiability import ClassifiabilityDisplay
from fewer.plots._rankings import AgreementDisplay, RankingDisplay, RedundancyDisplay
from fewer.plots._roc import RocHullDisplay
from fewer.plots._search_curve import SearchCurveDisplay
from fewer.plots._sizes import FrequencyDisplay, SizeDisplay

__all__ = [
    "AgreementDisplay",
    "ClassifiabilityDisplay",
    "FrequencyDisplay",
    "RankingDisplay",
    "RedundancyDisplay",
    "RocHullDisplay",
    "SearchCurveDisplay",
    "SizeDisplay",
]
