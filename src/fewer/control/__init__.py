"""Guards against overfitting."""

from typing import TYPE_CHECKING

from fewer import on_demand

if TYPE_CHECKING:
    from fewer.control._aggregate import Aggregate
    from fewer.control._early_stopping import EarlyStopping
    from fewer.control._knockoffs import Knockoffs
    from fewer.control._noise import ChosenNoise, Noise
    from fewer.control._one_standard_error import OneStandardError
    from fewer.control._prefilter import Correlated, Prefilter, add_innermost
    from fewer.control._shadow import FalseDiscovery, Probe, Shadow
    from fewer.control._stability_selection import StabilitySelection
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "Aggregate",
    "ChosenNoise",
    "Correlated",
    "EarlyStopping",
    "FalseDiscovery",
    "Knockoffs",
    "Noise",
    "OneStandardError",
    "Prefilter",
    "Probe",
    "Shadow",
    "StabilitySelection",
    "add_innermost",
]
