"""What every fit of a selector ends in: the features, what they rest on, and why the run ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fewer.contracts._components import Component, Control, Criterion, Search
from fewer.contracts._run import Run, Stopped
from fewer.contracts.trace import Ending, Trace, size_of
from fewer.errors import interruptible
from fewer.problem import BoolArray, FloatArray, IntArray
from fewer.text import NoteKind

LARGEST_SHOWN = 60
"""Features up to which the answers of other sizes are given."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a fit ends in. Nothing needs to ask which selector made it.

    Parameters
    ----------
    support : bool array of shape (n_features,)
        The chosen features.
    ranking : int array of shape (n_features,)
        1 is best.
    scored_by : Component
        The criterion, the ranker, or the model that stands for `auto`.
    search : Search or None
        Which search found them, if one did.
    control : Control or None
        What decided when to stop believing it.
    trace : Trace
        The history: steps, notes, how many subsets were scored, why it ended.
    believed : float or None
        The score by which a search chose; optimistic.
    judge, judge_all : Criterion or None
        Which model predicts with the chosen features, and with all of them, where the method has one.
    judge_names : dict
        The names of these models, by "chosen" and "all".
    curve : dict
        Score against the number of features, by `size`; empty if it was not measured.
    choices : dict
        By preference, the features that it gets.
    stand_ins : dict
        For chosen features, others that can replace them.
    reason : str
        Why these features.
    nothing_found : bool, default=False
        No feature predicts better than chance.
    is_empty : bool, default=False
        Nothing was found and no number of features was asked for: `support` is the best guess only.
    smallest_without_loss : int or None
        The smallest size with no measurable loss, where the chosen one has some.
    n_seen : int or None
        Rows that the method looked at, if not all.
    folds : list of Split or None
        The folds without which the selection can be repeated with work that was done already.
    without : callable or None
        Given the number of such a fold, returns the answer without it; a fitted selector does not keep it.
    tried : (array, array) or None
        What the model predicted for each row while the answer was chosen, by the parts that did not see the row: with
        the chosen number of features, and with all.
    run : Run or None
        The run, whose bound criterion scores more subsets; a fitted selector does not keep it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import fewer
    >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), n_features_to_select=2).fit(*load_iris(return_X_y=True))
    >>> selector.answer_.order, selector.answer_.ending.value
    (array([2, 3]), 'finished')
    """

    support: BoolArray
    ranking: IntArray
    scored_by: Component
    search: Search | None = None
    control: Control | None = None
    trace: Trace = field(default_factory=Trace)
    believed: float | None = None
    judge: Criterion | None = None
    judge_all: Criterion | None = None
    judge_names: dict[str, str] = field(default_factory=dict)
    curve: dict[str, Any] = field(default_factory=dict)
    choices: dict[str, BoolArray] = field(default_factory=dict)
    stand_ins: dict[int, list[int]] = field(default_factory=dict)
    reason: str = ""
    nothing_found: bool = False
    is_empty: bool = False
    smallest_without_loss: int | None = None
    n_seen: int | None = None
    folds: list[Any] | None = None
    without: Callable[[int], Answer] | None = None
    tried: tuple[FloatArray, FloatArray] | None = None
    run: Run | None = None

    @property
    def order(self) -> IntArray:
        """The chosen features, best first."""
        chosen = np.flatnonzero(self.support)
        return chosen[np.argsort(self.ranking[chosen], kind="stable")]

    @property
    def ending(self) -> Ending:
        """Why the run ended."""
        return self.trace.ending

    @property
    def promise(self) -> str:
        """What a control promises: a rate of false discoveries, a number of false selections."""
        return str(self.trace.state.get("promise", ""))

    def by_size(self) -> dict[int, BoolArray]:
        """Return the subset that the selector would take at each size that it looked at, up to 60 features.

        Returns
        -------
        dict
            Masks by size, in ascending order; those of a ranking nest. The answer itself stands at its own size.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import fewer
        >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), random_state=0).fit(*load_iris(return_X_y=True))
        >>> list(selector.answer_.by_size())
        [1, 2, 3, 4]
        """
        sizes = [int(size) for size in self.curve.get("size", ())]
        prefixes = {size: self.ranking <= size for size in sizes}
        found = prefixes
        if self.choices:
            own = {int(mask.sum()): np.asarray(mask, dtype=bool) for mask in self.choices.values()}
            nest = all(size in prefixes and np.array_equal(mask, prefixes[size]) for size, mask in own.items())
            found = prefixes if nest else own
        elif self.search is not None:
            found = {size: mask for size, (_, mask) in best_by_size(self.trace).items()}
        found = {size: mask for size, mask in found.items() if size <= LARGEST_SHOWN}
        if not self.is_empty and self.support.any():
            found[int(self.support.sum())] = self.support
        return dict(sorted(found.items()))


def best_by_size(trace: Trace) -> dict[int, tuple[float, BoolArray]]:
    """Return score and mask of the best subset of each size among the steps and the best subsets of a run.

    Parameters
    ----------
    trace : Trace
        Of a search.

    Returns
    -------
    dict
        By size, in ascending order.

    Examples
    --------
    >>> from fewer.contracts.trace import Step
    >>> trace = Trace()
    >>> one, two = np.array([True, False]), np.array([True, True])
    >>> for mask, score in ((one, 0.5), (two, 0.7)):
    ...     _ = trace.record(Step(mask, score, mask, score))
    >>> {size: score for size, (score, _) in best_by_size(trace).items()}
    {1: 0.5, 2: 0.7}
    """
    best: dict[int, tuple[float, BoolArray]] = {}
    for mask, score in trace.subsets_met():
        size = int(size_of(mask))
        if size and np.isfinite(score) and (size not in best or score > best[size][0]):
            best[size] = (float(score), np.asarray(mask) != 0)
    return dict(sorted(best.items()))


@contextmanager
def best_so_far(trace: Trace) -> Iterator[None]:
    """Let a run end early with its best subset: whoever follows it has seen enough, or Ctrl-C came after a step.

    Parameters
    ----------
    trace : Trace
        Says afterwards why the run ended.

    Yields
    ------
    None
        Nothing: the work stands inside the `with`.

    Examples
    --------
    >>> trace = Trace()
    >>> with best_so_far(trace):
    ...     raise Stopped("Seen enough.")
    >>> trace.ending.value, trace.notes
    ('follower', ['Seen enough.'])
    """
    if trace.ending is Ending.INTERRUPTED:  # and goes on now
        trace.ending = Ending.FINISHED
    try:
        with interruptible():
            yield
    except Stopped as stop:
        trace.note(str(stop), NoteKind.STOPPED)
        trace.ending = stop.ending
    except KeyboardInterrupt:
        if not trace.steps:
            raise
        trace.ending = Ending.INTERRUPTED
