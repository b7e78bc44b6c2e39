"""scikit-learn estimators that put the components together."""

from typing import TYPE_CHECKING

from fewer import on_demand

if TYPE_CHECKING:
    from fewer.problem import Column
    from fewer.selectors._base import Selector, Size, parse_memory, parse_size
    from fewer.selectors._ensemble import FeatureWeighter, SubsetEnsemble
    from fewer.selectors._keep import KeepFeatures
    from fewer.selectors._rank import RankSelector
    from fewer.selectors._subset import SubsetSelector
    from fewer.selectors.auto._selector import AutoSelector
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "AutoSelector",
    "Column",
    "FeatureWeighter",
    "KeepFeatures",
    "RankSelector",
    "Selector",
    "Size",
    "SubsetEnsemble",
    "SubsetSelector",
    "parse_memory",
    "parse_size",
]
