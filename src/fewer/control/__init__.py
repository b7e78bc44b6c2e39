"""When to stop believing it?"""

from fewer.control._aggregate import Aggregate
from fewer.control._early_stopping import EarlyStopping
from fewer.control._noise import Noise
from fewer.control._one_standard_error import OneStandardError
from fewer.control._prefilter import Prefilter, add_innermost

__all__ = ["Aggregate", "EarlyStopping", "Noise", "OneStandardError", "Prefilter", "add_innermost"]
