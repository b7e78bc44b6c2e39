"""The smallest subset that held-out rows cannot tell from the best (Breiman, Friedman, Olshen and Stone, 1984)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from fewer.contracts import Control, Criterion, OnStep, PredictiveScorer, Resources, Search, SearchSpace
from fewer.objective import run_method
from fewer.problem import FloatArray, InputError, Problem
from fewer.trace import Step, Trace, is_better
from fewer.validate import split_rows

Record = dict[str, Any]


class OneStandardError(Control):
    """Find by cross-validation how many features are worth having, then search for at most so many.

    The whole search is repeated without each fold. Its best subset of at most one, two, three … features predicts that
    fold, so that every row judges every size by a search that did not see the row. The smallest size is taken whose
    loss exceeds that of the best size by no more than one standard error of that very difference, row by row.

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

    needs: ClassVar[frozenset[str]] = frozenset({"predictive"})

    def __init__(self, cv: Any = 5, n_errors: float = 1.0, control: Control | None = None) -> None:
        self.cv = cv
        self.n_errors = n_errors
        self.control = control

    def run(
        self,
        criterion: Criterion,
        problem: Problem,
        search: Search,
        space: SearchSpace,
        rng: np.random.Generator,
        on_step: OnStep | None = None,
        *,
        resources: Resources,
        trace: Trace,
    ) -> Trace:
        """Validate, choose the size, search all rows."""
        if self.n_errors < 0:
            raise InputError(f"n_errors={self.n_errors}: give a number of at least 0.")
        if trace.done:
            return trace
        splits = split_rows(problem, self.cv, rng)
        *seeds, last = rng.spawn(len(splits) + 1)
        records: list[Record] = trace.state.setdefault("runs", [])
        components = self.control, criterion, search, space, resources
        try:
            for split, seed in list(zip(splits, seeds, strict=True))[len(records) :]:
                record = judged_run(*components, problem.take(split.train), problem.take(split.test), seed)
                records.append({**record, "rows": split.test})
                trace.n_evaluations += int(record["n_evaluations"])
                trace.record(Step(record["best"], record["score"], record["best"], record["score"]))
                if on_step is not None:
                    on_step(trace)
            size = self._choose(records, problem, space, trace)
            self._search_all(components, problem, size, last, on_step, trace)
        except KeyboardInterrupt:
            trace.interrupted = True
            raise
        trace.done, trace.interrupted = True, False
        return trace

    def _choose(self, records: list[Record], problem: Problem, space: SearchSpace, trace: Trace) -> int:
        """Put the runs' losses into one table and choose the size."""
        smallest = min(int(record["sizes"][0]) for record in records)
        largest = max(int(record["sizes"][-1]) for record in records)
        sizes = np.arange(smallest, largest + 1)
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

    def _search_all(
        self,
        components: Any,
        problem: Problem,
        size: int,
        rng: np.random.Generator,
        on_step: OnStep | None,
        trace: Trace,
    ) -> None:
        control, criterion, search, space, resources = components
        before = trace.n_evaluations
        trace.steps.clear()
        trace.n_steps, trace._stride = 0, 1

        def follow(own: Trace) -> None:
            trace.n_evaluations = before + own.n_evaluations
            trace.top_masks, trace.top_scores = own.top_masks, own.top_scores
            trace.record(own.steps[-1])
            if on_step is not None:
                on_step(trace)

        space = replace(space, max_units=min(size, space.max_units))
        run_method(
            control, criterion, problem, search, space, rng, follow, resources=resources, trace=Trace(keep=trace.keep)
        )  # fmt: skip
        chosen, best = trace.extra["chosen_size"]
        trace.notes.append(
            f"Held-out rows do best with up to {best} features and cannot tell that from up to {chosen}."
            if chosen < best
            else f"Held-out rows do best with up to {best} features."
        )


def judged_run(
    control: Control | None,
    criterion: Criterion,
    search: Search,
    space: SearchSpace,
    resources: Resources,
    train: Problem,
    held: Problem,
    rng: np.random.Generator,
) -> Record:
    """Search some rows; let others judge the best subset of at most each size."""
    scorer = cast(PredictiveScorer, criterion.bind(train, rng.spawn(1)[0], resources))
    own = run_method(control, criterion, train, search, space, rng, resources=resources)
    sizes, losses, right = [], [], []
    for size, mask in best_up_to(own, space):
        outputs = scorer.predict(mask, held.X)
        sizes.append(size)
        losses.append(squared_loss(outputs, held))
        right.append(outputs.argmax(axis=1) == held.y if held.task == "classification" else -losses[-1])
    return {
        "sizes": np.array(sizes),
        "losses": np.array(losses).T,
        "right": np.array(right, dtype=np.float64).T,
        "best": own.best,
        "score": own.best_score,
        "n_evaluations": own.n_evaluations,
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
