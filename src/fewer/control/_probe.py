"""Features that beat random columns: the simplest guard against chance."""

from __future__ import annotations

import numpy as np

from fewer.contracts import Control
from fewer.contracts.declaring import Count, parameters
from fewer.contracts.trace import Trace
from fewer.control._ranking import RankingControl, RankingRun, fit_size, shuffled_rows, unit_scores, with_columns


@parameters
class Probe(RankingControl):
    """Keep the features that beat random columns.

    Some columns, drawn at random and shuffled, are ranked beside all features; a feature stays if it beats the best of
    them in more than half of the runs. A quick look: with k probes a feature that says nothing passes one run with a
    chance of about 1 / (k + 1).

    Read more in the guide: :doc:`/methods/false-discoveries`.

    Parameters
    ----------
    n_probes : int, default=20
        Random columns in each run.
    n_runs : int, default=5
        How often the probes are drawn again.
    control : Control, optional
        Runs inside each search, where this control is over a search.

    Notes
    -----
    Probes keep the values of the columns that they come from; with row groups, whole groups change places. A feature
    group ranks with its best column. Where a number of features is asked for, the features with most wins fill up or
    those with fewest give way. The trace's `extra` holds `hits`, the wins of each feature.

    See Also
    --------
    Shadow : Tests that; slower.

    Examples
    --------
    >>> import fewer
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 8)), np.repeat([0, 1], 100)
    >>> X[:, [2, 5]] += y[:, None]
    >>> selector = fewer.RankSelector(fewer.rankers.Fisher(), control=Probe(), random_state=0).fit(X, y)
    >>> selector.support_.nonzero()
    (array([2, 5]),)
    """

    command_name = "probe"

    n_probes: Count = 20
    n_runs: Count = 5
    control: Control | None = None

    def choose(self, run: RankingRun) -> Trace:
        # Rank beside random columns a few times.
        trace, space = run.trace, run.space
        if not trace.state:
            trace.state.update(seed=int(run.rng.integers(2**63)), run=0, hits=np.zeros(space.n_units))
        state = trace.state
        varying = np.flatnonzero(~run.problem.constant)
        with trace.finishing():
            while state["run"] < self.n_runs:
                rng = np.random.default_rng([state["seed"], state["run"]])
                sources = rng.choice(varying, self.n_probes)
                probes = np.column_stack([run.problem.X[shuffled_rows(run.problem, rng), column] for column in sources])
                scores = run.scores(with_columns(run.problem, probes, sources), rng)
                state["hits"] += unit_scores(scores, space) > scores[run.problem.n_features :].max()
                state["run"] += 1
                self._tell(run)
        state["promise"] = (
            f"Kept features that beat the best of {self.n_probes} random columns in over half of {self.n_runs} runs;"
            f" an irrelevant one passes a run with probability about {1 / (self.n_probes + 1):.2g}."
        )
        return trace

    def _tell(self, run: RankingRun) -> None:
        state = run.trace.state
        run.trace.extra["hits"] = run.by_feature(state["hits"])
        run.record(fit_size(state["hits"] > state["run"] / 2, state["hits"], run.space))
