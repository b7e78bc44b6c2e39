"""How good is each feature?"""

from fewer.rankers._by_moments import Fisher
from fewer.rankers._each import EACH
from fewer.rankers._gmlvq_relevance import GMLVQRelevance
from fewer.rankers._information import InformationGain
from fewer.rankers._model_based import Importance, Permutation, Shap
from fewer.rankers._mutual_information import CMIM, DISR, JIM, JMI, MIFS, MRMR
from fewer.rankers._neighbor_information import MutualInformation
from fewer.rankers._relief import SURF, MultiSURF, Relief, ReliefF, RReliefF
from fewer.rankers._significance import Chi2, FTest

__all__ = [
    "CMIM",
    "DISR",
    "EACH",
    "JIM",
    "JMI",
    "MIFS",
    "MRMR",
    "SURF",
    "Chi2",
    "FTest",
    "Fisher",
    "GMLVQRelevance",
    "Importance",
    "InformationGain",
    "MultiSURF",
    "MutualInformation",
    "Permutation",
    "RReliefF",
    "Relief",
    "ReliefF",
    "Shap",
]
