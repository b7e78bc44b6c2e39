"""Progress of a run, on one line of a terminal or as a bar in a notebook."""

from __future__ import annotations

import logging
import sys
import time
from html import escape

from fewer.contracts.trace import Trace

LOGGER = logging.getLogger("fewer")


class Progress:
    """A run on one line: rewritten in place in a terminal, a bar in a notebook, a line a fold elsewhere.

    Parameters
    ----------
    n_folds : int
        How many folds follow the search.

    Examples
    --------
    >>> Progress(5).text
    'selecting features'
    """

    def __init__(self, n_folds: int) -> None:
        self.n_folds = n_folds
        self.text = "selecting features"
        self._done, self._told, self._began, self._handle = 0, 0.0, time.monotonic(), None
        self._notebook = _in_notebook()

    def on_step(self, trace: Trace) -> None:
        """Show a step of the search, at most ten times a second.

        Parameters
        ----------
        trace : Trace
            The search so far.
        """
        if trace.steps and time.monotonic() - self._told > 0.1:
            size = int((trace.best != 0).sum())
            self.text = f"{trace.n_evaluations:,} subsets, best with {size} feature{'s' * (size != 1)}"
            self._show()

    def on_fold(self, n_done: int) -> None:
        """Show that a fold is done.

        Parameters
        ----------
        n_done : int
            How many are done.
        """
        left = (time.monotonic() - self._began) / (n_done + 1) * max(self.n_folds - n_done, 0)
        self._done = n_done
        self.text = f"testing on held-out rows: {n_done} of {self.n_folds} folds done, about {left:.0f} s left"
        self._show(last=n_done >= self.n_folds)

    def _show(self, last: bool = False) -> None:
        self._told = time.monotonic()
        if self._notebook:
            self._show_bar()
        elif sys.stderr.isatty():
            print(f"\r\x1b[Kfewer: {self.text}", end="\n" if last else "", file=sys.stderr, flush=True)
        elif self._done:
            print(f"fewer: {self.text}", file=sys.stderr, flush=True)

    def _show_bar(self) -> None:
        from IPython.display import HTML, display

        bar = f'<progress value="{self._done}" max="{self.n_folds}"></progress> {escape(self.text)}'
        if self._handle is None:
            self._handle = display(HTML(bar), display_id=True)
        else:
            self._handle.update(HTML(bar))


def is_watched() -> bool:
    """Say whether somebody sees progress: in a terminal or a notebook, not in a pipe.

    Returns
    -------
    bool
    """
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _in_notebook() -> bool:
    """Say whether a notebook's kernel runs this; nothing is imported to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
