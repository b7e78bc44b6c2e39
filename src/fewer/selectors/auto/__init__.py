"""The selector that chooses the method by itself."""

from fewer.selectors.auto._curve import MARGIN, Metric
from fewer.selectors.auto._selector import AutoSelector

__all__ = ["MARGIN", "AutoSelector", "Metric"]
