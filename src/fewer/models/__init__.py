"""The classifiers and transformers that the documents need, as scikit-learn estimators."""

from fewer.models._discrete_naive_bayes import DiscreteNaiveBayes
from fewer.models._least_squares import LeastSquaresClassifier
from fewer.models._mdlp import MDLPDiscretizer

__all__ = ["DiscreteNaiveBayes", "LeastSquaresClassifier", "MDLPDiscretizer"]
