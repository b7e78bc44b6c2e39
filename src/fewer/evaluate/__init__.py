"""Does it help? The whole selection repeated on parts of the rows, judged on the others."""

from fewer.evaluate._heldout import Heldout, heldout, n_selections

__all__ = ["Heldout", "heldout", "n_selections"]
