import numpy as np

from fewer.roc._operating_point import Guarantee, VertexClassifier
from fewer.roc._readers import WholeRows


class FirstColumn:
    def scores(self, X):
        return X[:, 0]


def vertex(threshold, positive=1):
    made = VertexClassifier(FirstColumn(), threshold, (0,), WholeRows())
    made.classes_, made.positive_ = np.array(["no", "yes"]), positive
    return made


def test_a_score_that_reaches_the_threshold_is_positive():
    X = np.array([[0.5], [1.0], [1.5]])
    assert vertex(1.0).predict(X).tolist() == ["no", "yes", "yes"]
    assert vertex(1.0, positive=0).predict(X).tolist() == ["yes", "no", "no"]
    assert vertex(-np.inf).called(X).all()
    assert vertex(1.0).fit().predict(X).tolist() == ["no", "yes", "yes"]


def test_a_guarantee_limits_one_thing():
    assert Guarantee("fpr", 0.1, 0.95, 0.08, 0.2).max_fpr == 0.1
    assert Guarantee("cost", 0.1, 0.95, 0.08, 0.2).max_fpr is None
