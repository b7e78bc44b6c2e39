"""The classifiers and transformers that the documents need, as scikit-learn estimators."""

from typing import TYPE_CHECKING

from fewer import on_demand

if TYPE_CHECKING:
    from fewer.models._gmlvq import GMLVQClassifier
    from fewer.models._least_squares import LeastSquaresClassifier
    from fewer.models._neighborhood import NeighborhoodClassifier, RelevantContextClassifier
    from fewer.models.discrete_naive_bayes import DiscreteNaiveBayes
    from fewer.models.mdlp import MDLPDiscretizer
    from fewer.models.rann import RANNClassifier, RANNRegressor
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "DiscreteNaiveBayes",
    "GMLVQClassifier",
    "LeastSquaresClassifier",
    "MDLPDiscretizer",
    "NeighborhoodClassifier",
    "RANNClassifier",
    "RANNRegressor",
    "RelevantContextClassifier",
]
