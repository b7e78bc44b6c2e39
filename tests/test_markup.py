"""Tables for notebooks, Markdown and LaTeX: whatever people call their columns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fewer.contracts.trace import Step, Trace
from fewer.text import html_card, html_table, latex_text, markdown_table

HOSTILE = "<img src=x onerror=alert(1)>|&_%$#{}~^\\"


def test_names_cannot_break_out():
    assert "<img" not in html_table([HOSTILE], [[HOSTILE]], HOSTILE)
    assert "<img" not in html_card(HOSTILE, HOSTILE, "", [HOSTILE])
    assert markdown_table(["a", "b"], [["x|y", "1"]]).splitlines()[2] == "| x\\|y | 1 |"


@given(st.text(alphabet="ab&%$#_{}~^\\<>", max_size=12))
def test_latex_has_no_bare_command(text):
    shown = latex_text(text)
    for word in (r"\textbackslash{}", r"\textasciitilde{}", r"\textasciicircum{}", r"\textless{}", r"\textgreater{}"):
        shown = shown.replace(word, "")
    for letter in "&%$#_{}":
        shown = shown.replace("\\" + letter, "")
    assert not set(shown) & set("&%$#_{}~^\\<>")


def test_a_trace_shows_itself():
    trace = Trace()
    assert "0 steps" in trace._repr_html_()
    trace.offer(np.array([[True, False, True], [True, False, False]]), np.array([0.9, 0.8]))
    trace.record(Step(np.array([True, False, True]), 0.9, np.array([True, False, True]), 0.9))
    shown = trace._repr_html_()
    assert "1 steps, 0 subsets scored, under way" in shown
    assert "0, 2" in shown
    assert "<script" not in shown
