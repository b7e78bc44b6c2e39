"""Which subset next?"""

from fewer.search._annealing import Annealing
from fewer.search._exhaustive import Exhaustive
from fewer.search._floating import Floating
from fewer.search._sequential import Backward, Forward

__all__ = ["Annealing", "Backward", "Exhaustive", "Floating", "Forward"]
