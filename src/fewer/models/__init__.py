"""The classifiers and transformers that the documents need, as scikit-learn estimators."""

from fewer.models._mdlp import MDLPDiscretizer

__all__ = ["MDLPDiscretizer"]
