import warnings

import numpy as np
from sklearn.datasets import load_iris

import fewer
from fewer.rankers import Fisher, FTest


def notes_of(ranker, X, y, **rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return " ".join(fewer.RankSelector(ranker, n_features_to_select=1).fit(X, y, **rows).notes_)


def test_identifiers_and_copies_of_the_target_are_named():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(customer_id=np.arange(150), label=3 - y)
    notes = notes_of(Fisher(), X, y)
    assert "'customer_id' looks like an identifier" in notes
    assert "'label'" in notes


def test_groups_that_p_values_do_not_know_are_noted():
    X, y = load_iris(return_X_y=True)
    assert "p-values are too small" in notes_of(FTest(), X, y, groups=np.arange(150) // 3)
    assert "p-values" not in notes_of(Fisher(), X, y, groups=np.arange(150) // 3)
