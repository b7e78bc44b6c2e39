import logging
import sys
from types import SimpleNamespace

import numpy as np
from sklearn.datasets import load_iris

import fewer
from fewer.contracts.trace import Step, Trace
from fewer.selectors._base import follow_steps


def steps(follow, *scores):
    trace, best = Trace(), -np.inf
    for score in scores:
        best = max(best, score)
        trace.record(Step(np.array([True, False]), score, np.array([True, True]), best))
        follow(trace)


def test_nobody_listens():
    assert follow_steps(SimpleNamespace(verbose=0)) is None
    follower = print
    assert follow_steps(SimpleNamespace(), follower) is follower


def test_improvements_or_every_step(capsys):
    told = []
    steps(follow_steps(SimpleNamespace(verbose=1), told.append), 0.5, 0.25, 0.75)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("best ")[1] for line in lines] == ["0.5 with 2 features", "0.75 with 2 features"]
    assert len(told) == 3
    steps(follow_steps(SimpleNamespace(verbose=2)), 0.5, 0.25, 0.75)
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_log_tells_every_step(caplog):
    with caplog.at_level(logging.DEBUG, logger="fewer"):
        steps(follow_steps(SimpleNamespace()), 0.5, 0.25)
    assert [record.getMessage().split(",")[0] for record in caplog.records] == [
        "SimpleNamespace: step 1",
        "SimpleNamespace: step 2",
    ]


def test_a_trace_without_steps_is_passed_on_in_silence(capsys):
    told = []
    follow_steps(SimpleNamespace(verbose=2), told.append)(Trace())
    assert capsys.readouterr().out == ""
    assert len(told) == 1


def test_verbose_select_tells_of_every_fold(capsys):
    X, y = load_iris(return_X_y=True)
    quiet = fewer.select(X, y, "knn-forward", random_state=0)
    assert capsys.readouterr().err == ""
    told = fewer.select(X, y, "knn-forward", random_state=0, verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(", about")[0] for line in lines] == [
        f"fewer: testing on held-out rows: {k} of 5 folds done" for k in range(1, 6)
    ]
    assert lines[-1].endswith("about 0 s left")
    assert told.features == quiet.features
    assert "verbose" not in told.code


def test_a_notebook_shows_one_bar_that_moves(monkeypatch, capsys):
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    def display(html, display_id):
        shown.append(html)
        return Handle()

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))
    X, y = load_iris(return_X_y=True)
    fewer.select(X, y, "knn-forward", random_state=0)  # by default, where somebody watches
    assert shown[-1].startswith('<progress value="5" max="5"></progress> testing on held-out rows: 5 of 5 folds done')
    n_shown = len(shown)
    fewer.select(X, y, "knn-forward", random_state=0, verbose=0)
    assert len(shown) == n_shown
    assert capsys.readouterr().err == ""
