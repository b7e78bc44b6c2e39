"""The documents' data sets by name, and the rules that make the artificial ones."""

from fewer.datasets._generators import (
    make_corral,
    make_m_of_n,
    make_monk,
    make_nel_shifted,
    make_nel_surrounded,
    make_nel_three_features,
    make_rdg1,
    make_scott_bimodal,
)
from fewer.datasets._shelf import Dataset, Info, info, load, names

__all__ = [
    "Dataset", "Info", "info", "load", "make_corral", "make_m_of_n", "make_monk", "make_nel_shifted",
    "make_nel_surrounded", "make_nel_three_features", "make_rdg1", "make_scott_bimodal", "names",
]  # fmt: skip
