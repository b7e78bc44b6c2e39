import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from fewer.contracts import IncompatibleError
from fewer.criteria.cross_validated import column_importances

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.arange(60) % 3


def test_squared_coefficients_are_summed_over_classes():
    model = LogisticRegression().fit(X, Y)
    assert column_importances(model, 3) == pytest.approx((model.coef_**2).sum(axis=0))
    model.sparsify()
    assert sparse.issparse(model.coef_)
    assert column_importances(model, 3) == pytest.approx((model.coef_.toarray() ** 2).sum(axis=0))


def test_trees_and_pipelines():
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y)
    assert column_importances(tree, 3) == pytest.approx(tree.feature_importances_**2)
    piped = make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y)
    assert column_importances(piped, 3) == pytest.approx(piped[-1].coef_ ** 2)


def test_indicators_count_for_their_column():
    table = np.column_stack([RNG.integers(0, 3, 60), X[:, 0], RNG.integers(0, 2, 60)])
    encode = make_pipeline(SimpleImputer(), OneHotEncoder(sparse_output=False))
    before = ColumnTransformer([("encode", encode, np.array([True, False, True]))], remainder="passthrough")
    model = make_pipeline(before, LogisticRegression()).fit(table, Y)
    squares = (model[-1].coef_ ** 2).sum(axis=0)
    found = column_importances(model, 3)
    assert found[0] == pytest.approx(squares[:3].sum())
    assert found[2] == pytest.approx(squares[3:5].sum())
    assert found[1] == pytest.approx(squares[5])


def test_a_preparation_that_moves_columns():
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": RNG.integers(0, 3, 60), "d": X[:, 2]})
    steps = [("scale", StandardScaler(), ["d", "a"]), ("no", "drop", ["b"]), ("levels", OneHotEncoder(), ["c"])]
    model = make_pipeline(ColumnTransformer(steps), LogisticRegression()).fit(frame, Y)
    d, a, *c = (model[-1].coef_ ** 2).sum(axis=0)
    assert column_importances(model, 4) == pytest.approx([a, 0, sum(c), d])


def test_what_has_no_importances_of_columns():
    with pytest.raises(IncompatibleError, match="KNeighborsClassifier has neither coef_ nor feature_importances_"):
        column_importances(KNeighborsClassifier().fit(X, Y), 3)
    with pytest.raises(IncompatibleError, match="works on 2 inputs that its pipeline makes of 3 columns"):
        column_importances(make_pipeline(PCA(2), LogisticRegression()).fit(X, Y), 3)
