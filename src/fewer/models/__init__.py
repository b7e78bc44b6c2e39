"""The classifiers and transformers that the documents need, as scikit-learn estimators."""

from fewer.models._gmlvq import GMLVQClassifier
from fewer.models._least_squares import LeastSquaresClassifier
from fewer.models._neighborhood import NeighborhoodClassifier, RelevantContextClassifier
from fewer.models.discrete_naive_bayes import DiscreteNaiveBayes
from fewer.models.mdlp import MDLPDiscretizer
from fewer.models.rann import RANNClassifier, RANNRegressor

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
