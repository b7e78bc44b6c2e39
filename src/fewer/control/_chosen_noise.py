"""Choose by cross-validation how much noise a search gets (asked for by Loughrey, section 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar, Literal, cast

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from fewer.contracts import Control, PredictiveScorer, Run
from fewer.control._judged_folds import JudgedFolds, Record, search_all
from fewer.control._noise import Noise
from fewer.control._one_standard_error import loss_curve, squared_loss
from fewer.problem import InputError, Problem
from fewer.trace import Trace
from fewer.validate import Split
from fewer.validate._folds import CV_OBJECT, count_splits


class ChosenNoise(JudgedFolds):
    """Search with several levels of noise without each fold; take the level whose subsets predict the folds best.

    The thesis tunes the noise of `Noise` by hand for each table. Here the whole search is repeated without each fold
    and with each level, its subset predicts that fold without noise, and the level with the least squared loss of all
    rows is used for the search on all rows. Of equal levels the first is taken.

    Read more in the guide: :doc:`/methods/loughrey`.

    Parameters
    ----------
    levels : sequence of float, default=(0.0, 0.05, 0.1, 0.25, 0.5)
        Standard deviations of the noise to choose from, in ranges of a feature; 0 is no noise.
    cv : int or splitter, default=5
        Folds that judge the levels.
    probability : float, default=0.8
        How likely a value gets noise.
    shape : {"normal", "uniform"}, default="normal"
        As in `Noise`.
    control : Control, optional
        Runs inside.

    See Also
    --------
    Noise : One level, given.

    Notes
    -----
    The trace's `extra` holds the `levels`, the mean loss of each as `level_loss`, the standard error of its difference
    from the best as `level_loss_error`, and `chosen_level`. What the folds say of the chosen level is flattered by the
    choice; to judge the answer, hold rows back from all of it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import fewer
    >>> X, y = load_wine(return_X_y=True)
    >>> control = ChosenNoise((0.0, 0.25), cv=3)
    >>> selector = fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Forward(), control=control, random_state=0)
    >>> float(selector.fit(X, y).trace_.extra["chosen_level"][0])
    0.0
    """

    needs: ClassVar[frozenset[str]] = frozenset({"predictive"})

    command_name = "chosen-noise"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "levels": [list, tuple],
        "cv": CV_OBJECT,
        "probability": [Interval(Real, 0, 1, closed="both")],
        "shape": [StrOptions({"normal", "uniform"})],
        "control": [HasMethods("run"), None],
    }

    def __init__(
        self,
        levels: Sequence[float] = (0.0, 0.05, 0.1, 0.25, 0.5),
        cv: Any = 5,
        probability: float = 0.8,
        shape: Literal["normal", "uniform"] = "normal",
        control: Control | None = None,
    ) -> None:
        self.levels = levels
        self.cv = cv
        self.probability = probability
        self.shape = shape
        self.control = control

    def run(self, run: Run) -> Trace:
        # Refuse levels that cannot be before anything runs.
        self._controls()
        return super().run(run)

    def n_searches(self, n_samples: int) -> int:
        # Each level without each fold, and one on all rows.
        return super().n_searches(n_samples) * (1 + len(self.levels) * count_splits(self.cv, n_samples))

    def _controls(self) -> list[Control | None]:
        """Return the control of each level."""
        if not len(self.levels) or not all(
            isinstance(level, Real) and 0 <= level < float("inf") for level in self.levels
        ):
            raise InputError(f"levels={list(self.levels)!r}: give numbers from 0 up, such as (0.0, 0.1, 0.25).")
        return [
            Noise(level, self.probability, self.shape, self.control) if level else self.control for level in self.levels
        ]

    def _choose(self, records: list[Record], problem: Problem, trace: Trace) -> int:
        """Put the losses of the folds into one table and choose the level."""
        rows = np.concatenate([record["rows"] for record in records])
        curve = loss_curve(np.concatenate([record["losses"] for record in records]), problem.row_weights[rows])
        place = int(np.argmin(np.round(curve["loss"], 12)))
        trace.extra.update(
            levels=np.asarray(self.levels, dtype=np.float64),
            level_loss=curve["loss"],
            level_loss_error=curve["error"],
            chosen_level=np.array([self.levels[place]], dtype=np.float64),
        )
        return place

    def _search_all(self, run: Run, records: list[Record], rng: np.random.Generator) -> None:
        trace = run.trace
        search_all(run, self._controls()[self._choose(records, run.problem, trace)], rng)
        level = float(trace.extra["chosen_level"][0])
        trace.notes.append(
            f"Of {len(self.levels)} levels of noise, held-out rows are predicted best by searches with {level:g} of a "
            "feature's range."
            if level
            else "Held-out rows are predicted best by searches without noise."
        )

    def judged(self, run: Run, split: Split, held: Problem, rng: np.random.Generator) -> Record:
        # The subset of each level; the trace shows the best of them.
        controls = self._controls()
        losses, traces = [], []
        for control, own in zip(controls, rng.spawn(len(controls)), strict=True):
            part = run.on(split.train, own)
            traces.append(part.under(control))
            losses.append(squared_loss(cast(PredictiveScorer, part.scorer).predict(traces[-1].best, held.X), held))
        best = traces[int(np.argmin([loss.mean() for loss in losses]))]
        return {
            "losses": np.array(losses).T,
            "best": best.best,
            "score": best.best_score,
            "n_evaluations": sum(trace.n_evaluations for trace in traces),
        }
