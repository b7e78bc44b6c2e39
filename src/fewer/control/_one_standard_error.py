"""Controls that search without each fold, let the fold judge, and search all rows with what the folds chose.

One of them takes the smallest size that held-out rows cannot tell from the best (Breiman, Friedman, Olshen and Stone,
1984).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Control, NonNegative, PredictiveScorer, Run, SearchSpace, parameters
from fewer.contracts.trace import Step, Trace, is_better
from fewer.parallel import run_parts
from fewer.problem import FloatArray, Problem
from fewer.validate import Split, split_rows
from fewer.validate.splits import CV, count_splits

Record = dict[str, Any]


class JudgedFolds(Control):
    """Search without each fold, then on all rows; subclasses say what a fold is asked and what its answers choose."""

    needs: ClassVar[frozenset[str]] = frozenset({"predictive"})

    cv: Any
    control: Control | None

    def n_searches(self, n_samples: int) -> int:
        # One without each fold, and one on all rows.
        return super().n_searches(n_samples) * (1 + count_splits(self.cv, n_samples))

    def run(self, run: Run) -> Trace:
        # Ask every fold that was not asked yet, then search all rows.
        trace = run.trace
        if trace.done:
            return trace
        splits = split_rows(run.problem, self.cv, run.rng)
        *seeds, last = run.rng.spawn(len(splits) + 1)
        records: list[Record] = trace.state.setdefault("runs", [])
        trace.n_evaluations = sum(int(record["n_evaluations"]) for record in records)
        with run.trace.finishing():
            tasks = [(number, seeds[number]) for number in range(len(records), len(splits))]
            for record in self._ask(run, tasks, splits):
                records.append({**record, "rows": splits[len(records)].test})
                trace.n_evaluations += int(record["n_evaluations"])
                self._summarise(records, trace)
                trace.record(Step(record["best"], record["score"], record["best"], record["score"]))
                run.tell()
            self._search_all(run, records, last)
        return trace

    def judged(self, run: Run, split: Split, held: Problem, rng: np.random.Generator) -> Record:
        """Search the training rows of a split and let the others judge.

        Parameters
        ----------
        run : Run
            On all rows.
        split : Split
            The rows that choose and those that score.
        held : Problem
            The rows that are held out.
        rng : Generator
            Draws all that is random.

        Returns
        -------
        dict
            `best`, `score`, `n_evaluations`, and what the choice needs.
        """
        raise NotImplementedError

    def _ask(self, run: Run, tasks: list[Any], splits: list[Split]) -> Iterable[Record]:
        """Let each fold judge, given as its number and a generator."""
        return run_parts(judged_fold, tasks, run, self, splits)

    def _summarise(self, records: Sequence[Record], trace: Trace) -> None:
        """Show what the folds that were asked say so far: nothing, unless a subclass does."""

    def _search_all(self, run: Run, records: list[Record], rng: np.random.Generator) -> None:
        """Choose by the records, and search all rows."""
        raise NotImplementedError


def judged_fold(shared: tuple[Run, JudgedFolds, list[Split]], number: int, rng: np.random.Generator) -> Record:
    """Let one fold judge."""
    run, control, splits = shared
    return control.judged(run, splits[number], run.problem.take(splits[number].test), rng)


def search_all(run: Run, control: Control | None, rng: np.random.Generator) -> None:
    """Let a run that has its records go on with a search of all rows, as one run.

    Parameters
    ----------
    run : Run
        The run that asks.
    control : Control or None
        What the search goes under.
    rng : Generator
        Draws all that is random.
    """
    trace, before = run.trace, run.trace.n_evaluations
    trace.restart()

    def follow(inner: Trace) -> None:
        trace.go_on_with(inner, before)
        run.tell()

    replace(run, rng=rng, trace=Trace(keep=trace.keep), follower=follow).under(control)


@parameters
class OneStandardError(JudgedFolds):
    """Choose the number of features by cross-validation, then search up to that number.

    The whole search is repeated without each fold. Its best subset of at most one, two, three … features predicts that
    fold, so that every row judges every size by a search that did not see the row. The smallest size is taken whose
    loss exceeds that of the best size by no more than one standard error of that very difference, row by row.

    Read more in the guide: :doc:`/guide/how-many`.

    Parameters
    ----------
    cv : int or splitter, default=5
        Folds of the validation runs.
    n_errors : float, default=1.0
        How many standard errors a smaller subset may be behind; 0 takes the best size itself.
    control : Control, optional
        Runs inside.

    Notes
    -----
    The loss is squared: of class memberships, of which every row has one a class, or of the predicted quantity. It sees
    a weak feature before the share of right predictions does. The trace's `extra` holds `sizes`; by size the mean
    `loss`, the standard error of its difference from the best as `loss_error`, and the share of right predictions (or
    minus the loss) as `heldout`; and `chosen_size`, the chosen and the best one.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> components = fewer.criteria.LeastSquares(), fewer.search.Floating()
    >>> plain = fewer.SubsetSelector(*components, random_state=0).fit(X, y)
    >>> thrifty = fewer.SubsetSelector(*components, control=OneStandardError(), random_state=0).fit(X, y)
    >>> bool(thrifty.support_.sum() < plain.support_.sum())
    True
    """

    command_name = "one-standard-error"

    cv: CV = 5
    n_errors: NonNegative = 1.0
    control: Control | None = None

    def judged(self, run: Run, split: Split, held: Problem, rng: np.random.Generator) -> Record:
        # The best subset of each size.
        return judged_run(run.on(split.train, rng), self.control, held)

    def _choose(self, records: list[Record], problem: Problem, space: SearchSpace, trace: Trace) -> int:
        """Put the runs' losses into one table and choose the size."""
        smallest = min(int(record["sizes"][0]) for record in records)
        sizes = np.arange(smallest, max(int(record["sizes"][-1]) for record in records) + 1)
        losses, right = np.empty((problem.n_samples, len(sizes))), np.empty((problem.n_samples, len(sizes)))
        for record in records:
            places = np.maximum(np.searchsorted(record["sizes"], sizes, side="right") - 1, 0)
            losses[record["rows"]], right[record["rows"]] = record["losses"][:, places], record["right"][:, places]
        judged = np.unique(np.concatenate([record["rows"] for record in records]))
        weights = problem.row_weights
        curve = loss_curve(losses[judged], weights[judged])
        place = int(np.argmax(curve["behind"] <= self.n_errors * curve["error"] + 1e-12))
        trace.extra.update(
            sizes=sizes,
            loss=curve["loss"],
            loss_error=curve["error"],
            heldout=np.average(right[judged], axis=0, weights=weights[judged]),
            chosen_size=np.array([sizes[place], sizes[int(np.argmin(curve["loss"]))]]),
        )
        return max(int(sizes[place]), space.min_units)

    def _search_all(self, run: Run, records: list[Record], rng: np.random.Generator) -> None:
        trace = run.trace
        size = self._choose(records, run.problem, run.space, trace)
        space = replace(run.space, max_units=min(size, run.space.max_units))
        search_all(replace(run, space=space), self.control, rng)
        chosen, best = trace.extra["chosen_size"]
        if chosen < best:
            trace.note(f"Held-out rows cannot separate up to {chosen} features from up to {best}, the best size.")


