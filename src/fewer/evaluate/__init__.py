"""Does it help? The whole selection repeated on parts of the rows, judged on the others."""

from fewer.evaluate._compare import Comparison, OnProgress, compare
from fewer.evaluate._heldout import Heldout, heldout
from fewer.evaluate._nested import Nested, nested
from fewer.evaluate._verdict import MethodScore, verdict

__all__ = [
    "Comparison",
    "Heldout",
    "MethodScore",
    "Nested",
    "OnProgress",
    "compare",
    "heldout",
    "nested",
    "verdict",
]
