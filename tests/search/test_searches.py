"""What every search promises."""

import numpy as np
import pytest

from fewer.contracts import Objective, SearchSpace
from fewer.contracts.trace import Trace
from fewer.search import Annealing, Backward, Exhaustive, Floating, Forward
from scorers import Table, search_on


@pytest.mark.parametrize(
    "search",
    [
        Exhaustive(),
        Forward(None),
        Backward(None),
        Floating(),
        Floating(exhaust=3),
        Floating("backward"),
        Annealing(levels=12),
    ],
)
def test_a_run_resumed_after_any_step_ends_as_if_never_stopped(search, tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.search._exhaustive.REPORT_SECONDS", 0.0)
    scorer = Table(8, 2)
    whole = search_on(scorer, search, 8)
    for after in range(1, whole.n_steps, max(1, whole.n_steps // 5)):
        trace = Trace()
        layout = SearchSpace.of(8)

        def stop(trace, after=after):
            if trace.n_steps == after:
                trace.save(tmp_path / "trace.npz")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            search.run(Objective(scorer, layout), layout, np.random.default_rng(0), stop, trace)
        again = search_on(scorer, search, 8, trace=Trace.load(tmp_path / "trace.npz"), seed=77)
        assert np.array_equal(again.best, whole.best)
        assert again.best_score == whole.best_score
        assert again.n_evaluations == whole.n_evaluations
        assert np.array_equal(again.top_masks, whole.top_masks)
        assert again.done
        assert search_on(scorer, search, 8, trace=again) is again
