import numpy as np

from fewer.roc._operating_point import Guarantee, RowReader, VertexClassifier
from fewer.roc._realisable import row_digests

ROWS = np.array([[1.0, 5.0, 2.0], [1.0, 6.0, 2.0], [1.0, 5.0, 3.0]])


def test_cells_of_some_columns_tell_rows_apart():
    reader = RowReader("any table")
    found = reader.digests(ROWS, (0, 2))
    assert found[0] == found[1] != found[2]
    assert reader.digests(ROWS, ()).tolist() == [0, 0, 0]


def test_whole_rows_are_handed_on_as_they_are():
    reader = RowReader(None)
    assert reader.read_needed(None, ROWS, (0,)) is ROWS
    assert np.array_equal(reader.digests(ROWS, (0,)), row_digests(ROWS))


class FirstColumn:
    def scores(self, X):
        return X[:, 0]


def vertex(threshold, positive=1):
    made = VertexClassifier(FirstColumn(), threshold, (0,), RowReader(None))
    made.classes_, made.positive_ = np.array(["no", "yes"]), positive
    return made


def test_a_score_that_reaches_the_threshold_is_positive():
    X = np.array([[0.5], [1.0], [1.5]])
    assert vertex(1.0).predict(X).tolist() == ["no", "yes", "yes"]
    assert vertex(1.0, positive=0).predict(X).tolist() == ["yes", "no", "no"]
    assert vertex(-np.inf).predict(X).tolist() == ["yes"] * 3
    assert vertex(1.0).fit().predict(X).tolist() == ["no", "yes", "yes"]


def test_a_guarantee_limits_one_thing():
    assert Guarantee("fpr", 0.1, 0.95, 0.08, 0.2).max_fpr == 0.1
    assert Guarantee("cost", 0.1, 0.95, 0.08, 0.2).max_fpr is None
