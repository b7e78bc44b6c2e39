"""What a run is doing, for people who watch: the logger `fewer`, and `verbose`."""

from __future__ import annotations

import logging
from typing import Any

from fewer.contracts import OnStep
from fewer.trace import Trace

LOGGER = logging.getLogger("fewer")


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
            text = (
                f"{name}: step {trace.n_steps}, {trace.n_evaluations:,} subsets, best {trace.best_score:.6g} with "
                f"{int((trace.best != 0).sum())} features"
            )
            LOGGER.debug(text)
            if verbose > 1 or (verbose and better):
                print(text, flush=True)
        if follower is not None:
            follower(trace)

    return follow
