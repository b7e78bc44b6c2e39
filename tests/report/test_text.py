"""What people wrote, on a page."""

from fewer.report._text import cut


def test_what_people_wrote_is_cut_and_cleaned():
    assert cut("a\0b\x1bc") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"
    assert cut("family: 👨\u200d👩\u200d👧") == "family: 👨\u200d👩\u200d👧"
    assert cut("x" * 300) == "x" * 199 + "…"
    assert cut("x" * 200) == "x" * 200
