"""How good is this subset?"""

from typing import TYPE_CHECKING

from fewer import on_demand

if TYPE_CHECKING:
    from fewer.criteria._cfs import CFS
    from fewer.criteria._classifiability import Classifiability, classifiability
    from fewer.criteria._complexity import (
        BoundaryShare,
        FisherRatio,
        LinearSeparability,
        boundary_share,
        fisher_ratio,
        linear_separability,
    )
    from fewer.criteria._consistency import Consistency
    from fewer.criteria._gamma_test import (
        GammaTest,
        TrainingStop,
        gamma_test,
        intrinsic_dimension,
        reachable_error,
        training_stop,
    )
    from fewer.criteria._knn import KNN
    from fewer.criteria._least_squares import LeastSquares
    from fewer.criteria._naive_bayes import NaiveBayes
    from fewer.criteria._rann import RANN
    from fewer.criteria._separability import Separability
    from fewer.criteria.cross_validated import CrossValidated
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "CFS",
    "KNN",
    "RANN",
    "BoundaryShare",
    "Classifiability",
    "Consistency",
    "CrossValidated",
    "FisherRatio",
    "GammaTest",
    "LeastSquares",
    "LinearSeparability",
    "NaiveBayes",
    "Separability",
    "TrainingStop",
    "boundary_share",
    "classifiability",
    "fisher_ratio",
    "gamma_test",
    "intrinsic_dimension",
    "linear_separability",
    "reachable_error",
    "training_stop",
]