def judged_run(run: Run, control: Control | None, held: Problem) -> Record:
    """Search some rows; let others judge the best subset of at most each size."""
    scorer = cast(PredictiveScorer, run.scorer)
    trace = run.under(control)
    sizes, losses, right = [], [], []
    for size, mask in best_up_to(trace, run.space):
        outputs = scorer.predict(mask, held.X)
        sizes.append(size)
        losses.append(squared_loss(outputs, held))
        right.append(outputs.argmax(axis=1) == held.y if held.task == "classification" else -losses[-1])
    return {
        "sizes": np.array(sizes),
        "losses": np.array(losses).T,
        "right": np.array(right, dtype=np.float64).T,
        "best": trace.best,
        "score": trace.best_score,
        "n_evaluations": trace.n_evaluations,
    }


def best_up_to(trace: Trace, space: SearchSpace) -> Iterator[tuple[int, NDArray[Any]]]:
    """Return the best subset of at most each size in the trace, smallest first; sizes that add none lack."""
    by_size: dict[int, tuple[NDArray[Any], float]] = {}
    for mask, score in trace.subsets_met():
        size = int(np.count_nonzero(space.shrink(mask)))
        if space.min_units <= size <= space.max_units and (size not in by_size or score > by_size[size][1]):
            by_size[size] = (mask, score)
    best, best_score = trace.best, -np.inf
    for size in sorted(by_size):
        mask, score = by_size[size]
        if best_score == -np.inf or is_better(score, mask, best_score, best):
            best, best_score = mask, score
            yield size, mask
    if best_score == -np.inf:
        yield int(np.count_nonzero(space.shrink(best))), best


def squared_loss(outputs: FloatArray, rows: Problem) -> FloatArray:
    """Return each row's squared loss: of its class memberships, or of its quantity."""
    if rows.task == "regression":
        return (outputs - rows.y) ** 2
    return ((outputs - (rows.y[:, None] == np.arange(outputs.shape[1]))) ** 2).sum(axis=1)


def loss_curve(losses: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
    """Average (n, s) losses; say how far each size is behind the best one, and the standard error of that.

    Examples
    --------
    >>> curve = loss_curve(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.ones(4))
    >>> curve["loss"].tolist(), curve["behind"].tolist(), curve["error"].round(3).tolist()
    ([0.75, 0.5], [0.25, 0.0], [0.479, 0.0])
    """
    mean = np.average(losses, axis=0, weights=weights)
    behind = losses - losses[:, [int(np.argmin(mean))]]
    gap = np.average(behind, axis=0, weights=weights)
    share = weights / weights.sum()
    n = 1.0 / (share @ share)
    variance = share @ (behind - gap) ** 2
    return {"loss": mean, "behind": gap, "error": np.sqrt(variance / max(n - 1.0, 1.0))}
