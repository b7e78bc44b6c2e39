"""How good is this subset?"""

from fewer.criteria._classifiability import Classifiability, classifiability
from fewer.criteria._cross_validated import CrossValidated
from fewer.criteria._knn import KNN
from fewer.criteria._separability import Separability

__all__ = ["KNN", "Classifiability", "CrossValidated", "Separability", "classifiability"]
