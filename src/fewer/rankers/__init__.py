"""How good is each feature?"""

from fewer.rankers._fisher import Fisher
from fewer.rankers._gmlvq_relevance import GMLVQRelevance
from fewer.rankers._information_gain import InformationGain
from fewer.rankers._mutual_information import CMIM, JMI, MIFS, MRMR
from fewer.rankers._relief import Relief, ReliefF, RReliefF

__all__ = [
    "CMIM",
    "JMI",
    "MIFS",
    "MRMR",
    "Fisher",
    "GMLVQRelevance",
    "InformationGain",
    "RReliefF",
    "Relief",
    "ReliefF",
]
