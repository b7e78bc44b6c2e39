"""scikit-learn's callbacks (1.9 and later) on the steps of a search; with earlier versions there are none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fewer.contracts import OnStep, Stopped
from fewer.trace import Trace

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support: scikit-learn before 1.9 has no callbacks.

        Examples
        --------
        >>> CallbackSupportMixin()  # doctest: +ELLIPSIS
        <...CallbackSupportMixin object at ...>
        """

    def with_callbacks(method: Any) -> Any:
        """Leave a method as it is.

        Parameters
        ----------
        method : callable
            One that would tell callbacks of its steps.

        Returns
        -------
        callable
            The same.

        Examples
        --------
        >>> with_callbacks(len)([1, 2])
        2
        """
        return method


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


__all__ = ["CallbackSupportMixin", "follow_callbacks", "with_callbacks"]
