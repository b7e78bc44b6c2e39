"""What a run is doing, for those who watch: the logger `fewer`, `verbose`, and scikit-learn's callbacks (from 1.9)."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from sklearn.callback import CallbackSupportMixin, with_callbacks

from fewer.contracts import OnStep, Stopped
from fewer.contracts.trace import Trace

LOGGER = logging.getLogger("fewer")

__all__ = ["CallbackSupportMixin", "follow_callbacks", "with_callbacks"]


def follow_steps(selector: Any, follower: OnStep | None = None) -> OnStep | None:
    """Tell of each step in the log, and on standard output where the selector is verbose.

    Parameters
    ----------
    selector : estimator
        Its `verbose` says how much to print: 0 nothing, 1 improvements, 2 every step.
    follower : callable, optional
        Is told as well.

    Returns
    -------
    callable or None
        None where nobody listens.
    """
    verbose = int(getattr(selector, "verbose", 0) or 0)
    if not verbose and not LOGGER.isEnabledFor(logging.DEBUG):
        return follower
    name, best = type(selector).__name__, float("-inf")

    def follow(trace: Trace) -> None:
        nonlocal best
        if trace.steps:
            better = trace.best_score > best
            best = max(best, trace.best_score)
            size = int((trace.best != 0).sum())
            done = f"{name}: step {trace.n_steps}, {trace.n_evaluations:,} subset{'s' * (trace.n_evaluations != 1)}"
            text = f"{done}, best {trace.best_score:.4g} with {size} feature{'s' * (size != 1)}"
            LOGGER.debug(text)
            if verbose > 1 or (verbose and better):
                print(text, flush=True)
        if follower is not None:
            follower(trace)

    return follow


@contextmanager
def follow_callbacks(estimator: Any, X: Any, y: Any) -> Iterator[OnStep | None]:
    """Tell the callbacks of an estimator that its fit begins and ends, and of each step between.

    Parameters
    ----------
    estimator : estimator
        The one that is fitted.
    X, y : array-like
        What it is fitted to.

    Yields
    ------
    callable or None
        To be called with the trace after each step; None if the estimator has no callbacks.

    Examples
    --------
    >>> from fewer import RankSelector
    >>> from fewer.rankers import Fisher
    >>> with follow_callbacks(RankSelector(Fisher()), [[0.0], [1.0]], [0, 1]) as on_step:
    ...     print(on_step)
    None
    """
    if not vars(estimator).get("_skl_callbacks"):
        yield None
        return
    fit = estimator._init_callback_context(max_subtasks=None)
    fit.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    enough = False

    def on_step(trace: Trace) -> None:
        nonlocal enough
        if not trace.steps or not trace.best.any():
            return  # an empty subset is where a search begins, and transforms nothing
        if not enough:
            step = fit.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
            enough = step.call_on_fit_task_end(
                estimator=estimator, X=X, y=y, reconstruction_attributes=lambda: {"support_": trace.best != 0}
            )
        if enough:
            raise Stopped("A callback ended the search; this is the best so far.")

    yield on_step
    fit.call_on_fit_task_end(
        estimator=estimator, X=X, y=y, reconstruction_attributes=lambda: {"support_": estimator.support_}
    )


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
        """Tell of a step of the search, ten times a second at the most.

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
        """Tell that a fold is done.

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
