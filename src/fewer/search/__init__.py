"""Which subset next?"""

from fewer.search._annealing import Annealing
from fewer.search._best_first import BestFirst
from fewer.search._best_subset import BestSubset
from fewer.search._branch_and_bound import BranchAndBound
from fewer.search._diet import DIET
from fewer.search._elimination import Elimination
from fewer.search._exhaustive import Exhaustive
from fewer.search._floating import Floating
from fewer.search._genetic import Genetic
from fewer.search._in_order import InOrder
from fewer.search._pbil import PBIL
from fewer.search._plus_l_take_away_r import PlusLTakeAwayR
from fewer.search._regularization_path import RegularizationPath
from fewer.search._sequential import Backward, Forward
from fewer.search._significant_forward import SignificantForward

__all__ = [
    "DIET",
    "PBIL",
    "Annealing",
    "Backward",
    "BestFirst",
    "BestSubset",
    "BranchAndBound",
    "Elimination",
    "Exhaustive",
    "Floating",
    "Forward",
    "Genetic",
    "InOrder",
    "PlusLTakeAwayR",
    "RegularizationPath",
    "SignificantForward",
]
