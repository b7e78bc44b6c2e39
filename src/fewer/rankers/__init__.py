"""How good is each feature?"""

from fewer.rankers._fisher import Fisher
from fewer.rankers._information_gain import InformationGain
from fewer.rankers._relief import Relief, ReliefF, RReliefF

__all__ = ["Fisher", "InformationGain", "RReliefF", "Relief", "ReliefF"]
