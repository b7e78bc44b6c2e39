"""Proposes subsets."""

from typing import TYPE_CHECKING

from fewer import on_demand

if TYPE_CHECKING:
    from fewer.search._annealing import Annealing
    from fewer.search._best_first import BestFirst
    from fewer.search._best_subset import BestSubset
    from fewer.search._elimination import Elimination
    from fewer.search._evolution import PBIL, Genetic
    from fewer.search._exhaustive import BranchAndBound, Exhaustive
    from fewer.search._regularization_path import RegularizationPath
    from fewer.search._sequential import DIET, Backward, Floating, Forward, InOrder, PlusLTakeAwayR, SignificantForward
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "DIET", "PBIL", "Annealing", "Backward", "BestFirst", "BestSubset", "BranchAndBound", "Elimination", "Exhaustive",
    "Floating", "Forward", "Genetic", "InOrder", "PlusLTakeAwayR", "RegularizationPath", "SignificantForward",
]  # fmt: skip
