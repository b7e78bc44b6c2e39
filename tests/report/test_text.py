from fewer.report._text import cut


def test_what_fits_stays_and_the_rest_is_cut():
    assert cut("x" * 200) == "x" * 200
    assert cut("x" * 201) == "x" * 199 + "…"
    assert cut("feature" * 10, 12) == "featurefeat…"
    assert cut(12.5) == "12.5"


def test_control_characters_are_replaced():
    assert cut("a\0b\x1b") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"
    assert cut("family: 👨\u200d👩") == "family: 👨\u200d👩"
