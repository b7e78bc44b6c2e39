"""How good is each feature?"""

from typing import TYPE_CHECKING

from fewer import on_demand

if TYPE_CHECKING:
    from fewer.rankers._by_moments import (
        AUC,
        Chi2,
        Fisher,
        FTest,
        KendallTau,
        KolmogorovSmirnov,
        KruskalWallis,
        MannWhitney,
        Spearman,
    )
    from fewer.rankers._each import EACH
    from fewer.rankers._gmlvq_relevance import GMLVQRelevance
    from fewer.rankers._information import GainRatio, InformationGain, OneR, SymmetricalUncertainty
    from fewer.rankers._model_based import Importance, Permutation, Shap
    from fewer.rankers._mutual_information import CMIM, DISR, FCBF, JIM, JMI, JMIM, MIFS, MRMR
    from fewer.rankers._neighbor_information import MutualInformation
    from fewer.rankers._relief import SURF, MultiSURF, Relief, ReliefF, RReliefF
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "AUC",
    "CMIM",
    "DISR",
    "EACH",
    "FCBF",
    "JIM",
    "JMI",
    "JMIM",
    "MIFS",
    "MRMR",
    "SURF",
    "Chi2",
    "FTest",
    "Fisher",
    "GMLVQRelevance",
    "GainRatio",
    "Importance",
    "InformationGain",
    "KendallTau",
    "KolmogorovSmirnov",
    "KruskalWallis",
    "MannWhitney",
    "MultiSURF",
    "MutualInformation",
    "OneR",
    "Permutation",
    "RReliefF",
    "Relief",
    "ReliefF",
    "Shap",
    "Spearman",
    "SymmetricalUncertainty",
]
