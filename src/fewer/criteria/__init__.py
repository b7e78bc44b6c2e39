"""How good is this subset?"""

from fewer.criteria._cross_validated import CrossValidated
from fewer.criteria._knn import KNN

__all__ = ["KNN", "CrossValidated"]
