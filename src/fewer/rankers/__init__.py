"""How good is each feature?"""

from fewer.rankers._each import EACH
from fewer.rankers._fisher import Fisher
from fewer.rankers._gmlvq_relevance import GMLVQRelevance
from fewer.rankers._importance import Importance
from fewer.rankers._information_gain import InformationGain
from fewer.rankers._mutual_information import CMIM, DISR, JIM, JMI, MIFS, MRMR
from fewer.rankers._neighbor_information import MutualInformation
from fewer.rankers._permutation import Permutation
from fewer.rankers._relief import Relief, ReliefF, RReliefF
from fewer.rankers._shap import Shap
from fewer.rankers._significance import Chi2, FTest
from fewer.rankers._surf import SURF, MultiSURF

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
