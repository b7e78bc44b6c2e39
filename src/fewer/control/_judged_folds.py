"""Controls that search without each fold, let the fold judge, and search all rows with what the folds chose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fewer.contracts import Control, Run
from fewer.parallel import leaves_machine, run_tasks
from fewer.problem import Problem
from fewer.trace import Step, Trace
from fewer.validate import Split, split_rows

Record = dict[str, Any]
Task = tuple[int, np.random.Generator]


class JudgedFolds(Control):
    """Search without each fold, then on all rows; subclasses say what a fold is asked and what its answers choose."""

    cv: Any
    control: Control | None

    def run(self, run: Run) -> Trace:
        # Ask every fold that was not asked yet, then search all rows.
        trace = run.trace
        if trace.done:
            return trace
        splits = split_rows(run.problem, self.cv, run.rng)
        *seeds, last = run.rng.spawn(len(splits) + 1)
        records: list[Record] = trace.state.setdefault("runs", [])
        with run.ending():
            tasks = [(number, seeds[number]) for number in range(len(records), len(splits))]
            for record in self._runs(run, splits, tasks):
                records.append({**record, "rows": splits[len(records)].test})
                trace.n_evaluations += int(record["n_evaluations"])
                trace.record(Step(record["best"], record["score"], record["best"], record["score"]))
                run.tell()
            self._search_all(run, records, last)
        return trace

    def _runs(self, run: Run, splits: list[Split], tasks: list[Task]) -> Iterator[Record]:
        """Search without each fold: here, with threads inside each search; or each on a cluster."""
        if leaves_machine(run.resources):
            return run_tasks(_judged_fold, tasks, run.resources, shared=(self, run.shipped(), splits))
        return (_judged_fold((self, run, splits), *task) for task in tasks)

    def judged(self, run: Run, split: Split, held: Problem, rng: np.random.Generator) -> Record:
        """Search the training rows of a split and let the others judge.

        Parameters
        ----------
        run : Run
            On all rows.
        split : Split
        held : Problem
            The rows that are held out.
        rng : Generator

        Returns
        -------
        dict
            `best`, `score`, `n_evaluations`, and what the choice needs.
        """
        raise NotImplementedError

    def _search_all(self, run: Run, records: list[Record], rng: np.random.Generator) -> None:
        """Choose by the records, and search all rows."""
        raise NotImplementedError


def _judged_fold(shared: tuple[JudgedFolds, Run, list[Split]], number: int, rng: np.random.Generator) -> Record:
    control, run, splits = shared
    return control.judged(run, splits[number], run.problem.take(splits[number].test), rng)


def search_all(run: Run, control: Control | None, rng: np.random.Generator) -> None:
    """Let a run that has its records go on with a search of all rows, as one run.

    Parameters
    ----------
    run : Run
    control : Control or None
        What the search goes under.
    rng : Generator
    """
    trace, before = run.trace, run.trace.n_evaluations
    trace.restart()

    def follow(own: Trace) -> None:
        trace.go_on_with(own, before)
        run.tell()

    replace(run, rng=rng, trace=Trace(keep=trace.keep), follower=follow).under(control)


__all__ = ["JudgedFolds", "Record", "search_all"]
