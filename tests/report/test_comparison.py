import dataclasses

from fewer.evaluate import MethodScore
from fewer.report._comparison import _picture

ROW = MethodScore("forward", "knn", "method", 0.9, 0.85, 0.95, 4.0, 0.8, 0.02, 1.5, 0.03, 0.01, 0.05, 0.01)


def test_the_picture_tells_the_highest_in_words():
    rows = [ROW, dataclasses.replace(ROW, name="all features", role="baseline", score=0.93, high=0.99)]
    picture = _picture("knn", rows, "accuracy")
    assert picture["title"] == "Evaluated with knn"
    assert picture["text"] == "Best: all features, 0.93. Gray squares mark the baselines."
    assert 'aria-label="Held-out accuracy for knn. Best: all features, 0.93.' in picture["svg"]
