import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from fewer import RankSelector
from fewer.contracts import generator_of
from fewer.errors import FewerWarning, InputError
from fewer.estimators import TableEstimator, TableReader, parse_costs
from fewer.io import to_problem
from fewer.rankers import Fisher

X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.arange(20) % 2


class Plain(TableEstimator):
    def __init__(self, task=None):
        self.task = task

    def fit(self, X, y, **rows):
        self.problem_ = self._read(X, y, **rows)
        return self


class OnlyClasses(Plain):
    def _tasks(self):
        return ("classification",)


def test_costs_by_name_or_by_place():
    names = ["a", "b", "c"]
    assert parse_costs(None, names).tolist() == [0.0, 0.0, 0.0]
    assert parse_costs({"c": 2.0, 0: 1.0}, names).tolist() == [1.0, 0.0, 2.0]
    assert parse_costs([1, 2, 3], names).tolist() == [1.0, 2.0, 3.0]
    for costs in ([1, 2], {"d": 1.0}, [1, 2, -1], [1, 2, np.inf]):
        with pytest.raises(InputError, match="feature_costs"):
            parse_costs(costs, names)


def test_what_comes_with_the_rows():
    problem = Plain().fit(X, Y, sample_weight=np.arange(20.0), groups=np.arange(20) // 5).problem_
    assert problem.sample_weight.tolist() == (np.arange(1.0, 20.0) / 10.0).tolist()  # without weight 0, by their mean
    assert problem.groups.tolist() == (np.arange(1, 20) // 5).tolist()
    with pytest.raises(InputError, match="Plain.fit has no argument 'group'; did you mean 'groups'"):
        Plain().fit(X, Y, group=Y)


def test_what_the_target_is_for():
    assert Plain().fit(X, Y).problem_.task == "classification"
    assert Plain().fit(X, X[:, 0]).problem_.task == "regression"
    assert Plain(task="regression").fit(X, Y.astype(float)).problem_.task == "regression"
    with pytest.raises(InputError, match="task='regression', but OnlyClasses works for classification here"):
        OnlyClasses(task="regression").fit(X, Y)
    with pytest.raises(InputError, match="The target has 2 columns, but Plain works with one here"):
        Plain().fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="requires y to be passed"):
        Plain().fit(X, None)


def test_a_sparse_table_is_refused_where_it_would_become_dense():
    with pytest.raises(InputError, match="X is a sparse matrix"):
        Plain().fit(sparse.csr_array(X), Y)


def test_what_was_noticed_is_a_warning_and_stands_in_notes():
    frame = pl.DataFrame({"id": np.random.default_rng(0).permutation(20), "x": X[:, 0]})
    with pytest.warns(FewerWarning, match="looks like an identifier"):
        fitted = Plain().fit(frame, Y)
    assert len(fitted.notes_) == 1


def test_seeds():
    first, again, other = (generator_of(seed).random() for seed in (1, 1, 2))
    assert first == again != other
    own = np.random.default_rng(3)
    assert generator_of(own) is own
    legacy = [generator_of(np.random.RandomState(5)).random() for _ in range(2)]
    assert legacy[0] == legacy[1]


def test_levels_that_were_not_there_are_missing():
    frame = pl.DataFrame({"color": ["red", "blue"] * 10, "n": X[:, 0]})
    estimator = Plain().fit(frame, Y)
    reader = TableReader.of(estimator.problem_)
    new = pl.DataFrame({"color": ["blue", "green"], "n": [1.0, 2.0]})
    cells = reader.read(estimator, new)
    assert cells[0].tolist() == [float(reader.codes[0]["blue"]), 1.0]
    assert np.isnan(cells[1, 0])


def test_columns_that_are_not_needed_may_be_left_out():
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    estimator = Plain().fit(frame, Y)
    reader = TableReader.of(to_problem(frame, Y))
    cells = reader.read_needed(estimator, frame.select(["c", "b"]), [1, 2], alone=True)
    assert np.isnan(cells[:, 0]).all()
    assert np.array_equal(cells[:, 1:], X[:, 1:])
    assert np.array_equal(reader.read_needed(estimator, X, [2])[:, 2], X[:, 2])
    with pytest.raises(InputError, match="The table lacks the required column 'b'"):
        reader.read_needed(estimator, frame.select(["c"]), [1, 2], alone=True)
    with pytest.raises(InputError, match="contains infinity: row 1, column 'c'"):
        reader.read_needed(Plain().fit(X, Y), np.where(np.arange(20)[:, None] == 1, np.inf, X), [2])


def test_an_infinite_cell_of_a_frame_is_refused_as_that_of_an_array_is():
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    estimator, reader = Plain().fit(frame, Y), TableReader.of(to_problem(frame, Y))
    new = frame.with_columns(pl.Series("b", [0.0, -np.inf] + [0.0] * 18))
    with pytest.raises(InputError, match="contains infinity: row 1, column 'b'"):
        reader.read(estimator, new)
    with pytest.raises(InputError, match="contains infinity: row 1, column 'b'"):
        reader.read_needed(estimator, new, [1])
    assert np.isnan(reader.read_needed(estimator, new, [0])[:, 1]).all()


def test_parameters_that_change_after_a_fit_are_checked_again():
    """Valid ones are remembered with their types: 1 is a size, 1.0 a share."""
    selector = RankSelector(Fisher(), n_features_to_select=1).fit(X, Y).fit(X, Y)
    for wrong in (-1, "many", [1]):
        with pytest.raises(ValueError, match="n_features_to_select"):
            selector.set_params(n_features_to_select=wrong).fit(X, Y)
    assert selector.set_params(n_features_to_select=1.0).fit(X, Y).support_.all()


def test_names_of_an_earlier_fit_are_forgotten():
    selector = RankSelector(Fisher(), n_features_to_select=1).fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    assert selector.feature_names_in_.tolist() == ["a", "b", "c"]
    assert not hasattr(selector.fit(X[:, :2], Y), "feature_names_in_")
    assert selector.n_features_in_ == 2
