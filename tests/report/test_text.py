"""What people wrote, on a page."""

from fewer.text import cut, judge_as_text


def test_what_people_wrote_is_cut_and_cleaned():
    assert cut("a\0b\x1bc") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"
    assert cut("family: 👨\u200d👩\u200d👧") == "family: 👨\u200d👩\u200d👧"
    assert cut("x" * 300) == "x" * 199 + "…"
    assert cut("x" * 200) == "x" * 200


def test_who_judges_is_named_without_code():
    assert judge_as_text("CrossValidated(estimator=RandomForestClassifier(random_state=0))") == "RandomForestClassifier"
    assert judge_as_text("CrossValidated(cv=3, estimator=Bagging(estimator=Tree()))") == "Bagging"
    assert judge_as_text("LeastSquares(cv=10)") == "LeastSquares"
