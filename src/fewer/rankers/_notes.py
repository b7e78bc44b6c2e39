"""What a reader of a ranking should know beside what the input reader noticed of its columns."""

from __future__ import annotations

from fewer.contracts import Ranker
from fewer.problem import Problem


def notes_on(ranker: Ranker, problem: Problem) -> list[str]:
    """Say what to know before a ranking is believed.

    Columns that look like identifiers or tell the target by themselves are named by the input reader: its notes come
    first. Whether row groups make its p-values too small follows.

    Parameters
    ----------
    ranker : Ranker
        What ranked them.
    problem : Problem
        The rows.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from fewer.rankers import FTest
    >>> problem = Problem.from_arrays([[0, 7], [1, 5], [0, 7]], ["a", "b", "a"], groups=[1, 2, 1])
    >>> notes_on(FTest(), problem)
    ['FTest takes rows as independent; with row groups its p-values are too small.']
    """
    notes = list(problem.notes)
    if problem.groups is not None and ranker.p_values:
        notes.append(f"{type(ranker).__name__} takes rows as independent; with row groups its p-values are too small.")
    return notes
