import numpy as np
import pytest

from fewer.contracts.trace import MAX_STEPS, Step, Trace, best_first, is_better
from fewer.errors import InputError
from fewer.text import Note


def step(score, *columns, p=5):
    mask = np.zeros(p, dtype=bool)
    mask[list(columns)] = True
    return Step(mask, score, mask, score)


def test_steps_are_thinned_but_the_last_is_kept():
    trace = Trace()
    for i in range(3 * MAX_STEPS + 7):
        trace.record(step(float(i), 0))
    assert len(trace.steps) <= MAX_STEPS + 1
    assert trace.n_steps == 3 * MAX_STEPS + 7
    assert trace.best_score == trace.n_steps - 1
    gaps = np.diff([s.index for s in trace.steps[:-1]])
    assert len(set(gaps.tolist())) == 1


def test_top_holds_the_best_distinct_subsets_whatever_the_batches():
    rng = np.random.default_rng(0)
    masks = rng.integers(0, 2, (500, 6)).astype(bool)
    scores = (masks @ np.array([3.0, 2.0, 2.0, 1.0, 0.0, 0.0])).astype(float)
    one, many = Trace(keep=10), Trace(keep=10)
    one.offer(masks, scores)
    for low in range(0, 500, 7):
        many.offer(masks[low : low + 7], scores[low : low + 7])
    distinct, first = np.unique(masks, axis=0, return_index=True)
    order = best_first(distinct, scores[first])[:10]
    for trace in (one, many):
        assert np.array_equal(trace.top_masks, distinct[order])
        assert np.array_equal(trace.top_scores, scores[first][order])


def test_equal_scores_prefer_fewer_features_then_earlier_columns():
    masks = np.array([[0, 1, 1], [0, 0, 1], [1, 0, 0]], dtype=bool)
    assert best_first(masks, np.ones(3)).tolist() == [2, 1, 0]
    assert is_better(1.0, masks[1], 1.0, masks[0])
    assert not is_better(1.0, masks[2], 1.0, masks[1])


def test_a_trace_comes_back_from_disk_as_it_was(tmp_path):
    trace = Trace(fingerprint="abc", notes=[Note("a note")], done=True)
    rng = np.random.default_rng(3)
    trace.rng_state = dict(rng.bit_generator.state)
    trace.n_evaluations = 10**12
    trace.state = {"masks": [np.array([True, False])], "score": np.float64(0.5), "inner": {"x": np.arange(3)}, "o": []}
    trace.extra["frequency"] = np.array([0.5, 1.0])
    trace.record(step(0.25, 1))
    trace.offer(np.array([[True, False, True, False, False]]), np.array([0.25]))
    trace.save(tmp_path / "trace.npz")
    again = Trace.load(tmp_path / "trace.npz")
    for name in ("fingerprint", "notes", "done", "n_evaluations", "n_steps", "rng_state"):
        assert getattr(again, name) == getattr(trace, name)
    assert np.array_equal(again.state["masks"][0], [True, False])
    assert again.state["score"] == 0.5
    assert np.array_equal(again.state["inner"]["x"], np.arange(3))
    assert np.array_equal(again.best, trace.best)
    assert np.array_equal(again.top_masks, trace.top_masks)
    other = np.random.default_rng(99)
    other.bit_generator.state = again.rng_state
    assert other.random() == np.random.default_rng(3).random()
    assert list(tmp_path.iterdir()) == [tmp_path / "trace.npz"]


def test_saving_fails_without_harm_to_the_old_file(tmp_path):
    Trace(fingerprint="old").save(tmp_path / "trace.npz")
    broken = Trace(state={"bad": object()})
    with pytest.raises(TypeError):
        broken.save(tmp_path / "trace.npz")
    assert Trace.load(tmp_path / "trace.npz").fingerprint == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_empty_trace_has_no_answer():
    with pytest.raises(InputError, match="no result yet"):
        _ = Trace().best
